//! In which order background work that waits in one queue has the CPU (`policy/virtual_time.h`), and which waits have a limit.

use crate::ffi;

/// The virtual time of a task, or what the clock of a queue shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VirtualTime(pub u64);

impl VirtualTime {
    /// The weight at which virtual time passes as time does (`LX_WEIGHT_USUAL`).
    pub const USUAL_WEIGHT: u32 = 100;

    /// Whether this goes before `other`.
    pub fn is_before(self, other: VirtualTime) -> bool {
        // SAFETY: arithmetic on values.
        unsafe { ffi::lx_policy_virtual_before(self.0, other.0) != 0 }
    }

    /// A task of this weight, above 0, has had the CPU for `had` ns.
    #[must_use]
    pub fn after(self, had: u64, weight: u32) -> VirtualTime {
        // SAFETY: arithmetic on values; the weight is above 0.
        VirtualTime(unsafe { ffi::lx_policy_virtual_after(self.0, had, weight.max(1)) })
    }

    /// The task comes from the queue with one clock to that with the other.
    #[must_use]
    pub fn moved(self, from: VirtualTime, to: VirtualTime) -> VirtualTime {
        // SAFETY: arithmetic on values.
        VirtualTime(unsafe { ffi::lx_policy_virtual_moved(self.0, from.0, to.0) })
    }

    /// With which virtual time it waits in the queue with this clock, where slices have so many ns.
    #[must_use]
    pub fn waits(self, clock: VirtualTime, slice: u64) -> VirtualTime {
        // SAFETY: arithmetic on values.
        VirtualTime(unsafe { ffi::lx_policy_virtual_waits(self.0, clock.0, slice) })
    }

    /// What the queue's clock shows when it begins to run.
    #[must_use]
    pub fn begins(self, clock: VirtualTime) -> VirtualTime {
        // SAFETY: arithmetic on values.
        VirtualTime(unsafe { ffi::lx_policy_virtual_begins(self.0, clock.0) })
    }

    /// With which virtual time it waits in the queue with this clock, where leads are limited (the kernel).
    #[must_use]
    pub fn leads(self, clock: VirtualTime) -> VirtualTime {
        // SAFETY: arithmetic on values.
        VirtualTime(unsafe { ffi::lx_policy_virtual_leads(self.0, clock.0) })
    }

    /// What the clock shows so many ns later, where clocks go on with time (the kernel).
    #[must_use]
    pub fn passes(self, passed_ns: u64) -> VirtualTime {
        // SAFETY: arithmetic on values.
        VirtualTime(unsafe { ffi::lx_policy_virtual_passes(self.0, passed_ns) })
    }
}

/// The slice of a task that waits with so many others for one CPU, in ns, if the usual one has `slice_ns`.
#[must_use]
pub fn slice_in_a_crowd(slice_ns: u64, waiting: u32) -> u64 {
    // SAFETY: arithmetic on values.
    unsafe { ffi::lx_policy_virtual_slice(slice_ns, waiting) }
}

/// Whether a job that waits since one instant is to have a CPU for a moment at another, in ns (`policy/waiting.h`).
#[must_use]
pub fn waits_too_long(since_at: u64, now: u64) -> bool {
    // SAFETY: arithmetic on values.
    unsafe { ffi::lx_policy_waits_too_long(since_at, now) != 0 }
}
