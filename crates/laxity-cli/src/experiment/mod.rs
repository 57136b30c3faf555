//! The experiment behind `run` and `compare`: place, run alone, run together, keep everything.

mod placing;
mod work;

pub use placing::{ILP_TIME_LIMIT, Placed, place};
pub use work::{DemandModel, Workload, check_jobs};

use crate::commands::DEPLOY_DIRECTORY;
use crate::progress::Steps;
use crate::{deploy, output};
use laxity_model::{
    Demand, Diagnostic, Duration, Failure, Platform, PriorityRule, Result, Scheduler, Scope, TaskSet,
};
use laxity_place::{Method, Overload};
use laxity_report::Report;
use laxity_run::{
    BudgetMargin, Capabilities, Confinement, Executed, KernelLimits, MachineLock, Plan, PlanOptions, Progress,
};
use laxity_trace::{
    ALONE, Existing, Host, Machine, Manifest, RESULTS_VERSION, Results, ResultsDirectory, Run, RunStatus,
    RunSummary,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::SystemTime;

/// Everything the user chose.
pub struct Settings {
    /// Under which schedulers.
    pub schedulers: Vec<Scheduler>,
    /// Releases happen in `[0, duration)`.
    pub duration: Duration,
    /// Runs per set and scheduler.
    pub repeat: u32,
    /// Whether and how long each task runs alone first.
    pub alone: Option<Duration>,
    /// What a job's demand means.
    pub demand_model: DemandModel,
    /// How much of its WCET a job asks for.
    pub demand: Demand,
    /// Margin of SCHED_DEADLINE budgets.
    pub budget_margin: BudgetMargin,
    /// How much longer than `duration` jobs may run.
    pub grace: Option<Duration>,
    /// How tasks are placed.
    pub placement: Method,
    /// What to do with a task that fits nowhere.
    pub overload: Overload,
    /// How long the ILP may take.
    pub ilp_time_limit: Duration,
    /// Seed of everything random.
    pub seed: u64,
    /// The cores to use, and their clusters.
    pub platform: Platform,
    /// Where the results go.
    pub out: PathBuf,
    /// Whether results there may be replaced.
    pub existing: Existing,
    /// No progress.
    pub quiet: bool,
}

/// One scheduler's part of the experiment on one set: a plan, or the reason why there is none.
struct Part {
    set: usize,
    scheduler: Scheduler,
    placed: Option<Placed>,
    plan: Result<Plan>,
}

/// How the experiment went.
pub struct Finished {
    /// The directory.
    pub directory: PathBuf,
    /// Everything, with the jobs.
    pub results: Results,
    /// The user ended it early.
    pub interrupted: bool,
}

/// The longest time a run may be asked to take; longer ones are slips of the unit.
pub const RUN_LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// Refuses a set in which nothing has a deadline.
pub fn check_real_time(set: &TaskSet) -> Result<()> {
    if set.real_time().next().is_some() {
        return Ok(());
    }
    Err(Diagnostic::usage(format!("task set `{}` has no real-time task", set.name()))
        .hint("give at least one task kind = \"real-time\" (the default)"))
}

/// Refuses periods so long that running every task alone would not end.
fn check_alone(set: &TaskSet, settings: &Settings) -> Result<()> {
    let Some(span) = settings.alone else { return Ok(()) };
    let alone = alone_duration(set, span).map_err(|e| e.context(format!("task set `{}`", set.name())))?;
    if alone <= RUN_LONGEST {
        return Ok(());
    }
    Err(Diagnostic::usage(format!("task set `{}`: running every task alone takes {alone}", set.name()))
        .hint("shorten the periods, or skip it with --alone 0s"))
}

/// How long it takes to run every task alone.
fn alone_duration(set: &TaskSet, span: Duration) -> Result<Duration> {
    let order =
        |_, _| laxity_run::JobOrder { release: Duration::ZERO, demand: Duration::ZERO, accesses: None };
    laxity_run::alone(set, 0, span, 0, order).map(|(plan, _)| plan.duration)
}

/// Refuses sets that no scheduler could keep up with on this platform, unless overload is asked for.
pub fn check_load(sets: &[TaskSet], settings: &Settings) -> Result<()> {
    let cores = settings.platform.core_count();
    for set in sets {
        let above = set.load().cmp_ratio(cores as u64, 1) == std::cmp::Ordering::Greater;
        if above && settings.overload == Overload::Refuse {
            return Err(Diagnostic::usage(format!(
                "task set `{}`: its utilization {} exceeds the {cores} cores used ({})",
                set.name(),
                set.utilization(),
                settings.platform.cpus()
            ))
            .hint("use more cores or less load, or run it overloaded with --overload least-loaded"));
        }
        check_real_time(set)?;
        check_jobs(set, settings.duration)?;
        check_alone(set, settings)?;
        let working_sets = set.tasks().iter().map(|task| (task.name.as_str(), task.working_set.size_bytes));
        laxity_run::check_memory(working_sets)
            .map_err(|e| e.context(format!("task set `{}`", set.name())))?;
    }
    Ok(())
}

/// Runs the whole experiment. Every finished run is on disk before the next one starts.
pub fn conduct(sets: &[TaskSet], settings: &Settings, interrupt: &AtomicBool) -> Result<Finished> {
    check_load(sets, settings)?;
    let capabilities = Capabilities::probe();
    let parts = parts(sets, settings, &capabilities)?;
    check_parts(sets, &parts)?;
    let can_run = parts.iter().any(|part| part.plan.is_ok());
    // The lock comes first: without it nothing may be measured, and nothing is written.
    let lock = if can_run { Some(MachineLock::acquire()?) } else { None };
    for path in lock.iter().flat_map(MachineLock::restored) {
        output::say(format_args!("note: an earlier run was killed; restored {}", path.display()));
    }
    let workload = Workload::new(settings.demand_model, settings.demand, sets, settings.seed)?;
    let runs = planned_runs(sets, &parts, settings, &capabilities);
    let manifest = manifest(sets, settings, &workload, runs.iter().map(|(run, _)| run.clone()).collect());
    let mut directory = ResultsDirectory::create(&settings.out, manifest, settings.existing)?;
    let possible = runs.iter().filter(|(_, work)| !matches!(work, Work::Nothing)).count();
    if !settings.quiet {
        announce(&runs, sets, settings);
    }
    let mut steps = Steps::new(possible, settings.quiet);
    for (planned, work) in &runs {
        let mut run = planned.clone();
        if interrupt.load(SeqCst) && !matches!(work, Work::Nothing) {
            run.status = RunStatus::NotRun { reason: "interrupted before this run".into() };
        } else if let Some(lock) = &lock {
            let set = &sets[run.set as usize];
            make(&mut run, work, set, &parts, settings, &workload, lock, interrupt, &mut steps)?;
        }
        directory.append_run(&run)?;
    }
    let path = directory.path().to_owned();
    directory.finish()?;
    let results = laxity_trace::load(&path)?;
    write_deployment(&path, sets, &parts, &results, &capabilities)?;
    Ok(Finished { directory: path, results, interrupted: interrupt.load(SeqCst) })
}

/// If nothing can be run and every reason lies in the input, there is nothing to measure or to report: an error.
fn check_parts(sets: &[TaskSet], parts: &[Part]) -> Result<()> {
    let mut refusals: Vec<(Vec<&str>, &TaskSet, &Diagnostic)> = Vec::new();
    for part in parts {
        let Err(refusal) = &part.plan else { return Ok(()) };
        if refusal.failure != Failure::Usage {
            return Ok(());
        }
        let set = &sets[part.set];
        match refusals.iter_mut().find(|(_, other, why)| other.name() == set.name() && *why == refusal) {
            Some((schedulers, ..)) => schedulers.push(part.scheduler.name()),
            None => refusals.push((vec![part.scheduler.name()], set, refusal)),
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

/// Writes what it takes to deploy each set under the scheduler that is best for all.
fn write_deployment(
    path: &Path,
    sets: &[TaskSet],
    parts: &[Part],
    results: &Results,
    capabilities: &Capabilities,
) -> Result<()> {
    let report = Report::of(results)?;
    let best = report.recommendation().scheduler.as_deref();
    let folder = path.join(DEPLOY_DIRECTORY);
    for part in parts.iter().filter(|part| Some(part.scheduler.name()) == best) {
        let Ok(plan) = &part.plan else { continue };
        std::fs::create_dir_all(&folder).map_err(|error| {
            Diagnostic::environment(format!("cannot create {}: {error}", folder.display()))
                .hint("check free space")
        })?;
        for file in deploy::files(&sets[part.set], part.scheduler, plan, capabilities.cpusets.as_ref().ok()) {
            output::write_file(&folder.join(&file.name), &file.text)?;
        }
    }
    Ok(())
}

/// What a run executes.
enum Work {
    /// Nothing: it cannot be run here.
    Nothing,
    /// Every task alone.
    Alone,
    /// The plan of this part.
    Together(usize),
}

fn parts(sets: &[TaskSet], settings: &Settings, capabilities: &Capabilities) -> Result<Vec<Part>> {
    let limits = KernelLimits::read();
    let machine = laxity_run::online_cpus()?;
    let mut parts = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        let mut by_scope: BTreeMap<Scope, Result<Placed>> = BTreeMap::new();
        for &scheduler in &settings.schedulers {
            let placed =
                by_scope.entry(scheduler.scope).or_insert_with(|| place(set, scheduler.scope, settings));
            let plan = match placed {
                Err(error) => Err(error.clone()),
                Ok(placed) => plan_part(set, scheduler, placed, &machine, limits, settings, capabilities),
            };
            parts.push(Part { set: index, scheduler, placed: placed.as_ref().ok().cloned(), plan });
        }
    }
    Ok(parts)
}

fn plan_part(
    set: &TaskSet,
    scheduler: Scheduler,
    placed: &Placed,
    machine: &laxity_model::CpuList,
    limits: KernelLimits,
    settings: &Settings,
    capabilities: &Capabilities,
) -> Result<Plan> {
    let options = PlanOptions {
        duration: settings.duration,
        grace: settings.grace,
        budget_margin: settings.budget_margin,
        seed: settings.seed,
    };
    let mut plan = laxity_run::plan(set, scheduler, &placed.cells, machine, limits, options)?;
    let whole_machine = plan.confinement == Confinement::WholeMachine;
    capabilities.scheduler(scheduler, whole_machine).map_err(Diagnostic::environment)?;
    if plan.confinement == Confinement::Cpusets
        && scheduler.rule == PriorityRule::RateMonotonic
        && let Err(why) = &capabilities.cpusets
    {
        plan.confinement = Confinement::AffinityMasks;
        plan.notes.push(format!("confined by affinity masks, not by exclusive cpusets: {why}"));
    }
    if set.tasks().iter().any(|task| task.group.is_some()) {
        plan.notes.push("working sets are private: the runner does not share memory within groups".into());
    }
    Ok(plan)
}

fn reason(error: &Diagnostic) -> String {
    match &error.hint {
        Some(hint) => format!("{} ({hint})", error.message),
        None => error.message.clone(),
    }
}

fn planned_runs(
    sets: &[TaskSet],
    parts: &[Part],
    settings: &Settings,
    capabilities: &Capabilities,
) -> Vec<(Run, Work)> {
    let mut runs: Vec<(Run, Work)> = Vec::new();
    let mut add = |set: usize,
                   scheduler: &str,
                   repetition: u32,
                   placed: Option<&Placed>,
                   work: std::result::Result<Work, String>| {
        let (work, why) = match work {
            Ok(work) => (work, String::new()),
            Err(why) => (Work::Nothing, why),
        };
        let run = Run {
            id: u32::try_from(runs.len()).expect("runs are far fewer than 2^32"),
            set: u32::try_from(set).expect("sets are far fewer than 2^32"),
            scheduler: scheduler.to_owned(),
            host: Host::Linux,
            repetition,
            duration: settings.duration,
            grace: Duration::ZERO,
            status: RunStatus::NotRun { reason: why },
            placement: placed.map(|placed| placed.record.clone()),
            not_measured: BTreeMap::new(),
            notes: Vec::new(),
            jobs: Vec::new(),
        };
        runs.push((run, work));
    };
    if settings.alone.is_some() {
        for set in 0..sets.len() {
            let work = capabilities.fifo.clone().map(|()| Work::Alone);
            add(set, ALONE, 0, None, work);
        }
    }
    for repetition in 0..settings.repeat {
        for (index, part) in parts.iter().enumerate() {
            let work = part.plan.as_ref().map(|_| Work::Together(index)).map_err(reason);
            add(part.set, part.scheduler.name(), repetition, part.placed.as_ref(), work);
        }
    }
    runs
}

#[expect(clippy::too_many_arguments, reason = "one call site; a structure would only rename them")]
fn make(
    run: &mut Run,
    work: &Work,
    set: &TaskSet,
    parts: &[Part],
    settings: &Settings,
    workload: &Workload,
    lock: &MachineLock,
    interrupt: &AtomicBool,
    steps: &mut Steps,
) -> Result<()> {
    let seed = settings.seed.wrapping_add(u64::from(run.repetition));
    let (plan, orders) = match work {
        Work::Nothing => return Ok(()),
        Work::Alone => {
            let cpu = settings.platform.cores().last().expect("a platform has cores").cpu;
            let span = settings.alone.unwrap_or_default();
            let order = |id, index| workload.order_of(set, id, index, seed);
            laxity_run::alone(set, cpu, span, settings.seed, order)?
        }
        Work::Together(part) => {
            let plan = parts[*part].plan.clone().expect("only plans are worked on");
            let orders = plan.tasks.iter().map(|task| workload.orders(set, task.id, seed, plan.duration));
            let orders = orders.collect();
            (plan, orders)
        }
    };
    run.duration = plan.duration;
    run.grace = plan.grace;
    let deadlines: Vec<Duration> = plan.tasks.iter().map(|task| set.tasks()[task.id].deadline_rel).collect();
    let what =
        if *set.name() == *"" { run.scheduler.clone() } else { format!("{} {}", run.scheduler, set.name()) };
    let step = steps.begin(&what);
    let mut show = |progress: Progress| {
        step.show(progress.finished, progress.total, &format!("{} misses", progress.missed));
    };
    match laxity_run::execute(lock, &plan, &orders, &deadlines, interrupt, &mut show) {
        Ok(executed) => record_run(run, executed),
        // The others may run all the same.
        Err(error) => run.status = RunStatus::NotRun { reason: reason(&error) },
    }
    step.end(&outcome(run, set, settings)?);
    Ok(())
}

fn record_run(run: &mut Run, executed: Executed) {
    run.status = executed.status;
    run.not_measured = executed.not_measured;
    run.notes = executed.notes;
    run.jobs = executed.jobs;
}

/// One line on how a run went.
fn outcome(run: &Run, set: &TaskSet, settings: &Settings) -> Result<String> {
    Ok(match &run.status {
        RunStatus::NotRun { reason } => format!("not run: {reason}"),
        status => {
            let summary = RunSummary::of(run, set, settings.platform.core_count())?;
            let tardy = summary.tardiness_ns.map_or(0, |tardiness| tardiness.max);
            let early = if *status == RunStatus::Completed { "" } else { " (cut short)" };
            format!(
                "{} jobs, {} misses, max tardiness {:.3} ms{early}",
                summary.counts.jobs,
                summary.counts.misses,
                Duration::from_ns(tardy).as_ms_f64()
            )
        }
    })
}

fn announce(runs: &[(Run, Work)], sets: &[TaskSet], settings: &Settings) {
    let together = runs.iter().filter(|(_, work)| matches!(work, Work::Together(_))).count();
    let alone: Duration = runs
        .iter()
        .filter(|(_, work)| matches!(work, Work::Alone))
        .filter_map(|(run, _)| alone_duration(&sets[run.set as usize], settings.alone?).ok())
        .sum();
    let total = alone.as_secs_f64() + settings.duration.as_secs_f64() * together as f64;
    output::say(format_args!(
        "{} task set(s), {} scheduler(s), {together} run(s) of {}: about {:.0} s",
        sets.len(),
        settings.schedulers.len(),
        settings.duration,
        total + together as f64 * 0.3
    ));
}

fn manifest(sets: &[TaskSet], settings: &Settings, workload: &Workload, runs: Vec<Run>) -> Manifest {
    let mut options = BTreeMap::from([
        ("budget-margin".to_owned(), settings.budget_margin.to_string()),
        ("demand".to_owned(), settings.demand.to_string()),
        ("demand-model".to_owned(), settings.demand_model.to_string()),
        ("duration".to_owned(), settings.duration.to_string()),
        ("ilp-time-limit".to_owned(), settings.ilp_time_limit.to_string()),
        ("overload".to_owned(), settings.overload.to_string()),
        ("placement".to_owned(), settings.placement.to_string()),
        ("repeat".to_owned(), settings.repeat.to_string()),
    ]);
    let calibration = workload.calibration();
    if !calibration.is_empty() {
        options.insert("calibration".to_owned(), calibration.join("; "));
    }
    Manifest {
        version: RESULTS_VERSION,
        laxity_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        created: laxity_trace::rfc3339(SystemTime::now()),
        seed: settings.seed,
        machine: Machine::this_machine(&settings.platform),
        task_sets: sets.iter().map(TaskSet::to_json_value).collect(),
        options,
        runs,
    }
}
