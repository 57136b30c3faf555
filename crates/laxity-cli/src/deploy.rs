//! What it takes to deploy a configuration: a script that sets up the cells and starts every task, and for
//! SCHED_FIFO a systemd unit per task.
//!
//! The parameters come from the plan that was run, so that what is deployed is what was measured. Where a
//! task's program goes there is a shell variable for it; everything else runs as it is.

use laxity_model::{CpuList, Duration, LinuxScheduler, TaskSet, shell_word, shown};
use laxity_run::{Cell, Confinement, Hierarchy, Plan, PlannedTask, Policy};
use std::fmt::Write;

/// A file to deploy with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeployFile {
    /// File name.
    pub name: String,
    /// Content.
    pub text: String,
}

/// Where it is deployed: on the machine it was measured on.
#[derive(Debug, Clone, Copy)]
pub struct Host<'a> {
    /// Its cpusets, if it has any.
    pub hierarchy: Option<&'a Hierarchy>,
    /// Every CPU of the machine.
    pub machine: &'a CpuList,
}

/// The files that deploy `plan`.
pub fn files(set: &TaskSet, scheduler: &LinuxScheduler, plan: &Plan, host: &Host<'_>) -> Vec<DeployFile> {
    let stem = file_name(&format!("{}-{scheduler}", set.name()));
    let mut files = vec![DeployFile { name: format!("{stem}.sh"), text: script(set, scheduler, plan, host) }];
    if plan.tasks.iter().all(|task| real_time_priority(task.policy).is_some()) {
        let units: Vec<String> = plan.tasks.iter().map(|task| unit(set, scheduler, task)).collect();
        files.push(DeployFile { name: format!("{stem}.service.txt"), text: units.join("\n") });
    }
    files
}

fn file_name(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}

/// A shell variable for a task's program.
fn variable(task: &PlannedTask) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("TASK_{}_{}", task.id + 1, task.name.chars().map(plain).collect::<String>())
}

fn script(set: &TaskSet, scheduler: &LinuxScheduler, plan: &Plan, host: &Host<'_>) -> String {
    let mut text = format!(
        "#!/bin/sh\n\
         # shellcheck disable=SC2086 # a TASK_* may be a program with its arguments\n\
         # Starts task set {} under {}: {}.\n\
         # Run as root. Set each TASK_* to the task's program. A program ends a job by sleeping until its next\n\
         # release (clock_nanosleep with TIMER_ABSTIME) or by sched_yield.\n\
         set -eu\n\n",
        comment(set.name()),
        comment(&scheduler.to_string()),
        scheduler.description()
    );
    for task in &plan.tasks {
        let name = variable(task);
        let _ = writeln!(text, ": \"${{{name}:?set {name} to the program of task {}}}\"", quoted(&task.name));
    }
    let homes = if plan.confinement == Confinement::Cpusets {
        cells(&mut text, plan, host)
    } else {
        vec![None; plan.cells.len()]
    };
    if let Some(program) = &plan.foreign {
        let program = shell_word(program);
        let _ = write!(
            text,
            "\n# The scheduler, for as long as the tasks run\n{program} &\ntrap 'kill $scheduler' EXIT\nscheduler=$!\n\
             until [ \"$(cat /sys/kernel/sched_ext/state)\" = enabled ]; do\n    kill -0 $scheduler\n    sleep 0.1\ndone\n"
        );
    }
    text.push_str("\n# Tasks\n");
    let foreign = plan.foreign.is_some();
    for (cell, home) in plan.cells.iter().zip(homes) {
        for task in cell.tasks.iter().map(|&at| &plan.tasks[at]) {
            let _ = writeln!(text, "{}", start(task, cell, home.as_deref()));
            if foreign {
                text.push_str("tasks=\"${tasks-} $!\"\n");
            }
        }
    }
    // A scheduler does not end by itself.
    text.push_str(if foreign {
        "# shellcheck disable=SC2086 # process ids\nwait $tasks\n"
    } else {
        "wait\n"
    });
    text
}

fn comment(text: &str) -> String {
    shown(text).into_owned()
}

/// A name in a setting of systemd, which reads `%` as the beginning of something else.
fn description(text: &str) -> String {
    comment(text).replace('%', "%%")
}

/// A name inside double quotes of an error message: harmless characters only.
fn quoted(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() || " -_.()#".contains(c) { c } else { '_' }).collect()
}

/// Writes the commands that make the cells, as the runner made them; the cgroup of each.
fn cells(text: &mut String, plan: &Plan, host: &Host<'_>) -> Vec<Option<String>> {
    let _ = match host.hierarchy {
        Some(Hierarchy::V1(base)) => {
            writeln!(text, "\n# Exclusive cpusets (cgroup v1)\nbase={}", shell_word(&base.to_string_lossy()))
        }
        Some(Hierarchy::V2(base)) => {
            writeln!(
                text,
                "\n# Partitions (cgroup v2)\nbase={}\necho +cpuset > $base/cgroup.subtree_control",
                shell_word(&base.to_string_lossy())
            )
        }
        None => return vec![None; plan.cells.len()],
    };
    if let Some(Hierarchy::V1(_)) = host.hierarchy {
        let homes: Vec<Option<String>> = plan.cells.iter().map(|cell| Some(v1_cell(text, cell))).collect();
        text.push_str("echo 0 > $base/cpuset.sched_load_balance\n");
        return homes;
    }
    let stays = laxity_run::remainder(&plan.cells, host.machine);
    let home = |(number, cell): (usize, &Cell)| {
        // The last cell is what the partitions leave to the root.
        Some(if stays == Some(number) { "$base".to_owned() } else { v2_cell(text, cell) })
    };
    plan.cells.iter().enumerate().map(home).collect()
}

fn v1_cell(text: &mut String, cell: &Cell) -> String {
    let home = format!("$base/rt-{}", cell.cpus);
    let nodes = if cell.memory_nodes.is_empty() {
        "cat $base/cpuset.effective_mems".to_owned()
    } else {
        format!("echo {}", cell.memory_nodes)
    };
    let _ = writeln!(
        text,
        "mkdir -p {home}\necho {} > {home}/cpuset.cpus\n{nodes} > {home}/cpuset.mems\necho 1 > {home}/cpuset.cpu_exclusive",
        cell.cpus
    );
    home
}

fn v2_cell(text: &mut String, cell: &Cell) -> String {
    let home = format!("$base/rt-{}", cell.cpus);
    let _ = writeln!(text, "mkdir -p {home}\necho {} > {home}/cpuset.cpus", cell.cpus);
    if !cell.memory_nodes.is_empty() {
        let _ = writeln!(text, "echo {} > {home}/cpuset.mems", cell.memory_nodes);
    }
    let _ = writeln!(text, "echo root > {home}/cpuset.cpus.partition");
    home
}

fn start(task: &PlannedTask, cell: &Cell, home: Option<&str>) -> String {
    let enter = home
        .map(|home| format!("sh -c 'echo $$ > \"$0\"/cgroup.procs && exec \"$@\"' {home} "))
        .unwrap_or_default();
    // SCHED_DEADLINE refuses a mask narrower than the cell; others need one where no cpuset confines them so.
    let pinned = home.is_none() || task.affinity != cell.cpus;
    let pin = if pinned && task.policy.reservation().is_none() {
        format!("taskset -c {} ", task.affinity)
    } else {
        String::new()
    };
    format!("{enter}{pin}{} ${} &", chrt(task.policy), variable(task))
}

fn chrt(policy: Policy) -> String {
    let class = if matches!(policy, Policy::Ext { .. }) { "ext" } else { "deadline" };
    match policy {
        // chrt knows no reclaiming, and slices of SCHED_OTHER in its newest versions only.
        Policy::Reclaiming { runtime, deadline, period } => {
            set_attributes(6, RESET_ON_FORK | RECLAIM, 0, [runtime, deadline, period])
        }
        Policy::Fair { nice, slice } if !slice.is_zero() => {
            set_attributes(0, RESET_ON_FORK, nice, [slice, Duration::ZERO, Duration::ZERO])
        }
        Policy::Fair { nice, .. } => format!("nice -n {nice} chrt --other 0"),
        Policy::Deadline { runtime, deadline, period } | Policy::Ext { runtime, deadline, period } => {
            format!(
                "chrt --reset-on-fork --{class} --sched-runtime {} --sched-deadline {} --sched-period {} 0",
                runtime.as_ns(),
                deadline.as_ns(),
                period.as_ns()
            )
        }
        Policy::Fifo { priority } => format!("chrt --reset-on-fork --fifo {priority}"),
        Policy::RoundRobin { priority } => format!("chrt --reset-on-fork --rr {priority}"),
        Policy::Other => "chrt --other 0".into(),
        Policy::Foreign => "chrt --ext 0".into(),
    }
}

/// SCHED_FLAG_RESET_ON_FORK and SCHED_FLAG_RECLAIM.
const RESET_ON_FORK: u64 = 1;
const RECLAIM: u64 = 2;

/// A program before another, which it gives these attributes (`sched_setattr(2)`; times are budget or slice, deadline, period).
fn set_attributes(policy: u32, flags: u64, nice: i8, times: [Duration; 3]) -> String {
    let [runtime, deadline, period] = times.map(Duration::as_ns);
    format!(
        "python3 -c 'import ctypes, os, struct, sys\n\
         call = {{\"x86_64\": 314, \"aarch64\": 274}}[os.uname().machine]\n\
         attributes = struct.pack(\"=IIQiIQQQ\", 48, {policy}, {flags}, {nice}, 0, {runtime}, {deadline}, {period})\n\
         if ctypes.CDLL(None, use_errno=True).syscall(call, 0, attributes, 0) != 0:\n    \
         sys.exit(\"sched_setattr: \" + os.strerror(ctypes.get_errno()))\n\
         os.execvp(sys.argv[1], sys.argv[1:])'"
    )
}

/// The class as systemd calls it, and the priority in it.
fn real_time_priority(policy: Policy) -> Option<(&'static str, u32)> {
    match policy {
        Policy::Fifo { priority } => Some(("fifo", priority)),
        Policy::RoundRobin { priority } => Some(("rr", priority)),
        _ => None,
    }
}

fn unit(set: &TaskSet, scheduler: &LinuxScheduler, task: &PlannedTask) -> String {
    let Some((class, priority)) = real_time_priority(task.policy) else { return String::new() };
    let name = file_name(&task.name);
    format!(
        "# /etc/systemd/system/{name}.service\n\
         [Unit]\n\
         Description=Task {} of {} under {scheduler}\n\n\
         [Service]\n\
         ExecStart=/path/to/{name}\n\
         CPUSchedulingPolicy={class}\n\
         CPUSchedulingPriority={priority}\n\
         CPUSchedulingResetOnFork=true\n\
         CPUAffinity={}\n\
         LimitMEMLOCK=infinity\n\n\
         [Install]\n\
         WantedBy=multi-user.target\n",
        description(&task.name),
        description(set.name()),
        task.affinity
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What a shell makes of a script.
    fn of_shell(script: &str) -> String {
        let ended = Command::new("sh").args(["-c", script]).output().expect("a shell");
        String::from_utf8(ended.stdout).expect("UTF-8") + &String::from_utf8(ended.stderr).expect("UTF-8")
    }

    /// What is deployed of given priorities is the plan: equal ones are equal, in the script and in the units.
    #[test]
    fn given_priorities_are_deployed_in_their_order() {
        use laxity_model::{OnMiss, Task};
        use laxity_run::{BudgetMargin, KernelLimits, PlanOptions};
        let task = |name: &str, priority| Task {
            priority: Some(priority),
            ..Task::periodic(name, Duration::from_ms(1), Duration::from_ms(10))
        };
        let set = TaskSet::new("arm", vec![task("a", 7), task("b", 3), task("c", 7)]).expect("valid");
        let fp: laxity_model::Scheduler = "g-fp".parse().expect("a scheduler");
        let scheduler = &LinuxScheduler::from(fp);
        let machine = CpuList::first(2);
        let cell = Cell { cpus: machine.clone(), tasks: vec![0, 1, 2], memory_nodes: CpuList::default() };
        let options = PlanOptions {
            duration: Duration::from_ms(100),
            grace: None,
            on_miss: OnMiss::Continue,
            busy: 0,
            budget_margin: BudgetMargin::default(),
            seed: 0,
        };
        let plan = laxity_run::plan(&set, fp, &[cell], &machine, KernelLimits::default(), options);
        let plan = plan.expect("fits");
        let files = files(&set, scheduler, &plan, &Host { hierarchy: None, machine: &machine });
        let [script, units] = &files[..] else { panic!("{files:?}") };
        assert_eq!((script.name.as_str(), units.name.as_str()), ("arm-g-fp.sh", "arm-g-fp.service.txt"));
        assert!(script.text.contains("given priorities"), "{}", script.text);
        for (priority, count) in [(98, 1), (97, 2), (96, 0)] {
            let of = |text: &str, setting: &str| text.matches(&format!("{setting}{priority}")).count();
            assert_eq!(of(&script.text, "chrt --reset-on-fork --fifo "), count, "{}", script.text);
            assert_eq!(of(&units.text, "CPUSchedulingPriority="), count, "{}", units.text);
        }
    }

    /// Where names of sets and tasks are in a script, a shell does nothing with them.
    #[test]
    fn names_are_no_commands() {
        for name in [
            "$(echo done >&2)",
            "`echo done >&2`",
            "\"; echo done; \"",
            "a\necho done",
            "'\\",
            "x}; echo done",
            "../../x & echo done",
        ] {
            assert_eq!(of_shell(&format!("# {}\n: \"{}\"\n", comment(name), quoted(name))), "", "{name}");
            let file = file_name(name);
            assert_eq!(of_shell(&format!("printf %s {file}")), file);
            assert!(!file.contains('/') && !file.contains('%'), "{name}: {file}");
        }
    }
}
