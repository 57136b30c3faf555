//! Why a job missed its deadline, and what budgets had to do with it. `laxity_oracle::causes` finds out, from the recorded
//! schedule of a run; the definition stands there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

laxity_model::listed_enum! {
    /// The one primary cause of a miss. Names in results are in kebab case.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum MissCause {
        /// A budget was used up by more than the work that was asked for, and the task waited for the next one.
        Throttled,
        /// The timer of a release was late.
        LateRelease,
        /// A kernel thread had the CPU.
        KernelThread,
        /// A thread of a higher priority or class that is not of the task set had the CPU.
        OtherThread,
        /// Work that is not real-time had its share of the CPU: the kernel's server for it, or a deferrable server.
        Reserve,
        /// Interrupts took time from a running job (no hypervisor).
        Interrupt,
        /// A hypervisor or interrupts took time from a running job (virtual machine).
        Steal,
        /// The kernel's scheduling took the time: requests to decide on their way, decisions, switches.
        Scheduling,
        /// Another job, of the same task or of one that goes first, ran for longer than its WCET.
        EarlierOverrun,
        /// The job itself took longer than its WCET.
        DemandAboveWcet,
        /// The scheduler: the same jobs miss without any of the above.
        Scheduler,
        /// The records do not tell.
        Unknown,
    }
}

impl MissCause {
    /// The name in results: that of its JSON.
    pub fn name(self) -> &'static str {
        match self {
            MissCause::Throttled => "throttled",
            MissCause::LateRelease => "late-release",
            MissCause::KernelThread => "kernel-thread",
            MissCause::OtherThread => "other-thread",
            MissCause::Reserve => "reserve",
            MissCause::Interrupt => "interrupt",
            MissCause::Steal => "steal",
            MissCause::Scheduling => "scheduling",
            MissCause::EarlierOverrun => "earlier-overrun",
            MissCause::DemandAboveWcet => "demand-above-wcet",
            MissCause::Scheduler => "scheduler",
            MissCause::Unknown => "unknown",
        }
    }

    /// In words that follow a number: `278 throttled`, `9 by kernel threads`.
    pub fn words(self) -> &'static str {
        match self {
            MissCause::Throttled => "throttled",
            MissCause::LateRelease => "by late releases",
            MissCause::KernelThread => "by kernel threads",
            MissCause::OtherThread => "by other threads",
            MissCause::Reserve => "by the share of other work",
            MissCause::Interrupt => "by interrupts",
            MissCause::Steal => "by steal",
            MissCause::Scheduling => "by scheduling costs",
            MissCause::EarlierOverrun => "by earlier overruns",
            MissCause::DemandAboveWcet => "by demand above WCET",
            MissCause::Scheduler => "by the scheduler",
            MissCause::Unknown => "unknown",
        }
    }
}

/// What the kernel's accounts say of a task's budget in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetRecord {
    /// Id of the task.
    pub task: u32,
    /// Its WCET in ns.
    pub wcet_ns: u64,
    /// Its budget in ns.
    pub budget_ns: u64,
    /// How often it was throttled.
    pub throttles: u64,
    /// The most that one of its jobs was charged for, in ns.
    pub charged_most_ns: u64,
    /// The least budget margin, in whole µs, with which no job of this run would have used up its budget, in ns.
    pub margin_ns: u64,
    /// Why this margin cannot be had, if so: what admission says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json() {
        for cause in MissCause::ALL {
            let json = serde_json::to_value(cause).expect("a word");
            assert_eq!(json, cause.name());
        }
        assert!(MissCause::ALL.is_sorted(), "in the order of the declaration");
    }
}
