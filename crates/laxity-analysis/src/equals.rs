//! Tasks that share a priority, as under SCHED_FIFO, where those of one level run in the order in which they become ready.
//!
//! Which of two equals goes first is not assumed: each is taken to wait for all others of its level, as if these were above it.
//! What is proven so holds whatever decides among equals, as long as no processor serves a lower level while one of them waits.
//!
//! 1. On one processor a task's bound depends only on which tasks are above it. So the set is judged in several orders, such that
//!    each task is once the last of its level; the bound of a task is the largest that it has in any of them, and that is the one
//!    in which it is last. The synchronous busy period of the level and those above contains what a job can wait for, whichever
//!    of the equals go first.
//! 2. On several processors a bound also depends on the response times of those above, which for equals depend on each other:
//!    [`crate::GlobalFixedPriorityGuan`] takes their deadlines instead. No other test judges equals there.
//!
//! Sufficient, whatever the test is: in the order in which they become ready no task waits for all jobs of its equals.

use crate::{Bounds, SporadicTask, Verdict};

/// What tests without a way of their own assume on several processors.
const DISTINCT: &str = "no two tasks of a cell with several CPUs have the same priority";

/// How many tasks each level has, the highest first.
#[derive(Debug, Clone, Copy)]
pub struct Levels<'a>(&'a [usize]);

impl<'a> Levels<'a> {
    /// None of them 0, and as many in all as there are tasks.
    pub fn new(sizes: &'a [usize]) -> Self {
        Levels(sizes)
    }

    /// Whether no two tasks share a level.
    pub fn are_distinct(self) -> bool {
        self.0.iter().all(|&size| size == 1)
    }

    /// Of each level where it begins and how many tasks it has.
    pub(crate) fn iter(self) -> impl Iterator<Item = (usize, usize)> + 'a {
        let mut begin = 0;
        self.0.iter().map(move |&size| {
            begin += size;
            (begin - size, size)
        })
    }

    /// The first task that has an equal.
    fn first_shared(self) -> Option<usize> {
        self.iter().find(|&(_, size)| size > 1).map(|(begin, _)| begin)
    }

    /// The tasks in an order in which the `turn`-th of each level is the last of it, counted round.
    fn order(self, turn: usize) -> Vec<usize> {
        let rotated = |(begin, size): (usize, usize)| {
            let last = turn % size;
            (0..size).map(move |at| begin + (last + 1 + at) % size)
        };
        self.iter().flat_map(rotated).collect()
    }
}

/// By a test that knows nothing of equals: `verdict` is what it says of tasks in the order of their priorities.
pub(crate) fn by_orders(
    tasks: &[SporadicTask],
    levels: Levels<'_>,
    processors: u32,
    mut verdict: impl FnMut(&[SporadicTask]) -> Result<Verdict, Verdict>,
) -> Result<Verdict, Verdict> {
    if processors > 1 {
        let verdict = verdict(tasks)?;
        let other_needs = matches!(verdict, Verdict::NotApplicable(_));
        return Ok(if other_needs { verdict } else { Verdict::needs(DISTINCT, levels.first_shared()) });
    }
    let orders = levels.0.iter().copied().max().unwrap_or(1);
    let mut worst: Option<Bounds> = None;
    for turn in 0..orders {
        let order = levels.order(turn);
        let inside: Vec<SporadicTask> = order.iter().map(|&at| tasks[at]).collect();
        match verdict(&inside).unwrap_or_else(|early| early) {
            Verdict::Schedulable(bounds) => {
                let bounds = bounds.renumbered(&order);
                worst = Some(worst.map_or(bounds.clone(), |before| before.largest(bounds)));
            }
            refused => return Ok(refused.with_numbers(|at| Some(order[at]))),
        }
    }
    Ok(Verdict::Schedulable(worst.unwrap_or(Bounds::None)))
}

impl Bounds {
    /// Of tasks in another order: the `at`-th value is that of task `order[at]`.
    fn renumbered(self, order: &[usize]) -> Self {
        let renumber = |values: Vec<u64>| {
            let mut renumbered = vec![0; values.len()];
            order.iter().zip(values).for_each(|(&at, value)| renumbered[at] = value);
            renumbered
        };
        match self {
            Bounds::None => Bounds::None,
            Bounds::ResponseTimes(values) => Bounds::ResponseTimes(renumber(values)),
            Bounds::Tardiness(values) => Bounds::Tardiness(renumber(values)),
        }
    }

    /// What holds of both, task by task: nothing if they are of two kinds.
    fn largest(self, other: Self) -> Self {
        let largest =
            |one: Vec<u64>, other: Vec<u64>| one.into_iter().zip(other).map(|(a, b)| a.max(b)).collect();
        match (self, other) {
            (Bounds::ResponseTimes(one), Bounds::ResponseTimes(other)) => {
                Bounds::ResponseTimes(largest(one, other))
            }
            (Bounds::Tardiness(one), Bounds::Tardiness(other)) => Bounds::Tardiness(largest(one, other)),
            _ => Bounds::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        FixedPriorityRta, FixedPriorityTardiness, GlobalFixedPriorityGuan, GlobalFixedPriorityRta, Test,
        TimeDemand, Work,
    };

    fn judge(test: &dyn Test, tasks: &[SporadicTask], sizes: &[usize], processors: u32) -> Verdict {
        test.judge_among_equals(tasks, Levels::new(sizes), processors, &mut Work::default())
    }

    #[test]
    fn each_task_is_once_the_last_of_its_level() {
        let levels = Levels::new(&[1, 3, 2]);
        assert_eq!(levels.order(0), [0, 2, 3, 1, 5, 4]);
        assert_eq!(levels.order(1), [0, 3, 1, 2, 4, 5]);
        assert_eq!(levels.order(2), [0, 1, 2, 3, 5, 4]);
        assert!(!levels.are_distinct() && Levels::new(&[1, 1]).are_distinct());
    }

    #[test]
    fn equals_wait_for_each_other_on_one_processor() {
        // Each of the two waits for the other: 1 + 2 + 3 = 6, and the last for all, twice for the first.
        let tasks = [
            SporadicTask::implicit(1, 8),
            SporadicTask::implicit(2, 20),
            SporadicTask::implicit(3, 20),
            SporadicTask::implicit(2, 40),
        ];
        let shared = judge(&FixedPriorityRta, &tasks, &[1, 2, 1], 1);
        assert_eq!(shared, Verdict::Schedulable(Bounds::ResponseTimes(vec![1, 6, 6, 8])));
        let distinct = judge(&FixedPriorityRta, &tasks, &[1, 1, 1, 1], 1);
        assert_eq!(distinct, Verdict::Schedulable(Bounds::ResponseTimes(vec![1, 3, 6, 8])));
        let soft = judge(&FixedPriorityTardiness, &tasks, &[1, 2, 1], 1);
        assert_eq!(soft, Verdict::Schedulable(Bounds::Tardiness(vec![0; 4])));
        // The first of two would be in time if it went first.
        let tight = [SporadicTask::constrained(2, 3, 10), SporadicTask::implicit(3, 10)];
        assert!(judge(&TimeDemand, &tight, &[1, 1], 1).is_schedulable());
        assert_eq!(judge(&TimeDemand, &tight, &[2], 1), Verdict::fails_at(0));
        assert_eq!(judge(&FixedPriorityRta, &tight, &[2], 1), Verdict::fails_at(0));
    }

    #[test]
    fn equals_on_several_processors_are_for_the_test_that_knows_them() {
        // As many as processors do not wait, whatever they share.
        let two = [SporadicTask::implicit(5, 6); 2];
        assert_eq!(
            judge(&GlobalFixedPriorityGuan, &two, &[2], 2),
            Verdict::Schedulable(Bounds::ResponseTimes(vec![5, 5]))
        );
        let three = [SporadicTask::implicit(2, 9); 3];
        // Each of three waits for two: 4, and not more than once.
        assert_eq!(
            judge(&GlobalFixedPriorityGuan, &three, &[3], 2),
            Verdict::Schedulable(Bounds::ResponseTimes(vec![4, 4, 4]))
        );
        assert_eq!(judge(&GlobalFixedPriorityRta, &three, &[3], 2), Verdict::needs(DISTINCT, Some(0)));
        assert_eq!(judge(&FixedPriorityRta, &three, &[3], 2), Verdict::needs("m = 1", None));
    }
}
