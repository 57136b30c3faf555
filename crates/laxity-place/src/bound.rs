//! Lower bounds on the maximum load of any placement, from the tasks alone.

use crate::Request;
use crate::order::Item;
use laxity_model::{LoadSum, Utilization};
use num_rational::Ratio;
use std::cmp::Ordering;

/// The largest of three bounds, relative to capacity:
///
/// 1. the whole load spread evenly over the whole capacity;
/// 2. for every task, its load on the largest bin it may go into;
/// 3. bins of equal capacity, tasks by decreasing load: of the first `k m + 1` tasks some bin takes `k + 1`,
///    at least the smallest `k + 1` of them.
///
/// `items` are sorted by decreasing load.
pub(crate) fn max_load_at_least(request: &Request, items: &[Item]) -> Utilization {
    let capacity = |bin: usize| request.bins()[bin].capacity();
    let all = request.bins().iter().fold(Utilization::zero(), |sum, bin| sum.plus(bin.capacity()));
    let spread = total_at_most(request, items).over(&all);
    let alone = items.iter().map(|&item| {
        let largest = request.candidates(item).into_iter().map(capacity).max();
        largest.map_or_else(Utilization::zero, |largest| request.load(item).over(largest))
    });
    let together = pigeonhole(request, items).map(|load| load.exact().over(capacity(0)));
    alone.chain(together).fold(spread, Utilization::max)
}

/// The sum of all loads, exactly if it has a denominator below 2^64, else rounded down (a little smaller is
/// still a bound, and thousands of unrelated denominators make numbers that are slow to add).
fn total_at_most(request: &Request, items: &[Item]) -> Utilization {
    let window = |item: &Item| request.fit().window(item.task).as_ns();
    let common =
        items.iter().try_fold(1u64, |lcm, item| lcm.checked_mul(*Ratio::new(lcm, window(item)).denom()));
    let sum = |unit: u128| -> Option<u128> {
        let scaled =
            |item: &Item| Some(u128::from(item.work.as_ns()).checked_mul(unit)? / u128::from(window(item)));
        items.iter().try_fold(0u128, |sum, item| sum.checked_add(scaled(item)?))
    };
    let exact = common.and_then(|unit| Some((u64::try_from(sum(unit.into())?).ok()?, unit)));
    let rounded = || Some((u64::try_from(sum(1 << 40)?).ok()?, 1 << 40));
    exact.or_else(rounded).map_or_else(Utilization::zero, |(sum, unit)| Utilization::ratio(sum, unit))
}

/// The third bound as a load; nothing if the capacities differ or there are no more tasks than bins.
fn pigeonhole(request: &Request, items: &[Item]) -> Option<LoadSum> {
    let bins = request.bins().len();
    if !request.capacities().equal() {
        return None;
    }
    let group = |k: usize| {
        let mut load = LoadSum::new();
        items[k * bins - k..=k * bins]
            .iter()
            .for_each(|item| load.add(item.work, request.fit().window(item.task)));
        load
    };
    let groups = (1..).take_while(|k| k * bins < items.len()).map(group);
    groups.reduce(|best, load| if load.cmp_sum(&best) == Ordering::Greater { load } else { best })
}
