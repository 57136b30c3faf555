//! Optimal priority assignment (Audsley: Optimal priority assignment and feasibility of static priority tasks with arbitrary start
//! times, YCS 164, University of York, 1991; Davis, Burns: Improved priority assignment for global fixed priority pre-emptive scheduling
//! in multiprocessor real-time systems, Real-Time Systems 47, 2011, for global tests).
//!
//! Optimal for a test if it depends on which tasks have higher priorities, not on their order, and if a higher priority never harms
//! (their conditions 1 to 3).

/// Where no assignment goes on: none of these tasks can have the lowest of the priorities that are left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoLowest(pub Vec<usize>);

/// The tasks 0 to `count` - 1 by priority, the highest first. `can_be_lowest` says of a task whether it is schedulable below all of the
/// others that it gets. Of several that can, the one that `prefers_low` puts highest is taken, and of equal ones the last.
///
/// n (n + 1)/2 questions at the most.
///
/// # Errors
///
/// There is none that the test accepts.
pub fn audsley<K: Ord>(
    count: usize,
    prefers_low: impl Fn(usize) -> K,
    mut can_be_lowest: impl FnMut(usize, &[usize]) -> bool,
) -> Result<Vec<usize>, NoLowest> {
    let mut left: Vec<usize> = (0..count).collect();
    left.sort_by_key(|&task| prefers_low(task));
    let mut order = Vec::with_capacity(count);
    while !left.is_empty() {
        let lowest = (0..left.len()).rev().find(|&at| can_be_lowest(left[at], &without(&left, at)));
        match lowest {
            Some(at) => order.push(left.remove(at)),
            None => return Err(NoLowest(left)),
        }
    }
    order.reverse();
    Ok(order)
}

/// The same with tasks that share priorities, in as few levels as there can be, the highest first: a task is schedulable below all that
/// are on its level or above. Each level, from the lowest, takes every task that can be there.
///
/// # Errors
///
/// There is none that the test accepts.
pub fn levels(
    count: usize,
    mut can_be_lowest: impl FnMut(usize, &[usize]) -> bool,
) -> Result<Vec<Vec<usize>>, NoLowest> {
    let mut left: Vec<usize> = (0..count).collect();
    let mut levels = Vec::new();
    while !left.is_empty() {
        let (lowest, higher): (Vec<usize>, Vec<usize>) = (0..left.len())
            .map(|at| (left[at], can_be_lowest(left[at], &without(&left, at))))
            .fold((Vec::new(), Vec::new()), |(mut low, mut high), (task, can)| {
                if can {
                    low.push(task)
                } else {
                    high.push(task)
                }
                (low, high)
            });
        if lowest.is_empty() {
            return Err(NoLowest(higher));
        }
        levels.push(lowest);
        left = higher;
    }
    levels.reverse();
    Ok(levels)
}

fn without(tasks: &[usize], at: usize) -> Vec<usize> {
    [&tasks[..at], &tasks[at + 1..]].concat()
}
