//! The packing heuristics (lindsay2012, 5.2).
//!
//! Complexity: O(n log n + n log m) where the load alone says what fits and tasks may go anywhere ([`crate::line`],
//! [`crate::ranking`]); each bin with room that is forbidden to a task, or refused by another test, is asked besides. Exact
//! verdicts; ties as in [`crate`].

use crate::admission::{Filling, Search};
use crate::order::Item;
use crate::packed::Packed;
use crate::{Overload, Packing, Request, Rule, reason};

impl Rule {
    /// In which order it looks for room.
    fn search(self) -> Search {
        match self {
            Rule::FirstFit | Rule::NextFit | Rule::CyclicFit => Search::Numbered,
            Rule::BestFit => Search::Fullest,
            Rule::WorstFit => Search::Emptiest,
            Rule::SlowestFit => Search::Slowest,
        }
    }
}

/// Packs the request's tasks. Every task must have a bin within its affinity.
pub(crate) fn pack<'a>(request: &'a Request<'a>, packing: Packing, overload: Overload) -> Packed<'a> {
    let mut items = request.items();
    packing.order.sort(&mut items);
    let mut packed = Packed::new(request, packing.rule.search());
    let mut last = None;
    for item in items {
        let fitting = choose(&packed.filling, packing.rule, item, last);
        // What was not looked at may have room: an interruption decides nothing.
        if request.is_interrupted() {
            packed.stuck = Some(item);
            return packed;
        }
        if let (Rule::NextFit, Some(bin)) = (packing.rule, fitting) {
            packed.left = bin;
        }
        if fitting.is_none() && request.leaves_out() {
            let why = reason::left_out(request, packing, &packed, item);
            packed.left_out.push((item.id, why));
            continue;
        }
        let Some(bin) = fitting.or_else(|| packed.overload(item, overload)) else {
            packed.stuck = Some(item);
            return packed;
        };
        match fitting {
            Some(_) => packed.filling.put(item, bin),
            None => packed.filling.put_over(item, bin),
        }
        // A task that fits nowhere closes no bin.
        last = if packing.rule == Rule::NextFit { Some(packed.left) } else { Some(bin) };
    }
    packed
}

/// The bin the rule chooses among those into which the task fits; `last` took the task before.
fn choose<'a>(filling: &Filling<'a>, rule: Rule, item: Item<'a>, last: Option<usize>) -> Option<usize> {
    let load = filling.load_of(item);
    let first = |positions| filling.first(item, &load, positions);
    let bins = filling.bins();
    match (rule, last) {
        (Rule::NextFit, Some(last)) => first(last..bins),
        (Rule::CyclicFit, Some(last)) => first(last + 1..bins).or_else(|| first(0..last + 1)),
        _ => first(0..bins),
    }
}
