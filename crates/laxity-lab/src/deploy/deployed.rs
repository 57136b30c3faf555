//! A running system, read back and held against what was to be set.

use super::interrupts::{self, Interrupt};
use super::threads::{FoundThread, Threads, observed};
use super::{plans_in, read_plan};
use laxity_deploy::{DeployPlan, Difference, differences};
use laxity_model::{Diagnostic, Names, Result, ShownPath as _, shown};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Version of the format.
const VERSION: u32 = 1;

/// What `--json` prints.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this format.
    pub version: u32,
    /// Name of the task set.
    pub task_set: String,
    /// Name of the scheduler.
    pub scheduler: String,
    /// Whether everything is as planned.
    pub as_planned: bool,
    /// The plan's threads.
    pub threads: Vec<ThreadAnswer>,
    /// Interrupts of devices that reach real-time CPUs; null if they were not asked for, or every CPU is one.
    pub interrupts: Option<Vec<Interrupt>>,
}

/// One thread of the plan.
#[derive(Serialize, JsonSchema)]
pub struct ThreadAnswer {
    /// Name of the task.
    pub task: String,
    /// What is there of it.
    pub state: State,
    /// The threads that it is: none if it is missing.
    pub found: Vec<FoundThread>,
    /// What is not as planned.
    pub differences: Vec<Difference>,
}

/// What is there of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// As planned.
    AsPlanned,
    /// Something is not.
    Differs,
    /// There is no such thread.
    Missing,
    /// There are several: which one is meant is not known.
    Several,
}

impl Answer {
    /// The threads of a plan as they are now. `pids` says of some tasks which process or thread they are (`TASK=PID`); `process`
    /// names the one process whose threads are looked at. Interrupts of devices are looked at where they are asked for.
    ///
    /// # Errors
    ///
    /// A task or a process that is not there; the kernel does not say how a thread is scheduled, or where interrupts go.
    pub fn of(plan: &DeployPlan, pids: &[String], process: Option<i32>, interrupts: bool) -> Result<Answer> {
        let told = told(plan, pids)?;
        if let Some(pid) = process.filter(|&pid| !runs(pid)) {
            return Err(no_such_process(&format!("--process {pid}")));
        }
        let found = Threads::now(process).of(plan, &told).into_iter().enumerate();
        let threads = found.map(|(at, found)| judged(plan, at, found)).collect::<Result<Vec<_>>>()?;
        let interrupts = match plan.other_cpus().filter(|_| interrupts) {
            Some(_) => Some(interrupts::on(Path::new("/"), &plan.real_time_cpus()).map_err(|error| {
                Diagnostic::environment(format!("cannot read /proc/irq: {error}")).hint("run as root")
            })?),
            None => None,
        };
        Ok(Answer {
            version: VERSION,
            task_set: plan.task_set.clone(),
            scheduler: plan.scheduler.clone(),
            as_planned: threads.iter().all(|thread| thread.state == State::AsPlanned)
                && interrupts.as_ref().is_none_or(Vec::is_empty),
            threads,
            interrupts,
        })
    }
}

/// The plan of a results directory, of a directory of its forms, or of a file.
///
/// # Errors
///
/// There is none, or there are several; it cannot be read.
pub fn plan_at(path: &Path) -> Result<DeployPlan> {
    if !path.is_dir() {
        return read_plan(path);
    }
    let here = path.join(laxity_deploy::PLAN_FILE);
    if here.is_file() {
        return read_plan(&here);
    }
    let mut plans = plans_in(path)?;
    match plans.len() {
        1 => Ok(plans.remove(0).1),
        0 => Err(Diagnostic::usage(format!("{} has no deploy/plan.json", path.shown())).hint(
            "`laxity compare` and `laxity run` write one into their results, for the recommended scheduler, and `laxity settings --deploy \
             DIR` into DIR",
        )),
        count => {
            let files: Vec<String> = plans.iter().map(|(file, _)| file.shown().to_string()).collect();
            Err(Diagnostic::usage(format!("{} has {count} plans", path.shown()))
                .hint(format!("name one of them: {}", files.join(", "))))
        }
    }
}

/// Which thread is which, as the command line says: by position in the plan.
fn told(plan: &DeployPlan, words: &[String]) -> Result<BTreeMap<usize, i32>> {
    let mut told = BTreeMap::new();
    for word in words {
        let wrong = |what: &str| {
            Diagnostic::usage(format!("--pid {}: {what}", shown(word))).hint("as in `--pid camera=4711`")
        };
        let (task, pid) = word.rsplit_once('=').ok_or_else(|| wrong("this is not TASK=PID"))?;
        let at = plan.threads.iter().position(|thread| thread.task == task).ok_or_else(|| {
            let names: Vec<&str> = plan.threads.iter().map(|thread| thread.task.as_str()).collect();
            Names::of("task", &names).unknown(task)
        })?;
        let pid: i32 =
            pid.parse().ok().filter(|pid| *pid > 0).ok_or_else(|| wrong("this is no number of a process"))?;
        if told.insert(at, pid).is_some() {
            return Err(wrong("the task is named twice"));
        }
        if !runs(pid) {
            return Err(no_such_process(&format!("--pid {}", shown(word))));
        }
    }
    Ok(told)
}

/// Whether there is a process or thread with this number.
fn runs(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}")).is_dir()
}

fn no_such_process(option: &str) -> Diagnostic {
    Diagnostic::usage(format!("{option}: there is no such process"))
        .hint("`pidof NAME` says the number of a program's process")
}

fn judged(plan: &DeployPlan, at: usize, found: Vec<FoundThread>) -> Result<ThreadAnswer> {
    let thread = &plan.threads[at];
    let answer =
        |state, found, differences| ThreadAnswer { task: thread.task.clone(), state, found, differences };
    let [one] = found[..] else {
        let state = if found.is_empty() { State::Missing } else { State::Several };
        return Ok(answer(state, found, Vec::new()));
    };
    let seen = observed(one.tid).map_err(|error| {
        Diagnostic::environment(format!("cannot read how thread {} is scheduled: {error}", one.tid))
            .hint("run as root")
    })?;
    Ok(match seen {
        None => answer(State::Missing, Vec::new(), Vec::new()),
        Some(seen) => {
            let differences = differences(plan, thread, &seen);
            let state = if differences.is_empty() { State::AsPlanned } else { State::Differs };
            answer(state, found, differences)
        }
    })
}

/// The JSON Schema of [`Answer`]; published as `schemas/deployed.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer>("deployed", "laxity deployed", VERSION)
}
