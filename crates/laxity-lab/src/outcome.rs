//! The three back ends, and their outcomes: one kind of value, whichever made it.
//!
//! [`prove`], [`simulate`] and [`measure`] take cases and give an [`Outcome`] for each run of each of them, in the order of their own
//! modules. Names of metrics are those of `summary.json`, with a dot between levels (`response_ns.p99`), and of
//! proofs those of [`METRICS_OF_PROOFS`].

use crate::analysis::answer::{BoundsKind, SchedulerAnswer, VerdictAnswer, VerdictName};
use crate::case::Cases;
use crate::schedulers::Scheduled;
use crate::{analysis, experiment, simulation};
use laxity_model::Result;
use laxity_trace::{Job, Manifest, Run, RunSummary, Summary, TaskSummary, events_path};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Number, Value};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// What an outcome comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BackEnd {
    /// Schedulability tests.
    Proof,
    /// The simulator, with the policies' own source.
    Simulation,
    /// A run on this machine.
    Measurement,
}

/// Numbers by name.
pub type Metrics = BTreeMap<String, Number>;

/// The outcome of a task set under a scheduler.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Outcome {
    /// What it comes from.
    pub by: BackEnd,
    /// Name of the set.
    pub task_set: String,
    /// Name of the scheduler.
    pub scheduler: String,
    /// Repetition, from 0.
    pub repetition: u32,
    /// Of the whole set.
    #[schemars(with = "BTreeMap<String, f64>")]
    pub metrics: Metrics,
    /// Why a metric is not there, by its name.
    pub not_had: BTreeMap<String, String>,
    /// Of each task.
    pub tasks: Vec<TaskOutcome>,
    /// The jobs by task, then number, where they were kept.
    #[serde(skip)]
    pub jobs: Vec<Job>,
    /// The file of events, where they were kept.
    pub events: Option<PathBuf>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// The outcome of one task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TaskOutcome {
    /// Name of the task.
    pub task: String,
    /// As of the set.
    #[schemars(with = "BTreeMap<String, f64>")]
    pub metrics: Metrics,
}

/// The metrics of proofs, each in one line. The last three are of tasks.
pub static METRICS_OF_PROOFS: &[(&str, &str)] = &[
    (PROVEN_HARD, "1: no deadline is missed; 0: that is not proven"),
    (PROVEN_SOFT, "1: tardiness is bounded; 0: that is not proven"),
    (RESPONSE_BOUND, "no job takes longer from its arrival to its completion, in ns"),
    (DEADLINE_BOUND, "the same, where tests say no more than that deadlines are met, in ns"),
    (TARDINESS_BOUND, "no job completes later after its deadline, in ns"),
];

const PROVEN_HARD: &str = "proven_hard";
const PROVEN_SOFT: &str = "proven_soft";
const RESPONSE_BOUND: &str = "response_bound_ns";
const DEADLINE_BOUND: &str = "deadline_bound_ns";
const TARDINESS_BOUND: &str = "tardiness_bound_ns";

/// Proves what can be proven of every case ([`analysis::prove`]).
///
/// # Errors
///
/// No thread can be started.
pub fn prove<S: Scheduled + Display + Sync>(
    cases: &Cases<'_, S>,
    settings: &analysis::Settings,
) -> Result<Vec<Outcome>> {
    let answers = analysis::prove(cases, settings, |_, _| ())?;
    Ok(answers.iter().map(Outcome::of_proof).collect())
}

/// Simulates every case ([`simulation::simulate`]); with jobs where the settings say so, and events where there is a directory for them.
///
/// # Errors
///
/// What cannot be simulated, and results that cannot be written.
pub fn simulate(cases: &Cases<'_>, settings: &simulation::Settings) -> Result<Vec<Outcome>> {
    let mut seen: BTreeMap<u32, (Vec<Job>, Option<PathBuf>)> = BTreeMap::new();
    let finished = simulation::simulate(cases, settings, &mut |run, _, events| {
        seen.insert(run.id, (run.jobs.clone(), events.map(Path::to_owned)));
        Ok(())
    })?;
    let mut outcomes = Outcome::of_runs(BackEnd::Simulation, &finished.manifest, &finished.summary);
    for (outcome, run) in outcomes.iter_mut().zip(&finished.manifest.runs) {
        (outcome.jobs, outcome.events) = seen.remove(&run.id).unwrap_or_default();
    }
    Ok(outcomes)
}

/// Runs every case on this machine ([`experiment::measure`]), with all jobs, and with events where schedules are recorded.
///
/// # Errors
///
/// What cannot be run here, and results that cannot be written.
pub fn measure(cases: &Cases<'_>, settings: &experiment::Settings) -> Result<Vec<Outcome>> {
    let finished = experiment::measure(cases, settings)?;
    let summary = Summary::of(&finished.results, cases.sets)?;
    let mut outcomes = Outcome::of_runs(BackEnd::Measurement, &finished.results, &summary);
    for (outcome, run) in outcomes.iter_mut().zip(&finished.results.runs) {
        outcome.events = run.schedule.is_some().then(|| events_path(&settings.out, run.id));
    }
    Ok(outcomes)
}

impl Outcome {
    /// What is proven of a set under a scheduler.
    pub fn of_proof(answer: &SchedulerAnswer) -> Outcome {
        let (mut metrics, mut not_had, mut notes) = (Metrics::new(), BTreeMap::new(), answer.notes.clone());
        for (name, verdict) in [(PROVEN_HARD, &answer.hard), (PROVEN_SOFT, &answer.soft)] {
            match verdict.verdict {
                VerdictName::NotApplicable => drop(not_had.insert(name.to_owned(), verdict.words())),
                known => {
                    let proven = known == VerdictName::Schedulable;
                    metrics.insert(name.to_owned(), u8::from(proven).into());
                    notes.extend((!proven).then(|| format!("{name}: {}", verdict.words())));
                }
            }
        }
        Outcome {
            by: BackEnd::Proof,
            task_set: answer.task_set.clone(),
            scheduler: answer.scheduler.clone(),
            repetition: 0,
            metrics,
            not_had,
            tasks: bounds([&answer.hard, &answer.soft]),
            jobs: Vec::new(),
            events: None,
            notes,
        }
    }

    /// The outcomes of the runs of a manifest, whose metrics are in `summary`, in their order.
    fn of_runs(by: BackEnd, manifest: &Manifest, summary: &Summary) -> Vec<Outcome> {
        let both = manifest.runs.iter().zip(&summary.runs);
        both.map(|(run, metrics)| Outcome::of_run(by, run, metrics)).collect()
    }

    fn of_run(by: BackEnd, run: &Run, summary: &RunSummary) -> Outcome {
        let task =
            |task: &TaskSummary| TaskOutcome { task: task.name.clone(), metrics: numbers(task, &["task"]) };
        Outcome {
            by,
            task_set: summary.set_name.clone(),
            scheduler: summary.scheduler.clone(),
            repetition: summary.repetition,
            metrics: numbers(summary, &["run", "set", "repetition"]),
            not_had: summary.not_measured.clone(),
            tasks: summary.tasks.iter().map(task).collect(),
            jobs: run.jobs.clone(),
            events: None,
            notes: summary.notes.clone(),
        }
    }
}

/// What is proven of each task; nothing where no verdict has bounds.
fn bounds(verdicts: [&VerdictAnswer; 2]) -> Vec<TaskOutcome> {
    let mut tasks: Vec<TaskOutcome> = Vec::new();
    for bounds in verdicts.into_iter().filter_map(|verdict| verdict.bounds.as_ref()) {
        let name = match bounds.kind {
            BoundsKind::ResponseTime => RESPONSE_BOUND,
            BoundsKind::Deadline => DEADLINE_BOUND,
            BoundsKind::Tardiness => TARDINESS_BOUND,
        };
        if tasks.is_empty() {
            let names = bounds.tasks.iter().map(|bound| bound.task.clone());
            tasks = names.map(|task| TaskOutcome { task, metrics: Metrics::new() }).collect();
        }
        for (task, bound) in tasks.iter_mut().zip(&bounds.tasks) {
            task.metrics.insert(name.to_owned(), bound.ns.into());
        }
    }
    tasks
}

/// The numbers of a summary, those of inner objects with a dot between their names; lists are left out, and what is no metric but names
/// the run.
fn numbers(summary: &impl Serialize, no_metrics: &[&str]) -> Metrics {
    fn collect(value: &Value, name: &str, into: &mut Metrics) {
        match value {
            Value::Number(number) => drop(into.insert(name.to_owned(), number.clone())),
            Value::Object(inner) => {
                for (key, value) in inner {
                    let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                    collect(value, &name, into);
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) => {}
        }
    }
    let mut all = Metrics::new();
    collect(&serde_json::to_value(summary).expect("summaries are written"), "", &mut all);
    all.retain(|name, _| !no_metrics.contains(&name.as_str()));
    all
}
