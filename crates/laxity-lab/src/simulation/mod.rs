//! The experiment behind `simulate`: place every set under every scheduler, simulate all of it on all CPUs of this
//! machine, keep what is wanted.
//!
//! Results and their order do not depend on the number of threads. Without jobs or events, memory is bounded by tasks
//! and runs.

mod beside;
mod case;
mod changes;
mod checks;
mod definition;
mod mechanics;
mod progress;
mod runs;

pub use beside::{Beside, Budgets, Conditions, simulate_beside};
pub use case::{Case, Control, Wanted};
pub use changes::{ChangeAt, changes};
pub use definition::{set_of, verifiable};
pub use mechanics::Mechanics;

use crate::cases::{Common, check_prospects, placement_of_all, reason};
use crate::charges::Charges;
use crate::in_order::in_order;
use crate::observer::{Caller, check_interrupt};
use crate::places::{self, ByLoad, Configured, Finder, Same, drop_same, same_option};
use crate::placing::check_capacity;
use crate::placing::{BelowServers, Placed, Placing, named_load};
use crate::schedulers::Choice;
use crate::schedulers::NamedScheduler;
use crate::schedulers::TriedScheduler;
use checks::check_sets;
use laxity_model::{Demand, Diagnostic, Duration, Platform, Result, TaskSet, scheduler_of};
use laxity_oracle::Verdict;
use laxity_place::{Fitting, Method, Overload};
use laxity_trace::{
    BackgroundRecord, EventsFile, Existing, FinishedResults, Manifest, ResultsDirectory, Run, RunStatus,
    RunSummary, Summary, SummaryBuilder, Tallies,
};
use progress::watching;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// Everything the user chose.
pub struct Settings {
    /// Under which schedulers.
    pub schedulers: Vec<NamedScheduler>,
    /// Releases happen in `[0, duration)`.
    pub duration: Duration,
    /// How much longer than `duration` jobs may run.
    pub grace: Option<Duration>,
    /// Runs per set and scheduler.
    pub repeat: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// How much of its WCET a job asks for.
    pub demand: Demand,
    /// Budgets, batching, retries, costs.
    pub mechanics: Mechanics,
    /// The machine that is simulated.
    pub platform: Platform,
    /// How tasks are placed, unless a scheduler's name says it.
    pub placement: Choice,
    /// What may be placed together.
    pub fit: Fitting,
    /// How amp-rm's tasks are placed.
    pub amp_rm: Method,
    /// What scheduling costs, as tests count it.
    pub charges: Charges,
    /// What to do with a task that fits nowhere.
    pub overload: Overload,
    /// How long the ILP may look for the optimum; without a limit it answers after a fixed amount of work.
    pub ilp_time_limit: Option<Duration>,
    /// Where the results go, if they are kept.
    pub out: Option<PathBuf>,
    /// Whether results there may be replaced.
    pub existing: Existing,
    /// Whether the events are kept with the results.
    pub events: bool,
    /// Where the events of each run are needed only for a while: a directory for them.
    pub scratch: Option<PathBuf>,
    /// Whether the oracles watch.
    pub verify: bool,
    /// How long the schedule may differ from its definition beside what the costs explain; nothing: not at all.
    pub tolerate: Option<Duration>,
    /// How many threads simulate.
    pub threads: usize,
    /// The program that calls.
    pub caller: Caller,
}

impl Settings {
    /// What the manifest says of every experiment.
    fn common(&self) -> Common {
        Common {
            duration: self.duration,
            repeat: self.repeat,
            seed: self.seed,
            demand: self.demand,
            placement: placement_of_all(&self.tried(), (self.placement, self.amp_rm)),
            fit: self.fit,
            overload: self.overload,
            ilp_time_limit: self.ilp_time_limit,
            caller: self.caller.clone(),
        }
    }
}

impl Settings {
    /// The schedulers, as if they were run.
    fn tried(&self) -> Vec<TriedScheduler> {
        self.schedulers.iter().cloned().map(TriedScheduler::from).collect()
    }

    /// How the scheduler's tasks are placed and what is promised to them, if that goes by its servers: amp-rm's, unless they are to be
    /// placed by load.
    fn below(&self, scheduler: &NamedScheduler) -> Option<(Method, BelowServers)> {
        let method = scheduler.placement.and_then(Choice::named).unwrap_or(self.amp_rm);
        let goes_by_servers = scheduler.scheduler.policy.has_servers() && !method.may_solve();
        goes_by_servers.then(|| (method, self.mechanics.below.clone()))
    }

    fn placing<'a>(&'a self, method: Method, interrupt: &'a AtomicBool) -> Placing<'a> {
        Placing {
            platform: &self.platform,
            method,
            fit: named_load(self.fit),
            overload: self.overload,
            ilp_time_limit: self.ilp_time_limit,
            interrupt,
        }
    }

    fn finder(&self, scheduler: &NamedScheduler, interrupt: &'static AtomicBool) -> Finder<'_> {
        let how = (scheduler.placement.unwrap_or(self.placement), self.fit);
        Finder::new(self.placing(how.0.method(), interrupt), how, &self.charges, interrupt)
    }

    fn places(
        &self,
        set: &TaskSet,
        scheduler: &NamedScheduler,
        by_load: &mut ByLoad<'_>,
        interrupt: &'static AtomicBool,
    ) -> Result<Placed> {
        let finder = self.finder(scheduler, interrupt);
        if let Some((method, below)) = self.below(scheduler) {
            return self.place_below(set, (self.placing(method, interrupt), &below));
        }
        check_capacity(set, scheduler.scheduler, &finder.placing)?;
        let wanted = places::Wanted {
            set,
            name: scheduler_of(&scheduler.name).0,
            scheduler: scheduler.analysed(),
            scope: scheduler.scheduler.scope,
            dedicated: scheduler.scheduler.policy.dedicates_a_core(),
        };
        let own = by_load.places(&finder, wanted.scope, wanted.dedicated);
        finder.find(wanted, own)
    }

    /// Tasks that enter later are not placed; refused tasks run in the background.
    fn place_below(&self, set: &TaskSet, (placing, below): (Placing<'_>, &BelowServers)) -> Result<Placed> {
        let changes = changes(&self.mechanics.changes, set, &self.platform, &self.mechanics.below)?;
        let absent: Vec<usize> = (0..set.tasks().len()).filter(|&task| changes.lets_enter(task)).collect();
        placing.place_below(set, below, None, (&absent, self.overload == Overload::Refuse))
    }
}

/// How it went.
pub struct Finished {
    /// The runs; without jobs.
    pub manifest: Manifest,
    /// The metrics.
    pub summary: Summary,
    /// What the oracles say of each run that they watched.
    pub verdicts: Vec<(u32, Verdict)>,
    /// The results directory, if there is one.
    pub directory: Option<FinishedResults>,
    /// The user ended it early.
    pub interrupted: bool,
}

/// One run to make: what, or why not.
struct Planned<'a> {
    run: Run,
    set: &'a TaskSet,
    case: Result<Case<'a>>,
}

/// What is seen of a run as soon as it is finished, in the order of the runs: its record, its task set, and its events
/// where they were asked for.
pub type Seen<'a> = &'a mut dyn FnMut(&Run, &TaskSet, Option<&Path>) -> Result<()>;

/// Simulates everything. `seen` is called for every run that was made, in their order.
pub fn simulate(
    sets: &[TaskSet],
    settings: &Settings,
    interrupt: &'static AtomicBool,
    seen: Seen<'_>,
) -> Result<Finished> {
    check_sets(sets, settings)?;
    check_interrupt(interrupt, "nothing was simulated")?;
    let (planned, same) = plan(sets, settings, interrupt)?;
    same.iter().for_each(|same| settings.caller.observer.note(&same.words()));
    let prospect = |p: &'_ Planned<'_>| p.case.as_ref().err().cloned();
    let refusals: Vec<Option<Diagnostic>> = planned.iter().map(prospect).collect();
    let prospects = planned.iter().zip(&refusals);
    check_prospects(prospects.map(|(p, refusal)| (p.run.scheduler.as_str(), p.set, refusal.as_ref())))?;
    let mut manifest = runs::manifest(sets, settings, planned.iter().map(|p| p.run.clone()).collect());
    manifest.options.extend(same_option(&same));
    let mut directory = match &settings.out {
        Some(out) => Some(ResultsDirectory::create(out, manifest.clone(), settings.existing)?),
        None => None,
    };
    let mut collected = Collected {
        builder: SummaryBuilder::new(settings.platform.core_count()),
        manifest: &mut manifest,
        verdicts: Vec::new(),
    };
    let jobs_wanted = settings.out.is_some();
    let results = directory.as_ref().map(|directory| directory.path().to_owned());
    let control = Control::default();
    let expected = checks::expected_jobs(sets, settings);
    watching(&control, interrupt, expected, &*settings.caller.observer, || {
        // Events files are opened while others are written; the directory itself is written by this thread alone.
        let places = EventsPlaces::of(settings, results.as_deref());
        let work = |index: usize| make(&planned[index], settings, jobs_wanted, &places, &control);
        in_order(planned.len(), settings.threads, work, |index, made| {
            let made = made?;
            if let Some(directory) = &mut directory {
                match &made.background {
                    Some(background) => directory.append_run_with_background(&made.run, background)?,
                    None => directory.append_run(&made.run)?,
                }
            }
            if !matches!(made.run.status, RunStatus::NotRun { .. }) {
                seen(&made.run, planned[index].set, made.events.as_deref())?;
            }
            collected.take(planned[index].set, made);
            Ok(())
        })
    })?;
    let Collected { builder, verdicts, .. } = collected;
    let directory = directory.map(ResultsDirectory::finish).transpose()?;
    Ok(Finished {
        summary: builder.finish().with_background(&manifest.background).with_caches(&manifest.options),
        manifest,
        verdicts,
        directory,
        interrupted: interrupt.load(SeqCst),
    })
}

/// A set under a scheduler, and where its tasks go.
struct Part<'a> {
    index: usize,
    set: &'a TaskSet,
    scheduler: &'a NamedScheduler,
    placed: Result<Placed>,
}

impl Configured for Part<'_> {
    fn set(&self) -> usize {
        self.index
    }

    fn configuration(&self) -> &str {
        &self.scheduler.name
    }

    fn placed(&mut self) -> Option<&mut Placed> {
        self.placed.as_mut().ok()
    }
}

/// Places every set under every scheduler; those that are another one are told and left out.
fn plan<'a>(
    sets: &'a [TaskSet],
    settings: &'a Settings,
    interrupt: &'static AtomicBool,
) -> Result<(Vec<Planned<'a>>, Vec<Same>)> {
    let mut parts = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        let mut by_load = ByLoad::of(set);
        for scheduler in &settings.schedulers {
            let placed = settings.places(set, scheduler, &mut by_load, interrupt);
            check_interrupt(interrupt, "nothing was simulated")?;
            parts.push(Part { index, set, scheduler, placed });
        }
    }
    let same = drop_same(&mut parts);
    let mut planned: Vec<Planned<'a>> = Vec::new();
    for repetition in 0..settings.repeat {
        for Part { index, set, scheduler, placed } in &parts {
            let case = placed.clone().and_then(|placed| {
                let case = case_of(set, scheduler, &placed, repetition, settings);
                case.check().map(|()| case)
            });
            let id = u32::try_from(planned.len()).map_err(|_| too_many_runs())?;
            let run = runs::run(id, *index, scheduler, repetition, placed.as_ref().ok(), settings);
            planned.push(Planned { run, set, case });
        }
    }
    Ok((planned, same))
}

fn too_many_runs() -> Diagnostic {
    Diagnostic::usage("more than 2^32 runs").hint("use fewer sets, schedulers or repetitions")
}

fn case_of<'a>(
    set: &'a TaskSet,
    scheduler: &NamedScheduler,
    placed: &Placed,
    repetition: u32,
    settings: &'a Settings,
) -> Case<'a> {
    Case {
        set,
        platform: &settings.platform,
        scheduler: scheduler.scheduler,
        cells: placed.cells.iter().map(|cell| (cell.cpus.clone(), cell.tasks.clone())).collect(),
        duration: settings.duration,
        grace: settings.grace.unwrap_or_else(|| laxity_sim::default_grace(set)),
        seed: settings.seed.wrapping_add(u64::from(repetition)),
        demand: settings.demand,
        mechanics: &settings.mechanics,
        ordinary: placed.ordinary.clone(),
    }
}

/// Where the events of a run go.
enum EventsPlaces<'a> {
    Nowhere,
    Results(&'a Path),
    Scratch(&'a Path),
}

impl<'a> EventsPlaces<'a> {
    fn of(settings: &'a Settings, results: Option<&'a Path>) -> Self {
        match (results, &settings.scratch) {
            (Some(out), _) if settings.events => EventsPlaces::Results(out),
            (_, Some(scratch)) => EventsPlaces::Scratch(scratch),
            _ => EventsPlaces::Nowhere,
        }
    }

    fn create(&self, run: u32) -> Result<Option<(EventsFile, PathBuf)>> {
        match self {
            EventsPlaces::Nowhere => Ok(None),
            EventsPlaces::Results(out) => {
                let file = laxity_trace::create_events(out, run)?;
                Ok(Some((file, laxity_trace::events_path(out, run))))
            }
            EventsPlaces::Scratch(folder) => {
                let path = folder.join(format!("run-{run}.parquet"));
                Ok(Some((EventsFile::create(&path, run)?, path)))
            }
        }
    }
}

/// A finished run with its results.
struct Made {
    run: Run,
    tallies: Tallies,
    verdict: Option<Verdict>,
    background: Option<BackgroundRecord>,
    events: Option<PathBuf>,
}

fn make(
    planned: &Planned<'_>,
    settings: &Settings,
    jobs: bool,
    places: &EventsPlaces<'_>,
    control: &Control,
) -> Result<Made> {
    let mut run = planned.run.clone();
    let not_made = |mut run: Run, reason: String| {
        run.status = RunStatus::NotRun { reason };
        let tallies = Tallies::new(planned.set, 0);
        Ok(Made { run, tallies, verdict: None, background: None, events: None })
    };
    let case = match &planned.case {
        Ok(case) => case,
        Err(why) => return not_made(run, reason(why)),
    };
    if control.stop.load(SeqCst) {
        return not_made(run, "interrupted before this run".into());
    }
    let definition = match settings.verify {
        true => Some(definition::of_case(&run, case, settings.tolerate.unwrap_or_default())?),
        false => None,
    };
    let (events, path) = places.create(run.id)?.unzip();
    let simulated = case.simulate(Wanted { jobs, events, definition: definition.as_ref() }, control)?;
    run.grace = case.grace;
    run.status = simulated.status;
    run.jobs = simulated.jobs;
    run.notes.extend(settings.mechanics.costs.notes(tasks_of(planned.set)));
    run.notes.extend(simulated.changes);
    let background = simulated.background.map(|record| BackgroundRecord { run: run.id, ..record });
    Ok(Made { run, tallies: simulated.tallies, verdict: simulated.verdict, background, events: path })
}

/// What is left of all runs.
struct Collected<'a> {
    builder: SummaryBuilder,
    manifest: &'a mut Manifest,
    verdicts: Vec<(u32, Verdict)>,
}

impl Collected<'_> {
    fn take(&mut self, set: &TaskSet, made: Made) {
        let _: &RunSummary = self.builder.add(&made.run, set, &made.tallies);
        self.verdicts.extend(made.verdict.map(|verdict| (made.run.id, verdict)));
        self.manifest.background.extend(made.background);
        let id = made.run.id;
        if let Some(place) = self.manifest.runs.iter_mut().find(|run| run.id == id) {
            *place = Run { jobs: Vec::new(), ..made.run };
        }
    }
}

/// The number of tasks that costs depend on.
fn tasks_of(set: &TaskSet) -> u32 {
    u32::try_from(set.real_time().count()).unwrap_or(u32::MAX)
}
