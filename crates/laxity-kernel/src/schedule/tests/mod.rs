//! Records made by hand, and schedules of the oracle's reference that go through records and come back.

mod excuses;
mod leaving;
mod limits;
mod servers;

use super::*;
use crate::rings::{Kind, NONE, OVERDUE, Record, UNSEEN};
use laxity_model::{Demand, Platform, PriorityRule, Task, TaskSet};
use laxity_oracle::{About, Activity, Cause, Oracle, reference};

const T0: u64 = 1_000_000;

fn record(time: u64, kind: EventKind, cpu: u32, tid: u32, job: u32, argument: u64) -> Record {
    Record {
        time_ns: T0 + time,
        kind: Kind::Event(kind).code(),
        cpu,
        pid: tid,
        job,
        argument,
        task: NONE,
        ..Record::default()
    }
}

/// A record of kernel work, or of a kick: for a task or `NONE`, with its second argument.
fn work(time: u64, kind: EventKind, cpu: u32, task: u32, length: u64, argument2: u64) -> Record {
    Record { task, argument2, ..record(time, kind, cpu, 0, NONE, length) }
}

fn member(id: u32) -> Member {
    Member { tid: 100 + id, task: id, deadline_rel_ns: 1_000, asked_deadline_ns: 1_000 }
}

fn origin(tasks: u32, cpus: u32) -> Origin {
    Origin {
        t0_ns: T0,
        tasks: (0..tasks).map(member).collect(),
        names: Vec::new(),
        first_job: 1,
        cpus: (0..cpus).collect(),
        queues: false,
        end_ns: None,
        servers: vec![],
    }
}

fn converted(records: Vec<Record>, origin: &Origin) -> Schedule {
    convert(&Recorded { records, ..Recorded::default() }, origin)
}

/// As text: `time kind cpu task.job argument`.
fn lines(schedule: &Schedule) -> Vec<String> {
    let number = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
    let line = |event: &Event| {
        let (cpu, task, job) =
            (event.cpu.map(u64::from), event.task.map(u64::from), event.job.map(u64::from));
        let parts = [number(cpu), number(task), number(job), number(event.argument)];
        format!(
            "{} {} cpu{} T{}.{} {}",
            event.time_ns,
            event.kind.name(),
            parts[0],
            parts[1],
            parts[2],
            parts[3]
        )
    };
    schedule.events.iter().map(line).collect()
}

#[test]
fn a_task_enters_yields_moves_and_sleeps() {
    use EventKind::*;
    let records = vec![
        record(0, Release, NONE, 100, 0, T0 + 20),
        record(1, Resume, 0, 100, 0, 0),
        record(2, Complete, 0, 100, 0, T0 + 20),
        record(3, Preempt, 0, 100, 1, 0),
        record(10, Release, NONE, 100, 1, T0 + 20),
        record(11, Resume, 0, 100, 1, 0),
        record(12, Preempt, 0, 100, 1, 0),
        record(13, Resume, 1, 100, 1, 0),
        record(15, Preempt, 1, 100, 1, 0),
        record(16, Block, 1, 100, 1, 0),
        record(17, Wake, NONE, 100, 1, 0),
        record(18, Resume, 1, 100, 1, 0),
        record(19, Complete, 1, 100, 1, T0 + 20),
        // Its next job goes on at once: it is on the CPU still.
        record(19, Release, NONE, 100, 2, T0 + 22),
        record(20, Resume, 1, 100, 2, 0),
        record(23, Preempt, 1, 100, 2, 0),
        // That job ended by sleeping; no record says so.
        record(24, Block, 1, 100, 2, 0),
        record(30, Release, NONE, 100, 3, T0 + 40),
        record(31, Resume, 0, 100, 3, 0),
        record(35, Leave, NONE, 100, NONE, 0),
        record(36, Preempt, 0, 100, 3, 0),
    ];
    let schedule = converted(records, &origin(1, 2));
    assert_eq!(
        lines(&schedule),
        [
            "10 release cpu- T0.0 20",
            "11 start cpu0 T0.0 -",
            "12 preempt cpu0 T0.0 -",
            "13 migrate cpu1 T0.0 0",
            "15 block cpu1 T0.0 -",
            "17 wake cpu- T0.0 -",
            "18 resume cpu1 T0.0 -",
            "19 release cpu- T0.1 22",
            "19 complete cpu1 T0.0 20",
            "20 start cpu1 T0.1 -",
            "22 deadline-miss cpu- T0.1 -",
            "23 complete cpu1 T0.1 22",
            "30 release cpu- T0.2 40",
            "31 start cpu0 T0.2 1",
            // It left while it was at its job, which ended there.
            "35 complete cpu0 T0.2 40",
            "35 leave cpu- T0.- -",
        ]
    );
    assert_eq!((schedule.end_ns, schedule.notes.as_slice()), (36, &[] as &[String]));
}

#[test]
fn a_deadline_that_is_postponed_off_the_cpu_was_due_when_the_job_left_it() {
    use EventKind::*;
    let records = vec![
        record(0, Release, NONE, 100, 1, T0 + 10),
        record(1, Resume, 0, 100, 1, 0),
        // A kernel thread comes as the budget ends; the CPU decides about the job later.
        record(5, Preempt, 0, 100, 1, 0),
        record(8, Postpone, 0, 100, 1, T0 + 20),
        record(9, Resume, 0, 100, 1, 0),
        record(11, Postpone, 0, 100, 1, T0 + 30),
        record(12, Complete, 0, 100, 1, 0),
        record(13, Preempt, 0, 100, 2, 0),
    ];
    let schedule = converted(records, &origin(1, 1));
    assert_eq!(
        lines(&schedule),
        [
            "0 release cpu- T0.0 10",
            "1 start cpu0 T0.0 -",
            "5 postpone cpu0 T0.0 20",
            "5 preempt cpu0 T0.0 -",
            "9 resume cpu0 T0.0 -",
            "10 deadline-miss cpu- T0.0 -",
            "11 postpone cpu0 T0.0 30",
            "12 complete cpu0 T0.0 10",
        ]
    );
    assert_eq!(schedule.notes.as_slice(), &[] as &[String]);
}

/// The host learns of it when the job has its turn again, after its thread has woken up.
#[test]
fn a_deadline_that_is_postponed_behind_a_sleep_was_due_when_the_job_went_to_sleep() {
    use EventKind::*;
    let records = vec![
        record(0, Release, NONE, 100, 1, T0 + 20),
        record(1, Resume, 0, 100, 1, 0),
        record(5, Preempt, 0, 100, 1, 0),
        record(5, Block, 0, 100, 1, 0),
        record(7, Wake, NONE, 100, 1, 0),
        record(8, Postpone, 0, 100, 1, T0 + 30),
        record(9, Resume, 0, 100, 1, 0),
        record(12, Complete, 0, 100, 1, 0),
        record(13, Preempt, 0, 100, 2, 0),
    ];
    let schedule = converted(records, &origin(1, 1));
    assert_eq!(
        lines(&schedule),
        [
            "0 release cpu- T0.0 20",
            "1 start cpu0 T0.0 -",
            "5 postpone cpu0 T0.0 30",
            "5 block cpu0 T0.0 -",
            "7 wake cpu- T0.0 -",
            "9 resume cpu0 T0.0 -",
            "12 complete cpu0 T0.0 20",
        ]
    );
    assert_eq!(schedule.notes.as_slice(), &[] as &[String]);
}

#[test]
fn a_budget_that_is_there_again_at_once_comes_after_its_end() {
    use EventKind::*;
    let records = vec![
        record(0, Release, NONE, 100, 1, T0 + 10),
        record(1, Resume, 0, 100, 1, 0),
        record(12, Throttle, 0, 100, 1, 0),
        record(12, Replenish, NONE, 100, 1, T0 + 20),
        record(13, Resume, 0, 100, 1, 0),
        record(14, Complete, 0, 100, 1, 0),
        record(15, Preempt, 0, 100, 2, 0),
    ];
    // What is noticed only when the job is off its CPU happened there.
    let mut late = records.clone();
    late.insert(2, record(11, Preempt, 0, 100, 1, 0));
    let schedule = converted(late, &origin(1, 1));
    assert!(lines(&schedule).contains(&"11 throttle cpu0 T0.0 -".to_owned()), "{:?}", lines(&schedule));
    let kinds: Vec<EventKind> =
        converted(records, &origin(1, 1)).events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Release, Start, DeadlineMiss, Throttle, Replenish, Resume, Complete]);
}

#[test]
fn lost_records_end_the_schedule_with_a_note() {
    use EventKind::*;
    let records = vec![
        record(0, Release, NONE, 100, 1, T0 + 10),
        record(1, Resume, 0, 100, 1, 0),
        record(8, Preempt, 0, 100, 1, 0),
    ];
    let recorded = Recorded { records, lost: 3, complete_until_ns: Some(T0 + 5), ..Recorded::default() };
    let schedule = convert(&recorded, &origin(1, 1));
    assert_eq!((schedule.end_ns, schedule.events.len(), schedule.notes.len()), (5, 2, 1));
    assert!(schedule.notes[0].contains("3 records lost"), "{:?}", schedule.notes);
}

fn activity(from_ns: u64, to_ns: u64, cause: Cause) -> Activity {
    Activity { from_ns, to_ns, cpu: 0, cause, about: About::Cpu }
}

/// It was through with its last job, and out of budget before it could sleep.
#[test]
fn a_task_that_leaves_without_budget_has_ended_its_job_where_it_was_throttled() {
    use EventKind::*;
    let records = |left: u64| {
        vec![
            record(0, Release, NONE, 100, 1, T0 + 10),
            record(1, Resume, 0, 100, 1, 0),
            record(5, Throttle, 0, 100, 1, 0),
            record(5, Preempt, 0, 100, 1, 0),
            record(left, Leave, NONE, 100, NONE, 0),
            // Written at the throttle, for its time.
            record(11, Replenish, NONE, 100, 1, T0 + 20),
            record(30, Preempt, 0, 200, 1, 0),
        ]
    };
    assert_eq!(
        lines(&converted(records(7), &origin(1, 1))),
        ["0 release cpu- T0.0 10", "1 start cpu0 T0.0 -", "5 complete cpu0 T0.0 10", "7 leave cpu- T0.- -"]
    );
    // With its new budget it could have gone on, and did not.
    assert_eq!(
        lines(&converted(records(12), &origin(1, 1)))[2..],
        [
            "5 throttle cpu0 T0.0 -",
            "10 deadline-miss cpu- T0.0 -",
            "11 replenish cpu- T0.0 20",
            "12 leave cpu- T0.- -"
        ]
    );
}

#[test]
fn a_cpu_is_in_the_scheduler_from_what_it_leaves_to_what_it_runs() {
    use EventKind::*;
    let records = vec![
        record(1, Resume, 0, 100, 1, 0),
        record(5, Complete, 0, 100, 1, 0),
        work(8, SchedulingOverhead, 0, 3, 2, 0),
        work(10, SwitchOverhead, 0, 3, 4, 0),
        record(12, Preempt, 0, 100, 2, 0),
        record(14, Resume, 0, 101, 1, 0),
        // A kernel thread, before any decision; it sleeps, and the CPU decides.
        record(20, Preempt, 0, 101, 1, 0),
        work(21, BackgroundStart, 0, NONE, 7, 1),
        work(30, BackgroundStop, 0, NONE, 7, 1),
        work(33, SchedulingOverhead, 0, NONE, 1, 0),
        // It chose nothing: idle. A kernel thread comes, then a task from elsewhere, whose switch did not begin at 34.
        work(50, BackgroundStart, 0, NONE, 7, 1),
        work(51, BackgroundStop, 0, NONE, 7, 1),
        work(34, SwitchOverhead, 0, 3, 26, 0),
        record(60, Resume, 0, 101, 1, 0),
        work(70, Ipi, 0, NONE, 1, T0 + 66),
        record(80, Preempt, 0, 101, 1, 0),
    ];
    let schedule = converted(records, &origin(2, 1));
    assert_eq!(
        schedule.activities,
        [
            activity(5, 10, Cause::Decision),
            activity(10, 14, Cause::Switch),
            activity(20, 21, Cause::Switch),
            activity(21, 30, Cause::KernelThread),
            activity(30, 34, Cause::Decision),
            activity(50, 51, Cause::KernelThread),
            activity(66, 70, Cause::Interrupt),
        ]
    );
    assert_eq!(schedule.decisions, 2);
    assert_eq!(schedule.windows.interrupt.longest_ns, 4);
    assert_eq!(schedule.windows.kernel_thread.total_ns, 10);
}

#[test]
fn the_reserve_for_other_work_excuses() {
    use EventKind::*;
    let records = |why: u64| {
        vec![
            record(0, Release, NONE, 100, 1, T0 + 50),
            record(0, Resume, 0, 100, 1, 0),
            // The CPU decides for the task once more, and gives way to other work.
            record(10, Preempt, 0, 100, 1, 0),
            work(11, SchedulingOverhead, 0, 3, 1, 0),
            work(14, BackgroundStart, 0, NONE, 7, why),
            work(20, BackgroundStop, 0, NONE, 7, why),
            work(21, SchedulingOverhead, 0, 3, 2, 0),
            work(23, SwitchOverhead, 0, 3, 2, 0),
            record(25, Resume, 0, 100, 1, 0),
            record(30, Complete, 0, 100, 1, 0),
            work(31, SchedulingOverhead, 0, NONE, 1, 0),
            work(45, SchedulingOverhead, 0, NONE, 1, 0),
        ]
    };
    let origin = Origin {
        tasks: vec![Member { deadline_rel_ns: 50, asked_deadline_ns: 50, ..member(0) }],
        ..origin(1, 1)
    };
    let definition = definition_of(set_of(&[(15, 50)]), 1, 45);
    let reserve = converted(records(3), &origin);
    assert!(reserve.activities.contains(&activity(12, 14, Cause::Switch)), "{:?}", reserve.activities);
    assert!(reserve.activities.contains(&activity(14, 20, Cause::Reserve)), "{:?}", reserve.activities);
    assert_eq!(reserve.windows.reserve.total_ns, 6);
    let verdict = verify(&definition, &reserve);
    assert_eq!(verdict.count(Oracle::WorkConservation), 0, "{verdict}");
    // Nor is background work that goes first by its server a fault.
    let server = converted(records(4), &origin);
    assert!(server.activities.contains(&activity(12, 14, Cause::Switch)), "{:?}", server.activities);
    assert!(server.activities.contains(&activity(14, 20, Cause::Server)), "{:?}", server.activities);
    assert_eq!((server.windows.server.total_ns, server.windows.reserve.total_ns), (6, 0));
    let verdict = verify(&definition, &server);
    assert_eq!(verdict.count(Oracle::WorkConservation), 0, "{verdict}");
    // The same for no reason is none.
    let verdict = verify(&definition, &converted(records(0), &origin));
    assert_eq!(verdict.count(Oracle::WorkConservation), 1, "{verdict}");
    assert_eq!(verdict.violations[0].unexplained_ns, Some(2 + 6), "{verdict}");
}

fn set_of(parameters: &[(u64, u64)]) -> TaskSet {
    let task = |(id, &(wcet, period)): (usize, &(u64, u64))| {
        Task::periodic(format!("t{id}"), Duration::from_ns(wcet), Duration::from_ns(period))
    };
    TaskSet::new("set", parameters.iter().enumerate().map(task).collect()).expect("valid")
}

fn definition_of(set: TaskSet, cpus: u32, end: u64) -> Definition {
    let platform = Platform::symmetric(cpus).expect("valid");
    let rule = PriorityRule::EarliestDeadlineFirst;
    Definition::global(set, &platform, rule, Duration::from_ns(end))
        .expect("valid")
        .with_jobs(1, Demand::Wcet)
}

/// A schedule as a host would have recorded it, ring by ring.
fn records_of(events: &[Event], cpus: u32) -> Vec<Record> {
    let mut rings: Vec<Vec<Record>> = vec![Vec::new(); cpus as usize];
    for event in events {
        let (Some(task), Some(job)) = (event.task, event.job) else { continue };
        let cpu = event.cpu.unwrap_or(NONE);
        let ring = &mut rings[event.cpu.unwrap_or(task % cpus) as usize];
        let of = |kind, argument| record(event.time_ns, kind, cpu, 100 + task, job + 1, argument);
        match event.kind {
            // Made known before its time.
            EventKind::Release => ring.insert(0, of(EventKind::Release, T0 + event.argument.unwrap_or(0))),
            kind if kind.begins_running() => ring.push(of(EventKind::Resume, 0)),
            EventKind::Preempt => ring.push(of(EventKind::Preempt, 0)),
            EventKind::Complete => {
                ring.push(of(EventKind::Complete, 0));
                ring.push(Record { job: job + 2, ..of(EventKind::Preempt, 0) });
            }
            _ => {}
        }
    }
    rings.concat()
}

/// All of an event, in the order of time and class.
type Key = (u64, u8, u8, Option<u32>, Option<u32>, Option<u32>, Option<u64>);

fn sorted(events: &[Event]) -> Vec<Key> {
    let key = |event: &Event| {
        let class = tasks::class_of(event.kind);
        // The reference says where the task ran last when it missed.
        let cpu = event.cpu.filter(|_| event.kind != EventKind::DeadlineMiss);
        (event.time_ns, class, event.kind.code(), cpu, event.task, event.job, event.argument)
    };
    let mut sorted: Vec<_> = events.iter().map(key).collect();
    sorted.sort_unstable();
    sorted
}

struct Draws(u64);

impl Draws {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// A schedule of the reference, and its definition.
fn drawn(seed: u64) -> (Definition, Vec<Event>, u32, u64) {
    let mut draws = Draws(seed);
    let cpus = 1 + u32::try_from(draws.below(3)).expect("small");
    let parameters: Vec<(u64, u64)> = (0..2 + draws.below(5))
        .map(|_| {
            let period = 5 + draws.below(30);
            (1 + draws.below(period), period)
        })
        .collect();
    let end = 100 + draws.below(100);
    let definition = definition_of(set_of(&parameters), cpus, end);
    let schedule = reference(&definition, &definition.jobs(), end).expect("it can be scheduled");
    (definition, schedule.events, cpus, end)
}

#[test]
fn what_arrives_after_the_end_was_on_its_way_before() {
    use EventKind::*;
    let ipi = |at: u64, sent: u64| Record { argument2: T0 + sent, ..record(at, Ipi, 0, 0, NONE, 1) };
    let records = vec![
        record(0, Release, NONE, 100, 1, T0 + 40),
        record(1, Resume, 0, 100, 1, 0),
        ipi(25, 15),
        work(26, ReleaseOverhead, 0, NONE, 1, T0 + 18),
        ipi(27, 21),
    ];
    let end_at = |end: u64, queues: bool| {
        converted(records.clone(), &Origin { end_ns: Some(T0 + end), queues, ..origin(1, 1) }).activities
    };
    let late = Activity { about: About::Released(18, 20), ..activity(18, 20, Cause::ReleaseLatency) };
    assert_eq!(end_at(20, false), [activity(15, 20, Cause::Interrupt), late]);
    // No CPU takes what waits in a queue whose CPU has been asked to decide.
    let withheld = |activity: &Activity| activity.cause == Cause::Queue;
    let found: Vec<(u64, u64)> =
        end_at(20, true).iter().filter(|a| withheld(a)).map(|a| (a.from_ns, a.to_ns)).collect();
    assert_eq!(found, [(15, 20)]);
    assert!(end_at(15, true).is_empty());
}

#[test]
fn a_schedule_that_goes_through_records_comes_back() {
    for seed in laxity_seeds::seeds!(0..2_000) {
        let (definition, events, cpus, end) = drawn(seed);
        let origin = Origin {
            end_ns: Some(T0 + end),
            ..self::origin(u32::try_from(definition.set().tasks().len()).expect("few"), cpus)
        };
        let mut records = records_of(&events, cpus);
        // The recording ends a little later than the schedule.
        records.push(work(end + 5, EventKind::SchedulingOverhead, 0, NONE, 1, 0));
        let schedule = converted(records, &origin);
        let before_end: Vec<Event> = events.into_iter().filter(|event| event.time_ns < end).collect();
        assert_eq!(sorted(&schedule.events), sorted(&before_end), "seed {seed}");
        let verdict = verify(&definition, &schedule);
        assert!(verdict.clean, "seed {seed}: {verdict}");
        assert!(verdict.tolerated.count == 0 && verdict.excused.is_empty(), "seed {seed}");
    }
}
