//! What real-time work leaves of a CPU to background work (`policy/reserve.h`). All times in ns.

use crate::{NEVER, ffi};

/// The reserve of one CPU.
#[derive(Debug, Clone, Copy)]
pub struct Reserve(ffi::lx_reserve);

impl Reserve {
    /// Real-time work gets at most `runtime` in each window of `period`, the first of which begins at `start`.
    pub fn new(start: u64, runtime: u64, period: u64) -> Reserve {
        Reserve(ffi::lx_reserve {
            period_start_at: start,
            used_ns: 0,
            period_ns: period,
            runtime_ns: runtime,
        })
    }

    /// None: real-time work may always have the CPU.
    pub fn off() -> Reserve {
        Reserve::new(0, 0, 0)
    }

    pub(crate) fn raw(&self) -> *const ffi::lx_reserve {
        &raw const self.0
    }

    pub(crate) fn raw_mut(&mut self) -> *mut ffi::lx_reserve {
        &raw mut self.0
    }

    /// Real-time work has had the CPU for `used` until `now`.
    pub fn charge(&mut self, used: u64, now: u64) {
        // SAFETY: writes what it is given.
        unsafe { ffi::lx_policy_reserve_charge(&raw mut self.0, used, now) }
    }

    /// Whether real-time work may have the CPU, although background work waits.
    pub fn admits(&self, now: u64) -> bool {
        // SAFETY: reads what it is given.
        unsafe { ffi::lx_policy_reserve_admits(&raw const self.0, now) != 0 }
    }

    /// For how long it may go on, although background work waits: 0, or [`NEVER`] for ever.
    pub fn left(&self, now: u64) -> u64 {
        // SAFETY: reads what it is given.
        unsafe { ffi::lx_policy_reserve_left(&raw const self.0, now) }
    }

    /// When it may have the CPU again; [`NEVER`] for never.
    pub fn next(&self, now: u64) -> u64 {
        // SAFETY: reads what it is given.
        let next = unsafe { ffi::lx_policy_reserve_next(&raw const self.0, now) };
        debug_assert!(next >= now || next == NEVER);
        next
    }
}
