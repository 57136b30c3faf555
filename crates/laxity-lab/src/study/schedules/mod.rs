//! Whether the schedules that a kernel makes are what their schedulers define, decision by decision, and what they are to the
//! jobs, against the numbers of tasks and CPUs (ackelman2018, 6.1, which checked the schedules of the overhead benchmarks of 6.2).
//!
//! Nothing is judged here: every trial's schedule was verified when it was recorded, with what was measured in that very run
//! (`experiment/schedule.rs`), and metrics are those of `laxity-trace`.

mod answer;
mod evaluation;
mod figures;
mod outputs;
#[cfg(test)]
mod tests;

pub use answer::{Answer, schema};
pub use evaluation::Evaluation;
pub use outputs::{StudyOutputs, TABLE_FILE};
