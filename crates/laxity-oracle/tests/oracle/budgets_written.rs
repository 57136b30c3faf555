//! Budgets at instants where several things happen, by hand.

use crate::written::{edf, trace};
use laxity_model::{Duration, Platform, Task, TaskSet};
use laxity_oracle::{BudgetMode, Definition, Oracle, Verdict, verify};

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
        .with_budgets(BudgetMode::Throttle)
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
