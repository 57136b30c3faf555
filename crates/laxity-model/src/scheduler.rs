//! The names of schedulers and what each name means.

use crate::{Diagnostic, Result, Task, TaskSet};
use std::fmt;
use std::str::FromStr;

crate::listed_enum! {
    /// How far a job may migrate.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Scope {
        /// Every task stays on one CPU.
        Partitioned,
        /// Every task stays in one cluster.
        Clustered,
        /// Every task may run anywhere.
        Global,
    }
}

crate::listed_enum! {
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

    /// Refuses a set in which a real-time task has no priority, under given priorities. `scheduler` is its name in the
    /// message.
    ///
    /// # Errors
    ///
    /// A usage error that names the first such task, the scheduler and what to do.
    pub fn check(self, set: &TaskSet, scheduler: &dyn fmt::Display) -> Result<()> {
        let without = set.real_time().find(|(_, task)| task.priority.is_none());
        match without.filter(|_| self == PriorityRule::Given) {
            Some((_, task)) => Err(Diagnostic::usage(format!(
                "task `{}` has no priority; `{scheduler}` schedules by given priorities",
                task.name
            ))
            .hint(
                "give every task `priority = NUMBER` (1 before 2), or use `:rm` or `:dm` behind a policy's name, or p-rm, \
                 p-dm and the like of Linux",
            )),
            None => Ok(()),
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
            Scope::Global => "one queue for all CPUs",
            Scope::Clustered => "one queue per cluster",
            Scope::Partitioned => "one queue per CPU",
        }
    }

    /// In words, with what keeps its cells apart under Linux.
    pub(crate) fn cells(self) -> &'static str {
        match self {
            Scope::Global => "one queue for all CPUs",
            Scope::Clustered => "one queue per cluster (exclusive cpusets)",
            Scope::Partitioned => "one queue per CPU (exclusive cpusets)",
        }
    }
}

/// A scheduler of Linux that goes by a rule: SCHED_DEADLINE, or SCHED_FIFO with priorities by a rule. Others, which have none, are
/// in [`LinuxScheduler`](crate::LinuxScheduler).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scheduler {
    /// How far jobs migrate.
    pub scope: Scope,
    /// Which job goes first.
    pub rule: PriorityRule,
}

impl Scheduler {
    /// All schedulers: global, clustered, partitioned; in each scope EDF, RM, DM and the priorities of the task set.
    pub const ALL: [Scheduler; Scope::ALL.len() * PriorityRule::ALL.len()] = {
        let (scopes, rules) = (Scope::ALL.len(), PriorityRule::ALL.len());
        let mut all = [Scheduler { scope: Scope::Global, rule: PriorityRule::EarliestDeadlineFirst };
            Scope::ALL.len() * PriorityRule::ALL.len()];
        let mut at = 0;
        while at < all.len() {
            // The widest scope comes first.
            all[at] =
                Scheduler { scope: Scope::ALL[scopes - 1 - at / rules], rule: PriorityRule::ALL[at % rules] };
            at += 1;
        }
        all
    };

    /// The six configurations of lelli2012, Table 1, in the order of its tables: what is compared and analysed where no
    /// scheduler is asked for.
    pub const LELLI2012: [Scheduler; 6] = {
        let [g_edf, g_rm, _, _, c_edf, c_rm, _, _, p_edf, p_rm, _, _] = Self::ALL;
        [g_edf, g_rm, c_edf, c_rm, p_edf, p_rm]
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
            PriorityRule::RateMonotonic | PriorityRule::DeadlineMonotonic | PriorityRule::Given => {
                "SCHED_FIFO"
            }
        }
    }

    /// One line for `laxity list`.
    pub fn description(self) -> String {
        format!("{}, {}, on {}", self.rule.description(), self.scope.cells(), self.linux_policy())
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
            crate::scheduler_names::scheduler_names(&known).unknown(text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Duration;

    #[test]
    fn each_name_is_read_as_what_it_names() {
        for (at, scheduler) in Scheduler::ALL.into_iter().enumerate() {
            assert_eq!(scheduler.name().parse(), Ok(scheduler));
            assert_eq!(scheduler.name(), format!("{}{}", scheduler.scope.prefix(), scheduler.rule.name()));
            assert!(!Scheduler::ALL[..at].contains(&scheduler));
        }
        assert_eq!(
            Scheduler::LELLI2012.map(Scheduler::name),
            ["g-edf", "g-rm", "c-edf", "c-rm", "p-edf", "p-rm"]
        );
    }

    #[test]
    fn a_missing_priority_is_refused_by_name_under_given_priorities_only() {
        let task = |name: &str| Task::periodic(name, Duration::from_ms(1), Duration::from_ms(10));
        let set = |tasks| TaskSet::new("set", tasks).expect("valid");
        let half = set(vec![Task { priority: Some(3), ..task("a") }, task("b")]);
        let refused = PriorityRule::Given.check(&half, &"p-fp").expect_err("b has none");
        assert!(refused.message.contains("task `b`") && refused.message.contains("`p-fp`"), "{refused}");
        assert!(refused.hint.is_some_and(|hint| hint.contains("priority = NUMBER")));
        assert!(PriorityRule::DeadlineMonotonic.check(&half, &"p-dm").is_ok());
        let all = set(vec![Task { priority: Some(3), ..task("a") }, Task { priority: Some(3), ..task("b") }]);
        assert!(PriorityRule::Given.check(&all, &"p-fp").is_ok());
    }
}
