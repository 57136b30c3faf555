//! What the trials of a study of schedules have given, and their sums.

use crate::study::real::State;
use crate::study::{Place, Trial};
use laxity_model::{Diagnostic, Result, ShownPath as _, TaskSet};
use laxity_report::Verified;
use laxity_trace::{
    Counts, ExcuseLimits, Results, RunSummary, Sample, ScheduleRecord, SpanRecord, Tardiness, VerdictState,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// How the jobs of a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JobMetrics {
    /// How many, and how they ended.
    #[serde(flatten)]
    pub counts: Counts,
    /// Jobs that completed after their deadlines.
    pub tardy: u64,
    /// met / jobs.
    pub deadline_satisfaction: Option<f64>,
    /// Tardiness.
    pub tardiness_ns: Option<Tardiness>,
    /// Mean and standard deviation over tasks of the tasks' mean normalized laxity.
    pub normalized_laxity: Option<Sample>,
    /// The least normalized laxity of a job.
    pub normalized_laxity_min: Option<f64>,
    /// The least laxity of a job, in ns; negative if it was late.
    pub laxity_ns_min: Option<i64>,
    /// The sum over tasks of the mean over jobs of CPU time / T.
    pub measured_utilization: Option<f64>,
    /// Migrations of all tasks during the run.
    pub migrations: Option<u64>,
    /// Context switches of all tasks during the run.
    pub context_switches: Option<u64>,
}

impl JobMetrics {
    fn of(summary: &RunSummary) -> JobMetrics {
        let total = |of: fn(&laxity_trace::TaskSummary) -> Option<u64>| {
            let counted = summary.tasks.iter().filter(|task| task.counts.completed > 0);
            counted.map(of).sum::<Option<u64>>()
        };
        JobMetrics {
            counts: summary.counts,
            tardy: summary.counts.completed.saturating_sub(summary.counts.met),
            deadline_satisfaction: summary.deadline_satisfaction,
            tardiness_ns: summary.tardiness_ns,
            normalized_laxity: summary.normalized_laxity,
            normalized_laxity_min: summary.normalized_laxity_min,
            laxity_ns_min: summary.laxity_ns_min,
            measured_utilization: summary.rates.measured_utilization,
            migrations: total(|task| task.migrations),
            context_switches: total(|task| task.context_switches),
        }
    }

    /// So many per job whose fate is known.
    pub fn per_job(&self, events: Option<u64>) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a number to be shown")]
        let ratio = |events: u64| events as f64 / self.counts.jobs as f64;
        events.filter(|_| self.counts.jobs > 0).map(ratio)
    }
}

/// A trial that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// How the jobs ended.
    pub jobs: JobMetrics,
    /// The schedule and what the oracles said of it, or why it could not be recorded.
    pub schedule: std::result::Result<ScheduleRecord, String>,
    /// What the kernel calls itself.
    pub kernel: String,
}

impl Measured {
    /// From a trial's results.
    ///
    /// # Errors
    ///
    /// Results that do not fit together, or that have no run.
    pub fn of(mut results: Results) -> Result<Measured> {
        if results.runs.is_empty() || results.task_sets.is_empty() {
            return Err(Diagnostic::usage("its results have no run")
                .hint("remove the directory of this run: it is then measured again"));
        }
        let set = TaskSet::from_json_value(&results.task_sets[0], "task_set")?;
        let mut run = results.runs.swap_remove(0);
        let summary = RunSummary::of(&run, &set, results.machine.cpus.len())?;
        let schedule = run.schedule.take().ok_or_else(|| {
            let why = run.not_measured.get(laxity_run::SCHEDULE);
            why.cloned().unwrap_or_else(|| "it was not recorded".to_owned())
        });
        Ok(Measured { jobs: JobMetrics::of(&summary), schedule, kernel: results.machine.kernel })
    }
}

/// The state of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum TrialOutcome {
    /// It was measured.
    Measured(Box<Measured>),
    /// It could not be, and why.
    NotMeasured(String),
    /// Not yet.
    Open,
}

/// All trials, in the study's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Each with its state.
    pub trials: Vec<(Trial, TrialOutcome)>,
}

impl Evaluation {
    /// Reads all trials.
    ///
    /// # Errors
    ///
    /// A file that is damaged.
    pub fn of(trials: &[Trial]) -> Result<Evaluation> {
        let read = |trial: &Trial| {
            let outcome = match (trial.state(), trial.folder()) {
                (State::NotMeasured(why), _) => TrialOutcome::NotMeasured(why),
                (State::Open, _) | (_, None) => TrialOutcome::Open,
                (State::Measured, Some(directory)) => {
                    let measured = laxity_trace::load(directory).and_then(Measured::of);
                    let context = |error: Diagnostic| error.context(directory.shown().to_string());
                    TrialOutcome::Measured(Box::new(measured.map_err(context)?))
                }
            };
            Ok((trial.clone(), outcome))
        };
        Ok(Evaluation { trials: trials.iter().map(read).collect::<Result<_>>()? })
    }

    /// Trials that were measured.
    pub fn measured(&self) -> impl Iterator<Item = (&Trial, &Measured)> {
        self.trials.iter().filter_map(|(trial, outcome)| match outcome {
            TrialOutcome::Measured(measured) => Some((trial, &**measured)),
            _ => None,
        })
    }

    /// Schedules that were recorded, of trials with this number of CPUs.
    pub fn schedules(&self, cpus: u32) -> impl Iterator<Item = (&Trial, &ScheduleRecord)> {
        let of = self.measured().filter(move |(trial, _)| trial.cpus == cpus);
        of.filter_map(|(trial, measured)| Some((trial, measured.schedule.as_ref().ok()?)))
    }

    /// Trials that have not been measured yet.
    pub fn open(&self) -> usize {
        self.trials.iter().filter(|(_, outcome)| *outcome == TrialOutcome::Open).count()
    }

    /// Trials that could not be measured, or whose schedules could not be recorded, and why.
    pub fn refused(&self) -> Vec<(Trial, String)> {
        let why = |(trial, outcome): &(Trial, TrialOutcome)| match outcome {
            TrialOutcome::NotMeasured(why) => Some((trial.clone(), why.clone())),
            TrialOutcome::Measured(measured) => {
                let why = measured.schedule.as_ref().err()?;
                Some((trial.clone(), format!("no schedule: {why}")))
            }
            TrialOutcome::Open => None,
        };
        self.trials.iter().filter_map(why).collect()
    }

    /// What the oracles say of the schedules of each scheduler with this number of CPUs.
    pub fn verified(&self, cpus: u32, limits: &ExcuseLimits) -> BTreeMap<String, Verified> {
        let mut by_scheduler: BTreeMap<String, Verified> = BTreeMap::new();
        for (trial, schedule) in self.schedules(cpus) {
            by_scheduler.entry(trial.scheduler.name.clone()).or_default().add(schedule, limits);
        }
        by_scheduler
    }

    /// What was measured in the runs themselves of the ways by which decisions travel, by scheduler and name: all runs with this
    /// number of CPUs taken together.
    pub fn windows(&self, cpus: u32) -> BTreeMap<(String, String), SpanRecord> {
        let mut all: BTreeMap<(String, String), SpanRecord> = BTreeMap::new();
        for (trial, schedule) in self.schedules(cpus) {
            for (name, span) in &schedule.windows {
                let known = all.entry((trial.scheduler.name.clone(), name.clone())).or_default();
                known.count += span.count;
                known.longest_ns = known.longest_ns.max(span.longest_ns);
                known.total_ns = known.total_ns.saturating_add(span.total_ns);
            }
        }
        all
    }

    /// How many schedules were recorded, and so verified.
    pub fn verified_schedules(&self) -> usize {
        self.measured().filter(|(_, measured)| measured.schedule.is_ok()).count()
    }

    /// Violations of all schedules.
    pub fn violations(&self) -> u64 {
        let of = |(_, measured): (&Trial, &Measured)| {
            measured.schedule.as_ref().map_or(0, |schedule| schedule.verification.violations_count())
        };
        self.measured().map(of).sum()
    }

    /// Schedules without a verdict under these limits: nothing is violated, and too much is excused.
    pub fn excused(&self, limits: &ExcuseLimits) -> usize {
        let schedules = self.measured().filter_map(|(_, measured)| measured.schedule.as_ref().ok());
        let states = schedules.map(|schedule| schedule.verification.state_under(limits));
        states.filter(|state| *state == Some(VerdictState::Excused)).count()
    }

    /// What the study comes to under these limits: violated if one schedule is, else excused if one is, else clean.
    pub fn state(&self, limits: &ExcuseLimits) -> VerdictState {
        match (self.violations(), self.excused(limits)) {
            (0, 0) => VerdictState::Clean,
            (0, _) => VerdictState::Excused,
            _ => VerdictState::Violated,
        }
    }

    /// The places of trials that were measured.
    pub fn places(&self, schedulers: &[String]) -> Vec<Place> {
        self.measured().map(|(trial, _)| trial.place(schedulers)).collect()
    }
}
