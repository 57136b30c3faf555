//! What judges the sets of one point.

use crate::tally::SetResult;
use laxity_model::Result;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// What is never stopped.
pub static NEVER: AtomicBool = AtomicBool::new(false);

/// What judges the sets of one point.
pub trait Sampler: Send + Sync {
    /// Draws set number `index` and judges it under these series, in the study's order. A set during which it was stopped may have any
    /// result, which counts nowhere.
    ///
    /// # Errors
    ///
    /// There is no such set.
    fn judge(&self, index: u64, series: Range<usize>) -> Result<SetResult>;
}
