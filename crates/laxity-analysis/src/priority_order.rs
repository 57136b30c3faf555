//! Orders of fixed priorities.

use crate::SporadicTask;

/// By what tasks get their priorities: the least value is the highest priority, and of two equal ones the first task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PriorityOrder {
    /// T. Optimal on one processor where D = T and J = 0 (Liu, Layland 1973).
    RateMonotonic,
    /// D. Optimal on one processor where D <= T and J = 0 (Leung, Whitehead 1982).
    DeadlineMonotonic,
    /// D - J. Optimal on one processor where D <= T (Zuhily, Burns 2007).
    DeadlineMinusJitterMonotonic,
}

impl PriorityOrder {
    /// The tasks' indices, the highest priority first.
    pub fn of(self, tasks: &[SporadicTask]) -> Vec<usize> {
        let value = |&at: &usize| {
            let task = &tasks[at];
            match self {
                PriorityOrder::RateMonotonic => i128::from(task.period_ns),
                PriorityOrder::DeadlineMonotonic => i128::from(task.deadline_rel_ns),
                PriorityOrder::DeadlineMinusJitterMonotonic => {
                    i128::from(task.deadline_rel_ns) - i128::from(task.jitter_ns)
                }
            }
        };
        let mut order: Vec<_> = (0..tasks.len()).collect();
        order.sort_by_key(value);
        order
    }

    /// The tasks, the highest priority first: as tests for fixed priorities take them.
    pub fn sorted(self, tasks: &[SporadicTask]) -> Vec<SporadicTask> {
        self.of(tasks).into_iter().map(|at| tasks[at]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_by_its_value_and_equal_ones_as_they_come() {
        let task = |deadline, period, jitter| SporadicTask {
            wcet_ns: 1,
            deadline_rel_ns: deadline,
            period_ns: period,
            jitter_ns: jitter,
        };
        let tasks = [task(9, 10, 0), task(10, 10, 5), task(8, 12, 0), task(9, 9, 4)];
        assert_eq!(PriorityOrder::RateMonotonic.of(&tasks), [3, 0, 1, 2]);
        assert_eq!(PriorityOrder::DeadlineMonotonic.of(&tasks), [2, 0, 3, 1]);
        assert_eq!(PriorityOrder::DeadlineMinusJitterMonotonic.of(&tasks), [1, 3, 2, 0]);
        assert_eq!(PriorityOrder::RateMonotonic.sorted(&tasks)[0], tasks[3]);
    }
}
