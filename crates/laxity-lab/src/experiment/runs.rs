//! The runs of the experiment and their manifest.

use super::Settings;
use super::parts::Part;
use super::work::Workload;
use crate::cases::reason;
use crate::placing::Placed;
use laxity_model::{Duration, TaskSet};
use laxity_run::Capabilities;
use laxity_trace::{ALONE, Host, Machine, Manifest, Run, RunStatus};
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
    sets: &[TaskSet],
    parts: &[Part],
    settings: &Settings,
    capabilities: &Capabilities,
) -> Vec<(Run, Work)> {
    let mut runs: Vec<(Run, Work)> = Vec::new();
    let mut add = |set: usize,
                   scheduler: &str,
                   host: Host,
                   repetition: u32,
                   placed: Option<&Placed>,
                   work: Work,
                   refusal: Option<String>| {
        let (work, why) = match refusal {
            None => (work, String::new()),
            Some(why) => (Work::Nothing(work.part()), why),
        };
        let run = Run {
            id: u32::try_from(runs.len()).expect("runs are far fewer than 2^32"),
            set: u32::try_from(set).expect("sets are far fewer than 2^32"),
            scheduler: scheduler.to_owned(),
            host,
            repetition,
            duration: settings.duration,
            grace: Duration::ZERO,
            status: RunStatus::NotRun { reason: why },
            placement: placed.map(|placed| placed.record.clone()),
            not_measured: BTreeMap::new(),
            notes: Vec::new(),
            kernel_counters: BTreeMap::new(),
            overruns: None,
            job_count: None,
            schedule: None,
            disturbance: None,
            jobs: Vec::new(),
        };
        runs.push((run, work));
    };
    if settings.alone.is_some() {
        for set in 0..sets.len() {
            add(set, ALONE, Host::Linux, 0, None, Work::Alone, capabilities.fifo.clone().err());
        }
    }
    for repetition in 0..settings.repeat {
        for (index, part) in parts.iter().enumerate() {
            let (name, refusal) = (&part.scheduler.name, part.plan.as_ref().err().map(reason));
            let host = if part.scheduler.linux().is_some() { Host::Linux } else { Host::KernelPolicy };
            add(part.set, name, host, repetition, part.placed.as_ref(), Work::Together(index), refusal);
        }
    }
    runs
}

/// The manifest of the experiment.
pub fn manifest(sets: &[TaskSet], settings: &Settings, workload: &Workload, runs: Vec<Run>) -> Manifest {
    let mut own = BTreeMap::from([
        ("budget-margin".to_owned(), settings.budget_margin.to_string()),
        ("demand-model".to_owned(), settings.demand_model.to_string()),
        ("on-miss".to_owned(), settings.on_miss.to_string()),
    ]);
    if settings.busy > 0 {
        own.insert("busy".to_owned(), settings.busy.to_string());
    }
    if settings.schedulers.iter().any(|scheduler| scheduler.policy().is_some()) {
        own.extend(policy_options(settings));
    }
    let calibration = workload.calibration(sets);
    if !calibration.is_empty() {
        own.insert("calibration".to_owned(), calibration.join("; "));
    }
    if let Some(mechanics) = &settings.simulate {
        own.extend(mechanics.cost_options(&settings.platform));
    }
    let machine = Machine::this_machine(&settings.platform);
    // Those that verify a recorded schedule need it, too.
    let simulated = (settings.simulate.is_some() || settings.record).then_some(&settings.platform);
    settings.common().manifest(sets, machine, simulated, own, runs)
}

/// What laxity's own policies were told, by the names of the options.
fn policy_options(settings: &Settings) -> Vec<(String, String)> {
    let policy = &settings.policy;
    let mut options = vec![
        ("batching".to_owned(), if policy.batching { "on" } else { "off" }.to_owned()),
        ("budget".to_owned(), policy.budget.to_string()),
        ("retries".to_owned(), policy.retries_max.to_string()),
    ];
    options.extend(settings.below.1.options());
    options
}
