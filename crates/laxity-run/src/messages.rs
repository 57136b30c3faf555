//! What the program, its guardian and the workers tell each other.

use crate::plan::{Plan, PlannedTask};
use laxity_kernel::RunningServer;
use laxity_model::{CpuList, Diagnostic, Failure, OnMiss};
use laxity_trace::QuietRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// From the program to the guardian.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToGuardian {
    /// The first message: what to do.
    Run(Box<Plan>),
    /// Stop now and clean up.
    Stop,
}

/// From the guardian to the program.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromGuardian {
    /// All tasks are admitted; the synchronous release is at this CLOCK_MONOTONIC.
    Released {
        /// Instant of the release in ns.
        t0_ns: u64,
    },
    /// The run is over and the host is as it was.
    Ended(End),
    /// It could not start; the host is as it was.
    Failed(Refusal),
}

/// How a run ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct End {
    /// Time from the release to the end, in ns; 0 if there was no release.
    pub ran_ns: u64,
    /// Why it ended before its time.
    pub cut_short: Option<String>,
    /// What a reader of the results should know.
    pub notes: Vec<String>,
    /// What the kernel has counted while a policy was attached, by name.
    pub counters: BTreeMap<String, u64>,
    /// The end of the recording, if the schedule was to be recorded; or why there is none.
    pub recording: Option<Result<RecordingEnd, String>>,
    /// What `--quiet-machine` has set, and put back by now; nothing where it was not asked for, or did not come to it.
    pub quiet: Option<QuietRecord>,
}

/// What belongs to the records of a schedule.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordingEnd {
    /// The synchronous release, as CLOCK_MONOTONIC in ns.
    pub t0_ns: u64,
    /// (position of the task in the plan, thread id).
    pub threads: Vec<(usize, i32)>,
    /// Records that were kept.
    pub records: u64,
    /// Records that found no place in the rings.
    pub lost: u64,
    /// Until when none is missing, if some were lost.
    pub complete_until_ns: Option<u64>,
    /// Why recording ended before the run, if it did.
    pub ended: Option<String>,
    /// CPU time that taking them has used, in ns.
    pub cpu_ns: u64,
    /// The deferrable servers of the policy.
    pub servers: Vec<RunningServer>,
}

/// From a worker to the guardian.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromWorker {
    /// All threads wait for the release: (position of the task in the plan, thread id).
    Ready(Vec<(usize, i32)>),
    /// The tasks cannot be run.
    Failed(Refusal),
}

/// From the guardian to a worker: the tasks to run.
#[derive(Debug, Serialize, Deserialize)]
pub struct WorkerOrders {
    /// The rule for a job that misses its deadline.
    pub on_miss: OnMiss,
    /// The tasks.
    pub tasks: Vec<OrderedTask>,
}

/// A task that a worker is to run.
#[derive(Debug, Serialize, Deserialize)]
pub struct OrderedTask {
    /// Position in the plan.
    pub position: usize,
    /// The task.
    pub task: PlannedTask,
    /// How its thread gets to its cell, if that is not where the process is.
    pub entry: Option<Entry>,
}

/// How a thread gets to its cell. It does so itself, before it has memory: that comes from where it is then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// It writes itself into this file of the cell's cgroup.
    Cgroup(PathBuf),
    /// It confines itself to these CPUs.
    Cpus(CpuList),
}

/// A [`Diagnostic`] on its way between processes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Refusal {
    usage: bool,
    message: String,
    hint: Option<String>,
}

impl From<Diagnostic> for Refusal {
    fn from(from: Diagnostic) -> Self {
        Refusal { usage: from.failure == Failure::Usage, message: from.message, hint: from.hint }
    }
}

impl From<Refusal> for Diagnostic {
    fn from(from: Refusal) -> Self {
        let failure = if from.usage { Failure::Usage } else { Failure::Environment };
        Diagnostic { failure, message: from.message, hint: from.hint }
    }
}
