//! The conformance rig: checks of `policy/` that no policy can pass by being wrong twice.
//!
//! - [`queue`]: the ready queues, in a build where every assertion of `policy/` is tested; their tests compare them with a
//!   sorted vector and look at their structure after every operation.
//! - [`Recording`]: a random host drives a policy natively and writes down every event and every decision.
//! - [`Programs`]: the same policy as BPF in this kernel, which replays the events; its decisions must be the same, byte
//!   for byte. Where there is no BPF ([`available`]), what needs it is skipped and says why.
//! - [`report`]: what the verifier has to look at, and what a queue operation costs, in both builds.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

pub mod bpf;
mod event;
pub mod hold;
mod host;
pub mod queue;
pub mod report;
mod scenario;

pub use bpf::{Programs, available};
pub use event::{Decision, Event, Kind};
pub use host::Recording;
pub use scenario::{Scenario, table_checked};
