//! What scheduling costs, as the field's tools exchange it: files in CSV, and the monotone functions that they are read as.
//!
//! Accounting (`laxity-analysis`) and simulation (`laxity-sim`) read the same files by the same rules. They differ in the
//! largest time that they permit, a parameter of the function's type ([`Monotone`]), and in the columns that they make use of.

mod csv;
mod decimal;
mod job_times;
mod kind;
mod monotone;
mod table;

pub use csv::{CacheDelayFunctions, cache_delays_from_csv, overheads_from_csv, samples_from_csv};
pub use decimal::scaled_up;
pub use job_times::job_times_from_csv;
pub use kind::Overhead;
pub use monotone::Monotone;
