//! Every scheduler's part of the experiment: a placement and a plan, or the reason why there is none.

use super::Settings;
use super::placing::{Placed, Placements, Placing};
use crate::commands::DEPLOY_DIRECTORY;
use crate::deploy;
use crate::interrupt;
use crate::progress::Steps;
use crate::simulation::{NamedScheduler, check_capacity};
use laxity_model::{
    CpuList, Diagnostic, Failure, OutputDirectory, PolicyScheduler, PriorityRule, Result, Scheduler, Scope,
    TaskKind, TaskSet, Utilization,
};
use laxity_run::{Capabilities, Confinement, KernelLimits, Plan, PlanOptions};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// One scheduler's part of the experiment on one set: a plan, or the reason why there is none.
pub struct Part {
    /// Index of the set.
    pub set: usize,
    /// The scheduler.
    pub scheduler: NamedScheduler,
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
    interrupt: &'a AtomicBool,
}

/// What there is before a run is made.
pub const NOTHING: &str = "nothing was run";

/// Places and plans every set under every scheduler. An interruption is an error: there is nothing yet.
pub fn parts(
    sets: &[TaskSet],
    settings: &Settings,
    capabilities: &Capabilities,
    interrupt: &AtomicBool,
) -> Result<Vec<Part>> {
    let machine = laxity_run::online_cpus()?;
    let planner = Planner { settings, capabilities, machine, limits: KernelLimits::read(), interrupt };
    let mut steps = Steps::new(sets.len(), settings.quiet);
    let mut parts = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        let step = steps.begin(&format!("placing {}", set.name()));
        parts.extend(planner.parts_of(index, set));
        step.vanish();
        interrupt::check(interrupt, NOTHING)?;
    }
    Ok(parts)
}

impl Planner<'_> {
    fn parts_of(&self, index: usize, set: &TaskSet) -> Vec<Part> {
        let placing = self.settings.placing(self.interrupt);
        let mut placements = Placements::new(set, placing).within(self.settings.limit.clone());
        let part = |scheduler: &NamedScheduler| {
            let policy = scheduler.scheduler;
            let dedicated = policy.policy.dedicates_a_core();
            let placed = match scheduler.linux() {
                Some(linux) => placements.of(linux.scope, false).clone(),
                None if policy.policy.has_servers() => self.placed_below_servers(set),
                None => check_capacity(set, scheduler, &placing)
                    .and_then(|()| placements.of(policy.scope, dedicated).clone()),
            };
            let (placed, plan) = match placed {
                Err(error) => (None, Err(error)),
                Ok(placed) => self.plan_or_retry(set, scheduler, placed),
            };
            Part { set: index, scheduler: scheduler.clone(), placed, plan }
        };
        self.settings.schedulers.iter().map(part).collect()
    }

    /// Where amp-rm's tasks go: what it would refuse is not run.
    fn placed_below_servers(&self, set: &TaskSet) -> Result<Placed> {
        let (method, below) = &self.settings.below;
        let placing = Placing { method: *method, ..self.settings.placing(self.interrupt) };
        if method.may_solve() {
            // Asked for by name: by load.
            return placing.place(set, Scope::Partitioned, false, self.settings.limit.clone());
        }
        placing.place_below(set, below, self.settings.limit.clone(), (&[], false))
    }

    /// All schedulers of a scope share a placement, so that they can be compared (lelli2012, 5.4). Only if admission
    /// to SCHED_DEADLINE or to a policy would refuse it, one that stays below the kernel's limit is looked for.
    fn plan_or_retry(
        &self,
        set: &TaskSet,
        scheduler: &NamedScheduler,
        shared: Placed,
    ) -> (Option<Placed>, Result<Plan>) {
        let (scope, policy) = (scheduler.scheduler.scope, scheduler.scheduler.policy);
        let dedicated = scheduler.linux().is_none() && policy.dedicates_a_core();
        let is_admitted = match scheduler.linux() {
            Some(linux) => linux.rule == PriorityRule::EarliestDeadlineFirst,
            None => self.capabilities.sched_ext.is_ok(),
        };
        let plan = self.plan(set, scheduler, &shared);
        if plan.is_err()
            && is_admitted
            && scope != Scope::Global
            && self.settings.limit.is_none()
            && let Some((runtime, period)) = self.limits_of(scheduler).share()
            && let Ok(mut own) = self.settings.placing(self.interrupt).place(
                set,
                scope,
                dedicated,
                Some(Utilization::ratio(runtime, period)),
            )
            && let Ok(plan) = self.plan(set, scheduler, &own)
        {
            own.record.notes.push("placed below the kernel's limit, other than for SCHED_FIFO".into());
            return (Some(own), Ok(plan));
        }
        (Some(shared), plan)
    }

    /// What real-time tasks may have of every core under the scheduler.
    fn limits_of(&self, scheduler: &NamedScheduler) -> KernelLimits {
        let platform = &self.settings.platform;
        if !scheduler.scheduler.policy.has_servers() {
            return self.limits;
        }
        let servers = &self.settings.policy.servers;
        let cores = platform.cores().iter();
        let beside = cores.map(|core| self.limits.beside(servers.on(platform, core.cpu)));
        beside.min_by_key(|limits| limits.rt_runtime_us).unwrap_or(self.limits)
    }

    fn plan(&self, set: &TaskSet, scheduler: &NamedScheduler, placed: &Placed) -> Result<Plan> {
        let settings = self.settings;
        let options = PlanOptions {
            duration: settings.duration,
            grace: settings.grace,
            on_miss: settings.on_miss,
            busy: settings.busy,
            budget_margin: settings.budget_margin,
            seed: settings.seed,
        };
        let mut plan = match scheduler.linux() {
            Some(linux) => self.plan_of_linux(set, linux, placed, options)?,
            None => self.plan_of_policy(set, scheduler.scheduler, placed, options)?,
        };
        if set.tasks().iter().any(|task| task.kind == TaskKind::BestEffort) {
            plan.notes.push("background tasks are not run".into());
        }
        Ok(plan)
    }

    fn plan_of_linux(
        &self,
        set: &TaskSet,
        scheduler: Scheduler,
        placed: &Placed,
        options: PlanOptions,
    ) -> Result<Plan> {
        let mut plan = laxity_run::plan(set, scheduler, &placed.cells, &self.machine, self.limits, options)?;
        let whole_machine = plan.confinement == Confinement::WholeMachine;
        self.capabilities.scheduler(scheduler, whole_machine).map_err(Diagnostic::environment)?;
        if plan.confinement == Confinement::Cpusets
            && scheduler.rule != PriorityRule::EarliestDeadlineFirst
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
        placed: &Placed,
        options: PlanOptions,
    ) -> Result<Plan> {
        self.capabilities.policy(scheduler.policy).map_err(Diagnostic::environment)?;
        let settings = self.settings;
        laxity_run::plan_policy(
            set,
            scheduler,
            &placed.cells,
            &settings.platform,
            self.limits,
            options,
            &settings.policy,
        )
    }
}

/// One set under one scheduler: its name and set, and why there is nothing to run, if so.
pub type Prospect<'a> = (&'a str, &'a TaskSet, Option<&'a Diagnostic>);

/// If nothing can be run and every reason lies in the input, there is nothing to measure or to report: an error.
pub fn check_prospects<'a>(prospects: impl Iterator<Item = Prospect<'a>>) -> Result<()> {
    let mut refusals: Vec<(Vec<&str>, &TaskSet, &Diagnostic)> = Vec::new();
    for (scheduler, set, refusal) in prospects {
        let Some(refusal) = refusal.filter(|refusal| refusal.failure == Failure::Usage) else {
            return Ok(());
        };
        match refusals.iter_mut().find(|(_, other, why)| other.name() == set.name() && *why == refusal) {
            Some((schedulers, ..)) => schedulers.push(scheduler),
            None => refusals.push((vec![scheduler], set, refusal)),
        }
    }
    let under = |(schedulers, set, why): &(Vec<&str>, &TaskSet, &Diagnostic)| {
        format!("task set `{}` under {}: {}", set.name(), schedulers.join(", "), why.message)
    };
    let mut hints: Vec<&str> = refusals.iter().filter_map(|(.., why)| why.hint.as_deref()).collect();
    hints.dedup();
    let message = refusals.iter().map(under).collect::<Vec<_>>().join("; ");
    Err(Diagnostic::usage(message).hint(hints.join("; or ")))
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
        let host = deploy::Host { hierarchy: self.capabilities.cpusets.as_ref().ok(), machine: &machine };
        for part in self.parts.iter().filter(|part| part.scheduler.name == scheduler) {
            let (Ok(plan), Some(linux)) = (&part.plan, part.scheduler.linux()) else { continue };
            let folder = OutputDirectory::open(path)?.subdirectory(DEPLOY_DIRECTORY)?;
            for file in deploy::files(&sets[part.set], linux, plan, &host) {
                folder.write(&file.name, file.text.as_bytes())?;
            }
        }
        Ok(())
    }
}
