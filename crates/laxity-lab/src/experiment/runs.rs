//! The runs of the experiment and their manifest.

use super::Settings;
use super::parts::Part;
use super::work::Workload;
use crate::case::{Cases, reason};
use laxity_run::Capabilities;
use laxity_trace::{Host, Machine, Manifest, Run};
use std::collections::BTreeMap;

/// What a run executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Nothing: it cannot be run here. The part that it would have been, unless it is every task alone.
    Nothing(Option<usize>),
    /// Every task alone.
    Alone,
    /// The plan of this part.
    Together(usize),
}

impl Work {
    /// The part of the experiment that it is, whether or not it can be run.
    pub fn part(self) -> Option<usize> {
        match self {
            Work::Together(part) => Some(part),
            Work::Nothing(part) => part,
            Work::Alone => None,
        }
    }
}

/// The runs to make, in order, each marked as not made with the reason if it cannot be.
pub fn planned_runs(
    sets: usize,
    parts: &[Part<'_>],
    settings: &Settings,
    capabilities: &Capabilities,
) -> Vec<(Run, Work)> {
    let mut runs: Vec<(Run, Work)> = Vec::new();
    if settings.alone.is_some() {
        for set in 0..sets {
            let refusal = capabilities.fifo.clone().err();
            let work = if refusal.is_some() { Work::Nothing(None) } else { Work::Alone };
            runs.push((settings.runs.run_alone(runs.len(), set, refusal.unwrap_or_default()), work));
        }
    }
    for repetition in 0..settings.runs.repeat {
        for (index, Part { case, plan }) in parts.iter().enumerate() {
            let refusal = plan.as_ref().err().map(reason);
            let work = if refusal.is_some() { Work::Nothing(Some(index)) } else { Work::Together(index) };
            let host = if case.scheduler.linux().is_some() { Host::Linux } else { Host::KernelPolicy };
            let how = (host, repetition, refusal.unwrap_or_default());
            runs.push((settings.runs.run(runs.len(), case, how), work));
        }
    }
    runs
}

/// The manifest of the experiment.
pub fn manifest(cases: &Cases<'_>, settings: &Settings, workload: &Workload, runs: Vec<Run>) -> Manifest {
    let platform = cases.settings.platform();
    let mut own = BTreeMap::from([
        ("budget-margin".to_owned(), settings.budget_margin.to_string()),
        ("demand-model".to_owned(), settings.demand_model.to_string()),
        ("on-miss".to_owned(), settings.on_miss.to_string()),
    ]);
    if settings.busy > 0 {
        own.insert("busy".to_owned(), settings.busy.to_string());
    }
    if settings.quiet_machine {
        own.insert("quiet-machine".to_owned(), "on".to_owned());
    }
    if cases.schedulers.iter().any(|scheduler| scheduler.policy().is_some()) {
        own.extend(policy_options(cases, settings));
    }
    let calibration = workload.calibration(cases.sets);
    if !calibration.is_empty() {
        own.insert("calibration".to_owned(), calibration.join("; "));
    }
    if let Some(mechanics) = &settings.simulate {
        own.extend(mechanics.cost_options(platform));
    }
    let machine = Machine::this_machine(platform);
    // Those that verify a recorded schedule need it, too.
    let simulated = (settings.simulate.is_some() || settings.record).then_some(platform);
    settings.runs.manifest(cases, machine, simulated, own, runs)
}

/// What laxity's own policies were told, by the names of the options.
fn policy_options(cases: &Cases<'_>, settings: &Settings) -> Vec<(String, String)> {
    let mut options = vec![
        ("batching".to_owned(), if settings.batching { "on" } else { "off" }.to_owned()),
        ("budget".to_owned(), settings.budget_mode.to_string()),
        ("retries".to_owned(), settings.retries_max.to_string()),
    ];
    options.extend(cases.settings.placement.below.options());
    options
}
