//! Settings of containers: for each task the parts of an OCI runtime's `config.json` that schedule it.
//!
//! Source: opencontainers/runtime-spec, config.md (`process.scheduler`) and config-linux.md (`linux.resources.cpu`, `cgroupsPath`).
//! SCHED_DEADLINE refuses an affinity narrower than its root domain, and a container's `cpus` makes no root domain: such a container
//! goes into the cell that `start.sh confine` makes, by its path.

use super::{DeployFile, Form};
use crate::names::file_names;
use crate::plan::{Confinement, DeployPlan, Flag, Reservation, Scheduling, ThreadPlan};
use serde_json::{Map, Value, json};

/// The directory of these files.
pub(super) const FOLDER: &str = "oci";

/// A file for each thread, or why there is none.
pub(super) fn files(plan: &DeployPlan) -> Form {
    if plan.threads.iter().any(|thread| matches!(thread.scheduling, Scheduling::Ext(_))) {
        return Err("the OCI runtime specification has no SCHED_EXT".to_owned());
    }
    if plan
        .threads
        .iter()
        .any(|thread| matches!(thread.scheduling, Scheduling::Other { slice_ns: Some(_), .. }))
    {
        return Err("the OCI runtime specification has no slice of SCHED_OTHER".to_owned());
    }
    let names = file_names(plan.threads.iter().map(|thread| thread.task.as_str()));
    let file = |(thread, name): (&ThreadPlan, String)| {
        let text = serde_json::to_string_pretty(&settings(plan, thread)).expect("plain data");
        DeployFile::inside(
            FOLDER,
            format!("{name}.json"),
            laxity_model::shown_json(&text).into_owned() + "\n",
        )
    };
    Ok(plan.threads.iter().zip(names).map(file).collect())
}

fn settings(plan: &DeployPlan, thread: &ThreadPlan) -> Value {
    let mut linux = Map::new();
    let mut cpu = Map::new();
    let in_cell = thread.scheduling.is_deadline() && plan.confinement != Confinement::WholeMachine;
    if in_cell && let Some(path) = cgroups_path(plan, thread) {
        linux.insert("cgroupsPath".into(), path.into());
    } else if thread.cpus != plan.machine_cpus {
        cpu.insert("cpus".into(), thread.cpus.to_string().into());
    }
    let nodes = &plan.cell_of(thread).memory_nodes;
    if !nodes.is_empty() {
        cpu.insert("mems".into(), nodes.to_string().into());
    }
    if !cpu.is_empty() {
        linux.insert("resources".into(), json!({ "cpu": cpu }));
    }
    let mut settings = Map::new();
    settings.insert("process".into(), json!({ "scheduler": scheduler(thread) }));
    if !linux.is_empty() {
        settings.insert("linux".into(), linux.into());
    }
    settings.into()
}

/// Only what the policy has: runtimes refuse the rest.
fn scheduler(thread: &ThreadPlan) -> Value {
    let mut scheduler = Map::new();
    scheduler.insert("policy".into(), thread.scheduling.policy().into());
    match thread.scheduling {
        Scheduling::Other { nice, .. } => _ = scheduler.insert("nice".into(), nice.into()),
        Scheduling::Fifo { priority } | Scheduling::RoundRobin { priority } => {
            scheduler.insert("priority".into(), priority.into());
        }
        Scheduling::Deadline(of) | Scheduling::Ext(of) => {
            let Reservation { runtime_ns, deadline_ns, period_ns } = of;
            for (name, ns) in [("runtime", runtime_ns), ("deadline", deadline_ns), ("period", period_ns)] {
                scheduler.insert(name.into(), ns.into());
            }
        }
    }
    let flags: Vec<&str> = thread.flags.iter().copied().map(Flag::name).collect();
    scheduler.insert("flags".into(), flags.into());
    scheduler.into()
}

/// The cell's cgroup from the root of the hierarchy, and in it one for the container.
fn cgroups_path(plan: &DeployPlan, thread: &ThreadPlan) -> Option<String> {
    let Confinement::Cpusets { base, .. } = &plan.confinement else { return None };
    let cell = plan.cgroup_of(thread)?.strip_prefix(base.trim_end_matches('/'))?.trim_matches('/');
    let container = format!("laxity-{}", crate::names::file_name(&thread.task));
    Some(if cell.is_empty() { format!("/{container}") } else { format!("/{cell}/{container}") })
}
