//! Schedulability studies: what is said of their points.

mod manifest;
mod outputs;
mod progress;

pub use outputs::Told;
pub use progress::watching;
