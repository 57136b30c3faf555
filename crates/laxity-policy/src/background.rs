//! Where work that is not real-time waits on CPUs of different speeds, and what moves (`policy/background.h`, `policy/balance.h`).

use crate::{NONE, ffi};

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
    pub fn moves_to(self, to: Load) -> bool {
        // SAFETY: arithmetic on values.
        unsafe { ffi::lx_policy_balance_moves(self.raw(), to.raw()) != 0 }
    }

    /// Whether this CPU, where so many background tasks wait and one `runs` or none, gives one to that with the load `to`.
    pub fn gives_to(self, waiting: u32, runs: bool, to: Load) -> bool {
        // SAFETY: arithmetic on values.
        unsafe { ffi::lx_policy_background_gives(self.raw(), waiting, runs.into(), to.raw()) != 0 }
    }
}

/// A CPU that may be chosen, with its load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// [`NONE`]: none yet.
    pub cpu: u32,
    /// What it is loaded with.
    pub load: Load,
}

impl Spot {
    /// No CPU is chosen yet.
    pub const NOWHERE: Spot = Spot { cpu: NONE, load: Load { speed: 1, tasks: 0 } };

    fn raw(self) -> ffi::lx_spot {
        ffi::lx_spot { cpu: self.cpu, load: self.load.raw() }
    }

    fn of(raw: ffi::lx_spot) -> Spot {
        Spot { cpu: raw.cpu, load: Load { speed: raw.load.speed, tasks: raw.load.tasks } }
    }

    /// Where one more task is better placed: here, which was found so far, or on `other`.
    #[must_use]
    pub fn or_for_one_more(self, other: Spot) -> Spot {
        // SAFETY: arithmetic on values.
        Spot::of(unsafe { ffi::lx_policy_spot_for_one_more(self.raw(), other.raw()) })
    }

    /// Which of two CPUs that give is to: this one, which was found so far, or `other`.
    #[must_use]
    pub fn or_to_pull_from(self, other: Spot) -> Spot {
        // SAFETY: arithmetic on values.
        Spot::of(unsafe { ffi::lx_policy_spot_to_pull_from(self.raw(), other.raw()) })
    }

    /// Whether the task that runs here, and is counted, is better off on `best`, which was found without counting it.
    pub fn is_left_for(self, best: Spot) -> bool {
        // SAFETY: arithmetic on values.
        unsafe { ffi::lx_policy_background_is_better_off(self.raw(), best.raw()) != 0 }
    }
}
