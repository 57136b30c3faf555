//! What a machine says of a thread, held against the plan.

use crate::plan::{Confinement, DeployPlan, Flag, Scheduling, ThreadPlan};
use laxity_model::{CpuList, Duration};
use schemars::JsonSchema;
use serde::Serialize;

/// A thread as the kernel has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The policy's number.
    pub policy: u32,
    /// Flags of `sched_getattr`.
    pub flags: u64,
    /// The nice value.
    pub nice: i32,
    /// The priority of SCHED_FIFO and SCHED_RR.
    pub priority: u32,
    /// The budget of SCHED_DEADLINE in ns; the slice of SCHED_OTHER, if one was asked for.
    pub runtime_ns: u64,
    /// Its relative deadline in ns.
    pub deadline_ns: u64,
    /// Its period in ns.
    pub period_ns: u64,
    /// The CPUs that it may use.
    pub cpus: CpuList,
    /// The CPUs and memory nodes of its cpuset; nothing where there is no cpuset controller.
    pub cpuset: Option<(CpuList, CpuList)>,
}

/// Something that is not as planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// What it is: policy, priority, runtime, deadline, period, nice, slice, flags, CPUs, cpuset or memory nodes.
    pub what: &'static str,
    /// What the plan says.
    pub planned: String,
    /// What the machine says.
    pub found: String,
}

/// Everything of a thread that is not as planned. Of SCHED_EXT the kernel keeps no parameters, and none are compared.
pub fn differences(plan: &DeployPlan, thread: &ThreadPlan, found: &Observed) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut differ = |what, planned: String, found: String| {
        if planned != found {
            all.push(Difference { what, planned, found });
        }
    };
    let same_policy = thread.scheduling.number() == found.policy;
    differ("policy", thread.scheduling.policy().to_owned(), policy_name(found.policy));
    let time = |ns| Duration::from_ns(ns).to_string();
    // Parameters of another policy would only repeat that it is one.
    match thread.scheduling {
        _ if !same_policy => {}
        Scheduling::Other { nice, slice_ns } => {
            differ("nice", nice.to_string(), found.nice.to_string());
            if let Some(slice) = slice_ns {
                differ("slice", time(slice), time(found.runtime_ns));
            }
        }
        Scheduling::Fifo { priority } | Scheduling::RoundRobin { priority } => {
            differ("priority", priority.to_string(), found.priority.to_string());
        }
        Scheduling::Deadline(of) => {
            differ("runtime", time(of.runtime_ns), time(found.runtime_ns));
            differ("deadline", time(of.deadline_ns), time(found.deadline_ns));
            differ("period", time(of.period_ns), time(found.period_ns));
        }
        Scheduling::Ext(_) => {}
    }
    differ(
        "flags",
        flag_names(thread.flags.iter().fold(0, |all, flag| all | flag.bit())),
        flag_names(found.flags),
    );
    differ("CPUs", thread.cpus.to_string(), found.cpus.to_string());
    if let Confinement::Cpusets { .. } = &plan.confinement {
        let cell = plan.cell_of(thread);
        let (cpus, nodes) = match &found.cpuset {
            Some((cpus, nodes)) => (cpus.to_string(), nodes.to_string()),
            None => ("none".to_owned(), "none".to_owned()),
        };
        differ("cpuset", cell.cpus.to_string(), cpus);
        if !cell.memory_nodes.is_empty() {
            differ("memory nodes", cell.memory_nodes.to_string(), nodes);
        }
    }
    all
}

fn policy_name(number: u32) -> String {
    match number {
        0 => "SCHED_OTHER".to_owned(),
        1 => "SCHED_FIFO".to_owned(),
        2 => "SCHED_RR".to_owned(),
        3 => "SCHED_BATCH".to_owned(),
        5 => "SCHED_IDLE".to_owned(),
        6 => "SCHED_DEADLINE".to_owned(),
        7 => "SCHED_EXT".to_owned(),
        other => format!("policy {other}"),
    }
}

/// The flags that a plan can have, by their names. The kernel's others are no part of a plan.
fn flag_names(bits: u64) -> String {
    let set: Vec<&str> =
        Flag::ALL.into_iter().filter(|flag| bits & flag.bit() != 0).map(Flag::name).collect();
    if set.is_empty() { "none".to_owned() } else { set.join(", ") }
}
