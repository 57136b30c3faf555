//! The approximate demand bound function and the admission test built on it.
//!
//! Assumptions: sporadic tasks with arbitrary deadlines under EDF on one CPU, no jitter, no blocking.
//!
//! Baruah and Fisher, RTSS 2005, equation 2: `DBF*(tau, t)` is 0 for `t < D`, else `C + (C/T) * (t - D)`; it is
//! never below the exact demand. Their algorithm considers tasks by non-decreasing deadline and asks for
//! `C_i + sum DBF*(tau_j, D_i) <= D_i` and a utilization sum of at most 1. Here tasks may come in any order, so
//! the condition is checked at the deadline of the new task and at every later one: DBF* jumps only at deadlines
//! and rises by at most the utilization sum between them. In their order the two are the same.
//!
//! Complexity: O(k^2) for a CPU with k tasks, O(k) in deadline order. Times in ns. Sufficient.

use crate::order::Item;
use laxity_model::{LoadSum, Utilization};
use num_rational::BigRational;
use std::cmp::Ordering;

/// True if, with `new` added, the approximate demand of every interval stays within `capacity` (numerator,
/// denominator) times its length. The utilization sum is the caller's to check. `every` deadline is looked at, or those that the new task
/// changes, where the others are known to be met. Once it is interrupted, nothing is admitted.
pub(crate) fn admits<'a>(
    placed: &[Item<'a>],
    new: Item<'a>,
    (capacity, every): ((u64, u64), bool),
    interrupted: impl Fn() -> bool,
) -> bool {
    let earliest = new.task.deadline_rel;
    let mut deadlines: Vec<u64> = placed.iter().map(|item| item.task.deadline_rel.as_ns()).collect();
    deadlines.retain(|&deadline| every || deadline > earliest.as_ns());
    deadlines.push(earliest.as_ns());
    deadlines.sort_unstable();
    deadlines.dedup();
    deadlines.into_iter().all(|t| !interrupted() && demand_within(placed.iter().chain([&new]), t, capacity))
}

/// True if the sum of DBF*(tau, t) is at most `capacity * t`, exactly.
fn demand_within<'i, 'a: 'i>(
    items: impl Iterator<Item = &'i Item<'a>>,
    t_ns: u64,
    (numerator, denominator): (u64, u64),
) -> bool {
    // The sum is whole + rest, where rest collects the fractions of a nanosecond.
    let mut whole = 0u128;
    let mut rest = LoadSum::new();
    for item in items {
        let (work, period) = (item.work.as_ns(), item.task.period().as_ns());
        let Some(past) = t_ns.checked_sub(item.task.deadline_rel.as_ns()) else { continue };
        let carried = u128::from(work) * u128::from(past);
        let Some(sum) = whole.checked_add(u128::from(work) + carried / u128::from(period)) else {
            return false;
        };
        whole = sum;
        let fraction = u64::try_from(carried % u128::from(period)).expect("a remainder is below its divisor");
        rest.add_ratio(fraction, period);
    }
    // whole + rest <= numerator * t / denominator
    let supply = u128::from(numerator) * u128::from(t_ns);
    let left = whole.checked_mul(denominator.into()).and_then(|demand| supply.checked_sub(demand));
    let Some(left) = left else { return false };
    if left / u128::from(denominator) >= rest.count() as u128 {
        return true;
    }
    match u64::try_from(left) {
        Ok(left) => rest.cmp_ratio(left, denominator) != Ordering::Greater,
        Err(_) => {
            let left = BigRational::from_integer(left.into()) / BigRational::from_integer(denominator.into());
            rest.cmp_to(&Utilization::from(left)).is_le()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::{Duration, Task};

    fn task(wcet: u64, deadline: u64, period: u64) -> Task {
        let mut task = Task::periodic("t", Duration::from_ns(wcet), Duration::from_ns(period));
        task.deadline_rel = Duration::from_ns(deadline);
        task
    }

    fn admitted(tasks: &[Task], capacity: (u64, u64)) -> bool {
        let item = |(id, task): (usize, &'_ Task)| (id, task.clone());
        let owned: Vec<(usize, Task)> = tasks.iter().enumerate().map(item).collect();
        let items: Vec<Item> =
            owned.iter().map(|(id, task)| Item { id: *id, task, work: task.wcet }).collect();
        let (new, placed) = items.split_last().expect("a task");
        admits(placed, *new, (capacity, false), || false)
    }

    #[test]
    fn accepts_a_set_whose_density_exceeds_one() {
        // t = 9: 2 + 2/10 * 5 + 5 = 8, though the densities are 1/2 + 5/9
        assert!(admitted(&[task(2, 4, 10), task(5, 9, 10)], (1, 1)));
        // t = 4: 1 + 1/10 * 2 + 2 = 3.2
        assert!(admitted(&[task(1, 2, 10), task(2, 4, 10)], (1, 1)));
        // t = 3: 1 + 1/10 * 1 + 2 = 3.1; t = 4: 1 + 1/10 * 2 + 3 = 4.2
        assert!(!admitted(&[task(1, 2, 10), task(2, 3, 10)], (1, 1)));
        assert!(!admitted(&[task(1, 2, 10), task(3, 4, 10)], (1, 1)));
    }

    #[test]
    fn the_order_of_arrival_does_not_matter() {
        for (first, second) in [(task(1, 2, 10), task(3, 4, 10)), (task(2, 4, 10), task(5, 9, 10))] {
            let forth = admitted(&[first.clone(), second.clone()], (1, 1));
            assert_eq!(forth, admitted(&[second, first], (1, 1)));
        }
    }

    #[test]
    fn the_boundary_is_exact_in_thirds_of_a_nanosecond() {
        // t = 5: (1 + 1/3) + (2 + 2/3) + 1 = 5
        let full = [task(1, 4, 3), task(2, 4, 3), task(1, 5, 100)];
        assert!(admitted(&full, (1, 1)));
        assert!(!admitted(&full, (u64::MAX - 1, u64::MAX)));
        // 1/2 instead of 1/3 is too much
        assert!(!admitted(&[task(1, 4, 2), task(2, 4, 3), task(1, 5, 100)], (1, 1)));
    }

    #[test]
    fn huge_times_do_not_overflow() {
        let huge = u64::MAX;
        assert!(!admitted(&[task(huge, huge, huge), task(huge, huge, huge)], (1, 1)));
        assert!(admitted(&[task(1, 1, huge), task(huge / 2, huge, huge)], (1, 1)));
        assert!(admitted(&[task(huge / 2, huge, huge), task(huge / 2, huge, huge)], (huge, huge)));
    }
}
