//! Records of all CPUs in the order of time.
//!
//! 1. A record is written somewhat after its time: by as long as a sample is, or as its writer was interrupted. So it
//!    is held back until the time is `window_ns` past it. Whatever comes later still is handed on at once and counted.
//! 2. Ties: CPU, then the order of writing on it.
//!
//! A record costs O(log w), w the records of a window, which is also the memory.

use super::Record;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Merges the records of all CPUs.
pub struct Merger {
    window_ns: u64,
    held: BinaryHeap<Reverse<ByTime>>,
    given_ns: u64,
    late: u64,
}

struct ByTime(Record);

impl ByTime {
    fn key(&self) -> (u64, u32, u64) {
        (self.0.time_ns, self.0.cpu, self.0.sequence)
    }
}

impl PartialEq for ByTime {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ByTime {}

impl PartialOrd for ByTime {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByTime {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Merger {
    /// Holds records back for `window_ns`; 100 ms is ample.
    pub fn new(window_ns: u64) -> Merger {
        Merger { window_ns, held: BinaryHeap::new(), given_ns: 0, late: 0 }
    }

    /// A drained record.
    pub fn push(&mut self, record: &Record) {
        self.held.push(Reverse(ByTime(*record)));
    }

    /// Hands on, in order, what is at least the window older than `drained_ns`: a time read before the last drain.
    pub fn take(&mut self, drained_ns: u64, each: impl FnMut(&Record)) {
        self.take_until(drained_ns.saturating_sub(self.window_ns), each);
    }

    /// Hands on everything that is left, in order: after the last drain.
    pub fn finish(&mut self, each: impl FnMut(&Record)) {
        self.take_until(u64::MAX, each);
    }

    fn take_until(&mut self, until_ns: u64, mut each: impl FnMut(&Record)) {
        while let Some(Reverse(first)) = self.held.peek()
            && first.0.time_ns <= until_ns
        {
            self.late += u64::from(first.0.time_ns < self.given_ns);
            self.given_ns = self.given_ns.max(first.0.time_ns);
            each(&first.0);
            self.held.pop();
        }
    }

    /// How many came too late to be handed on in order.
    pub fn late(&self) -> u64 {
        self.late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(time_ns: u64, cpu: u32, sequence: u64) -> Record {
        Record { time_ns, cpu, sequence, ..Record::default() }
    }

    #[test]
    fn hands_on_in_the_order_of_time_and_counts_what_is_late() {
        let mut merger = Merger::new(10);
        let mut given = Vec::new();
        for (time, cpu, sequence) in [(30, 0, 1), (5, 0, 2), (20, 1, 1), (5, 1, 2)] {
            merger.push(&record(time, cpu, sequence));
        }
        merger.take(30, |r| given.push((r.time_ns, r.cpu)));
        assert_eq!(given, [(5, 0), (5, 1), (20, 1)]);
        assert_eq!(merger.late(), 0);
        merger.push(&record(19, 0, 3));
        merger.push(&record(20, 0, 4));
        merger.finish(|r| given.push((r.time_ns, r.cpu)));
        assert_eq!(given[3..], [(19, 0), (20, 0), (30, 0)]);
        assert_eq!(merger.late(), 1);
    }
}
