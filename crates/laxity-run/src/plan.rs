//! What a run will do, decided and checked before anything starts.
//!
//! A plan maps one of Linux's schedulers onto a machine: cells (disjoint sets of CPUs between which no task migrates), and
//! for each task its cell, its policy and its CPUs.
//!
//! 1. EDF is SCHED_DEADLINE with budget C plus a margin ([`crate::BudgetMargin`]), deadline D and period T (a little
//!    less where D < T).
//! 2. RM, DM and FP are SCHED_FIFO. Priorities are levels within a cell, from 98 down to 2 ([`PriorityRule::fifo_levels`]):
//!    ranks by (period or deadline, task id), or by the given priorities, of which equal ones share a level. A cell with more
//!    than 97 ranks shares levels evenly between neighbouring ones. The plan says so where tasks share a level.
//! 3. SCHED_RR has all tasks at the highest of these priorities: that is what takes turns. (With priorities by a rule it would be
//!    SCHED_FIFO, but among equals.)
//! 4. SCHED_DEADLINE with reclaiming is as 1., of tasks that need no more of a CPU than the kernel grants real-time tasks: it would
//!    count time of others double (`grub_reclaim` in Linux's kernel/sched/deadline.c).
//! 5. SCHED_OTHER and foreign schedulers have all CPUs; if these are not all of the machine, affinity masks.
//! 6. Cells that do not cover the machine are exclusive cpusets.
//!
//! A policy of laxity's own in the kernel is planned in `plan/policy.rs`.

mod classes;
mod fifo;
mod policy;

pub use fifo::{GUARDIAN_PRIORITY, TASK_PRIORITY_MAX};
pub use policy::{AttachedCell, Attachment, PolicyOptions, plan_policy};

use classes::policies;

use crate::budget::{BudgetMargin, budgets, reserved_period};
use crate::limits::{KernelLimits, SHARE_WITHOUT_LIMIT, to_ratio};
use crate::sched::Policy;
use crate::sharing::{Regions, SharedPart};
use laxity_model::{
    AccessPattern, Cell, CpuList, Diagnostic, Duration, LinuxScheduler, LoadSum, OnMiss, Result, TaskSet,
    Utilization, WorkingSet,
};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// How cells are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confinement {
    /// One cell that is the whole machine: nothing to keep apart.
    WholeMachine,
    /// Exclusive cpusets: every cell is a root domain of its own.
    Cpusets,
    /// Affinity masks only, where there is no cpuset controller; enough for SCHED_FIFO.
    AffinityMasks,
}

/// How a task waits for its next job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// It sleeps until every release.
    Sleep,
    /// The policy releases the first job; the task sleeps until the later ones.
    FirstReleased,
    /// sched_yield ends a job, and the policy releases the next one.
    Released,
}

/// A task as the worker sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// Id in the set.
    pub id: usize,
    /// Name, for messages.
    pub name: String,
    /// Scheduling policy and parameters.
    pub policy: Policy,
    /// How it waits for its next job.
    pub pacing: Pacing,
    /// CPUs it may use.
    pub affinity: CpuList,
    /// Working set size.
    pub size_bytes: u64,
    /// The part of it that its group shares.
    pub shared: Option<SharedPart>,
    /// Read-to-write ratio.
    pub reads_writes: (u32, u32),
    /// Random rather than sequential walk.
    pub random: bool,
    /// Seed of the random walk.
    pub seed: u64,
    /// Whether a policy may release its jobs together with others of their instant.
    pub batching: bool,
}

impl PlannedTask {
    /// Task `id` in its cell, asleep until its releases.
    pub(crate) fn of(
        set: &TaskSet,
        id: usize,
        cell: &Cell,
        policy: Policy,
        regions: &Regions,
        seed: u64,
    ) -> Self {
        let task = &set.tasks()[id];
        let own = task.affinity.as_ref();
        PlannedTask {
            id,
            name: task.name.clone(),
            policy,
            pacing: Pacing::Sleep,
            affinity: own.map_or(cell.cpus.clone(), |own| own.intersection(&cell.cpus)),
            size_bytes: task.working_set.size_bytes,
            shared: regions.part_of(id),
            reads_writes: (task.working_set.reads, task.working_set.writes),
            random: task.working_set.pattern == AccessPattern::Random,
            seed: seed.wrapping_add(id as u64),
            batching: task.batching,
        }
    }

    /// The working set to walk.
    pub fn working_set(&self) -> WorkingSet {
        WorkingSet {
            size_bytes: self.size_bytes,
            reads: self.reads_writes.0,
            writes: self.reads_writes.1,
            pattern: if self.random { AccessPattern::Random } else { AccessPattern::Sequential },
        }
    }
}

impl PlannedTask {
    /// The period of its SCHED_DEADLINE reservation.
    fn reserved_period(&self) -> Option<Duration> {
        self.policy.reservation().map(|reservation| reservation.period)
    }
}

impl Plan {
    /// What its tasks walk, in bytes, with words for the owner: what is shared is there once.
    pub fn memory(&self) -> Vec<(String, u64)> {
        let regions = self.regions.iter().zip(0..).map(|(&bytes, region)| {
            let member = |task: &&PlannedTask| task.shared.is_some_and(|part| part.region == region);
            let first = self.tasks.iter().find(member).map_or("", |task| task.name.as_str());
            (format!("the group of task `{first}`"), bytes)
        });
        let own = self.tasks.iter().map(|task| {
            let shared = task.shared.map_or(0, |part| part.bytes);
            (format!("task `{}`", task.name), task.size_bytes.saturating_sub(shared))
        });
        own.chain(regions).collect()
    }

    /// The CPUs of all cells.
    pub fn cpus(&self) -> CpuList {
        self.cells.iter().flat_map(|cell| cell.cpus.iter()).collect()
    }

    /// True if a task runs under SCHED_DEADLINE.
    pub fn uses_deadline(&self) -> bool {
        self.tasks.iter().any(|task| task.reserved_period().is_some())
    }

    /// The longest period of a task with a reservation whose deadline is shorter and that sleeps until its first release.
    pub fn constrained_period_max(&self) -> Duration {
        let sleeping = self.tasks.iter().filter(|task| task.pacing == Pacing::Sleep);
        let constrained = sleeping.filter_map(|task| match task.policy {
            Policy::Deadline { deadline, period, .. }
            | Policy::Reclaiming { deadline, period, .. }
            | Policy::Ext { deadline, period, .. }
                if deadline < period =>
            {
                Some(period)
            }
            Policy::Deadline { .. }
            | Policy::Reclaiming { .. }
            | Policy::Ext { .. }
            | Policy::Other
            | Policy::Fair { .. }
            | Policy::Fifo { .. }
            | Policy::RoundRobin { .. }
            | Policy::Foreign => None,
        });
        constrained.max().unwrap_or_default()
    }
}

/// Everything the guardian and the workers need to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The cells with their tasks.
    pub cells: Vec<Cell>,
    /// How they are kept apart.
    pub confinement: Confinement,
    /// Real-time tasks; `cells` name them by position here.
    pub tasks: Vec<PlannedTask>,
    /// Memory that groups of tasks share, in bytes.
    pub regions: Vec<u64>,
    /// Releases happen in `[0, duration)`.
    pub duration: Duration,
    /// How much longer jobs may run.
    pub grace: Duration,
    /// The rule for a job that misses its deadline.
    pub on_miss: OnMiss,
    /// How many background threads are always ready on the CPUs of the cells, from before the release to the end.
    pub busy: u32,
    /// How long the kernel may keep the bandwidth of SCHED_DEADLINE tasks that are gone: one longest period.
    pub bandwidth_linger: Duration,
    /// The policy that is to be the kernel's scheduler during the run, if it is one of laxity's own.
    pub attachment: Option<Attachment>,
    /// The program whose scheduler is to be the kernel's during the run, if it is a foreign one.
    pub foreign: Option<String>,
    /// Whether the schedule is recorded.
    pub recorded: bool,
    /// Whether the machine is made quiet for the run, as far as it can be (`--quiet-machine`).
    pub quiet: bool,
    /// What a reader of the results should know.
    pub notes: Vec<String>,
}

/// What shapes a plan besides the set and the placement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanOptions {
    /// Releases happen in `[0, duration)`.
    pub duration: Duration,
    /// How much longer jobs may run; default: the longest deadline, between 50 ms and 10 s.
    pub grace: Option<Duration>,
    /// The rule for a job that misses its deadline.
    pub on_miss: OnMiss,
    /// How many background threads are always ready on the CPUs of the cells, from before the release to the end.
    pub busy: u32,
    /// Margin of SCHED_DEADLINE budgets.
    pub budget_margin: BudgetMargin,
    /// Seed of random walks.
    pub seed: u64,
}

/// Makes the plan and checks it against the kernel's limits. `machine` is every CPU of the machine; `cells` name
/// tasks by their ids in the set; background tasks are in none.
pub fn plan(
    set: &TaskSet,
    scheduler: impl Into<LinuxScheduler>,
    cells: &[Cell],
    machine: &CpuList,
    limits: KernelLimits,
    options: PlanOptions,
) -> Result<Plan> {
    let scheduler = scheduler.into();
    scheduler.rule().map_or(Ok(()), |rule| rule.check(set, &scheduler))?;
    let whole = cells.len() == 1 && cells[0].cpus == *machine;
    let regions = Regions::of(set, options.seed)?;
    let mut plan = Plan {
        cells: Vec::new(),
        confinement: match &scheduler {
            _ if whole => Confinement::WholeMachine,
            LinuxScheduler::Fair(_) | LinuxScheduler::Foreign(_) => Confinement::AffinityMasks,
            LinuxScheduler::Ruled(_) | LinuxScheduler::Reclaiming(_) | LinuxScheduler::RoundRobin(_) => {
                Confinement::Cpusets
            }
        },
        tasks: Vec::new(),
        regions: regions.bytes.clone(),
        duration: options.duration,
        grace: options.grace.unwrap_or_else(|| set.default_grace()),
        on_miss: options.on_miss,
        busy: options.busy,
        bandwidth_linger: Duration::ZERO,
        attachment: None,
        foreign: match &scheduler {
            LinuxScheduler::Foreign(program) => Some(program.as_str().to_owned()),
            LinuxScheduler::Ruled(_)
            | LinuxScheduler::Reclaiming(_)
            | LinuxScheduler::RoundRobin(_)
            | LinuxScheduler::Fair(_) => None,
        },
        recorded: false,
        quiet: false,
        notes: Vec::new(),
    };
    for cell in cells.iter().filter(|cell| !cell.tasks.is_empty()) {
        let whole = scheduler.has_reservations();
        check_affinities(set, &scheduler, whole.then_some("SCHED_DEADLINE"), cell)?;
        let policies = policies(set, &scheduler, cell, limits, options.budget_margin, &mut plan.notes)?;
        let first = plan.tasks.len();
        for (&id, policy) in cell.tasks.iter().zip(policies) {
            plan.tasks.push(PlannedTask::of(set, id, cell, policy, &regions, options.seed));
        }
        plan.cells.push(Cell { tasks: (first..plan.tasks.len()).collect(), ..cell.clone() });
    }
    if scheduler.has_reservations() {
        plan.bandwidth_linger =
            plan.tasks.iter().filter_map(PlannedTask::reserved_period).max().unwrap_or_default();
        plan.notes.push(format!("SCHED_DEADLINE budgets: WCET + margin `{}`", options.budget_margin));
        if !plan.constrained_period_max().is_zero() {
            plan.notes.push(
                "tasks with D < T reserve their budget for 7/8 of T: a late wake-up would else delay all later jobs"
                    .into(),
            );
        }
    }
    Ok(plan)
}

/// A task's own affinity must leave it a CPU, and be no narrower than the cell for a scheduler that accepts no such
/// task.
fn check_affinities(
    set: &TaskSet,
    scheduler: &dyn std::fmt::Display,
    refuses_narrow: Option<&str>,
    cell: &Cell,
) -> Result<()> {
    for &id in &cell.tasks {
        let task = &set.tasks()[id];
        let Some(own) = &task.affinity else { continue };
        if own.intersection(&cell.cpus).is_empty() {
            return Err(Diagnostic::usage(format!(
                "task `{}`: its affinity {own} has no CPU in {}, where {scheduler} would run it",
                task.name, cell.cpus
            ))
            .hint("widen the affinity, or place the task elsewhere"));
        }
        if let Some(class) = refuses_narrow.filter(|_| !cell.cpus.is_subset(own)) {
            return Err(Diagnostic::usage(format!(
                "task `{}`: its affinity {own} is narrower than {}; {class} refuses that",
                task.name, cell.cpus
            ))
            .hint("use a partitioned or clustered scheduler whose cells fit the affinity, or one of SCHED_FIFO (-rm, -dm, -fp)"));
        }
    }
    Ok(())
}

fn reservations(
    set: &TaskSet,
    cell: &Cell,
    limits: KernelLimits,
    margin: BudgetMargin,
) -> Result<Vec<Policy>> {
    let mut total_q20: u64 = 0;
    let mut policies = Vec::new();
    for (&id, budget) in cell.tasks.iter().zip(budgets(set, cell, limits, margin)) {
        let task = &set.tasks()[id];
        let period = task.period();
        if task.deadline_rel > period {
            return Err(Diagnostic::usage(format!(
                "task `{}`: deadline {} exceeds its period {period}; SCHED_DEADLINE needs D <= T",
                task.name, task.deadline_rel
            ))
            .hint("shorten the deadline, or use a scheduler of SCHED_FIFO (-rm, -dm, -fp)"));
        }
        let range = limits.deadline_period_min_us * 1_000..=limits.deadline_period_max_us * 1_000;
        if !range.contains(&period.as_ns()) {
            return Err(Diagnostic::usage(format!(
                "task `{}`: period {period} is outside the {} to {} that SCHED_DEADLINE accepts",
                task.name,
                Duration::from_ns(*range.start()),
                Duration::from_ns(*range.end())
            ))
            .hint("change the sysctls kernel.sched_deadline_period_min_us and _max_us, or the period"));
        }
        let runtime = budget.max(Duration::from_ns(1024));
        let period = reserved_period(task);
        total_q20 = total_q20.saturating_add(to_ratio(runtime.as_ns(), period.as_ns()));
        policies.push(Policy::Deadline { runtime, deadline: task.deadline_rel, period });
    }
    check_bandwidth(total_q20, cell, limits)?;
    Ok(policies)
}

/// The kernel's own test, run beforehand: the sum of budget/period, as it counts them, is at most the limit less its servers, times the
/// CPUs.
fn check_bandwidth(q20: u64, cell: &Cell, limits: KernelLimits) -> Result<()> {
    let limit = limits.admitted_q20().saturating_mul(cell.cpus.len() as u64);
    if q20 <= limit {
        return Ok(());
    }
    let servers = limits.servers_words();
    let bound = match (limits.is_limited(), servers.is_empty()) {
        (false, _) => "what laxity leaves them (95 %, as sched_rt_runtime_us sets no limit)".to_owned(),
        (true, true) => "the kernel's limit (sched_rt_runtime_us)".to_owned(),
        (true, false) => format!("the kernel's limit (sched_rt_runtime_us less {servers})"),
    };
    let cpus_of = |q20: u64| Utilization::ratio(q20, 1 << 20);
    Err(above(cell, cell.tasks.len(), &cpus_of(q20), &bound, &cpus_of(limit)))
}

/// The same under laxity's own policies, where tasks run on `cpus` of the cell's CPUs.
fn check_total(total: &LoadSum, cell: &Cell, cpus: u64, limits: KernelLimits) -> Result<()> {
    let (runtime, period) = limits.share().unwrap_or(SHARE_WITHOUT_LIMIT);
    if total.cmp_ratio(runtime * cpus, period) != Ordering::Greater {
        return Ok(());
    }
    let limit = Utilization::ratio(runtime * cpus, period);
    let bound = match limits.share() {
        Some(_) => "the kernel's limit (sched_rt_runtime_us)",
        None => "what laxity leaves them (95 %, as sched_rt_runtime_us sets no limit)",
    };
    Err(above(cell, cell.tasks.len(), total, bound, &limit))
}

fn above(
    cell: &Cell,
    tasks: usize,
    needed: &impl fmt::Display,
    bound: &str,
    limit: &Utilization,
) -> Diagnostic {
    Diagnostic::usage(format!(
        "CPUs {}: the budgets of their {tasks} tasks need {needed:.3} CPUs, above {bound} of {limit:.3}",
        cell.cpus
    ))
    .hint("lower the load, use a smaller --budget-margin, more CPUs or another placement")
}

#[cfg(test)]
mod tests;
