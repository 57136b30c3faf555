//! Plans for a policy of laxity's own, attached to the kernel (laxity-kernel).
//!
//! 1. A cell is an instance of the policy. Affinity masks keep its tasks in it; where the policy dedicates a CPU, that
//!    is the last one of the cell, and no task runs there.
//! 2. A task asks for SCHED_EXT with budget, deadline and period as for SCHED_DEADLINE, and is admitted up to the same
//!    share of the CPUs.
//! 3. A periodic task ends its jobs by sched_yield, and the policy releases the next one exactly one period later. A
//!    task whose jobs do not come one period apart sleeps until they do; so does one whose first job comes so late that
//!    the kernel would take it for forgotten.
//! 4. Fixed priorities in the kernel follow the deadlines that tasks ask with. Rate-monotonic tasks ask with their
//!    periods; given priorities must be in one of the two orders.

use super::{
    Confinement, KernelLimits, Pacing, Plan, PlanOptions, PlannedTask, SHARE_WITHOUT_LIMIT, check_affinities,
    check_total,
};
use crate::budget::{Supply, budgets_within, reserved_period};
use crate::sched;
use crate::sharing::Regions;
use laxity_kernel::Core;
use laxity_model::{
    Arrival, BudgetMode, Cell, CpuList, DeferrableServer, Diagnostic, Duration, LoadSum, Platform, Policy,
    PolicyScheduler, PriorityRule, Result, ServerSizes, Speed, Task, TaskSet,
};
use serde::{Deserialize, Serialize};

/// The kernel throws out a scheduler that does not dispatch a runnable task for 30 s; a task that waits for its release
/// after sched_yield is runnable to the kernel.
const RELEASED_WITHIN: Duration = Duration::from_secs(15);
const TASKS_MAX: usize = laxity_kernel::TASKS_MAX as usize;
const CPUS_MAX: usize = laxity_kernel::CPUS_MAX as usize;
/// The longest period that it admits.
const PERIOD_MAX: Duration = Duration::from_ns(laxity_kernel::PERIOD_MAX_NS);
/// The least budget that it admits.
const RUNTIME_MIN: Duration = Duration::from_ns(1024);

/// What a policy can be told beyond its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyOptions {
    /// What happens to a job that has used up its budget.
    pub budget: BudgetMode,
    /// Whether jobs of one release instant are released together.
    pub batching: bool,
    /// push-pull: after how many failures a push is given up.
    pub retries_max: u32,
    /// amp-rm: the deferrable servers of the CPUs.
    pub servers: ServerSizes,
}

/// The CPUs of an instance of the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedCell {
    /// The kernel's numbers.
    pub cpus: Vec<u32>,
    /// The socket of each, from 0.
    pub sockets: Vec<u32>,
}

/// A policy that is attached to the kernel while a plan is carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Name of the policy, without scope and rule.
    pub policy: String,
    /// Fixed priorities instead of EDF.
    pub fixed_priorities: bool,
    /// One instance each.
    pub cells: Vec<AttachedCell>,
    /// What happens to a job that has used up its budget.
    pub budget: BudgetMode,
    /// Whether jobs of one instant are released together.
    pub batching: bool,
    /// push-pull: after how many failures a push is given up.
    pub retries_max: u32,
    /// Tasks that a cell has room for.
    pub tasks: u32,
    /// What real-time tasks may use of each CPU: as (runtime, period) in ns.
    pub share_ns: (u64, u64),
    /// amp-rm: its CPUs, with their speeds and servers.
    pub cores: Vec<Core>,
}

impl Attachment {
    /// Whether every CPU has a queue of its own under this policy.
    pub fn has_queue_per_core(&self) -> bool {
        Policy::GENERAL
            .iter()
            .copied()
            .any(|policy| policy.has_queue_per_core() && policy.name() == self.policy)
    }
}

/// Makes the plan for a policy of laxity's own. `platform` are the CPUs used; `cells` name tasks by their ids.
///
/// # Errors
///
/// What the policy or its place in the kernel cannot take of the set or the cells.
pub fn plan_policy(
    set: &TaskSet,
    scheduler: PolicyScheduler,
    cells: &[Cell],
    platform: &Platform,
    limits: KernelLimits,
    options: PlanOptions,
    policy: &PolicyOptions,
) -> Result<Plan> {
    let cells: Vec<&Cell> = cells.iter().filter(|cell| !cell.tasks.is_empty()).collect();
    check_room(&cells)?;
    let regions = Regions::of(set, options.seed)?;
    let mut plan = Plan {
        cells: Vec::new(),
        confinement: Confinement::AffinityMasks,
        tasks: Vec::new(),
        regions: regions.bytes.clone(),
        duration: options.duration,
        grace: options.grace.unwrap_or_else(|| set.default_grace()),
        on_miss: options.on_miss,
        busy: options.busy,
        bandwidth_linger: Duration::ZERO,
        foreign: None,
        attachment: Some(attachment(scheduler, &cells, platform, limits, policy)?),
        recorded: false,
        quiet: false,
        notes: vec![
            format!(
                "policy {scheduler} in the kernel, budgets (WCET + margin `{}`): {}",
                options.budget_margin,
                match policy.budget {
                    BudgetMode::Off => "not enforced",
                    BudgetMode::Throttle => "throttled until the next replenishment",
                    BudgetMode::Postpone => "deadlines postponed",
                }
            ),
            laxity_kernel::kernel_threads_words(laxity_kernel::KERNEL_THREADS),
        ],
    };
    for cell in cells {
        check_affinities(set, &scheduler, Some("the policy"), cell)?;
        let first = plan.tasks.len();
        let requests = match server_of(cell, scheduler, platform, policy) {
            None => requests(set, scheduler, cell, limits, options, policy)?,
            Some(server) => requests(set, scheduler, cell, limits.beside(server), options, policy)
                .map_err(|error| error.context(format!("beside the server {server}")))?,
        };
        for (&id, request) in cell.tasks.iter().zip(requests) {
            let pacing = pacing(&set.tasks()[id]);
            plan.tasks.push(PlannedTask {
                pacing,
                ..PlannedTask::of(set, id, cell, request, &regions, options.seed)
            });
        }
        plan.cells.push(Cell { tasks: (first..plan.tasks.len()).collect(), ..cell.clone() });
    }
    Ok(plan)
}

fn check_room(cells: &[&Cell]) -> Result<()> {
    let tasks: usize = cells.iter().map(|cell| cell.tasks.len()).sum();
    if tasks > TASKS_MAX {
        return Err(Diagnostic::usage(format!(
            "{tasks} tasks; the policies in the kernel have room for {TASKS_MAX}"
        ))
        .hint("use fewer tasks, or one of Linux's schedulers"));
    }
    match cells.iter().find(|cell| cell.cpus.len() > CPUS_MAX) {
        None => Ok(()),
        Some(cell) => Err(Diagnostic::usage(format!(
            "{} CPUs in one cell; a policy in the kernel has room for {CPUS_MAX}",
            cell.cpus.len()
        ))
        .hint("use fewer --cpus, or smaller --clusters")),
    }
}

fn attachment(
    scheduler: PolicyScheduler,
    cells: &[&Cell],
    platform: &Platform,
    limits: KernelLimits,
    policy: &PolicyOptions,
) -> Result<Attachment> {
    let most = cells.iter().map(|cell| cell.tasks.len()).max().unwrap_or(1);
    // The number of a task that has left becomes free only when its turn comes.
    let room = (2 * most).clamp(1, TASKS_MAX);
    let cell = |cell: &&Cell| AttachedCell {
        cpus: cell.cpus.iter().collect(),
        sockets: sockets(platform, &cell.cpus),
    };
    let share = limits.share().map(|(runtime, period)| (runtime * 1000, period * 1000));
    let (least, whole) = SHARE_WITHOUT_LIMIT;
    Ok(Attachment {
        policy: scheduler.policy.name().to_owned(),
        fixed_priorities: scheduler.rule != PriorityRule::EarliestDeadlineFirst,
        cells: cells.iter().map(cell).collect(),
        budget: policy.budget,
        batching: policy.batching,
        retries_max: policy.retries_max,
        tasks: u32::try_from(room).expect("at most 2048"),
        share_ns: share.unwrap_or((1_000_000_000 / whole * least, 1_000_000_000)),
        cores: cores(scheduler, cells, platform, limits, policy)?,
    })
}

/// What the policy is told of the CPUs, if it is one that asks for that.
fn cores(
    scheduler: PolicyScheduler,
    cells: &[&Cell],
    platform: &Platform,
    limits: KernelLimits,
    policy: &PolicyOptions,
) -> Result<Vec<Core>> {
    if !scheduler.policy.has_servers() {
        return Ok(Vec::new());
    }
    let fastest = platform.cores().iter().map(|core| core.speed).max().unwrap_or(Speed::UNIT);
    let core = |core: &laxity_model::Core| {
        // Where there are no real-time tasks background work has all of a CPU.
        let cell = cells.iter().find(|cell| cell.cpus.contains(core.cpu));
        let server = cell.and_then(|cell| server_of(cell, scheduler, platform, policy));
        let share_ppm = limits.share_ppm();
        let plain = Core::new(core.cpu, core.speed, fastest, share_ppm);
        let Some(server) = server else { return Ok(plain) };
        laxity_kernel::checked_server(server).map(|server| plain.with_server(server, share_ppm))
    };
    platform.cores().iter().map(core).collect()
}

/// The server on the CPUs of a cell, which are one under a policy that has them.
fn server_of(
    cell: &Cell,
    scheduler: PolicyScheduler,
    platform: &Platform,
    policy: &PolicyOptions,
) -> Option<DeferrableServer> {
    let cpu = cell.cpus.iter().next().filter(|_| scheduler.policy.has_servers())?;
    Some(policy.servers.on(platform, cpu)).filter(|server| !server.is_none())
}

/// The socket of each of a cell's CPUs, numbered from 0 within the cell: its NUMA node, or where none are known its
/// cluster, as the simulator has it.
fn sockets(platform: &Platform, cores: &CpuList) -> Vec<u32> {
    let nodes = platform.numa_nodes();
    let socket_of = |cpu: u32| match nodes.is_empty() {
        true => platform.clusters().iter().position(|cluster| cluster.contains(cpu)),
        false => nodes.iter().position(|node| node.cpus.contains(cpu)),
    };
    let of_cores: Vec<Option<usize>> = cores.iter().map(socket_of).collect();
    let mut used = of_cores.clone();
    used.sort_unstable();
    used.dedup();
    let number = |socket| u32::try_from(used.partition_point(|other| other < socket));
    of_cores.iter().map(|socket| number(socket).expect("fewer than CPUs")).collect()
}

/// What releases the jobs of a task.
fn pacing(task: &Task) -> Pacing {
    let periodic = matches!(task.arrival, Arrival::Periodic { .. });
    if task.phase > RELEASED_WITHIN {
        Pacing::Sleep
    } else if periodic {
        Pacing::Released
    } else {
        Pacing::FirstReleased
    }
}

/// What each task of a cell asks the kernel for.
fn requests(
    set: &TaskSet,
    scheduler: PolicyScheduler,
    cell: &Cell,
    limits: KernelLimits,
    options: PlanOptions,
    policy: &PolicyOptions,
) -> Result<Vec<sched::Policy>> {
    let cpus = cell.cpus.len() - usize::from(scheduler.policy.dedicates_a_core());
    if cpus == 0 {
        return Err(Diagnostic::usage(format!(
            "CPUs {}: {scheduler} dedicates the last CPU of a cell, and this one has no other",
            cell.cpus
        ))
        .hint("use it globally, or name larger --clusters"));
    }
    let deadline = asked_deadlines(set, scheduler, cell)?;
    // A task that wakes up before its server period is over waits for that; one that the policy releases does not.
    let period = |task: &Task| match (pacing(task), policy.budget) {
        (Pacing::Sleep | Pacing::FirstReleased, BudgetMode::Throttle) if deadline(task) < task.period() => {
            reserved_period(task)
        }
        _ => task.period(),
    };
    let supply = Supply { tasks: &cell.tasks, cpus, period: &period };
    let mut total = LoadSum::new();
    let mut requests = Vec::new();
    for (&id, budget) in cell.tasks.iter().zip(budgets_within(set, &supply, limits, options.budget_margin)) {
        let task = &set.tasks()[id];
        check_times(task)?;
        let runtime = budget.max(RUNTIME_MIN);
        total.add(runtime, period(task));
        requests.push(sched::Policy::Ext { runtime, deadline: deadline(task), period: period(task) });
    }
    check_total(&total, cell, cpus as u64, limits)?;
    Ok(requests)
}

fn check_times(task: &Task) -> Result<()> {
    if task.deadline_rel > task.period() {
        return Err(Diagnostic::usage(format!(
            "task `{}`: deadline {} exceeds its period {}; the policies in the kernel need D <= T, as SCHED_DEADLINE \
             does",
            task.name,
            task.deadline_rel,
            task.period()
        ))
        .hint("shorten the deadline, use a rate-monotonic scheduler of Linux's (g-rm, p-rm), or `laxity simulate`"));
    }
    if task.period() > PERIOD_MAX || task.deadline_rel < RUNTIME_MIN {
        return Err(Diagnostic::usage(format!(
            "task `{}`: its deadline {} or its period {} is outside the {RUNTIME_MIN} to {PERIOD_MAX} that the policies \
             in the kernel accept",
            task.name,
            task.deadline_rel,
            task.period()
        ))
        .hint("change the period, or use `laxity simulate`"));
    }
    Ok(())
}

/// The deadlines to ask with, so that priorities are right.
fn asked_deadlines(set: &TaskSet, scheduler: PolicyScheduler, cell: &Cell) -> Result<fn(&Task) -> Duration> {
    let relative: fn(&Task) -> Duration = |task| task.deadline_rel;
    let period: fn(&Task) -> Duration = |task| task.period();
    if scheduler.rule == PriorityRule::EarliestDeadlineFirst {
        return Ok(relative);
    }
    scheduler.rule.check(set, &scheduler)?;
    let order = |key: &dyn Fn(&Task) -> u64| {
        let mut order = cell.tasks.clone();
        order.sort_by_key(|&id| (key(&set.tasks()[id]), id));
        order
    };
    let wanted = order(&|task| scheduler.rule.fixed_priority(task).unwrap_or(u64::MAX));
    let gives = |deadline: fn(&Task) -> Duration| order(&|task| deadline(task).as_ns()) == wanted;
    [relative, period].into_iter().find(|&deadline| gives(deadline)).ok_or_else(|| {
        Diagnostic::usage(format!(
            "CPUs {}: the given priorities are neither in the order of the deadlines nor of the periods; {scheduler} can \
             have no others in the kernel",
            cell.cpus
        ))
        .hint("use `:dm` or `:rm`, or `laxity simulate`")
    })
}

#[cfg(test)]
mod tests;
