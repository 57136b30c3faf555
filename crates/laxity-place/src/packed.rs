//! What a heuristic has done so far.

use crate::admission::{Filling, Search};
use crate::order::Item;
use crate::{Overload, Request};
use laxity_model::Diagnostic;

/// What a heuristic did.
#[derive(Debug)]
pub(crate) struct Packed<'a> {
    pub filling: Filling<'a>,
    /// Tasks placed although they did not fit, in the order in which they were considered.
    pub overloaded: Vec<usize>,
    /// Tasks without a place, and why, in the order in which they were considered: where such tasks are left out.
    pub left_out: Vec<(usize, Diagnostic)>,
    /// The task at which it gave up, or was interrupted.
    pub stuck: Option<Item<'a>>,
    /// How many of the first bins have been left for good.
    pub left: usize,
}

impl<'a> Packed<'a> {
    /// Nothing is placed yet.
    pub fn new(request: &'a Request<'a>, search: Search) -> Self {
        let (overloaded, left_out) = (Vec::new(), Vec::new());
        Packed { filling: Filling::new(request, search), overloaded, left_out, stuck: None, left: 0 }
    }

    /// Where a task goes that fits nowhere, if it goes anywhere.
    pub fn overload(&mut self, item: Item<'a>, overload: Overload) -> Option<usize> {
        self.overloaded.push(item.id);
        match overload {
            Overload::Refuse => None,
            Overload::LeastLoaded => self.filling.least_loaded(item),
        }
    }
}
