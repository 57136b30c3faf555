//! What scheduling costs against the numbers of tasks and CPUs (cerqueira2014, Figures 6 and 7; ackelman2018, Figures 7.1 to
//! 7.3).

mod evaluation;
mod functions;
mod outputs;
#[cfg(test)]
mod tests;
mod unit;

pub use evaluation::Evaluation;
pub use functions::METHOD as FUNCTIONS_METHOD;
pub use outputs::{StudyOutputs, TABLE_FILE};
pub use unit::{Unit, check_counted};
