//! What `laxity study schedules --json` prints.

use super::evaluation::{Evaluation, JobMetrics, TrialOutcome};
use crate::study::Trial;
use laxity_trace::{ExcuseLimits, ScheduleRecord, SpanRecord, VerdictState, VerificationRecord};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of this format (`schemas/study-schedules.schema.json`).
const VERSION: u32 = 1;

/// The whole study.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this format.
    version: u32,
    /// Violated if a schedule is; else excused, no verdict, if too much is in one under the study's limits; else clean.
    state: VerdictState,
    /// Whether it is clean: all schedules that were recorded are what their schedulers' definitions say, and not too much of any
    /// is excused.
    clean: bool,
    /// What may be excused in a schedule.
    limits: ExcuseLimits,
    /// The trials, in the study's order.
    trials: Vec<CellAnswer>,
}

/// One run.
#[derive(Serialize, JsonSchema)]
struct CellAnswer {
    /// Name of the scheduler; where it is there twice, that which batches ends in `+batching`.
    scheduler: String,
    /// Whether it releases jobs of one instant together.
    batching: bool,
    /// CPUs: m.
    cpus: u32,
    /// Tasks per CPU.
    tasks_per_cpu: u32,
    /// Tasks: n.
    tasks: u32,
    /// Which of the task sets of this size, from 0.
    set: u32,
    /// Why it was not measured; null if it was.
    not_measured: Option<String>,
    /// What the kernel calls itself.
    kernel: Option<String>,
    /// How the jobs ended.
    jobs: Option<JobMetrics>,
    /// The schedule and what the oracles said of it.
    schedule: Option<Checked>,
    /// Why there is no schedule; null if there is one, or if the trial was not measured.
    schedule_not_recorded: Option<String>,
}

/// A schedule that was recorded and verified.
#[derive(Serialize, JsonSchema)]
struct Checked {
    /// What the verdict comes to under the study's limits; null of a version that did not say how much was excused.
    state: Option<VerdictState>,
    /// Where it ends, in ns since the synchronous release.
    end_ns: u64,
    /// Decisions of CPUs that were seen.
    decisions: u64,
    /// Records that were taken.
    records: u64,
    /// Records that found no place; the schedule ends before the first.
    lost: u64,
    /// The longest that a decision may be on its way, in ns: a timer, its handler, an interrupt and a decision, each as long as
    /// it ever was in this run.
    longest_way_ns: u64,
    /// What was measured, in this run, of the ways by which decisions travel, by name.
    windows: BTreeMap<String, SpanRecord>,
    /// What the oracles said.
    verification: VerificationRecord,
    /// What a reader should know.
    notes: Vec<String>,
}

impl Answer {
    /// Of a study, in which so much may be excused.
    pub fn of(evaluation: &Evaluation, limits: &ExcuseLimits) -> Answer {
        let state = evaluation.state(limits);
        let trials = evaluation.trials.iter();
        Answer {
            version: VERSION,
            state,
            clean: state == VerdictState::Clean,
            limits: *limits,
            trials: trials.map(|(trial, outcome)| CellAnswer::of(trial, outcome, limits)).collect(),
        }
    }
}

impl CellAnswer {
    fn of(trial: &Trial, outcome: &TrialOutcome, limits: &ExcuseLimits) -> CellAnswer {
        let mut answer = CellAnswer {
            scheduler: trial.scheduler.name.clone(),
            batching: trial.scheduler.batches,
            cpus: trial.cpus,
            tasks_per_cpu: trial.tasks_per_cpu,
            tasks: trial.tasks(),
            set: trial.set,
            not_measured: None,
            kernel: None,
            jobs: None,
            schedule: None,
            schedule_not_recorded: None,
        };
        match outcome {
            TrialOutcome::Open => answer.not_measured = Some("not measured yet".to_owned()),
            TrialOutcome::NotMeasured(why) => answer.not_measured = Some(why.clone()),
            TrialOutcome::Measured(measured) => {
                answer.kernel = Some(measured.kernel.clone());
                answer.jobs = Some(measured.jobs.clone());
                match &measured.schedule {
                    Ok(schedule) => answer.schedule = Some(Checked::of(schedule, limits)),
                    Err(why) => answer.schedule_not_recorded = Some(why.clone()),
                }
            }
        }
        answer
    }
}

impl Checked {
    fn of(record: &ScheduleRecord, limits: &ExcuseLimits) -> Checked {
        Checked {
            state: record.verification.state_under(limits),
            end_ns: record.end_ns,
            decisions: record.decisions,
            records: record.records,
            lost: record.lost,
            longest_way_ns: record.longest_way_ns,
            windows: record.windows.clone(),
            verification: record.verification.clone(),
            notes: record.notes.clone(),
        }
    }
}

/// The JSON Schema of [`Answer`]; published as `schemas/study-schedules.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer>("study-schedules", "laxity study of schedules", VERSION)
}
