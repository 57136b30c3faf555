//! What a run leaves behind: the manifest (what ran, where and how) and the jobs.

use crate::{AnalysisRecord, Disturbance, Job, ScheduleRecord, Tuning};
use laxity_model::{CpuList, Duration, Result, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The version of the layout of a results directory that this library writes.
pub const RESULTS_VERSION: u32 = 1;

/// Name in the `scheduler` column of runs in which every task ran alone (lelli2012, 6.1).
pub const ALONE: &str = "alone";

/// The host that scheduled the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    /// Linux's own scheduling classes, real threads.
    Linux,
    /// The simulator.
    Simulator,
    /// A policy of laxity's as a sched_ext scheduler, real threads.
    KernelPolicy,
}

/// How a run went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum RunStatus {
    /// To its end.
    Completed,
    /// Stopped early; the jobs until then are there.
    Interrupted {
        /// Why.
        reason: String,
        /// How much of it ran, since the synchronous release.
        #[schemars(with = "String")]
        ran: Duration,
    },
    /// Not run at all.
    NotRun {
        /// Why.
        reason: String,
    },
}

/// One bin of a placement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacedBin {
    /// Its CPUs.
    #[schemars(with = "String")]
    pub cpus: CpuList,
    /// Names of its tasks.
    pub tasks: Vec<String>,
    /// The sum of their utilizations, to show.
    pub load: String,
}

/// Where the tasks of a run were put, and by which method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacementRecord {
    /// Name of the placement, as on the command line.
    pub method: String,
    /// The bins.
    pub bins: Vec<PlacedBin>,
    /// Names of the real-time tasks that are in none: they run in the background. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ordinary: Vec<String>,
    /// What is worth knowing: the optimality gap, tasks placed although they did not fit.
    pub notes: Vec<String>,
}

/// How the tasks fared that ran in the background of a simulated run (calandrino2007, 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundRecord {
    /// Number of the run.
    pub run: u32,
    /// Background tasks that entered the system.
    pub entered: u64,
    /// Background tasks that had run for their lifetime and left.
    pub exited: u64,
    /// Time that background tasks ran, in ns, over all CPUs.
    pub run_ns: u64,
    /// Time that background tasks were ready but did not run, in ns, over all of them.
    pub ready_ns: u64,
    /// Time of all CPUs that the run covered, in ns: CPUs times horizon.
    pub capacity_ns: u64,
}

/// Under which name it is said in [`Run::not_measured`] why a recorded schedule has no verdict.
pub const NOT_VERIFIED: &str = "verification";
/// The same of why a measured run is not simulated, too.
pub const NOT_SIMULATED: &str = "simulation";

/// How often a task of SCHED_DEADLINE used up its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverrunRecord {
    /// Id of the task.
    pub task: u32,
    /// Overrun signals (SIGXCPU) that its thread got: one at the next tick that finds it on its CPU after its budget was used up.
    pub signals: u64,
    /// How often it left its CPU with its budget used up, by the records of the schedule; nothing where there are none. At least
    /// as often as there were signals, but for budgets that were refilled at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<u64>,
}

/// What `--quiet-machine` has changed for a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuietRecord {
    /// What was set, in words. It was put back behind the run.
    pub set: Vec<String>,
    /// What could not be set, with the reason.
    pub not_set: Vec<String>,
}

/// One scheduler, one task set, one repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Number of the run within its results, from 0; the `run` column of `jobs.parquet`.
    pub id: u32,
    /// Index of its task set in the manifest.
    pub set: u32,
    /// Name of the scheduler, or [`ALONE`].
    pub scheduler: String,
    /// The host that scheduled.
    pub host: Host,
    /// Repetition, from 0.
    pub repetition: u32,
    /// Releases happen in `[0, duration)`.
    #[schemars(with = "String")]
    pub duration: Duration,
    /// How much longer a run to its end went on, so that late jobs could end.
    #[serde(default)]
    #[schemars(with = "String")]
    pub grace: Duration,
    /// How it went.
    pub status: RunStatus,
    /// Where the tasks ran.
    pub placement: Option<PlacementRecord>,
    /// Quantities that were not measured (by the name of their column or metric), with the reason.
    pub not_measured: BTreeMap<String, String>,
    /// What a reader should know of this run (budget margin, shared priority levels, stolen time).
    pub notes: Vec<String>,
    /// What the kernel counted while a policy of laxity's scheduled (jobs that ended, decisions, kicks ...), by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel_counters: BTreeMap<String, u64>,
    /// Under SCHED_DEADLINE: how often each task used up its budget, as the kernel told its thread (SIGXCPU). Nothing for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overruns: Option<Vec<OverrunRecord>>,
    /// Of a recorded run of a real kernel: its schedule, and what the oracles said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleRecord>,
    /// What else its CPUs did while it was made; nothing where that is not known, or it was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Disturbance>,
    /// With `--quiet-machine`: what was set on the machine while it was made, and put back behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<QuietRecord>,
    /// How many jobs it has, in the manifest, where the jobs are not. Absent in results of before this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_count: Option<u64>,
    /// Its jobs, ordered by task, then index. Kept in `jobs.parquet`, not in the manifest.
    #[serde(skip)]
    pub jobs: Vec<Job>,
}

impl Run {
    /// The first run of the first set, without jobs or grace, of which nothing else is known.
    pub fn new(scheduler: impl Into<String>, host: Host, duration: Duration, status: RunStatus) -> Run {
        Run {
            id: 0,
            set: 0,
            scheduler: scheduler.into(),
            host,
            repetition: 0,
            duration,
            grace: Duration::ZERO,
            status,
            placement: None,
            not_measured: BTreeMap::new(),
            notes: Vec::new(),
            kernel_counters: BTreeMap::new(),
            overruns: None,
            schedule: None,
            disturbance: None,
            quiet: None,
            job_count: None,
            jobs: Vec::new(),
        }
    }

    /// The horizon: how much time the run covered, since the synchronous release. The fate of a job whose
    /// deadline lies in `[0, horizon]` is known. Zero for a run that was not made.
    pub fn horizon(&self) -> Duration {
        match &self.status {
            RunStatus::Completed => self.duration + self.grace,
            RunStatus::Interrupted { ran, .. } => *ran,
            RunStatus::NotRun { .. } => Duration::ZERO,
        }
    }
}

impl Host {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Host::Linux => "linux",
            Host::Simulator => "simulator",
            Host::KernelPolicy => "kernel-policy",
        }
    }
}

/// The machine on which runs were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Host name.
    pub host_name: String,
    /// CPU model.
    pub cpu_model: String,
    /// Kernel release.
    pub kernel: String,
    /// The CPUs used.
    #[schemars(with = "String")]
    pub cpus: CpuList,
    /// Clusters of those CPUs.
    #[schemars(with = "Vec<String>")]
    pub clusters: Vec<CpuList>,
    /// One line per cache: level, size, sharers.
    pub caches: Vec<String>,
    /// Memory in bytes, at least 1; absent where it is not known. Earlier versions wrote 0 there.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "none_if_zero")]
    pub memory_bytes: Option<u64>,
    /// What else a reader should know (virtualization, governor, clock source), by name.
    pub facts: BTreeMap<String, String>,
    /// How it is set up for real-time work, as it was before the runs; absent in simulations and in results of before this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
}

fn none_if_zero<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<u64>, D::Error> {
    Ok(Option::deserialize(from)?.filter(|&bytes| bytes > 0))
}

/// Everything about a results directory but the jobs; `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Version of this layout.
    pub version: u32,
    /// Version of laxity.
    pub laxity_version: String,
    /// The exact command line.
    pub command: Vec<String>,
    /// When it started, RFC 3339 in UTC.
    pub created: String,
    /// The seed of everything random.
    pub seed: u64,
    /// The machine.
    pub machine: Machine,
    /// The platform of simulated and of recorded runs in laxity's own JSON format; nothing where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<serde_json::Value>,
    /// The task sets in laxity's own JSON format.
    pub task_sets: Vec<serde_json::Value>,
    /// Options that shape the runs (demand model, budget margin ...), by name.
    pub options: BTreeMap<String, String>,
    /// How the tasks in the background fared, one object per run that had some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundRecord>,
    /// What is proven of each set under each scheduler, where that was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub analysis: Vec<AnalysisRecord>,
    /// The runs.
    pub runs: Vec<Run>,
}

/// A results directory in memory: the manifest, whose runs carry their jobs.
pub type Results = Manifest;

impl Manifest {
    /// The task sets.
    ///
    /// # Errors
    ///
    /// One that is not valid.
    pub fn sets(&self) -> Result<Vec<TaskSet>> {
        let set = |(index, document)| {
            TaskSet::from_json_value(document, &format!("set-{index}"))
                .map_err(|error| error.context(format!("task set {index} of the manifest")))
        };
        self.task_sets.iter().enumerate().map(set).collect()
    }

    /// Whether everything was simulated, and nothing measured.
    pub fn is_simulated(&self) -> bool {
        self.runs.iter().all(|run| run.host == Host::Simulator)
    }
}
