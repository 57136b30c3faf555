//! CPUs of different speeds: progress is exact, budgets count work, and the oracles agree.

mod common;

use common::{Case, GRACE_NS, definition_on};
use laxity_model::{
    BudgetMode, Core, Demand, OnMiss, Platform, Policy, PolicyScheduler, PriorityRule, Scope, Speed,
};
use laxity_oracle::verify;

fn platform(cores: u32, seed: u64) -> Platform {
    let speeds = [(1, 1), (223, 512), (3, 4), (2, 3), (2, 1)];
    let core = |cpu: u32| {
        let (above, below) = speeds[usize::try_from(seed + u64::from(cpu)).expect("small") % speeds.len()];
        Core { cpu, speed: Speed::new(above, below).expect("a fraction") }
    };
    Platform::new("mixed", (0..cores).map(core).collect(), vec![], vec![], None).expect("cores")
}

#[test]
fn every_policy_on_mixed_cores_under_every_budget_mode() {
    for seed in laxity_seeds::seeds!(0..120) {
        for mode in [BudgetMode::Off, BudgetMode::Throttle, BudgetMode::Postpone] {
            let mut case = Case::random(seed);
            case.budget_mode = mode;
            case.on_miss = OnMiss::ALL[usize::try_from(seed / 2 % 3).expect("small")];
            case.demand = Demand::Uniform(300_000, 1_800_000);
            for &policy in Policy::GENERAL {
                let rule = PriorityRule::EarliestDeadlineFirst;
                let scheduler = PolicyScheduler { policy, scope: Scope::Global, rule };
                let platform = platform(case.cores + u32::from(policy.dedicates_a_core()), seed);
                let recording = case.simulate_on(scheduler, &platform, |_| {});
                let definition = definition_on(&case, scheduler, &platform);
                let verdict = verify(&definition, &recording.events, case.duration.as_ns() + GRACE_NS);
                assert!(verdict.clean, "seed {seed}, {policy}, {mode:?}: {verdict}\n{}", case.describe());
            }
        }
    }
}
