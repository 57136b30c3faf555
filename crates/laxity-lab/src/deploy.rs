//! What to set: the one table that a plan of a run comes to, and its files in a results directory.
//!
//! The parameters come from the plan that was run, so that what is deployed is what was measured. A results directory of one task
//! set has the files in `deploy/`, one of several sets in `deploy/SET/`.

pub mod deployed;
pub mod interrupts;
pub mod threads;

pub use deployed::plan_at;

use laxity_deploy::{
    CellPlan, CgroupVersion, Confinement, DeployPlan, Flag, INTERRUPT_PRIORITY, PLAN_FILE, Reservation,
    Scheduling, ThreadPlan, VERSION, VOID_CGROUP_LIMITS,
};
use laxity_kernel::{LimitedCgroup, named_cgroups};
use laxity_model::{
    Cell, CpuList, Diagnostic, Duration, OutputDirectory, Result, ShownPath as _, Task, TaskSet,
};
use laxity_run::{Hierarchy, Plan, PlannedTask, Policy};
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the directory of files to deploy with.
pub const DEPLOY_DIRECTORY: &str = "deploy";
/// By so much `laxity settings` exceeds C where that is enough.
const LEAST: Duration = Duration::from_ns(1);
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
    /// Its cgroups with CPU limits, which have no effect under laxity's own policies.
    pub limited: &'a [LimitedCgroup],
}

/// The scheduler by its name and in words.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is, in words.
    pub description: &'a str,
}

/// What to set so that `set` runs as planned.
pub fn plan_of(set: &TaskSet, scheduler: Named<'_>, plan: &Plan, host: &Host<'_>) -> DeployPlan {
    let cell_of = |at: usize| plan.cells.iter().position(|cell| cell.tasks.contains(&at)).unwrap_or_default();
    let thread = |(at, task): (usize, &PlannedTask)| Asked {
        id: task.id,
        scheduling: scheduling(task.policy),
        flags: flags(task.policy),
        cpus: task.affinity.clone(),
        cell: cell_of(at),
    };
    let threads: Vec<Asked> = plan.tasks.iter().enumerate().map(thread).collect();
    DeployPlan {
        attached: plan.attachment.as_ref().map(|_| scheduler.name.to_owned()),
        notes: foreign(plan)
            .into_iter()
            .chain(void_limits(plan, host))
            .chain(plan.notes.iter().cloned())
            .collect(),
        ..assembled(set, scheduler, &plan.cells, plan.confinement, threads, host)
    }
}

/// What a scheduler that is not laxity's needs.
fn foreign(plan: &Plan) -> Option<String> {
    let program = laxity_model::shell_word(plan.foreign.as_deref()?);
    Some(format!("{program} has to run before the threads and as long as they do: it loads their scheduler"))
}

/// What `laxity load` asks about on this machine.
fn void_limits(plan: &Plan, host: &Host<'_>) -> Option<String> {
    let found = !host.limited.is_empty() && plan.attachment.is_some();
    found.then(|| {
        format!(
            "CPU limits of cgroups have no effect while the policy is loaded; this machine has {}. laxity load refuses until they \
             are removed, or {VOID_CGROUP_LIMITS} is among its options",
            named_cgroups(host.limited)
        )
    })
}

/// What is asked for a task.
pub struct Asked {
    /// Its id in the set.
    pub id: usize,
    /// Its policy.
    pub scheduling: Scheduling,
    /// Flags of `sched_setattr`.
    pub flags: Vec<Flag>,
    /// Where it may run.
    pub cpus: CpuList,
    /// Its cell, by position.
    pub cell: usize,
}

/// What is asked, as one plan: with names for threads and cgroups, reasons and warnings.
pub fn assembled(
    set: &TaskSet,
    scheduler: Named<'_>,
    cells: &[Cell],
    confinement: laxity_run::Confinement,
    threads: Vec<Asked>,
    host: &Host<'_>,
) -> DeployPlan {
    let confinement = confined_by(confinement, host);
    let stays = laxity_run::remainder(cells, host.machine);
    let name = laxity_deploy::file_name(set.name());
    let cgroup = |at: usize| match &confinement {
        Confinement::Cpusets { version: CgroupVersion::V2, base } if stays == Some(at) => Some(base.clone()),
        Confinement::Cpusets { base, .. } => {
            Some(format!("{}/laxity-deploy-{name}-{at}", base.trim_end_matches('/')))
        }
        _ => None,
    };
    let cell = |(at, cell): (usize, &Cell)| CellPlan {
        cpus: cell.cpus.clone(),
        memory_nodes: cell.memory_nodes.clone(),
        cgroup: cgroup(at),
    };
    let plans: Vec<CellPlan> = cells.iter().enumerate().map(cell).collect();
    let tasks: Vec<&Task> = threads.iter().filter_map(|asked| set.tasks().get(asked.id)).collect();
    let comms = laxity_deploy::comms(tasks.iter().map(|task| task.name.as_str()));
    let thread = |((asked, task), comm): ((Asked, &Task), String)| ThreadPlan {
        task: task.name.clone(),
        comm,
        scheduling: asked.scheduling,
        flags: asked.flags,
        // SCHED_DEADLINE refuses a mask narrower than the cell.
        cpus: if asked.scheduling.is_deadline() { cells[asked.cell].cpus.clone() } else { asked.cpus },
        cell: asked.cell,
        why: why(task, asked.scheduling),
    };
    let threads: Vec<ThreadPlan> = threads.into_iter().zip(tasks).zip(comms).map(thread).collect();
    DeployPlan {
        version: VERSION,
        task_set: set.name().to_owned(),
        scheduler: scheduler.name.to_owned(),
        description: scheduler.description.to_owned(),
        machine_cpus: host.machine.clone(),
        warnings: warnings(&threads, host.interrupt_threads),
        confinement,
        cells: plans,
        threads,
        attached: None,
        notes: Vec::new(),
    }
}

fn confined_by(confinement: laxity_run::Confinement, host: &Host<'_>) -> Confinement {
    let cpusets =
        |version, base: &Path| Confinement::Cpusets { version, base: base.to_string_lossy().into_owned() };
    match (confinement, host.hierarchy) {
        (laxity_run::Confinement::WholeMachine, _) => Confinement::WholeMachine,
        (laxity_run::Confinement::Cpusets, Some(Hierarchy::V1(base))) => cpusets(CgroupVersion::V1, base),
        (laxity_run::Confinement::Cpusets, Some(Hierarchy::V2(base))) => cpusets(CgroupVersion::V2, base),
        // No run was possible in cpusets where there are none.
        _ => Confinement::AffinityMasks,
    }
}

/// The flags of `sched_setattr` that go with it.
fn flags(policy: Policy) -> Vec<Flag> {
    match policy {
        Policy::Reclaiming { .. } => vec![Flag::ResetOnFork, Flag::Reclaim],
        // Children of a SCHED_OTHER thread are as it is.
        Policy::Other | Policy::Fair { .. } => Vec::new(),
        Policy::Fifo { .. }
        | Policy::RoundRobin { .. }
        | Policy::Deadline { .. }
        | Policy::Foreign
        | Policy::Ext { .. } => vec![Flag::ResetOnFork],
    }
}

fn scheduling(policy: Policy) -> Scheduling {
    let reservation = |runtime: Duration, deadline: Duration, period: Duration| Reservation {
        runtime_ns: runtime.as_ns(),
        deadline_ns: deadline.as_ns(),
        period_ns: period.as_ns(),
    };
    match policy {
        Policy::Other => Scheduling::Other { nice: 0, slice_ns: None },
        Policy::Fair { nice, slice } => {
            Scheduling::Other { nice: nice.into(), slice_ns: Some(slice.as_ns()).filter(|&slice| slice > 0) }
        }
        Policy::RoundRobin { priority } => Scheduling::RoundRobin { priority },
        Policy::Fifo { priority } => Scheduling::Fifo { priority },
        Policy::Deadline { runtime, deadline, period } | Policy::Reclaiming { runtime, deadline, period } => {
            Scheduling::Deadline(reservation(runtime, deadline, period))
        }
        Policy::Foreign => Scheduling::Ext(Reservation { runtime_ns: 0, deadline_ns: 0, period_ns: 0 }),
        Policy::Ext { runtime, deadline, period } => Scheduling::Ext(reservation(runtime, deadline, period)),
    }
}

/// Why a reservation is not C, D and T as the task set has them.
fn why(task: &Task, scheduling: Scheduling) -> Vec<String> {
    let Some(of) = scheduling.reservation() else { return Vec::new() };
    let mut why = Vec::new();
    let (wcet, deadline, period) = (task.wcet, task.deadline_rel, task.period());
    match Duration::from_ns(of.runtime_ns).saturating_sub(wcet) {
        Duration::ZERO => {}
        LEAST => why.push(format!(
            "the runtime is C = {wcet} and 1 ns: after a job that uses its budget to the last, Linux would shorten the next one"
        )),
        more => why.push(format!(
            "the runtime is C = {wcet} and {more}: the kernel also charges what it takes to switch, and time that a hypervisor steals"
        )),
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
    let named = match above.len() {
        1 => format!("`{}` has a priority", first.task),
        2 => format!("`{}` and another thread have priorities", first.task),
        more => format!("`{}` and {} others have priorities", first.task, more - 1),
    };
    vec![format!(
        "{named} above {INTERRUPT_PRIORITY}, that of this kernel's interrupt threads: while they run, no device's interrupt is handled \
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
    laxity_model::written_schema::<DeployPlan>("deploy-plan", "laxity deploy plan", laxity_deploy::VERSION)
}

/// A plan by its file.
///
/// # Errors
///
/// It cannot be read or is none.
pub fn read_plan(path: &Path) -> Result<DeployPlan> {
    let cannot = |error: std::io::Error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => format!("{} does not exist", path.shown()),
            _ => format!("cannot read {}: {error}", path.shown()),
        };
        Diagnostic::usage(why).hint("name a results directory, or its deploy/plan.json")
    };
    if fs::metadata(path).map_err(cannot)?.len() > PLAN_BYTES_MAX {
        return Err(Diagnostic::usage(format!("{} is too long for a plan", path.shown())));
    }
    let text = fs::read_to_string(path).map_err(cannot)?;
    DeployPlan::from_json(&text).map_err(|error| error.context(path.shown().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::{OnMiss, Scheduler};
    use laxity_run::{BudgetMargin, KernelLimits, PlanOptions};

    fn options() -> PlanOptions {
        PlanOptions {
            duration: Duration::from_ms(100),
            grace: None,
            on_miss: OnMiss::Continue,
            busy: 0,
            budget_margin: BudgetMargin::default(),
            seed: 0,
        }
    }

    /// The plan of these tasks in cells of these CPUs, which `tasks` names by position.
    fn planned(scheduler: &str, tasks: Vec<Task>, cells: &[(&str, &[usize])], host: &Host<'_>) -> DeployPlan {
        let set = TaskSet::new("arm", tasks).expect("valid");
        let scheduler: Scheduler = scheduler.parse().expect("a scheduler");
        let cell = |(cpus, tasks): &(&str, &[usize])| Cell::new(cpus.parse().expect("CPUs"), tasks.to_vec());
        let cells: Vec<Cell> = cells.iter().map(cell).collect();
        let plan =
            laxity_run::plan(&set, scheduler, &cells, host.machine, KernelLimits::default(), options());
        let description = scheduler.description();
        let named = Named { name: scheduler.name(), description: &description };
        plan_of(&set, named, &plan.expect("fits"), host)
    }

    fn task(name: &str, wcet_ms: u64, period_ms: u64) -> Task {
        Task::periodic(name, Duration::from_ms(wcet_ms), Duration::from_ms(period_ms))
    }

    #[test]
    fn given_priorities_are_deployed_in_their_order() {
        let given = |name, priority| Task { priority: Some(priority), ..task(name, 1, 10) };
        let machine = CpuList::first(2);
        let host = Host { hierarchy: None, machine: &machine, interrupt_threads: false, limited: &[] };
        let tasks = vec![given("a", 7), given("b", 3), given("c", 7)];
        let plan = planned("g-fp", tasks, &[("0-1", &[0, 1, 2])], &host);
        assert!(plan.description.contains("given priorities"), "{}", plan.description);
        let priorities: Vec<_> = plan.threads.iter().map(|thread| thread.scheduling.priority()).collect();
        assert_eq!(priorities, [Some(97), Some(98), Some(97)]);
        assert_eq!((plan.confinement, plan.warnings.len()), (Confinement::WholeMachine, 0));
    }

    #[test]
    fn cells_have_cgroups_where_they_are_cpusets() {
        let machine = CpuList::first(2);
        let (v1, v2) = (Hierarchy::V1("/cpuset/".into()), Hierarchy::V2("/cgroup".into()));
        for (hierarchy, cgroups) in [
            (&v1, ["/cpuset/laxity-deploy-arm-0", "/cpuset/laxity-deploy-arm-1"]),
            // The lowest CPU's cell is what the other leaves to the root.
            (&v2, ["/cgroup", "/cgroup/laxity-deploy-arm-1"]),
        ] {
            let host =
                Host { hierarchy: Some(hierarchy), machine: &machine, interrupt_threads: true, limited: &[] };
            let short = Task { deadline_rel: Duration::from_ms(5), ..task("b", 1, 80) };
            let tasks = vec![task("a", 1, 10), short];
            let plan = planned("p-edf", tasks, &[("0", &[0]), ("1", &[1])], &host);
            let cells: Vec<_> =
                plan.cells.iter().map(|cell| cell.cgroup.as_deref().expect("a cgroup")).collect();
            assert_eq!(cells, cgroups);
            let b = &plan.threads[1];
            assert_eq!((b.cell, b.cpus.to_string()), (1, "1".to_owned()));
            assert_eq!(b.scheduling.reservation().expect("one").period_ns, 70_000_000);
            assert!(b.why.iter().any(|why| why.contains("7/8 of it") && why.contains("80ms")), "{:?}", b.why);
            assert!(plan.warnings.is_empty(), "SCHED_DEADLINE has no priority");
        }
    }

    #[test]
    fn priorities_above_interrupt_threads_are_warned_of_where_there_are_any() {
        let machine = CpuList::first(1);
        for interrupt_threads in [false, true] {
            let host = Host { hierarchy: None, machine: &machine, interrupt_threads, limited: &[] };
            let plan = planned("g-rm", vec![task("a", 1, 10), task("b", 1, 20)], &[("0", &[0, 1])], &host);
            let said = plan.warnings.join("");
            assert_eq!(
                said.contains("`a` and another thread have priorities above 50"),
                interrupt_threads,
                "{said}"
            );
        }
    }

    #[test]
    fn a_plan_under_a_policy_names_the_limits_that_loading_it_would_void() {
        let machine = CpuList::first(2);
        let limited = LimitedCgroup { path: "/sys/fs/cgroup/w".into(), limits: vec!["cpu.weight 7".into()] };
        let set = TaskSet::new("arm", vec![task("a", 1, 10)]).expect("valid");
        let platform = laxity_model::Platform::symmetric(2).expect("two");
        let cells = [Cell::new(machine.clone(), vec![0])];
        let policy: laxity_model::PolicyScheduler = "edf-bh".parse().expect("a policy");
        let limits = KernelLimits::default();
        let own = laxity_run::PolicyOptions {
            budget: laxity_model::BudgetMode::Throttle,
            batching: true,
            retries_max: 1,
            servers: Vec::new().into(),
        };
        let under_policy = laxity_run::plan_policy(&set, policy, &cells, &platform, limits, options(), &own);
        let linux: Scheduler = "g-rm".parse().expect("a scheduler");
        let under_linux = laxity_run::plan(&set, linux, &cells, &machine, limits, options());
        let named = Named { name: "its name", description: "what it is" };
        let notes = |plan: &Plan, limited| {
            let host = Host { hierarchy: None, machine: &machine, interrupt_threads: false, limited };
            plan_of(&set, named, plan, &host).notes.join("; ")
        };
        let (under_policy, under_linux) = (under_policy.expect("fits"), under_linux.expect("fits"));
        let said = notes(&under_policy, std::slice::from_ref(&limited));
        assert!(
            said.contains("/sys/fs/cgroup/w (cpu.weight 7)") && said.contains(VOID_CGROUP_LIMITS),
            "{said}"
        );
        assert!(!notes(&under_policy, &[]).contains(VOID_CGROUP_LIMITS));
        assert!(!notes(&under_linux, std::slice::from_ref(&limited)).contains(VOID_CGROUP_LIMITS));
    }

    /// A replacement of results removes these files, and no others.
    #[test]
    fn results_know_the_files_of_a_deployment() {
        assert_eq!(laxity_trace::DEPLOY_FOLDERS, laxity_deploy::FOLDERS);
        assert_eq!(laxity_trace::DEPLOY_ENDINGS, laxity_deploy::ENDINGS);
    }

    #[test]
    fn interrupt_threads_are_those_of_preempt_rt_and_of_threadirqs() {
        let root = tempfile::tempdir().expect("a directory");
        let file = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        assert!(!has_interrupt_threads(root.path()));
        file("proc/cmdline", "quiet threadirqs\n");
        assert!(has_interrupt_threads(root.path()));
        file("proc/cmdline", "quiet\n");
        file("sys/kernel/realtime", "1\n");
        assert!(has_interrupt_threads(root.path()));
    }
}
