//! The records of one thread, told with its jobs (`jobs.rs`).
//!
//! Where a record is missing, what it would have said follows from the others:
//!
//! 1. *A thread that leaves a CPU has come onto it*: at the latest when it began with its job, if it had not begun before.
//! 2. *A thread that runs after a sleep has been woken up*: D before its deadline where that is new, else not before its release.

use super::{JobTimes, ThreadJobs, Unseen};
use crate::rings::{Kind, NONE, Record};
use laxity_trace::EventKind;

/// Goes through the records of one thread.
pub(super) struct ThreadReplay<'a> {
    jobs: &'a [JobTimes],
    deadline_rel_ns: Option<u64>,
    /// The first job that has not ended.
    at: usize,
    /// The record with which it came onto the CPU that it is on.
    running: Option<Record>,
    /// It sleeps.
    asleep: bool,
    /// When it was taken off its CPU last.
    off_since_ns: u64,
    scheduled_by_ns: u64,
    /// Of which job it was said last by which deadline it is scheduled.
    scheduled_told: Option<(u32, u64)>,
    told: &'a mut Vec<Record>,
    /// Records that must have been there, and were not.
    pub skipped: u64,
    /// While what happened to it was not seen.
    pub unseen: Vec<Unseen>,
}

impl<'a> ThreadReplay<'a> {
    /// Of a thread about which nothing has been said; what is said goes to `told`.
    pub fn of(thread: &'a ThreadJobs, told: &'a mut Vec<Record>) -> Self {
        ThreadReplay {
            jobs: &thread.jobs,
            deadline_rel_ns: thread.deadline_rel_ns,
            at: 0,
            running: None,
            asleep: false,
            off_since_ns: 0,
            scheduled_by_ns: 0,
            scheduled_told: None,
            told,
            skipped: 0,
            unseen: Vec::new(),
        }
    }

    /// Tells all of its records, in the order of time.
    pub fn all(&mut self, records: &[Record]) {
        let Some(first) = records.first() else { return };
        for (job, number) in self.jobs.iter().zip(0_u32..) {
            let record = Record { cpu: NONE, argument: job.deadline_ns, argument2: 0, ..*first };
            self.tell(record, EventKind::Release, job.release_ns, number);
        }
        for record in records {
            let Some(kind) = record.event_kind() else { continue };
            let leaves = matches!(kind, EventKind::Preempt | EventKind::Throttle) && record.cpu != NONE;
            if leaves && self.running.is_none() {
                self.came_unseen(record);
            }
            self.overruns(record);
            self.one(record, kind);
        }
    }

    fn tell(&mut self, record: Record, kind: EventKind, time_ns: u64, job: u32) {
        self.told.push(Record { kind: Kind::Event(kind).code(), time_ns, job, ..record });
    }

    /// The number of the present job at an instant; nothing before its release.
    fn job_at(&self, now: u64) -> Option<u32> {
        let job = self.jobs.get(self.at).filter(|job| job.release_ns <= now)?;
        debug_assert!(job.release_ns <= now);
        u32::try_from(self.at).ok()
    }

    /// Jobs that ended, without a sleep, before this record while the thread was on a CPU.
    fn overruns(&mut self, record: &Record) {
        while let Some(on) = self.running
            && let Some((finish_ns, next)) =
                self.jobs.get(self.at).and_then(|job| job.finish_ns).zip(self.jobs.get(self.at + 1))
            && let Some(start_ns) = next.start_ns.filter(|start| *start <= record.time_ns)
        {
            let Some(job) = self.job_at(finish_ns) else { return };
            // If it was taken off its CPU after its finish, it had to come back for the next one: for an instant.
            let end_ns = finish_ns.max(next.release_ns).min(start_ns).max(on.time_ns + 1);
            self.tell(on, EventKind::Complete, end_ns, job);
            self.at += 1;
            self.tell(on, EventKind::Resume, end_ns, job + 1);
            self.tells_deadline(on, end_ns, job + 1);
        }
    }

    fn one(&mut self, record: &Record, kind: EventKind) {
        let now = record.time_ns;
        let job = self.job_at(now);
        if kind == EventKind::Resume && self.asleep {
            self.woken_unseen(record);
        }
        if record.argument2 != 0 {
            self.scheduled_by_ns = record.argument2;
        }
        let plain = Record { argument: 0, argument2: 0, ..*record };
        match kind {
            EventKind::Resume => self.running = Some(*record),
            EventKind::Wake => self.asleep = false,
            // It has been woken up without budget. (If it is on a CPU still, it has not slept.)
            EventKind::Throttle if record.cpu == NONE && self.running.is_some() => return,
            EventKind::Throttle if record.cpu == NONE => {}
            EventKind::Preempt | EventKind::Throttle => {
                (self.running, self.off_since_ns) = (None, now);
                if let Some(job) = job.filter(|_| self.at + 1 == self.jobs.len() && self.ends(now)) {
                    self.tell(plain, EventKind::Complete, now, job);
                    self.at += 1;
                    return;
                }
            }
            EventKind::Block => {
                self.asleep = true;
                if self.ends(now) {
                    if let Some(job) = job {
                        // The record of leaving the CPU comes with it, and comes first: it becomes the end.
                        self.ends_at(job, now);
                    }
                    return;
                }
            }
            _ => {}
        }
        // A job may be scheduled by what is left of the deadline before, which is not the one that its release says.
        let changed = record.argument2 != 0
            && job.is_some_and(|job| self.scheduled_told != Some((job, record.argument2)));
        if let Some(job) = job.filter(|_| changed && kind == EventKind::Throttle && record.cpu != NONE) {
            // Used up on a CPU, its budget was replenished at once where its server period was over: that was before.
            self.tells_deadline(plain, now - 1, job);
            self.tell(plain, kind, now, job);
            return;
        }
        if kind != EventKind::Replenish {
            self.tell(plain, kind, now, job.unwrap_or(NONE));
        }
        let Some(job) = job else { return };
        if changed || kind == EventKind::Replenish {
            self.tells_deadline(plain, now, job);
        }
    }

    /// The thread leaves a CPU on which it has not been seen coming (1).
    fn came_unseen(&mut self, left: &Record) {
        let Some(present) = self.jobs.get(self.at).filter(|job| job.release_ns < left.time_ns) else {
            return;
        };
        let began = present.start_ns.filter(|&began| self.off_since_ns < began);
        let came_ns = began.unwrap_or(left.time_ns).min(left.time_ns - 1);
        self.skipped += 1;
        self.one(&Record { time_ns: came_ns, ..*left }, EventKind::Resume);
    }

    /// The thread runs after a sleep without a recorded wake-up (2).
    fn woken_unseen(&mut self, came: &Record) {
        self.asleep = false;
        let now = came.time_ns;
        let Some((job, present)) = self.job_at(now).zip(self.jobs.get(self.at)) else { return };
        self.skipped += 1;
        // What it slept for in the middle of its job is not known.
        let ready_ns = if present.release_ns > self.off_since_ns { present.release_ns } else { now };
        let new = Some(came.argument2).filter(|&deadline_ns| deadline_ns != self.scheduled_by_ns);
        let woken_ns = new.and_then(|deadline_ns| deadline_ns.checked_sub(self.deadline_rel_ns?));
        let woken_ns = woken_ns.unwrap_or(ready_ns).clamp(ready_ns, now);
        if came.argument2 != 0 {
            self.scheduled_by_ns = came.argument2;
        }
        let plain = Record { argument: 0, argument2: 0, ..*came };
        self.tell(plain, EventKind::Wake, woken_ns, job);
        self.tells_deadline(plain, woken_ns, job);
        let released = Some((ready_ns, woken_ns));
        self.unseen.push(Unseen { cpu: came.cpu, from_ns: ready_ns, to_ns: now, released });
    }

    /// The present job has done its work by now.
    fn ends(&self, now: u64) -> bool {
        self.jobs.get(self.at).is_some_and(|job| job.finish_ns.is_some_and(|finish| finish <= now))
    }

    fn ends_at(&mut self, job: u32, now: u64) {
        // Between the two there may be word of another deadline.
        let of_now = self.told.iter_mut().rev().take_while(|told| told.job == job && told.time_ns == now);
        let mut left =
            of_now.filter(|told| matches!(told.event_kind(), Some(EventKind::Preempt | EventKind::Throttle)));
        if let Some(left) = left.next() {
            left.kind = Kind::Event(EventKind::Complete).code();
        }
        self.at += 1;
    }

    fn tells_deadline(&mut self, record: Record, now: u64, job: u32) {
        if self.scheduled_by_ns != 0 {
            self.scheduled_told = Some((job, self.scheduled_by_ns));
            let record = Record { cpu: NONE, argument: self.scheduled_by_ns, argument2: 0, ..record };
            self.tell(record, EventKind::Replenish, now, job);
        }
    }
}
