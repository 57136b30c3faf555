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
    /// It is ordinary again.
    Demote {
        /// Its number.
        pid: i32,
    },
    /// The server of a core gets another size.
    Resize {
        /// The core.
        cpu: u32,
        /// As written by the user.
        server: ServerSize,
    },
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is a real-time task.
    Promoted {
        /// Its number.
        pid: i32,
        /// Where it runs.
        cpu: u32,
        /// What its jobs may use of that core.
        runtime: Duration,
        /// Its period.
        period: Duration,
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
        /// The core.
        cpu: u32,
        /// The budget, on that core.
        budget: Duration,
        /// The period.
        period: Duration,
        /// After how much time that is so; none: as soon as no real-time job is pending there.
        after: Option<Duration>,
    },
    /// It does not fit; nothing has changed.
    Refused {
        /// Which cores or tasks are in its way.
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

impl Outcome {
    /// What does not fit.
    pub fn refused(why: Diagnostic) -> Self {
        Outcome::Refused { reason: why.message, hint: why.hint }
    }
}

impl From<Diagnostic> for Outcome {
    fn from(why: Diagnostic) -> Self {
        Outcome::Failed { usage: why.failure == Failure::Usage, reason: why.message, hint: why.hint }
    }
}
