//! The kernel around the threads: command line, interrupts, kernel threads, and how to undo each.

use super::DeployFile;
use crate::names::harmless;
use crate::plan::{Confinement, DeployPlan, INTERRUPT_PRIORITY};
use laxity_model::CpuList;
use std::fmt::Write as _;

/// The directory of the file.
pub(super) const FOLDER: &str = "kernel";

/// The file.
pub(super) fn file(plan: &DeployPlan) -> DeployFile {
    DeployFile::inside(FOLDER, "kernel.txt", text(plan))
}

fn text(plan: &DeployPlan) -> String {
    let cpus = plan.real_time_cpus();
    let mut text = format!(
        "The kernel around task set {} under {}.\nReal-time CPUs: {cpus} of {}.\n",
        harmless(&plan.task_set),
        harmless(&plan.scheduler),
        plan.machine_cpus
    );
    text += "\n1. Command line\n\n";
    match plan.other_cpus() {
        Some(others) => {
            text += &command_line(plan, &cpus, &others);
            text += &interrupts(&cpus, &others);
            text += &kernel_threads(&cpus, &others);
        }
        None => {
            text += "Every CPU of the machine is a real-time CPU: there is none to which interrupts and kernel threads could go.\n\
                     Leave one out (--platform with fewer CPUs), and this file says how.\n";
        }
    }
    text += &priorities(plan);
    text
}

/// Cells of several CPUs need the load balancing that isolcpus=domain turns off; exclusive cpusets do it themselves, and the
/// kernel refuses partitions of CPUs that isolcpus=domain has taken.
fn command_line(plan: &DeployPlan, cpus: &CpuList, others: &CpuList) -> String {
    let single = plan.cells.iter().all(|cell| cell.cpus.len() == 1);
    let cpusets = matches!(plan.confinement, Confinement::Cpusets { .. });
    let (domain, why) = match (cpusets, single) {
        (true, _) => (
            "",
            "domain is left out: the exclusive cpusets do that, and the kernel makes no partition of CPUs that isolcpus has taken.",
        ),
        (false, true) => {
            ("domain,", "domain: no load balancing reaches the CPUs, so that only what is pinned runs there.")
        }
        (false, false) => {
            ("", "domain is left out: without it no load is balanced within a cell, and its tasks migrate.")
        }
    };
    format!(
        "Add to the kernel's command line (Debian: GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub), and boot:\n\n  \
         isolcpus=managed_irq,{domain}{cpus} nohz_full={cpus} rcu_nocbs={cpus} irqaffinity={others}\n\n\
         {why}\n\
         nohz_full: a CPU with one runnable thread has no tick, and unbound kernel threads stay away. rcu_nocbs: callbacks\n\
         of RCU run elsewhere. Kernels without one of them say so in the log and go on.\n\
         Check: cat /sys/devices/system/cpu/isolated /sys/devices/system/cpu/nohz_full; `laxity doctor --cpus {cpus}`.\n\
         Undo: remove these words, and boot.\n"
    )
}

fn interrupts(cpus: &CpuList, others: &CpuList) -> String {
    format!(
        "\n2. Interrupts\n\n\
         Until the next boot, as root: keep what there is, then let devices interrupt CPUs {others} only.\n\n  \
         for file in /proc/irq/[0-9]*/smp_affinity_list; do\n      printf '%s %s\\n' \"$(cat \"$file\")\" \"$file\"\n  \
         done > /root/laxity-interrupts\n  \
         while read -r _ file; do\n      echo {others} > \"$file\" || echo \"stays: $file\"\n  done < /root/laxity-interrupts\n\n\
         Interrupts that stay are those of the CPUs themselves, and those that the kernel manages (isolcpus=managed_irq above).\n\
         Stop irqbalance, or keep it from these CPUs: IRQBALANCE_BANNED_CPULIST={cpus} in /etc/default/irqbalance.\n\
         Check: `laxity deployed PLAN --interrupts`.\n\
         Undo:\n\n  \
         while read -r was file; do echo \"$was\" > \"$file\"; done < /root/laxity-interrupts\n"
    )
}

fn kernel_threads(cpus: &CpuList, others: &CpuList) -> String {
    format!(
        "\n3. Kernel threads\n\n\
         New kernel threads get the CPUs of kthreadd (process 2); those of one CPU (ksoftirqd/N, kworker/N, rcuc/N) stay there, and\n\
         wait while a real-time thread runs. A real-time thread that never sleeps stops them, and with them the machine in the end.\n\n  \
         taskset --cpu-list --pid {others} 2\n  \
         cat /sys/devices/virtual/workqueue/cpumask > /root/laxity-workqueues\n  \
         echo {} > /sys/devices/virtual/workqueue/cpumask\n\n\
         Check: ps -eLo pid,psr,comm | awk '$2 ~ /^({})$/'.\n\
         Undo:\n\n  taskset --cpu-list --pid 0-$(($(nproc --all) - 1)) 2\n  \
         cat /root/laxity-workqueues > /sys/devices/virtual/workqueue/cpumask\n",
        others.mask(),
        cpus.iter().map(|cpu| cpu.to_string()).collect::<Vec<_>>().join("|")
    )
}

fn priorities(plan: &DeployPlan) -> String {
    let above = plan
        .threads
        .iter()
        .filter(|thread| thread.scheduling.priority().is_some_and(|priority| priority > INTERRUPT_PRIORITY));
    let count = above.count();
    if count == 0 {
        return String::new();
    }
    let mut text = format!(
        "\n4. Priorities\n\n\
         {count} of {} threads have priorities above {INTERRUPT_PRIORITY}. A kernel with PREEMPT_RT (/sys/kernel/realtime is 1), or booted with\n\
         threadirqs, handles interrupts in threads of SCHED_FIFO {INTERRUPT_PRIORITY}: those wait while these run on their CPU. Where a thread waits\n\
         for a device (fieldbus, network), its interrupt thread has to be above it:\n\n  \
         ps -eLo tid,rtprio,comm | grep irq/\n  chrt --fifo --pid 99 TID\n\n\
         Undo: chrt --fifo --pid {INTERRUPT_PRIORITY} TID.\n",
        plan.threads.len()
    );
    for warning in &plan.warnings {
        let _ = writeln!(text, "\nWARNING: {}", laxity_model::shown(warning));
    }
    text
}
