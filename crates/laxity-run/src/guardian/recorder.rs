//! Records of the schedule, from the rings into the memory that the program has given, while the tasks run.
//!
//! 1. The guardian takes them whenever it looks around, and often enough ([`Pace`]): each time it wakes up, it may disturb what it
//!    records. What finds no place in a ring is counted by the kernel side. Neither side waits for the other.
//! 2. They stay in memory, a quarter of what was free at most; after that recording ends, and the run goes on.
//! 3. What this costs is the guardian's own CPU time, which is measured.

use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::memory::available_memory;
use crate::messages::RecordingEnd;
use crate::plan::Plan;
use crate::sched::Policy;
use laxity_kernel::rings::RECORDS;
use laxity_kernel::schedule::{Observer, Recording, Watched};
use std::fs::File;
use std::io::Write;
use std::ops::RangeInclusive;

/// Records are taken at least every so many ms: how often, their number decides.
const WAIT_MS: RangeInclusive<u64> = 20..=200;
/// Until they are taken again, the fullest ring is to have no more than this part of its room: where records come 16 times as often
/// from one moment to the next, none is lost.
const ROOM_PART: u64 = 16;
/// Memory for records, if the kernel does not say how much is free.
const BYTES_DEFAULT: u64 = 256 << 20;

/// How long the next records may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pace {
    wait_ms: u64,
}

impl Pace {
    fn new() -> Self {
        Pace { wait_ms: *WAIT_MS.start() }
    }

    /// The fullest ring had so many records after so many ns. The wait at most doubles: one quiet moment says little.
    fn follow(&mut self, fullest: u64, after_ns: u64) {
        let wanted_ns = u128::from(after_ns) * u128::from(RECORDS / ROOM_PART) / u128::from(fullest.max(1));
        let wanted_ms = u64::try_from(wanted_ns / 1_000_000).unwrap_or(u64::MAX);
        self.wait_ms = wanted_ms.min(2 * self.wait_ms).clamp(*WAIT_MS.start(), *WAIT_MS.end());
    }
}

pub(super) struct Recorder {
    recording: Recording,
    pace: Pace,
    /// When records were taken last, as CLOCK_MONOTONIC.
    drained_at: u64,
    /// What makes the records, where it is not the policy itself.
    observer: Option<Observer>,
    file: File,
    buffer: Vec<u8>,
    records: u64,
    bytes_left: u64,
    ended: Option<String>,
    cpu_ns: u64,
}

impl Recorder {
    /// Goes on with a recording that has begun; the records go to the end of `file`.
    pub(super) fn new(recording: Recording, observer: Option<Observer>, file: File) -> Self {
        let bytes_left = available_memory().map_or(BYTES_DEFAULT, |bytes| bytes / 4);
        Recorder {
            recording,
            pace: Pace::new(),
            drained_at: monotonic_ns(),
            observer,
            file,
            buffer: Vec::new(),
            records: 0,
            bytes_left,
            ended: None,
            cpu_ns: 0,
        }
    }

    /// Takes what is there.
    pub(super) fn drain(&mut self) {
        let before = thread_cpu_ns();
        if self.ended.is_none() {
            let (fullest, now) = (self.recording.fullest(), monotonic_ns());
            self.pace.follow(fullest, now - self.drained_at);
            self.drained_at = now;
            self.recording.drain();
            self.keep();
        }
        self.cpu_ns += thread_cpu_ns() - before;
    }

    /// For how long the next records may wait in their rings, in ms.
    pub(super) fn wait_ms(&self) -> u64 {
        self.pace.wait_ms
    }

    /// The tasks are about to be released; nothing before that is of interest.
    pub(super) fn released(&mut self) {
        if self.ended.is_none() {
            self.recording.begins_here();
            self.keep();
        }
    }

    fn keep(&mut self) {
        self.buffer.clear();
        let records = self.recording.take();
        records.iter().for_each(|record| self.buffer.extend_from_slice(&record.to_bytes()));
        let bytes = self.buffer.len() as u64;
        if bytes > self.bytes_left {
            self.end(format!(
                "the records had taken {} MB, a quarter of the free memory",
                self.records >> 14
            ));
            return;
        }
        match self.file.write_all(&self.buffer) {
            Ok(()) => {
                self.bytes_left -= bytes;
                self.records += records.len() as u64;
            }
            Err(error) => self.end(format!("no more memory for records: {error}")),
        }
    }

    fn end(&mut self, why: String) {
        self.recording.pause();
        self.ended = Some(why);
    }

    /// Takes the rest, and returns what is to be known about all records. `t0_ns` is the synchronous release,
    /// `threads` the thread at each position of the plan.
    pub(super) fn finish(mut self, t0_ns: u64, threads: Vec<(usize, i32)>) -> RecordingEnd {
        self.drain();
        let before = thread_cpu_ns();
        let Recorder { recording, observer, mut file, mut buffer, mut records, ended, mut cpu_ns, .. } = self;
        let rest = recording.finish();
        if ended.is_none() {
            buffer.clear();
            rest.records.iter().for_each(|record| buffer.extend_from_slice(&record.to_bytes()));
            // A last half of a record is not read.
            if file.write_all(&buffer).is_ok() {
                records += rest.records.len() as u64;
            }
        }
        cpu_ns += thread_cpu_ns() - before;
        // The kernel takes its time to be left alone; nothing waits for it any more.
        drop(observer);
        let (lost, complete_until_ns) = (rest.lost, rest.complete_until_ns);
        let servers = Vec::new();
        RecordingEnd { t0_ns, threads, records, lost, complete_until_ns, ended, cpu_ns, servers }
    }
}

/// The threads of a plan for Linux's own classes, as they are watched.
pub(super) fn watched(plan: &Plan, threads: &[(usize, i32)]) -> Watched {
    const HIGHEST: u32 = 99;
    // DEFAULT_PRIO of Linux's include/linux/sched/prio.h.
    const OF_NICE_0: i32 = 120;
    let inside = |policy: Policy| match policy {
        Policy::Fifo { priority } | Policy::RoundRobin { priority } => {
            i32::try_from(HIGHEST.saturating_sub(priority)).unwrap_or(0)
        }
        Policy::Fair { nice, .. } => OF_NICE_0 + i32::from(nice),
        Policy::Other | Policy::Foreign => OF_NICE_0,
        Policy::Deadline { .. } | Policy::Reclaiming { .. } | Policy::Ext { .. } => -1,
    };
    Watched {
        tids: threads.iter().filter_map(|&(_, tid)| u32::try_from(tid).ok()).collect(),
        lowest_prio: plan.tasks.iter().map(|task| inside(task.policy)).max().unwrap_or(-1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The waits, in ms, if records come at these rates per ms, one rate until the next look.
    fn waits(rates: &[u64]) -> Vec<u64> {
        let mut pace = Pace::new();
        let wait = |rate: &u64| {
            pace.follow(rate * pace.wait_ms, pace.wait_ms * MS);
            pace.wait_ms
        };
        rates.iter().map(wait).collect()
    }

    #[test]
    fn few_records_are_taken_seldom_and_many_at_once() {
        assert_eq!(waits(&[0; 6]), [40, 80, 160, 200, 200, 200]);
        assert_eq!(waits(&[5, 5, 5, 5]), [40, 80, 160, 200], "1000 in 200 ms are few enough");
        assert_eq!(waits(&[10, 10, 10, 10]), [40, 80, 102, 102], "1024 in 102 ms");
        assert_eq!(waits(&[0, 0, 0, 0, 40, 0]), [40, 80, 160, 200, 25, 50]);
        assert_eq!(waits(&[0, 0, 5_000, 5_000]), [40, 80, 20, 20]);
    }

    laxity_seeds::properties! {
        /// However they come: where their rate grows to no more than the 16-fold, no ring is full when it is looked at.
        #[test]
        fn a_ring_has_room_for_what_comes_sixteen_times_as_often(rates in proptest::collection::vec(0..51_u64, 1..40)) {
            let mut pace = Pace::new();
            for rate in rates {
                pace.follow(rate * pace.wait_ms, pace.wait_ms * MS);
                proptest::prop_assert!(WAIT_MS.contains(&pace.wait_ms));
                proptest::prop_assert!(rate * ROOM_PART * pace.wait_ms <= RECORDS, "{rate} per ms, {} ms", pace.wait_ms);
            }
        }

        /// News of other kinds wake the guardian at any time; a ring that is full is looked at as soon as possible.
        #[test]
        fn a_full_ring_is_looked_at_soon(after_ns in 0..(40 * MS), wait_ms in WAIT_MS) {
            let mut pace = Pace { wait_ms };
            pace.follow(RECORDS, after_ns);
            proptest::prop_assert_eq!(pace.wait_ms, *WAIT_MS.start());
        }
    }
}
