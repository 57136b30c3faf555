//! The runs of a simulation and their manifest.

use super::definition::TOLERATE;
use super::{Mechanics, Settings};
use crate::case::{Case, Cases};
use laxity_trace::{Host, Machine, Manifest, Run};
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
pub fn run(id: usize, case: &Case<'_>, repetition: u32, settings: &Settings) -> Run {
    Run {
        not_measured: not_simulated(&settings.mechanics),
        notes: settings.mechanics.notes(case.settings.platform()),
        ..settings.runs.run(id, case, (Host::Simulator, repetition, String::new()))
    }
}

/// The manifest of a simulation.
pub fn manifest(cases: &Cases<'_>, settings: &Settings, runs: Vec<Run>) -> Manifest {
    let platform = cases.settings.platform();
    let mut own = settings.mechanics.options(cases.settings);
    own.extend(settings.tolerate.map(|time| (TOLERATE.to_owned(), time.to_string())));
    settings.runs.manifest(cases, Machine::simulated(platform), Some(platform), own, runs)
}
