//! With costs, every policy's schedule deviates from its definition only where costs explain that, to the ns: random
//! systems and costs of every kind, with and without interleaving, budgets, batching and ticks.
//!
//! `LAXITY_SEEDS=1000..9000 cargo test --release -p laxity-sim --test cost_windows` tries others, with
//! `LAXITY_POLICY=push-pull` under one policy.

mod common;

use common::costly::check;
use laxity_model::Policy;
use laxity_seeds::seeds;
use std::ops::Range;

/// The policy asked for, or all.
fn policies() -> Vec<Policy> {
    let all = Policy::GENERAL.iter().copied().chain([Policy::Edzl]);
    let Ok(name) = std::env::var("LAXITY_POLICY") else { return all.collect() };
    let policies: Vec<Policy> = all.filter(|policy| policy.name() == name).collect();
    assert!(!policies.is_empty(), "LAXITY_POLICY={name} is no policy");
    policies
}

fn check_all(cores: u32, usual: Range<u64>) {
    let (mut runs, mut tolerated, policies) = (0u64, 0u64, policies());
    for seed in seeds!(usual) {
        for &policy in &policies {
            tolerated += check(seed, cores, policy).tolerated.count;
            runs += 1;
        }
    }
    println!("{runs} runs, {tolerated} transitions");
    laxity_seeds::assert_together!(
        tolerated > 100 * runs,
        "costs explained {tolerated} transitions only in {runs} runs"
    );
}

#[test]
fn on_1_core() {
    check_all(1, 0..200);
}

#[test]
fn on_2_cores() {
    check_all(2, 0..150);
}

#[test]
fn on_4_cores() {
    check_all(4, 0..100);
}

#[test]
fn on_16_cores() {
    check_all(16, 0..25);
}

#[test]
fn on_64_cores() {
    check_all(64, 0..6);
}
