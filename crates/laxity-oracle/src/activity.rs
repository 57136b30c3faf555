//! What a real kernel was at, as measured in the run that is verified. There it is the only thing that excuses.
//!
//! 1. An activity of a CPU takes `[from, to)` there. It explains that a job waits unless that CPU runs, or ran last before it
//!    was taken away, a job that goes before the waiting one: then that is not the CPU which the job waits for.
//! 2. An activity of a release explains the waiting of the jobs that became ready in given instants, and of no others.
//! 3. A decision that takes a task from another CPU's queue has it in its hands: that explains the task's waiting anywhere.
//! 4. A budget timer that is late, an interrupt and a decision of a CPU explain that the job there runs beyond its budget.
//! 5. Nothing here has a length that was given beforehand: every interval was seen, its beginning and its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

laxity_model::listed_enum! {
    /// What the kernel was at. In the order in which time is accounted for where several explain it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Cause {
        /// A kernel thread had the CPU.
        KernelThread,
        /// A thread of a scheduling class above had the CPU.
        HigherClass,
        /// Other work had the CPU, because real-time work had used up its share of it.
        Reserve,
        /// Other work had the CPU by its deferrable server.
        Server,
        /// The CPU was on its way from one thread to the next.
        Switch,
        /// The CPU decided, or had left a thread and was on its way to a decision.
        Decision,
        /// The CPU was sending waiting jobs to others, or had been asked to.
        Push,
        /// The CPU had been asked to decide, and had not begun to.
        Interrupt,
        /// A release or wake-up was handled.
        ReleaseHandler,
        /// The timer of a release was due, and its handler had not begun.
        ReleaseLatency,
        /// The CPU had been asked to decide, or was deciding, and until it has, no other CPU can have what waits in its queue
        /// (push-pull).
        Queue,
        /// A CPU's budget timer was due and had not gone off: that its job ran beyond its budget, and no job's waiting.
        BudgetTimer,
        /// The kernel did not call the recorder: no longer than what was recorded took at most (laxity_kernel::schedule).
        Unseen,
    }
}

impl Cause {
    /// Whether it is something that the scheduler and its host can be late with. Otherwise something had the CPU, and that was seen.
    pub const fn is_lateness(self) -> bool {
        match self {
            Cause::KernelThread | Cause::HigherClass | Cause::Reserve | Cause::Server => false,
            Cause::Switch
            | Cause::Decision
            | Cause::Push
            | Cause::Interrupt
            | Cause::ReleaseHandler
            | Cause::ReleaseLatency
            | Cause::Queue
            | Cause::BudgetTimer
            | Cause::Unseen => true,
        }
    }

    /// The name in results: that of its JSON.
    pub fn code_name(self) -> &'static str {
        match self {
            Cause::KernelThread => "kernel-thread",
            Cause::HigherClass => "higher-class",
            Cause::Reserve => "reserve",
            Cause::Server => "server",
            Cause::Switch => "switch",
            Cause::Decision => "decision",
            Cause::Push => "push",
            Cause::Interrupt => "interrupt",
            Cause::ReleaseHandler => "release-handler",
            Cause::ReleaseLatency => "release-latency",
            Cause::Queue => "queue",
            Cause::BudgetTimer => "budget-timer",
            Cause::Unseen => "unseen",
        }
    }

    /// The cause with this name in results.
    pub fn named(name: &str) -> Option<Cause> {
        Cause::ALL.into_iter().find(|cause| cause.code_name() == name)
    }

    /// In words, as in texts.
    pub fn name(self) -> &'static str {
        match self {
            Cause::KernelThread => "kernel thread",
            Cause::HigherClass => "higher class",
            Cause::Reserve => "reserve for other work",
            Cause::Server => "server for other work",
            Cause::Switch => "switch",
            Cause::Decision => "decision",
            Cause::Push => "push under way",
            Cause::Interrupt => "interrupt on its way",
            Cause::ReleaseHandler => "release handler",
            Cause::ReleaseLatency => "release timer late",
            Cause::Queue => "queue of a CPU yet to decide",
            Cause::BudgetTimer => "budget timer late",
            Cause::Unseen => "not recorded",
        }
    }
}

/// One interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// From when, in ns since the synchronous release.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// On which CPU, or on the way to which.
    pub cpu: u32,
    /// What.
    pub cause: Cause,
    /// Whose waiting it explains.
    pub about: About,
}

/// Whose waiting an activity explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// That of jobs which wait for its CPU.
    Cpu,
    /// That of jobs which became ready between these instants, both included, wherever they wait.
    Released(u64, u64),
    /// That of this task's jobs, wherever they wait.
    Task(u32),
}
