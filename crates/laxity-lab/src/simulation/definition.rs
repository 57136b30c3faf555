//! What a simulated schedule claims to be, for the oracles: while it is simulated, or later from its results.

use super::Simulation;
use super::mechanics::{AT, AT_TICKS, COSTS_TOML, INTERFERENCE, ON_MISS, RESERVE, servers_of};
use laxity_model::{
    BudgetMode, Demand, Diagnostic, Duration, Interference, OnMiss, Platform, Policy, PolicyScheduler,
    Reserve, Result, TaskSet, scheduler_of,
};
use laxity_oracle::{Definition, KernelWindows, Transitions};
use laxity_sim::Servers;
use laxity_sim::costs::{Cost, Costs};
use laxity_trace::{EventsReader, Host, Kept, Manifest, Run, RunStatus};
use std::path::Path;
use std::str::FromStr;

/// Name of the manifest's option with what is tolerated beside what costs explain, if anything is.
pub const TOLERATE: &str = "tolerate";

/// What a schedule may deviate from its definition under these costs, which are those of a scheduler of at most `tasks`
/// tasks: what its kernel explains, and `tolerate` beside.
fn transitions(policy: Policy, costs: &Costs, tasks: u32, tolerate: Duration) -> Transitions {
    let most = |cost: &Cost| Duration::from_ns(cost.max_ns(tasks));
    let kernel = (!costs.kernel_is_zero()).then(|| KernelWindows {
        structure: policy.structure(),
        release_latency: most(&costs.release_latency),
        ipi: most(&costs.ipi),
        mailbox: most(&costs.mailbox),
    });
    Transitions { bound: tolerate, kernel, abandoned_pushes: policy.has_queue_per_core() }
}

/// The number of tasks of the largest cluster.
fn tasks_most(definition: &Definition) -> u32 {
    let most = definition.clusters().iter().map(|cluster| cluster.tasks.len()).max();
    most.and_then(|most| u32::try_from(most).ok()).unwrap_or(u32::MAX)
}

/// The definition of what is about to be simulated as this run.
pub fn of_simulation(run: &Run, simulation: &Simulation<'_>, tolerate: Duration) -> Result<Definition> {
    let definition = Definition::of_run(simulation.set.clone(), simulation.platform, run)?;
    let scheduler: PolicyScheduler = scheduler_of(&run.scheduler).0.parse()?;
    let transitions =
        transitions(scheduler.policy, &simulation.mechanics.costs, tasks_most(&definition), tolerate);
    let definition = if simulation.changes.is_empty() { definition } else { definition.with_changes() };
    Ok(definition
        .with_budgets(simulation.mechanics.budget_mode)
        .with_batching(simulation.mechanics.batching)
        .with_on_miss(simulation.mechanics.on_miss)
        .with_jobs(simulation.seed, simulation.demand)
        .with_servers(simulation.servers()?.of)
        .with_reserve(simulation.mechanics.reserve, scheduler.policy.has_queue_per_core())
        .with_interference(simulation.mechanics.interference.clone())
        .with_transitions(transitions))
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
    kept: &Kept,
    manifest: &Manifest,
    run: &Run,
    tolerate: Option<Duration>,
) -> Result<Option<Verifiable>> {
    if matches!(run.status, RunStatus::NotRun { .. }) || run.host != Host::Simulator {
        return Ok(None);
    }
    let Some(events) = kept.open_events(run.id)? else { return Ok(None) };
    if manifest.options.contains_key(AT_TICKS) {
        return Err(Diagnostic::usage(format!(
            "run {}: simulated with --at-ticks, whose schedules no oracle knows: jobs keep their CPUs until a tick",
            run.id
        ))
        .hint("simulate without --at-ticks to verify"));
    }
    let set = set_of(manifest, run)?;
    let platform = match &manifest.platform {
        Some(document) => Platform::from_json_value(document, "platform")
            .map_err(|e| e.context("the manifest's platform"))?,
        None => return Err(lacks("platform", "it is not that of a simulation")),
    };
    let budgets: BudgetMode = option(manifest, "budget")?;
    let tolerate = match (tolerate, manifest.options.get(TOLERATE)) {
        (Some(tolerate), _) => tolerate,
        (None, Some(text)) => text.parse().map_err(|e: Diagnostic| lacks(TOLERATE, &e.message))?,
        (None, None) => Duration::ZERO,
    };
    let on_miss: OnMiss = match manifest.options.get(ON_MISS) {
        Some(text) => text.parse().map_err(|e: Diagnostic| lacks(ON_MISS, &e.message))?,
        None => OnMiss::default(),
    };
    let costs = costs_of(manifest)?;
    let demand: Demand =
        option::<String>(manifest, "demand")?.parse().map_err(|e: Diagnostic| lacks("demand", &e.message))?;
    let scheduler: PolicyScheduler = scheduler_of(&run.scheduler).0.parse()?;
    let definition = Definition::of_run(set, &platform, run)?;
    let transitions = transitions(scheduler.policy, &costs, tasks_most(&definition), tolerate);
    let servers = servers_in(manifest, &platform)?;
    let reserve: Reserve = match manifest.options.get(RESERVE) {
        Some(text) => text.parse().map_err(|e: Diagnostic| lacks(RESERVE, &e.message))?,
        None => Reserve::NONE,
    };
    let definition = if manifest.options.contains_key(AT) { definition.with_changes() } else { definition };
    let definition = definition
        .with_servers(servers.of)
        .with_reserve(reserve, scheduler.policy.has_queue_per_core())
        .with_interference(interference_in(manifest)?)
        .with_budgets(budgets)
        .with_on_miss(on_miss)
        .with_batching(option::<String>(manifest, "batching")? == "on")
        .with_jobs(manifest.seed.wrapping_add(u64::from(run.repetition)), demand)
        .with_transitions(transitions);
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

/// The deferrable servers of a simulation, at first.
fn servers_in(manifest: &Manifest, platform: &Platform) -> Result<Servers> {
    let Some(text) = manifest.options.get("server") else { return Ok(Servers::default()) };
    text.parse()
        .and_then(|sizes| servers_of(&sizes, platform))
        .map_err(|error| lacks("server", &error.message))
}

/// What takes CPUs from the scheduler in a simulation.
fn interference_in(manifest: &Manifest) -> Result<Vec<Interference>> {
    let Some(text) = manifest.options.get(INTERFERENCE) else { return Ok(Vec::new()) };
    let all = text.split("; ").map(str::parse);
    all.collect::<Result<_>>().map_err(|error| lacks(INTERFERENCE, &error.message))
}

/// The costs of a simulation.
fn costs_of(manifest: &Manifest) -> Result<Costs> {
    match (manifest.options.get(COSTS_TOML), option::<String>(manifest, "costs")?.as_str()) {
        (Some(text), _) => Costs::from_toml(text, Path::new("")).map_err(|e| lacks(COSTS_TOML, &e.message)),
        (None, "none") => Ok(Costs::default()),
        // Results of a version that kept the file's name only.
        (None, file) => Err(lacks(COSTS_TOML, &format!("only the name of the file is there, `{file}`"))
            .hint("simulate again: `laxity simulate ... --costs FILE --events --out DIR` keeps the costs themselves")),
    }
}

fn option<T: FromStr>(manifest: &Manifest, name: &str) -> Result<T> {
    let text = manifest.options.get(name).ok_or_else(|| lacks(name, "there is none"))?;
    text.parse().map_err(|_| lacks(name, &format!("it is `{text}`")))
}

fn lacks(what: &str, why: &str) -> Diagnostic {
    Diagnostic::usage(format!("the manifest does not say with which `{what}` the runs were simulated: {why}"))
        .hint("use a results directory as `laxity simulate --events --out DIR` wrote it")
}
