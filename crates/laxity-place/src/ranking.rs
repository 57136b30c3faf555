//! Bins from the best to the worst, while they change one by one.
//!
//! The order is the caller's, and total: ties between bins are its matter, too.
//!
//! Complexity: O(log m) comparisons for a change. Comparisons are exact and can be slow; moving m numbers is not.

use std::cmp::Ordering;

/// Bins in an order.
#[derive(Debug)]
pub(crate) struct Ranking(Vec<usize>);

impl Ranking {
    /// The bins `0 .. bins`.
    pub fn new(bins: usize, compare: impl Fn(usize, usize) -> Ordering) -> Self {
        let mut order: Vec<usize> = (0..bins).collect();
        order.sort_by(|&a, &b| compare(a, b));
        Ranking(order)
    }

    /// The bins, the best first.
    pub fn bins(&self) -> &[usize] {
        &self.0
    }

    /// Puts a bin that has changed where it belongs now.
    pub fn change(&mut self, bin: usize, compare: impl Fn(usize, usize) -> Ordering) {
        self.0.retain(|&other| other != bin);
        let place = self.0.partition_point(|&other| compare(other, bin) == Ordering::Less);
        self.0.insert(place, bin);
    }
}
