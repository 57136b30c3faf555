//! `laxity deployed`: a running system, read back and held against what was to be set.

use crate::output;
use crate::tables::{fitted, table};
use clap::Args;
use laxity_lab::deploy::deployed::{Answer, State};
use laxity_lab::deploy::plan_at;
use laxity_model::{Result, shown};
use std::path::PathBuf;
use std::process::ExitCode;

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

pub fn deployed(arguments: &DeployedArguments) -> Result<ExitCode> {
    let plan = plan_at(&arguments.plan)?;
    let answer = Answer::of(&plan, &arguments.pid, arguments.process, arguments.interrupts)?;
    output::answer(arguments.json, &answer, || text(&answer, arguments.interrupts))?;
    Ok(output::verdict(answer.as_planned))
}

fn text(answer: &Answer, interrupts: bool) -> String {
    let right = answer.threads.iter().filter(|thread| thread.state == State::AsPlanned).count();
    let mut text = format!(
        "{right} of {} threads are as planned ({} under {}).\n",
        answer.threads.len(),
        shown(&answer.task_set),
        shown(&answer.scheduler)
    );
    if right < answer.threads.len() {
        let mut rows = table(Some(output::width()));
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
