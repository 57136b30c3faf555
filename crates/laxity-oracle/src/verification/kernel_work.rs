//! How much of the time until an instant went into recorded kernel work on a CPU.
//!
//! 1. Kernel work begins at its event, or when the work before it on the same CPU ends.
//! 2. Events come in time order. So what has been recorded at an instant and lies after it is one interval from there.

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KernelWork {
    until_ns: u64,
    total_ns: u64,
}

impl KernelWork {
    /// `length` more on one CPU; the interval it takes.
    pub fn add(&mut self, now: u64, length: u64) -> (u64, u64) {
        let from = now.max(self.until_ns);
        self.until_ns = from.saturating_add(length);
        self.total_ns += self.until_ns - from;
        (from, self.until_ns)
    }

    /// The time in `[0, now)` that went into kernel work.
    #[inline]
    pub fn before(&self, now: u64) -> u64 {
        self.total_ns - self.until_ns.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_one_cpu_queues_up() {
        let mut work = KernelWork::default();
        assert_eq!((work.add(10, 2), work.add(10, 3), work.add(12, 1)), ((10, 12), (12, 15), (15, 16)));
        assert_eq!([10, 11, 14, 16, 20].map(|now| work.before(now)), [0, 1, 4, 6, 6]);
    }
}
