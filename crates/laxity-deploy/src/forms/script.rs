//! A script that starts and stops one program per task.
//!
//! 1. Programs are started stopped, set from outside, and continued together: a refusal of the kernel is known before any of them runs.
//! 2. Every change is noted before it is made, in a file that a later call finds; it is undone on `stop`, on a failure and on a signal.
//! 3. Cells are made as a run makes them (laxity-run's cpusets).

use super::DeployFile;
use crate::names::{file_name, harmless, variable};
use crate::plan::{CgroupVersion, Confinement, DeployPlan, Flag, Reservation, Scheduling, ThreadPlan};
use laxity_model::{CpuList, shell_word};
use std::fmt::Write as _;

/// Name of the script.
pub(super) const FILE: &str = "start.sh";

/// The script.
pub(super) fn text(plan: &DeployPlan) -> String {
    let (confinement, base) = match &plan.confinement {
        Confinement::Cpusets { version: CgroupVersion::V1, base } => ("v1", base.trim_end_matches('/')),
        Confinement::Cpusets { version: CgroupVersion::V2, base } => ("v2", base.trim_end_matches('/')),
        Confinement::AffinityMasks | Confinement::WholeMachine => ("none", ""),
    };
    let numbers: Vec<String> = (1..=plan.threads.len()).map(|number| number.to_string()).collect();
    let places = [
        (
            "HEADING",
            format!(
                "The programs of task set {} under {}.",
                harmless(&plan.task_set),
                harmless(&plan.scheduler)
            ),
        ),
        ("NAME", shell_word(&file_name(&plan.task_set)).into_owned()),
        ("CONFINEMENT", confinement.to_owned()),
        ("BASE", shell_word(base).into_owned()),
        ("MACHINE", shell_word(&plan.machine_cpus.to_string()).into_owned()),
        ("LINGER", linger(plan)),
        ("ATTACHED", shell_word(plan.attached.as_deref().unwrap_or_default()).into_owned()),
        ("NUMBERS", numbers.join(" ")),
        ("PROGRAMS", programs(plan)),
        ("SETTINGS", settings(plan)),
        ("CELLS", cells(plan)),
        ("REST", rest(plan, base)),
    ];
    super::filled(include_str!("../templates/start.sh"), &places)
}

/// The script as a file.
pub(super) fn file(plan: &DeployPlan) -> DeployFile {
    DeployFile::at_top(FILE, text(plan))
}

/// Seconds, rounded up to the millisecond.
fn linger(plan: &DeployPlan) -> String {
    let ms = plan.linger().as_ns().div_ceil(1_000_000);
    if ms == 0 { "0".to_owned() } else { format!("{}.{:03}", ms / 1000, ms % 1000) }
}

fn programs(plan: &DeployPlan) -> String {
    let mut text = String::new();
    for (number, thread) in (1..).zip(&plan.threads) {
        let name = harmless(&thread.task);
        let variable = format!("TASK_{number}_{}", variable(&thread.task));
        let _ = writeln!(
            text,
            "label_{number}() {{ label='task {number} ({name})'; }}\n\
             program_{number}() {{\n    label_{number}\n    run \"${{{variable}:?set {variable} to the program of task {number} \
             ({name}), or write its path here}}\"\n}}"
        );
    }
    text
}

fn settings(plan: &DeployPlan) -> String {
    let mut text = String::new();
    for (number, thread) in (1..).zip(&plan.threads) {
        let _ = writeln!(
            text,
            "# {}: {} {}",
            harmless(&thread.task),
            thread.scheduling.policy(),
            thread.scheduling.words()
        );
        for why in &thread.why {
            let _ = writeln!(text, "# {}.", laxity_model::shown(why));
        }
        let _ = writeln!(text, "settings_{number}() {{");
        match plan.cgroup_of(thread) {
            Some(cgroup) => {
                let _ = writeln!(text, "    enter {}", shell_word(cgroup.trim_end_matches('/')));
            }
            None => text += "    stay\n",
        }
        // SCHED_DEADLINE has all of its cell, which the cgroup gives it; others may be pinned to less.
        if !thread.scheduling.is_deadline() {
            let _ = writeln!(text, "    pin {}", thread.cpus);
        }
        let _ = writeln!(text, "    {}\n}}", policy(thread));
    }
    text
}

fn policy(thread: &ThreadPlan) -> String {
    // chrt sets no other flags, no slices, and no parameters of SCHED_EXT.
    if thread.flags.iter().any(|&flag| flag != Flag::ResetOnFork) {
        return "by_number".to_owned();
    }
    match thread.scheduling {
        Scheduling::Other { nice, slice_ns: None } => {
            format!("policy chrt --other --pid 0\n    attempt \"$label\" renice -n {nice} -p \"$pid\"")
        }
        Scheduling::Fifo { priority } => format!("policy chrt --reset-on-fork --fifo --pid {priority}"),
        Scheduling::RoundRobin { priority } => format!("policy chrt --reset-on-fork --rr --pid {priority}"),
        Scheduling::Deadline(of) => format!("policy chrt {} --pid 0", deadline_options(of)),
        Scheduling::Other { .. } | Scheduling::Ext(_) => "by_number".to_owned(),
    }
}

/// The options of chrt for SCHED_DEADLINE.
pub(super) fn deadline_options(of: Reservation) -> String {
    format!(
        "--reset-on-fork --deadline --sched-runtime {} --sched-deadline {} --sched-period {}",
        of.runtime_ns, of.deadline_ns, of.period_ns
    )
}

fn cells(plan: &DeployPlan) -> String {
    let mut text = String::new();
    for (number, cell) in plan.cells.iter().enumerate() {
        let Some(directory) = &cell.cgroup else { continue };
        let nodes =
            if cell.memory_nodes.is_empty() { "all".to_owned() } else { cell.memory_nodes.to_string() };
        let line = format!("{number} {} {nodes} {}", cell.cpus, directory.trim_end_matches('/'));
        let _ = writeln!(text, "    printf '%s\\n' {}", shell_word(&line));
    }
    if text.is_empty() { "    :".to_owned() } else { text.trim_end().to_owned() }
}

/// Under cgroup v1: a cpuset for the CPUs of no cell, so that background work there is still balanced.
fn rest(plan: &DeployPlan, base: &str) -> String {
    let cells: CpuList = plan.real_time_cpus();
    let left = plan.machine_cpus.difference(&cells);
    if left.is_empty() {
        return "    # The cells are all CPUs.".to_owned();
    }
    let directory = format!("{base}/laxity-deploy-{}-rest", file_name(&plan.task_set));
    format!(
        "    # So that background work on the other CPUs is still balanced.\n    \
         cell=rest cpus={left} mems=all directory={}\n    make_cell",
        shell_word(&directory)
    )
}
