//! Studies by simulation: what is said of their points.

mod outputs;

pub use outputs::StudyOutputs;
