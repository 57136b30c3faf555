//! What a schedule claims to be: the task set and the parts of the scheduler that decide, without the scheduler.
//!
//! 1. Clusters are disjoint; every real-time task belongs to exactly one. Global scheduling is one cluster, partitioned
//!    scheduling clusters of one CPU. A dedicated CPU belongs to its cluster and runs no task.
//! 2. The order of jobs is total: the smaller key goes first, among equal keys the smaller task id. The key is the job's
//!    absolute deadline under EDF and the task's number under fixed priorities.
//!    Where tasks of a cluster share priorities of SCHED_FIFO ([`Definition::with_fifo_levels`]), either of two equals may go
//!    first; both go before whatever has a larger key. Under SCHED_RR all tasks are equals: what is checked is that no CPU idles
//!    while one is ready, not whose turn it is.
//!    Where laxities matter ([`Definition::with_laxities`]), jobs without any go before all others (`verification/laxities.rs`).
//!    Where the order is free ([`Definition::with_free_order`]), as that of a prototype which claims none, it is not checked.
//! 3. A task's jobs run one after the other, in the order of their releases.

mod clusters;
mod defined;

pub use clusters::Cluster;

use crate::Transitions;
use clusters::{check_cpus, clusters_of, membership};
use defined::Defined;
use laxity_generate::{JobSpec, jobs_of};
use laxity_model::{
    BudgetMode, DeferrableServer, Demand, Diagnostic, Duration, FIFO_LEVELS, Interference, OnMiss, Platform,
    PriorityRule, Reserve, Result, Scope, Speed, Task, TaskKind, TaskSet,
};
use laxity_trace::{Host, Run};
use std::collections::{BTreeMap, BTreeSet};

/// By which rule budgets are checked. The budget is the WCET, per period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetRule {
    /// Budgets are enforced in this way.
    Enforced(BudgetMode),
    /// The scheduler keeps accounts of its own, and the trace says what they come to: a job waits from its `throttle` to its
    /// `replenish`, and is scheduled by the deadline that its last `replenish` gave. Neither is checked.
    Followed,
}

impl BudgetRule {
    /// Budgets are not enforced.
    pub const OFF: BudgetRule = BudgetRule::Enforced(BudgetMode::Off);
    /// A job that has used up its budget waits for the next.
    pub const THROTTLE: BudgetRule = BudgetRule::Enforced(BudgetMode::Throttle);
    /// It goes on with a later deadline.
    pub const POSTPONE: BudgetRule = BudgetRule::Enforced(BudgetMode::Postpone);
}

impl From<BudgetMode> for BudgetRule {
    fn from(mode: BudgetMode) -> Self {
        BudgetRule::Enforced(mode)
    }
}

/// Where releases and demands come from: [`jobs_of`] with these arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobSource {
    /// The run's seed.
    pub seed: u64,
    /// The run's demand; a task's own goes before it.
    pub demand: Demand,
}

/// The definition that a schedule is checked against. Made by [`Definition::global`], [`Definition::clustered`] or
/// [`Definition::of_run`], refined by the methods that follow.
#[derive(Debug, Clone)]
pub struct Definition {
    set: TaskSet,
    clusters: Vec<Cluster>,
    cluster_of: Vec<Option<usize>>,
    rule: PriorityRule,
    priorities: Vec<u64>,
    free_ties: Vec<bool>,
    speeds: BTreeMap<u32, Speed>,
    duration: Duration,
    budgets: BudgetRule,
    batching: bool,
    on_miss: OnMiss,
    jobs: Option<JobSource>,
    free_arrivals: BTreeSet<u32>,
    transitions: Transitions,
    servers: Vec<(u32, DeferrableServer)>,
    reserve: Option<(Reserve, bool)>,
    interference: Vec<Interference>,
    changes: bool,
    laxities: bool,
    free_order: bool,
    seen_from_outside: bool,
}

impl Definition {
    /// One cluster of all CPUs. Releases happen in `[0, duration)`.
    pub fn global(set: TaskSet, platform: &Platform, rule: PriorityRule, duration: Duration) -> Result<Self> {
        let tasks = real_time_ids(&set);
        Self::clustered(set, platform, rule, vec![Cluster::new(platform.cpus(), tasks)], duration)
    }

    /// The given clusters. Releases happen in `[0, duration)`.
    ///
    /// # Errors
    ///
    /// Clusters that overlap, name CPUs that the platform lacks or leave none for tasks; a real-time task in no cluster
    /// or in two, or with an affinity outside its cluster; given priorities that are not given.
    pub fn clustered(
        set: TaskSet,
        platform: &Platform,
        rule: PriorityRule,
        clusters: Vec<Cluster>,
        duration: Duration,
    ) -> Result<Self> {
        check_cpus(&clusters, &platform.cpus())?;
        let cluster_of = membership(&set, &clusters)?;
        let priorities = set.tasks().iter().map(|task| priority(rule, task)).collect::<Result<_>>()?;
        let speeds = platform.cores().iter().map(|core| (core.cpu, core.speed)).collect();
        let free_ties = vec![false; clusters.len()];
        Ok(Definition {
            set,
            clusters,
            cluster_of,
            rule,
            priorities,
            free_ties,
            speeds,
            duration,
            budgets: BudgetRule::OFF,
            batching: false,
            on_miss: OnMiss::Continue,
            jobs: None,
            free_arrivals: BTreeSet::new(),
            transitions: Transitions::default(),
            servers: Vec::new(),
            reserve: None,
            interference: Vec::new(),
            changes: false,
            laxities: false,
            free_order: false,
            seen_from_outside: false,
        })
    }

    /// The definition of a run's scheduler: scope, rule and dedicated CPUs from its name, clusters from its placement. Background tasks
    /// belong to no cluster.
    ///
    /// # Errors
    ///
    /// A scheduler that is not known or of which there is no definition, a clustered or partitioned run without a placement, a placement
    /// that names unknown tasks, and what [`Definition::clustered`] refuses.
    pub fn of_run(set: TaskSet, platform: &Platform, run: &Run) -> Result<Self> {
        let scheduler = Defined::of(run)?;
        let ordinary = run.placement.as_ref().map_or(&[][..], |placement| &placement.ordinary);
        let set = with_ordinary(set, ordinary)?;
        let mut clusters = match (&run.placement, scheduler.scope) {
            (Some(placement), _) => clusters_of(&set, placement)?,
            (None, Scope::Global) => vec![Cluster::new(platform.cpus(), real_time_ids(&set))],
            (None, _) => {
                return Err(Diagnostic::usage(format!(
                    "run {} under `{}` has no placement; which task belongs to which CPUs is not known",
                    run.id, run.scheduler
                ))
                .hint("verify the results of a run that records its placement"));
            }
        };
        if scheduler.dedicates_a_core {
            for cluster in &mut clusters {
                cluster.dedicated = cluster.cpus.iter().last().into_iter().collect();
            }
        }
        if scheduler.takes_turns {
            return Self::clustered(all_equal(&set)?, platform, scheduler.rule, clusters, run.duration)
                .map(|definition| Definition { set, ..definition }.with_fifo_levels());
        }
        let mut definition = Self::clustered(set, platform, scheduler.rule, clusters, run.duration)?;
        if scheduler.minds_laxity {
            definition = definition.with_laxities();
            definition.seen_from_outside = run.host != Host::Simulator;
        }
        definition.free_order = scheduler.claims_no_order;
        Ok(if scheduler.by_the_kernel { definition.with_fifo_levels() } else { definition })
    }

    /// Says that the kernel's SCHED_FIFO schedules under fixed priorities, as a run's plan has it: tasks that share a level
    /// ([`PriorityRule::fifo_levels`]) are equals. Where a cluster has more tasks than there are levels, its keys are levels.
    /// Changes nothing under EDF.
    #[must_use]
    pub fn with_fifo_levels(mut self) -> Self {
        if self.rule == PriorityRule::EarliestDeadlineFirst {
            return self;
        }
        for (cluster, free_ties) in self.clusters.iter().zip(&mut self.free_ties) {
            let numbered = |&task: &u32| (self.priorities[task as usize], task as usize);
            let numbers: Vec<(u64, usize)> = cluster.tasks.iter().map(numbered).collect();
            let levels = self.rule.fifo_levels(&numbers);
            let distinct: BTreeSet<usize> = levels.iter().copied().collect();
            *free_ties = distinct.len() < levels.len();
            if levels.len() > FIFO_LEVELS {
                for (&task, level) in cluster.tasks.iter().zip(levels) {
                    self.priorities[task as usize] = level as u64;
                }
            }
        }
        self
    }

    /// Whether either of two jobs with equal keys may go first in a cluster.
    pub fn has_free_ties(&self, cluster: usize) -> bool {
        self.free_ties[cluster] || (self.laxities && !self.has_exact_laxities())
    }

    /// Says that a job whose laxity has run out goes before all that have some, under EDF.
    #[must_use]
    pub fn with_laxities(self) -> Self {
        Definition { laxities: true, ..self }
    }

    /// Says that any ready job may run, and any CPU idle: nothing is checked of which does.
    #[must_use]
    pub fn with_free_order(self) -> Self {
        Definition { free_order: true, ..self }
    }

    /// See [`Definition::with_free_order`].
    pub fn has_free_order(&self) -> bool {
        self.free_order
    }

    /// Says that the trace is of a real kernel, where when laxities run out does not show.
    #[must_use]
    pub fn seen_from_outside(self) -> Self {
        Definition { seen_from_outside: true, ..self }
    }

    /// See [`Definition::with_laxities`].
    pub fn minds_laxity(&self) -> bool {
        self.laxities
    }

    /// Whether when laxities run out is known: scheduling takes no time, and what was chosen runs.
    pub fn has_exact_laxities(&self) -> bool {
        let as_chosen = !self.seen_from_outside && self.reserve.is_none();
        self.laxities && self.transitions == Transitions::NONE && as_chosen
    }

    /// Says on which CPUs other work goes before real-time jobs, and for how long (nowhere without this). By CPU number; each CPU
    /// once, and a cluster by itself.
    pub fn with_servers(mut self, servers: Vec<(u32, DeferrableServer)>) -> Self {
        self.servers = servers;
        self
    }

    /// Says what jobs leave of each CPU to other work (nothing without this), which waits for CPUs of its own if it `has_queues`, one
    /// for each CPU, and else for any.
    #[must_use]
    pub fn with_reserve(self, reserve: Reserve, has_queues: bool) -> Self {
        Definition { reserve: (!reserve.is_none()).then_some((reserve, has_queues)), ..self }
    }

    /// See [`Definition::with_reserve`].
    pub fn reserve(&self) -> Option<(Reserve, bool)> {
        self.reserve
    }

    /// Says when something above the scheduler has CPUs (never without this): they are not there for jobs then. Not of dedicated ones.
    #[must_use]
    pub fn with_interference(self, interference: Vec<Interference>) -> Self {
        Definition { interference, ..self }
    }

    /// See [`Definition::with_interference`].
    pub fn interference(&self) -> &[Interference] {
        &self.interference
    }

    /// Says that tasks become real-time tasks and background ones, and servers get other sizes, as the trace says when.
    #[must_use]
    pub fn with_changes(self) -> Self {
        Definition { changes: true, ..self }
    }

    /// See [`Definition::with_changes`].
    pub fn has_changes(&self) -> bool {
        self.changes
    }

    /// See [`Definition::with_servers`].
    pub fn servers(&self) -> &[(u32, DeferrableServer)] {
        &self.servers
    }

    /// Says how budgets are enforced (off without this).
    #[must_use]
    pub fn with_budgets(self, budgets: impl Into<BudgetRule>) -> Self {
        Definition { budgets: budgets.into(), ..self }
    }

    /// Says that jobs of one release instant are released together.
    #[must_use]
    pub fn with_batching(self, batching: bool) -> Self {
        Definition { batching, ..self }
    }

    /// Says what late jobs do (they run on without this). One that is to abort does so as soon as it has a CPU, at its
    /// deadline or later.
    #[must_use]
    pub fn with_on_miss(self, on_miss: OnMiss) -> Self {
        Definition { on_miss, ..self }
    }

    /// Says where releases and demands come from, so that they are checked exactly.
    #[must_use]
    pub fn with_jobs(self, seed: u64, demand: Demand) -> Self {
        Definition { jobs: Some(JobSource { seed, demand }), ..self }
    }

    /// Says whose jobs arrive when their threads wake up, as they will: nothing is demanded of the time between two arrivals.
    #[must_use]
    pub fn with_free_arrivals(self, tasks: impl IntoIterator<Item = u32>) -> Self {
        Definition { free_arrivals: tasks.into_iter().collect(), ..self }
    }

    /// Says which deviations are tolerated (none without this).
    #[must_use]
    pub fn with_transitions(self, transitions: Transitions) -> Self {
        Definition { transitions, ..self }
    }

    /// The task set.
    pub fn set(&self) -> &TaskSet {
        &self.set
    }

    /// The clusters.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// The CPUs that a task may use; none if it is in no cluster.
    pub(crate) fn cpus_of(&self, task: u32) -> Vec<u32> {
        let Some(cluster) = self.cluster_of(task) else { return Vec::new() };
        let all = self.clusters()[cluster].task_cpus();
        match &self.set().tasks()[task as usize].affinity {
            Some(affinity) => all.intersection(affinity).iter().collect(),
            None => all.iter().collect(),
        }
    }

    /// The cluster of a task; nothing for a background task or an unknown id.
    pub fn cluster_of(&self, task: u32) -> Option<usize> {
        self.cluster_of.get(task as usize).copied().flatten()
    }

    /// What decides between two jobs.
    pub fn rule(&self) -> PriorityRule {
        self.rule
    }

    /// The key of a job (assumption 2), from its absolute deadline.
    pub fn key(&self, task: u32, deadline_abs: u64) -> u64 {
        match self.rule {
            // In what order is not known: all are equals.
            _ if self.laxities && !self.has_exact_laxities() => 0,
            PriorityRule::EarliestDeadlineFirst => deadline_abs,
            PriorityRule::RateMonotonic | PriorityRule::DeadlineMonotonic | PriorityRule::Given => {
                self.priorities[task as usize]
            }
        }
    }

    /// The speed of a CPU; 1 for one that the platform lacks.
    pub fn speed(&self, cpu: u32) -> Speed {
        self.speeds.get(&cpu).copied().unwrap_or(Speed::UNIT)
    }

    /// Releases happen before this instant.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// How budgets are enforced.
    pub fn budgets(&self) -> BudgetRule {
        self.budgets
    }

    /// Whether jobs of one release instant are released together.
    pub fn batching(&self) -> bool {
        self.batching
    }

    /// What late jobs do.
    pub fn on_miss(&self) -> OnMiss {
        self.on_miss
    }

    /// Where releases and demands come from.
    pub fn job_source(&self) -> Option<JobSource> {
        self.jobs
    }

    /// Whether jobs of the task arrive when they will.
    pub fn arrives_freely(&self, task: u32) -> bool {
        self.free_arrivals.contains(&task)
    }

    /// Which deviations are tolerated.
    pub fn transitions(&self) -> Transitions {
        self.transitions
    }

    /// The jobs that are released in `[0, duration)`, by task; demands are WCETs where no source is known.
    pub fn jobs(&self) -> Vec<Vec<JobSpec>> {
        let source = self.jobs.unwrap_or(JobSource { seed: 0, demand: Demand::Wcet });
        let of_task = |(id, task): (usize, &Task)| match self.cluster_of[id] {
            Some(_) => jobs_of(task, id, source.seed, source.demand).before(self.duration).collect(),
            None => Vec::new(),
        };
        self.set.tasks().iter().enumerate().map(of_task).collect()
    }
}

/// The set with one priority for all.
fn all_equal(set: &TaskSet) -> Result<TaskSet> {
    let equal = |task: &Task| Task { priority: Some(1), ..task.clone() };
    TaskSet::new(set.name(), set.tasks().iter().map(equal).collect())
}

/// The set with these as background tasks.
fn with_ordinary(set: TaskSet, names: &[String]) -> Result<TaskSet> {
    if names.is_empty() {
        return Ok(set);
    }
    let mut tasks = set.tasks().to_vec();
    for task in tasks.iter_mut().filter(|task| names.contains(&task.name)) {
        task.kind = TaskKind::BestEffort;
    }
    TaskSet::new(set.name(), tasks)
}

fn real_time_ids(set: &TaskSet) -> Vec<u32> {
    set.real_time().map(|(id, _)| task_id(id)).collect()
}

/// A task's id as events have it.
pub(crate) fn task_id(index: usize) -> u32 {
    u32::try_from(index).expect("a set has at most TASKS_MAX tasks")
}

fn priority(rule: PriorityRule, task: &Task) -> Result<u64> {
    let best_effort = task.kind == TaskKind::BestEffort;
    match rule {
        PriorityRule::EarliestDeadlineFirst => Ok(0),
        PriorityRule::RateMonotonic | PriorityRule::DeadlineMonotonic | PriorityRule::Given => {
            rule.fixed_priority(task).or(best_effort.then_some(u64::MAX)).ok_or_else(|| {
                Diagnostic::usage(format!(
                    "task `{}` has no priority, which rule `{}` needs",
                    task.name,
                    rule.name()
                ))
                .hint("give every task a `priority`, or verify against rm, dm or edf")
            })
        }
    }
}
