//! What a search may spend, and what is reported of it.
//!
//! Work is counted in sets of tasks looked at, not in seconds, so that a search that ends by its work ends at the same
//! place on every machine. The clock and the watcher are asked once in a while.

use super::Progress;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Work between two looks at the clock: about a tenth of a millisecond.
const LOOK: u64 = 1 << 15;

/// Least time between two reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Why a search ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// Its time limit.
    Time,
    /// The watcher.
    Watcher,
}

/// A search's account.
pub(crate) struct Work<'w> {
    watch: &'w mut dyn FnMut(&Progress) -> ControlFlow<()>,
    started: Instant,
    limit: Duration,
    spent: u64,
    allowed: u64,
    look: u64,
    reported: Option<Duration>,
    /// The best maximum load and the bound, to report.
    pub known: (f64, f64),
    stopped: Option<Stopped>,
}

impl<'w> Work<'w> {
    /// Starts the clock.
    pub fn new(
        watch: &'w mut dyn FnMut(&Progress) -> ControlFlow<()>,
        limit: Duration,
        known: (f64, f64),
    ) -> Self {
        let started = Instant::now();
        Work { watch, started, limit, spent: 0, allowed: 0, look: 0, reported: None, known, stopped: None }
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
        let elapsed = self.started.elapsed();
        if self.stopped.is_none() && self.reported.is_none_or(|last| elapsed - last >= REPORT_INTERVAL) {
            self.reported = Some(elapsed);
            let (best, lower_bound) = self.known;
            let progress = Progress { elapsed_s: elapsed.as_secs_f64(), best, lower_bound };
            if (self.watch)(&progress).is_break() {
                self.stopped = Some(Stopped::Watcher);
            }
        }
        if self.stopped.is_none() && elapsed >= self.limit {
            self.stopped = Some(Stopped::Time);
        }
    }
}
