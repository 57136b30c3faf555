//! Measuring trials in virtual machines, each with as many CPUs as its trials use.
//!
//! A machine measures a batch of trials of one number of CPUs and one scheduler, so that little is lost with a machine that dies;
//! the trials come back when it ends. An interruption ends the batch, and what it has measured comes back too. The machine runs
//! the caller's program on the same study's file, with the units of work that it is to do.

use super::grid::{Grid, STUDY_FILE, StudyOfCpus};
use super::real::{State, refuse, reopen};
use super::sweep::{Kind, Sweep};
use super::trial::{RunOfStudy, Trial};
use crate::observer::Caller;
use laxity_model::{Diagnostic, Duration, Existing, Failure, Result, write_file};
use laxity_study::WorkUnit;
use laxity_vm::{Acceleration, Audience, Order, Program, Settings};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// The units of work that a machine is to do.
const UNITS_FILE: &str = "units.json";
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
    sweep: &Sweep,
    grid: &Grid,
    trials: &[&Trial],
    (caller, audience): (&Caller, &mut dyn Audience),
    interrupt: &'static AtomicBool,
) -> Result<bool> {
    let most = usize::try_from(BATCH.as_ns() / sweep.duration.as_ns().max(1)).unwrap_or(1).max(1);
    let together = |a: &&Trial, b: &&Trial| a.cpus == b.cpus && a.scheduler == b.scheduler;
    for same in trials.chunk_by(|a, b| together(a, b)) {
        let study = grid.study_of(same[0]).expect("each has one");
        // Counted machines begin every scheduler's trials alike: all in one.
        for trials in same.chunks(if sweep.machines.deterministic { same.len() } else { most }) {
            let runs = trials.iter().filter_map(|trial| trial.run.as_ref()).collect();
            let batch = Batch { sweep, study, trials, runs };
            if interrupt.load(SeqCst) || !batch.measure(caller, audience, interrupt)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// What a machine measures.
struct Batch<'a> {
    sweep: &'a Sweep,
    study: &'a StudyOfCpus,
    trials: &'a [&'a Trial],
    runs: Vec<&'a RunOfStudy>,
}

impl Batch<'_> {
    fn measure(
        &self,
        caller: &Caller,
        audience: &mut dyn Audience,
        interrupt: &'static AtomicBool,
    ) -> Result<bool> {
        let machines = &self.sweep.machines;
        self.runs.iter().for_each(|run| reopen(&run.folder));
        let folder = Folder::create(&self.sweep.directory)?;
        let (order, settings) = (self.order(&folder.0)?, self.settings());
        let ended = laxity_vm::run(&order, &settings, audience, interrupt);
        // Whatever came back of it counts, however it ended.
        let missing = self.take_over(&folder.0)?;
        if machines.deterministic {
            self.trials.iter().for_each(|trial| caller.observer.note(&format!("{trial} {}", became(trial))));
        }
        match ended {
            Ok(ended) if ended.code == Failure::Interrupted.exit_code() => Ok(false),
            Err(why) if why == laxity_vm::interrupted() => Ok(false),
            Ok(ended) => {
                let why = format!("the study in the virtual machine ended with exit code {}", ended.code);
                refuse_all(&missing, &Diagnostic::environment(why))
            }
            // Without any machine there is nothing to go on with.
            Err(why) if missing.len() == self.runs.len() && no_machine(&why) => Err(why),
            Err(why) => refuse_all(&missing, &why),
        }
    }

    /// Moves what was measured to where the study keeps it; what is missing.
    fn take_over(&self, from: &Path) -> Result<Vec<&RunOfStudy>> {
        let mut missing = Vec::new();
        for &run in &self.runs {
            let kept = &run.folder;
            let made = from.join(kept.strip_prefix(&self.study.directory).expect("its runs are below"));
            if !made.exists() {
                missing.push(run);
                continue;
            }
            let failed = |error: std::io::Error| laxity_model::cannot_write(kept, &error);
            if let Some(parent) = kept.parent() {
                fs::create_dir_all(parent).map_err(failed)?;
            }
            // An earlier attempt that did not come to its end.
            let _ = fs::remove_dir_all(kept);
            fs::rename(&made, kept).map_err(failed)?;
        }
        Ok(missing)
    }

    fn order(&self, folder: &Path) -> Result<Order> {
        let Sweep { machines, kind, .. } = self.sweep;
        let units: Vec<&WorkUnit> = self.runs.iter().map(|run| &run.unit).collect();
        let units = serde_json::to_string(&units).expect("serializes");
        for (name, text) in [(STUDY_FILE, &self.study.text), (UNITS_FILE, &units)] {
            write_file(&folder.join(name), text.as_bytes(), Existing::Replace)?;
        }
        let mut words: Vec<String> = ["study", STUDY_FILE, "--real", "--out=."].map(String::from).into();
        words.extend([format!("--units={UNITS_FILE}"), format!("--cpus={}", self.study.cpus)]);
        words.push(match kind {
            Kind::Schedules => "--record".to_owned(),
            Kind::Overheads(probes) => format!("--record-overheads={}", probes.name()),
        });
        // The runs check that their machine counts.
        if machines.deterministic && *kind != Kind::Schedules {
            words.push("--counted".to_owned());
        }
        if self.sweep.quiet_machine {
            words.push("--quiet-machine".to_owned());
        }
        // Words on their way out disturb a machine that counts.
        if machines.quiet || machines.deterministic {
            words.push("--quiet".to_owned());
        }
        Ok(Order {
            program: Program::Laxity(words),
            cwd: folder.to_owned(),
            with: Vec::new(),
            environment: Vec::new(),
        })
    }

    fn settings(&self) -> Settings {
        let Sweep { machines, duration, .. } = self.sweep;
        let slower = if machines.deterministic { COUNTING_SLOWER } else { 3 };
        let of_trial = duration.as_ns().saturating_mul(slower).saturating_add(PATIENCE.as_ns());
        let number = u64::try_from(self.runs.len()).unwrap_or(u64::MAX);
        Settings {
            cpus: self.study.cpus,
            memory_mib: machines.memory_mib,
            kernel: machines.kernel.clone(),
            // What a trial of overheads finds out is how long something takes.
            acceleration: if machines.deterministic { Acceleration::Counted } else { Acceleration::HostTime },
            timeout: std::time::Duration::from_nanos(of_trial.saturating_mul(number)),
            boot_timeout: BOOT,
            ..Settings::with_agent(machines.program.clone())
        }
    }
}

/// The state of a trial, in a word or two.
fn became(trial: &Trial) -> &'static str {
    match trial.state() {
        State::Measured => "measured",
        State::NotMeasured(_) => "not measured",
        State::Open => "did not come to its end",
    }
}

/// No machine can be had here, whatever is to run in it.
fn no_machine(why: &Diagnostic) -> bool {
    ["is not here", "does not boot", "no good kernel", "memory"].iter().any(|part| why.message.contains(part))
}

fn refuse_all(missing: &[&RunOfStudy], why: &Diagnostic) -> Result<bool> {
    missing.iter().try_for_each(|run| refuse(&run.folder, why))?;
    Ok(true)
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
