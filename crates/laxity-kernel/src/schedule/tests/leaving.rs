//! Tasks that leave while they have jobs, CPUs that leave what they run for nothing, and what is known only later.

use super::*;
use laxity_model::BudgetMode;

#[test]
fn what_is_to_come_of_a_task_does_not_when_it_has_left() {
    use EventKind::*;
    let records = vec![
        record(0, Release, NONE, 100, 1, T0 + 50),
        record(0, Resume, 0, 100, 1, 0),
        record(10, Throttle, 0, 100, 1, 0),
        record(50, Replenish, NONE, 100, 1, T0 + 100),
        record(11, Preempt, 0, 100, 1, 0),
        record(20, Leave, NONE, 100, NONE, 0),
        record(50, Release, NONE, 100, 2, T0 + 100),
        record(55, Preempt, 0, 109, 1, 0),
    ];
    let schedule = converted(records, &origin(1, 1));
    assert_eq!(
        lines(&schedule),
        ["0 release cpu- T0.0 50", "0 start cpu0 T0.0 -", "10 complete cpu0 T0.0 50", "20 leave cpu- T0.- -",]
    );
    let definition = definition_of(set_of(&[(10, 50)]), 1, 55).with_budgets(BudgetMode::Throttle);
    assert!(verify(&definition, &schedule).violations.is_empty(), "{}", verify(&definition, &schedule));
}

#[test]
fn a_job_that_waits_goes_with_its_task() {
    use EventKind::*;
    let records = |leaves: bool| {
        let mut records = vec![
            record(0, Release, NONE, 100, 1, T0 + 50),
            record(0, Release, NONE, 101, 1, T0 + 60),
            record(0, Resume, 0, 100, 1, 0),
            record(10, Complete, 0, 100, 1, 0),
            record(10, Preempt, 0, 100, 2, 0),
            work(10, SchedulingOverhead, 0, NONE, 1, 0),
        ];
        if leaves {
            records.push(record(10, Leave, NONE, 101, NONE, 0));
        }
        records.push(record(40, Preempt, 0, 109, 1, 0));
        records
    };
    let verdict = |leaves| {
        let schedule = converted(records(leaves), &origin(2, 1));
        verify(&definition_of(set_of(&[(10, 50), (6, 60)]), 1, 40), &schedule)
    };
    assert_eq!(verdict(false).violations_count(), 1, "{}", verdict(false));
    assert!(verdict(true).violations.is_empty(), "{}", verdict(true));
}

#[test]
fn a_cpu_that_was_on_its_way_to_who_has_left_decides_again() {
    use EventKind::*;
    let records = |left_at: Option<u64>| {
        let mut records = vec![
            record(0, Release, NONE, 100, 1, T0 + 50),
            work(0, SchedulingOverhead, 0, 3, 2, 0),
            work(9, SchedulingOverhead, 0, NONE, 1, 0),
            record(20, Preempt, 0, 109, 1, 0),
        ];
        records.extend(left_at.map(|at| Record { task: 3, ..record(at, Leave, NONE, 100, NONE, 0) }));
        records
    };
    let found = |left_at| converted(records(left_at), &origin(1, 1)).activities;
    let on_its_way = Activity { about: About::Task(0), ..activity(2, 6, Cause::Switch) };
    let of_cpu =
        [activity(0, 2, Cause::Decision), activity(2, 6, Cause::Switch), activity(6, 10, Cause::Decision)];
    let expected = [of_cpu[0], on_its_way, of_cpu[1], of_cpu[2]];
    assert_eq!(found(Some(6)), expected);
    assert_eq!(found(None), [activity(0, 2, Cause::Decision), activity(9, 10, Cause::Decision)]);
}

#[test]
fn a_cpu_that_leaves_its_job_for_nothing_is_on_its_way_until_it_has() {
    use EventKind::*;
    let records = vec![
        record(0, Release, NONE, 100, 1, T0 + 50),
        Record { task: 3, ..record(1, Resume, 0, 100, 1, 0) },
        work(10, SchedulingOverhead, 0, NONE, 2, 0),
        record(15, Preempt, 0, 100, 1, 0),
        record(20, Wake, NONE, 109, 1, 0),
    ];
    let schedule = converted(records, &origin(1, 1));
    assert_eq!(schedule.activities, [activity(10, 12, Cause::Decision), activity(12, 15, Cause::Decision)]);
    assert!(lines(&schedule).contains(&"12 switch-overhead cpu0 T-.- 3".to_owned()), "{schedule:?}");
}

#[test]
fn a_task_that_is_put_aside_and_back_waits_for_no_other_reason() {
    use EventKind::*;
    let records = |number: u32| {
        vec![
            Record { task: 3, ..record(1, Resume, 0, 100, 1, 0) },
            record(5, Preempt, 0, 100, 1, 0),
            Record { task: number, ..record(8, Resume, 0, 100, 1, 0) },
            record(9, Preempt, 0, 100, 1, 0),
            work(9, SchedulingOverhead, 0, NONE, 1, 0),
            record(20, Preempt, 0, 109, 1, 0),
        ]
    };
    let found = |number| converted(records(number), &origin(1, 1)).activities;
    assert_eq!(found(3)[0], activity(5, 8, Cause::Switch));
    assert_eq!(found(4)[0], activity(9, 10, Cause::Decision));
}

#[test]
fn who_leaves_while_it_runs_goes_on_as_background_work_until_the_cpu_decides() {
    use EventKind::*;
    let records = vec![
        Record { task: 3, ..record(1, Resume, 0, 100, 1, 0) },
        record(5, Preempt, 0, 100, 1, 0),
        work(6, BackgroundStart, 0, NONE, 100, 0),
        record(7, Leave, NONE, 100, NONE, 0),
        work(9, SchedulingOverhead, 0, NONE, 1, 0),
        work(12, BackgroundStop, 0, NONE, 100, 0),
    ];
    assert_eq!(converted(records, &origin(1, 1)).activities, [activity(5, 10, Cause::Decision)]);
}

/// The host charges it up to the decision that has postponed its deadline, if that is for another one.
#[test]
fn a_job_that_is_postponed_and_has_to_go_goes_at_once() {
    use EventKind::*;
    let records = |chosen: u32| {
        vec![
            record(0, Release, NONE, 100, 1, T0 + 50),
            Record { task: 3, ..record(1, Resume, 0, 100, 1, 0) },
            record(11, Postpone, 0, 100, 1, T0 + 100),
            work(11, SchedulingOverhead, 0, chosen, 2, 0),
            record(15, Preempt, 0, 100, 1, 0),
            record(20, Wake, NONE, 109, 1, 0),
        ]
    };
    let stops = |chosen| {
        let lines = lines(&converted(records(chosen), &origin(1, 1)));
        lines.into_iter().filter(|line| line.contains("p")).skip(1).collect::<Vec<_>>()
    };
    assert!(stops(4).contains(&"11 preempt cpu0 T0.0 -".to_owned()), "{:?}", stops(4));
    assert!(stops(3).contains(&"15 preempt cpu0 T0.0 -".to_owned()), "{:?}", stops(3));
}

/// The end of a budget that was seen late keeps its place before the end of the run that it was seen in, whatever is added.
#[test]
fn what_was_seen_late_keeps_its_place() {
    use EventKind::*;
    let records = vec![
        record(0, Release, NONE, 100, 1, T0 + 50),
        record(0, Resume, 0, 100, 1, 0),
        // A kernel thread comes as the budget ends; the CPU decides about the job later.
        record(10, Preempt, 0, 100, 1, 0),
        work(10, BackgroundStart, 0, NONE, 7, 1),
        work(20, BackgroundStop, 0, NONE, 7, 1),
        record(22, Postpone, 0, 100, 1, T0 + 100),
        work(22, SchedulingOverhead, 0, NONE, 1, 0),
        record(23, Resume, 0, 100, 1, 0),
        record(25, Complete, 0, 100, 1, 0),
    ];
    let schedule = converted(records, &origin(1, 1));
    let definition = definition_of(set_of(&[(10, 50)]), 1, 25).with_budgets(BudgetMode::Postpone);
    let verdict = verify(&definition, &schedule);
    assert_eq!(verdict.count(Oracle::WellFormed), 0, "{verdict}");
}

/// A job that has slept and gone on ends behind the schedule, although the next one's release is in it.
#[test]
fn a_job_that_has_woken_up_did_not_end_where_it_slept() {
    use EventKind::*;
    let records = |wakes: bool| {
        let mut records = vec![
            record(0, Release, NONE, 100, 1, T0 + 50),
            record(0, Resume, 0, 100, 1, 0),
            record(5, Preempt, 0, 100, 1, 0),
            record(6, Block, 0, 100, 1, 0),
        ];
        if wakes {
            records.extend([record(20, Wake, NONE, 100, 1, 0), record(21, Resume, 0, 100, 1, 0)]);
        }
        records.extend([record(50, Release, NONE, 100, 2, T0 + 100), record(60, Preempt, 0, 100, 1, 0)]);
        records
    };
    let has_ended = |wakes| {
        lines(&converted(records(wakes), &origin(1, 1))).iter().any(|line| line.starts_with("5 complete"))
    };
    assert!(has_ended(false));
    assert!(!has_ended(true));
}

/// Its affinity is set after its yield, before its CPU has decided.
#[test]
fn a_job_that_has_ended_is_not_there_again_when_its_thread_is_put_back() {
    use EventKind::*;
    let records = vec![
        record(0, Release, NONE, 100, 1, T0 + 50),
        Record { task: 3, ..record(1, Resume, 0, 100, 1, 0) },
        record(5, Complete, 0, 100, 1, 0),
        record(6, Preempt, 0, 100, 1, 0),
        Record { task: 3, ..record(7, Resume, 0, 100, 1, 0) },
        work(9, SchedulingOverhead, 0, NONE, 1, 0),
        record(9, Preempt, 0, 100, 2, 0),
        record(20, Wake, NONE, 109, 1, 0),
    ];
    let schedule = converted(records, &origin(1, 1));
    assert_eq!(
        lines(&schedule).iter().filter(|line| line.contains("T0.0")).count(),
        3,
        "{:?}",
        lines(&schedule)
    );
    assert_eq!(schedule.activities, [activity(5, 10, Cause::Decision)]);
}
