//! Every policy's schedule is what its definition says: the oracles find nothing, and the schedule is the one that the
//! brute-force reference scheduler makes.

mod common;

use common::{Case, check};
use laxity_model::{BudgetMode, Demand, Duration, Policy, PolicyScheduler, PriorityRule, Scope};
use laxity_oracle::tiny;

const RULES: [PriorityRule; 4] = [
    PriorityRule::EarliestDeadlineFirst,
    PriorityRule::RateMonotonic,
    PriorityRule::DeadlineMonotonic,
    PriorityRule::Given,
];

#[test]
fn all_policies_under_all_rules_and_scopes() {
    for seed in laxity_seeds::seeds!(0..150) {
        let case = Case::random(seed);
        for &policy in Policy::GENERAL {
            for scope in [Scope::Global, Scope::Clustered, Scope::Partitioned] {
                // A dedicated core needs a cell of two or more.
                let cores = match (policy.dedicates_a_core(), scope) {
                    (false, _) => case.cores,
                    (true, Scope::Global) => case.cores + 1,
                    (true, Scope::Clustered) => 2 * case.cores.div_ceil(2),
                    (true, Scope::Partitioned) => continue,
                };
                let rule = RULES[usize::try_from(seed).expect("small") % RULES.len()];
                check(&case, PolicyScheduler { policy, scope, rule }, cores);
            }
        }
    }
}

#[test]
fn budgets_are_enforced() {
    for seed in laxity_seeds::seeds!(1000..1060) {
        let mut case = Case::random(seed);
        case.demand = Demand::Uniform(300_000, 2_500_000);
        for mode in [BudgetMode::Throttle, BudgetMode::Postpone] {
            case.budget_mode = mode;
            for &policy in Policy::GENERAL {
                for rule in [PriorityRule::EarliestDeadlineFirst, PriorityRule::RateMonotonic] {
                    let cores = case.cores + u32::from(policy.dedicates_a_core());
                    check(&case, PolicyScheduler { policy, scope: Scope::Global, rule }, cores);
                }
            }
        }
    }
}

/// All sets of up to two tasks with periods up to 4, deadlines up to T + 1 and phases up to 1, on one and two CPUs.
#[test]
fn tiny_sets_exhaustively() {
    let limits = tiny::Limits {
        tasks_max: 2,
        period_max_units: 3,
        deadline_beyond_period_units: 1,
        phase_max_units: 1,
        unit: Duration::from_ns(1000),
    };
    let mut sets = 0;
    for set in tiny::sets(limits) {
        for cores in [1, 2] {
            let policy = Policy::GENERAL[sets % Policy::GENERAL.len()];
            let case = Case { set: set.clone(), cores, duration: Duration::from_ns(13_000), ..Case::plain() };
            let scheduler =
                PolicyScheduler { policy, scope: Scope::Global, rule: PriorityRule::EarliestDeadlineFirst };
            check(&case, scheduler, cores + u32::from(policy.dedicates_a_core()));
            sets += 1;
        }
    }
    assert!(sets > 1000, "{sets} sets");
}
