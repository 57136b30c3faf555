//! Budgets at instants where several things happen, by hand.

use crate::written::{edf, trace};
use laxity_model::{Arrival, Duration, Platform, Task, TaskSet};
use laxity_oracle::{
    About, Activity, BudgetRule, Cause, Definition, Oracle, Verdict, verify, verify_measured,
};

/// Tasks (4, 20) and (2, 10), changed, on one CPU under EDF with throttling; jobs ask for half as much again as their
/// budget. Releases in the first 12 us.
fn definition(change: impl FnOnce(&mut Vec<Task>)) -> Definition {
    let mut tasks = edf(&[(4, 20), (2, 10)], 1, 12).set().tasks().to_vec();
    change(&mut tasks);
    let set = TaskSet::new("written", tasks).expect("valid");
    let rule = laxity_model::PriorityRule::EarliestDeadlineFirst;
    let platform = Platform::symmetric(1).expect("valid");
    Definition::global(set, &platform, rule, Duration::from_us(12))
        .expect("valid")
        .with_jobs(0, "1.5".parse().expect("a demand"))
        .with_budgets(BudgetRule::THROTTLE)
}

fn verdict(definition: &Definition, text: &str) -> Verdict {
    verify(definition, &trace(text), 13_000)
}

const OVERRUN: &str = "
    0 release 0.0 20
    0 release 1.0 10
    0 start 1.0 on 0
    2 throttle 1.0 on 0
    2 start 0.0 on 0
    6 throttle 0.0 on 0
    10 release 1.1 20
    10 replenish 1.0 20
    10 resume 1.0 on 0
    10 deadline-miss 1.0
    11 complete 1.0 10 on 0
    11 start 1.1 on 0
    12 throttle 1.1 on 0";

#[test]
fn a_job_behind_an_overrun_lives_on_what_is_left() {
    let definition = definition(|_| {});
    let verdict = self::verdict(&definition, OVERRUN);
    assert!(verdict.clean, "{verdict}");
    let later = OVERRUN.replace("12 throttle", "13 throttle");
    assert_eq!(self::verdict(&definition, &later).count(Oracle::Budgets), 1);
}

#[test]
fn a_job_stopped_when_its_budget_ends_has_used_it_up() {
    // At 4 the budget of 0.0 is used up and 1.0 arrives. Whichever is seen first, 0.0 waits until 20.
    let definition = definition(|tasks| tasks[1].phase = Duration::from_us(4));
    let preempted = "
        0 release 0.0 20
        0 start 0.0 on 0
        4 release 1.0 14
        4 preempt 0.0 on 0
        4 start 1.0 on 0
        6 throttle 1.0 on 0";
    for text in [preempted.to_owned(), preempted.replace("4 start", "4 throttle 0.0 on 0\n 4 start")] {
        let verdict = verdict(&definition, &text);
        assert!(verdict.clean, "{verdict}");
    }
    // It runs while it waits for budget, and runs longer than the next one lasts.
    let resumed = verdict(&definition, &format!("{preempted}\n 6 resume 0.0 on 0"));
    assert_eq!(resumed.count(Oracle::Budgets), 2, "{resumed}");
}

#[test]
fn a_replenishment_in_the_past_postpones() {
    // 1.0 begins to run at 9; its budget ends at 11, after its server period has.
    let definition = definition(|tasks| {
        let first = Task::periodic("t0", Duration::from_us(9), Duration::from_us(9));
        let demand = Some("1".parse().expect("a demand"));
        tasks[0] = Task { leave: Some(Duration::from_us(5)), demand, ..first };
    });
    let text = "
        0 release 0.0 9
        0 release 1.0 10
        0 start 0.0 on 0
        9 complete 0.0 9 on 0
        9 start 1.0 on 0
        10 release 1.1 20
        10 deadline-miss 1.0
        11 postpone 1.0 20 on 0
        12 complete 1.0 10 on 0
        12 start 1.1 on 0";
    let right = verdict(&definition, text);
    assert!(right.clean, "{right}");
    let wrong = verdict(&definition, &text.replace("postpone 1.0 20", "postpone 1.0 30"));
    assert_eq!(wrong.count(Oracle::Budgets), 1, "{wrong}");
}

/// In a real kernel a sporadic task's job comes by its waking up, which may end a server period (policy/wake_up.h).
#[test]
fn waking_up_begins_a_server_period_if_too_much_is_left_of_the_last_one() {
    let task = Task {
        arrival: Arrival::Sporadic { min_interarrival: Duration::from_us(10) },
        ..Task::periodic("t0", Duration::from_us(2), Duration::from_us(10))
    };
    let set = TaskSet::new("written", vec![task]).expect("valid");
    let rule = laxity_model::PriorityRule::EarliestDeadlineFirst;
    let platform = Platform::symmetric(1).expect("valid");
    let definition = Definition::global(set, &platform, rule, Duration::from_us(40))
        .expect("valid")
        .with_budgets(BudgetRule::THROTTLE);
    let judge = |text: &str| {
        verify_measured(&definition, &trace(text), &[], Duration::from_us(1), Duration::from_us(40).as_ns())
    };
    // The second server period lasts until 20, and 1 of its 2 is used.
    let text = "
        0 release 0.0 10
        0 start 0.0 on 0
        2 throttle 0.0 on 0
        10 replenish 0.0 20
        10 resume 0.0 on 0
        10 deadline-miss 0.0
        11 complete 0.0 10 on 0
        18 release 0.1 28
        18 start 0.1 on 0
        20 throttle 0.1 on 0
        28 replenish 0.1 38
        28 resume 0.1 on 0
        28 deadline-miss 0.1
        29 complete 0.1 28 on 0";
    let right = judge(text);
    assert!(right.clean, "{right}");
    // Until 20 there is room for what is left: the job would go on, with what is left.
    let early = judge(
        &text
            .replace("18 ", "13 ")
            .replace("0.1 28\n", "0.1 23\n")
            .replace("20 throttle", "15 throttle")
            .replace("28 replenish 0.1 38", "23 replenish 0.1 33")
            .replace("29 complete 0.1 28", "24 complete 0.1 23")
            .replace("28 ", "23 "),
    );
    assert_eq!(early.count(Oracle::Budgets), 1, "{early}");
    // Another server period than the one that began with it.
    let wrong = judge(&text.replace("28 replenish 0.1 38", "30 replenish 0.1 40"));
    assert!(wrong.count(Oracle::Budgets) > 0, "{wrong}");
}

/// A real kernel ends the budget of 0.0, which was used up at 4, at 9; `activities` are `from to cpu cause`.
fn ended_late(mode: BudgetRule, activities: &[(u64, u64, u32, Cause)]) -> Verdict {
    let definition = definition(|tasks| tasks.truncate(1)).with_budgets(mode);
    let end = match mode {
        BudgetRule::POSTPONE => "postpone 0.0 40 on 0",
        _ => "throttle 0.0 on 0",
    };
    let events = trace(&format!("0 release 0.0 20\n 0 start 0.0 on 0\n 9 {end}"));
    let us = |at: u64| Duration::from_us(at).as_ns();
    let mut activities: Vec<Activity> = activities
        .iter()
        .map(|&(from, to, cpu, cause)| Activity {
            from_ns: us(from),
            to_ns: us(to),
            cpu,
            cause,
            about: About::Cpu,
        })
        .collect();
    activities.sort_by_key(|activity| activity.from_ns);
    // However late anything may be: it is no excuse by itself.
    verify_measured(&definition, &events, &activities, Duration::from_us(100), us(10))
}

const WAY: [(u64, u64, u32, Cause); 3] =
    [(4, 6, 0, Cause::BudgetTimer), (6, 8, 0, Cause::Interrupt), (8, 11, 0, Cause::Decision)];

#[test]
fn a_budget_may_end_late_while_that_is_under_way() {
    for mode in [BudgetRule::THROTTLE, BudgetRule::POSTPONE] {
        let verdict = ended_late(mode, &WAY);
        assert_eq!(verdict.count(Oracle::Budgets), 0, "{verdict}");
        let overruns = verdict.overruns.expect("one");
        assert_eq!((overruns.count, overruns.longest_ns, overruns.total_ns), (1, 5_000, 5_000));
        assert!(verdict.to_string().contains("1 budget ended late"), "{verdict}");
    }
}

#[test]
fn nothing_else_excuses_that_a_budget_ends_late() {
    let unexplained = |activities: &[(u64, u64, u32, Cause)]| {
        let verdict = ended_late(BudgetRule::THROTTLE, activities);
        assert_eq!(verdict.count(Oracle::Budgets), 1, "{activities:?}: {verdict}");
        let violation =
            verdict.violations.iter().find(|one| one.oracle == Oracle::Budgets).expect("kept").clone();
        assert_eq!((violation.from_ns, violation.to_ns, violation.cpu), (4_000, 9_000, Some(0)));
        violation.unexplained_ns.expect("known")
    };
    assert_eq!(unexplained(&[]), 5_000);
    // The timer was set to a later instant.
    assert_eq!(unexplained(&[(5, 6, 0, Cause::BudgetTimer), WAY[1], WAY[2]]), 1_000);
    // No interrupt asked the CPU to decide when the timer had gone off.
    assert_eq!(unexplained(&[WAY[0], WAY[2]]), 2_000);
    // It decided, and the job went on.
    assert_eq!(unexplained(&[WAY[0], WAY[1], (8, 8, 0, Cause::Decision)]), 1_000);
    // On another CPU.
    assert_eq!(unexplained(&WAY.map(|(from, to, _, cause)| (from, to, 1, cause))), 5_000);
    for cause in [Cause::KernelThread, Cause::ReleaseHandler, Cause::Queue, Cause::Unseen] {
        assert_eq!(unexplained(&[(0, 20, 0, cause)]), 5_000);
    }
}

/// What excuses one budget does not excuse the next one, nor the same one twice.
#[test]
fn every_budget_has_a_way_of_its_own() {
    let definition = definition(|tasks| tasks.truncate(1));
    let text = "
        0 release 0.0 20
        0 start 0.0 on 0
        3 preempt 0.0 on 0
        5 resume 0.0 on 0
        7 preempt 0.0 on 0
        8 resume 0.0 on 0
        9 throttle 0.0 on 0";
    let way = |from_us, to_us| Activity {
        from_ns: Duration::from_us(from_us).as_ns(),
        to_ns: Duration::from_us(to_us).as_ns(),
        cpu: 0,
        cause: Cause::BudgetTimer,
        about: About::Cpu,
    };
    let judge = |activities: &[Activity]| {
        verify_measured(&definition, &trace(text), activities, Duration::from_us(50), 10_000)
    };
    // Beyond its budget it ran from 6 to 7, and from 8 to 9.
    let both = judge(&[way(6, 7), way(8, 9)]);
    assert_eq!(both.count(Oracle::Budgets), 0, "{both}");
    assert_eq!(both.overruns.map(|overruns| (overruns.count, overruns.longest_ns)), Some((1, 2_000)));
    for one in [way(6, 7), way(8, 9)] {
        let verdict = judge(&[one]);
        assert_eq!(verdict.count(Oracle::Budgets), 1, "{verdict}");
    }
    assert_eq!(judge(&[way(6, 9)]).count(Oracle::Budgets), 0);
}
