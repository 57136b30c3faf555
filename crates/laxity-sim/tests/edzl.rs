//! EDZL: its schedule is what its definition says, and it meets all deadlines wherever global EDF does.

mod common;

use common::{Case, check};
use laxity_model::{
    BudgetMode, Demand, Duration, Policy, PolicyScheduler, PriorityRule, Scope, Task, TaskSet,
};
use laxity_oracle::tiny;
use laxity_sim::Recording;
use laxity_trace::JobOutcome;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn edf(policy: Policy, scope: Scope) -> PolicyScheduler {
    PolicyScheduler { policy, scope, rule: PriorityRule::EarliestDeadlineFirst }
}

/// EDZL of a scope on all cores of a case.
fn check_edzl(case: &Case, scope: Scope) -> Recording {
    check(case, edf(Policy::Edzl, scope), case.cores)
}

#[test]
fn its_schedule_is_its_definition() {
    for seed in laxity_seeds::seeds!(0..1500) {
        let case = Case::random(seed);
        for scope in [Scope::Global, Scope::Clustered, Scope::Partitioned] {
            check_edzl(&case, scope);
        }
    }
}

#[test]
fn also_with_budgets() {
    for seed in laxity_seeds::seeds!(1000..1200) {
        let mut case = Case::random(seed);
        case.demand = Demand::Uniform(300_000, 2_500_000);
        for mode in [BudgetMode::Off, BudgetMode::Throttle, BudgetMode::Postpone] {
            case.budget_mode = mode;
            check_edzl(&case, Scope::Global);
        }
    }
}

/// All sets of up to three tasks with periods up to 3, on one and two CPUs.
#[test]
fn also_of_all_tiny_sets() {
    let limits = tiny::Limits {
        tasks_max: 3,
        period_max_units: 3,
        deadline_beyond_period_units: 0,
        phase_max_units: 0,
        unit: Duration::from_ns(1000),
    };
    let mut sets = 0;
    for set in tiny::sets(limits) {
        for cores in [1, 2] {
            let case = Case { set: set.clone(), cores, duration: Duration::from_ns(13_000), ..Case::plain() };
            check_edzl(&case, Scope::Global);
            sets += 1;
        }
    }
    assert!(sets > 400, "{sets} sets");
}

/// Synchronous periodic tasks that fill two to four CPUs to between 70 % and all.
fn heavy(seed: u64) -> Case {
    let mut rng = Pcg64::seed_from_u64(seed);
    let cores = rng.random_range(2..=4);
    let full = f64::from(cores);
    let target = full * rng.random_range(0.7..1.0);
    let (mut load, mut tasks) = (0.0, Vec::new());
    while load < target {
        let period = rng.random_range(4..=24u32);
        let wcet = rng.random_range(1..=period);
        let share = f64::from(wcet) / f64::from(period);
        if load + share > full {
            break;
        }
        load += share;
        let of = |units: u32| Duration::from_ns(u64::from(units) * 1000);
        tasks.push(Task::periodic(format!("T{}", tasks.len() + 1), of(wcet), of(period)));
    }
    let set = TaskSet::new("heavy", tasks).expect("valid");
    Case { seed, set, cores, duration: Duration::from_ns(300_000), ..Case::plain() }
}

/// Tardiness of a recording is 0.
fn meets_all(recording: &Recording) -> bool {
    recording.jobs.iter().all(|job| {
        job.outcome == JobOutcome::Completed && job.finish_ns.is_some_and(|finish| finish <= job.deadline_ns)
    })
}

/// EDZL dominates global EDF: where that meets all deadlines, so does EDZL, by the same schedule; and it meets more.
#[test]
fn it_dominates_global_edf() {
    let (mut sets, mut by_edf, mut by_edzl) = (0, 0, 0);
    for seed in laxity_seeds::seeds!(0..2000) {
        sets += 1;
        let case = Case { demand: Demand::Wcet, budget_mode: BudgetMode::Off, ..heavy(seed) };
        let run = |policy| case.simulate(edf(policy, Scope::Global), case.cores);
        let (of_edf, of_edzl) = (run(Policy::EdfBh), run(Policy::Edzl));
        by_edzl += u64::from(meets_all(&of_edzl));
        if meets_all(&of_edf) {
            by_edf += 1;
            let finishes = |recording: &Recording| {
                let mut all: Vec<_> =
                    recording.jobs.iter().map(|job| (job.task, job.index, job.finish_ns)).collect();
                all.sort_unstable();
                all
            };
            assert_eq!(finishes(&of_edf), finishes(&of_edzl), "seed {seed}: {}", case.describe());
        }
    }
    println!("of {sets} sets, EDF meets all deadlines of {by_edf}, EDZL of {by_edzl}");
    laxity_seeds::assert_together!(
        by_edf > sets / 10 && by_edf < by_edzl,
        "EDF {by_edf}, EDZL {by_edzl} of {sets}"
    );
}
