//! Measuring trials in virtual machines, each with as many CPUs as its trials use.
//!
//! A machine measures a batch of trials of one number of CPUs and one scheduler, so that little is lost with a machine that dies;
//! the trials come back when it ends. An interruption ends the batch, and what it has measured comes back too.

use super::contender::on_or_off;
use super::here::{Conditions, Kind, describe};
use super::trial::{State, TRIALS_DIRECTORY, Trial};
use crate::observer::Caller;
use laxity_model::{Diagnostic, Duration, Failure, Result};
use laxity_vm::{Audience, KernelChoice, Order, Program, Settings};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// The machines.
#[derive(Debug, Clone)]
pub struct Machines {
    /// Their kernel.
    pub kernel: KernelChoice,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Count instructions instead of time.
    pub deterministic: bool,
    /// What is measured in them says nothing.
    pub quiet: bool,
}

/// A batch is measured in about this time, apart from starting and stopping.
const BATCH: Duration = Duration::from_secs(60);
/// How much longer than its jobs a trial may take: an emulated machine is slow.
const PATIENCE: Duration = Duration::from_secs(60);
/// A machine may take this long to boot: a study goes on for hours, on a host that may have other work by then.
const BOOT: std::time::Duration = std::time::Duration::from_secs(240);
/// How much slower than its own time a machine that counts instructions may be.
const COUNTING_SLOWER: u64 = 60;

/// Measures the trials; whether all were tried, or an interruption came first.
pub fn measure(
    trials: &[&Trial],
    study: &Path,
    machines: &Machines,
    conditions: &Conditions,
    caller: &Caller,
    audience: &mut dyn Audience,
    interrupt: &'static AtomicBool,
) -> Result<bool> {
    let most = usize::try_from(BATCH.as_ns() / conditions.duration.as_ns().max(1)).unwrap_or(1).max(1);
    let together = |a: &&Trial, b: &&Trial| a.cpus == b.cpus && a.scheduler == b.scheduler;
    for same in trials.chunk_by(|a, b| together(a, b)) {
        // Counted machines begin every scheduler's trials alike: all in one.
        for batch in same.chunks(if machines.deterministic { same.len() } else { most }) {
            if interrupt.load(SeqCst)
                || !measure_batch(batch, (study, machines, conditions), caller, audience, interrupt)?
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn measure_batch(
    batch: &[&Trial],
    (study, machines, conditions): (&Path, &Machines, &Conditions),
    caller: &Caller,
    audience: &mut dyn Audience,
    interrupt: &'static AtomicBool,
) -> Result<bool> {
    let trials = study.join(TRIALS_DIRECTORY);
    batch.iter().for_each(|trial| trial.reopen(&trials));
    let folder = Folder::create(study)?;
    let (order, settings) =
        (order(batch, &folder.0, conditions, machines), settings(batch, machines, conditions)?);
    let ended = laxity_vm::run(&order, &settings, audience, interrupt);
    // Whatever came back of it counts, however it ended.
    let missing = take_over(batch, &folder.0.join(TRIALS_DIRECTORY), &trials)?;
    if machines.deterministic {
        batch.iter().for_each(|trial| {
            caller.observer.note(&format!("{} {}", describe(trial), became(trial, &trials)))
        });
    }
    match ended {
        Ok(ended) if ended.code == Failure::Interrupted.exit_code() => Ok(false),
        Err(why) if why == laxity_vm::interrupted() => Ok(false),
        Ok(ended) => {
            let why = format!("the study in the virtual machine ended with exit code {}", ended.code);
            refuse(&missing, &trials, &Diagnostic::environment(why))
        }
        // Without any machine there is nothing to go on with.
        Err(why) if missing.len() == batch.len() && no_machine(&why) => Err(why),
        Err(why) => refuse(&missing, &trials, &why),
    }
}

/// The state of a trial, in a word or two.
fn became(trial: &Trial, trials: &Path) -> &'static str {
    match trial.state(trials) {
        State::Measured => "measured",
        State::NotMeasured(_) => "not measured",
        State::Open => "did not come to its end",
    }
}

/// No machine can be had here, whatever is to run in it.
fn no_machine(why: &Diagnostic) -> bool {
    ["is not here", "does not boot", "no good kernel", "memory"].iter().any(|part| why.message.contains(part))
}

fn refuse(missing: &[&Trial], trials: &Path, why: &Diagnostic) -> Result<bool> {
    for trial in missing {
        trial.refuse(trials, why)?;
    }
    Ok(true)
}

/// Moves what was measured to where the study keeps it; what is missing.
fn take_over<'a>(batch: &[&'a Trial], from: &Path, trials: &Path) -> Result<Vec<&'a Trial>> {
    let mut missing = Vec::new();
    for &trial in batch {
        let (made, kept) = (trial.folder(from), trial.folder(trials));
        if !made.exists() {
            missing.push(trial);
            continue;
        }
        let failed = |error: std::io::Error| laxity_model::cannot_write(&kept, &error);
        if let Some(parent) = kept.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        // An earlier attempt that did not come to its end.
        let _ = fs::remove_dir_all(&kept);
        fs::rename(&made, &kept).map_err(failed)?;
    }
    Ok(missing)
}

fn order(batch: &[&Trial], folder: &Path, conditions: &Conditions, machines: &Machines) -> Order {
    let trials: Vec<String> = batch.iter().map(|trial| trial.to_string()).collect();
    let mut words = vec![
        "study".to_owned(),
        conditions.kind.name().to_owned(),
        format!("--trials={}", trials.join(",")),
        format!("--duration={}", conditions.duration),
        format!("--seed={}", conditions.seed),
        format!("--load={}", f64::from(conditions.cap.0) / 1_000.0),
        format!("--batching={}", on_or_off(conditions.batching)),
        format!("--out={TRIALS_DIRECTORY}"),
    ];
    if conditions.kind.functions() {
        words.push("--functions".to_owned());
    }
    // The trials check that their machine counts.
    if machines.deterministic && conditions.kind != Kind::Schedules {
        words.push("--instructions".to_owned());
    }
    // Words on their way out disturb a machine that counts.
    if machines.quiet || machines.deterministic {
        words.push("--quiet".to_owned());
    }
    Order {
        program: Program::Laxity(words),
        cwd: folder.to_owned(),
        with: Vec::new(),
        environment: Vec::new(),
    }
}

fn settings(batch: &[&Trial], machines: &Machines, conditions: &Conditions) -> Result<Settings> {
    let agent = std::env::current_exe()
        .map_err(|error| Diagnostic::environment(format!("cannot find this program's own file: {error}")))?;
    let slower = if machines.deterministic { COUNTING_SLOWER } else { 3 };
    let of_trial = conditions.duration.as_ns().saturating_mul(slower).saturating_add(PATIENCE.as_ns());
    let number = u64::try_from(batch.len()).unwrap_or(u64::MAX);
    Ok(Settings {
        cpus: batch[0].cpus,
        memory_mib: machines.memory_mib,
        kernel: machines.kernel.clone(),
        deterministic: machines.deterministic,
        timeout: std::time::Duration::from_nanos(of_trial.saturating_mul(number)),
        boot_timeout: BOOT,
        ..Settings::with_agent(agent)
    })
}

/// The directory that a machine works in; removed when it has ended.
struct Folder(PathBuf);

impl Folder {
    fn create(study: &Path) -> Result<Folder> {
        let path = study.join(format!(".machine-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).map_err(|error| laxity_model::cannot_write(&path, &error))?;
        let path = path.canonicalize().map_err(|error| laxity_model::cannot_write(&path, &error))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
