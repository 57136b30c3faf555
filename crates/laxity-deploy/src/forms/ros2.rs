//! The configuration of ROS 2's callback-isolated executor (CIE): one YAML file of its `thread_configurator_node`.
//!
//! Source: autowarefoundation/callback_isolated_executor, cie_thread_configurator/README.md and src/thread_configurator_node.cpp.
//! A callback group has an id that CIE makes (`/node@Timer(...)`); threads of `spawn_non_ros2_thread` have the name they were given.
//! Versions differ in what they call the nice value (`nice`, before that `priority`); both are written.

use super::{DeployFile, Form};
use crate::names::{harmless, json_string};
use crate::plan::{DeployPlan, Flag, Scheduling, ThreadPlan};
use laxity_model::CpuList;
use std::fmt::Write as _;

/// The directory of the file.
pub(super) const FOLDER: &str = "ros2";

/// The file, or why there is none.
pub(super) fn files(plan: &DeployPlan) -> Form {
    for thread in &plan.threads {
        let name = harmless(&thread.task);
        if matches!(thread.scheduling, Scheduling::Ext(_)) {
            return Err("the callback-isolated executor knows no SCHED_EXT".to_owned());
        }
        if thread.flags.iter().any(|&flag| flag != Flag::ResetOnFork) {
            return Err(format!("the callback-isolated executor sets no flags, and `{name}` needs some"));
        }
        // It reads them as unsigned int.
        let longest = thread.scheduling.reservation().map_or(0, |of| of.period_ns.max(of.runtime_ns));
        if u32::try_from(longest).is_err() {
            return Err(format!(
                "the callback-isolated executor reads times below 2^32 ns only, and `{name}` has {longest} ns"
            ));
        }
    }
    Ok(vec![DeployFile::inside(FOLDER, "cie.yaml", yaml(plan))])
}

fn yaml(plan: &DeployPlan) -> String {
    let mut text = format!(
        "# The threads of task set {} under {}, for the callback-isolated executor of ROS 2:\n\
         #   ros2 run cie_thread_configurator thread_configurator_node --ros-args -p config_file:=cie.yaml\n\
         # A callback group's id is what its template says (run prerun_node): put it where a task's name is, under\n\
         # callback_groups. Threads of spawn_non_ros2_thread have the name that they were given.\n",
        harmless(&plan.task_set),
        harmless(&plan.scheduler)
    );
    if plan.threads.iter().any(|thread| thread.scheduling.is_deadline() && thread.cpus != plan.machine_cpus) {
        text += "# CIE confines SCHED_DEADLINE by cpusets of cgroup v1: boot with systemd.unified_cgroup_hierarchy=0.\n";
    }
    let is_group = |thread: &&ThreadPlan| thread.task.starts_with('/') && thread.task.contains('@');
    let (groups, others): (Vec<&ThreadPlan>, Vec<&ThreadPlan>) = plan.threads.iter().partition(is_group);
    for (section, threads) in [("callback_groups", groups), ("non_ros_threads", others)] {
        if threads.is_empty() {
            let _ = writeln!(text, "\n{section}: []");
            continue;
        }
        let _ = writeln!(text, "\n{section}:");
        threads.into_iter().for_each(|thread| text += &entry(plan, thread));
    }
    text
}

fn entry(plan: &DeployPlan, thread: &ThreadPlan) -> String {
    let mut text = format!(
        "  - id: {}\n    affinity: {}\n    policy: {}\n",
        json_string(&thread.task),
        affinity(&thread.cpus, &plan.machine_cpus),
        thread.scheduling.policy()
    );
    match thread.scheduling {
        Scheduling::Other { nice, .. } => {
            let _ = writeln!(text, "    nice: {nice}\n    priority: {nice}");
        }
        Scheduling::Fifo { priority } | Scheduling::RoundRobin { priority } => {
            let _ = writeln!(text, "    priority: {priority}");
        }
        Scheduling::Deadline(of) | Scheduling::Ext(of) => {
            let _ = writeln!(
                text,
                "    runtime: {}\n    deadline: {}\n    period: {}",
                of.runtime_ns, of.deadline_ns, of.period_ns
            );
        }
    }
    text
}

/// A list of CPUs; nothing where all of the machine are meant.
fn affinity(cpus: &CpuList, machine: &CpuList) -> String {
    if cpus == machine {
        return "~".to_owned();
    }
    let cpus: Vec<String> = cpus.iter().map(|cpu| cpu.to_string()).collect();
    format!("[{}]", cpus.join(", "))
}
