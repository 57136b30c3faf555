//! Plans of what to set: `deploy/plan.json`, which `laxity deployed` reads.
#![no_main]

use laxity_deploy::DeployPlan;
use laxity_fuzz::{accepted, plan_survives};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(plan) = accepted(DeployPlan::from_json(text)) {
        plan_survives(&plan);
    }
});
