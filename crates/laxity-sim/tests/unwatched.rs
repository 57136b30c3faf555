//! A simulation without events takes a shorter way: the jobs are the same, whatever the simulator has to do beside
//! them.

mod common;

use common::Case;
use laxity_model::{Duration, Platform, Policy, PolicyScheduler, PriorityRule, Scope};
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
