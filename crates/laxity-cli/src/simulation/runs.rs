//! The runs of a simulation and their manifest.

use super::definition::TOLERATE;
use super::{NamedScheduler, Settings};
use crate::experiment::Placed;
use laxity_model::{Duration, TaskSet};
use laxity_sim::BudgetMode;
use laxity_trace::{Host, Machine, Manifest, RESULTS_VERSION, Run, RunStatus};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// What a simulation cannot know, by column, and why.
pub fn not_simulated() -> BTreeMap<String, String> {
    let columns = ["l1d_misses", "l2_misses", "llc_misses"];
    columns.map(|column| (column.to_owned(), "a simulation has no cache counters".to_owned())).into()
}

/// A run that is still to be made.
pub fn run(
    id: u32,
    set: usize,
    scheduler: &NamedScheduler,
    repetition: u32,
    placed: Option<&Placed>,
    settings: &Settings,
) -> Run {
    Run {
        id,
        set: u32::try_from(set).expect("sets are far fewer than 2^32"),
        scheduler: scheduler.name.clone(),
        host: Host::Simulator,
        repetition,
        duration: settings.duration,
        grace: Duration::ZERO,
        status: RunStatus::NotRun { reason: String::new() },
        placement: placed.map(|placed| placed.record.clone()),
        not_measured: not_simulated(),
        notes: settings.mechanics.notes(),
        jobs: Vec::new(),
    }
}

/// The option's words for what happens to a job that exceeds its budget.
pub fn budget_word(mode: BudgetMode) -> &'static str {
    match mode {
        BudgetMode::Off => "off",
        BudgetMode::Throttle => "throttle",
        BudgetMode::Postpone => "postpone",
    }
}

/// The manifest of a simulation.
pub fn manifest(sets: &[TaskSet], settings: &Settings, runs: Vec<Run>) -> Manifest {
    let mechanics = &settings.mechanics;
    let mut options = BTreeMap::from([
        ("background".to_owned(), mechanics.background.to_string()),
        ("batching".to_owned(), if mechanics.batching { "on" } else { "off" }.to_owned()),
        ("budget".to_owned(), budget_word(mechanics.budget_mode).to_owned()),
        ("demand".to_owned(), settings.demand.to_string()),
        ("duration".to_owned(), settings.duration.to_string()),
        ("ilp-time-limit".to_owned(), settings.ilp_time_limit.to_string()),
        ("overload".to_owned(), settings.overload.to_string()),
        ("placement".to_owned(), settings.placement.to_string()),
        ("repeat".to_owned(), settings.repeat.to_string()),
        ("retries".to_owned(), mechanics.retries_max.to_string()),
    ]);
    let tolerated = sets.iter().map(|set| settings.tolerated(set)).max().unwrap_or_default();
    options.insert(TOLERATE.to_owned(), tolerated.to_string());
    let costs = settings.costs_file.as_ref().map(|file| file.display().to_string());
    options.insert("costs".to_owned(), costs.unwrap_or_else(|| "none".to_owned()));
    if let Some(seed) = mechanics.interleaving {
        options.insert("interleave".to_owned(), seed.to_string());
    }
    Manifest {
        version: RESULTS_VERSION,
        laxity_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        created: laxity_trace::rfc3339(SystemTime::now()),
        seed: settings.seed,
        platform: Some(settings.platform.to_json_value()),
        machine: Machine::simulated(&settings.platform),
        task_sets: sets.iter().map(TaskSet::to_json_value).collect(),
        options,
        runs,
    }
}

impl super::Mechanics {
    /// What a reader of a run must know.
    pub fn notes(&self) -> Vec<String> {
        let free = self.costs.is_zero();
        free.then(|| {
            "simulated without costs: scheduling, context switches and cold caches take no time".to_owned()
        })
        .into_iter()
        .collect()
    }
}
