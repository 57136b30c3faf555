//! The deferrable server of a core: when background work goes before real-time work (`policy/deferrable.h`). All
//! times in ns.

use crate::{NEVER, ffi};

/// The server of one CPU.
#[derive(Debug, Clone, Copy)]
pub struct Server(ffi::lx_server);

impl Server {
    /// Background work has `budget` of each `period`, the first of which begins at `start`. A period of 0: there is
    /// no server.
    pub fn new(start: u64, budget: u64, period: u64) -> Server {
        let mut server = Server(ffi::lx_server::default());
        // SAFETY: writes what it is given.
        unsafe { ffi::lx_policy_server_init(&raw mut server.0, start, budget, period) }
        server
    }

    /// The server gets another size when its present period ends, at once if it has none. Returns that instant.
    pub fn resize(&mut self, budget: u64, period: u64, now: u64) -> u64 {
        // SAFETY: writes what it is given.
        unsafe { ffi::lx_policy_server_resize(&raw mut self.0, budget, period, now) }
    }

    /// Requests another size. Returns the instant from which the server has it: the beginning of its next period if
    /// the period stays. With another period None while real-time jobs of the CPU are pending: from when it is
    /// [quiet](Server::quiet).
    pub fn wants(&mut self, budget: u64, period: u64, quiet: bool, now: u64) -> Option<u64> {
        // SAFETY: reads and writes what it is given.
        let from = unsafe { ffi::lx_policy_server_wants(&raw mut self.0, budget, period, quiet.into(), now) };
        (from != NEVER).then_some(from)
    }

    /// No real-time job of the CPU is pending. Returns whether the server has another size from now on.
    pub fn quiet(&mut self, now: u64) -> bool {
        // SAFETY: reads and writes what it is given.
        unsafe { ffi::lx_policy_server_quiet(&raw mut self.0, now) != 0 }
    }

    /// Its budget and its period.
    pub fn size(&mut self, now: u64) -> (u64, u64) {
        // SAFETY: reads and writes what it is given.
        unsafe { ffi::lx_policy_server_advance(&raw mut self.0, now) }
        (self.0.share.runtime_ns, self.0.share.period_ns)
    }

    /// Background work has had the CPU for `used` until `now`.
    pub fn charge(&mut self, used: u64, now: u64) {
        // SAFETY: writes what it is given.
        unsafe { ffi::lx_policy_server_charge(&raw mut self.0, used, now) }
    }

    /// Whether background work that waits goes before real-time work.
    pub fn goes_first(&mut self, now: u64) -> bool {
        // SAFETY: reads and writes what it is given.
        unsafe { ffi::lx_policy_server_goes_first(&raw mut self.0, now) != 0 }
    }

    pub(crate) fn raw_mut(&mut self) -> *mut ffi::lx_server {
        &raw mut self.0
    }

    /// For how long it goes first: 0, or [`NEVER`] for ever. To be asked again when a new size has come.
    pub fn left(&mut self, now: u64) -> u64 {
        // SAFETY: reads and writes what it is given.
        unsafe { ffi::lx_policy_server_left(&raw mut self.0, now) }
    }

    /// When it goes first again; [`NEVER`] for never.
    pub fn next(&mut self, now: u64) -> u64 {
        // SAFETY: reads and writes what it is given.
        let next = unsafe { ffi::lx_policy_server_next(&raw mut self.0, now) };
        debug_assert!(next >= now || next == NEVER);
        next
    }
}
