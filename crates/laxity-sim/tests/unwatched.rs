//! A simulation without events takes a shorter way: the jobs are the same, whatever the simulator has to do beside
//! them.

mod common;

use common::Case;
use laxity_model::{BudgetMode, Duration, OnMiss, Platform, Policy, PolicyScheduler, PriorityRule, Scope};
use laxity_sim::costs::{Cost, Costs};
use laxity_sim::{Background, BackgroundTask};
use laxity_trace::Job;

/// One task that runs whenever a CPU is free.
fn background() -> Background {
    let second = Duration::from_secs(1);
    let task = BackgroundTask::always_ready(Duration::ZERO, second);
    Background { tasks: vec![task], tick: Duration::from_ns(3_700) }
}

fn by_task(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.sort_by_key(|job| (job.task, job.index));
    jobs
}

fn compare(scope: Scope, seeds: std::ops::Range<u64>) {
    let mut compared = 0;
    for seed in laxity_seeds::seeds!(seeds) {
        let mut case = Case::random(seed);
        for &policy in Policy::GENERAL {
            if policy.dedicates_a_core() && scope == Scope::Partitioned {
                continue;
            }
            let scheduler = PolicyScheduler { policy, scope, rule: PriorityRule::EarliestDeadlineFirst };
            // Clusters are of two cores, so that one may be dedicated.
            let cores = (case.cores + u32::from(policy.dedicates_a_core())).next_multiple_of(2);
            let platform = Platform::symmetric(cores).expect("cores");
            let watched = by_task(case.simulate(scheduler, cores).jobs);
            let mut unwatched = Vec::new();
            case.simulate_to(scheduler, &platform, |_| {}, &mut unwatched);
            assert_eq!(watched, by_task(unwatched), "seed {seed}, {scheduler}: {}", case.describe());
            case.background = background();
            let mut beside = Vec::new();
            case.simulate_to(scheduler, &platform, |_| {}, &mut beside);
            case.background = Background::default();
            assert_eq!(watched, by_task(beside), "seed {seed}, {scheduler}, background: {}", case.describe());
            compared += watched.len();
        }
    }
    laxity_seeds::assert_together!(compared > 100_000, "only {compared} jobs were compared");
}

#[test]
fn global() {
    compare(Scope::Global, 0..700);
}

#[test]
fn clustered() {
    compare(Scope::Clustered, 10_000..10_500);
}

#[test]
fn partitioned() {
    compare(Scope::Partitioned, 20_000..20_500);
}

/// Ticks in which nothing else happens are gone through at once where nothing is watched.
#[test]
fn ticks() {
    let mut compared = 0;
    for seed in laxity_seeds::seeds!(30_000..30_600) {
        let mut case = Case::random(seed);
        let cost = |ns: u64| Cost::Constant(Duration::from_ns(ns));
        case.costs = Costs {
            tick: cost(1 + seed % 23),
            tick_period: Duration::from_ns(30 + 37 * (seed % 41)),
            scheduling: cost(seed % 3 * 20),
            context_switch: cost(seed % 5 * 9),
            release: cost(seed % 4 * 15),
            ipi: cost(seed % 2 * 11),
            ..Costs::default()
        };
        case.on_miss =
            [OnMiss::Continue, OnMiss::Abort, OnMiss::Skip][usize::try_from(seed / 2 % 3).expect("small")];
        case.budget_mode = if seed.is_multiple_of(7) { BudgetMode::Throttle } else { BudgetMode::Off };
        for &policy in Policy::GENERAL {
            let scheduler =
                PolicyScheduler { policy, scope: Scope::Global, rule: PriorityRule::EarliestDeadlineFirst };
            let cores = case.cores + u32::from(policy.dedicates_a_core());
            let platform = Platform::symmetric(cores).expect("cores");
            let watched = by_task(case.simulate(scheduler, cores).jobs);
            let mut unwatched = Vec::new();
            case.simulate_to(scheduler, &platform, |_| {}, &mut unwatched);
            assert_eq!(watched, by_task(unwatched), "seed {seed}, {scheduler}: {}", case.describe());
            compared += watched.len();
        }
    }
    laxity_seeds::assert_together!(compared > 50_000, "only {compared} jobs were compared");
}
