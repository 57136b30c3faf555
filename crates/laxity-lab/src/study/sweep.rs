//! What studies of trials have in common: trials for every scheduler, number of CPUs and number of tasks, measured here or in virtual
//! machines.

use super::contender::{Batching, Contender};
use crate::overheads::Probes;
use laxity_model::{Duration, plural};
use laxity_study::Recorded;
use laxity_vm::KernelChoice;
use serde_json::{Value, json};
use std::path::PathBuf;

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

/// The most that tasks ask for, in thousandths of a CPU that they may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap(pub u32);

/// The machines.
#[derive(Debug, Clone)]
pub struct Machines {
    /// The program that they start: this one, or one with the same commands.
    pub program: PathBuf,
    /// Their kernel.
    pub kernel: KernelChoice,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Count instructions instead of time.
    pub deterministic: bool,
    /// What is measured in them says nothing.
    pub quiet: bool,
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
    /// Whether the machine that measures is made quiet for each run.
    pub quiet_machine: bool,
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

    /// All that the trials of a directory were measured with: they are only taken together with such.
    pub(super) fn description(&self) -> Value {
        let mut description = json!({
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
        });
        if self.quiet_machine {
            description["quiet-machine"] = json!(true);
        }
        description
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
