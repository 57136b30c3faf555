//! What analysis and simulation have against a configuration, whatever was measured of it.
//!
//! A measured miss can be the machine's: an interrupt, a kernel thread, a hypervisor. A miss that an exact test shows,
//! or that happens in a simulation of the same jobs, is the scheduler's own, and comes again on every machine.

use crate::analysis;
use crate::number;
use crate::study::{Configuration, Evidence, Measured, Study};
use laxity_model::listed;
use laxity_trace::Host;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// So many tasks are named.
const TASKS_MOST: usize = 3;

/// What shows that a configuration misses deadlines by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Objection {
    /// What the configuration is called in tables.
    pub label: String,
    /// What the analysis and the simulation show, in words.
    pub shown: Vec<String>,
}

impl Objection {
    /// Nothing if neither shows anything.
    pub(super) fn to(study: &Study<'_>, sets: &[usize], configuration: &Configuration) -> Option<Objection> {
        let shown: Vec<String> = [refuted(study, sets, configuration), simulated(study, sets, configuration)]
            .into_iter()
            .flatten()
            .collect();
        (!shown.is_empty()).then(|| Objection { label: configuration.label.clone(), shown })
    }

    /// The label and what is shown, as a part of a sentence.
    pub(super) fn words(&self) -> String {
        format!("{} ({})", self.label, self.shown.join("; "))
    }
}

/// Some arrivals make a task miss its deadline: an exact test says so.
fn refuted(study: &Study<'_>, sets: &[usize], configuration: &Configuration) -> Option<String> {
    let records = analysis::refuted(study, sets, &configuration.scheduler);
    let named: Vec<&str> = records.iter().filter_map(|record| record.hard.task.as_deref()).collect();
    match (records.len(), sets.len()) {
        (0, _) => None,
        (_, 1) => Some(match named.first() {
            Some(task) => format!("analysis: for some arrivals, `{task}` misses its deadline"),
            None => "analysis: for some arrivals, a deadline is missed".to_owned(),
        }),
        (some, all) => {
            Some(format!("analysis: for some arrivals, deadlines are missed on {some} of {all} sets"))
        }
    }
}

/// Jobs miss in the simulation of what was measured.
fn simulated(study: &Study<'_>, sets: &[usize], configuration: &Configuration) -> Option<String> {
    let runs = simulated_runs(study, sets, configuration)?;
    let counts = Evidence::of(&runs).counts;
    (counts.misses > 0).then(|| {
        format!(
            "simulation: {} of {} miss, of {}",
            number::count(counts.misses),
            number::counted(counts.jobs, "job"),
            tasks(&runs)
        )
    })
}

/// The simulation of what was measured met every deadline.
pub(super) fn is_clean_when_simulated(
    study: &Study<'_>,
    sets: &[usize],
    configuration: &Configuration,
) -> bool {
    simulated_runs(study, sets, configuration).is_some_and(|runs| {
        let evidence = Evidence::of(&runs);
        evidence.complete() && evidence.counts.failed() == 0
    })
}

/// The simulation of what was measured.
fn simulated_runs<'a>(
    study: &'a Study<'_>,
    sets: &[usize],
    configuration: &Configuration,
) -> Option<Vec<Measured<'a>>> {
    let twin = study.simulated.iter().find(|one| one.scheduler == configuration.scheduler)?;
    (configuration.host != Host::Simulator).then(|| study.runs(sets, twin))
}

/// The tasks of these runs that miss most, with their names.
fn tasks(runs: &[Measured<'_>]) -> String {
    let mut misses: BTreeMap<&str, u64> = BTreeMap::new();
    for task in runs.iter().flat_map(|run| &run.summary.tasks).filter(|task| task.counts.misses > 0) {
        *misses.entry(&task.name).or_default() += task.counts.misses;
    }
    let mut misses: Vec<(&str, u64)> = misses.into_iter().collect();
    misses.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    let more = misses.len().saturating_sub(TASKS_MOST);
    let named = misses.iter().take(TASKS_MOST).map(|(name, _)| format!("`{name}`"));
    listed(named.chain((more > 0).then(|| number::counted(more, "other task"))))
}
