//! Operations of different CPUs interleave at the granularity of their locks and messages, in an order drawn from a seed.

mod common;

use common::{Case, timeline};
use laxity_model::{Platform, Policy, PolicyScheduler, PriorityRule, Scope};
use laxity_sim::{Recording, costs::Costs};
use laxity_trace::{EventKind, Job};
use std::collections::BTreeMap;

fn global(policy: Policy) -> PolicyScheduler {
    PolicyScheduler { policy, scope: Scope::Global, rule: PriorityRule::EarliestDeadlineFirst }
}

/// How often each kind of event occurs over the seeds, and in how many the schedule is not the textbook's.
fn provoke(policy: Policy, retries: u32, seeds: std::ops::Range<u64>) -> (BTreeMap<&'static str, u64>, u64) {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut different = 0;
    for seed in laxity_seeds::seeds!(seeds) {
        let case = Case::random(seed);
        let cores = case.cores + u32::from(policy.dedicates_a_core());
        let textbook = timeline(&case.simulate(global(policy), cores).events);
        let run = |interleaving| {
            case.simulate_with(global(policy), cores, |setup| {
                setup.interleaving = Some(interleaving);
                setup.retries_max = retries;
            })
        };
        let provoked = run(seed);
        assert_eq!(provoked.events, run(seed).events, "seed {seed}: the same seed, another trace");
        let mut of_run: BTreeMap<&'static str, u64> = BTreeMap::new();
        for event in &provoked.events {
            *of_run.entry(event.kind.name()).or_default() += 1;
        }
        let found = timeline(&provoked.events);
        if found != textbook {
            different += 1;
            let excused = [EventKind::PushAbandoned, EventKind::PushFailed, EventKind::PullFailed]
                .iter()
                .any(|kind| of_run.contains_key(kind.name()));
            assert!(policy == Policy::PushPull && excused, "seed {seed}: {}", case.describe());
        }
        for (kind, count) in of_run {
            *counts.entry(kind).or_default() += count;
        }
    }
    (counts, different)
}

#[test]
fn one_lock_keeps_the_textbook_schedule() {
    for policy in [Policy::EdfBh, Policy::EdfRbt, Policy::Fpp, Policy::GsnEdf, Policy::GsnEdfDi] {
        let (_, different) = provoke(policy, 3, 0..300);
        assert_eq!(different, 0, "{policy}");
    }
}

#[test]
fn messages_go_stale_and_links_are_swapped_but_the_schedule_is_the_textbooks() {
    let (counts, different) = provoke(Policy::GEdfMp, 3, 0..1000);
    println!("{counts:?}");
    assert_eq!(different, 0);
    laxity_seeds::assert_together!(
        counts.get("link-swap").is_some_and(|&n| n > 0),
        "no link swap: {counts:?}"
    );
    laxity_seeds::assert_together!(
        counts.get("stale-message").is_some_and(|&n| n > 0),
        "no stale message: {counts:?}"
    );
}

#[test]
fn pushes_fail_and_the_retry_limit_bites() {
    let (counts, different) = provoke(Policy::PushPull, 1, 0..1000);
    println!("{different} different: {counts:?}");
    laxity_seeds::assert_together!(
        counts.get("push-failed").is_some_and(|&n| n > 0),
        "no failed push: {counts:?}"
    );
    laxity_seeds::assert_together!(
        counts.get("push-abandoned").is_some_and(|&n| n > 0),
        "no abandoned push: {counts:?}"
    );
    laxity_seeds::assert_together!(different > 0, "the limit never bites");
}

/// An observer of events sees the schedule that there is without it: the same jobs with and without events, with
/// costs too.
#[test]
fn watching_changes_nothing() {
    for seed in laxity_seeds::seeds!(0..100) {
        let mut case = Case::random(seed);
        case.costs = Costs {
            scheduling: "uniform:50ns,150ns".parse().expect("a cost"),
            release: "100ns".parse().expect("a cost"),
            ipi: "30ns".parse().expect("a cost"),
            ..Costs::default()
        };
        let platform = Platform::symmetric(case.cores + 1).expect("cores");
        for policy in [Policy::PushPull, Policy::GEdfMp, Policy::EdfBh] {
            let mut jobs: Vec<Job> = Vec::new();
            let mut watched = Recording::default();
            case.simulate_to(global(policy), &platform, |setup| setup.interleaving = Some(seed), &mut jobs);
            case.simulate_to(
                global(policy),
                &platform,
                |setup| setup.interleaving = Some(seed),
                &mut watched,
            );
            assert_eq!(jobs, watched.jobs, "seed {seed}, {policy}");
        }
    }
}
