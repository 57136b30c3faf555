//! The names of schedulers and what each name means.

use crate::{Diagnostic, Result};
use std::fmt;
use std::str::FromStr;

/// How far a job may migrate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Every task stays on one core.
    Partitioned,
    /// Every task stays in one cluster.
    Clustered,
    /// Every task may run anywhere.
    Global,
}

/// What decides between two ready jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PriorityRule {
    /// Earliest absolute deadline first; ties by task id.
    EarliestDeadlineFirst,
    /// Shortest period first; ties by task id.
    RateMonotonic,
}

/// A scheduler that a task set can be run under: the six configurations of lelli2012, Table 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scheduler {
    /// How far jobs migrate.
    pub scope: Scope,
    /// Which job goes first.
    pub rule: PriorityRule,
}

impl Scheduler {
    /// All schedulers, in the order of lelli2012's tables (global, clustered, partitioned; EDF before RM).
    pub const ALL: [Scheduler; 6] = {
        use PriorityRule::{EarliestDeadlineFirst as Edf, RateMonotonic as Rm};
        use Scope::{Clustered, Global, Partitioned};
        [
            Scheduler { scope: Global, rule: Edf },
            Scheduler { scope: Global, rule: Rm },
            Scheduler { scope: Clustered, rule: Edf },
            Scheduler { scope: Clustered, rule: Rm },
            Scheduler { scope: Partitioned, rule: Edf },
            Scheduler { scope: Partitioned, rule: Rm },
        ]
    };

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        use PriorityRule::{EarliestDeadlineFirst as Edf, RateMonotonic as Rm};
        match (self.scope, self.rule) {
            (Scope::Global, Edf) => "g-edf",
            (Scope::Global, Rm) => "g-rm",
            (Scope::Clustered, Edf) => "c-edf",
            (Scope::Clustered, Rm) => "c-rm",
            (Scope::Partitioned, Edf) => "p-edf",
            (Scope::Partitioned, Rm) => "p-rm",
        }
    }

    /// The Linux scheduling policy that carries it out.
    pub fn linux_policy(self) -> &'static str {
        match self.rule {
            PriorityRule::EarliestDeadlineFirst => "SCHED_DEADLINE",
            PriorityRule::RateMonotonic => "SCHED_FIFO",
        }
    }

    /// One line for `laxity list`.
    pub fn description(self) -> String {
        let scope = match self.scope {
            Scope::Global => "one queue for all cores",
            Scope::Clustered => "one queue per cluster (exclusive cpusets)",
            Scope::Partitioned => "one queue per core (exclusive cpusets)",
        };
        let rule = match self.rule {
            PriorityRule::EarliestDeadlineFirst => "earliest deadline first",
            PriorityRule::RateMonotonic => "rate-monotonic priorities",
        };
        format!("{rule}, {scope}, on {}", self.linux_policy())
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Scheduler {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        Self::ALL.into_iter().find(|s| s.name() == wanted).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|s| s.name()).collect();
            Diagnostic::usage(format!("scheduler `{text}` is not known"))
                .hint(format!("choose from {} (see `laxity list`)", known.join(", ")))
        })
    }
}
