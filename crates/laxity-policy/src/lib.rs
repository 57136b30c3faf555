//! The scheduling policies of `policy/`, built natively.
//!
//! An [`Instance`] is one scheduler over the tasks and CPUs of one cluster, numbered from 0 within it. Every entry point
//! makes one decision and leaves its [`Action`]s, which the host carries out. What the entry points mean is written in
//! `policy/native.h` and `policy/linking.h`; nothing is decided here.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod action;
mod admission;
mod background;
mod claims;
mod deferrable;
mod instance;
mod kernel_threads;
mod locks;
mod prototype;
mod reserve;
mod standing;
mod table;
mod virtual_time;

/// `policy/native.h` in Rust, made by bindgen (`make bless`); `crates/laxity-conformance/tests/bindings.rs` compares them.
#[allow(
    missing_docs,
    dead_code,
    non_camel_case_types,
    non_upper_case_globals,
    clippy::all,
    clippy::undocumented_unsafe_blocks
)]
#[allow(unsafe_op_in_unsafe_fn)]
#[rustfmt::skip]
mod ffi;

pub use action::{Action, Note, NoteKind};
pub use admission::{Admission, Refused, bandwidth};
pub use background::{Load, Spot};
pub use claims::Claim;
pub use deferrable::Server;
pub use instance::{Config, Event, Instance, Replenishment, TaskParameters};
pub use kernel_threads::KernelThreads;
pub use locks::Locks;
pub use prototype::{Choice, MemberNames, PendingJob, Prototype};
pub use reserve::Reserve;
pub use standing::{Standing, StandingEvent, Then};
pub use table::Table;
pub use virtual_time::{VirtualTime, slice_in_a_crowd, waits_too_long};

/// No task, no CPU.
pub const NONE: u32 = u32::MAX;
/// No instant.
pub const NEVER: u64 = u64::MAX;
