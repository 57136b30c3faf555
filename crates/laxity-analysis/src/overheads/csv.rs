//! Overheads from the CSV files that the field's tools exchange ([`laxity_model::overheads`] has the format).
//!
//! What has no column costs nothing ([`Overheads::absent`] tells). Columns of which the accounting here makes no use, such as those of
//! locks and of a step of push and pull, are skipped.

use super::{CacheDelays, Overhead, Overheads};
use laxity_model::Result;
use laxity_model::overheads::{cache_delays_from_csv, overheads_from_csv};

impl Overheads {
    /// From the text of a file of overheads.
    ///
    /// # Errors
    ///
    /// A column is unknown, missing or there twice, a value is not a number or exceeds [`TIME_MAX`](crate::TIME_MAX), or there are
    /// two lines for one number of tasks. The message has the line and the column.
    pub fn from_csv(text: &str) -> Result<Self> {
        let functions = overheads_from_csv(text, Overhead::ALL.map(Overhead::column))?;
        let given = Overhead::ALL.into_iter().zip(functions);
        Ok(given.fold(Overheads::none(), |overheads, (overhead, function)| match function {
            Some(function) => overheads.with(overhead, function),
            None => overheads,
        }))
    }
}

impl CacheDelays {
    /// From the text of a file of cache-related delays.
    ///
    /// # Errors
    ///
    /// A column is unknown, missing or there twice, a value is not a number or exceeds [`TIME_MAX`](crate::TIME_MAX), or there are
    /// two lines for one size. The message has the line and the column.
    pub fn from_csv(text: &str) -> Result<Self> {
        cache_delays_from_csv(text).map(|delays| CacheDelays::new(delays.levels, delays.memory))
    }
}

#[cfg(test)]
mod tests;
