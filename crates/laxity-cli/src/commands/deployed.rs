//! `laxity deployed`: a running system, read back and held against what was to be set.

use crate::output;
use crate::tables::{fitted, table};
use clap::Args;
use laxity_deploy::{DeployPlan, Difference, differences};
use laxity_lab::deploy::interrupts::{self, Interrupt};
use laxity_lab::deploy::threads::{FoundThread, Threads, observed};
use laxity_lab::deploy::{plans_in, read_plan};
use laxity_model::{Diagnostic, Names, Result, ShownPath as _, shown};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Version of the format.
const VERSION: u32 = 1;
/// Width of tables where there is no terminal.
const WIDTH: u16 = 100;

/// What helps where no thread was found.
const NOTHING_STARTED: &str = "\
Start the tasks first: deploy/start.sh of the results directory does, or their systemd units. --process PID or --pid TASK=PID \
name threads that have other names.
";

/// `laxity deployed`.
#[derive(Args)]
#[command(after_long_help = "\
PLAN is a results directory of `laxity compare` or `run`, a directory of `laxity settings --deploy`, or a plan.json in one. A thread is found by --pid, by \
what deploy/start.sh has started, by its systemd unit, or by its name, of which the kernel keeps 15 bytes: laxity_apply of deploy/c, \
rust and python gives each thread one of its own. Policy, parameters, reset-on-fork, CPUs and cpuset are compared.

Exit codes: 0 everything is as planned; 1 something differs, is missing or is there twice; 2 usage or input; 3 the kernel does not \
say.

Examples:
  laxity deployed answer
  # the threads of one process
  laxity deployed answer --process 4711
  # a thread that has another name, and interrupts on real-time CPUs
  laxity deployed answer/deploy/plan.json --pid camera=4711 --interrupts")]
pub struct DeployedArguments {
    /// The results directory, or its deploy/plan.json
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// The process or thread that is a task; may be given for each task
    #[arg(long, value_name = "TASK=PID")]
    pub pid: Vec<String>,
    /// Look among the threads of this process only
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub process: Option<i32>,
    /// Also say which interrupts of devices reach real-time CPUs
    #[arg(long)]
    pub interrupts: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
}

/// What `--json` prints.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this format.
    version: u32,
    /// Name of the task set.
    task_set: String,
    /// Name of the scheduler.
    scheduler: String,
    /// Whether everything is as planned.
    as_planned: bool,
    /// The plan's threads.
    threads: Vec<ThreadAnswer>,
    /// Interrupts of devices that reach real-time CPUs; null if they were not asked for, or every CPU is one.
    interrupts: Option<Vec<Interrupt>>,
}

/// One thread of the plan.
#[derive(Serialize, JsonSchema)]
struct ThreadAnswer {
    /// Name of the task.
    task: String,
    /// What is there of it.
    state: State,
    /// The threads that it is: none if it is missing.
    found: Vec<FoundThread>,
    /// What is not as planned.
    differences: Vec<Difference>,
}

/// What is there of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// As planned.
    AsPlanned,
    /// Something is not.
    Differs,
    /// There is no such thread.
    Missing,
    /// There are several: which one is meant is not known.
    Several,
}

pub fn deployed(arguments: &DeployedArguments) -> Result<ExitCode> {
    let plan = plan(&arguments.plan)?;
    let told = told(&plan, &arguments.pid)?;
    if let Some(pid) = arguments.process.filter(|&pid| !runs(pid)) {
        return Err(no_such_process(&format!("--process {pid}")));
    }
    let all = Threads::now(arguments.process);
    let mut threads = Vec::new();
    for (at, found) in all.of(&plan, &told).into_iter().enumerate() {
        threads.push(judged(&plan, at, found)?);
    }
    let interrupts = match plan.other_cpus().filter(|_| arguments.interrupts) {
        Some(_) => Some(interrupts::on(Path::new("/"), &plan.real_time_cpus()).map_err(|error| {
            Diagnostic::environment(format!("cannot read /proc/irq: {error}")).hint("run as root")
        })?),
        None => None,
    };
    let as_planned = threads.iter().all(|thread| thread.state == State::AsPlanned)
        && interrupts.as_ref().is_none_or(Vec::is_empty);
    let answer = Answer {
        version: VERSION,
        task_set: plan.task_set.clone(),
        scheduler: plan.scheduler.clone(),
        as_planned,
        threads,
        interrupts,
    };
    match arguments.json {
        true => output::print_json(&answer)?,
        false => output::print(&text(&answer, arguments.interrupts, output::columns().unwrap_or(WIDTH)))?,
    }
    Ok(output::verdict(as_planned))
}

/// The plan of a results directory, of a directory of its forms, or of a file.
pub fn plan(path: &Path) -> Result<DeployPlan> {
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

fn text(answer: &Answer, interrupts: bool, width: u16) -> String {
    let right = answer.threads.iter().filter(|thread| thread.state == State::AsPlanned).count();
    let mut text = format!(
        "{right} of {} threads are as planned ({} under {}).\n",
        answer.threads.len(),
        shown(&answer.task_set),
        shown(&answer.scheduler)
    );
    if right < answer.threads.len() {
        let mut rows = table(Some(width));
        rows.set_header(["Thread", "Found", "What", "Planned", "Here"]);
        for thread in answer.threads.iter().filter(|thread| thread.state != State::AsPlanned) {
            let tids: Vec<String> = thread.found.iter().map(|found| found.tid.to_string()).collect();
            let task = shown(&thread.task).into_owned();
            match thread.state {
                State::Missing => _ = rows.add_row([task, "missing".into()]),
                State::Several => {
                    rows.add_row([task, format!("{} times: {}", tids.len(), tids.join(", "))]);
                }
                State::AsPlanned | State::Differs => {
                    for (at, one) in thread.differences.iter().enumerate() {
                        let first = |text: &str| if at == 0 { text.to_owned() } else { String::new() };
                        let (planned, found) = (one.planned.clone(), one.found.clone());
                        rows.add_row([
                            first(&task),
                            first(&tids.join(", ")),
                            one.what.to_owned(),
                            planned,
                            found,
                        ]);
                    }
                }
            }
        }
        text += &fitted(rows);
    }
    if answer.threads.iter().all(|thread| thread.state == State::Missing) {
        text += NOTHING_STARTED;
    }
    match &answer.interrupts {
        Some(found) if found.is_empty() => text += "No interrupt of a device reaches real-time CPUs.\n",
        Some(found) => {
            for one in found {
                text += &format!(
                    "interrupt {} ({}) reaches CPUs {}\n",
                    one.irq,
                    one.devices.join(", "),
                    one.cpus
                );
            }
        }
        None if interrupts => text += "Every CPU is a real-time CPU: interrupts have no other place.\n",
        None => {}
    }
    text
}

/// The JSON Schema of [`Answer`]; published as `schemas/deployed.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer>("deployed", "laxity deployed", VERSION)
}
