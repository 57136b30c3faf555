//! Plans from damaged `plan.json` files, with bytes changed, cut, doubled and spliced. Reading never panics, every refusal says
//! what to do, and whatever is accepted survives being written and read again, has its table, and compares with a machine.
//!
//! The damage is a function of the plan's name and the round, so a failure repeats. `fuzz/` searches deeper.

#[path = "../../laxity-model/tests/damage/mod.rs"]
mod damage;
mod plans;

use damage::Damage;
use laxity_deploy::{CgroupVersion, DeployPlan, Observed, differences};
use std::panic::catch_unwind;

/// Damaged copies of each plan.
const ROUNDS: u64 = 4_000;

/// What must hold for any text; whether it is a plan.
fn check(text: &str) -> bool {
    match DeployPlan::from_json(text) {
        Ok(plan) => {
            assert_eq!(DeployPlan::from_json(&plan.to_json()).as_ref(), Ok(&plan));
            assert_eq!(plan.rows().len(), plan.threads.len());
            let found = Observed {
                policy: 1,
                flags: 0,
                nice: 0,
                priority: 1,
                runtime_ns: 0,
                deadline_ns: 0,
                period_ns: 0,
                cpus: plan.machine_cpus.clone(),
                cpuset: None,
            };
            for thread in &plan.threads {
                let _ = (differences(&plan, thread, &found), plan.cgroup_of(thread));
            }
            let _ = (plan.linger(), plan.other_cpus());
            true
        }
        Err(error) => {
            assert!(!error.message.is_empty() && error.hint.is_some(), "a bare error: {error}");
            assert!(error.message.len() < 10_000, "an error of {} bytes", error.message.len());
            false
        }
    }
}

fn damaged(name: &str, plan: &DeployPlan) {
    let whole = plan.to_json();
    assert!(check(&whole), "{name} itself is read");
    let mut accepted = 0;
    for round in 0..ROUNDS {
        let seed = name.bytes().fold(round, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let mut bytes = whole.as_bytes().to_vec();
        Damage::of(seed).inflict(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let outcome = catch_unwind(|| check(&text));
        assert!(outcome.is_ok(), "round {round} of {name} fails on:\n{text}");
        accepted += u64::from(outcome.unwrap_or(false));
    }
    assert!(accepted >= 10, "{name}: only {accepted} of {ROUNDS} copies are read");
}

#[test]
fn plans_of_fifo_threads() {
    damaged("fifo", &plans::fifo());
}

#[test]
fn plans_of_reservations_in_cpusets() {
    damaged("reserved", &plans::reserved(CgroupVersion::V2));
}
