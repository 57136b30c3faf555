//! Where work that is not real-time goes on CPUs of different speeds (`policy/balance.h`).

use crate::ffi;

/// What a CPU is loaded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Its speed relative to that of the others; above 0.
    pub speed: u32,
    /// Tasks that are ready or run there, real-time ones too; below 2^32 - 1.
    pub tasks: u32,
}

impl Load {
    fn raw(self) -> ffi::lx_load {
        ffi::lx_load { speed: self.speed, tasks: self.tasks }
    }

    /// Whether a task that has become ready is better placed here than on `best`.
    pub fn is_better_than(self, best: Load) -> bool {
        // SAFETY: arithmetic on values.
        unsafe { ffi::lx_policy_balance_is_better(self.raw(), best.raw()) != 0 }
    }

    /// Whether this CPU has more to give than `best`.
    pub fn is_busier_than(self, best: Load) -> bool {
        // SAFETY: arithmetic on values.
        unsafe { ffi::lx_policy_balance_is_busier(self.raw(), best.raw()) != 0 }
    }

    /// Whether a task moves from here to `to`.
    pub fn gives_to(self, to: Load) -> bool {
        // SAFETY: arithmetic on values.
        unsafe { ffi::lx_policy_balance_moves(self.raw(), to.raw()) != 0 }
    }
}
