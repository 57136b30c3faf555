//! One simulation: what is simulated, and what observes it.

use super::mechanics::{Mechanics, servers_of};
use super::taker::{Taker, Takes};
use crate::case::{ChangeAt, changes};
use crate::placing::BelowServers;
use laxity_model::{Cell, Demand, Duration, Platform, PolicyScheduler, Result, TaskSet};
use laxity_oracle::{Definition, Verdict, Verification};
use laxity_sim::{Background, Change, ChangeOutcome, Changed, Changes, Observer, Servers, Setup, What};
use laxity_trace::{
    BackgroundRecord, EndedJobsFile, Event, EventsFile, Job, JobsFile, Laxities, RunDigest, RunStatus,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Scope;

/// Everything that determines one simulation.
pub struct Simulation<'a> {
    /// The tasks.
    pub set: &'a TaskSet,
    /// The machine.
    pub platform: &'a Platform,
    /// The scheduler.
    pub scheduler: PolicyScheduler,
    /// CPUs and tasks of every cell.
    pub cells: Vec<Cell>,
    /// Jobs arrive in `[0, duration)`.
    pub duration: Duration,
    /// How much longer late jobs may run.
    pub grace: Duration,
    /// Seed of arrivals and demands.
    pub seed: u64,
    /// What jobs ask for.
    pub demand: Demand,
    /// For how long background tasks go before real-time tasks, and what admission promises these under amp-rm.
    pub below: &'a BelowServers,
    /// What changes while time goes on, under amp-rm.
    pub changes: &'a [ChangeAt],
    /// The rest.
    pub mechanics: &'a Mechanics,
    /// Tasks that were refused: they run in the background.
    pub ordinary: Vec<usize>,
}

/// What is to be kept of a simulation besides its metrics.
#[derive(Default)]
pub struct Keep<'a> {
    /// The jobs, in memory.
    pub jobs: bool,
    /// The jobs, into this file, and the distributions of their laxity.
    pub jobs_file: Option<JobsFile>,
    /// The events, into this file.
    pub events: Option<EventsFile>,
    /// The verdict of the oracles on this definition.
    pub definition: Option<&'a Definition>,
    /// What takes jobs and events has threads of its own.
    pub beside: bool,
}

/// What a simulation leaves.
pub struct Simulated {
    /// How it went.
    pub status: RunStatus,
    /// Its metrics' sums; distributions of laxity only with a file of jobs.
    pub digest: RunDigest,
    /// Its jobs by task, then number; none unless keep.
    pub jobs: Vec<Job>,
    /// The file of its jobs.
    pub jobs_file: Option<EndedJobsFile>,
    /// What the oracles say, if asked.
    pub verdict: Option<Verdict>,
    /// How the background tasks fared, if there were any. The number of the run is not known here: 0.
    pub background: Option<BackgroundRecord>,
    /// Which changes took effect, in words.
    pub changes: Vec<String>,
}

/// Progress of simulations, and the means to end them.
#[derive(Debug, Default)]
pub struct Control {
    /// Ends what is under way.
    pub stop: AtomicBool,
    /// Jobs simulated so far.
    pub jobs: AtomicU64,
}

impl Simulation<'_> {
    /// Simulates.
    ///
    /// Errors: what cannot be simulated, and events that cannot be written.
    pub fn simulate(&self, keep: Keep<'_>, control: &Control) -> Result<Simulated> {
        if keep.events.is_some() || keep.definition.is_some() {
            self.watched::<true>(keep, control)
        } else {
            self.watched::<false>(keep, control)
        }
    }

    fn watched<const EVENTS: bool>(&self, keep: Keep<'_>, control: &Control) -> Result<Simulated> {
        std::thread::scope(|scope| self.watched_in::<EVENTS>(keep.beside.then_some(scope), keep, control))
    }

    fn watched_in<'scope, const EVENTS: bool>(
        &self,
        scope: Option<&'scope Scope<'scope, '_>>,
        keep: Keep<'scope>,
        control: &'scope Control,
    ) -> Result<Simulated> {
        let horizon = self.duration + self.grace;
        let Keep { jobs, jobs_file, events, definition, .. } = keep;
        let digest = RunDigest::new(self.set, horizon.as_ns());
        let written_jobs =
            |file| WrittenJobs { file: Writing::to(file, control), laxities: digest.laxities.clone() };
        let mut watcher = Watcher::<EVENTS> {
            jobs: jobs.then(Vec::new),
            jobs_file: jobs_file.map(|file| Taker::new(scope, written_jobs(file))),
            open: Vec::new(),
            events: events.map(|file| Taker::new(scope, Writing::to(file, control))),
            verification: definition.map(|definition| Taker::new(scope, Verification::new(definition))),
            digest,
            unreported: 0,
            control,
        };
        let background = self.mechanics.background(self.seed, horizon);
        let servers = self.servers().unwrap_or_default();
        let changes = self.changes()?;
        let setup = self.setup(&background, &servers, &changes);
        let ended = laxity_sim::simulate(&setup, &mut watcher, &control.stop)?;
        let words = ended.changes.iter().map(|changed| self.words(&changes, changed)).collect();
        let status = if ended.interrupted {
            RunStatus::Interrupted { reason: "interrupted".into(), ran: Duration::from_ns(ended.at_ns) }
        } else {
            RunStatus::Completed
        };
        let cores = u64::try_from(self.platform.core_count()).unwrap_or(u64::MAX);
        let background = (self.mechanics.background + self.mechanics.busy > 0).then(|| BackgroundRecord {
            run: 0,
            entered: ended.background.entered,
            exited: ended.background.exited,
            run_ns: ended.background.run_ns,
            ready_ns: ended.background.ready_ns,
            capacity_ns: ended.at_ns.saturating_mul(cores),
        });
        Ok(Simulated { background, changes: words, ..watcher.finish(status, ended.at_ns)? })
    }

    /// The deferrable servers of the platform's CPUs.
    ///
    /// # Errors
    ///
    /// A CPU that it lacks.
    pub fn servers(&self) -> Result<Servers> {
        servers_of(&self.below.servers, self.platform)
    }

    fn changes(&self) -> Result<Changes> {
        changes(self.changes, self.set, self.platform, self.below)
    }

    /// Whether a change took effect.
    fn words(&self, changes: &Changes, changed: &Changed) -> String {
        let Change { at, what } = changes.list[changed.number];
        let subject = match what {
            What::Enter { task, .. }
            | What::Promote { task, .. }
            | What::Demote { task }
            | What::Leave { task } => {
                format!("`{}`", self.set.tasks()[task].name)
            }
            What::Resize { cpu, server } => format!("the server of CPU {cpu}, to be {server},"),
        };
        let then = Duration::from_ns(changed.at_ns);
        let after = if then == at { String::new() } else { format!(" (asked again at {then})") };
        let what = match &changed.outcome {
            ChangeOutcome::RealTime { cpu } => format!("{subject} is a real-time task of CPU {cpu}"),
            ChangeOutcome::Ordinary => format!("{subject} is a background task"),
            ChangeOutcome::Left => format!("{subject} leaves"),
            ChangeOutcome::Resized { from_ns: Some(from) } => {
                format!("{subject} is so from {} on", Duration::from_ns(*from))
            }
            ChangeOutcome::Resized { from_ns: None } => {
                format!("{subject} never is so: the simulation ends, or another size is asked for, before")
            }
            ChangeOutcome::Refused(why) => format!("refused: {}", why.message),
        };
        format!("at {at}: {what}{after}")
    }

    fn setup<'s>(
        &'s self,
        background: &'s Background,
        servers: &'s Servers,
        changes: &'s Changes,
    ) -> Setup<'s> {
        let cell = |cell: &Cell| {
            let mut tasks = cell.tasks.clone();
            tasks.sort_unstable();
            Cell::new(cell.cpus.clone(), tasks)
        };
        Setup {
            set: self.set,
            platform: self.platform,
            scheduler: self.scheduler,
            cells: self.cells.iter().map(cell).collect(),
            duration: self.duration,
            grace: self.grace,
            seed: self.seed,
            demand: self.demand,
            budget_mode: self.mechanics.budget_mode,
            on_miss: self.mechanics.on_miss,
            batching: self.mechanics.batching,
            retries_max: self.mechanics.retries_max,
            interleaving: self.mechanics.interleaving,
            costs: &self.mechanics.costs,
            background,
            servers,
            reserve: self.mechanics.reserve,
            at_ticks: self.mechanics.at_ticks,
            ordinary: self.ordinary.clone(),
            changes,
            interference: &self.mechanics.interference,
            prototypes: &self.mechanics.prototypes,
            table: None,
        }
    }

    /// Refuses what cannot be simulated, without simulating.
    pub fn check(&self) -> Result<()> {
        let servers = self.servers()?;
        self.setup(&Background::default(), &servers, &self.changes()?).check()
    }
}

/// Jobs between two words on progress.
const JOBS_PER_REPORT: u64 = 4096;

/// Takes jobs and events to where they are kept.
struct Watcher<'scope, const EVENTS: bool> {
    digest: RunDigest,
    jobs: Option<Vec<Job>>,
    jobs_file: Option<Taker<'scope, Job, WrittenJobs<'scope>>>,
    /// Jobs that had not ended when the simulation may have been interrupted: they are judged when it is known until
    /// when it went.
    open: Vec<Job>,
    events: Option<Taker<'scope, Event, Writing<'scope, EventsFile>>>,
    verification: Option<Taker<'scope, Event, Verification<'scope>>>,
    unreported: u64,
    control: &'scope Control,
}

impl<const EVENTS: bool> Observer for Watcher<'_, EVENTS> {
    const EVENTS: bool = EVENTS;

    #[inline]
    fn job(&mut self, job: &Job) {
        if job.finish_ns.is_none() && self.control.stop.load(Ordering::SeqCst) {
            self.open.push(job.clone());
        } else {
            self.digest.tallies.add(job).expect("the simulator knows the set's tasks only");
        }
        if self.jobs.is_some() || self.jobs_file.is_some() {
            self.keep(job);
        }
        self.unreported += 1;
        if self.unreported == JOBS_PER_REPORT {
            self.control.jobs.fetch_add(self.unreported, Ordering::Relaxed);
            self.unreported = 0;
        }
    }

    #[inline(always)]
    fn event(&mut self, event: Event) {
        if let Some(verification) = &mut self.verification {
            verification.take(event);
        }
        if let Some(events) = &mut self.events {
            events.take(event);
        }
    }
}

impl<const EVENTS: bool> Watcher<'_, EVENTS> {
    /// Takes a job to where jobs are kept.
    #[inline(never)]
    fn keep(&mut self, job: &Job) {
        if let Some(jobs) = &mut self.jobs {
            jobs.push(job.clone());
        }
        if let Some(file) = &mut self.jobs_file {
            file.take(job.clone());
        }
    }

    fn finish(mut self, status: RunStatus, end_ns: u64) -> Result<Simulated> {
        let events = self.events.take().map(Taker::finish);
        let jobs_file = self.jobs_file.take().map(Taker::finish);
        let verdict = self.verification.take().map(|taker| taker.finish().finish(end_ns));
        if let Some(events) = events {
            events.end()?.finish()?;
        }
        let jobs_file = match jobs_file {
            None => None,
            Some(WrittenJobs { file, laxities }) => {
                self.digest.laxities = laxities;
                Some(file.end()?.end()?)
            }
        };
        self.control.jobs.fetch_add(self.unreported, Ordering::Relaxed);
        if status != RunStatus::Completed {
            self.digest.tallies.end_at(end_ns);
        }
        for job in &self.open {
            self.digest.tallies.add(job).expect("the simulator knows the set's tasks only");
        }
        let mut jobs = self.jobs.unwrap_or_default();
        jobs.sort_unstable_by_key(|job| (job.task, job.index));
        Ok(Simulated {
            status,
            digest: self.digest,
            jobs,
            jobs_file,
            verdict,
            background: None,
            changes: Vec::new(),
        })
    }
}

/// A file that is being written. What cannot be written ends the simulation.
struct Writing<'a, F> {
    file: Result<F>,
    control: &'a Control,
}

impl<'a, F> Writing<'a, F> {
    fn to(file: F, control: &'a Control) -> Self {
        Writing { file: Ok(file), control }
    }

    fn write(&mut self, write: impl FnOnce(&mut F) -> Result<()>) {
        if let Ok(file) = &mut self.file
            && let Err(error) = write(file)
        {
            self.file = Err(error);
            self.control.stop.store(true, Ordering::SeqCst);
        }
    }

    /// The file, unless something could not be written.
    fn end(self) -> Result<F> {
        self.file
    }
}

/// A file of jobs, and the distributions of their laxity.
struct WrittenJobs<'a> {
    file: Writing<'a, JobsFile>,
    laxities: Laxities,
}

impl Takes<Job> for WrittenJobs<'_> {
    fn take(&mut self, jobs: &[Job]) {
        for job in jobs {
            self.laxities.add(job);
            self.file.write(|file| file.write(job));
        }
    }
}

impl Takes<Event> for Writing<'_, EventsFile> {
    fn take(&mut self, events: &[Event]) {
        self.write(|file| events.iter().try_for_each(|event| file.write(event)));
    }
}

impl Takes<Event> for Verification<'_> {
    fn take(&mut self, events: &[Event]) {
        self.events(events);
    }
}
