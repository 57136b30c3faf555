//! The names of schedulers and what each name means.

use crate::{Diagnostic, Result, Task};
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
    /// Shortest relative deadline first; ties by task id.
    DeadlineMonotonic,
    /// Smallest priority number of the task first; ties by task id.
    Given,
}

impl PriorityRule {
    /// The number by which tasks are ordered under fixed priorities, the smallest first; nothing under EDF, or for
    /// a task without a given priority.
    pub fn fixed_priority(self, task: &Task) -> Option<u64> {
        match self {
            PriorityRule::EarliestDeadlineFirst => None,
            PriorityRule::RateMonotonic => Some(task.period().as_ns()),
            PriorityRule::DeadlineMonotonic => Some(task.deadline_rel.as_ns()),
            PriorityRule::Given => task.priority.map(u64::from),
        }
    }

    /// As in names: `edf`, `rm`, `dm`, `fp`.
    pub fn name(self) -> &'static str {
        match self {
            PriorityRule::EarliestDeadlineFirst => "edf",
            PriorityRule::RateMonotonic => "rm",
            PriorityRule::DeadlineMonotonic => "dm",
            PriorityRule::Given => "fp",
        }
    }

    /// In words.
    pub fn description(self) -> &'static str {
        match self {
            PriorityRule::EarliestDeadlineFirst => "earliest deadline first",
            PriorityRule::RateMonotonic => "rate-monotonic priorities",
            PriorityRule::DeadlineMonotonic => "deadline-monotonic priorities",
            PriorityRule::Given => "given priorities",
        }
    }
}

impl Scope {
    /// As names begin: `g-`, `c-`, `p-`.
    pub fn prefix(self) -> &'static str {
        match self {
            Scope::Global => "g-",
            Scope::Clustered => "c-",
            Scope::Partitioned => "p-",
        }
    }

    /// In words.
    pub fn description(self) -> &'static str {
        match self {
            Scope::Global => "one queue for all cores",
            Scope::Clustered => "one queue per cluster",
            Scope::Partitioned => "one queue per core",
        }
    }
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
        use PriorityRule::*;
        match (self.scope, self.rule) {
            (Scope::Global, EarliestDeadlineFirst) => "g-edf",
            (Scope::Global, RateMonotonic) => "g-rm",
            (Scope::Global, DeadlineMonotonic) => "g-dm",
            (Scope::Global, Given) => "g-fp",
            (Scope::Clustered, EarliestDeadlineFirst) => "c-edf",
            (Scope::Clustered, RateMonotonic) => "c-rm",
            (Scope::Clustered, DeadlineMonotonic) => "c-dm",
            (Scope::Clustered, Given) => "c-fp",
            (Scope::Partitioned, EarliestDeadlineFirst) => "p-edf",
            (Scope::Partitioned, RateMonotonic) => "p-rm",
            (Scope::Partitioned, DeadlineMonotonic) => "p-dm",
            (Scope::Partitioned, Given) => "p-fp",
        }
    }

    /// The Linux scheduling policy that carries it out.
    pub fn linux_policy(self) -> &'static str {
        match self.rule {
            PriorityRule::EarliestDeadlineFirst => "SCHED_DEADLINE",
            _ => "SCHED_FIFO",
        }
    }

    /// One line for `laxity list`.
    pub fn description(self) -> String {
        let scope = match self.scope {
            Scope::Global => "one queue for all cores",
            Scope::Clustered => "one queue per cluster (exclusive cpusets)",
            Scope::Partitioned => "one queue per core (exclusive cpusets)",
        };
        format!("{}, {scope}, on {}", self.rule.description(), self.linux_policy())
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
            crate::policy::scheduler_names(&known).unknown(text)
        })
    }
}
