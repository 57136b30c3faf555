//! What to set: the one table that a plan of a run comes to, and its files in a results directory.
//!
//! The parameters come from the plan that was run, so that what is deployed is what was measured. A results directory of one task
//! set has the files in `deploy/`, one of several sets in `deploy/SET/`.

pub mod interrupts;
pub mod threads;

use laxity_deploy::{
    CellPlan, CgroupVersion, Confinement, DeployPlan, Flag, INTERRUPT_PRIORITY, PLAN_FILE, Reservation,
    Scheduling, ThreadPlan, VERSION,
};
use laxity_model::{CpuList, Diagnostic, OutputDirectory, Result, ShownPath as _, TaskSet};
use laxity_run::{Hierarchy, Plan, PlannedTask, Policy};
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the directory of files to deploy with.
pub const DEPLOY_DIRECTORY: &str = "deploy";
/// A plan of more bytes than this is none.
const PLAN_BYTES_MAX: u64 = 64 << 20;

/// Where it is deployed: on the machine it was measured on.
#[derive(Debug, Clone, Copy)]
pub struct Host<'a> {
    /// Its cpusets, if it has any.
    pub hierarchy: Option<&'a Hierarchy>,
    /// Every CPU of the machine.
    pub machine: &'a CpuList,
    /// Whether the kernel handles interrupts in threads of SCHED_FIFO 50.
    pub interrupt_threads: bool,
}

/// The scheduler by its name and in words; whether it is a policy that has to be attached.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    pub name: &'a str,
    pub description: &'a str,
}

/// What to set so that `set` runs as planned.
pub fn plan_of(set: &TaskSet, scheduler: Named<'_>, plan: &Plan, host: &Host<'_>) -> DeployPlan {
    let confinement = confinement(plan, host);
    let stays = laxity_run::remainder(&plan.cells, host.machine);
    let name = laxity_deploy::file_name(set.name());
    let cells: Vec<CellPlan> = plan
        .cells
        .iter()
        .enumerate()
        .map(|(at, cell)| CellPlan {
            cpus: cell.cpus.clone(),
            memory_nodes: cell.memory_nodes.clone(),
            cgroup: match &confinement {
                Confinement::Cpusets { version: CgroupVersion::V2, base } if stays == Some(at) => {
                    Some(base.clone())
                }
                Confinement::Cpusets { base, .. } => {
                    Some(format!("{}/laxity-deploy-{name}-{at}", base.trim_end_matches('/')))
                }
                _ => None,
            },
        })
        .collect();
    let comms = laxity_deploy::comms(plan.tasks.iter().map(|task| task.name.as_str()));
    let cell_of = |at: usize| plan.cells.iter().position(|cell| cell.tasks.contains(&at)).unwrap_or_default();
    let threads: Vec<ThreadPlan> = plan
        .tasks
        .iter()
        .zip(comms)
        .enumerate()
        .map(|(at, (task, comm))| thread(set, task, comm, cell_of(at), &plan.cells[cell_of(at)].cpus))
        .collect();
    DeployPlan {
        version: VERSION,
        task_set: set.name().to_owned(),
        scheduler: scheduler.name.to_owned(),
        description: scheduler.description.to_owned(),
        machine_cpus: host.machine.clone(),
        warnings: warnings(&threads, host.interrupt_threads),
        confinement,
        cells,
        threads,
        attached: plan.attachment.as_ref().map(|_| scheduler.name.to_owned()),
        notes: plan.notes.clone(),
    }
}

fn confinement(plan: &Plan, host: &Host<'_>) -> Confinement {
    match (plan.confinement, host.hierarchy) {
        (laxity_run::Confinement::WholeMachine, _) => Confinement::WholeMachine,
        (laxity_run::Confinement::Cpusets, Some(Hierarchy::V1(base))) => {
            Confinement::Cpusets { version: CgroupVersion::V1, base: base.to_string_lossy().into_owned() }
        }
        (laxity_run::Confinement::Cpusets, Some(Hierarchy::V2(base))) => {
            Confinement::Cpusets { version: CgroupVersion::V2, base: base.to_string_lossy().into_owned() }
        }
        // No run was possible in cpusets where there are none.
        _ => Confinement::AffinityMasks,
    }
}

fn thread(set: &TaskSet, task: &PlannedTask, comm: String, cell: usize, cpus: &CpuList) -> ThreadPlan {
    let scheduling = scheduling(task.policy);
    ThreadPlan {
        task: task.name.clone(),
        comm,
        scheduling,
        flags: vec![Flag::ResetOnFork],
        // SCHED_DEADLINE refuses a mask narrower than the cell.
        cpus: if scheduling.is_deadline() { cpus.clone() } else { task.affinity.clone() },
        cell,
        why: set.tasks().get(task.id).map_or_else(Vec::new, |of| why(of, scheduling)),
    }
}

fn scheduling(policy: Policy) -> Scheduling {
    let reservation = |runtime: laxity_model::Duration,
                       deadline: laxity_model::Duration,
                       period: laxity_model::Duration| {
        Reservation { runtime_ns: runtime.as_ns(), deadline_ns: deadline.as_ns(), period_ns: period.as_ns() }
    };
    match policy {
        Policy::Other => Scheduling::Other { nice: 0, slice_ns: None },
        Policy::Fifo { priority } => Scheduling::Fifo { priority },
        Policy::Deadline { runtime, deadline, period } => {
            Scheduling::Deadline(reservation(runtime, deadline, period))
        }
        Policy::Ext { runtime, deadline, period } => Scheduling::Ext(reservation(runtime, deadline, period)),
    }
}

/// Why a reservation is not C, D and T as the task set has them.
fn why(task: &laxity_model::Task, scheduling: Scheduling) -> Vec<String> {
    let Some(of) = scheduling.reservation() else { return Vec::new() };
    let mut why = Vec::new();
    let (wcet, deadline, period) = (task.wcet, task.deadline_rel, task.period());
    if of.runtime_ns > wcet.as_ns() {
        let more = laxity_model::Duration::from_ns(of.runtime_ns - wcet.as_ns());
        why.push(format!(
            "the runtime is C = {wcet} and {more}: the kernel also charges what it takes to switch, and time that a hypervisor steals"
        ));
    }
    if of.period_ns < period.as_ns() && deadline < period {
        why.push(format!(
            "the period is less than T = {period} (7/8 of it, and not less than D) because D < T: a late wake-up would else \
             delay all later jobs"
        ));
    }
    why
}

fn warnings(threads: &[ThreadPlan], interrupt_threads: bool) -> Vec<String> {
    let above: Vec<&ThreadPlan> = threads
        .iter()
        .filter(|thread| thread.scheduling.priority().is_some_and(|priority| priority > INTERRUPT_PRIORITY))
        .collect();
    let Some(first) = above.first().filter(|_| interrupt_threads) else { return Vec::new() };
    let who = match above.len() {
        1 => format!("`{}` has a priority", first.task),
        more => format!("`{}` and {} others have priorities", first.task, more - 1),
    };
    vec![format!(
        "{who} above {INTERRUPT_PRIORITY}, that of this kernel's interrupt threads: while they run, no device's interrupt is handled \
         on their CPUs, also those that they wait for. Move the interrupts to other CPUs, or raise the threads `irq/N-DEVICE` that \
         are needed above them with `chrt --fifo --pid 99 TID`"
    )]
}

/// Whether the kernel handles interrupts in threads: PREEMPT_RT, or `threadirqs`.
pub fn has_interrupt_threads(root: &Path) -> bool {
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap_or_default();
    read("sys/kernel/realtime").trim() == "1"
        || read("proc/cmdline").split_whitespace().any(|word| word == "threadirqs")
}

/// Writes the files of each plan into the results directory.
pub fn write(results: &Path, plans: &[DeployPlan]) -> Result<()> {
    let folder = OutputDirectory::open(results)?.subdirectory(DEPLOY_DIRECTORY)?;
    let names = laxity_deploy::file_names(plans.iter().map(|plan| plan.task_set.as_str()));
    for (plan, name) in plans.iter().zip(names) {
        let tree = if plans.len() == 1 { folder.clone() } else { folder.subdirectory(&name)? };
        write_tree(&tree, plan)?;
    }
    Ok(())
}

/// Writes the files of a plan into a directory.
pub fn write_tree(tree: &OutputDirectory, plan: &DeployPlan) -> Result<()> {
    for file in laxity_deploy::files(plan) {
        let folder = match file.folder {
            Some(folder) => tree.subdirectory(folder)?,
            None => tree.clone(),
        };
        folder.write(&file.name, file.text.as_bytes())?;
    }
    Ok(())
}

/// The plans in a results directory, by the paths of their files.
///
/// # Errors
///
/// One of them cannot be read or is none.
pub fn plans_in(results: &Path) -> Result<Vec<(PathBuf, DeployPlan)>> {
    let folder = results.join(DEPLOY_DIRECTORY);
    let mut paths = vec![folder.join(PLAN_FILE)];
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut below: Vec<PathBuf> = entries.map(|entry| entry.path().join(PLAN_FILE)).collect();
    below.sort();
    paths.append(&mut below);
    let found = paths.into_iter().filter(|path| path.is_file());
    found.map(|path| Ok((path.clone(), read_plan(&path)?))).collect()
}

/// The JSON Schema of a plan; published as `schemas/deploy-plan.schema.json`.
pub fn schema() -> serde_json::Value {
    schema_of(&schemars::schema_for!(DeployPlan), "deploy-plan")
}

/// A schema as it is published under a name.
pub fn schema_of(schema: &schemars::Schema, name: &str) -> serde_json::Value {
    let mut schema = schema.clone();
    schema.insert("$id".into(), format!("https://laxity-rt.github.io/schemas/{name}.schema.json").into());
    schema.insert("title".into(), format!("laxity {}", name.replace('-', " ")).into());
    schema.to_value()
}

/// A plan by its file.
///
/// # Errors
///
/// It cannot be read or is none.
pub fn read_plan(path: &Path) -> Result<DeployPlan> {
    let cannot = |error: std::io::Error| {
        Diagnostic::usage(format!("cannot read {}: {error}", path.shown()))
            .hint("name a results directory, or its deploy/plan.json")
    };
    if fs::metadata(path).map_err(cannot)?.len() > PLAN_BYTES_MAX {
        return Err(Diagnostic::usage(format!("{} is too long for a plan", path.shown())));
    }
    let text = fs::read_to_string(path).map_err(cannot)?;
    DeployPlan::from_json(&text).map_err(|error| error.context(path.shown().to_string()))
}
