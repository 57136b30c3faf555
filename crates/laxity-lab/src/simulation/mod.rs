//! The experiment behind `simulate`: place every case, simulate all of them on all CPUs of this machine, keep what is wanted.
//!
//! Results and their order do not depend on the number of threads. Memory is bounded by tasks and runs, also where jobs and events are
//! written: only [`Settings::jobs`] keeps them.

mod beside;
mod checks;
mod definition;
mod mechanics;
mod progress;
mod runs;
mod simulated;
mod taker;

pub use beside::{Beside, Budgets, Conditions, simulate_beside};
pub use definition::{set_of, verifiable};
pub use mechanics::Mechanics;
pub use simulated::{Control, Keep, Simulation};

use crate::case::{Case, Cases, RunSettings, check_prospects, drop_same, reason, same_option};
use crate::in_order::in_order;
use crate::observer::{Caller, check_interrupt};
use crate::placing::Placed;
use checks::check_sets;
use laxity_model::{Diagnostic, Duration, Result, TaskSet};
use laxity_oracle::Verdict;
use laxity_trace::{
    BackgroundRecord, EndedJobsFile, EventsFile, FinishedResults, JobsFile, Manifest, ResultsDirectory, Run,
    RunDigest, RunStatus, RunSummary, Summary, SummaryBuilder, create_jobs,
};
use progress::watching;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;

/// How cases are simulated, and what is kept.
pub struct Settings {
    /// What runs and simulations are both told.
    pub runs: RunSettings,
    /// Budgets, batching, retries, costs.
    pub mechanics: Mechanics,
    /// Where the results go, if they are kept.
    pub out: Option<PathBuf>,
    /// Whether the runs carry their jobs in memory where they are seen; results have them in any case.
    pub jobs: bool,
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
}

impl Settings {
    /// One simulation of each case, in which the kernel's work takes no time; no results are kept.
    pub fn plain(duration: Duration, caller: Caller) -> Self {
        Settings {
            runs: RunSettings::plain(duration, caller),
            mechanics: Mechanics::default(),
            out: None,
            jobs: false,
            events: false,
            scratch: None,
            verify: false,
            tolerate: None,
            threads: 1,
        }
    }
}

/// How it went.
pub struct Finished {
    /// The runs; without jobs.
    pub manifest: Manifest,
    /// The metrics.
    pub summary: Summary,
    /// What there is of the jobs of each run, by its number, if there is a results directory.
    pub digests: BTreeMap<u32, RunDigest>,
    /// What the oracles say of each run that they watched.
    pub verdicts: Vec<(u32, Verdict)>,
    /// The results directory, if there is one.
    pub directory: Option<FinishedResults>,
    /// The user ended it early.
    pub interrupted: bool,
}

/// What there is before a simulation is made.
const NOTHING: &str = "nothing was simulated";

/// One run to make: what, or why not.
struct Planned<'a> {
    run: Run,
    set: &'a TaskSet,
    simulation: Result<Simulation<'a>>,
}

/// What is seen of a run as soon as it is finished, in the order of the runs: its record, its task set, and its events
/// where they were asked for.
pub type Seen<'a> = &'a mut dyn FnMut(&Run, &TaskSet, Option<&Path>) -> Result<()>;

/// Simulates all cases. `seen` is called for every run that was made, in their order.
pub fn simulate(cases: &Cases<'_>, settings: &Settings, seen: Seen<'_>) -> Result<Finished> {
    let interrupt = cases.interrupt;
    check_sets(cases, settings)?;
    check_interrupt(interrupt, NOTHING)?;
    let mut placed = cases.all(NOTHING)?;
    let same = drop_same(&mut placed);
    let planned = plan(&placed, settings)?;
    same.iter().for_each(|same| settings.runs.caller.observer.note(&same.words()));
    let prospect = |p: &'_ Planned<'_>| p.simulation.as_ref().err().cloned();
    let refusals: Vec<Option<Diagnostic>> = planned.iter().map(prospect).collect();
    let prospects = planned.iter().zip(&refusals);
    check_prospects(prospects.map(|(p, refusal)| (p.run.scheduler.as_str(), p.set, refusal.as_ref())))?;
    let mut manifest = runs::manifest(cases, settings, planned.iter().map(|p| p.run.clone()).collect());
    manifest.options.extend(same_option(&same));
    let mut directory = match &settings.out {
        Some(out) => Some(ResultsDirectory::create(out, manifest.clone(), settings.runs.existing)?),
        None => None,
    };
    let mut collected = Collected {
        builder: SummaryBuilder::new(cases.settings.platform().core_count()),
        manifest: &mut manifest,
        keeps_digests: settings.out.is_some(),
        digests: BTreeMap::new(),
        verdicts: Vec::new(),
    };
    let results = directory.as_ref().map(|directory| directory.path().to_owned());
    let control = Control::default();
    let expected = checks::expected_jobs(cases, settings);
    watching(&control, interrupt, expected, &*settings.runs.caller.observer, || {
        // Files of jobs and events are written at the same time; the directory itself by this thread alone.
        let places = Places {
            beside: planned.len() < settings.threads,
            results: results.as_deref(),
            events: EventsPlaces::of(settings, results.as_deref()),
        };
        let work = |index: usize| make(&planned[index], settings, &places, &control);
        in_order(planned.len(), settings.threads, work, |index, made| {
            let mut made = made?;
            if let Some((directory, jobs)) = directory.as_mut().zip(made.jobs_file.take()) {
                directory.append_written(&made.run, jobs, made.background.as_ref())?;
            }
            if !matches!(made.run.status, RunStatus::NotRun { .. }) {
                seen(&made.run, planned[index].set, made.events.as_deref())?;
            }
            collected.take(planned[index].set, made);
            Ok(())
        })
    })?;
    let Collected { builder, digests, verdicts, .. } = collected;
    let directory = directory.map(ResultsDirectory::finish).transpose()?;
    Ok(Finished {
        summary: builder.finish().with_background(&manifest.background).with_caches(&manifest.options),
        digests,
        manifest,
        verdicts,
        directory,
        interrupted: interrupt.load(SeqCst),
    })
}

/// Every repetition of every case.
fn plan<'a>(cases: &[Case<'a>], settings: &'a Settings) -> Result<Vec<Planned<'a>>> {
    let mut planned: Vec<Planned<'a>> = Vec::new();
    for repetition in 0..settings.runs.repeat {
        for case in cases {
            let simulation = case.placed.clone().and_then(|placed| {
                let simulation = simulation_of(case, placed, repetition, settings)?;
                simulation.check().map(|()| simulation)
            });
            if u32::try_from(planned.len()).is_err() {
                return Err(too_many_runs());
            }
            let run = runs::run(planned.len(), case, repetition, settings);
            planned.push(Planned { run, set: case.set, simulation });
        }
    }
    Ok(planned)
}

fn too_many_runs() -> Diagnostic {
    Diagnostic::usage("more than 2^32 runs").hint("use fewer sets, schedulers or repetitions")
}

fn simulation_of<'a>(
    case: &Case<'a>,
    placed: Placed,
    repetition: u32,
    settings: &'a Settings,
) -> Result<Simulation<'a>> {
    let (runs, of_case) = (&settings.runs, case.settings);
    Ok(Simulation {
        set: case.set,
        platform: of_case.platform(),
        scheduler: case.scheduler.model()?,
        cells: placed.cells,
        duration: runs.duration,
        grace: runs.grace.unwrap_or_else(|| case.set.default_grace()),
        seed: runs.seed.wrapping_add(u64::from(repetition)),
        demand: of_case.demand,
        below: &of_case.placement.below,
        changes: &of_case.changes,
        mechanics: &settings.mechanics,
        ordinary: placed.ordinary,
    })
}

/// Where files of runs go.
struct Places<'a> {
    /// There are threads for what takes jobs and events.
    beside: bool,
    /// The results directory.
    results: Option<&'a Path>,
    events: EventsPlaces<'a>,
}

impl Places<'_> {
    fn create_jobs(&self, run: &Run, set: &TaskSet) -> Result<Option<JobsFile>> {
        let names = || set.tasks().iter().map(|task| task.name.clone()).collect::<Vec<_>>();
        self.results.map(|out| create_jobs(out, run, &names())).transpose()
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
    digest: RunDigest,
    /// Where there is a results directory.
    jobs_file: Option<EndedJobsFile>,
    verdict: Option<Verdict>,
    background: Option<BackgroundRecord>,
    events: Option<PathBuf>,
}

fn make(planned: &Planned<'_>, settings: &Settings, places: &Places<'_>, control: &Control) -> Result<Made> {
    let mut run = planned.run.clone();
    let not_made = |mut run: Run, reason: String| {
        let jobs_file = places.create_jobs(&run, planned.set)?.map(JobsFile::end).transpose()?;
        run.status = RunStatus::NotRun { reason };
        let digest = RunDigest::new(planned.set, 0);
        Ok(Made { run, digest, jobs_file, verdict: None, background: None, events: None })
    };
    let simulation = match &planned.simulation {
        Ok(simulation) => simulation,
        Err(why) => return not_made(run, reason(why)),
    };
    if control.stop.load(SeqCst) {
        return not_made(run, "interrupted before this run".into());
    }
    let definition = match settings.verify {
        true => Some(definition::of_simulation(&run, simulation, settings.tolerate.unwrap_or_default())?),
        false => None,
    };
    let (events, path) = places.events.create(run.id)?.unzip();
    let jobs_file = places.create_jobs(&run, planned.set)?;
    let definition = definition.as_ref();
    let keep = Keep { jobs: settings.jobs, jobs_file, events, definition, beside: places.beside };
    let simulated = simulation.simulate(keep, control)?;
    run.grace = simulation.grace;
    run.status = simulated.status;
    run.jobs = simulated.jobs;
    run.notes.extend(settings.mechanics.costs.notes(tasks_of(planned.set)));
    run.notes.extend(simulation.scheduler.policy.prototype().map(|_| PROTOTYPE_NOTE.to_owned()));
    run.notes.extend(simulated.changes);
    let background = simulated.background.map(|record| BackgroundRecord { run: run.id, ..record });
    Ok(Made {
        run,
        digest: simulated.digest,
        jobs_file: simulated.jobs_file,
        verdict: simulated.verdict,
        background,
        events: path,
    })
}

/// What is left of all runs.
struct Collected<'a> {
    builder: SummaryBuilder,
    manifest: &'a mut Manifest,
    /// There are results, of which a report is made.
    keeps_digests: bool,
    digests: BTreeMap<u32, RunDigest>,
    verdicts: Vec<(u32, Verdict)>,
}

impl Collected<'_> {
    fn take(&mut self, set: &TaskSet, made: Made) {
        let _: &RunSummary = self.builder.add(&made.run, set, &made.digest.tallies);
        self.verdicts.extend(made.verdict.map(|verdict| (made.run.id, verdict)));
        self.manifest.background.extend(made.background);
        let id = made.run.id;
        if self.keeps_digests {
            self.digests.insert(id, made.digest);
        }
        if let Some(place) = self.manifest.runs.iter_mut().find(|run| run.id == id) {
            *place = Run { jobs: Vec::new(), ..made.run };
        }
    }
}

/// What a reader must know of a prototype's runs.
const PROTOTYPE_NOTE: &str =
    "a prototype: a policy that its user has written outside of laxity, simulated slowly; nothing runs it";

/// The number of tasks that costs depend on.
fn tasks_of(set: &TaskSet) -> u32 {
    u32::try_from(set.real_time().count()).unwrap_or(u32::MAX)
}
