//! Whether a machine is fit for real-time work.
//!
//! A [`Check`] judges what `/proc`, `/sys` and the kernel's configuration say, by a rule that it states. It looks through a
//! [`Host`], whose root can be any directory: tests make machines of files. A finding has its evidence, the reason why it
//! matters, its cost where that can be measured, and a remedy with its undo. A check that cannot be made says so: it is neither
//! passed nor a finding. Nothing here changes the machine.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod checks;
mod counters;
mod diagnosis;
mod evidence;
mod host;
mod kernel_config;
mod measured;
mod remedy;
mod verdict;
mod wakeups;

pub use checks::{ALL, named};
pub use diagnosis::{DIAGNOSIS_VERSION, Diagnosis, Finding, Passed, Unmade, doctor_schema, examine};
pub use evidence::Evidence;
pub use host::{Host, Probes, SAMPLE, Unloadable};
pub use remedy::{Kind, Remedy};
pub use verdict::{Check, Severity};
pub use wakeups::Wakeups;
