//! The experiment behind `run` and `compare`: place, run alone, run together, keep everything.

mod calibration;
mod checks;
pub mod elsewhere;
mod overruns;
mod parts;
mod repeating;
mod runs;
mod schedule;
mod work;

pub use calibration::Calibration;
pub use checks::RUN_LONGEST;
pub use parts::Deployment;
pub use schedule::verify_again;
pub use work::DemandModel;

use crate::analysis::analyse_beside;
use crate::cases::{Common, check_prospects, placement_of_all, reason};
use crate::charges::Charges;
use crate::observer::{Caller, Steps, check_interrupt};
use crate::overheads::{Measuring, Probes, Subject};
use crate::places::same_option;
use crate::placing::{Below, Placing, SLOWEST_FIT, named_load};
use crate::schedulers::Choice;
use crate::schedulers::TriedScheduler;
use crate::simulation::{Beside, Budgets, Conditions, Mechanics, simulate_beside};
use checks::{alone_duration, check_load};
use laxity_model::{
    BudgetMode, Core, Demand, Duration, OnMiss, Platform, Result, ServerSizes, ShownPath as _, Speed,
    TaskSet, Utilization, plural,
};
use laxity_place::{Fitting, Method, Overload};
use laxity_run::{
    BudgetMargin, Capabilities, JobOrder, MachineLock, Plan, PolicyOptions, Progress, RunRecords,
};
use laxity_trace::{
    AnalysisRecord, Existing, FinishedResults, NOT_ANALYSED, NOT_SIMULATED, NOT_VERIFIED, Results,
    ResultsDirectory, Run, RunStatus, RunSummary,
};
use parts::{NOTHING, Part, parts};
use repeating::Repeating;
use runs::{Work, manifest, planned_runs};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use work::Workload;

/// Everything the user chose.
pub struct Settings {
    /// Under which schedulers.
    pub schedulers: Vec<TriedScheduler>,
    /// Releases happen in `[0, duration)`.
    pub duration: Duration,
    /// Runs per set and scheduler.
    pub repeat: u32,
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
    /// How much of its WCET a job asks for.
    pub demand: Demand,
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
    /// How much longer than `duration` jobs may run.
    pub grace: Option<Duration>,
    /// How tasks are placed, unless a scheduler's name says it.
    pub placement: Choice,
    /// How amp-rm's tasks are placed, and what is promised there.
    pub below: (Method, Below),
    /// How much of each CPU is filled at the most; nothing: all of it.
    pub limit: Option<Utilization>,
    /// What may be placed together.
    pub fit: Fitting,
    /// What to do with a task that fits nowhere.
    pub overload: Overload,
    /// How long the ILP may look for the optimum; without a limit it answers after a fixed amount of work.
    pub ilp_time_limit: Option<Duration>,
    /// Seed of everything random.
    pub seed: u64,
    /// The CPUs to use, and their clusters.
    pub platform: Platform,
    /// Where the results go.
    pub out: PathBuf,
    /// Whether results there may be replaced.
    pub existing: Existing,
    /// The program that calls.
    pub caller: Caller,
}

impl Settings {
    /// One run under each of these schedulers, and nothing beside it: jobs that take their WCETs and run on when they are late,
    /// on this platform, placed by load, with results that replace others.
    pub fn plain(
        schedulers: Vec<TriedScheduler>,
        duration: Duration,
        placement: Method,
        platform: Platform,
        out: PathBuf,
        caller: Caller,
    ) -> Self {
        Settings {
            schedulers,
            duration,
            repeat: 1,
            repeat_disturbed: 0,
            simulate: None,
            analyse: None,
            overheads: None,
            alone: None,
            demand_model: DemandModel::CpuTime,
            calibration: None,
            demand: Demand::Wcet,
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
            grace: None,
            placement: placement.into(),
            below: (SLOWEST_FIT, Below::default()),
            limit: None,
            fit: Fitting::Load(None),
            overload: Overload::Refuse,
            ilp_time_limit: None,
            seed: 0,
            platform,
            out,
            existing: Existing::Replace,
            caller,
        }
    }

    /// What the manifest says of every experiment.
    fn common(&self) -> Common {
        Common {
            duration: self.duration,
            repeat: self.repeat,
            seed: self.seed,
            demand: self.demand,
            placement: placement_of_all(&self.schedulers, (self.placement, self.below.0)),
            fit: self.fit,
            overload: self.overload,
            ilp_time_limit: self.ilp_time_limit,
            caller: self.caller.clone(),
        }
    }

    /// The platform as demands see it.
    fn platform_of_demand(&self) -> Result<Platform> {
        match self.demand_model {
            DemandModel::CpuTime => of_equal_speed(&self.platform),
            DemandModel::Work => Ok(self.platform.clone()),
        }
    }

    fn placing<'a>(&'a self, interrupt: &'a AtomicBool) -> Placing<'a> {
        Placing {
            platform: &self.platform,
            method: self.placement.method(),
            fit: named_load(self.fit),
            overload: self.overload,
            ilp_time_limit: self.ilp_time_limit,
            interrupt,
        }
    }
}

/// How the experiment went.
pub struct Finished {
    /// The directory.
    pub directory: FinishedResults,
    /// Everything, with the jobs.
    pub results: Results,
    /// How any of the schedulers is deployed.
    pub deployment: Deployment,
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
pub fn conduct(sets: &[TaskSet], settings: &Settings, interrupt: &'static AtomicBool) -> Result<Finished> {
    check_load(sets, settings)?;
    conduct_on(&Bench::set_up(settings.overheads, &settings.caller)?, sets, settings, interrupt)
}

/// Why [`conduct_on`] could not run a set under one of the schedulers, if it could not: nothing is run or written.
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

/// As [`conduct`], on a bench that is set up already.
pub fn conduct_on(
    bench: &Bench,
    sets: &[TaskSet],
    settings: &Settings,
    interrupt: &'static AtomicBool,
) -> Result<Finished> {
    let capabilities = &bench.capabilities;
    elsewhere::check(&settings.schedulers, capabilities, &settings.caller)?;
    let (parts, same) = parts(sets, settings, capabilities, interrupt)?;
    same.iter().for_each(|same| settings.caller.observer.note(&same.words()));
    check_prospects(
        parts.iter().map(|part| (part.scheduler.name.as_str(), &sets[part.set], part.plan.as_ref().err())),
    )?;
    let workload = Workload::new(settings, sets)?;
    let repeating = Repeating::new(settings);
    let runs = planned_runs(sets, &parts, settings, capabilities);
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
    manifest.analysis = analysis(sets, &parts, settings, interrupt)?;
    check_interrupt(interrupt, NOTHING)?;
    manifest.options.extend(same_option(&same));
    manifest.options.extend(not_analysed(sets, settings).map(|why| (NOT_ANALYSED.to_owned(), why)));
    let mut directory = ResultsDirectory::create(&settings.out, manifest, settings.existing)?;
    laboratory.make_all(&runs, &mut directory)?;
    if let Some(measuring) = &bench.measuring {
        measuring.write_costs(directory.path())?;
    }
    laboratory.simulate_beside(&runs, &mut directory)?;
    let phase = settings.caller.observer.begin("reading the results ...", "");
    let directory = directory.finish()?;
    let results = laxity_trace::load(directory.path())?;
    phase.end(None);
    let deployment = Deployment { parts, capabilities: capabilities.clone() };
    Ok(Finished { directory, results, deployment, interrupted: interrupt.load(SeqCst) })
}

/// What is proven of each part. Sets whose jobs may exceed their WCETs are left out: tests assume that none does.
fn analysis(
    sets: &[TaskSet],
    parts: &[Part],
    settings: &Settings,
    interrupt: &'static AtomicBool,
) -> Result<Vec<AnalysisRecord>> {
    let Some(charges) = &settings.analyse else { return Ok(Vec::new()) };
    let platform = settings.platform_of_demand()?;
    let known = |part: &&Part| !work::may_exceed_wcet(&sets[part.set], settings.demand);
    let record = |part: &Part| {
        let set = (part.set, &sets[part.set]);
        analyse_beside(
            set,
            &part.scheduler.name,
            &platform,
            part.placed.as_ref(),
            charges,
            &settings.policy.servers,
            interrupt,
        )
    };
    Ok(parts.iter().filter(known).filter_map(record).collect())
}

/// Which sets are not analysed although that was wanted, and why.
fn not_analysed(sets: &[TaskSet], settings: &Settings) -> Option<String> {
    settings.analyse.as_ref()?;
    let why = |set: &TaskSet| {
        let task = work::exceeding(set, settings.demand)?;
        Some(format!(
            "`{}` is left out, because jobs of `{task}` may ask for more than their WCET",
            set.name()
        ))
    };
    let all: Vec<String> = sets.iter().filter_map(why).collect();
    (!all.is_empty()).then(|| format!("{}. Every test assumes that none does", all.join("; ")))
}

/// Everything that runs need while they are made.
struct Laboratory<'a> {
    sets: &'a [TaskSet],
    settings: &'a Settings,
    parts: &'a [Part],
    workload: &'a Workload,
    bench: &'a Bench,
    interrupt: &'static AtomicBool,
    repeating: Repeating,
    /// This is a virtual machine.
    is_virtual: bool,
}

impl Laboratory<'_> {
    fn make_all(&self, runs: &[(Run, Work)], directory: &mut ResultsDirectory) -> Result<()> {
        let mut said = Vec::new();
        self.announce(runs);
        let possible = runs.iter().filter(|(_, work)| !matches!(work, Work::Nothing(_))).count();
        let mut steps = Steps::new(possible, &*self.settings.caller.observer);
        for (planned, work) in runs {
            let mut run = planned.clone();
            if !matches!(work, Work::Nothing(_)) {
                if self.interrupt.load(SeqCst) {
                    run.status = RunStatus::NotRun { reason: "interrupted before this run".into() };
                } else {
                    self.make(&mut run, *work, &mut steps, directory.path())?;
                    self.say_not_recorded(&run, &mut said);
                }
            }
            directory.append_run(&run)?;
        }
        Ok(())
    }

    /// Simulates the same jobs in the same places. Comes last: nothing else is to run beside measurements.
    fn simulate_beside(&self, runs: &[(Run, Work)], directory: &mut ResultsDirectory) -> Result<()> {
        let Some(mechanics) = self.settings.simulate.as_ref().filter(|_| !self.interrupt.load(SeqCst)) else {
            return Ok(());
        };
        let measured = directory.manifest().runs.clone();
        let made = |id: u32| measured.iter().find(|run| run.id == id);
        let mut cases = Vec::new();
        for (planned, part) in runs.iter().filter_map(|(run, work)| Some((run, work.part()?))) {
            let Part { set, scheduler, placed: Some(placed), .. } = &self.parts[part] else { continue };
            let (run, set) = (made(planned.id).unwrap_or(planned), &self.sets[*set]);
            let grace = match run.grace {
                Duration::ZERO => self.settings.grace.unwrap_or_else(|| laxity_sim::default_grace(set)),
                grace => grace,
            };
            let seed = self.settings.seed.wrapping_add(u64::from(run.repetition));
            // The others say themselves why they are not simulated.
            let Ok(model) = scheduler.model() else { continue };
            let budgets = match scheduler.linux() {
                _ if !work::may_exceed_wcet(set, self.settings.demand) => Budgets::None,
                Some(linux) if linux.has_reservations() => Budgets::Throttled,
                Some(_) => Budgets::None,
                None => Budgets::OfPolicy,
            };
            cases.push(Beside { run, set, scheduler: model, placed, grace, budgets, seed });
        }
        let first = u32::try_from(runs.len()).expect("runs are far fewer than 2^32");
        let platform = self.settings.platform_of_demand()?;
        let machine = Conditions { platform: &platform, demand: self.settings.demand, mechanics };
        let observer = &*self.settings.caller.observer;
        if !cases.is_empty() {
            observer.note(&format!("simulating the same jobs: {}", plural(cases.len(), "run")));
        }
        simulate_beside(&cases, &machine, first, observer, self.interrupt, |run| directory.append_run(&run))
    }

    fn make(&self, run: &mut Run, work: Work, steps: &mut Steps<'_>, directory: &Path) -> Result<()> {
        let set = &self.sets[run.set as usize];
        let Some((plan, orders)) = self.orders(run, work)? else { return Ok(()) };
        run.duration = plan.duration;
        run.grace = plan.grace;
        let deadlines: Vec<Duration> =
            plan.tasks.iter().map(|task| set.tasks()[task.id].deadline_rel).collect();
        let step = steps.begin(&format!("{} {}", run.scheduler, set.name()));
        let mut show = |progress: Progress| {
            step.show(progress.finished, progress.total, &plural(progress.missed, "miss"));
        };
        let mut execute =
            || laxity_run::execute(&self.bench.lock, &plan, &orders, &deadlines, self.interrupt, &mut show);
        let (executed, recorded) = match (&self.bench.measuring, work.part()) {
            (Some(measuring), Some(part)) => {
                measuring.during(directory, &self.subject(run, part, set), execute)
            }
            _ => {
                let again =
                    |share: &str| step.phase(&format!("again, because others had {share} of the CPUs"));
                (self.repeating.least_disturbed(&mut execute, again), Ok(()))
            }
        };
        match executed {
            Ok(executed) => {
                run.disturbance = executed.disturbance;
                run.status = executed.status;
                run.not_measured = executed.not_measured;
                run.not_measured
                    .extend(self.not_simulated(work).map(|why| (NOT_SIMULATED.into(), why.into())));
                run.notes = executed.notes;
                run.kernel_counters = executed.counters;
                run.overruns = executed.overruns.map(overruns::records);
                run.jobs = executed.jobs;
                if let Some(records) = executed.records {
                    step.phase("verifying the schedule");
                    self.keep_schedule(run, &plan, (&records, work.part()), directory);
                }
                run.notes.extend(overruns::note(run, set));
            }
            // The others may run all the same.
            Err(error) => run.status = RunStatus::NotRun { reason: reason(&error) },
        }
        if let Err(why) = recorded {
            run.notes.push(format!("overheads were not recorded: {}", reason(&why)));
        }
        step.end(Some(&outcome(run, set, self.settings)?));
        Ok(())
    }

    /// Why a run is not simulated, too, although that is wanted.
    fn not_simulated(&self, work: Work) -> Option<&'static str> {
        self.settings.simulate.as_ref()?;
        self.parts[work.part()?].scheduler.model().err()
    }

    /// Makes a schedule of the records, and keeps it with what the oracles say of it and why jobs missed.
    fn keep_schedule(
        &self,
        run: &mut Run,
        plan: &Plan,
        (records, part): (&RunRecords, Option<usize>),
        directory: &Path,
    ) {
        let set = &self.sets[run.set as usize];
        if let Some(overruns) = &mut run.overruns {
            overruns::count_throttled(overruns, plan, records);
        }
        let machine = schedule::Taken {
            platform: &self.settings.platform,
            is_virtual: self.is_virtual,
            demand_is_work: self.settings.demand_model == DemandModel::Work,
        };
        match schedule::keep(directory, run, set, plan, &machine, records) {
            Ok(Ok(mut record)) => {
                for budget in &mut record.budgets_used_up {
                    let margin = Duration::from_ns(budget.margin_ns);
                    budget.refused = part.and_then(|part| {
                        let part = &self.parts[part];
                        parts::refused(
                            self.settings,
                            &self.bench.capabilities,
                            set,
                            part,
                            margin,
                            self.interrupt,
                        )
                    });
                }
                run.schedule = Some(record);
            }
            Ok(Err(why)) => {
                run.not_measured.insert(NOT_VERIFIED.into(), why);
            }
            Err(error) => {
                run.not_measured.insert(laxity_run::SCHEDULE.into(), reason(&error));
            }
        }
    }

    /// What overheads are recorded of.
    fn subject<'a>(&'a self, run: &Run, part: usize, set: &'a TaskSet) -> Subject<'a> {
        Subject {
            run: run.id,
            scheduler: &self.parts[part].scheduler,
            set: set.name(),
            tasks: u32::try_from(set.real_time().count()).unwrap_or(u32::MAX),
            cpus: u32::try_from(self.settings.platform.core_count()).unwrap_or(u32::MAX),
            seed: self.settings.seed,
        }
    }

    /// What a run executes: the plan, and the jobs of its tasks.
    fn orders(&self, run: &Run, work: Work) -> Result<Option<(Plan, Vec<Vec<JobOrder>>)>> {
        let (set, settings) = (&self.sets[run.set as usize], self.settings);
        let seed = settings.seed.wrapping_add(u64::from(run.repetition));
        match work {
            Work::Nothing(_) => Ok(None),
            Work::Alone => {
                let cpu = settings.platform.cores().last().expect("a platform has CPUs").cpu;
                let order = |id, index| self.workload.order_of(set, id, index, seed);
                laxity_run::alone(set, cpu, settings.alone.unwrap_or_default(), settings.seed, order)
                    .map(Some)
            }
            Work::Together(part) => {
                let Ok(mut plan) = self.parts[part].plan.clone() else { return Ok(None) };
                plan.recorded = settings.record;
                let orders =
                    |task: &laxity_run::PlannedTask| self.workload.orders(set, task.id, seed, plan.duration);
                let orders = plan.tasks.iter().map(orders).collect();
                Ok(Some((plan, orders)))
            }
        }
    }

    /// Says why a schedule was not recorded: each reason once.
    fn say_not_recorded(&self, run: &Run, said: &mut Vec<String>) {
        if let Some(why) = run.not_measured.get(laxity_run::SCHEDULE).filter(|why| !said.contains(why)) {
            self.settings.caller.observer.warn(&format!(
                "note: schedules of {} are not recorded, and so not verified: {why}",
                run.scheduler
            ));
            said.push(why.clone());
        }
    }

    fn announce(&self, runs: &[(Run, Work)]) {
        let together = runs.iter().filter(|(_, work)| matches!(work, Work::Together(_))).count();
        let alone: Duration = runs
            .iter()
            .filter(|(_, work)| *work == Work::Alone)
            .filter_map(|(run, _)| alone_duration(&self.sets[run.set as usize], self.settings.alone?).ok())
            .sum();
        let duration = self.settings.duration;
        // Starting, stopping and the last jobs take a little longer.
        let total = alone.as_secs_f64() + (duration.as_secs_f64() + 0.3) * together as f64;
        self.settings.caller.observer.note(&format!(
            "{}, {}, {} of {duration}: about {total:.0} s",
            plural(self.sets.len(), "task set"),
            plural(self.settings.schedulers.len(), "scheduler"),
            plural(together, "run"),
        ));
    }
}

/// The same CPUs at speed 1: a job that asks for CPU time needs as much of it on a slow CPU as on a fast one.
fn of_equal_speed(platform: &Platform) -> Result<Platform> {
    let cores = platform.cores().iter().map(|core| Core { speed: Speed::UNIT, ..core.clone() }).collect();
    let (caches, nodes) = (platform.caches().to_vec(), platform.numa_nodes().to_vec());
    Platform::new(platform.name(), cores, caches, nodes, Some(platform.clusters().to_vec()))
}

/// One line on how a run went.
fn outcome(run: &Run, set: &TaskSet, settings: &Settings) -> Result<String> {
    Ok(match &run.status {
        RunStatus::NotRun { reason } => format!("not run: {reason}"),
        status => {
            let summary = RunSummary::of(run, set, settings.platform.core_count())?;
            let tardy = match summary.tardiness_ns.map_or(0, |tardiness| tardiness.max) {
                0 => String::new(),
                // No finer than a clock read in user space tells.
                ns => format!(", max tardiness {}", Duration::from_ns(ns.next_multiple_of(1_000))),
            };
            let early = if *status == RunStatus::Completed { "" } else { " (cut short)" };
            let checked =
                run.schedule.as_ref().map(|schedule| match schedule.verification.violations_count() {
                    0 => ", schedule as defined".to_owned(),
                    count => format!(", {} of the schedule's definition", plural(count, "violation")),
                });
            let apart = [(summary.counts.aborted, "aborted"), (summary.counts.skipped, "skipped")];
            let apart = apart.iter().filter(|(count, _)| *count > 0);
            let apart: String = apart.map(|(count, what)| format!(", {count} {what}")).collect();
            format!(
                "{}, {}{apart}{tardy}{early}{}",
                plural(summary.counts.jobs, "job"),
                plural(summary.counts.misses, "miss"),
                checked.unwrap_or_default()
            )
        }
    })
}
