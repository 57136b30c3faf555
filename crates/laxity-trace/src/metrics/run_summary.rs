//! What a run and its tasks are summed up in.

use super::responses::ResponseTimes;
use super::statistics::Sample;
use super::tally::Counts;
use crate::{Host, RunStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Cache misses per µs of CPU time (lelli2012, Table 2). Nothing where the machine cannot count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MissRates {
    /// L1 data cache read misses per µs of execution.
    pub l1d_miss_rate_per_us: Option<f64>,
    /// L2 cache misses per µs of execution.
    pub l2_miss_rate_per_us: Option<f64>,
    /// Last-level cache misses per µs of execution.
    pub llc_miss_rate_per_us: Option<f64>,
}

/// The metrics of a set that are one number (lelli2012, Table 2).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Rates {
    /// The sum over tasks of the mean over jobs of CPU time / T.
    pub measured_utilization: Option<f64>,
    /// `measured_utilization` divided by the number of CPUs (lelli2012, Table 4).
    pub measured_utilization_per_core: Option<f64>,
    /// CPU time of the completed jobs of all tasks / what they were to take.
    pub execution_inflation: Option<f64>,
    /// Migrations during the run / number of tasks.
    pub migration_rate: Option<f64>,
    /// Context switches during the run / number of tasks.
    pub context_switch_rate: Option<f64>,
    /// Mean over tasks of the cache miss rates.
    #[serde(flatten)]
    pub cache: MissRates,
}

/// Tardiness of the completed jobs of a task: max(0, finish - deadline), in ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskTardiness {
    /// Mean over jobs.
    pub mean: f64,
    /// Maximum over jobs.
    pub max: u64,
}

/// Tardiness of the completed jobs of a run: max(0, finish - deadline), in ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tardiness {
    /// Mean over jobs.
    pub mean: f64,
    /// Maximum over jobs.
    pub max: u64,
    /// Mean over tasks of the maximum over the task's jobs.
    pub mean_of_task_maxima: f64,
}

/// CPU time that the completed jobs of a task used, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionTimes {
    /// Mean over jobs.
    pub mean: f64,
    /// The shortest.
    pub min: u64,
    /// The longest.
    pub max: u64,
}

/// One real-time task in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSummary {
    /// Id of the task: its index in the set.
    pub task: u32,
    /// Its name.
    pub name: String,
    /// How its jobs ended.
    #[serde(flatten)]
    pub counts: Counts,
    /// met / jobs.
    pub deadline_satisfaction: Option<f64>,
    /// Mean and standard deviation over jobs of (D - response time)/T.
    pub normalized_laxity: Option<Sample>,
    /// The least normalized laxity of a job.
    pub normalized_laxity_min: Option<f64>,
    /// The least laxity of a job, in ns; negative if it was late.
    pub laxity_ns_min: Option<i64>,
    /// Tardiness.
    pub tardiness_ns: Option<TaskTardiness>,
    /// Response times.
    pub response_ns: Option<ResponseTimes>,
    /// CPU time of its jobs.
    pub execution_ns: Option<ExecutionTimes>,
    /// CPU time of its completed jobs / what they were to take.
    pub execution_inflation: Option<f64>,
    /// Mean over jobs of CPU time / T.
    pub measured_utilization: Option<f64>,
    /// Migrations during the run.
    pub migrations: Option<u64>,
    /// Context switches during the run.
    pub context_switches: Option<u64>,
    /// Mean over jobs of the cache miss rates.
    #[serde(flatten)]
    pub cache: MissRates,
}

/// One run of a set under one scheduler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// Number of the run within its results.
    pub run: u32,
    /// Index of its task set.
    pub set: u32,
    /// Name of the task set.
    pub set_name: String,
    /// Name of the scheduler.
    pub scheduler: String,
    /// The host that scheduled.
    pub host: Host,
    /// Repetition, from 0.
    pub repetition: u32,
    /// How it went.
    pub status: RunStatus,
    /// The time that it covered, in ns.
    pub horizon_ns: u64,
    /// How its jobs ended.
    #[serde(flatten)]
    pub counts: Counts,
    /// met / jobs.
    pub deadline_satisfaction: Option<f64>,
    /// misses / jobs.
    pub miss_ratio: Option<f64>,
    /// Mean and standard deviation over tasks of the tasks' mean normalized laxity.
    pub normalized_laxity: Option<Sample>,
    /// The least normalized laxity of a job.
    pub normalized_laxity_min: Option<f64>,
    /// The least laxity of a job, in ns; negative if it was late.
    pub laxity_ns_min: Option<i64>,
    /// Tardiness.
    pub tardiness_ns: Option<Tardiness>,
    /// Response times of all jobs.
    pub response_ns: Option<ResponseTimes>,
    /// Utilization, migrations, context switches, cache misses.
    #[serde(flatten)]
    pub rates: Rates,
    /// Why a metric is null, by its name.
    pub not_measured: BTreeMap<String, String>,
    /// Names of the real-time tasks that were refused and ran in the background from the beginning.
    #[serde(default)]
    pub ordinary_tasks: Vec<String>,
    /// What a reader should know of this run.
    pub notes: Vec<String>,
    /// The real-time tasks, in id order.
    pub tasks: Vec<TaskSummary>,
}
