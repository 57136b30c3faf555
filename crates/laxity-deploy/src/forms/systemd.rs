//! Units of systemd: a service for each thread's program, a target that starts and stops all of them, and a slice with a service that
//! makes it a partition for each cell.
//!
//! 1. systemd knows SCHED_OTHER, SCHED_FIFO and SCHED_RR (systemd.exec(5)). A program of SCHED_DEADLINE is started by `chrt`, one of
//!    SCHED_EXT by `laxity exec`, and what `chrt` does not know is set by `laxity_apply.py`.
//! 2. SCHED_DEADLINE with `CPUAffinity=` fails (EPERM): the mask has to cover the root domain. A cell is a slice with `AllowedCPUs=`, and
//!    the cell's service makes it a partition, that is a root domain. That needs cgroup v2, which systemd has had as its default since 243.
//! 3. The target binds to all services: one that ends takes the others with it, as in the script. Where one does not start, the target's
//!    start fails, and a second target, which conflicts with all of it, ends what was started.
//! 4. What starts a program becomes it only after the kernel has agreed: a service is started when its program runs, not when `chrt` does.

use super::DeployFile;
use super::script::deadline_options;
use crate::names::{file_name, file_names, unit_text};
use crate::plan::{CellPlan, Confinement, DeployPlan, Flag, Scheduling, ThreadPlan, VOID_CGROUP_LIMITS};
use std::fmt::Write as _;

/// The directory of the units.
pub(super) const FOLDER: &str = "systemd";
/// Where the program of a unit is to be written.
pub(super) const PROGRAM: &str = "/path/to/";

/// Where another program starts a unit's: waits until that has become it, and fails if it has ended instead.
const STARTED: &str = "\
    # Started is what runs the program: a refusal of the kernel fails the start.\n\
    ExecStartPost=/bin/sh -c 'while grep -Eaqs \"^/usr/bin/(chrt|laxity)|laxity_apply[.]py\" /proc/$MAINPID/cmdline; do \
    sleep 0.05; done; grep -aqs . /proc/$MAINPID/cmdline'\n";

/// Names of the units of a plan.
pub(super) struct Units {
    pub(super) target: String,
    pub(super) services: Vec<String>,
    /// The target that ends everything after a start that failed.
    failed: String,
    policy: String,
    /// The slice of each cell and the service that makes it a partition, where it has one.
    cells: Vec<Option<(String, String)>>,
}

impl Units {
    pub(super) fn of(plan: &DeployPlan) -> Self {
        let set = file_name(&plan.task_set);
        let names = file_names(plan.threads.iter().map(|thread| thread.task.as_str()));
        let service = |(number, name): (usize, String)| format!("laxity-{set}-{number}-{name}.service");
        // A dash in a slice's name would place it below another slice.
        let slice = |at: usize| format!("laxity_{}_cell{at}.slice", set.replace(['-', '.'], "_"));
        let cell = |(at, cell): (usize, &CellPlan)| {
            is_partition(plan, cell).then(|| (slice(at), format!("laxity-{set}-cell{at}.service")))
        };
        Units {
            target: format!("laxity-{set}.target"),
            services: (1..).zip(names).map(service).collect(),
            failed: format!("laxity-{set}-failed.target"),
            policy: format!("laxity-{set}-policy.service"),
            cells: plan.cells.iter().enumerate().map(cell).collect(),
        }
    }
}

/// A cell that is what the others leave to the root needs no slice.
fn is_partition(plan: &DeployPlan, cell: &CellPlan) -> bool {
    let Confinement::Cpusets { base, .. } = &plan.confinement else { return false };
    cell.cgroup.as_ref().is_some_and(|own| own.trim_end_matches('/') != base.trim_end_matches('/'))
}

/// All units.
pub(super) fn files(plan: &DeployPlan) -> Vec<DeployFile> {
    let units = Units::of(plan);
    let file = |name: &str, text: String| DeployFile::inside(FOLDER, name, text);
    let mut files =
        vec![file(&units.target, target(plan, &units)), file(&units.failed, failed_target(plan, &units))];
    for (number, (thread, name)) in (1..).zip(plan.threads.iter().zip(&units.services)) {
        files.push(file(name, service(plan, thread, number, &units)));
    }
    for (at, names) in units.cells.iter().enumerate() {
        if let Some((slice, cell)) = names {
            files.push(file(slice, slice_unit(plan, at)));
            files.push(file(cell, cell_service(plan, at, slice, &units)));
        }
    }
    if let Some(attached) = &plan.attached {
        files.push(file(&units.policy, policy_service(plan, attached, &units)));
    }
    files
}

fn target(plan: &DeployPlan, units: &Units) -> String {
    let mut text = format!(
        "# Starts and stops all. One that ends takes the others with it; Wants= instead of BindsTo= lets them go on.\n\
         [Unit]\nDescription=Task set {} under {}\nOnFailure={}\n",
        unit_text(&plan.task_set),
        unit_text(&plan.scheduler),
        units.failed
    );
    for service in &units.services {
        let _ = writeln!(text, "BindsTo={service}\nAfter={service}");
    }
    text + "\n[Install]\nWantedBy=multi-user.target\n"
}

/// Services are a part of the target, which ends them where it ends; one that has never been reached ends nothing.
fn failed_target(plan: &DeployPlan, units: &Units) -> String {
    let mut text = format!(
        "# Reached after a start that failed: ends what had been started.\n\
         [Unit]\nDescription=Task set {} under {} did not start\n",
        unit_text(&plan.task_set),
        unit_text(&plan.scheduler)
    );
    let cells = units.cells.iter().flatten().map(|(_, cell)| cell);
    let policy = plan.attached.iter().map(|_| &units.policy);
    for unit in units.services.iter().chain(cells).chain(policy) {
        let _ = writeln!(text, "Conflicts={unit}");
    }
    text
}

fn service(plan: &DeployPlan, thread: &ThreadPlan, number: usize, units: &Units) -> String {
    let mut text = format!(
        "# Write the program's path, and its arguments, where {PROGRAM} is. Words with spaces stand in double quotes.\n\
         [Unit]\nDescription=Task {} of {} under {}\nPartOf={}\n",
        unit_text(&thread.task),
        unit_text(&plan.task_set),
        unit_text(&plan.scheduler),
        units.target
    );
    let cell = units.cells[thread.cell].as_ref();
    if let Some((slice, _)) = cell {
        let _ = writeln!(text, "After={slice}");
    }
    // Without its root domain SCHED_DEADLINE is refused, and what is left to the root is one only when the others are made; threads
    // of other policies are pinned all the same.
    let (needs, other_cells) =
        if thread.scheduling.is_deadline() { ("Requires", true) } else { ("Wants", false) };
    for (at, (_, partition)) in
        units.cells.iter().enumerate().filter_map(|(at, cell)| Some((at, cell.as_ref()?)))
    {
        if at == thread.cell || other_cells {
            let _ = writeln!(text, "{needs}={partition}\nAfter={partition}");
        }
    }
    if plan.attached.is_some() {
        let _ = writeln!(text, "Requires={0}\nAfter={0}", units.policy);
    }
    text += "\n[Service]\nType=exec\n";
    for why in &thread.why {
        let _ = writeln!(text, "# {}.", unit_text(why));
    }
    let program = format!("{PROGRAM}{}", file_name(&thread.task));
    text += &scheduling(thread, number, &program);
    if !thread.scheduling.is_deadline() {
        let _ = writeln!(text, "CPUAffinity={}", thread.cpus);
    }
    if let Some((slice, _)) = cell {
        let _ = writeln!(text, "Slice={slice}");
    } else if !plan.cell_of(thread).memory_nodes.is_empty() {
        let _ = writeln!(text, "AllowedMemoryNodes={}", plan.cell_of(thread).memory_nodes);
    }
    text += "LimitMEMLOCK=infinity\n";
    text + &format!("\n[Install]\nWantedBy={}\n", units.target)
}

fn scheduling(thread: &ThreadPlan, number: usize, program: &str) -> String {
    let by_table = format!(
        "# systemd and chrt do not know all of this: laxity_apply.py beside these units does. Write its path, too.\n\
         ExecStart=/usr/bin/python3 {PROGRAM}laxity_apply.py run {number} {program}\n{STARTED}"
    );
    if thread.flags.iter().any(|&flag| flag != Flag::ResetOnFork) {
        return by_table;
    }
    let by_priority = |policy: &str, priority: u32| {
        format!(
            "ExecStart={program}\nCPUSchedulingPolicy={policy}\nCPUSchedulingPriority={priority}\nCPUSchedulingResetOnFork=true\n"
        )
    };
    match thread.scheduling {
        Scheduling::Other { nice, slice_ns: None } => {
            format!("ExecStart={program}\nCPUSchedulingPolicy=other\nNice={nice}\n")
        }
        Scheduling::Other { .. } => by_table,
        Scheduling::Fifo { priority } => by_priority("fifo", priority),
        Scheduling::RoundRobin { priority } => by_priority("rr", priority),
        Scheduling::Deadline(of) => format!(
            "# systemd has no SCHED_DEADLINE: chrt sets it and becomes the program.\n\
             ExecStart=/usr/bin/chrt {} 0 {program}\n{STARTED}",
            deadline_options(of)
        ),
        Scheduling::Ext(of) => format!(
            "# laxity exec asks the attached policy for what the program asks of SCHED_DEADLINE.\n\
             ExecStart=/usr/bin/laxity exec -- /usr/bin/chrt {} 0 {program}\n{STARTED}",
            deadline_options(of)
        ),
    }
}

fn slice_unit(plan: &DeployPlan, at: usize) -> String {
    let cell = &plan.cells[at];
    let mut text = format!(
        "[Unit]\nDescription=CPUs {} of task set {} under {}\nStopWhenUnneeded=true\n\n[Slice]\nAllowedCPUs={}\n",
        cell.cpus,
        unit_text(&plan.task_set),
        unit_text(&plan.scheduler),
        cell.cpus
    );
    if !cell.memory_nodes.is_empty() {
        let _ = writeln!(text, "AllowedMemoryNodes={}", cell.memory_nodes);
    }
    text
}

/// The kernel keeps the bandwidth of a SCHED_DEADLINE thread for up to a period after its end, and takes it from the root domain of that
/// time: the partition stays until then.
fn cell_service(plan: &DeployPlan, at: usize, slice: &str, units: &Units) -> String {
    let file = format!("/sys/fs/cgroup/{slice}/cpuset.cpus.partition");
    let linger = plan.linger().as_ns().div_ceil(1_000_000_000);
    format!(
        "# A partition (cgroup v2) is a root domain of its own: SCHED_DEADLINE asks for one. systemd has no setting for it.\n\
         [Unit]\nDescription=Cell {at} of task set {} under {}\nPartOf={}\nRequires={slice}\nAfter={slice}\n\n\
         [Service]\nType=oneshot\nRemainAfterExit=yes\n\
         ExecStart=/bin/sh -c 'echo root > {file} && cat {file} && grep -qx root {file}'\n\
         ExecStop=/bin/sh -c 'sleep {linger}; echo member > {file}'\n",
        unit_text(&plan.task_set),
        unit_text(&plan.scheduler),
        units.target
    )
}

fn policy_service(plan: &DeployPlan, attached: &str, units: &Units) -> String {
    format!(
        "# The policy schedules this machine as long as this service runs. Options of laxity load go behind its name.\n\
         # Where cgroups of this machine have CPU limits (CPUQuota=, CPUWeight= of units), which have no effect meanwhile, the start is\n\
         # refused unless {VOID_CGROUP_LIMITS} is among these options.\n\
         [Unit]\nDescription=Policy {} for task set {} (laxity load)\nPartOf={}\n\n\
         [Service]\nType=exec\nExecStart=/usr/bin/laxity load {}\n\
         ExecStartPost=/bin/sh -c 'until grep -qx enabled /sys/kernel/sched_ext/state; do sleep 0.1; done'\n",
        unit_text(attached),
        unit_text(&plan.task_set),
        units.target,
        laxity_model::shell_word(attached)
    )
}
