//! Which tasks share a priority of SCHED_FIFO.
//!
//! 1. Rate- and deadline-monotonic tasks have priorities of their own: ranks by (T or D, task id).
//! 2. Under given priorities, tasks of one number share a priority, and run in the order in which they become ready.
//! 3. There are [`FIFO_LEVELS`] priorities. If that is not enough, neighbouring ranks share them evenly; their order stays.

use crate::PriorityRule;

/// How many priorities of SCHED_FIFO tasks get: 98 down to 2. The guardian of a run is above them.
pub const FIFO_LEVELS: usize = 97;

impl PriorityRule {
    /// The level of each task of a cell, from 0, the highest, to at most [`FIFO_LEVELS`] - 1. Of each task its number by
    /// [`PriorityRule::fixed_priority`] and its id.
    pub fn fifo_levels(self, tasks: &[(u64, usize)]) -> Vec<usize> {
        let rank_of =
            |&(number, id): &(u64, usize)| (number, if self == PriorityRule::Given { 0 } else { id });
        // In their order already, and each with a level of its own.
        if tasks.len() <= FIFO_LEVELS && tasks.is_sorted_by(|one, next| rank_of(one) < rank_of(next)) {
            return (0..tasks.len()).collect();
        }
        let mut ranks: Vec<(u64, usize)> = tasks.iter().map(rank_of).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let level_of = |task: &(u64, usize)| {
            let rank = ranks.partition_point(|&rank| rank < rank_of(task));
            if ranks.len() <= FIFO_LEVELS { rank } else { rank * FIFO_LEVELS / ranks.len() }
        };
        tasks.iter().map(level_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PriorityRule::{DeadlineMonotonic, Given, RateMonotonic};

    #[test]
    fn equal_numbers_share_a_level_only_where_they_are_given() {
        let tasks = [(20, 7), (10, 1), (20, 4), (5, 9)];
        assert_eq!(RateMonotonic.fifo_levels(&tasks), [3, 1, 2, 0]);
        assert_eq!(DeadlineMonotonic.fifo_levels(&tasks), [3, 1, 2, 0]);
        assert_eq!(Given.fifo_levels(&tasks), [2, 1, 2, 0]);
        assert!(Given.fifo_levels(&[]).is_empty());
    }

    #[test]
    fn numbers_keep_their_order_however_many_there_are() {
        for count in [1, 96, 97, 98, 193, 194, 500] {
            // 7 has no factor in common with any of these.
            let numbers: Vec<u64> = (0..count).map(|at| at * 7 % count).collect();
            let tasks: Vec<(u64, usize)> = numbers.iter().copied().zip(0..).collect();
            for rule in [RateMonotonic, Given] {
                let levels = rule.fifo_levels(&tasks);
                let distinct = usize::try_from(count).expect("small") <= FIFO_LEVELS;
                for (one, &level) in numbers.iter().zip(&levels) {
                    assert!(level < FIFO_LEVELS);
                    for (other, &below) in numbers.iter().zip(&levels) {
                        assert!(one >= other || level <= below, "{count}: {one} {other}");
                        assert!(!distinct || one == other || level != below, "{count}: {one} {other}");
                    }
                }
            }
        }
    }
}
