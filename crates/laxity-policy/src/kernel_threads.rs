//! Kernel threads beside real-time work (`policy/kernel_threads.h`). All times in ns.

use crate::{Reserve, ffi};

/// The kernel threads that are bound to one CPU: for how long they go before its real-time work.
#[derive(Debug, Clone, Copy)]
pub struct KernelThreads(Reserve);

impl KernelThreads {
    /// They go first for at most `runtime` in each window of `period`, the first of which begins at 0.
    pub fn new(runtime: u64, period: u64) -> KernelThreads {
        KernelThreads(Reserve::new(0, runtime, period))
    }

    /// Whether a thread that may be on so many CPUs is one of them, if it is the kernel's.
    pub fn is_bound(of_kernel: bool, cpus: u32) -> bool {
        // SAFETY: arithmetic on values.
        unsafe { ffi::lx_policy_kernel_thread_is_bound(of_kernel.into(), cpus) != 0 }
    }

    /// For how long they go first from now on: 0, or [`NEVER`](crate::NEVER) for ever.
    pub fn left(&self, now: u64) -> u64 {
        // SAFETY: reads what it is given.
        unsafe { ffi::lx_policy_kernel_thread_left(self.0.raw(), now) }
    }

    /// They have had the CPU for `used` until `now`; the reserve for background work is told.
    pub fn charge(&mut self, background: &mut Reserve, used: u64, now: u64) {
        // SAFETY: writes what it is given.
        unsafe { ffi::lx_policy_kernel_thread_charge(self.0.raw_mut(), background.raw_mut(), used, now) }
    }

    /// Without real-time work: whether they go before background work, after one of them had the CPU or not.
    pub fn have_turn(after_one: bool) -> bool {
        // SAFETY: arithmetic on values.
        unsafe { ffi::lx_policy_kernel_thread_has_turn(after_one.into()) != 0 }
    }
}
