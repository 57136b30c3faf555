//! What studies of trials have in common: trials for every scheduler, number of CPUs and number of tasks, measured here or in virtual
//! machines, and gone on with where they were interrupted.

use super::contender::{Batching, Contender};
use super::here::{Conditions, Kind, check_cpus, measure as measure_here};
use super::machines::{Machines, measure as measure_in_machines};
use super::trial::{State, TRIALS_DIRECTORY, Trial};
use crate::observer::Caller;
use laxity_model::{Platform, Result, plural};
use laxity_study::Journal;
use laxity_vm::{Audience, KernelChoice};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
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
    /// What all trials have in common.
    pub conditions: Conditions,
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

    /// Where its trials are.
    pub fn folder(&self) -> PathBuf {
        self.directory.join(TRIALS_DIRECTORY)
    }

    /// Measures what is left of the trials; whether all were tried, or an interruption came first.
    ///
    /// # Errors
    ///
    /// The directory is another study's; nothing can be measured here at all.
    pub fn measure(
        &self,
        trials: &[Trial],
        (caller, audience): (&Caller, &mut dyn Audience),
        interrupt: &'static AtomicBool,
    ) -> Result<bool> {
        self.check_kernel()?;
        if self.place == Where::Here {
            check_cpus(trials)?;
        }
        Journal::begin(&self.directory, &self.description())?;
        let folder = self.folder();
        let left = left_over(trials, &folder)?;
        self.announce(trials, &left, caller);
        let (machines, conditions) = (&self.machines, &self.conditions);
        match self.place {
            _ if left.is_empty() => Ok(true),
            Where::Here => measure_here(&left, &folder, conditions, caller, interrupt),
            Where::Machines | Where::Counted => {
                measure_in_machines(&left, &self.directory, machines, conditions, caller, audience, interrupt)
            }
        }
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
            (None, Where::Counted) if self.conditions.kind != Kind::Schedules => vec![1],
            (None, Where::Machines | Where::Counted) => vec![2],
            (None, Where::Here) => {
                vec![u32::try_from(Platform::this_machine()?.core_count()).unwrap_or(u32::MAX)]
            }
        })
    }

    /// All trials: one scheduler after the other for each number of CPUs. Where no number of CPUs was asked for, a
    /// scheduler that
    /// dedicates one has two.
    ///
    /// # Errors
    ///
    /// This machine cannot be read.
    pub fn trials(&self) -> Result<Vec<Trial>> {
        let mut trials = Vec::new();
        for cpus in self.cpus()? {
            for scheduler in &self.schedulers {
                for &tasks_per_cpu in &self.tasks_per_cpu {
                    for set in 0..self.sets {
                        let mut trial = Trial { scheduler: scheduler.clone(), cpus, tasks_per_cpu, set };
                        if self.cpu_counts.is_none() && trial.impossible().is_some() {
                            trial.cpus = 2;
                        }
                        trials.push(trial);
                    }
                }
            }
        }
        Ok(trials)
    }

    /// All that the trials of a directory were measured with: they are only taken together with such.
    fn description(&self) -> Value {
        let conditions = &self.conditions;
        json!({
            "version": 1,
            "study": conditions.kind.name(),
            "duration": conditions.duration.to_string(),
            "seed": conditions.seed,
            "load_permille": conditions.cap.0,
            "batching": conditions.batching,
            "functions": conditions.kind.functions(),
            "place": match self.place {
                Where::Here => "this machine",
                Where::Machines => "virtual machines",
                Where::Counted => "virtual machines that count instructions",
            },
        })
    }

    fn announce(&self, trials: &[Trial], left: &[&Trial], caller: &Caller) {
        let done = trials.len() - left.len();
        let number = f64::from(u32::try_from(left.len()).unwrap_or(u32::MAX));
        let minutes = self.conditions.duration.as_secs_f64() * number / 60.0;
        caller.observer.note(&format!(
            "{}, {done} of them done or impossible; the others take {minutes:.1} min or more in all",
            plural(trials.len(), "run")
        ));
    }

    /// What is measured and under which load, in words.
    pub fn workload_in_words(&self) -> Vec<String> {
        let conditions = &self.conditions;
        vec![
            format!(
                "Each point is {} of {} with the task sets of ackelman2018, 6.2: periods uniform in [10 ms, 100 ms], \
                 utilizations uniform in [0.001, 0.1], synchronous release, seed {}. Where they ask for more than {} of the CPUs \
                 (less one, if there are several, as some schedulers dedicate one), all WCETs are scaled down to that.",
                plural(self.sets, "run"),
                conditions.duration,
                conditions.seed,
                f64::from(conditions.cap.0) / 1_000.0
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

/// Trials that are still to be measured; those that no machine can run are refused at once.
fn left_over<'c>(trials: &'c [Trial], folder: &Path) -> Result<Vec<&'c Trial>> {
    let mut left = Vec::new();
    for trial in trials.iter().filter(|trial| trial.state(folder) != State::Measured) {
        match trial.impossible() {
            Some(why) => trial.refuse(folder, &why)?,
            None => left.push(trial),
        }
    }
    Ok(left)
}
