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
    /// How many of the first bins have been left for good.
    pub left: usize,
}

impl<'a> Packed<'a> {
    /// Nothing is placed yet.
    pub fn new(request: &'a Request<'a>) -> Self {
        Packed { filling: Filling::new(request), overloaded: Vec::new(), stuck: None, left: 0 }
    }
}

/// Packs the request's tasks. Every task must have a bin within its affinity.
pub(crate) fn pack<'a>(request: &'a Request<'a>, packing: Packing, overload: Overload) -> Packed<'a> {
    let mut items = request.items();
    packing.order.sort(&mut items);
    let mut packed = Packed::new(request);
    let mut last = None;
    for item in items {
        let filling = &mut packed.filling;
        let fitting = choose(filling, packing.rule, item, last, request.bins().len());
        if let (Rule::NextFit, Some(bin)) = (packing.rule, fitting) {
            packed.left = bin;
        }
        let chosen = fitting.or_else(|| {
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
        // A task that fits nowhere closes no bin.
        last = if packing.rule == Rule::NextFit { Some(packed.left) } else { Some(bin) };
    }
    packed
}

/// The bin the rule chooses among those into which the task fits; `last` took the task before.
fn choose<'a>(
    filling: &mut Filling<'a>,
    rule: Rule,
    item: Item<'a>,
    last: Option<usize>,
    bins: usize,
) -> Option<usize> {
    match rule {
        Rule::FirstFit => (0..bins).find(|&bin| filling.fits(item, bin)),
        Rule::NextFit => (last.unwrap_or(0)..bins).find(|&bin| filling.fits(item, bin)),
        Rule::CyclicFit => {
            let next = last.map_or(0, |last| last + 1);
            (0..bins).map(|step| (next + step) % bins).find(|&bin| filling.fits(item, bin))
        }
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
