//! Records of the schedule, from the rings into the memory that the program has given, while the tasks run.
//!
//! 1. The guardian takes them whenever it looks around, at least every [`EVERY_MS`]; a ring is full after 16384 records.
//!    What finds no place there is counted by the kernel side. Neither side waits for the other.
//! 2. They stay in memory, a quarter of what was free at most; after that recording ends, and the run goes on.
//! 3. What this costs is the guardian's own CPU time, which is measured.

use crate::clock::thread_cpu_ns;
use crate::memory::available_memory;
use crate::messages::RecordingEnd;
use crate::plan::Plan;
use crate::sched::Policy;
use laxity_kernel::schedule::{Observer, Recording, Watched};
use std::fs::File;
use std::io::Write;

/// How often records are taken at least.
pub(super) const EVERY_MS: u64 = 20;
/// Memory for records, if the kernel does not say how much is free.
const BYTES_DEFAULT: u64 = 256 << 20;

pub(super) struct Recorder {
    recording: Recording,
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
            self.recording.drain();
            self.keep();
        }
        self.cpu_ns += thread_cpu_ns() - before;
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
