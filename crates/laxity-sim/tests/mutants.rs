//! Policies that are broken on purpose: each is the real source with one change, built by the C compiler and run by the
//! simulator, and the oracles must say what is wrong with its schedules.

mod common;

use common::broken::{
    FILLS_IDLE_CLIENTS, GOES_TO_ITS_OWN_LIST, Mutant, NEVER_PREEMPTS, NEVER_YIELDS, OFFERS_NOTHING,
    PREEMPTS_THE_EARLIEST, RELEASED_JOBS_WAIT, build, mutant,
};
use common::{Case, definition_of};
use laxity_model::{BudgetMode, Demand, Policy, PolicyScheduler, PriorityRule, Scope};
use laxity_oracle::{Oracle, Verdict, verify};
use laxity_policy::Table;
use std::collections::BTreeMap;

const MUTANTS: [Mutant; 16] = [
    mutant(
        "ties go to the higher task",
        Policy::EdfBh,
        "core.h",
        "((key_a == key_b) & (a < b))",
        "((key_a == key_b) & (a > b))",
    ),
    mutant(
        "the later deadline goes first",
        Policy::EdfBh,
        "core.h",
        "return (key_a < key_b) |",
        "return (key_a > key_b) |",
    ),
    NEVER_PREEMPTS,
    mutant(
        "the preempted job is forgotten",
        Policy::EdfBh,
        "linking.h",
        "\t\tLX_Q(insert_first)(s, preempted);",
        "\t\t(void)preempted;",
    ),
    mutant(
        "a CPU that completes takes no other job",
        Policy::EdfRbt,
        "linking.h",
        "\tif (top == LX_NONE) {",
        "\tif (top != LX_NEVER) {",
    ),
    PREEMPTS_THE_EARLIEST,
    mutant(
        "deadlines count from 0",
        Policy::GsnEdf,
        "core.h",
        "\tt->deadline_abs_ns = release_at + t->deadline_rel_ns;",
        "\tt->deadline_abs_ns = t->deadline_rel_ns;",
    ),
    RELEASED_JOBS_WAIT,
    mutant(
        "promotions are forgotten",
        Policy::Fpp,
        "queues/promotions.h",
        "\tlx_promotions_promote(s, level, key, task);",
        "\t(void)key;",
    ),
    GOES_TO_ITS_OWN_LIST,
    mutant(
        "tardy jobs are queued as punctual ones",
        Policy::Fpp,
        "queues/promotions.h",
        "if (LX_UNLIKELY(lx_promotions_is_late(s, list, key, task))) {",
        "if (0 && list) {",
    ),
    OFFERS_NOTHING,
    NEVER_YIELDS,
    FILLS_IDLE_CLIENTS,
    Mutant {
        budgets: BudgetMode::Throttle,
        ..mutant(
            "a throttled job comes back at once",
            Policy::EdfBh,
            "core.h",
            "t->replenished_at < now ? now : t->replenished_at;",
            "t->replenished_at != LX_NEVER ? now : 0;",
        )
    },
    Mutant {
        budgets: BudgetMode::Postpone,
        ..mutant(
            "a postponed job keeps its deadline",
            Policy::Fpp,
            "core.h",
            "t->deadline_abs_ns + t->period_ns};",
            "t->deadline_abs_ns};",
        )
    },
];

/// What the oracles say of the policy's schedule of a random set.
fn verdict(table: Table, policy: Policy, budgets: BudgetMode, seed: u64) -> Verdict {
    let mut case = Case::random(seed);
    if budgets != BudgetMode::Off {
        case.budget_mode = budgets;
        case.demand = Demand::Uniform(300_000, 2_500_000);
    }
    let rule = PriorityRule::EarliestDeadlineFirst;
    let scheduler = PolicyScheduler { policy, scope: Scope::Global, rule };
    let cores = case.cores + u32::from(policy.dedicates_a_core());
    let recording = case.simulate_with(scheduler, cores, |setup| setup.table = Some(table));
    let horizon = case.duration.as_ns() + common::GRACE_NS;
    verify(&definition_of(&case, scheduler, cores), &recording.events, horizon)
}

/// What the oracles say of the broken policy's schedules of some random sets: violations by oracle.
fn sightings(table: Table, policy: Policy, budgets: BudgetMode) -> BTreeMap<&'static str, u64> {
    let mut seen: BTreeMap<&'static str, u64> = BTreeMap::new();
    for seed in laxity_seeds::seeds!(0..40) {
        let verdict = verdict(table, policy, budgets, seed);
        for oracle in Oracle::ALL {
            *seen.entry(oracle.name()).or_default() += verdict.count(oracle);
        }
    }
    seen.retain(|_, count| *count > 0);
    seen
}

#[test]
fn every_broken_policy_is_caught() {
    let directory = tempfile::tempdir().expect("a directory");
    for (number, mutant) in MUTANTS.iter().enumerate() {
        let table = build(directory.path(), number, Some(mutant), mutant.policy);
        let seen = sightings(table, mutant.policy, mutant.budgets);
        println!("{} ({}): {seen:?}", mutant.what, mutant.policy);
        laxity_seeds::assert_together!(
            !seen.is_empty(),
            "`{}` ({}) went unnoticed",
            mutant.what,
            mutant.policy
        );
    }
    for (number, policy) in Policy::GENERAL.iter().copied().enumerate() {
        let table = build(directory.path(), MUTANTS.len() + number, None, policy);
        for seed in laxity_seeds::seeds!(0..40) {
            let verdict = verdict(table, policy, BudgetMode::Off, seed);
            assert!(verdict.clean, "{policy} as it is: {verdict}");
        }
    }
}
