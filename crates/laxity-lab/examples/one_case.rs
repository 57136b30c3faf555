//! A task set under two schedulers: proven, simulated, and run on this machine, with outcomes of one kind.
//!
//! `sudo cargo run --release -p laxity-lab --example one_case -- DIRECTORY` also measures, and keeps the results there.

use laxity_lab::case::{CaseSettings, Cases, Purpose};
use laxity_lab::schedulers::Configuration;
use laxity_lab::{
    Caller, Outcome, Silent, analysis, experiment, internal_role, measure, prove, simulate, simulation,
};
use laxity_model::{Duration, Platform, Result, Task, TaskSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

static INTERRUPT: AtomicBool = AtomicBool::new(false);
const SCHEDULERS: [&str; 2] = ["p-edf", "g-edf"];

fn schedulers() -> Result<Vec<Configuration>> {
    SCHEDULERS.into_iter().map(str::parse).collect()
}

fn caller() -> Caller {
    Caller { observer: Arc::new(Silent), version: "one_case".into(), command: Vec::new() }
}

/// Two tasks that need more than half of a CPU each, and one that needs little.
fn set() -> Result<TaskSet> {
    let ms = Duration::from_ms;
    let tasks = [("camera", 6, 10), ("lidar", 11, 20), ("log", 4, 50)];
    TaskSet::new("robot", tasks.map(|(name, wcet, period)| Task::periodic(name, ms(wcet), ms(period))).into())
}

/// What is proven of it and what a simulation of a second shows, set by set and scheduler by scheduler.
pub fn proven_and_simulated() -> Result<[Vec<Outcome>; 2]> {
    let (sets, schedulers) = ([set()?], schedulers()?);
    let settings = CaseSettings::plain(Platform::symmetric(2)?);
    let cases = Cases::of(&sets, &schedulers, &settings, Purpose::Simulation, &INTERRUPT)?;
    let proven = prove(&cases, &analysis::Settings::default())?;
    let second = simulation::Settings::plain(Duration::from_secs(1), caller());
    Ok([proven, simulate(&cases, &second)?])
}

/// What a second on two CPUs of this machine shows.
pub fn measured(out: PathBuf) -> Result<Vec<Outcome>> {
    let (sets, schedulers) = ([set()?], schedulers()?);
    let settings = CaseSettings::by_load("wfd".parse()?, Platform::this_machine()?);
    let cases = Cases::of(&sets, &schedulers, &settings, Purpose::Run, &INTERRUPT)?;
    let plain = experiment::Settings::plain(Duration::from_secs(1), out, caller());
    measure(&cases, &experiment::Settings { record: true, ..plain })
}

fn main() -> ExitCode {
    // Measuring starts this program again for the other processes of a run.
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(code) = internal_role(&arguments) {
        return code;
    }
    match show(arguments.get(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(error.failure.exit_code())
        }
    }
}

fn show(out: Option<&String>) -> Result<()> {
    let [proven, simulated] = proven_and_simulated()?;
    let measured = out.map(|out| measured(out.into())).transpose()?.unwrap_or_default();
    for outcome in proven.iter().chain(&simulated).chain(&measured) {
        println!("{} under {}, by {:?}", outcome.task_set, outcome.scheduler, outcome.by);
        for (name, value) in &outcome.metrics {
            println!("  {name}: {value}");
        }
        if let Some(events) = &outcome.events {
            println!("  what happened when: {}", events.display());
        }
        for task in &outcome.tasks {
            let most = task.metrics.get("response_bound_ns").or(task.metrics.get("response_ns.max"));
            println!("  {}: {}", task.task, most.map_or("no bound".to_owned(), |ns| format!("{ns} ns")));
        }
        for (name, why) in &outcome.not_had {
            println!("  {name}: not there: {why}");
        }
    }
    Ok(())
}
