//! Overheads of runs: recorded while they are made, kept beside their jobs, shown with them.
//!
//! `overheads/` of a results directory has for each run the samples (`run-N.parquet`) and what they come to (`run-N.json`), and
//! for each scheduler two CSV files of the field's format, means and maxima by number of tasks, which `--costs` takes.

mod kept;
mod measured;
mod recording;

pub use kept::{RunOverheads, costs_files, read, samples_path, text, write_costs};
pub use measured::{Measuring, Subject};
pub use recording::{Probes, record_during};

use crate::simulation::NamedScheduler;
use laxity_model::PriorityRule;
use laxity_overheads::Class;

/// The scheduling class whose threads a scheduler's tasks are.
pub fn class_of(scheduler: &NamedScheduler) -> Class {
    match scheduler.linux().map(|linux| linux.rule) {
        None => Class::Ext,
        Some(PriorityRule::EarliestDeadlineFirst) => Class::Deadline,
        Some(_) => Class::FixedPriority,
    }
}
