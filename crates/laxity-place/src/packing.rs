//! The packing heuristics (lindsay2012, 5.2).
//!
//! Complexity: O(n log n + n m) admission tests. Exact verdicts; ties as in [`crate`].

use crate::admission::Filling;
use crate::order::Item;
use crate::{Overload, Packing, Request, Rule};
use std::cmp::Ordering;

/// What a heuristic did.
#[derive(Debug)]
pub(crate) struct Packed<'a> {
    pub filling: Filling<'a>,
    /// Tasks placed although they did not fit, in the order in which they were considered.
    pub overloaded: Vec<usize>,
    /// The task at which it gave up.
    pub stuck: Option<Item<'a>>,
}

/// Packs the request's tasks. Every task must have a bin within its affinity.
pub(crate) fn pack<'a>(request: &'a Request<'a>, packing: Packing, overload: Overload) -> Packed<'a> {
    let mut items = request.items();
    packing.order.sort(&mut items);
    let mut packed = Packed { filling: Filling::new(request), overloaded: Vec::new(), stuck: None };
    let mut next = 0;
    for item in items {
        let filling = &mut packed.filling;
        let chosen = choose(filling, packing.rule, item, next, request.bins().len()).or_else(|| {
            packed.overloaded.push(item.id);
            match overload {
                Overload::Refuse => None,
                Overload::LeastLoaded => filling.least_loaded(item),
            }
        });
        let Some(bin) = chosen else {
            packed.stuck = Some(item);
            return packed;
        };
        filling.put(item, bin);
        next = bin + 1;
    }
    packed
}

/// The bin the rule chooses among those into which the task fits. `next` is where next-fit starts looking.
fn choose<'a>(
    filling: &mut Filling<'a>,
    rule: Rule,
    item: Item<'a>,
    next: usize,
    bins: usize,
) -> Option<usize> {
    match rule {
        Rule::FirstFit => (0..bins).find(|&bin| filling.fits(item, bin)),
        Rule::NextFit => (0..bins).map(|step| (next + step) % bins).find(|&bin| filling.fits(item, bin)),
        Rule::BestFit => fullest(filling, item, bins, Ordering::Greater),
        Rule::WorstFit => fullest(filling, item, bins, Ordering::Less),
        Rule::SlowestFit => filling.slowest_first().into_iter().find(|&bin| filling.fits(item, bin)),
    }
}

/// The first bin with the least (`Greater` filled) or the most (`Less` filled) room into which the task fits.
fn fullest<'a>(filling: &mut Filling<'a>, item: Item<'a>, bins: usize, better: Ordering) -> Option<usize> {
    (0..bins).fold(None, |best, bin| {
        let improves = best.is_none_or(|best| filling.compare_filled(bin, best) == better);
        if improves && filling.fits(item, bin) { Some(bin) } else { best }
    })
}
