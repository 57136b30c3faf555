//! What is asked of the loader, and what it answers.

use laxity_model::{CpuList, Diagnostic, Duration, Failure, ServerSize};
use serde::{Deserialize, Serialize};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A thread becomes a real-time task.
    Promote {
        /// Its number.
        pid: i32,
        /// What a job needs at speed 1.
        runtime: Duration,
        /// A job arrives once in it.
        period: Duration,
        /// How late jobs may be, if that matters.
        tardiness_bound: Option<Duration>,
    },
    /// It is a background thread again.
    Demote {
        /// Its number.
        pid: i32,
    },
    /// The server of a CPU gets another size.
    Resize {
        /// The CPU.
        cpu: u32,
        /// As written by the user.
        server: ServerSize,
    },
}

/// How late a promoted thread can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proven {
    /// Its number.
    pub pid: i32,
    /// In ns.
    pub tardiness_ns: u64,
}

impl Proven {
    /// As in `4711 at most 1ms late`.
    pub fn words(&self) -> String {
        format!("{} {}", self.pid, lateness(self.tardiness_ns))
    }
}

/// A bound in words.
pub fn lateness(tardiness_ns: u64) -> String {
    match tardiness_ns {
        0 => "never late".to_owned(),
        late => format!("at most {} late", Duration::from_ns(late)),
    }
}

/// The outcome of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderOutcome {
    /// It is a real-time task.
    Promoted {
        /// Its number.
        pid: i32,
        /// Where it runs.
        cpu: u32,
        /// What its jobs may use of that CPU.
        runtime: Duration,
        /// Its period.
        period: Duration,
        /// How late its jobs can be, in ns: by Theorem 1 of calandrino2007, 0 where the double hit is counted.
        tardiness_ns: u64,
        /// The same of the other promoted threads on that CPU.
        others: Vec<Proven>,
    },
    /// It is as it was.
    Demoted {
        /// Its number.
        pid: i32,
        /// Where it was a real-time task.
        cpu: u32,
        /// Where it may run now.
        cpus: CpuList,
    },
    /// The server has another size.
    Resized {
        /// The CPU.
        cpu: u32,
        /// The budget, on that CPU.
        budget: Duration,
        /// The period.
        period: Duration,
        /// After how much time that is so; none: as soon as no real-time job is pending there.
        after: Option<Duration>,
        /// How late the promoted threads there can be.
        tasks: Vec<Proven>,
    },
    /// It does not fit; nothing has changed.
    Refused {
        /// Which CPUs or tasks are in its way.
        reason: String,
        /// What would help.
        hint: Option<String>,
    },
    /// It cannot be.
    Failed {
        /// Whether the request is wrong, rather than the environment.
        usage: bool,
        /// Why.
        reason: String,
        /// What would help.
        hint: Option<String>,
    },
}

impl OrderOutcome {
    /// What does not fit.
    pub fn refused(why: Diagnostic) -> Self {
        OrderOutcome::Refused { reason: why.message, hint: why.hint }
    }
}

impl From<Diagnostic> for OrderOutcome {
    fn from(why: Diagnostic) -> Self {
        OrderOutcome::Failed { usage: why.failure == Failure::Usage, reason: why.message, hint: why.hint }
    }
}
