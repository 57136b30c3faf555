//! README.md: what to set, what each file is for, and how to undo each.

use super::{kernel, oci, program, ros2, script, systemd};
use crate::names::harmless;
use crate::plan::{Confinement, DeployPlan, VOID_CGROUP_LIMITS};
use laxity_model::markdown::{cell, inline};
use std::fmt::Write as _;

/// Name of the file.
pub(super) const FILE: &str = "README.md";

/// The text; `no_oci` and `no_ros2` say why these forms are not there.
pub(super) fn text(plan: &DeployPlan, no_oci: Option<&String>, no_ros2: Option<&String>) -> String {
    let mut text = format!(
        "# Task set {} under {}\n\n{}.\n\n{}",
        inline(&plan.task_set),
        inline(&plan.scheduler),
        inline(&plan.description),
        table(plan)
    );
    for warning in &plan.warnings {
        let _ = writeln!(text, "\n**Warning:** {}", inline(warning));
    }
    if !plan.notes.is_empty() {
        text.push('\n');
    }
    for note in &plan.notes {
        let _ = writeln!(text, "- {}", inline(note));
    }
    text += &files(plan, no_oci, no_ros2);
    text += &afterwards(plan);
    text
}

fn table(plan: &DeployPlan) -> String {
    let in_cgroups = plan.cells.iter().any(|cell| cell.cgroup.is_some());
    let columns = if in_cgroups { 5 } else { 4 };
    let line = |fields: &[String]| format!("| {} |\n", fields[..columns].join(" | "));
    let mut text = line(&plan.headings().map(str::to_owned));
    text += &line(&["---", "---", "---:", "---", "---"].map(str::to_owned));
    for row in plan.rows() {
        let policy = match row.flags.as_str() {
            "" => row.policy.to_owned(),
            flags => format!("{}, {flags}", row.policy),
        };
        text += &line(&[cell(&row.thread), policy, row.parameters, row.cpus, cell(&row.cgroup)]);
    }
    text + "\nTimes in files are in ns. Real-time threads have reset-on-fork: threads and processes that it makes begin as SCHED_OTHER.\n"
}

fn files(plan: &DeployPlan, no_oci: Option<&String>, no_ros2: Option<&String>) -> String {
    let target = systemd::Units::of(plan).target;
    let mut text = String::from("\n## Which file is for you\n\n");
    let confine = match plan.confinement {
        Confinement::Cpusets { .. } => "`sudo ./start.sh confine threads` before, ",
        _ => "",
    };
    let release = if confine.is_empty() { "" } else { ", then `sudo ./start.sh release`" };
    let mut entry = |what: &str, how: &str, undo: &str| {
        let _ = writeln!(text, "- **{what}**: {how}\n  Undo: {undo}.");
    };
    entry(
        "A program for each task, by hand or by a service manager of your own",
        &format!(
            "`{}`. Set its variables `TASK_1_...` to the programs, then `sudo -E ./{0} start`. It starts all or none.",
            script::FILE
        ),
        &format!("`sudo ./{} stop`", script::FILE),
    );
    entry(
        "A program for each task, by systemd",
        &format!(
            "`{}/`. Write each program's path into its unit, copy all units to `/etc/systemd/system`, check with `systemd-analyze \
             verify`, then `systemctl daemon-reload` and `systemctl enable --now {target}`.{}",
            systemd::FOLDER,
            cgroup_words(plan)
        ),
        &format!("`systemctl disable --now {target}`, and remove the units"),
    );
    entry(
        "Threads of one program",
        &format!(
            "`{}/` (C, C++), `{}/`, `{}/`: {confine}each thread calls `laxity_apply(\"its name\")` once.",
            program::C,
            program::RUST,
            program::PYTHON
        ),
        &format!("end the program{release}"),
    );
    let container = match plan.confinement {
        Confinement::Cpusets { .. } => " `sudo ./start.sh confine` makes the cells that `cgroupsPath` names.",
        _ => "",
    };
    let reserved = plan.threads.iter().any(|thread| thread.scheduling.is_deadline());
    match no_oci {
        None => entry(
            "A container for each task",
            &format!(
                "`{}/`: parts of the OCI runtime's `config.json`, to be merged into the container's.{container} Tried with runc \
                 1.3 and crun 1.28{}.",
                oci::FOLDER,
                if reserved { "; crun 1.21 refuses SCHED_DEADLINE" } else { "" }
            ),
            "leave them out, and make the container anew",
        ),
        Some(why) => entry("Containers", &format!("no file: {}.", harmless(why)), "nothing"),
    }
    match no_ros2 {
        None => entry(
            "ROS 2 with the callback-isolated executor",
            &format!("`{}/cie.yaml`, for its `thread_configurator_node`.", ros2::FOLDER),
            "end that node and the application",
        ),
        Some(why) => entry("ROS 2", &format!("no file: {}.", harmless(why)), "nothing"),
    }
    entry(
        "The machine",
        &format!("`{}/kernel.txt`: command line, interrupts and kernel threads.", kernel::FOLDER),
        "it says so line by line",
    );
    text
}

/// What the units need of the machine.
fn cgroup_words(plan: &DeployPlan) -> &'static str {
    match plan.confinement {
        Confinement::Cpusets { version: crate::plan::CgroupVersion::V1, .. } => {
            " They make cells by cgroup v2, and this machine has its cpusets in cgroup v1: boot it with \
             `systemd.unified_cgroup_hierarchy=1`, or use the script."
        }
        Confinement::Cpusets { .. } => " They make the cells by cgroup v2.",
        _ => "",
    }
}

fn afterwards(plan: &DeployPlan) -> String {
    format!(
        "\n## Then\n\n`laxity deployed plan.json` reads the running threads back and says what differs. It finds them by their names \
         (at most 15 bytes, as the kernel has them), by the units above, by the script, or by `--pid TASK=PID`.\n{}",
        match &plan.attached {
            Some(policy) => format!(
                "\nThe policy has to be attached before: `sudo laxity load {}`. Where cgroups of the machine have CPU limits (`cpu.max`, \
                 `cpu.weight`, `cpu.idle`), it asks for `{VOID_CGROUP_LIMITS}`, since they have no effect meanwhile.\n",
                laxity_model::shell_word(policy)
            ),
            None => String::new(),
        }
    )
}
