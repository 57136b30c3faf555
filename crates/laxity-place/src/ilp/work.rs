//! What a search may spend.
//!
//! Work is counted in sets of tasks looked at, not in seconds, so that a search that ends by its work ends at the same
//! place on every machine. The clock and the interruption are looked at once in a while.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Work between two looks at the clock: about a tenth of a millisecond.
const LOOK: u64 = 1 << 15;

/// Why a search ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// Its time limit.
    Time,
    /// An interruption.
    Interrupt,
}

/// A search's account.
pub(crate) struct Work<'w> {
    interrupt: &'w AtomicBool,
    started: Instant,
    limit: Duration,
    spent: u64,
    allowed: u64,
    look: u64,
    stopped: Option<Stopped>,
}

impl<'w> Work<'w> {
    /// Starts the clock.
    pub fn new(interrupt: &'w AtomicBool, limit: Duration) -> Self {
        Work { interrupt, started: Instant::now(), limit, spent: 0, allowed: 0, look: 0, stopped: None }
    }

    /// Spends; false if that was the last of it.
    pub fn spend(&mut self, units: u64) -> bool {
        self.spent += units;
        if self.spent >= self.look {
            self.look = self.spent + LOOK;
            self.look_up();
        }
        self.left()
    }

    /// True while there is something to spend.
    pub fn left(&self) -> bool {
        self.spent < self.allowed && self.stopped.is_none()
    }

    /// Runs with at most so many units of what is left.
    pub fn within<T>(&mut self, units: u64, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.allowed;
        self.allowed = outer.min(self.spent.saturating_add(units));
        let result = run(self);
        self.allowed = outer;
        result
    }

    /// Allows so many units from now on.
    pub fn allow(&mut self, units: u64) {
        self.allowed = self.spent.saturating_add(units);
    }

    /// Why it ended early, if it did.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    fn look_up(&mut self) {
        if self.stopped.is_none() && self.interrupt.load(Relaxed) {
            self.stopped = Some(Stopped::Interrupt);
        }
        if self.stopped.is_none() && self.started.elapsed() >= self.limit {
            self.stopped = Some(Stopped::Time);
        }
    }
}
