//! Records, drained while the tasks run.

use crate::clock::monotonic_ns;
use crate::rings::{Record, Rings, Switch};
use std::mem;

/// Drains rings. To be asked often: a ring has room for 16384 records.
pub struct Recording {
    rings: Rings,
    switch: Switch,
    records: Vec<Record>,
    /// Losses of earlier recordings from the same rings.
    lost_before: u64,
    /// The latest time of a record that has been drained, in ns of CLOCK_MONOTONIC.
    latest_ns: u64,
    complete_until_ns: Option<u64>,
}

/// What was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The records, of each CPU in the order of their writing.
    pub records: Vec<Record>,
    /// Records that found no place.
    pub lost: u64,
    /// Where some were lost: the time of CLOCK_MONOTONIC in ns until which none is missing.
    pub complete_until_ns: Option<u64>,
    /// How often the kernel has not called what records, as far as it is known: a thread left a CPU on which it had not been
    /// seen, or ran without having been woken up.
    pub skipped: u64,
    /// While what happened was not seen.
    pub unseen: Vec<Unseen>,
}

/// While what happened on a CPU, or to a thread on its way there, was not seen: it ended with something that was, or that
/// follows. Instants are ns of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unseen {
    /// The CPU.
    pub cpu: u32,
    /// From when.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// Of a wake-up: when the job was due, and when its thread was woken up.
    pub released: Option<(u64, u64)>,
}

impl Recording {
    /// Switches the events of an attached scheduler on.
    pub fn start(mut rings: Rings, switch: Switch) -> Recording {
        rings.drain(|_| ());
        let lost_before = rings.lost().iter().sum();
        switch.set(Switch::EVENTS);
        Recording { rings, switch, records: Vec::new(), lost_before, latest_ns: 0, complete_until_ns: None }
    }

    /// How many records wait to be taken in the ring that has the most; there is room for [`crate::rings::RECORDS`].
    pub fn fullest(&self) -> u64 {
        self.rings.fullest()
    }

    /// Takes what is there; gives how many records that were.
    pub fn drain(&mut self) -> usize {
        let before = monotonic_ns();
        let known_ns = self.latest_ns;
        let (records, latest_ns) = (&mut self.records, &mut self.latest_ns);
        let count = self.rings.drain(|record| {
            // Some are written before their time.
            if record.time_ns < before {
                *latest_ns = record.time_ns.max(*latest_ns);
            }
            records.push(*record);
        });
        if self.complete_until_ns.is_none() && self.lost() > 0 {
            // What was lost was written after the drain before this one: at the latest record of that.
            self.complete_until_ns = Some(known_ns);
        }
        count
    }

    /// What was before this is of no interest: what has been lost until now is no loss.
    pub fn begins_here(&mut self) {
        self.lost_before = self.rings.lost().iter().sum();
        self.complete_until_ns = None;
        self.drain();
    }

    /// What has been drained and not been taken.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Takes what has been drained, to be kept elsewhere.
    pub fn take(&mut self) -> Vec<Record> {
        mem::take(&mut self.records)
    }

    /// Switches off: what happens from now on is not recorded, and that is no loss.
    pub fn pause(&self) {
        self.switch.set(0);
    }

    fn lost(&self) -> u64 {
        self.rings.lost().iter().sum::<u64>() - self.lost_before
    }

    /// Switches off and takes the rest.
    pub fn finish(mut self) -> Recorded {
        self.switch.set(0);
        // What had begun by then is written within this time.
        std::thread::sleep(std::time::Duration::from_millis(2));
        self.drain();
        let lost = self.lost();
        Recorded {
            records: self.records,
            lost,
            complete_until_ns: self.complete_until_ns,
            ..Recorded::default()
        }
    }
}
