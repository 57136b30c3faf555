//! The policies in a stock kernel: `bpf/` loaded as a sched_ext scheduler, attached until it is dropped.
//!
//! A [`Scheduler`] is one policy on one set of cells. Whatever ends it (dropped, its process killed, thrown out by the
//! kernel), the kernel's own scheduler goes on with all tasks.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod cgroups;
mod clock;
mod cores;
mod counters;
mod fault;
/// Types of `bpf/` in Rust, made by bindgen (`make bless`); `crates/laxity-conformance/tests/bindings.rs` compares them.
#[allow(non_camel_case_types, missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
#[rustfmt::skip]
mod ffi;
#[allow(non_camel_case_types, missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
#[rustfmt::skip]
mod ffi_observer;
mod kernel;
mod maps;
mod messages;
mod object;
mod privilege;
mod redirect;
mod releaser;
pub mod rings;
pub mod schedule;
mod scheduler;
mod skeleton;
mod visit;

pub use cgroups::{LimitedCgroup, limited_cgroups, named_cgroups};
pub use clock::monotonic_ns;
pub use cores::{BackgroundTimes, Core, RunningServer, checked_server, share_beside};
pub use counters::Counters;
pub use kernel::{
    Release, Support, attached, attached_under, is_preempt_rt, kernel_least, support, support_of,
};
pub use object::object;
pub use privilege::{Capability, Privileges};
pub use redirect::{internal_role, redirect};
pub use scheduler::{Enrolled, Exit, Length, Options, PolicyCpus, Scheduler, built};

/// Tasks for which the kernel's build has room, in a cell and in all.
pub const TASKS_MAX: u32 = ffi::LX_HOST_TASKS;

/// The window in which kernel threads that are bound to a CPU go before its real-time tasks for a bounded time, and that time unless
/// it is said otherwise.
pub const KERNEL_THREADS_WINDOW: laxity_model::Duration = laxity_model::Duration::from_ms(10);
/// See [`KERNEL_THREADS_WINDOW`].
pub const KERNEL_THREADS: laxity_model::Duration = laxity_model::Duration::from_us(500);

/// What real-time tasks have to expect of kernel threads that may go first for so long in each window.
pub fn kernel_threads_words(bound: laxity_model::Duration) -> String {
    if bound >= KERNEL_THREADS_WINDOW {
        "kernel threads of a CPU go first there without a bound".to_owned()
    } else {
        format!("kernel threads of a CPU go first there for {bound} of each {KERNEL_THREADS_WINDOW}")
    }
}

/// CPUs for which it has room, in a cell.
pub const CPUS_MAX: u32 = ffi::LX_HOST_CPUS;
/// The longest period of a task, in ns.
#[allow(clippy::unnecessary_cast, reason = "bindgen chooses the type")]
pub const PERIOD_MAX_NS: u64 = ffi::LX_HOST_PERIOD_MAX as u64;
