//! What studies of trials have in common: trials for every scheduler, number of CPUs and number of tasks, measured here or in virtual
//! machines, and gone on with where they were interrupted.

use super::contender::{Batching, Contender};
use super::grid::{Cap, Grid, STUDY_FILE};
use super::machines::{Machines, measure as measure_in_machines};
use super::real::{Conditions, Numbering, State, refuse, run_units};
use super::trial::Trial;
use crate::experiment::DemandModel;
use crate::observer::Caller;
use crate::overheads::Probes;
use laxity_model::{Diagnostic, Duration, OutputDirectory, Platform, Result, plural};
use laxity_study::{Journal, Recorded, WorkUnit};
use laxity_vm::{Audience, KernelChoice};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Where a study is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// On this machine.
    Here,
    /// In virtual machines.
    Machines,
    /// In virtual machines that count instructions.
    Counted,
}

/// What a study is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What scheduling costs, by these probes.
    Overheads(Probes),
    /// Schedules: recorded, and verified.
    Schedules,
}

impl Kind {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Overheads(_) => "overheads",
            Kind::Schedules => "schedules",
        }
    }

    /// Whether the functions of scheduling classes are timed, too.
    pub fn functions(self) -> bool {
        self == Kind::Overheads(Probes::Functions)
    }

    /// What is probed. Probes make scheduling slower, so schedules are recorded without.
    pub(super) fn probes(self) -> Option<Probes> {
        match self {
            Kind::Overheads(probes) => Some(probes),
            Kind::Schedules => None,
        }
    }

    /// What runs have beside their jobs.
    pub(super) fn recorded(self) -> Recorded {
        Recorded { schedules: self == Kind::Schedules, overheads: self.probes().is_some() }
    }
}

/// A study of trials.
#[derive(Debug)]
pub struct Sweep {
    /// The schedulers, each once, or both ways.
    pub schedulers: Vec<Contender>,
    /// Which ways of releasing jobs are compared.
    pub batching: Batching,
    /// Numbers of CPUs; nothing: what there is, or one or two in virtual machines.
    pub cpu_counts: Option<Vec<u32>>,
    /// Numbers of tasks per CPU.
    pub tasks_per_cpu: Vec<u32>,
    /// Task sets of each size.
    pub sets: u32,
    /// How long each run releases jobs.
    pub duration: Duration,
    /// Seed of everything random.
    pub seed: u64,
    /// What tasks may ask for.
    pub cap: Cap,
    /// What it is about.
    pub kind: Kind,
    /// Where they are measured.
    pub place: Where,
    /// The virtual machines, where they are measured in such.
    pub machines: Machines,
    /// The study's directory.
    pub directory: PathBuf,
}

impl Sweep {
    /// Names of the schedulers.
    pub fn names(&self) -> Vec<String> {
        self.schedulers.iter().map(|scheduler| scheduler.name.clone()).collect()
    }

    /// Measures what is left of the trials; whether all were tried, or an interruption came first.
    ///
    /// # Errors
    ///
    /// The directory is another study's; nothing can be measured here at all.
    pub fn measure(
        &self,
        grid: &Grid,
        (caller, audience): (&Caller, &mut dyn Audience),
        interrupt: &'static AtomicBool,
    ) -> Result<bool> {
        self.check_kernel()?;
        if let (Where::Here, Some(fewest)) = (self.place, grid.studies.first()) {
            some_of_this_machine(fewest.cpus)?;
        }
        Journal::begin(&self.directory, &self.description())?;
        for study in &grid.studies {
            OutputDirectory::create(&study.directory)?.write(STUDY_FILE, study.text.as_bytes())?;
        }
        let is_left = |trial: &&Trial| trial.run.is_some() && trial.state() != State::Measured;
        let left: Vec<&Trial> = grid.trials.iter().filter(is_left).collect();
        self.announce(grid.trials.len(), left.len(), caller);
        match self.place {
            _ if left.is_empty() => Ok(true),
            Where::Here => self.measure_here(grid, &left, caller, interrupt),
            Where::Machines | Where::Counted => {
                measure_in_machines(self, grid, &left, (caller, audience), interrupt)
            }
        }
    }

    fn measure_here(
        &self,
        grid: &Grid,
        left: &[&Trial],
        caller: &Caller,
        interrupt: &'static AtomicBool,
    ) -> Result<bool> {
        let mut numbering = Numbering { before: 0, of: left.len() };
        for same in left.chunk_by(|a, b| a.cpus == b.cpus) {
            let study = grid.study_of(same[0]).expect("each has one");
            let runs: Vec<_> = same.iter().filter_map(|trial| trial.run.as_ref()).collect();
            match some_of_this_machine(study.cpus) {
                Err(why) => runs.iter().try_for_each(|run| refuse(&run.folder, &why))?,
                Ok(platform) => {
                    let conditions = self.conditions_on(platform);
                    let units: Vec<WorkUnit> = runs.iter().map(|run| run.unit.clone()).collect();
                    let work = (&units[..], numbering);
                    if !run_units(study.runnable(), &conditions, work, &study.directory, caller, interrupt)? {
                        return Ok(false);
                    }
                }
            }
            numbering.before += same.len();
        }
        Ok(true)
    }

    /// A kernel that is named is one: not every trial has to find out that it is not.
    fn check_kernel(&self) -> Result<()> {
        let (KernelChoice::File(file), false) = (&self.machines.kernel, self.place == Where::Here) else {
            return Ok(());
        };
        laxity_vm::preflight(file)?.require().map_err(|why| {
            why.hint("name another one, or leave out --kernel: a good one is found or fetched")
        })
    }

    fn cpus(&self) -> Result<Vec<u32>> {
        Ok(match (&self.cpu_counts, self.place) {
            (Some(numbers), _) => numbers.clone(),
            (None, Where::Counted) if self.kind != Kind::Schedules => vec![1],
            (None, Where::Machines | Where::Counted) => vec![2],
            (None, Where::Here) => {
                vec![u32::try_from(Platform::this_machine()?.core_count()).unwrap_or(u32::MAX)]
            }
        })
    }

    /// The trials, and the studies that they are of.
    ///
    /// # Errors
    ///
    /// This machine cannot be read; a scheduler that no study takes.
    pub fn grid(&self) -> Result<Grid> {
        Grid::of(self, &self.cpus()?)
    }

    /// All that the trials of a directory were measured with: they are only taken together with such.
    fn description(&self) -> Value {
        json!({
            "version": 2,
            "study": self.kind.name(),
            "duration": self.duration.to_string(),
            "seed": self.seed,
            "load_permille": self.cap.0,
            "batching": self.batching == Batching::On,
            "functions": self.kind.functions(),
            "place": match self.place {
                Where::Here => "this machine",
                Where::Machines => "virtual machines",
                Where::Counted => "virtual machines that count instructions",
            },
        })
    }

    /// How runs are made on these CPUs.
    fn conditions_on(&self, platform: Platform) -> Conditions {
        Conditions {
            record: self.kind == Kind::Schedules,
            overheads: self.kind.probes(),
            demand_model: DemandModel::CpuTime,
            ..Conditions::plain(platform)
        }
    }

    fn announce(&self, trials: usize, left: usize, caller: &Caller) {
        let done = trials - left;
        let number = f64::from(u32::try_from(left).unwrap_or(u32::MAX));
        let minutes = self.duration.as_secs_f64() * number / 60.0;
        caller.observer.note(&format!(
            "{}, {done} of them done or impossible; the others take {minutes:.1} min or more in all",
            plural(trials, "run")
        ));
    }

    /// What is measured and under which load, in words.
    pub fn workload_in_words(&self) -> Vec<String> {
        vec![
            format!(
                "Each point is {} of {} with the task sets of ackelman2018, 6.2: periods uniform in [10 ms, 100 ms], \
                 utilizations uniform in [0.001, 0.1], synchronous release, seed {}. Where they ask for more than {} of the CPUs \
                 (less one, if there are several, as some schedulers dedicate one), all WCETs are scaled down to that.",
                plural(self.sets, "run"),
                self.duration,
                self.seed,
                f64::from(self.cap.0) / 1_000.0
            ),
            match self.batching {
                Batching::Off => "Jobs of one release instant are released one by one.",
                Batching::On => "Jobs of one release instant are released together (SCHED_DEADLINE and SCHED_FIFO do not).",
                Batching::Both => {
                    "Jobs of one release instant are released one by one; by schedulers that are called +batching, together."
                }
            }
            .to_owned(),
        ]
    }
}

/// The first CPUs of this machine.
fn some_of_this_machine(cpus: u32) -> Result<Platform> {
    let platform = Platform::this_machine()?;
    let there = platform.core_count();
    let wanted = usize::try_from(cpus).expect("64-bit addresses");
    if wanted > there {
        return Err(Diagnostic::usage(format!("this machine has {}, not {cpus}", plural(there, "CPU")))
            .hint("measure in virtual machines with --vm, or ask for fewer with --cpu-counts"));
    }
    let first = platform.cpus().iter().take(wanted).collect();
    platform.restricted(&first)
}
