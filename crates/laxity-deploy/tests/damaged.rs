//! Plans from damaged `plan.json` files, with bytes changed, cut, doubled and spliced. Reading never panics, every refusal says
//! what to do, and whatever is accepted survives being written and read again, has its table, and compares with a machine.

mod plans;

use laxity_deploy::{CgroupVersion, DeployPlan, Observed, differences};
use laxity_seeds::{assert_complete, assert_together, read_damaged, seeds};

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
            assert_complete(&error.message, error.hint.as_deref());
            false
        }
    }
}

fn damaged(name: &str, plan: &DeployPlan) {
    let accepted = read_damaged(name, &plan.to_json(), seeds!(0..ROUNDS), check);
    assert_together!(accepted >= 10, "{name}: only {accepted} of {ROUNDS} copies are read");
}

#[test]
fn plans_of_fifo_threads() {
    damaged("fifo", &plans::fifo());
}

#[test]
fn plans_of_reservations_in_cpusets() {
    damaged("reserved", &plans::reserved(CgroupVersion::V2));
}
