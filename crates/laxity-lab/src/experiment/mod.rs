//! The experiment behind `run` and `compare`: place, run alone, run together, keep everything.

mod calibration;
mod checks;
pub mod elsewhere;
mod laboratory;
mod overruns;
mod parts;
mod repeating;
mod runs;
mod schedule;
mod work;

pub use calibration::Calibration;
pub use checks::{RUN_LONGEST, what_runs_here};
pub use parts::Deployment;
pub use schedule::verify_again;
pub use work::DemandModel;

use crate::analysis::analyse_beside;
use crate::case::{PlacementSettings, RunSettings, check_prospects, same_option};
use crate::charges::Charges;
use crate::observer::{Caller, check_interrupt};
use crate::overheads::{Measuring, Probes};
use crate::schedulers::Configuration;
use crate::simulation::Mechanics;
use checks::check_load;
use laboratory::Laboratory;
use laxity_model::{
    BudgetMode, Core, Duration, OnMiss, Platform, Result, ServerSizes, ShownPath as _, Speed, TaskSet,
};
use laxity_place::Method;
use laxity_run::{BudgetMargin, Capabilities, MachineLock, PolicyOptions};
use laxity_trace::{AnalysisRecord, Existing, FinishedResults, NOT_ANALYSED, Results, ResultsDirectory};
use parts::{NOTHING, Part, parts};
use repeating::Repeating;
use runs::{manifest, planned_runs};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use work::Workload;

/// Everything the user chose.
pub struct Settings {
    /// What runs and simulations are both told.
    pub runs: RunSettings,
    /// What is measured is simulated, too, with these costs; budgets as they are in the kernel.
    pub simulate: Option<Mechanics>,
    /// What is proven is said beside what is measured, with these overheads.
    pub analyse: Option<Charges>,
    /// How often a run that was disturbed is made again, at the most.
    pub repeat_disturbed: u32,
    /// Which overheads are recorded during the runs.
    pub overheads: Option<Probes>,
    /// Whether and how long each task runs alone first.
    pub alone: Option<Duration>,
    /// What a job's demand means.
    pub demand_model: DemandModel,
    /// Where the speeds of working sets are kept, for [`DemandModel::Work`].
    pub calibration: Option<PathBuf>,
    /// What a job does once it has missed its deadline.
    pub on_miss: OnMiss,
    /// How many background threads are always ready beside the tasks.
    pub busy: u32,
    /// Margin of SCHED_DEADLINE budgets.
    pub budget_margin: BudgetMargin,
    /// What laxity's own policies are told in the kernel.
    pub policy: PolicyOptions,
    /// Whether schedules are recorded and verified.
    pub record: bool,
    /// Where the results go.
    pub out: PathBuf,
}

impl Settings {
    /// One run under each of these schedulers, and nothing beside it: jobs that take their WCETs and run on when they are late,
    /// on this platform, placed by load, with results that replace others.
    pub fn plain(
        schedulers: Vec<Configuration>,
        duration: Duration,
        placement: Method,
        platform: Platform,
        out: PathBuf,
        caller: Caller,
    ) -> Self {
        Settings {
            runs: RunSettings {
                existing: Existing::Replace,
                ..RunSettings::plain(
                    schedulers,
                    duration,
                    PlacementSettings::by_load(placement, platform),
                    caller,
                )
            },
            repeat_disturbed: 0,
            simulate: None,
            analyse: None,
            overheads: None,
            alone: None,
            demand_model: DemandModel::CpuTime,
            calibration: None,
            on_miss: OnMiss::Continue,
            busy: 0,
            budget_margin: BudgetMargin::default(),
            policy: PolicyOptions {
                budget: BudgetMode::Throttle,
                batching: true,
                retries_max: laxity_sim::RETRIES_MAX,
                servers: ServerSizes::NONE,
            },
            record: false,
            out,
        }
    }

    /// The CPUs to use, and their clusters.
    pub fn platform(&self) -> &Platform {
        &self.runs.placement.platform
    }

    /// The platform as demands see it.
    fn platform_of_demand(&self) -> Result<Platform> {
        match self.demand_model {
            DemandModel::CpuTime => of_equal_speed(self.platform()),
            DemandModel::Work => Ok(self.platform().clone()),
        }
    }
}

/// How the experiment went.
pub struct Finished<'a> {
    /// The directory.
    pub directory: FinishedResults,
    /// Everything, with the jobs.
    pub results: Results,
    /// How any of the schedulers is deployed.
    pub deployment: Deployment<'a>,
    /// The user ended it early.
    pub interrupted: bool,
}

/// This machine, taken for experiments, and what it can do.
pub struct Bench {
    lock: MachineLock,
    capabilities: Capabilities,
    measuring: Option<Measuring>,
}

impl Bench {
    /// Takes the machine, finds out what it can do, and attaches the probes of overheads, if any are wanted.
    ///
    /// # Errors
    ///
    /// Another run holds the machine; the probes are not possible here.
    pub fn set_up(probes: Option<Probes>, caller: &Caller) -> Result<Bench> {
        crate::roles::check()?;
        // Before anything real-time is tried: another run's measurements must not be disturbed.
        let lock = MachineLock::acquire()?;
        for path in lock.restored() {
            caller.observer.warn(&format!("note: an earlier run was killed; restored {}", path.shown()));
        }
        let capabilities = Capabilities::probe();
        Ok(Bench { lock, capabilities, measuring: probes.map(Measuring::begin).transpose()? })
    }
}

/// Runs the whole experiment. Every finished run is on disk before the next one starts.
pub fn measure<'a>(
    sets: &'a [TaskSet],
    settings: &'a Settings,
    interrupt: &'static AtomicBool,
) -> Result<Finished<'a>> {
    check_load(sets, settings)?;
    measure_on(&Bench::set_up(settings.overheads, &settings.runs.caller)?, sets, settings, interrupt)
}

/// Why [`measure_on`] could not run a set under one of the schedulers, if it could not: nothing is run or written.
pub fn check_prospect_on(
    bench: &Bench,
    set: &TaskSet,
    settings: &Settings,
    interrupt: &'static AtomicBool,
) -> Result<()> {
    let sets = std::slice::from_ref(set);
    check_load(sets, settings)?;
    let (parts, _) = parts(sets, settings, &bench.capabilities, interrupt)?;
    parts.into_iter().find_map(|part| part.plan.err()).map_or(Ok(()), Err)
}

/// As [`measure`], on a bench that is set up already.
pub fn measure_on<'a>(
    bench: &Bench,
    sets: &'a [TaskSet],
    settings: &'a Settings,
    interrupt: &'static AtomicBool,
) -> Result<Finished<'a>> {
    let capabilities = &bench.capabilities;
    elsewhere::check(&settings.runs.schedulers, capabilities, &settings.runs.caller)?;
    let (parts, same) = parts(sets, settings, capabilities, interrupt)?;
    same.iter().for_each(|same| settings.runs.caller.observer.note(&same.words()));
    check_prospects(
        parts.iter().map(|part| (part.case.scheduler.name.as_str(), part.case.set, part.plan.as_ref().err())),
    )?;
    let workload = Workload::new(settings, sets)?;
    let repeating = Repeating::new(settings);
    let runs = planned_runs(sets.len(), &parts, settings, capabilities);
    let mut manifest = manifest(sets, settings, &workload, runs.iter().map(|(run, _)| run.clone()).collect());
    let laboratory = Laboratory {
        sets,
        settings,
        parts: &parts,
        workload: &workload,
        bench,
        interrupt,
        repeating,
        is_virtual: manifest.machine.is_virtual(),
    };
    manifest.analysis = analysis(&parts, settings, interrupt)?;
    check_interrupt(interrupt, NOTHING)?;
    manifest.options.extend(same_option(&same));
    manifest.options.extend(not_analysed(sets, settings).map(|why| (NOT_ANALYSED.to_owned(), why)));
    let mut directory = ResultsDirectory::create(&settings.out, manifest, settings.runs.existing)?;
    laboratory.make_all(&runs, &mut directory)?;
    if let Some(measuring) = &bench.measuring {
        measuring.write_costs(directory.path())?;
    }
    laboratory.simulate_beside(&runs, &mut directory)?;
    let phase = settings.runs.caller.observer.begin("reading the results ...", "");
    let directory = directory.finish()?;
    let results = laxity_trace::load(directory.path())?;
    phase.end(None);
    let deployment = Deployment { parts, capabilities: capabilities.clone() };
    Ok(Finished { directory, results, deployment, interrupted: interrupt.load(SeqCst) })
}

/// What is proven of each part. Sets whose jobs may exceed their WCETs are left out: tests assume that none does.
fn analysis(
    parts: &[Part<'_>],
    settings: &Settings,
    interrupt: &'static AtomicBool,
) -> Result<Vec<AnalysisRecord>> {
    let Some(charges) = &settings.analyse else { return Ok(Vec::new()) };
    let platform = settings.platform_of_demand()?;
    let known = |part: &&Part<'_>| !work::may_exceed_wcet(part.case.set, settings.runs.demand);
    let record =
        |part: &Part<'_>| analyse_beside(&part.case, &platform, charges, &settings.policy.servers, interrupt);
    Ok(parts.iter().filter(known).filter_map(record).collect())
}

/// Which sets are not analysed although that was wanted, and why.
fn not_analysed(sets: &[TaskSet], settings: &Settings) -> Option<String> {
    settings.analyse.as_ref()?;
    let why = |set: &TaskSet| {
        let task = work::exceeding(set, settings.runs.demand)?;
        Some(format!(
            "`{}` is left out, because jobs of `{task}` may ask for more than their WCET",
            set.name()
        ))
    };
    let all: Vec<String> = sets.iter().filter_map(why).collect();
    (!all.is_empty()).then(|| format!("{}. Every test assumes that none does", all.join("; ")))
}

/// The same CPUs at speed 1: a job that asks for CPU time needs as much of it on a slow CPU as on a fast one.
fn of_equal_speed(platform: &Platform) -> Result<Platform> {
    let cores = platform.cores().iter().map(|core| Core { speed: Speed::UNIT, ..core.clone() }).collect();
    let (caches, nodes) = (platform.caches().to_vec(), platform.numa_nodes().to_vec());
    Platform::new(platform.name(), cores, caches, nodes, Some(platform.clusters().to_vec()))
}
