//! Studies: how schedulers fare against the numbers of tasks and CPUs. `overheads` is what scheduling costs, `schedules`
//! whether schedules are what their schedulers define, and what that is to the jobs; `described` shows what files describe and
//! `laxity-study` computes; `real` runs what a file would have simulated.
//!
//! One of the first two is a study that is run for each number of CPUs ([`Grid`]), with schedulers as curves, against the number of
//! tasks: its runs, the trials, are below `m1/runs/`, `m2/runs/` and so on. They are made here or in virtual machines, and what is there is
//! not made again, so that a study that was interrupted goes on where it was, and one that asks for more adds to what is there.

mod contender;
pub mod described;
mod grid;
mod machines;
mod measuring;
pub mod overheads;
mod page;
pub mod real;
pub mod schedules;
mod sweep;
mod trial;

pub use contender::{Batching, Contender};
pub use grid::{Grid, StudyOfCpus};
pub use page::PAGE_FILE;
pub use real::State;
pub use sweep::{Cap, Kind, Machines, Sweep, Where};
pub use trial::{Numbers, Place, RunOfStudy, Trial};
