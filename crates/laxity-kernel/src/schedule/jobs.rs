//! Jobs, put into records that know threads only.
//!
//! To Linux a job is what a thread does between two sleeps; only the thread knows when one job ends and the next begins. So
//! the runner says for each job when it was released, began and finished ([`super::JobTimes`]), and the records are
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
//! A thread's last job ends when it leaves its CPU after its finish, however it does: what it does then is no job's.
//! Under SCHED_DEADLINE a record has the deadline that the kernel schedules the thread by, on a clock of its own; where it is
//! another than before, or the job's first, a REPLENISH says so.
//!
//! There are threads in whose context a kernel calls no tracer: interrupts that come while they run, and the switch
//! away from them, have no records. What follows from the other records and the jobs is put in (`thread_replay.rs`), and counted.

use super::clocks::clock_ahead;
use super::thread_replay::ThreadReplay;
use super::{Recorded, ThreadJobs};
use crate::rings::Record;
use laxity_trace::EventKind;
use std::collections::BTreeMap;

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
    let (mut skipped, mut unseen) = (recorded.skipped, recorded.unseen.clone());
    let ahead_ns = clock_ahead(&of_thread, threads);
    for thread in threads {
        let mut own = of_thread.remove(&thread.tid).unwrap_or_default();
        // Stable: what one CPU wrote at one instant stays in its order.
        own.sort_by_key(|record| record.time_ns);
        for record in own.iter_mut().filter(|record| record.argument2 != 0) {
            let deadline_ns = i128::from(record.argument2) + ahead_ns;
            record.argument2 = u64::try_from(deadline_ns).unwrap_or(0);
        }
        let mut replay = ThreadReplay::of(thread, &mut records);
        replay.all(&own);
        skipped += replay.skipped;
        unseen.append(&mut replay.unseen);
    }
    Recorded { records, skipped, unseen, ..*recorded }
}

fn is_about_a_thread(record: &Record) -> bool {
    use EventKind::{Block, Preempt, Replenish, Resume, Throttle, Wake};
    matches!(record.event_kind(), Some(Block | Preempt | Replenish | Resume | Throttle | Wake))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rings::{Kind, NONE};
    use crate::schedule::JobTimes;
    use crate::schedule::{Member, Origin, Schedule, convert};
    use laxity_oracle::{About, Cause};

    fn record(time_ns: u64, kind: EventKind, cpu: u32, deadline_ns: u64) -> Record {
        let kind = Kind::Event(kind).code();
        Record { time_ns, kind, cpu, pid: 7, job: NONE, argument2: deadline_ns, ..Record::default() }
    }

    fn job(release_ns: u64, deadline_ns: u64, times: Option<(u64, u64)>) -> JobTimes {
        let (start_ns, finish_ns) = times.unzip();
        JobTimes { release_ns, deadline_ns, start_ns, finish_ns }
    }

    /// The thread's schedule from 100 on.
    fn converted(records: Vec<Record>, jobs: Vec<JobTimes>) -> Schedule {
        let recorded = Recorded { records, ..Recorded::default() };
        let told = with_jobs(&recorded, &[ThreadJobs { tid: 7, deadline_rel_ns: Some(20), jobs }]);
        let member = Member { tid: 7, task: 0, deadline_rel_ns: 20, asked_deadline_ns: 20 };
        let origin = Origin {
            t0_ns: 100,
            tasks: vec![member],
            names: Vec::new(),
            first_job: 0,
            cpus: vec![0, 1],
            queues: false,
            end_ns: Some(1_000),
            servers: vec![],
        };
        convert(&told, &origin)
    }

    /// The same as text, `time kind cpu job argument`, with the notes.
    fn schedule(records: Vec<Record>, jobs: Vec<JobTimes>) -> (Vec<String>, Vec<String>) {
        let schedule = converted(records, jobs);
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
    fn what_the_kernel_has_not_called_follows_from_the_rest() {
        use EventKind::*;
        let records = vec![
            // No record shows it coming: it had begun with its job by 103.
            record(110, Preempt, 0, 121),
            record(110, Block, 0, 121),
            // No record shows its wake-up: it was D before its new deadline.
            record(126, Resume, 1, 142),
            record(130, Preempt, 1, 142),
            record(131, Resume, 0, 142),
            // Its next job has begun, and no record shows it coming for that either.
            record(150, Preempt, 0, 142),
            record(155, Throttle, 1, 142),
            Record { pid: 8, ..record(200, Preempt, 0, 0) },
        ];
        let jobs = vec![
            job(100, 120, Some((103, 108))),
            job(120, 140, Some((127, 145))),
            job(140, 160, Some((147, 190))),
        ];
        let (lines, notes) = schedule(records, jobs);
        let expected = [
            "0 release - 0 20",
            "3 replenish - 0 21",
            "3 start 0 0 -",
            "10 complete 0 0 20",
            "20 release - 1 40",
            "22 replenish - 1 42",
            "26 start 1 1 0",
            "30 preempt 1 1 -",
            "31 migrate 0 1 1",
            "40 release - 2 60",
            "40 deadline-miss - 1 -",
            "45 complete 0 1 40",
            "45 replenish - 2 42",
            "45 start 0 2 -",
            "50 preempt 0 2 -",
            "54 migrate 1 2 0",
            "55 throttle 1 2 -",
            "60 deadline-miss - 2 -",
        ];
        assert_eq!(lines, expected);
        assert!(notes.iter().any(|note| note.starts_with("3 records missing")), "{notes:?}");
    }

    #[test]
    fn what_was_not_seen_excuses_for_as_long_as_what_was() {
        use EventKind::*;
        let unseen = |longest: u64| {
            let interrupt = Record { pid: 0, argument2: 104 - longest, ..record(104, Ipi, 1, 0) };
            let records = vec![
                interrupt,
                record(105, Resume, 0, 121),
                record(110, Preempt, 0, 121),
                record(110, Block, 0, 121),
                record(126, Resume, 1, 142),
                record(130, Preempt, 1, 142),
            ];
            let jobs = vec![job(100, 120, Some((105, 108))), job(120, 140, Some((127, 129)))];
            let schedule = converted(records, jobs);
            let unseen = schedule.activities.into_iter().find(|one| one.cause == Cause::Unseen)?;
            Some((unseen.from_ns, unseen.to_ns, unseen.cpu, unseen.about))
        };
        assert_eq!(unseen(0), None);
        assert_eq!(unseen(4), Some((22, 26, 1, About::Released(20, 22))));
        assert_eq!(unseen(50), Some((20, 26, 1, About::Released(20, 22))));
    }

    #[test]
    fn a_job_that_has_used_a_later_budget_ends_all_the_same() {
        use EventKind::*;
        let records = vec![
            record(95, Wake, 0, 115),
            record(101, Wake, 0, 121),
            record(103, Resume, 0, 121),
            // It has used up more than one budget when it sleeps: its deadline moves in that very instant.
            record(110, Preempt, 0, 100_161),
            record(110, Block, 0, 100_161),
            // Its next job is scheduled by what is left.
            record(122, Wake, 0, 100_161),
            record(123, Resume, 0, 100_161),
            record(130, Preempt, 0, 100_161),
            record(131, Resume, 0, 100_161),
            record(132, Throttle, 0, 100_161),
            Record { pid: 8, ..record(200, Preempt, 0, 0) },
        ];
        // It is through with its last job when it is preempted at 130: what it does then is none.
        let jobs = vec![job(100, 120, Some((103, 108))), job(120, 140, Some((124, 129)))];
        let (lines, notes) = schedule(records, jobs);
        let expected = [
            "0 release - 0 20",
            "1 replenish - 0 21",
            "3 start 0 0 -",
            "10 complete 0 0 20",
            "10 replenish - 0 100061",
            "20 release - 1 40",
            "22 replenish - 1 100061",
            "23 start 0 1 -",
            "30 complete 0 1 40",
        ];
        assert_eq!(lines, expected);
        assert_eq!(notes, [] as [&str; 0]);
    }

    #[test]
    fn a_job_that_finds_no_budget_waits_for_it() {
        use EventKind::*;
        let records = vec![
            record(101, Wake, 0, 121),
            record(103, Resume, 0, 121),
            // It is throttled on its CPU, as the CPU that wakes it up sees.
            record(107, Wake, 1, 121),
            record(108, Throttle, NONE, 121),
            record(109, Throttle, 0, 121),
            record(109, Block, 0, 121),
            record(120, Wake, 1, 121),
            record(121, Throttle, NONE, 121),
            record(125, Replenish, NONE, 141),
            record(126, Resume, 0, 141),
            record(130, Preempt, 0, 141),
            Record { pid: 8, ..record(200, Preempt, 0, 0) },
        ];
        let jobs = vec![job(100, 120, Some((103, 108))), job(120, 140, Some((127, 190)))];
        let (lines, notes) = schedule(records, jobs);
        let expected = [
            "0 release - 0 20",
            "1 replenish - 0 21",
            "3 start 0 0 -",
            "9 complete 0 0 20",
            "20 release - 1 40",
            "20 replenish - 1 21",
            "21 throttle - 1 -",
            "25 replenish - 1 41",
            "26 start 0 1 -",
            "30 preempt 0 1 -",
            "40 deadline-miss - 1 -",
        ];
        assert_eq!(lines, expected);
        assert_eq!(notes, [] as [&str; 0]);
    }

    #[test]
    fn a_job_gets_a_new_budget_while_it_runs() {
        use EventKind::*;
        let records = vec![
            record(101, Wake, 0, 121),
            record(102, Resume, 0, 121),
            record(109, Preempt, 0, 121),
            record(109, Block, 0, 121),
            // What is left of the budget is used up at once, and its server period is over by then.
            record(120, Wake, 0, 121),
            record(121, Resume, 0, 121),
            record(128, Throttle, 0, 141),
            record(141, Replenish, NONE, 161),
            record(142, Resume, 0, 161),
            record(145, Preempt, 0, 161),
            record(145, Block, 0, 161),
            Record { pid: 8, ..record(200, Preempt, 0, 0) },
        ];
        let jobs = vec![job(100, 120, Some((102, 108))), job(120, 140, Some((121, 144)))];
        let (lines, notes) = schedule(records, jobs);
        let expected = [
            "0 release - 0 20",
            "1 replenish - 0 21",
            "2 start 0 0 -",
            "9 complete 0 0 20",
            "20 release - 1 40",
            "20 replenish - 1 21",
            "21 start 0 1 -",
            "27 replenish - 1 41",
            "28 throttle 0 1 -",
            "40 deadline-miss - 1 -",
            "41 replenish - 1 61",
            "42 resume 0 1 -",
            "45 complete 0 1 40",
        ];
        assert_eq!(lines, expected);
        assert_eq!(notes, [] as [&str; 0]);
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
