//! The one table, "what to set": for each thread its policy with parameters, its CPUs and its cgroup.
//!
//! It is data alone. Every form of it (files, the report, `--json`) is made of it, and `laxity deployed` compares a running
//! system with it.

use laxity_model::{CpuList, Diagnostic, Duration, Result, json_in_plain_words, shown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Version of the format.
pub const VERSION: u32 = 1;
/// Name of the file that holds it.
pub const PLAN_FILE: &str = "plan.json";
/// The kernel's interrupt threads have this priority of SCHED_FIFO under PREEMPT_RT.
pub const INTERRUPT_PRIORITY: u32 = 50;
/// With this option `laxity load` begins where cgroups have CPU limits, which have no effect under a policy.
pub const VOID_CGROUP_LIMITS: &str = "--void-cgroup-limits";
/// How many bytes of a thread's name the kernel keeps.
const COMM_BYTES: usize = 15;

/// What to set on a machine so that a task set runs as it was planned: `deploy/plan.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeployPlan {
    /// Version of this format.
    pub version: u32,
    /// Name of the task set.
    pub task_set: String,
    /// Name of the scheduler.
    pub scheduler: String,
    /// What the scheduler is, in words.
    pub description: String,
    /// Every CPU of the machine, in the kernel's list format.
    #[schemars(with = "String")]
    pub machine_cpus: CpuList,
    /// How the cells are kept apart.
    pub confinement: Confinement,
    /// Sets of CPUs that no task leaves.
    pub cells: Vec<CellPlan>,
    /// What to set for each thread.
    pub threads: Vec<ThreadPlan>,
    /// The policy of laxity that has to be attached to the kernel before (`laxity load`), if the threads run under one.
    pub attached: Option<String>,
    /// What could do harm.
    pub warnings: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// How cells are kept apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "by")]
pub enum Confinement {
    /// One cell that is the whole machine: nothing to keep apart.
    WholeMachine,
    /// Affinity masks.
    AffinityMasks,
    /// Exclusive cpusets, each of which is a root domain of its own.
    Cpusets {
        /// Of which version of cgroups.
        version: CgroupVersion,
        /// The cgroup in which they are made: a directory.
        base: String,
    },
}

/// Version of cgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CgroupVersion {
    /// The cpuset controller by itself.
    V1,
    /// The unified hierarchy.
    V2,
}

/// A set of CPUs that no task leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellPlan {
    /// The CPUs, in the kernel's list format.
    #[schemars(with = "String")]
    pub cpus: CpuList,
    /// The memory nodes that its tasks allocate from, in the kernel's list format; empty: all.
    #[schemars(with = "String")]
    pub memory_nodes: CpuList,
    /// The directory of its cgroup; null where it needs none. Under cgroup v2 the last cell can be what the others leave to
    /// the root: then it is the root's directory.
    pub cgroup: Option<String>,
}

/// What to set for a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPlan {
    /// Name of the task.
    pub task: String,
    /// The name that the kernel knows the thread by (at most 15 bytes), different for every thread of the plan.
    pub comm: String,
    /// Policy and parameters.
    #[serde(flatten)]
    pub scheduling: Scheduling,
    /// Flags of `sched_setattr`.
    pub flags: Vec<Flag>,
    /// The CPUs, in the kernel's list format.
    #[schemars(with = "String")]
    pub cpus: CpuList,
    /// Its cell, by position in `cells`.
    pub cell: usize,
    /// Why a parameter is not what the task set says.
    pub why: Vec<String>,
}

/// A policy of the kernel with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "policy")]
pub enum Scheduling {
    /// SCHED_OTHER.
    #[serde(rename = "SCHED_OTHER")]
    Other {
        /// -20 (most) to 19 (least).
        nice: i32,
        /// The slice asked for, in ns; null: the kernel's.
        slice_ns: Option<u64>,
    },
    /// SCHED_FIFO.
    #[serde(rename = "SCHED_FIFO")]
    Fifo {
        /// 1 to 99, the highest.
        priority: u32,
    },
    /// SCHED_RR.
    #[serde(rename = "SCHED_RR")]
    RoundRobin {
        /// 1 to 99, the highest.
        priority: u32,
    },
    /// SCHED_DEADLINE.
    #[serde(rename = "SCHED_DEADLINE")]
    Deadline(Reservation),
    /// SCHED_EXT with the parameters of SCHED_DEADLINE, which an attached policy of laxity reads; all of them 0 where another
    /// scheduler is attached, which reads none.
    #[serde(rename = "SCHED_EXT")]
    Ext(Reservation),
}

/// A budget in every period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reservation {
    /// The budget in ns.
    pub runtime_ns: u64,
    /// The relative deadline in ns.
    pub deadline_ns: u64,
    /// The period in ns.
    pub period_ns: u64,
}

laxity_model::listed_enum! {
    /// A flag of `sched_setattr`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    pub enum Flag {
        /// Children of the thread begin as SCHED_OTHER. Without it a thread of SCHED_DEADLINE cannot make another one.
        #[serde(rename = "SCHED_FLAG_RESET_ON_FORK")]
        ResetOnFork,
        /// SCHED_DEADLINE: bandwidth that others do not use is this thread's (GRUB).
        #[serde(rename = "SCHED_FLAG_RECLAIM")]
        Reclaim,
        /// SCHED_DEADLINE: a signal (SIGXCPU) when the budget is used up.
        #[serde(rename = "SCHED_FLAG_DL_OVERRUN")]
        Overrun,
    }
}

impl Flag {
    /// Its bit (`include/uapi/linux/sched.h`).
    pub fn bit(self) -> u64 {
        match self {
            Flag::ResetOnFork => 1,
            Flag::Reclaim => 2,
            Flag::Overrun => 4,
        }
    }

    /// Its name in the kernel.
    pub fn name(self) -> &'static str {
        match self {
            Flag::ResetOnFork => "SCHED_FLAG_RESET_ON_FORK",
            Flag::Reclaim => "SCHED_FLAG_RECLAIM",
            Flag::Overrun => "SCHED_FLAG_DL_OVERRUN",
        }
    }
}

impl Scheduling {
    /// The policy's name in the kernel.
    pub fn policy(self) -> &'static str {
        match self {
            Scheduling::Other { .. } => "SCHED_OTHER",
            Scheduling::Fifo { .. } => "SCHED_FIFO",
            Scheduling::RoundRobin { .. } => "SCHED_RR",
            Scheduling::Deadline(_) => "SCHED_DEADLINE",
            Scheduling::Ext(_) => "SCHED_EXT",
        }
    }

    /// The policy's number in the kernel.
    pub fn number(self) -> u32 {
        match self {
            Scheduling::Other { .. } => 0,
            Scheduling::Fifo { .. } => 1,
            Scheduling::RoundRobin { .. } => 2,
            Scheduling::Deadline(_) => 6,
            Scheduling::Ext(_) => 7,
        }
    }

    /// The priority of SCHED_FIFO and SCHED_RR.
    pub fn priority(self) -> Option<u32> {
        match self {
            Scheduling::Fifo { priority } | Scheduling::RoundRobin { priority } => Some(priority),
            Scheduling::Other { .. } | Scheduling::Deadline(_) | Scheduling::Ext(_) => None,
        }
    }

    /// The budget in every period, of the policies that have one.
    pub fn reservation(self) -> Option<Reservation> {
        match self {
            Scheduling::Deadline(reservation) | Scheduling::Ext(reservation) => Some(reservation),
            Scheduling::Other { .. } | Scheduling::Fifo { .. } | Scheduling::RoundRobin { .. } => None,
        }
    }

    /// Whether the kernel asks for an affinity that covers the root domain.
    pub fn is_deadline(self) -> bool {
        matches!(self, Scheduling::Deadline(_))
    }

    /// The parameters in words: `98`, `142us / 1ms / 1ms`, `nice 0`.
    pub fn words(self) -> String {
        match self {
            Scheduling::Other { nice, slice_ns: None } => format!("nice {nice}"),
            Scheduling::Other { nice, slice_ns: Some(slice) } => {
                format!("nice {nice}, slice {}", Duration::from_ns(slice))
            }
            Scheduling::Fifo { priority } | Scheduling::RoundRobin { priority } => priority.to_string(),
            Scheduling::Deadline(of) | Scheduling::Ext(of) => of.words(),
        }
    }
}

impl Reservation {
    fn words(self) -> String {
        if self.runtime_ns == 0 {
            return "none".to_owned();
        }
        let [runtime, deadline, period] =
            [self.runtime_ns, self.deadline_ns, self.period_ns].map(Duration::from_ns);
        format!("{runtime} / {deadline} / {period}")
    }
}

/// A line of the table as it is shown: names as they are, to be escaped for the medium.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Name of the thread.
    pub thread: String,
    /// Name of the policy.
    pub policy: &'static str,
    /// Priority, or runtime / deadline / period.
    pub parameters: String,
    /// Flags beyond the one that all have, in words.
    pub flags: String,
    /// CPUs.
    pub cpus: String,
    /// Name of the cgroup; empty if it needs none.
    pub cgroup: String,
}

impl DeployPlan {
    /// Reads `plan.json`.
    ///
    /// # Errors
    ///
    /// It is not one, or one of another version; a thread refers to no cell.
    pub fn from_json(text: &str) -> Result<Self> {
        let no_plan = |why: String| {
            Diagnostic::usage(format!("this is no plan of what to set: {why}"))
                .hint("`laxity run` and `laxity compare` write one into their results, deploy/plan.json")
        };
        let version = serde_json::from_str::<serde_json::Value>(text)
            .map_err(|error| no_plan(json_in_plain_words(&error)))?
            .get("version")
            .and_then(serde_json::Value::as_u64);
        if version.is_some_and(|version| version != u64::from(VERSION)) {
            return Err(no_plan(format!("its version is {}, not {VERSION}", version.unwrap_or_default())));
        }
        let plan: DeployPlan =
            serde_json::from_str(text).map_err(|error| no_plan(json_in_plain_words(&error)))?;
        match plan.threads.iter().find(|thread| thread.cell >= plan.cells.len()) {
            Some(thread) => Err(no_plan(format!(
                "thread `{}` is in cell {}, and there are {} cells",
                shown(&thread.task),
                thread.cell,
                plan.cells.len()
            ))),
            None => Ok(plan),
        }
    }

    /// As `plan.json` holds it.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("plain data");
        laxity_model::shown_json(&text).into_owned() + "\n"
    }

    /// The headings of [`DeployPlan::rows`].
    pub fn headings(&self) -> [&'static str; 5] {
        let reserved = self.threads.iter().any(|thread| thread.scheduling.reservation().is_some());
        let parameters = if reserved { "Runtime / deadline / period" } else { "Priority" };
        ["Thread", "Policy", parameters, "CPUs", "cgroup"]
    }

    /// The table as it is shown.
    pub fn rows(&self) -> Vec<Row> {
        let row = |thread: &ThreadPlan| Row {
            thread: thread.task.clone(),
            policy: thread.scheduling.policy(),
            parameters: thread.scheduling.words(),
            flags: flag_words(&thread.flags),
            cpus: thread.cpus.to_string(),
            cgroup: self.cgroup_of(thread).map_or(String::new(), |path| self.cgroup_words(path).to_owned()),
        };
        self.threads.iter().map(row).collect()
    }

    /// The name of a cgroup in tables.
    fn cgroup_words<'a>(&self, path: &'a str) -> &'a str {
        match &self.confinement {
            Confinement::Cpusets { base, .. } if path == base && path.ends_with("/cgroup") => "(root)",
            _ => last_part(path),
        }
    }

    /// The cell of a thread.
    pub fn cell_of(&self, thread: &ThreadPlan) -> &CellPlan {
        &self.cells[thread.cell]
    }

    /// The directory of a thread's cgroup, if it needs one.
    pub fn cgroup_of(&self, thread: &ThreadPlan) -> Option<&str> {
        self.cell_of(thread).cgroup.as_deref()
    }

    /// The CPUs of all cells.
    pub fn real_time_cpus(&self) -> CpuList {
        self.cells.iter().flat_map(|cell| cell.cpus.iter()).collect()
    }

    /// The CPUs that are left for all else, if any.
    pub fn other_cpus(&self) -> Option<CpuList> {
        Some(self.machine_cpus.difference(&self.real_time_cpus())).filter(|rest| !rest.is_empty())
    }

    /// The longest period of a SCHED_DEADLINE thread: for so long after its end the kernel may keep its bandwidth.
    pub fn linger(&self) -> Duration {
        let periods = self.threads.iter().filter(|thread| thread.scheduling.is_deadline());
        let longest =
            periods.filter_map(|thread| thread.scheduling.reservation()).map(|of| of.period_ns).max();
        Duration::from_ns(longest.unwrap_or_default())
    }
}

fn flag_words(flags: &[Flag]) -> String {
    let word = |flag: &Flag| match flag {
        Flag::ResetOnFork => None,
        Flag::Reclaim => Some("reclaims"),
        Flag::Overrun => Some("signals overruns"),
    };
    flags.iter().filter_map(word).collect::<Vec<_>>().join(", ")
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// The names by which the kernel knows threads of these names: the first 15 bytes, and where those are another thread's, too, fewer
/// bytes and a number.
pub fn comms<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut unique = |name: &str| {
        let plain = first_bytes(name, COMM_BYTES).to_owned();
        let numbered = (2u32..).map(|number| {
            let end = format!("~{number}");
            format!("{}{end}", first_bytes(name, COMM_BYTES - end.len()))
        });
        let mut candidates = std::iter::once(plain).chain(numbered);
        candidates.find(|one| taken.insert(one.clone())).expect("numbers do not end")
    };
    names.map(&mut unique).collect()
}

/// The longest beginning of whole characters that has at most so many bytes.
fn first_bytes(text: &str, bytes: usize) -> &str {
    let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|&end| end <= bytes).last();
    &text[..end.unwrap_or(0)]
}
