//! Overheads of runs: recorded while they are made, kept beside their jobs, shown with them.
//!
//! `overheads/` of a results directory has for each run the samples (`run-N.parquet`) and what they come to (`run-N.json`), and
//! for each scheduler two CSV files of the field's format, means and maxima by number of tasks, which `--costs` takes.

mod kept;
mod machine;
mod measured;
mod recording;

pub use kept::{RunOverheads, costs_files, read, samples_path, write_costs};
pub use machine::{MachineOverheads, REAL_TIME, recording_directory};
pub use measured::{Measuring, Subject};
pub use recording::{Probes, record_during};

use laxity_model::{AnyScheduler, LinuxScheduler};
use laxity_overheads::Class;

/// The scheduling class whose threads a scheduler's tasks are.
pub fn class_of(scheduler: &AnyScheduler) -> Class {
    match scheduler {
        AnyScheduler::Policy(_) | AnyScheduler::Linux(LinuxScheduler::Foreign(_)) => Class::Ext,
        AnyScheduler::Linux(LinuxScheduler::Fair(_)) => Class::Other,
        AnyScheduler::Linux(linux) if linux.has_reservations() => Class::Deadline,
        AnyScheduler::Linux(_) => Class::FixedPriority,
    }
}
