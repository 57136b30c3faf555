//! Schedules that follow their definition are never accused.

use crate::random::{ANY, Case, Wish, case};
use laxity_model::OnMiss;
use laxity_oracle::{BudgetRule, Oracle, reference, verify};

fn accused(Case { definition, end, seed }: &Case) -> Option<String> {
    let schedule = reference(definition, &definition.jobs(), *end).expect("the reference can make it");
    let verdict = verify(definition, &schedule.events, *end);
    (!verdict.clean).then(|| {
        let events: Vec<String> = schedule.events.iter().take(60).map(|event| format!("{event:?}")).collect();
        format!("seed {seed}: {verdict}\n{:?}\n{}", definition.set(), events.join("\n"))
    })
}

#[test]
fn the_reference_is_never_accused() {
    for seed in laxity_seeds::seeds!(0..6_000) {
        if let Some(text) = accused(&case(seed, ANY)) {
            panic!("{text}");
        }
    }
}

#[test]
fn nor_with_budgets_and_without_slow_cores() {
    for (mode, from) in [(BudgetRule::THROTTLE, 10_000), (BudgetRule::POSTPONE, 20_000)] {
        for seed in laxity_seeds::seeds!(from..from + 1_500) {
            let wish = Wish { budget_mode: Some(mode), slower_cores: false, ..ANY };
            if let Some(text) = accused(&case(seed, wish)) {
                panic!("{text}");
            }
        }
    }
}

#[test]
fn nor_where_late_jobs_do_not_run_on() {
    for (on_miss, from) in [(OnMiss::Abort, 30_000), (OnMiss::Skip, 40_000)] {
        for seed in laxity_seeds::seeds!(from..from + 3_000) {
            let case = case(seed, ANY);
            if let Some(text) = accused(&Case { definition: case.definition.with_on_miss(on_miss), ..case }) {
                panic!("{on_miss}, {text}");
            }
        }
    }
}

#[test]
fn every_oracle_has_something_to_check() {
    let Case { definition, end, .. } =
        case(3, Wish { budget_mode: Some(BudgetRule::THROTTLE), cpus_min: 2, ..ANY });
    let schedule = reference(&definition, &definition.jobs(), end).expect("the reference can make it");
    let verdict = verify(&definition, &schedule.events, end);
    for oracle in Oracle::ALL {
        let finding = verdict.findings.iter().find(|finding| finding.oracle == oracle).expect("one for each");
        assert!(finding.checked > 0, "{}: {verdict}", oracle.name());
    }
}
