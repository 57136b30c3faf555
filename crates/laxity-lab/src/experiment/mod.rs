//! The experiment behind `run` and `compare`: place, run alone, run together, keep everything.

mod calibration;
mod checks;
pub mod elsewhere;
mod laboratory;
mod limits;
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
use crate::case::{CaseSettings, Cases, RunSettings, check_prospects, same_option};
use crate::observer::{Caller, check_interrupt};
use crate::overheads::{Measuring, Probes};
use crate::simulation::Mechanics;
use checks::check_load;
use laboratory::Laboratory;
use laxity_model::{BudgetMode, Core, Duration, OnMiss, Platform, Result, ShownPath as _, Speed, TaskSet};
use laxity_run::{BudgetMargin, Capabilities, MachineLock, PolicyOptions};
use laxity_trace::{AnalysisRecord, Existing, FinishedResults, NOT_ANALYSED, Results, ResultsDirectory};
use parts::{NOTHING, Part, parts};
use repeating::Repeating;
use runs::{manifest, planned_runs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use work::Workload;

/// How cases are run, and what is said of them beside it.
pub struct Settings {
    /// What runs and simulations are both told.
    pub runs: RunSettings,
    /// What is measured is simulated, too, with these costs; budgets as they are in the kernel.
    pub simulate: Option<Mechanics>,
    /// What is proven is said beside what is measured.
    pub analyse: bool,
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
    /// Whether the machine is made quiet for each run, as far as it can be, and put back behind it.
    pub quiet_machine: bool,
    /// Margin of SCHED_DEADLINE budgets.
    pub budget_margin: BudgetMargin,
    /// Laxity's own policies: what happens to a job that has used up its budget.
    pub budget_mode: BudgetMode,
    /// Laxity's own policies: whether jobs of one release instant are released together.
    pub batching: bool,
    /// push-pull: after how many failures a push is given up.
    pub retries_max: u32,
    /// Whether schedules are recorded and verified.
    pub record: bool,
    /// Where the results go.
    pub out: PathBuf,
}

impl Settings {
    /// One run of each case, and nothing beside it: jobs run on when they are late, and results replace others.
    pub fn plain(duration: Duration, out: PathBuf, caller: Caller) -> Self {
        Settings {
            runs: RunSettings { existing: Existing::Replace, ..RunSettings::plain(duration, caller) },
            repeat_disturbed: 0,
            simulate: None,
            analyse: false,
            overheads: None,
            alone: None,
            demand_model: DemandModel::CpuTime,
            calibration: None,
            on_miss: OnMiss::Continue,
            busy: 0,
            quiet_machine: false,
            budget_margin: BudgetMargin::default(),
            budget_mode: BudgetMode::Throttle,
            batching: true,
            retries_max: laxity_sim::RETRIES_MAX,
            record: false,
            out,
        }
    }

    /// A platform as demands see it.
    fn platform_of_demand(&self, platform: &Platform) -> Result<Platform> {
        match self.demand_model {
            DemandModel::CpuTime => of_equal_speed(platform),
            DemandModel::Work => Ok(platform.clone()),
        }
    }

    /// What laxity's own policies are told in the kernel of such cases.
    fn policy_options(&self, of_cases: &CaseSettings) -> PolicyOptions {
        PolicyOptions {
            budget: self.budget_mode,
            batching: self.batching,
            retries_max: self.retries_max,
            servers: of_cases.placement.below.servers.clone(),
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
    /// Which limits of cgroups have no effect has been said.
    said_limits: AtomicBool,
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
        let measuring = probes.map(Measuring::begin).transpose()?;
        Ok(Bench { lock, capabilities, measuring, said_limits: AtomicBool::new(false) })
    }
}

/// Runs all cases. Every finished run is on disk before the next one starts.
///
/// Tasks go where the kernel takes them, too: where it does not, into other places than those in which the case would be simulated.
pub fn measure<'a>(cases: &Cases<'a>, settings: &Settings) -> Result<Finished<'a>> {
    check_load(cases, settings)?;
    measure_on(&Bench::set_up(settings.overheads, &settings.runs.caller)?, cases, settings)
}

/// Why [`measure_on`] could not run one of the cases, if it could not: nothing is run or written.
pub fn check_prospect_on(bench: &Bench, cases: &Cases<'_>, settings: &Settings) -> Result<()> {
    check_load(cases, settings)?;
    let (parts, _) = parts(cases, settings, &bench.capabilities)?;
    parts.into_iter().find_map(|part| part.plan.err()).map_or(Ok(()), Err)
}

/// As [`measure`], on a bench that is set up already.
pub fn measure_on<'a>(bench: &Bench, cases: &Cases<'a>, settings: &Settings) -> Result<Finished<'a>> {
    let (sets, interrupt, capabilities) = (cases.sets, cases.interrupt, &bench.capabilities);
    elsewhere::check(cases.schedulers, capabilities, &settings.runs.caller)?;
    let (parts, same) = parts(cases, settings, capabilities)?;
    same.iter().for_each(|same| settings.runs.caller.observer.note(&same.words()));
    check_prospects(
        parts.iter().map(|part| (part.case.scheduler.name.as_str(), part.case.set, part.plan.as_ref().err())),
    )?;
    let workload = Workload::new(cases, settings)?;
    let repeating = Repeating::new(settings);
    let runs = planned_runs(sets.len(), &parts, settings, capabilities);
    let mut manifest =
        manifest(cases, settings, &workload, runs.iter().map(|(run, _)| run.clone()).collect());
    limits::note(&parts, bench, &mut manifest.machine, &*settings.runs.caller.observer);
    let laboratory = Laboratory {
        cases,
        settings,
        parts: &parts,
        workload: &workload,
        bench,
        repeating,
        is_virtual: manifest.machine.is_virtual(),
    };
    if settings.analyse {
        manifest.analysis = analysis(cases, &parts, settings)?;
    }
    check_interrupt(interrupt, NOTHING)?;
    manifest.options.extend(same_option(&same));
    let not_analysed = settings.analyse.then(|| not_analysed(cases)).flatten();
    manifest.options.extend(not_analysed.map(|why| (NOT_ANALYSED.to_owned(), why)));
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
fn analysis(cases: &Cases<'_>, parts: &[Part<'_>], settings: &Settings) -> Result<Vec<AnalysisRecord>> {
    let platform = settings.platform_of_demand(cases.settings.platform())?;
    let known = |part: &&Part<'_>| !work::may_exceed_wcet(part.case.set, cases.settings.demand);
    let record = |part: &Part<'_>| analyse_beside(&part.case, &platform, cases.interrupt);
    Ok(parts.iter().filter(known).filter_map(record).collect())
}

/// Which sets are not analysed although that was wanted, and why.
fn not_analysed(cases: &Cases<'_>) -> Option<String> {
    let why = |set: &TaskSet| {
        let task = work::exceeding(set, cases.settings.demand)?;
        Some(format!(
            "`{}` is left out, because jobs of `{task}` may ask for more than their WCET",
            set.name()
        ))
    };
    let all: Vec<String> = cases.sets.iter().filter_map(why).collect();
    (!all.is_empty()).then(|| format!("{}. Every test assumes that none does", all.join("; ")))
}

/// The same CPUs at speed 1: a job that asks for CPU time needs as much of it on a slow CPU as on a fast one.
fn of_equal_speed(platform: &Platform) -> Result<Platform> {
    let cores = platform.cores().iter().map(|core| Core { speed: Speed::UNIT, ..core.clone() }).collect();
    let (caches, nodes) = (platform.caches().to_vec(), platform.numa_nodes().to_vec());
    Platform::new(platform.name(), cores, caches, nodes, Some(platform.clusters().to_vec()))
}
