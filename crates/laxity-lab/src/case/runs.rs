//! What `run`, `compare` and `simulate` are all told, and how their results say it.

use super::{Case, CaseSettings, Cases};
use crate::observer::Caller;
use crate::schedulers::{Choice, Scheduled as _};
use laxity_model::{Duration, Platform, TaskSet};
use laxity_trace::{ALONE, Existing, Host, Machine, Manifest, RESULTS_VERSION, Run, RunStatus};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// What runs and simulations are told of their cases.
pub struct RunSettings {
    /// Releases happen in `[0, duration)`.
    pub duration: Duration,
    /// How much longer than `duration` jobs may run.
    pub grace: Option<Duration>,
    /// Runs per set and scheduler.
    pub repeat: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether results that are there may be replaced.
    pub existing: Existing,
    /// The program that calls.
    pub caller: Caller,
}

impl RunSettings {
    /// One run of each case, whose results replace no others.
    pub fn plain(duration: Duration, caller: Caller) -> Self {
        RunSettings { duration, grace: None, repeat: 1, seed: 0, existing: Existing::Refuse, caller }
    }

    /// A run of a case that is still to be made, or is not made for a reason.
    pub fn run(&self, id: usize, case: &Case<'_>, (host, repetition, why): (Host, u32, String)) -> Run {
        Run {
            repetition,
            placement: case.placed.as_ref().ok().map(|placed| placed.record.clone()),
            ..self.planned((id, case.index), &case.scheduler.name, host, why)
        }
    }

    /// The same of a set of which every task runs alone.
    pub fn run_alone(&self, id: usize, set: usize, why: String) -> Run {
        self.planned((id, set), ALONE, Host::Linux, why)
    }

    fn planned(&self, (id, set): (usize, usize), scheduler: &str, host: Host, why: String) -> Run {
        Run {
            id: u32::try_from(id).expect("runs are far fewer than 2^32"),
            set: u32::try_from(set).expect("sets are far fewer than 2^32"),
            ..Run::new(scheduler, host, self.duration, RunStatus::NotRun { reason: why })
        }
    }

    /// The manifest of an experiment on `machine`, whose own options stand beside the common ones. `simulated` is the
    /// platform of simulated runs, if there are any.
    pub fn manifest(
        &self,
        cases: &Cases<'_>,
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
            task_sets: cases.sets.iter().map(TaskSet::to_json_value).collect(),
            options: self.options(cases).into_iter().chain(own).collect(),
            background: Vec::new(),
            analysis: Vec::new(),
            runs,
        }
    }

    fn options(&self, cases: &Cases<'_>) -> BTreeMap<String, String> {
        let CaseSettings { placement, demand, .. } = cases.settings;
        let limit = placement.ilp_time_limit.map(|limit| ("ilp-time-limit".to_owned(), limit.to_string()));
        let common = [
            ("demand".to_owned(), demand.to_string()),
            ("duration".to_owned(), self.duration.to_string()),
            ("fit".to_owned(), placement.fit.to_string()),
            ("overload".to_owned(), placement.overload.to_string()),
            ("placement".to_owned(), placement_of_all(cases)),
            ("repeat".to_owned(), self.repeat.to_string()),
        ];
        common.into_iter().chain(limit).collect()
    }
}

/// The placements that a manifest names for all runs, each of which says its own: those that are compared, or amp-rm's where there
/// are no others.
fn placement_of_all(cases: &Cases<'_>) -> String {
    let mut compared: Vec<Choice> = Vec::new();
    for choice in cases.schedulers.iter().filter_map(|one| one.placement) {
        if !compared.contains(&choice) {
            compared.push(choice);
        }
    }
    if !compared.is_empty() {
        return compared.iter().map(Choice::to_string).collect::<Vec<_>>().join(",");
    }
    let placement = &cases.settings.placement;
    match cases.schedulers.iter().all(|scheduler| scheduler.has_servers()) {
        true => placement.amp_rm.to_string(),
        false => placement.choice.to_string(),
    }
}
