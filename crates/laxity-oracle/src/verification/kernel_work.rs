//! How much of the time until an instant went into recorded kernel work, on one CPU or on any of several.
//!
//! 1. Kernel work begins at its event, or when the work before it on the same CPU ends.
//! 2. Events come in time order. So what has been recorded at an instant and lies after it is one interval from there.

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KernelWork {
    until: u64,
    total: u64,
}

impl KernelWork {
    /// `length` more on one CPU; the interval it takes.
    pub fn add(&mut self, now: u64, length: u64) -> (u64, u64) {
        let from = now.max(self.until);
        self.until = from.saturating_add(length);
        self.total += self.until - from;
        (from, self.until)
    }

    /// An interval on one of several CPUs, which may overlap what others do.
    pub fn join(&mut self, (from, to): (u64, u64)) {
        self.total += to.saturating_sub(from.max(self.until));
        self.until = self.until.max(to);
    }

    /// The time in `[0, now)` that went into kernel work.
    #[inline]
    pub fn before(&self, now: u64) -> u64 {
        self.total - self.until.saturating_sub(now)
    }
}
