//! Jobs, metrics and the results directory: one implementation for every producer of jobs.

mod job;
mod results;

pub use job::{Counters, Job, Outcome};
pub use results::{Host, Machine, Manifest, PlacedBin, PlacementRecord, Results, Run, RunStatus, ALONE};
