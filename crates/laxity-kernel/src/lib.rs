//! The policies in a stock kernel: `bpf/` loaded as a sched_ext scheduler, attached until it is dropped.
//!
//! A [`Scheduler`] is one policy on one set of cells. Whatever ends it (dropped, its process killed, thrown out by the
//! kernel), the kernel's own scheduler goes on with all tasks.

mod counters;
mod kernel;
mod messages;
mod object;
pub mod rings;
mod scheduler;

pub use counters::Counters;
pub use kernel::{Support, support};
pub use object::object;
pub use scheduler::{BudgetMode, Cell, Exit, Options, Reserve, Scheduler};

#[allow(non_camel_case_types, missing_docs, clippy::all)]
mod ffi {
    include!(concat!(env!("OUT_DIR"), "/setup.rs"));
}
