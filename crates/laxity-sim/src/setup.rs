//! What is simulated: checked before anything runs.

use crate::background::Background;
use crate::changes::{Around, Changes};
use crate::costs::Costs;
use crate::prototypes::Prototypes;
use crate::servers::Servers;
use laxity_model::{
    BudgetMode, Cell, CpuList, Demand, Diagnostic, Duration, Interference, OnMiss, Platform, PolicyScheduler,
    Reserve, Result, Scope, Task, TaskSet, cpus_named,
};
use laxity_policy::Table;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Everything that determines a simulation, to the byte.
#[derive(Clone)]
pub struct Setup<'a> {
    /// The tasks.
    pub set: &'a TaskSet,
    /// The machine.
    pub platform: &'a Platform,
    /// Policy, scope and rule.
    pub scheduler: PolicyScheduler,
    /// Where the tasks are: one cell under global scheduling.
    pub cells: Vec<Cell>,
    /// Jobs arrive in `[0, duration)`.
    pub duration: Duration,
    /// How much longer the simulation goes on, so that late jobs can end.
    pub grace: Duration,
    /// Seed of arrivals, demands, costs.
    pub seed: u64,
    /// What jobs ask for.
    pub demand: Demand,
    /// What happens to a job that exceeds its budget, which is the WCET.
    pub budget_mode: BudgetMode,
    /// The rule for a job that is not done at its deadline. One that is to abort stops at the first instant from
    /// then on at which it has a core: it can stop at any point of its work, but like a thread it notices nothing
    /// while it has no CPU.
    pub on_miss: OnMiss,
    /// Whether jobs of one release instant are released by one timer.
    pub batching: bool,
    /// push-pull: after how many failures a push is given up (3 in Linux; cerqueira2014, II-D).
    pub retries_max: u32,
    /// Makes operations on different CPUs interleave at the granularity of their locks and messages, in an order that
    /// this seed draws. Without it, operations of one instant follow one another.
    pub interleaving: Option<u64>,
    /// What the kernel costs.
    pub costs: &'a Costs,
    /// Tasks that are not real-time.
    pub background: &'a Background,
    /// The deferrable servers that let those go first.
    pub servers: &'a Servers,
    /// What real-time tasks leave of each CPU to those; windows count from instant 0.
    pub reserve: Reserve,
    /// Real-time tasks of the set that run in the background, ascending: no promise holds for them; they run among
    /// the background tasks, within their affinity.
    pub ordinary: Vec<usize>,
    /// What changes while time goes on.
    pub changes: &'a Changes,
    /// What takes CPUs from the scheduler, and gives them back.
    pub interference: &'a [Interference],
    /// Whether the scheduler looks only at the timer ticks of `background`, as in schedsim: jobs, budgets and servers that are at an
    /// end keep their CPU until the next one.
    pub at_ticks: bool,
    /// The prototypes that `scheduler` may name.
    pub prototypes: &'a Prototypes,
    /// Another build of the policy, for tests that break it.
    pub table: Option<Table>,
}

/// The retry limit of Linux and of the SCHED_DEADLINE patch (cerqueira2014, II-D).
pub const RETRIES_MAX: u32 = 3;

/// All real-time tasks on all CPUs, in one cell.
pub fn global_cell(set: &TaskSet, platform: &Platform) -> Cell {
    Cell::new(platform.cpus(), set.real_time().map(|(id, _)| id).collect())
}

/// Simulated instants stay below 2^62 ns (146 years), so that sums of two fit.
const HORIZON_MAX: Duration = Duration::from_ns(1 << 62);

impl<'a> Setup<'a> {
    /// A second of full demand with nothing special: no costs, no budgets, nothing in the background.
    pub fn new(
        set: &'a TaskSet,
        platform: &'a Platform,
        scheduler: PolicyScheduler,
        cells: Vec<Cell>,
    ) -> Setup<'a> {
        static COSTS: LazyLock<Costs> = LazyLock::new(Costs::default);
        static BACKGROUND: LazyLock<Background> = LazyLock::new(Background::default);
        static SERVERS: LazyLock<Servers> = LazyLock::new(Servers::default);
        static CHANGES: LazyLock<Changes> = LazyLock::new(Changes::default);
        static PROTOTYPES: Prototypes = Prototypes::NONE;
        Setup {
            set,
            platform,
            scheduler,
            cells,
            duration: Duration::from_secs(1),
            grace: set.default_grace(),
            seed: 1,
            demand: Demand::Wcet,
            budget_mode: BudgetMode::Off,
            on_miss: OnMiss::Continue,
            batching: true,
            retries_max: RETRIES_MAX,
            interleaving: None,
            costs: &COSTS,
            background: &BACKGROUND,
            servers: &SERVERS,
            reserve: Reserve::NONE,
            ordinary: Vec::new(),
            changes: &CHANGES,
            interference: &[],
            at_ticks: false,
            prototypes: &PROTOTYPES,
            table: None,
        }
    }

    /// Refuses what cannot be simulated.
    ///
    /// # Errors
    ///
    /// Usage errors that name the cell, the task or the option.
    pub fn check(&self) -> Result<()> {
        if self.duration.is_zero() {
            return Err(Diagnostic::usage("duration 0ns: a simulation must release jobs for some time")
                .hint("try --duration 10s"));
        }
        if self.duration.checked_add(self.grace).is_none_or(|horizon| horizon > HORIZON_MAX) {
            return Err(Diagnostic::usage(format!(
                "duration {} and grace {}: a simulation covers at most 2^62 ns (146 years)",
                self.duration, self.grace
            ))
            .hint("check the unit: ns, us, ms, s, m (minutes) or h"));
        }
        self.scheduler.rule.check(self.set, &self.scheduler)?;
        self.check_prototype()?;
        if self.at_ticks && self.on_miss != OnMiss::Continue {
            return Err(Diagnostic::usage(format!(
                "a scheduler that looks at ticks only does not say when a job is done, which `{}` at its deadline depends on",
                self.on_miss
            ))
            .hint("let late jobs run to their end (--on-miss continue), as schedsim does, or leave --at-ticks out"));
        }
        self.background.check()?;
        self.servers.check(self.platform)?;
        if !self.servers.of.is_empty() && self.scheduler.scope != Scope::Partitioned {
            return Err(Diagnostic::usage(format!(
                "`{}` migrates tasks; deferrable servers belong to CPUs of their own",
                self.scheduler
            ))
            .hint("use `amp-rm`, or a policy per CPU such as `p-fpp:rm`"));
        }
        if !self.reserve.is_none() && (self.interleaving.is_some() || !self.costs.kernel_is_zero()) {
            return Err(Diagnostic::usage(format!(
                "a reserve of {} is simulated where the kernel's work takes no time only",
                self.reserve
            ))
            .hint("leave out --interleave, and simulate with the costs of caches alone or without --costs"));
        }
        self.changes.check(&Around {
            policy: self.scheduler.policy,
            at_ticks: self.at_ticks,
            duration: self.duration,
            set: self.set,
            platform: self.platform,
        })?;
        if self.has_ordinary_tasks() && (self.interleaving.is_some() || !self.costs.is_zero()) {
            return Err(Diagnostic::usage(
                "real-time tasks in the background cost nothing yet: neither their switches nor their caches",
            )
            .hint("leave out --costs and --interleave, or let all tasks be admitted"));
        }
        if self.has_ordinary_tasks() && self.on_miss != OnMiss::Continue {
            return Err(Diagnostic::usage(format!(
                "`{}` is for real-time tasks, and some tasks of the set run in the background",
                self.on_miss
            ))
            .hint("let late jobs run to their end (--on-miss continue)"));
        }
        self.check_interference()?;
        for cell in &self.cells {
            self.costs.check(u32::try_from(cell.tasks.len()).unwrap_or(u32::MAX))?;
        }
        self.check_cells()
    }

    /// A prototype chooses among jobs, and nothing more is known of it.
    fn check_prototype(&self) -> Result<()> {
        let Some(prototype) = self.scheduler.policy.prototype() else { return Ok(()) };
        self.prototypes.get(prototype)?;
        let beside = if self.budget_mode != BudgetMode::Off {
            "budgets: it sees what its jobs have used, and can keep accounts of its own"
        } else if !self.costs.kernel_is_zero() || self.interleaving.is_some() {
            "costs of the kernel or interleaved operations: what its decisions cost is not known"
        } else if self.at_ticks {
            "a scheduler that looks at ticks only: it can name the instants at which it is asked"
        } else if !self.reserve.is_none() {
            "a reserve: it can leave CPUs idle itself"
        } else {
            return Ok(());
        };
        Err(Diagnostic::usage(format!("`{}` is not simulated beside {beside}", self.scheduler))
            .hint("leave out one or the other"))
    }

    fn check_interference(&self) -> Result<()> {
        let Some(first) = self.interference.first() else { return Ok(()) };
        Interference::check_all(self.interference, &self.platform.cpus())?;
        if let Some(late) = self.interference.iter().find(|one| one.from() >= self.duration) {
            return Err(Diagnostic::usage(format!(
                "interference `{late}` begins when no more jobs are released: that is from {} on",
                self.duration
            ))
            .hint("let it begin before, or simulate for longer (--duration)"));
        }
        for cell in self.cells.iter().filter(|_| self.scheduler.policy.dedicates_a_core()) {
            let dedicated = cell.cpus.iter().last();
            if let Some(one) = self.interference.iter().find(|one| Some(one.cpu()) == dedicated) {
                return Err(Diagnostic::usage(format!(
                    "interference `{one}`: `{}` dedicates CPU {} to scheduling, which goes on in interrupts whatever has the CPU",
                    self.scheduler,
                    one.cpu()
                ))
                .hint("take a CPU that runs tasks, or simulate another scheduler"));
            }
        }
        let beside = if !self.costs.is_zero() {
            "costs: how long the kernel's work waits for what has the CPU, and what that does to caches, is not modelled"
        } else if self.at_ticks {
            "a scheduler that looks at ticks only: it would notice later"
        } else if !self.reserve.is_none() || !self.servers.of.is_empty() {
            "a reserve or servers: whether other work is owed the time that is taken is not modelled"
        } else if self.has_ordinary_tasks() {
            "changes and real-time tasks in the background"
        } else if self.scheduler.policy.has_servers() && !self.background.tasks.is_empty() {
            "background tasks that wait for one CPU each"
        } else {
            return Ok(());
        };
        Err(Diagnostic::usage(format!("interference `{first}` is not simulated beside {beside}"))
            .hint("leave out one or the other"))
    }

    /// Whether tasks of the set run, or may come to run, in the background.
    pub(crate) fn has_ordinary_tasks(&self) -> bool {
        !self.ordinary.is_empty() || !self.changes.list.is_empty()
    }

    fn check_cells(&self) -> Result<()> {
        let mut homes = vec![0usize; self.set.tasks().len()];
        let cpus = self.platform.cpus();
        let mut taken = BTreeSet::new();
        for cell in &self.cells {
            if !cell.cpus.is_subset(&cpus) {
                return Err(Diagnostic::usage(format!(
                    "a cell has {} but platform `{}` has only {}",
                    cpus_named(&cell.cpus),
                    self.platform.name(),
                    cpus_named(cpus)
                ))
                .hint("use CPUs of the platform"));
            }
            let shared: CpuList = cell.cpus.iter().filter(|&cpu| !taken.insert(cpu)).collect();
            if !shared.is_empty() {
                return Err(Diagnostic::usage(format!("in two cells: {}", cpus_named(shared)))
                    .hint("cells must not share CPUs"));
            }
            let needed = if self.scheduler.policy.dedicates_a_core() { 2 } else { 1 };
            if cell.cpus.len() < needed && !cell.tasks.is_empty() {
                return Err(Diagnostic::usage(format!(
                    "`{}` dedicates a CPU to scheduling and needs two CPUs or more; the cell of {} has {}",
                    self.scheduler,
                    cpus_named(&cell.cpus),
                    cell.cpus.len()
                ))
                .hint("give it two CPUs or more: --cpus 2, or larger clusters"));
            }
            for &task in &cell.tasks {
                self.check_affinity(task, cell)?;
                homes[task] += 1;
            }
        }
        for &task in &self.ordinary {
            homes[task] += 1;
        }
        self.check_ordinary_affinities()?;
        let elsewhere = |id: usize| usize::from(self.changes.lets_enter(id));
        let wrong = self.set.real_time().find(|&(id, _)| homes[id] + elsewhere(id) != 1);
        match wrong {
            Some((id, task)) => Err(Diagnostic::usage(format!(
                "task `{}` is in {} cells; every real-time task needs exactly one",
                task.name, homes[id]
            ))
            .hint("place every task")),
            None => Ok(()),
        }
    }

    /// A task that runs, or may come to run, in the background runs within its affinity.
    fn check_ordinary_affinities(&self) -> Result<()> {
        let may_be = |id: usize| !self.changes.list.is_empty() || self.ordinary.contains(&id);
        let cpus = self.platform.cpus();
        let nowhere =
            |task: &Task| task.affinity.as_ref().is_some_and(|own| own.intersection(&cpus).is_empty());
        match self.set.real_time().find(|&(id, task)| may_be(id) && nowhere(task)) {
            Some((_, task)) => Err(Diagnostic::usage(format!(
                "task `{}` may run on none of the CPUs {cpus} of platform `{}`",
                task.name,
                self.platform.name()
            ))
            .hint("give it an affinity with one of them, or none")),
            None => Ok(()),
        }
    }

    fn check_affinity(&self, task: usize, cell: &Cell) -> Result<()> {
        let task = &self.set.tasks()[task];
        match &task.affinity {
            Some(own) if !cell.cpus.is_subset(own) => Err(Diagnostic::usage(format!(
                "task `{}` may run on {} only, but would migrate over {}",
                task.name,
                cpus_named(own),
                cpus_named(&cell.cpus)
            ))
            .hint(
                "use partitioned or clustered scheduling whose cells respect the affinities, or drop them",
            )),
            _ => Ok(()),
        }
    }
}
