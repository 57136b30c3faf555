//! Schedulers by their names on a command line or in a file, and what a name says of placement.

mod choice;
mod configuration;
mod named;
mod tried;

pub use choice::Choice;
pub use configuration::{configurations, taken_apart};
pub use named::NamedScheduler;
pub use tried::TriedScheduler;
