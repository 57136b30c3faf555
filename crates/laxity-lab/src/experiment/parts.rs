//! Every scheduler's part of the experiment: a placement and a plan, or the reason why there is none.

use super::Settings;
use crate::case::{Case, CaseSettings, Cases, Same, drop_same};
use crate::deploy;
use crate::observer::{Steps, check_interrupt};
use crate::places::{ByLoad, Finder, Wanted};
use crate::placing::{Placed, check_capacity};
use crate::schedulers::{Configuration, Scheduled as _};
use laxity_model::{
    AnyScheduler, Cell, CpuList, Diagnostic, Duration, Failure, LinuxScheduler, Platform, PolicyScheduler,
    Result, Scope, TaskKind, TaskSet, Utilization, scheduler_of,
};
use laxity_run::{BudgetMargin, Capabilities, Confinement, KernelLimits, Plan, PlanOptions, PolicyOptions};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A case, and a plan to run it.
pub struct Part<'a> {
    /// A set under a scheduler.
    pub case: Case<'a>,
    /// What is run, or why nothing is.
    pub plan: Result<Plan>,
}

/// What plans depend on besides the set.
struct Planner<'a> {
    of_cases: &'a CaseSettings,
    settings: &'a Settings,
    policy: PolicyOptions,
    capabilities: &'a Capabilities,
    machine: CpuList,
    limits: KernelLimits,
    /// As tests see it.
    seen: Platform,
    interrupt: &'static AtomicBool,
}

/// What there is before a run is made.
pub const NOTHING: &str = "nothing was run";

/// Places and plans every set under every scheduler; those that are another one are told and left out. An interruption is an error:
/// there is nothing yet.
pub fn parts<'a>(
    cases: &Cases<'a>,
    settings: &Settings,
    capabilities: &Capabilities,
) -> Result<(Vec<Part<'a>>, Vec<Same>)> {
    let planner = Planner::of(cases, settings, capabilities)?;
    let mut steps = Steps::new(cases.sets.len(), &*settings.runs.caller.observer);
    let mut plans = Vec::new();
    let mut placed = cases.each_placed(|set| {
        let step = steps.begin(&format!("placing {}", set.name()));
        let (places, of): (Vec<_>, Vec<_>) =
            planner.places_and_plans(set, cases.schedulers).into_iter().unzip();
        step.end(None);
        plans.extend(of);
        check_interrupt(cases.interrupt, NOTHING).map(|()| places)
    })?;
    let plans: Vec<_> =
        placed.iter().map(|case| (case.index, case.scheduler.name.clone())).zip(plans).collect();
    let same = drop_same(&mut placed);
    // Dropped cases have dropped plans.
    let mut plans = plans.into_iter();
    let parts = placed.into_iter().filter_map(|case| {
        let (_, plan) =
            plans.find(|((index, name), _)| *index == case.index && *name == case.scheduler.name)?;
        Some(Part { case, plan })
    });
    Ok((parts.collect(), same))
}

impl<'a> Planner<'a> {
    fn of(cases: &Cases<'a>, settings: &'a Settings, capabilities: &'a Capabilities) -> Result<Self> {
        let of_cases = cases.settings;
        Ok(Planner {
            of_cases,
            settings,
            policy: settings.policy_options(of_cases),
            capabilities,
            machine: laxity_run::online_cpus()?,
            limits: KernelLimits::read(&of_cases.platform().cpus()),
            seen: settings.platform_of_demand(of_cases.platform())?,
            interrupt: cases.interrupt,
        })
    }

    fn places_and_plans(
        &self,
        set: &TaskSet,
        schedulers: &[Configuration],
    ) -> Vec<(Result<Placed>, Result<Plan>)> {
        let placement = &self.of_cases.placement;
        let mut by_load = ByLoad::default();
        let place_and_plan = |scheduler: &Configuration| {
            // What amp-rm would refuse is not run.
            if let Some(placed) = placement.admitted(set, scheduler, (&[], false), self.interrupt) {
                return self.planned(set, scheduler, placed);
            }
            let placing = placement.placing(self.interrupt);
            match scheduler.policy().map_or(Ok(()), |_| check_capacity(set, scheduler, &placing)) {
                Err(why) => (Err(why.clone()), Err(why)),
                Ok(()) => self.placed_and_planned(set, scheduler, &mut by_load),
            }
        };
        schedulers.iter().map(place_and_plan).collect()
    }

    fn planned(
        &self,
        set: &TaskSet,
        scheduler: &Configuration,
        placed: Result<Placed>,
    ) -> (Result<Placed>, Result<Plan>) {
        let plan = match &placed {
            Err(error) => Err(error.clone()),
            Ok(placed) => self.plan(set, scheduler, placed),
        };
        (placed, plan)
    }

    fn finder(&self, scheduler: &Configuration) -> Finder<'_> {
        Finder {
            seen: &self.seen,
            charges: (&self.of_cases.charges, &self.seen),
            ..self.of_cases.finder(&self.of_cases.placement, scheduler, self.interrupt)
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
        scheduler: &Configuration,
        by_load: &mut ByLoad,
    ) -> (Result<Placed>, Result<Plan>) {
        let finder = self.finder(scheduler);
        let wanted = Wanted::of(set, scheduler, scheduler_of(&scheduler.name).0);
        let own = by_load.places(set, &finder, (wanted.scope, wanted.dedicated));
        let takes = |cpus: &CpuList, tasks: &[usize]| self.takes(set, scheduler, cpus, tasks);
        let taken = Finder { takes: Some(&takes), ..finder.clone() }.find(wanted, own.clone());
        let (placed, plan) = self.planned(set, scheduler, taken);
        if plan.is_ok() || placed.is_err() {
            return (placed, plan);
        }
        if let Some((within, plan)) = self.within_limit(&finder, wanted, scheduler) {
            return (Ok(within), Ok(plan));
        }
        match finder.find(wanted, own) {
            Ok(best) => (Ok(best), plan),
            Err(_) => (placed, plan),
        }
    }

    /// Whether these tasks can be planned in a cell. What the machine lacks is no matter of places.
    fn takes(&self, set: &TaskSet, scheduler: &Configuration, cpus: &CpuList, tasks: &[usize]) -> bool {
        let cell = Cell::new(cpus.clone(), tasks.to_vec());
        let plan = self.plan_cells(set, scheduler, &[cell], self.settings.budget_margin);
        !plan.is_err_and(|why| why.failure == Failure::Usage)
    }

    /// Places by load in which every cell stays below the kernel's limit, where admission is by loads.
    fn within_limit(
        &self,
        finder: &Finder<'_>,
        wanted: Wanted<'_>,
        scheduler: &Configuration,
    ) -> Option<(Placed, Plan)> {
        let is_admitted = match scheduler.linux() {
            Some(linux) => linux.has_reservations(),
            None => self.capabilities.sched_ext.is_ok(),
        };
        if !is_admitted || wanted.scope == Scope::Global || self.of_cases.placement.limit.is_some() {
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
    fn limit_of(&self, scheduler: &Configuration) -> Option<(u64, u64)> {
        let limits = self.limits_of(scheduler);
        match scheduler.linux() {
            Some(_) => limits.is_limited().then(|| (limits.admitted_q20(), 1 << 20)),
            None => limits.share(),
        }
    }

    /// What real-time tasks may have of every CPU under the scheduler.
    fn limits_of(&self, scheduler: &Configuration) -> KernelLimits {
        let platform = self.of_cases.platform();
        if !scheduler.has_servers() {
            return self.limits;
        }
        let servers = &self.policy.servers;
        let cores = platform.cores().iter();
        let beside = cores.map(|core| self.limits.beside(servers.on(platform, core.cpu)));
        beside.min_by_key(|limits| limits.rt_runtime_us).unwrap_or(self.limits)
    }

    fn plan(&self, set: &TaskSet, scheduler: &Configuration, placed: &Placed) -> Result<Plan> {
        self.plan_cells(set, scheduler, &placed.cells, self.settings.budget_margin)
    }

    fn plan_cells(
        &self,
        set: &TaskSet,
        scheduler: &Configuration,
        cells: &[Cell],
        budget_margin: BudgetMargin,
    ) -> Result<Plan> {
        let settings = self.settings;
        let options = PlanOptions {
            duration: settings.runs.duration,
            grace: settings.runs.grace,
            on_miss: settings.on_miss,
            busy: settings.busy,
            budget_margin,
            seed: settings.runs.seed,
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
        laxity_run::plan_policy(
            set,
            scheduler,
            cells,
            self.of_cases.platform(),
            self.limits,
            options,
            &self.policy,
        )
    }
}

/// Why a case cannot be run with this much more than the WCET for a budget, if it cannot.
pub fn refused(
    cases: &Cases<'_>,
    settings: &Settings,
    capabilities: &Capabilities,
    case: &Case<'_>,
    margin: Duration,
) -> Option<String> {
    let planner = Planner::of(cases, settings, capabilities).ok()?;
    let margin = BudgetMargin::Fixed { share_ppm: 0, least: margin };
    let placed = case.placed.as_ref().ok()?;
    let plan = planner.plan_cells(case.set, case.scheduler, &placed.cells, margin);
    plan.err().map(|refused| refused.message)
}

/// How any of the schedulers that were run is deployed.
pub struct Deployment<'a> {
    pub(super) parts: Vec<Part<'a>>,
    pub(super) capabilities: Capabilities,
}

impl Deployment<'_> {
    /// Whether any of the parts could be tried on this machine.
    pub fn could_run(&self) -> bool {
        self.parts.iter().any(|part| part.plan.is_ok())
    }

    /// Writes into the results directory `path` what it takes to deploy each set under the scheduler of this name.
    pub fn write(&self, path: &Path, scheduler: &str) -> Result<()> {
        let machine = laxity_run::online_cpus()?;
        let host = deploy::Host {
            hierarchy: self.capabilities.cpusets.as_ref().ok(),
            machine: &machine,
            interrupt_threads: deploy::has_interrupt_threads(Path::new("/")),
            limited: &laxity_kernel::limited_cgroups(Path::new("/")),
        };
        let mut plans = Vec::new();
        for Part { case, plan } in self.parts.iter().filter(|part| part.case.scheduler.name == scheduler) {
            let Ok(plan) = plan else { continue };
            let description = match &case.scheduler.scheduler {
                AnyScheduler::Linux(linux) => linux.description(),
                AnyScheduler::Policy(own) => own.description(),
            };
            let named = deploy::Named { name: &case.scheduler.name, description: &description };
            plans.push(deploy::plan_of(case.set, named, plan, &host));
        }
        match plans.is_empty() {
            true => Ok(()),
            false => deploy::write(path, &plans),
        }
    }
}
