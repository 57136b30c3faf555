//! Which work has a CPU for which both wait, real-time work and background work (`policy/claims.h`). All times in ns.

use crate::{Reserve, Server, ffi};

/// Which work goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Real-time work.
    RealTime,
    /// Background work: the CPU's server has a budget left.
    Server,
    /// Background work: real-time work has had its share of the window.
    Reserve,
}

impl Claim {
    /// Which work goes first at `now`, where both wait.
    pub fn first(server: &mut Server, reserve: &Reserve, now: u64) -> Claim {
        // SAFETY: reads and writes what it is given.
        let first = unsafe { ffi::lx_policy_claim_first(server.raw_mut(), reserve.raw(), now) };
        match first {
            ffi::lx_claim_LX_CLAIM_SERVER => Claim::Server,
            ffi::lx_claim_LX_CLAIM_RESERVE => Claim::Reserve,
            _ => Claim::RealTime,
        }
    }

    /// When this, which [`Claim::first`] has just answered, may be over, if what goes first runs until then; [`NEVER`](crate::NEVER)
    /// for never.
    pub fn ends(self, server: &mut Server, reserve: &Reserve, now: u64) -> u64 {
        // SAFETY: reads and writes what it is given.
        unsafe { ffi::lx_policy_claim_ends(server.raw_mut(), reserve.raw(), self.number(), now) }
    }

    /// Its number in `policy/claims.h`.
    pub fn number(self) -> u32 {
        match self {
            Claim::RealTime => ffi::lx_claim_LX_CLAIM_REAL_TIME,
            Claim::Server => ffi::lx_claim_LX_CLAIM_SERVER,
            Claim::Reserve => ffi::lx_claim_LX_CLAIM_RESERVE,
        }
    }
}
