//! All ready queues and all lock structures give the same schedule when decisions take no time.

mod common;

use common::{Case, timeline};
use laxity_model::{Policy, PolicyScheduler, PriorityRule, Scope};

/// Policies that dedicate a CPU run their tasks on the others.
fn dedicated(policy: Policy, m: u32) -> u32 {
    m + u32::from(policy.dedicates_a_core())
}

fn agree(rule: PriorityRule, seeds: std::ops::Range<u64>) {
    for seed in laxity_seeds::seeds!(seeds) {
        let case = Case::random(seed);
        let run = |policy: Policy| {
            let scheduler = PolicyScheduler { policy, scope: Scope::Global, rule };
            timeline(&case.simulate(scheduler, dedicated(policy, case.cores)).events)
        };
        let expected = run(Policy::EdfBh);
        assert!(!expected.is_empty(), "seed {seed}: nothing ran");
        for &policy in Policy::GENERAL {
            let found = run(policy);
            if found != expected {
                let first = expected.iter().find(|(job, runs)| found.get(job) != Some(runs));
                panic!(
                    "seed {seed}, {policy}: {first:?} in edf-bh but {:?}; {}",
                    first.map(|(job, _)| found.get(job)),
                    case.describe()
                );
            }
        }
    }
}

#[test]
fn under_edf() {
    agree(PriorityRule::EarliestDeadlineFirst, 0..1500);
}

#[test]
fn under_rate_monotonic_priorities() {
    agree(PriorityRule::RateMonotonic, 10_000..10_500);
}

#[test]
fn under_given_priorities() {
    agree(PriorityRule::Given, 20_000..20_500);
}
