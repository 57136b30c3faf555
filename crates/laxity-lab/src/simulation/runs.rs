//! The runs of a simulation and their manifest.

use super::definition::TOLERATE;
use super::{Mechanics, Settings};
use crate::placing::Placed;
use crate::schedulers::NamedScheduler;
use laxity_model::{Duration, TaskSet};
use laxity_trace::{Host, Machine, Manifest, Run, RunStatus};
use std::collections::BTreeMap;

/// What a simulation cannot know, by column, and why.
pub fn not_simulated(mechanics: &Mechanics) -> BTreeMap<String, String> {
    let mut columns = vec!["l1d_misses", "l2_misses"];
    if !mechanics.tracks_caches() {
        columns.push("llc_misses");
    }
    let reason = |column: &str| (column.to_owned(), "a simulation has no cache counters".to_owned());
    columns.into_iter().map(reason).collect()
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
        not_measured: not_simulated(&settings.mechanics),
        notes: settings.mechanics.notes(&settings.platform),
        kernel_counters: BTreeMap::new(),
        overruns: None,
        job_count: None,
        schedule: None,
        disturbance: None,
        jobs: Vec::new(),
    }
}

/// The manifest of a simulation.
pub fn manifest(sets: &[TaskSet], settings: &Settings, runs: Vec<Run>) -> Manifest {
    let mut own = settings.mechanics.options(&settings.platform);
    own.extend(settings.tolerate.map(|time| (TOLERATE.to_owned(), time.to_string())));
    let machine = Machine::simulated(&settings.platform);
    settings.common().manifest(sets, machine, Some(&settings.platform), own, runs)
}
