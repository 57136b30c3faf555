//! Jobs, put into records that know threads only.
//!
//! To Linux a job is what a thread does between two sleeps; only the thread knows when one job ends and the next begins. So
//! whoever runs the threads says for each job when it was released, began and finished ([`JobTimes`]), and the records are
//! told which job each is about:
//!
//! ```text
//!  release        RESUME  ...  finish      BLOCK                  release
//!     |--------------|-----------|-----------|  job k ends           |------ job k + 1
//!     |--------------|-----------|-- start of k + 1 ...              it has overrun: job k ends at its finish, or at the
//!                                                                    release of k + 1 if that is later
//! ```
//!
//! A job ends when its thread sleeps: that it still has to ask for is part of it, and some microseconds later than its finish.
//! Under SCHED_DEADLINE a record has the deadline that the kernel schedules the thread by, on a clock of its own; where it is
//! another than before, a REPLENISH says so.

use super::Recorded;
use crate::rings::{Kind, NONE, Record};
use laxity_trace::EventKind;
use std::collections::BTreeMap;

/// What a thread knows of a job of its. Instants are ns of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobTimes {
    /// Its nominal release.
    pub release_ns: u64,
    /// Its deadline.
    pub deadline_ns: u64,
    /// When it began.
    pub start_ns: Option<u64>,
    /// When it had done its work.
    pub finish_ns: Option<u64>,
}

/// The jobs of a thread, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadJobs {
    /// Its id.
    pub tid: u32,
    /// Its relative deadline in ns, if SCHED_DEADLINE schedules it.
    pub deadline_rel_ns: Option<u64>,
    /// The jobs, numbered from 0.
    pub jobs: Vec<JobTimes>,
}

/// Puts jobs into records; they are numbered from 0.
pub fn with_jobs(recorded: &Recorded, threads: &[ThreadJobs]) -> Recorded {
    let mut of_thread: BTreeMap<u32, Vec<Record>> =
        threads.iter().map(|thread| (thread.tid, Vec::new())).collect();
    let mut records = Vec::new();
    for record in &recorded.records {
        match of_thread.get_mut(&record.pid).filter(|_| is_about_a_thread(record)) {
            Some(own) => own.push(*record),
            None => records.push(*record),
        }
    }
    let mut skipped = recorded.skipped;
    let ahead_ns = clock_ahead(&of_thread, threads);
    for thread in threads {
        let mut own = of_thread.remove(&thread.tid).unwrap_or_default();
        // Stable: what one CPU wrote at one instant stays in its order.
        own.sort_by_key(|record| record.time_ns);
        for record in own.iter_mut().filter(|record| record.argument2 != 0) {
            let deadline_ns = i128::from(record.argument2) + ahead_ns;
            record.argument2 = u64::try_from(deadline_ns).unwrap_or(0);
        }
        let (told, skipped) = (&mut records, &mut skipped);
        Telling { jobs: &thread.jobs, at: 0, running: None, scheduled_by: 0, told, skipped }.all(&own);
    }
    Recorded { records, skipped, ..*recorded }
}

/// By how much CLOCK_MONOTONIC is ahead of the kernel's clock of deadlines. A thread that wakes up when its deadline is over
/// has a new one, D after that instant; one that still has its old deadline seems to have woken up too late.
fn clock_ahead(of_thread: &BTreeMap<u32, Vec<Record>>, threads: &[ThreadJobs]) -> i128 {
    let mut least: Option<i128> = None;
    for thread in threads {
        let (Some(deadline_rel_ns), Some(own)) = (thread.deadline_rel_ns, of_thread.get(&thread.tid)) else {
            continue;
        };
        for record in own.iter().filter(|one| kind_of(one) == Some(EventKind::Wake) && one.argument2 != 0) {
            let woken_ns = i128::from(record.argument2) - i128::from(deadline_rel_ns);
            let ahead_ns = i128::from(record.time_ns) - woken_ns;
            least = Some(least.map_or(ahead_ns, |least| least.min(ahead_ns)));
        }
    }
    least.unwrap_or(0)
}

fn kind_of(record: &Record) -> Option<EventKind> {
    match Kind::of(record.kind) {
        Some(Kind::Event(kind)) => Some(kind),
        _ => None,
    }
}

fn is_about_a_thread(record: &Record) -> bool {
    use EventKind::{Block, Preempt, Replenish, Resume, Throttle, Wake};
    matches!(kind_of(record), Some(Block | Preempt | Replenish | Resume | Throttle | Wake))
}

/// Goes through the records of one thread.
struct Telling<'a> {
    jobs: &'a [JobTimes],
    /// The first job that has not ended.
    at: usize,
    /// The record with which it came onto the CPU that it is on.
    running: Option<Record>,
    scheduled_by: u64,
    told: &'a mut Vec<Record>,
    skipped: &'a mut u64,
}

impl Telling<'_> {
    fn all(&mut self, records: &[Record]) {
        let Some(first) = records.first() else { return };
        for (job, number) in self.jobs.iter().zip(0_u32..) {
            let record = Record { cpu: NONE, argument: job.deadline_ns, argument2: 0, ..*first };
            self.tell(record, EventKind::Release, job.release_ns, number);
        }
        for record in records {
            self.overruns(record);
            if let Some(kind) = kind_of(record) {
                self.one(record, kind);
            }
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
        let changed = record.argument2 != 0 && record.argument2 != self.scheduled_by;
        if record.argument2 != 0 {
            self.scheduled_by = record.argument2;
        }
        match kind {
            EventKind::Resume => self.running = Some(*record),
            EventKind::Preempt | EventKind::Throttle => {
                *self.skipped += u64::from(self.running.take().is_none() && job.is_some());
            }
            EventKind::Block if self.ends(now) => {
                if let Some(job) = job {
                    // The record of leaving the CPU comes with it, and comes first: it becomes the end.
                    self.ends_at(job, now);
                }
                return;
            }
            _ => {}
        }
        let plain = Record { argument: 0, argument2: 0, ..*record };
        if kind != EventKind::Replenish {
            self.tell(plain, kind, now, job.unwrap_or(NONE));
        }
        if let Some(job) = job
            && (changed || kind == EventKind::Replenish)
        {
            self.tells_deadline(plain, now, job);
        }
    }

    /// The present job has done its work by now.
    fn ends(&self, now: u64) -> bool {
        self.jobs.get(self.at).is_some_and(|job| job.finish_ns.is_some_and(|finish| finish <= now))
    }

    fn ends_at(&mut self, job: u32, now: u64) {
        let left = self.told.iter_mut().rev().find(|told| told.job == job && told.time_ns == now);
        if let Some(left) =
            left.filter(|told| matches!(kind_of(told), Some(EventKind::Preempt | EventKind::Throttle)))
        {
            left.kind = Kind::Event(EventKind::Complete).code();
        }
        self.at += 1;
    }

    fn tells_deadline(&mut self, record: Record, now: u64, job: u32) {
        if self.scheduled_by != 0 {
            let record = Record { cpu: NONE, argument: self.scheduled_by, argument2: 0, ..record };
            self.tell(record, EventKind::Replenish, now, job);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Member, Origin, convert};

    fn record(time_ns: u64, kind: EventKind, cpu: u32, deadline_ns: u64) -> Record {
        let kind = Kind::Event(kind).code();
        Record { time_ns, kind, cpu, pid: 7, job: NONE, argument2: deadline_ns, ..Record::default() }
    }

    fn job(release_ns: u64, deadline_ns: u64, times: Option<(u64, u64)>) -> JobTimes {
        let (start_ns, finish_ns) = times.unzip();
        JobTimes { release_ns, deadline_ns, start_ns, finish_ns }
    }

    /// As text: `time kind cpu job argument`, of the thread's schedule from 100 on.
    fn schedule(records: Vec<Record>, jobs: Vec<JobTimes>) -> (Vec<String>, Vec<String>) {
        let recorded = Recorded { records, ..Recorded::default() };
        let told = with_jobs(&recorded, &[ThreadJobs { tid: 7, deadline_rel_ns: Some(20), jobs }]);
        let member = Member { tid: 7, task: 0, deadline_rel_ns: 20, asked_deadline_ns: 20 };
        let origin = Origin {
            t0_ns: 100,
            tasks: vec![member],
            first_job: 0,
            cpus: vec![0, 1],
            queues: false,
            end_ns: Some(1_000),
        };
        let schedule = convert(&told, &origin);
        let of_job = schedule.events.iter().filter(|event| event.task.is_some());
        let number = |value: Option<u32>| value.map_or("-".into(), |value| value.to_string());
        let line = |event: &laxity_trace::Event| {
            let argument = event.argument.map_or("-".into(), |value| value.to_string());
            let (cpu, job) = (number(event.cpu), number(event.job));
            format!("{} {} {cpu} {job} {argument}", event.time_ns, event.kind.name())
        };
        (of_job.map(line).collect(), schedule.notes)
    }

    #[test]
    fn a_job_ends_when_its_thread_sleeps() {
        use EventKind::*;
        let records = vec![
            // It waits for the release: no job yet.
            record(90, Resume, 0, 0),
            record(92, Preempt, 0, 0),
            record(92, Block, 0, 0),
            record(101, Wake, 0, 121),
            record(103, Resume, 0, 121),
            record(105, Preempt, 0, 121),
            record(106, Resume, 1, 121),
            record(110, Preempt, 1, 121),
            record(110, Block, 1, 121),
            record(122, Wake, 1, 142),
            record(123, Resume, 1, 142),
            record(130, Preempt, 1, 142),
            record(130, Block, 1, 142),
            Record { pid: 8, ..record(200, Preempt, 1, 142) },
        ];
        let jobs = vec![job(100, 120, Some((103, 108))), job(120, 140, Some((124, 129)))];
        // Whatever the kernel's clock says.
        let ahead = |record: &Record| Record {
            argument2: if record.argument2 == 0 { 0 } else { record.argument2 + 5_000 },
            ..*record
        };
        assert_eq!(
            schedule(records.iter().map(ahead).collect(), jobs.clone()),
            schedule(records.clone(), jobs.clone())
        );
        let (lines, notes) = schedule(records, jobs);
        assert_eq!(
            lines,
            [
                "0 release - 0 20",
                "1 replenish - 0 21",
                "3 start 0 0 -",
                "5 preempt 0 0 -",
                "6 migrate 1 0 0",
                "10 complete 1 0 20",
                "20 release - 1 40",
                "22 replenish - 1 42",
                "23 start 1 1 -",
                "30 complete 1 1 40",
            ]
        );
        assert_eq!(notes, [] as [&str; 0]);
    }

    #[test]
    fn a_job_that_overruns_ends_at_its_finish_or_at_the_next_release() {
        use EventKind::*;
        let records = vec![
            record(101, Wake, 0, 0),
            record(103, Resume, 0, 0),
            record(160, Preempt, 0, 0),
            // Preempted between the finish of job 1 and the start of job 2.
            record(165, Resume, 0, 0),
            record(170, Preempt, 0, 0),
            record(170, Block, 0, 0),
            Record { pid: 8, ..record(200, Preempt, 0, 0) },
        ];
        let jobs = vec![
            job(100, 120, Some((103, 118))),
            job(120, 140, Some((121, 155))),
            job(140, 160, Some((166, 169))),
        ];
        let (lines, notes) = schedule(records, jobs);
        assert_eq!(
            lines,
            [
                "0 release - 0 20",
                "3 start 0 0 -",
                "20 release - 1 40",
                "20 complete 0 0 20",
                "20 start 0 1 -",
                "40 release - 2 60",
                "40 deadline-miss - 1 -",
                "60 preempt 0 1 -",
                "60 deadline-miss - 2 -",
                "65 resume 0 1 -",
                "66 complete 0 1 40",
                "66 start 0 2 -",
                "70 complete 0 2 60",
            ]
        );
        assert_eq!(notes, [] as [&str; 0]);
    }

    #[test]
    fn what_the_kernel_has_not_called_is_noticed() {
        use EventKind::*;
        let records = vec![record(110, Preempt, 0, 0), record(110, Block, 0, 0), record(200, Preempt, 0, 0)];
        let (lines, notes) = schedule(records, vec![job(100, 120, Some((103, 108)))]);
        assert_eq!(lines[0], "0 release - 0 20");
        assert!(notes.iter().any(|note| note.contains("had not been seen (1)")), "{notes:?}");
    }

    #[test]
    fn a_throttled_thread_waits_for_the_kernels_next_deadline() {
        use EventKind::*;
        let records = vec![
            record(101, Wake, 0, 121),
            record(103, Resume, 0, 121),
            record(109, Throttle, 0, 121),
            record(121, Replenish, NONE, 141),
            record(122, Resume, 0, 141),
            record(125, Preempt, 0, 141),
            record(125, Block, 0, 141),
            Record { pid: 8, ..record(200, Preempt, 0, 141) },
        ];
        let (lines, _) = schedule(records, vec![job(100, 120, Some((103, 124)))]);
        let expected = [
            "0 release - 0 20",
            "1 replenish - 0 21",
            "3 start 0 0 -",
            "9 throttle 0 0 -",
            "20 deadline-miss - 0 -",
            "21 replenish - 0 41",
            "22 resume 0 0 -",
            "25 complete 0 0 20",
        ];
        assert_eq!(lines, expected);
    }
}
