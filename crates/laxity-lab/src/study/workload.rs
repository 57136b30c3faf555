//! The task sets of a study.
//!
//! 1. As in ackelman2018, 6.2 (after Brandenburg and Anderson): periods uniform in [10 ms, 100 ms], utilizations uniform in
//!    [0.001, 0.1], n tasks per CPU; no working sets.
//! 2. Where the total is above the cap, all WCETs are scaled down to it, so that every scheduler admits the set, one that
//!    dedicates a CPU among them. What scheduling costs depends on how many tasks there are and how often they come, not on how
//!    long they run.
//! 3. Set k of a size is a function of the seed, the size and k: the same for every scheduler.

use super::trial::Trial;
use laxity_generate::{Parameters, Request};
use laxity_model::{Duration, Result, TaskSet};

/// The most that tasks ask for, in thousandths of a CPU that they may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap(pub u32);

/// No WCET is shorter: SCHED_DEADLINE takes no budget below 1024 ns, and less than this ends before it can be measured.
const WCET_LEAST: Duration = Duration::from_ns(5_000);

/// The task set of a trial.
pub fn task_set(trial: &Trial, cap: Cap, seed: u64) -> Result<TaskSet> {
    let parameters: Parameters = [
        ("tasks", trial.tasks().to_string()),
        ("utilizations", "uni-light".to_owned()),
        ("periods", "uni-moderate".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let set =
        Request::from_parameters("unc", seed, &parameters)?.prepare()?.generate(u64::from(trial.set))?;
    let name = format!("uni-light-n{}-{}", trial.tasks(), trial.set);
    capped(&set, name, usable_cpus(trial), cap)
}

/// CPUs that tasks may use: the same for all schedulers, so that all have the same sets.
fn usable_cpus(trial: &Trial) -> u32 {
    trial.cpus.saturating_sub(1).max(1)
}

fn capped(set: &TaskSet, name: String, cpus: u32, cap: Cap) -> Result<TaskSet> {
    let ppm =
        |wcet: Duration, period: Duration| u128::from(wcet.as_ns()) * 1_000_000 / u128::from(period.as_ns());
    let total: u128 = set.tasks().iter().map(|task| ppm(task.wcet, task.period())).sum();
    let most = u128::from(cpus) * u128::from(cap.0) * 1_000;
    let tasks = set.tasks().iter().cloned().map(|mut task| {
        if total > most {
            let scaled = u128::from(task.wcet.as_ns()) * most / total;
            task.wcet = Duration::from_ns(u64::try_from(scaled).expect("not above the WCET"));
        }
        task.wcet = task.wcet.max(WCET_LEAST);
        task
    });
    TaskSet::new(name, tasks.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_those_of_the_paper_up_to_the_cap() {
        for (trial, most_ppm) in [
            ("edf-bh/4/2/0", 900_000),
            ("edf-bh/4/20/3", 900_000),
            ("g-edf-mp/1/20/1", 300_000),
            ("fpp/2/20/1", 300_000),
        ] {
            let trial: Trial = trial.parse().expect("a trial");
            let set = task_set(&trial, Cap(300), 7).expect("a set");
            assert_eq!(set.tasks().len(), usize::try_from(trial.tasks()).expect("few"));
            let ppm = |task: &laxity_model::Task| task.wcet.as_ns() * 1_000_000 / task.period().as_ns();
            let total: u64 = set.tasks().iter().map(ppm).sum();
            // WCETs that are kept from getting shorter than the least add a little.
            assert!(total <= most_ppm + 20_000, "{total} ppm");
            for task in set.tasks() {
                let period = task.period();
                assert!(period >= Duration::from_ms(10) && period <= Duration::from_ms(100), "{period}");
                assert!(ppm(task) <= 100_000, "{}", ppm(task));
            }
        }
    }

    #[test]
    fn every_scheduler_has_the_same_sets() {
        let set = |trial: &str| {
            let trial: Trial = trial.parse().expect("a trial");
            task_set(&trial, Cap(300), 7).expect("a set").to_json_value()
        };
        assert_eq!(set("edf-bh/2/5/0"), set("g-edf-mp/2/5/0"));
        assert_ne!(set("edf-bh/2/5/0"), set("edf-bh/2/5/1"));
    }
}
