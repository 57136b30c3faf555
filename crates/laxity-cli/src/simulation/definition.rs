//! What a simulated schedule claims to be, for the oracles: while it is simulated, or later from its results.

use super::{Case, Mechanics};
use laxity_model::{Demand, Diagnostic, Duration, Platform, PolicyScheduler, Result, TaskSet};
use laxity_oracle::{Definition, Transitions};
use laxity_sim::BudgetMode;
use laxity_trace::{EventsReader, Host, Manifest, Run, RunStatus, open_events};
use std::path::Path;
use std::str::FromStr;

/// Name of the manifest's option with the bound of [`transitions`].
pub const TOLERATE: &str = "tolerate";

/// Deviations this many times as long as all mean costs together are tolerated: several decisions may queue for a lock.
const COSTS_TOLERATED: u64 = 10;

/// How long a schedule may differ from its definition because decisions take time: nothing without costs. The time of
/// kernel work that the trace records does not count.
pub fn tolerated(mechanics: &Mechanics, tasks: usize) -> Duration {
    let costs = &mechanics.costs;
    let n = u32::try_from(tasks).unwrap_or(u32::MAX);
    let all = [
        &costs.release,
        &costs.scheduling,
        &costs.context_switch,
        &costs.ipi,
        &costs.release_latency,
        &costs.mailbox,
        &costs.dsp,
        &costs.step,
        &costs.tick,
    ];
    let mean: u64 = all.iter().map(|cost| cost.mean_ns(n)).fold(0, u64::saturating_add);
    Duration::from_ns(mean.saturating_mul(COSTS_TOLERATED))
}

fn transitions(bound: Duration) -> Transitions {
    Transitions { bound, kernel_work: !bound.is_zero(), abandoned_pushes: true }
}

fn budget_mode(mode: BudgetMode) -> laxity_oracle::BudgetMode {
    match mode {
        BudgetMode::Off => laxity_oracle::BudgetMode::Off,
        BudgetMode::Throttle => laxity_oracle::BudgetMode::Throttle,
        BudgetMode::Postpone => laxity_oracle::BudgetMode::Postpone,
    }
}

/// The definition of a case that is about to be simulated as this run.
pub fn of_case(run: &Run, case: &Case<'_>, tolerate: Duration) -> Result<Definition> {
    let definition = Definition::of_run(case.set.clone(), case.platform, run)?;
    Ok(definition
        .with_budgets(budget_mode(case.mechanics.budget_mode))
        .with_batching(case.mechanics.batching)
        .with_jobs(case.seed, case.demand)
        .with_transitions(transitions(tolerate)))
}

/// A run of a results directory that can be verified.
pub struct Verifiable {
    /// What its schedule claims to be.
    pub definition: Definition,
    /// Its events.
    pub events: EventsReader,
    /// Until when they go, in ns.
    pub end_ns: u64,
}

/// What it takes to verify a run of a results directory; nothing if the run has no events.
///
/// Errors: a manifest that does not say what was simulated; events that cannot be read.
pub fn verifiable(
    directory: &Path,
    manifest: &Manifest,
    run: &Run,
    tolerate: Option<Duration>,
) -> Result<Option<Verifiable>> {
    if matches!(run.status, RunStatus::NotRun { .. }) || run.host != Host::Simulator {
        return Ok(None);
    }
    let Some(events) = open_events(directory, run.id)? else { return Ok(None) };
    let set = set_of(manifest, run)?;
    let platform = match &manifest.platform {
        Some(document) => Platform::from_json_value(document, "platform")
            .map_err(|e| e.context("the manifest's platform"))?,
        None => return Err(lacks("platform", "it is not that of a simulation")),
    };
    let budgets = match option::<String>(manifest, "budget")?.as_str() {
        "off" => laxity_oracle::BudgetMode::Off,
        "throttle" => laxity_oracle::BudgetMode::Throttle,
        "postpone" => laxity_oracle::BudgetMode::Postpone,
        other => return Err(lacks("budget", &format!("`{other}` is not off, throttle or postpone"))),
    };
    let bound = match tolerate {
        Some(bound) => bound,
        None => option::<String>(manifest, TOLERATE)?
            .parse()
            .map_err(|e: Diagnostic| lacks(TOLERATE, &e.message))?,
    };
    let demand: Demand =
        option::<String>(manifest, "demand")?.parse().map_err(|e: Diagnostic| lacks("demand", &e.message))?;
    let _: PolicyScheduler = run.scheduler.parse()?;
    let definition = Definition::of_run(set, &platform, run)?
        .with_budgets(budgets)
        .with_batching(option::<String>(manifest, "batching")? == "on")
        .with_jobs(manifest.seed.wrapping_add(u64::from(run.repetition)), demand)
        .with_transitions(transitions(bound));
    Ok(Some(Verifiable { definition, events, end_ns: run.horizon().as_ns() }))
}

/// The task set of a run.
pub fn set_of(manifest: &Manifest, run: &Run) -> Result<TaskSet> {
    let document = usize::try_from(run.set).ok().and_then(|set| manifest.task_sets.get(set));
    let document =
        document.ok_or_else(|| lacks("task_sets", &format!("run {} is of set {}", run.id, run.set)))?;
    TaskSet::from_json_value(document, "set")
        .map_err(|e| e.context(format!("task set {} of the manifest", run.set)))
}

fn option<T: FromStr>(manifest: &Manifest, name: &str) -> Result<T> {
    let text = manifest.options.get(name).ok_or_else(|| lacks(name, "there is none"))?;
    text.parse().map_err(|_| lacks(name, &format!("it is `{text}`")))
}

fn lacks(what: &str, why: &str) -> Diagnostic {
    Diagnostic::usage(format!("the manifest does not say with which `{what}` the runs were simulated: {why}"))
        .hint("use a results directory as `laxity simulate --events --out DIR` wrote it")
}
