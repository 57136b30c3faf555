//! Every scheduler's part of the experiment: a placement and a plan, or the reason why there is none.

use super::Settings;
use crate::charges::{Charges, Kernel};
use crate::deploy;
use crate::observer::{Steps, check_interrupt};
use crate::places::{ByLoad, Configured, Finder, Same, Wanted, drop_same};
use crate::placing::check_capacity;
use crate::placing::{Placed, Placing};
use crate::schedulers::Choice;
use crate::schedulers::TriedScheduler;
use laxity_model::{
    AnyScheduler, Cell, CpuList, Diagnostic, Duration, Failure, LinuxScheduler, Platform, PolicyScheduler,
    Result, Scope, TaskKind, TaskSet, Utilization, scheduler_of,
};
use laxity_run::{BudgetMargin, Capabilities, Confinement, KernelLimits, Plan, PlanOptions};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// One scheduler's part of the experiment on one set: a plan, or the reason why there is none.
pub struct Part {
    /// Index of the set.
    pub set: usize,
    /// The scheduler.
    pub scheduler: TriedScheduler,
    /// Where its tasks go.
    pub placed: Option<Placed>,
    /// What is run, or why nothing is.
    pub plan: Result<Plan>,
}

/// What plans depend on besides the set.
struct Planner<'a> {
    settings: &'a Settings,
    capabilities: &'a Capabilities,
    machine: CpuList,
    limits: KernelLimits,
    /// As tests see it.
    seen: Platform,
    charges: Charges,
    interrupt: &'static AtomicBool,
}

/// What there is before a run is made.
pub const NOTHING: &str = "nothing was run";

impl Configured for Part {
    fn set(&self) -> usize {
        self.set
    }

    fn configuration(&self) -> &str {
        &self.scheduler.name
    }

    fn placed(&mut self) -> Option<&mut Placed> {
        self.placed.as_mut()
    }
}

/// Places and plans every set under every scheduler; those that are another one are told and left out. An interruption is an error:
/// there is nothing yet.
pub fn parts(
    sets: &[TaskSet],
    settings: &Settings,
    capabilities: &Capabilities,
    interrupt: &'static AtomicBool,
) -> Result<(Vec<Part>, Vec<Same>)> {
    let planner = Planner::of(settings, capabilities, interrupt)?;
    let mut steps = Steps::new(sets.len(), &*settings.caller.observer);
    let mut parts = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        let step = steps.begin(&format!("placing {}", set.name()));
        parts.extend(planner.parts_of(index, set));
        step.end(None);
        check_interrupt(interrupt, NOTHING)?;
    }
    let same = drop_same(&mut parts);
    Ok((parts, same))
}

impl<'a> Planner<'a> {
    fn of(
        settings: &'a Settings,
        capabilities: &'a Capabilities,
        interrupt: &'static AtomicBool,
    ) -> Result<Self> {
        Ok(Planner {
            settings,
            capabilities,
            machine: laxity_run::online_cpus()?,
            limits: KernelLimits::read(&settings.platform.cpus()),
            seen: settings.platform_of_demand()?,
            charges: settings.analyse.clone().unwrap_or_else(|| {
                Charges::default().beside_kernel(Kernel::running(&settings.platform.cpus(), false))
            }),
            interrupt,
        })
    }

    fn parts_of(&self, index: usize, set: &TaskSet) -> Vec<Part> {
        let placing = self.settings.placing(self.interrupt);
        let mut by_load = ByLoad::of(set);
        let part = |scheduler: &TriedScheduler| {
            let (placed, plan) = if scheduler.has_servers() {
                self.planned(set, scheduler, self.placed_below_servers(set, scheduler))
            } else if let Err(why) =
                scheduler.policy().map_or(Ok(()), |own| check_capacity(set, own, &placing))
            {
                (None, Err(why))
            } else {
                self.placed_and_planned(set, scheduler, &mut by_load)
            };
            Part { set: index, scheduler: scheduler.clone(), placed, plan }
        };
        self.settings.schedulers.iter().map(part).collect()
    }

    fn planned(
        &self,
        set: &TaskSet,
        scheduler: &TriedScheduler,
        placed: Result<Placed>,
    ) -> (Option<Placed>, Result<Plan>) {
        match placed {
            Err(error) => (None, Err(error)),
            Ok(placed) => {
                let plan = self.plan(set, scheduler, &placed);
                (Some(placed), plan)
            }
        }
    }

    /// Where amp-rm's tasks go: what it would refuse is not run.
    fn placed_below_servers(&self, set: &TaskSet, scheduler: &TriedScheduler) -> Result<Placed> {
        let (method, below) = &self.settings.below;
        let method = scheduler.placement.and_then(Choice::named).unwrap_or(*method);
        let placing = Placing { method, ..self.settings.placing(self.interrupt) };
        if method.may_solve() {
            // Asked for by name: by load.
            return placing.place(set, Scope::Partitioned, false, self.settings.limit.clone());
        }
        placing.place_below(set, below, self.settings.limit.clone(), (&[], false))
    }

    fn finder(&self, scheduler: &TriedScheduler) -> Finder<'_> {
        let settings = self.settings;
        let how = (scheduler.placement.unwrap_or(settings.placement), settings.fit);
        Finder {
            limit: settings.limit.clone(),
            seen: &self.seen,
            charges: (&self.charges, &self.seen),
            ..Finder::new(settings.placing(self.interrupt), how, &self.charges, self.interrupt)
        }
    }

    /// In the places that are proven and that the kernel takes; where there are none, in such as the kernel takes; else where they
    /// would be best if it did.
    ///
    /// By load, all schedulers of a scope share a placement (lelli2012, 5.4). Only if admission to SCHED_DEADLINE or to a policy would
    /// refuse it, one that stays below the kernel's limit is looked for.
    fn placed_and_planned(
        &self,
        set: &TaskSet,
        scheduler: &TriedScheduler,
        by_load: &mut ByLoad<'_>,
    ) -> (Option<Placed>, Result<Plan>) {
        let finder = self.finder(scheduler);
        let wanted = Wanted {
            set,
            name: scheduler_of(&scheduler.name).0,
            scheduler: scheduler.analysed(),
            scope: scheduler.scope(),
            dedicated: scheduler.dedicates_a_core(),
        };
        let own = by_load.places(&finder, wanted.scope, wanted.dedicated);
        let takes = |cpus: &CpuList, tasks: &[usize]| self.takes(set, scheduler, cpus, tasks);
        let taken = Finder { takes: Some(&takes), ..finder.clone() }.find(wanted, own.clone());
        let (placed, plan) = self.planned(set, scheduler, taken);
        if plan.is_ok() || placed.is_none() {
            return (placed, plan);
        }
        if let Some((within, plan)) = self.within_limit(&finder, wanted, scheduler) {
            return (Some(within), Ok(plan));
        }
        match finder.find(wanted, own) {
            Ok(best) => (Some(best), plan),
            Err(_) => (placed, plan),
        }
    }

    /// Whether these tasks can be planned in a cell. What the machine lacks is no matter of places.
    fn takes(&self, set: &TaskSet, scheduler: &TriedScheduler, cpus: &CpuList, tasks: &[usize]) -> bool {
        let cell = Cell::new(cpus.clone(), tasks.to_vec());
        let plan = self.plan_cells(set, scheduler, &[cell], self.settings.budget_margin);
        !plan.is_err_and(|why| why.failure == Failure::Usage)
    }

    /// Places by load in which every cell stays below the kernel's limit, where admission is by loads.
    fn within_limit(
        &self,
        finder: &Finder<'_>,
        wanted: Wanted<'_>,
        scheduler: &TriedScheduler,
    ) -> Option<(Placed, Plan)> {
        let is_admitted = match scheduler.linux() {
            Some(linux) => linux.has_reservations(),
            None => self.capabilities.sched_ext.is_ok(),
        };
        if !is_admitted || wanted.scope == Scope::Global || self.settings.limit.is_some() {
            return None;
        }
        let (runtime, period) = self.limit_of(scheduler)?;
        let limit = Some(Utilization::ratio(runtime, period));
        let finder = Finder { limit, ..finder.clone() };
        let mut own = finder.by_load(wanted.set, wanted.scope, wanted.dedicated).ok()?;
        let plan = self.plan(wanted.set, scheduler, &own).ok()?;
        own.record.notes.push("placed below the kernel's limit, other than for SCHED_FIFO".into());
        Some((own, plan))
    }

    /// The share of every CPU that admission leaves to real-time tasks under the scheduler.
    fn limit_of(&self, scheduler: &TriedScheduler) -> Option<(u64, u64)> {
        let limits = self.limits_of(scheduler);
        match scheduler.linux() {
            Some(_) => limits.is_limited().then(|| (limits.admitted_q20(), 1 << 20)),
            None => limits.share(),
        }
    }

    /// What real-time tasks may have of every CPU under the scheduler.
    fn limits_of(&self, scheduler: &TriedScheduler) -> KernelLimits {
        let platform = &self.settings.platform;
        if !scheduler.has_servers() {
            return self.limits;
        }
        let servers = &self.settings.policy.servers;
        let cores = platform.cores().iter();
        let beside = cores.map(|core| self.limits.beside(servers.on(platform, core.cpu)));
        beside.min_by_key(|limits| limits.rt_runtime_us).unwrap_or(self.limits)
    }

    fn plan(&self, set: &TaskSet, scheduler: &TriedScheduler, placed: &Placed) -> Result<Plan> {
        self.plan_cells(set, scheduler, &placed.cells, self.settings.budget_margin)
    }

    fn plan_cells(
        &self,
        set: &TaskSet,
        scheduler: &TriedScheduler,
        cells: &[Cell],
        budget_margin: BudgetMargin,
    ) -> Result<Plan> {
        let settings = self.settings;
        let options = PlanOptions {
            duration: settings.duration,
            grace: settings.grace,
            on_miss: settings.on_miss,
            busy: settings.busy,
            budget_margin,
            seed: settings.seed,
        };
        let mut plan = match &scheduler.scheduler {
            AnyScheduler::Linux(linux) => self.plan_of_linux(set, linux, cells, options)?,
            AnyScheduler::Policy(own) => self.plan_of_policy(set, *own, cells, options)?,
        };
        if set.tasks().iter().any(|task| task.kind == TaskKind::BestEffort) {
            plan.notes.push("background tasks are not run".into());
        }
        Ok(plan)
    }

    fn plan_of_linux(
        &self,
        set: &TaskSet,
        scheduler: &LinuxScheduler,
        cells: &[Cell],
        options: PlanOptions,
    ) -> Result<Plan> {
        let mut plan = laxity_run::plan(set, scheduler.clone(), cells, &self.machine, self.limits, options)?;
        let whole_machine = plan.confinement == Confinement::WholeMachine;
        self.capabilities.scheduler(scheduler.clone(), whole_machine).map_err(Diagnostic::environment)?;
        if plan.confinement == Confinement::Cpusets
            && !scheduler.has_reservations()
            && let Err(why) = &self.capabilities.cpusets
        {
            plan.confinement = Confinement::AffinityMasks;
            plan.notes.push(format!("confined by affinity masks, not by exclusive cpusets: {why}"));
        }
        Ok(plan)
    }

    /// A policy of laxity's own. Where the kernel does not take it, that is the reason, whatever else there is.
    fn plan_of_policy(
        &self,
        set: &TaskSet,
        scheduler: PolicyScheduler,
        cells: &[Cell],
        options: PlanOptions,
    ) -> Result<Plan> {
        self.capabilities.policy(scheduler.policy).map_err(Diagnostic::environment)?;
        let settings = self.settings;
        laxity_run::plan_policy(
            set,
            scheduler,
            cells,
            &settings.platform,
            self.limits,
            options,
            &settings.policy,
        )
    }
}

/// Why a part cannot be run with this much more than the WCET for a budget, if it cannot.
pub fn refused(
    settings: &Settings,
    capabilities: &Capabilities,
    set: &TaskSet,
    part: &Part,
    margin: Duration,
    interrupt: &'static AtomicBool,
) -> Option<String> {
    let planner = Planner::of(settings, capabilities, interrupt).ok()?;
    let margin = BudgetMargin::Fixed { share_ppm: 0, least: margin };
    let plan = planner.plan_cells(set, &part.scheduler, &part.placed.as_ref()?.cells, margin);
    plan.err().map(|refused| refused.message)
}

/// How any of the schedulers that were run is deployed.
pub struct Deployment {
    pub(super) parts: Vec<Part>,
    pub(super) capabilities: Capabilities,
}

impl Deployment {
    /// Whether any of the parts could be tried on this machine.
    pub fn could_run(&self) -> bool {
        self.parts.iter().any(|part| part.plan.is_ok())
    }

    /// Writes into the results directory `path` what it takes to deploy each set under the scheduler of this name.
    pub fn write(&self, path: &Path, sets: &[TaskSet], scheduler: &str) -> Result<()> {
        let machine = laxity_run::online_cpus()?;
        let host = deploy::Host {
            hierarchy: self.capabilities.cpusets.as_ref().ok(),
            machine: &machine,
            interrupt_threads: deploy::has_interrupt_threads(Path::new("/")),
        };
        let mut plans = Vec::new();
        for part in self.parts.iter().filter(|part| part.scheduler.name == scheduler) {
            let Ok(plan) = &part.plan else { continue };
            let description = match &part.scheduler.scheduler {
                AnyScheduler::Linux(linux) => linux.description(),
                AnyScheduler::Policy(own) => own.description(),
            };
            let named = deploy::Named { name: &part.scheduler.name, description: &description };
            plans.push(deploy::plan_of(&sets[part.set], named, plan, &host));
        }
        match plans.is_empty() {
            true => Ok(()),
            false => deploy::write(path, &plans),
        }
    }
}
