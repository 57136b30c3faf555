//! Schedulers by their names on a command line or in a file, and what a name says of placement.

mod choice;
mod configuration;
mod scheduled;

pub use choice::Choice;
pub use configuration::Configuration;
pub use scheduled::Scheduled;
