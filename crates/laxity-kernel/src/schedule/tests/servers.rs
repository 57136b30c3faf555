//! Background work goes before a job by its server: for as long as that has a budget, whatever was said.

use super::*;
use crate::RunningServer;

/// A job of 15 that background work keeps from its CPU in `[14, 24)`, and says why.
fn records(why: u64) -> Vec<Record> {
    use EventKind::*;
    vec![
        // In the same period, before there was a job.
        work(1, BackgroundStart, 0, NONE, 7, 0),
        work(3, BackgroundStop, 0, NONE, 7, 0),
        work(3, SchedulingOverhead, 0, NONE, 1, 0),
        record(5, Release, NONE, 100, 1, T0 + 55),
        work(5, SchedulingOverhead, 0, 3, 1, 0),
        work(6, SwitchOverhead, 0, 3, 1, 0),
        record(7, Resume, 0, 100, 1, 0),
        record(12, Preempt, 0, 100, 1, 0),
        work(12, SchedulingOverhead, 0, 3, 1, 0),
        work(14, BackgroundStart, 0, NONE, 7, why),
        work(24, BackgroundStop, 0, NONE, 7, why),
        work(24, SchedulingOverhead, 0, 3, 1, 0),
        work(25, SwitchOverhead, 0, 3, 1, 0),
        record(26, Resume, 0, 100, 1, 0),
        record(36, Complete, 0, 100, 1, 0),
        work(36, SchedulingOverhead, 0, NONE, 1, 0),
        work(45, SchedulingOverhead, 0, NONE, 1, 0),
    ]
}

/// The schedule where the server is of this size, with periods that count from time 0.
fn with_server(budget_ns: u64, why: u64) -> (Schedule, u64) {
    let server = RunningServer { cpu: 0, budget_ns, period_ns: 50, since_ns: T0 };
    let origin = Origin {
        tasks: vec![Member { deadline_rel_ns: 50, asked_deadline_ns: 50, ..member(0) }],
        servers: vec![server],
        ..origin(1, 1)
    };
    let task = Task { phase: Duration::from_ns(5), ..set_of(&[(15, 50)]).tasks()[0].clone() };
    let set = TaskSet::new("set", vec![task]).expect("valid");
    let schedule = converted(records(why), &origin);
    let verdict = verify(&definition_of(set, 1, 45), &schedule);
    let late = verdict.violations.iter().filter(|violation| violation.oracle == Oracle::WorkConservation);
    let unexplained = late.map(|violation| violation.unexplained_ns.unwrap_or(0)).sum();
    (schedule, unexplained)
}

#[test]
fn a_server_excuses_while_it_has_a_budget() {
    // 2 were used in the background, 10 are used before the job.
    for why in [0, 4] {
        for (budget, beyond) in [(12, 0), (11, 1), (7, 5), (3, 9), (2, 10)] {
            let (schedule, unexplained) = with_server(budget, why);
            // Only background work that says that a decision gave way to it was on its way since that
            // decision.
            let unsaid = u64::from(why == 0);
            assert_eq!(unexplained, beyond + unsaid, "a budget of {budget}, said: {why}");
            assert_eq!(schedule.windows.server.total_ns, budget, "a budget of {budget}, said: {why}");
        }
    }
    // The reserve is another reason.
    assert_eq!(with_server(3, 3).1, 0);
}

/// Periods count from when the server began, not from the release.
#[test]
fn a_new_period_has_a_new_budget() {
    let server = |since_ns| RunningServer { cpu: 0, budget_ns: 4, period_ns: 10, since_ns };
    let parts = |since_ns| {
        let origin = Origin { servers: vec![server(since_ns)], ..origin(1, 1) };
        let activities = converted(records(4), &origin).activities;
        let by_server = activities.into_iter().filter(|activity| activity.cause == Cause::Server);
        by_server.map(|activity| (activity.from_ns, activity.to_ns)).collect::<Vec<_>>()
    };
    assert_eq!(parts(T0 - 10), [(1, 3), (14, 18), (20, 24)]);
    assert_eq!(parts(T0 - 5), [(1, 3), (14, 19)]);
}
