//! Lower bounds on the maximum load of any placement, from the tasks alone.

use crate::Request;
use crate::order::Item;
use laxity_model::{LoadSum, Utilization};
use num_rational::Ratio;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

/// The largest of three bounds, relative to capacity:
///
/// 1. the whole load spread evenly over the whole capacity;
/// 2. for every task, its load on the largest bin it may go into;
/// 3. bins of equal capacity, tasks by decreasing load: of the first `k m + 1` tasks some bin takes `k + 1`,
///    at least the smallest `k + 1` of them.
///
/// `items` are sorted by decreasing load. After an interruption it is the largest of what was looked at.
pub(crate) fn max_load_at_least(request: &Request, items: &[Item]) -> Utilization {
    let capacity = |bin: usize| request.bins()[bin].capacity();
    let all = request.bins().iter().fold(Utilization::zero(), |sum, bin| sum.plus(bin.capacity()));
    let spread = total_at_most(request, items).over(&all);
    let together = pigeonhole(request, items).map(|load| load.exact().over(capacity(0)));
    let alone = alone(request, items).into_iter().map(|(item, bin)| request.load(item).over(capacity(bin)));
    alone.chain(together).fold(spread, Utilization::max)
}

/// Tasks, each with the largest bin it may go into: of those with equally large ones, the first has the largest load.
fn alone<'a>(request: &Request<'a>, items: &[Item<'a>]) -> Vec<(Item<'a>, usize)> {
    let capacity = |bin: usize| request.capacities().of(bin).0;
    let mut largest_first: Vec<usize> = (0..request.bins().len()).collect();
    largest_first.sort_by_key(|&bin| Reverse(capacity(bin)));
    let mut seen = BTreeSet::new();
    let largest = |&item: &Item<'a>| Some((item, request.first_candidate(item, &largest_first)?));
    let looked_at = items.iter().take_while(|_| !request.is_interrupted());
    looked_at.filter_map(largest).filter(|&(_, bin)| seen.insert(capacity(bin))).collect()
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
    let groups = (1..).take_while(|k| k * bins < items.len() && !request.is_interrupted()).map(group);
    groups.reduce(|best, load| if load.cmp_sum(&best) == Ordering::Greater { load } else { best })
}
