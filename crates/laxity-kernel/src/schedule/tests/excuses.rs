//! What excuses that a job waits, and what does not.

use super::*;
use laxity_oracle::BudgetRule;

/// Two tasks on one CPU; the second waits from 10 to 14 although the first is over.
fn late_by_four() -> Vec<Record> {
    use EventKind::*;
    vec![
        record(0, Release, NONE, 100, 1, T0 + 50),
        record(0, Release, NONE, 101, 1, T0 + 60),
        record(0, Resume, 0, 100, 1, 0),
        record(10, Complete, 0, 100, 1, 0),
        record(14, Resume, 0, 101, 1, 0),
        record(20, Complete, 0, 101, 1, 0),
        record(49, Preempt, 0, 101, 1, 0),
    ]
}

#[test]
fn only_what_the_kernel_was_at_excuses() {
    use EventKind::*;
    let definition = definition_of(set_of(&[(10, 50), (6, 60)]), 1, 49);
    let verdict_with = |more: &[Record]| {
        let mut records = late_by_four();
        records.extend_from_slice(more);
        verify(&definition, &converted(records, &origin(2, 1)))
    };
    let alone = verdict_with(&[]);
    assert_eq!(alone.count(Oracle::WorkConservation), 1, "{alone}");
    let violation = &alone.violations[0];
    assert_eq!((violation.from_ns, violation.to_ns, violation.unexplained_ns), (10, 14, Some(4)));
    let decision = work(11, SchedulingOverhead, 0, 1, 2, 0);
    let nearly = verdict_with(&[decision]);
    assert_eq!(nearly.violations[0].unexplained_ns, Some(1), "{nearly}");
    let all = verdict_with(&[decision, work(13, SwitchOverhead, 0, 1, 1, 0)]);
    assert!(all.clean, "{all}");
    assert_eq!((all.tolerated.count, all.tolerated.longest_ns), (1, 4));
    let causes: Vec<(Cause, u64)> =
        all.excused.iter().map(|excuse| (excuse.cause, excuse.total_ns)).collect();
    assert_eq!(causes, [(Cause::Switch, 1), (Cause::Decision, 3)]);
    // Another CPU's work is no reason.
    assert!(!verdict_with(&[work(10, SchedulingOverhead, 1, 1, 4, 0)]).clean);
}

#[test]
fn a_release_timer_excuses_the_jobs_it_releases() {
    use EventKind::*;
    let definition = definition_of(set_of(&[(5, 50)]), 1, 49);
    let with_timer = |due: u64| {
        let records = vec![
            record(0, Release, NONE, 100, 1, T0 + 50),
            work(4, ReleaseOverhead, 0, NONE, 2, T0 + due),
            work(6, SchedulingOverhead, 0, 0, 1, 0),
            work(7, SwitchOverhead, 0, 0, 1, 0),
            record(8, Resume, 0, 100, 1, 0),
            record(13, Complete, 0, 100, 1, 0),
            record(49, Preempt, 0, 100, 1, 0),
        ];
        verify(&definition, &converted(records, &origin(1, 1)))
    };
    let verdict = with_timer(0);
    // What the handler takes is not the job's, which had not begun; demand is exact.
    assert_eq!(verdict.violations_count(), 0, "{verdict}");
    // A timer that was set for later is the scheduler's fault.
    assert_eq!(with_timer(2).violations[0].unexplained_ns, Some(6));
}

#[test]
fn a_decision_has_in_its_hands_what_it_takes() {
    use EventKind::*;
    let decision = |task, end: u64| work(5, SchedulingOverhead, 0, task, end - 5, 0);
    let taken = |end| {
        let records = vec![
            record(0, Release, NONE, 100, 1, T0 + 20),
            decision(0, end),
            record(9, Resume, 0, 100, 1, 0),
            work(19, SchedulingOverhead, 0, NONE, 1, 0),
        ];
        let activities = converted(records, &origin(1, 1)).activities;
        activities.contains(&Activity { about: About::Task(0), ..activity(5, 9, Cause::Decision) })
    };
    assert!(taken(9));
    assert!(!taken(8), "it only said which job is next");
}

#[test]
fn a_job_that_is_awake_without_budget_does_not_wait_for_a_cpu() {
    use EventKind::*;
    let definition = definition_of(set_of(&[(5, 20)]), 1, 19).with_budgets(BudgetRule::Followed);
    let verdict_of = |records: Vec<Record>| verify(&definition, &converted(records, &origin(1, 1)));
    let mut records = vec![
        record(0, Release, NONE, 100, 1, T0 + 20),
        record(0, Throttle, NONE, 100, 1, 0),
        record(6, Replenish, NONE, 100, 1, T0 + 30),
        record(6, Resume, 0, 100, 1, 0),
        record(11, Complete, 0, 100, 1, 0),
        work(19, SchedulingOverhead, 0, NONE, 1, 0),
    ];
    let verdict = verdict_of(records.clone());
    assert!(verdict.clean, "{verdict}");
    records.remove(1);
    assert_eq!(verdict_of(records).violations[0].unexplained_ns, Some(6));
}

/// Its budget ends as it goes to sleep; it wakes up behind other work, and its CPU decides again before it has run.
#[test]
fn a_job_that_has_woken_up_without_budget_is_throttled_off_its_cpu() {
    use EventKind::*;
    let platform = Platform::symmetric(1).expect("valid");
    let rule = PriorityRule::EarliestDeadlineFirst;
    let definition = Definition::global(set_of(&[(5, 20)]), &platform, rule, Duration::from_ns(30));
    let definition = definition.expect("valid").with_budgets(BudgetRule::THROTTLE);
    let schedule_of = |slept: u64| {
        let records = vec![
            record(0, Release, NONE, 100, 1, T0 + 20),
            record(0, Resume, 0, 100, 1, 0),
            record(slept, Preempt, 0, 100, 1, 0),
            record(slept, Block, 0, 100, 1, 0),
            work(slept, BackgroundStart, 0, NONE, 7, 1),
            record(8, Wake, NONE, 100, 1, 0),
            work(10, BackgroundStop, 0, NONE, 7, 1),
            record(10, Throttle, 0, 100, 1, 0),
            record(20, Replenish, NONE, 100, 1, T0 + 40),
            work(10, SchedulingOverhead, 0, NONE, 1, 0),
            record(20, Resume, 0, 100, 1, 0),
            record(22, Complete, 0, 100, 1, 0),
            record(20, Release, NONE, 100, 2, T0 + 40),
            record(22, Resume, 0, 100, 2, 0),
            record(24, Complete, 0, 100, 2, 0),
            work(30, SchedulingOverhead, 0, NONE, 1, 0),
        ];
        converted(records, &origin(1, 1))
    };
    let schedule = schedule_of(5);
    assert_eq!(
        lines(&schedule)[2..6],
        [
            "5 block cpu0 T0.0 -",
            "5 background-start cpu0 T-.- 7",
            "8 wake cpu- T0.0 -",
            "10 throttle cpu- T0.0 -"
        ]
    );
    assert_eq!(schedule.notes.as_slice(), &[] as &[String]);
    let verdict = verify(&definition, &schedule);
    assert!(verdict.clean, "{verdict}");
    let early = verify(&definition, &schedule_of(4));
    assert_eq!(early.violations[0].oracle, Oracle::Budgets, "{early}");
}

#[test]
fn a_cpu_that_was_not_seen_changing_hands_is_counted() {
    use EventKind::*;
    let records = vec![
        work(1, BackgroundStart, 0, NONE, 7, 1),
        // What the kernel thread did is not known, nor when it left: it does not excuse until the next one leaves.
        work(10, Ipi, 0, NONE, UNSEEN, T0 + 4),
        record(10, Resume, 0, 100, 1, 0),
        work(20, Ipi, 0, NONE, 1, T0 + 17),
        record(20, Preempt, 0, 100, 1, 0),
        work(21, BackgroundStop, 0, NONE, 8, 0),
    ];
    let schedule = converted(records, &origin(1, 1));
    let of = |cause: Cause| -> Vec<Activity> {
        schedule.activities.iter().filter(|one| one.cause == cause).copied().collect()
    };
    assert_eq!(of(Cause::Unseen), [activity(7, 10, Cause::Unseen)], "as long as the longest that was seen");
    assert_eq!(of(Cause::Interrupt), [activity(17, 20, Cause::Interrupt)]);
    assert_eq!(of(Cause::KernelThread), []);
    assert!(schedule.notes[1].starts_with("1 record missing"), "{:?}", schedule.notes);
}

#[test]
fn jobs_behind_one_that_is_not_over_are_released_all_the_same() {
    use EventKind::*;
    let definition = definition_of(set_of(&[(8, 10)]), 1, 25);
    let records = vec![
        record(0, Release, NONE, 100, 1, T0 + 10),
        record(0, Resume, 0, 100, 1, 0),
        record(25, Preempt, 0, 100, 1, 0),
    ];
    let verdict = verify(&definition, &converted(records, &origin(1, 1)));
    assert_eq!(verdict.count(Oracle::Periods), 0, "{verdict}");
    assert_eq!(verdict.count(Oracle::Deadlines), 0, "{verdict}");
}

#[test]
fn what_has_left_a_cpu_at_the_end_is_followed_by_a_decision() {
    use EventKind::*;
    let left_at_the_end = |decided: bool| {
        let mut records = vec![record(1, Resume, 0, 100, 1, 0), record(15, Complete, 0, 100, 1, 0)];
        records.extend(decided.then(|| work(16, SchedulingOverhead, 0, NONE, 1, 0)));
        records.push(work(19, SchedulingOverhead, 1, NONE, 1, 0));
        converted(records, &origin(1, 2)).activities
    };
    assert_eq!(left_at_the_end(false)[0], activity(15, 19, Cause::Decision));
    assert_eq!(left_at_the_end(true)[0], activity(15, 17, Cause::Decision), "it idles from then on");
}

/// The budget of 5 is used up at 5, and ended at 12: the timer went off at 8, the CPU decided at 12.
fn budget_ended_late(set_to: u64, kicked: u64) -> (Schedule, laxity_oracle::Verdict) {
    use EventKind::*;
    let definition = definition_of(set_of(&[(5, 20)]), 1, 19).with_budgets(BudgetRule::THROTTLE);
    let records = vec![
        record(0, Release, NONE, 100, 1, T0 + 20),
        record(0, Resume, 0, 100, 1, 0),
        work(8, Ipi, 0, NONE, OVERDUE, T0 + set_to),
        work(12, Ipi, 0, NONE, 0, T0 + kicked),
        record(12, Throttle, 0, 100, 1, 0),
        work(12, SchedulingOverhead, 0, NONE, 1, 0),
        record(13, Preempt, 0, 100, 1, 0),
        work(18, SchedulingOverhead, 0, NONE, 1, 0),
    ];
    let schedule = converted(records, &origin(1, 1));
    let verdict = verify(&definition, &schedule);
    (schedule, verdict)
}

#[test]
fn a_budget_timer_that_is_late_is_why_its_budget_ends_late() {
    let (schedule, verdict) = budget_ended_late(5, 8);
    assert!(schedule.activities.contains(&activity(5, 8, Cause::BudgetTimer)), "{:?}", schedule.activities);
    assert_eq!((schedule.windows.budget_timer.count, schedule.windows.budget_timer.longest_ns), (1, 3));
    assert_eq!(schedule.windows.interrupt.longest_ns, 4, "the timer is none of the interrupt's");
    assert_eq!(schedule.events.iter().filter(|event| event.kind == EventKind::Ipi).count(), 1);
    assert_eq!(verdict.count(Oracle::Budgets), 0, "{verdict}");
    assert_eq!(verdict.overruns.map(|overruns| (overruns.count, overruns.longest_ns)), Some((1, 7)));
    for (set_to, kicked, unexplained) in [(6, 8, 1), (5, 10, 2), (7, 11, 5)] {
        let (_, verdict) = budget_ended_late(set_to, kicked);
        assert_eq!(verdict.count(Oracle::Budgets), 1, "{verdict}");
        let found = verdict.violations.iter().find(|one| one.oracle == Oracle::Budgets);
        assert_eq!(found.and_then(|one| one.unexplained_ns), Some(unexplained), "{verdict}");
    }
}
