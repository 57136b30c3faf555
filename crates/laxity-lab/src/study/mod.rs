//! Studies: how schedulers fare against the numbers of tasks and CPUs. `overheads` is what scheduling costs, `schedules`
//! whether schedules are what their schedulers define, and what that is to the jobs; `described` shows what files describe and
//! `laxity-study` computes; `real` runs what a file would have simulated.
//!
//! One of the first two is trials ([`Sweep`]): one run each, of one scheduler with one number of CPUs and one task set, kept as a results
//! directory below `trials/`. They are measured here or in virtual machines, and what is there is not measured again, so that a study that
//! was interrupted goes on where it was.

mod contender;
pub mod described;
mod here;
mod machines;
pub mod overheads;
mod page;
pub mod real;
pub mod schedules;
mod sweep;
mod trial;
mod workload;

pub use contender::{Batching, Contender};
pub use here::{Conditions, Kind, check_cpus, measure as measure_here};
pub use machines::Machines;
pub use page::PAGE_FILE;
pub use sweep::{Sweep, Where};
pub use trial::{Numbers, Place, State, TRIALS_DIRECTORY, Trial};
pub use workload::Cap;
