//! `laxity study overheads`: what scheduling costs against the numbers of tasks and CPUs (cerqueira2014, Figures 6 and 7;
//! ackelman2018, Figures 7.1 to 7.3).
//!
//! A study is cells: one run each, of one scheduler with one number of CPUs and one task set, kept as a results directory below
//! `cells/`. They are measured here or in virtual machines, and what is there is not measured again, so that a study that was
//! interrupted goes on where it was.

mod cell;
mod evaluation;
mod here;
mod machines;
mod outputs;
mod unit;
mod workload;

pub use cell::{CELLS_DIRECTORY, Cell, Numbers, State};
pub use evaluation::Evaluation;
pub use here::{Conditions, measure as measure_here};
pub use machines::{Machines, measure as measure_in_machines};
pub use outputs::{PAGE_FILE, TABLE_FILE, Told};
pub use unit::{Unit, ns_per_instruction};
pub use workload::Cap;
