//! The manifest of whatever makes runs: `run`, `compare` and `simulate` fill it in one way.

use crate::observer::Caller;
use crate::schedulers::{Choice, TriedScheduler};
use laxity_model::{Demand, Duration, Platform, TaskSet};
use laxity_place::{Fitting, Method, Overload};
use laxity_trace::{Machine, Manifest, RESULTS_VERSION, Run};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// The placements that a manifest names for all runs, each of which says its own: those that are compared, or amp-rm's where there are
/// no others.
pub fn placement_of_all(schedulers: &[TriedScheduler], (others, amp_rm): (Choice, Method)) -> String {
    let mut compared: Vec<Choice> = Vec::new();
    for choice in schedulers.iter().filter_map(|one| one.placement) {
        if !compared.contains(&choice) {
            compared.push(choice);
        }
    }
    if !compared.is_empty() {
        return compared.iter().map(Choice::to_string).collect::<Vec<_>>().join(",");
    }
    match schedulers.iter().all(TriedScheduler::has_servers) {
        true => amp_rm.to_string(),
        false => others.to_string(),
    }
}

/// What measured and simulated experiments are both told.
pub struct Common {
    /// Releases happen in `[0, duration)`.
    pub duration: Duration,
    /// Runs per set and scheduler.
    pub repeat: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// How much of its WCET a job asks for.
    pub demand: Demand,
    /// How tasks are placed.
    pub placement: String,
    /// What may be placed together.
    pub fit: Fitting,
    /// What to do with a task that fits nowhere.
    pub overload: Overload,
    /// How long the ILP may look for the optimum; without a limit it answers after a fixed amount of work.
    pub ilp_time_limit: Option<Duration>,
    /// The program that calls.
    pub caller: Caller,
}

impl Common {
    /// The manifest of an experiment on `machine`, whose own options stand beside the common ones. `simulated` is the
    /// platform of simulated runs, if there are any.
    pub fn manifest(
        &self,
        sets: &[TaskSet],
        machine: Machine,
        simulated: Option<&Platform>,
        own: BTreeMap<String, String>,
        runs: Vec<Run>,
    ) -> Manifest {
        Manifest {
            version: RESULTS_VERSION,
            laxity_version: self.caller.version.clone(),
            command: self.caller.command.clone(),
            created: laxity_trace::rfc3339(SystemTime::now()),
            seed: self.seed,
            platform: simulated.map(Platform::to_json_value),
            machine,
            task_sets: sets.iter().map(TaskSet::to_json_value).collect(),
            options: self.options().into_iter().chain(own).collect(),
            background: Vec::new(),
            analysis: Vec::new(),
            runs,
        }
    }

    fn options(&self) -> BTreeMap<String, String> {
        let limit = self.ilp_time_limit.map(|limit| ("ilp-time-limit".to_owned(), limit.to_string()));
        let common = [
            ("demand".to_owned(), self.demand.to_string()),
            ("duration".to_owned(), self.duration.to_string()),
            ("fit".to_owned(), self.fit.to_string()),
            ("overload".to_owned(), self.overload.to_string()),
            ("placement".to_owned(), self.placement.clone()),
            ("repeat".to_owned(), self.repeat.to_string()),
        ];
        common.into_iter().chain(limit).collect()
    }
}
