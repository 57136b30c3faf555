//! Measuring trials on this machine.

use super::trial::{State, Trial};
use super::workload::{Cap, task_set};
use crate::case::RunSettings;
use crate::experiment::{Bench, Settings, measure_on};
use crate::observer::Caller;
use crate::overheads::Probes;
use laxity_model::{Diagnostic, Duration, Failure, Platform, Result, plural};
use laxity_run::PolicyOptions;
use laxity_trace::RunSummary;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

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
    fn probes(self) -> Option<Probes> {
        match self {
            Kind::Overheads(probes) => Some(probes),
            Kind::Schedules => None,
        }
    }
}

/// What all trials of a study have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// How long each run releases jobs.
    pub duration: Duration,
    /// Seed of everything random.
    pub seed: u64,
    /// What tasks may ask for.
    pub cap: Cap,
    /// Whether jobs of one instant are released together; where both ways are compared, not.
    pub batching: bool,
    /// What it is about.
    pub kind: Kind,
}

/// Measures the trials one after the other; whether all were tried, or an interruption came first. Each is on disk before the
/// next one begins. A trial that cannot be measured says so and does not end the study.
pub fn measure(
    trials: &[&Trial],
    folder: &Path,
    conditions: &Conditions,
    caller: &Caller,
    interrupt: &'static AtomicBool,
) -> Result<bool> {
    let mut bench = None;
    let silent = caller.without_progress();
    for (number, trial) in trials.iter().enumerate() {
        if interrupt.load(SeqCst) {
            return Ok(false);
        }
        trial.reopen(folder);
        let bench = match &mut bench {
            Some(bench) => bench,
            // Without it no trial can be measured.
            none => none.insert(Bench::set_up(conditions.kind.probes(), &silent)?),
        };
        let outcome = match measure_one((bench, &silent), trial, folder, conditions, interrupt) {
            Ok(outcome) => outcome,
            Err(why) if why.failure == Failure::Interrupted => return Ok(false),
            Err(why) => {
                trial.refuse(folder, &hinted(why))?;
                "not measured".to_owned()
            }
        };
        caller.observer.note(&format!("[{}/{}] {} {outcome}", number + 1, trials.len(), describe(trial)));
    }
    Ok(!interrupt.load(SeqCst))
}

/// What helps where a study is concerned: not the whole command in a virtual machine.
fn hinted(why: Diagnostic) -> Diagnostic {
    match &why.hint {
        Some(hint) if hint.contains("laxity vm") => why.hint("measure in virtual machines with --vm"),
        _ => why,
    }
}

/// A run in words.
pub fn describe(trial: &Trial) -> String {
    format!("{:<10} {}, {}:", trial.scheduler, plural(trial.cpus, "CPU"), plural(trial.tasks(), "task"))
}

fn measure_one(
    (bench, caller): (&Bench, &Caller),
    trial: &Trial,
    folder: &Path,
    conditions: &Conditions,
    interrupt: &'static AtomicBool,
) -> Result<String> {
    let set = task_set(trial, conditions.cap, conditions.seed)?;
    let settings = settings(trial, folder, conditions, caller.clone())?;
    let sets = [set];
    let finished = measure_on(bench, &sets, &settings, interrupt)?;
    Ok(match trial.state(folder) {
        State::NotMeasured(_) => "not measured".to_owned(),
        State::Open => "interrupted".to_owned(),
        State::Measured => {
            let run = finished.results.runs.first().expect("one was made");
            let counts = RunSummary::of(run, &sets[0], settings.platform().core_count())?.counts;
            let checked = match &run.schedule {
                Some(schedule) => format!(
                    ", {} checked, {}",
                    plural(schedule.verification.instants, "instant"),
                    plural(schedule.verification.violations_count(), "violation")
                ),
                None => String::new(),
            };
            format!("{}, {}{checked}", plural(counts.jobs, "job"), plural(counts.misses, "miss"))
        }
    })
}

fn settings(trial: &Trial, folder: &Path, conditions: &Conditions, caller: Caller) -> Result<Settings> {
    let schedulers = vec![trial.scheduler.scheduler.clone()];
    let platform = some_of_this_machine(trial.cpus)?;
    let plain = Settings::plain(
        schedulers,
        conditions.duration,
        "ilp".parse()?,
        platform,
        trial.folder(folder),
        caller,
    );
    let batching = trial.scheduler.batches(conditions.batching);
    Ok(Settings {
        runs: RunSettings { seed: conditions.seed, ..plain.runs },
        overheads: conditions.kind.probes(),
        record: conditions.kind == Kind::Schedules,
        policy: PolicyOptions { batching, ..plain.policy },
        ..plain
    })
}

/// Refuses a study of which nothing can be measured on this machine.
///
/// # Errors
///
/// Every trial needs more CPUs than there are.
pub fn check_cpus(trials: &[Trial]) -> Result<()> {
    match trials.iter().map(|trial| trial.cpus).min() {
        Some(fewest) => some_of_this_machine(fewest).map(|_| ()),
        None => Ok(()),
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
