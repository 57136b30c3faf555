//! Interrupts of devices, and the watchdogs'.

use super::{NO_OTHER_CPU, cpus_text, masked, number};
use crate::evidence::{Evidence, Unseen, unseen};
use crate::host::Host;
use crate::measured::most_interrupts;
use crate::remedy::Remedy;
use crate::verdict::{Check, Judged, Severity, Verdict};
use laxity_model::{CpuList, plural};

/// Where no CPU is left for them, interrupts are a finding above this rate, per second and CPU.
const RATE_MAX: u64 = 1000;
/// No more lines of evidence than this.
const SHOWN_MAX: usize = 8;
/// The priority that Linux gives its interrupt threads.
const IRQ_PRIORITY: u32 = 50;

const DEFAULT_MASK: &str = "/proc/irq/default_smp_affinity";

pub const CHECKS: &[Check] = &[
    Check {
        name: "interrupts",
        severity: Severity::Moderate,
        rule: "while laxity watched, a device interrupted a real-time CPU; where all CPUs are real-time CPUs: more than 1000 times \
               a second",
        why: "the handler, and often work that it leaves to softirqs, runs before the task on that CPU",
        judge: interrupts,
    },
    Check {
        name: "interrupt-affinity",
        severity: Severity::Moderate,
        rule: "some CPUs are not real-time CPUs, and an interrupt of a device is directed to a real-time CPU \
               (smp_affinity_list, and effective_affinity_list where there is one)",
        why: "the device can interrupt the task on that CPU at any time. The kernel places some itself, such as those of NVMe's queues, \
              and refuses another place (EIO): isolcpus=managed_irq keeps these away",
        judge: affinity,
    },
    Check {
        name: "interrupt-default",
        severity: Severity::Minor,
        rule: "some CPUs are not real-time CPUs, and default_smp_affinity has a real-time CPU",
        why: "interrupts of devices that are plugged in or set up later may go to real-time CPUs",
        judge: |host| masked(host, DEFAULT_MASK, "interrupts of new devices may go to"),
    },
    Check {
        name: "irqbalance",
        severity: Severity::Moderate,
        rule: "irqbalance runs, some CPUs are not real-time CPUs, and a real-time CPU is neither isolated, nor one of \
               nohz_full=, nor banned by IRQBALANCE_BANNED_CPULIST",
        why: "irqbalance moves interrupts to real-time CPUs every ten seconds, whatever their affinities were set to",
        judge: irqbalance,
    },
    Check {
        name: "interrupt-threads",
        severity: Severity::Moderate,
        rule: "a thread of an interrupt has a SCHED_FIFO priority above 50, Linux's own choice",
        why: "it runs before all real-time tasks with lower priorities, for as long as the device keeps it busy",
        judge: threads,
    },
    Check {
        name: "soft-watchdog",
        severity: Severity::Minor,
        rule: "soft_watchdog is 1, and watchdog_cpumask has a real-time CPU",
        why: "every four seconds a timer wakes the CPU's stopper thread, which goes before all tasks, for some microseconds",
        judge: soft_watchdog,
    },
    Check {
        name: "nmi-watchdog",
        severity: Severity::Minor,
        rule: "nmi_watchdog is 1",
        why: "an interrupt that cannot be masked comes every ten seconds of work, and a performance counter is taken",
        judge: |host| {
            number(
                host,
                "/proc/sys/kernel/nmi_watchdog",
                |on| on == 0,
                "0",
                |_| "the NMI watchdog is on".to_owned(),
            )
        },
    },
];

fn interrupts(host: &Host) -> Judged {
    let (before, after) = host.interrupts()?;
    let ms = u64::try_from(host.length().as_millis()).unwrap_or(u64::MAX);
    let limit = if host.rest().is_some() { 0 } else { RATE_MAX.saturating_mul(ms) / 1000 };
    let in_time = host.in_time();
    let mut evidence = Vec::new();
    let (mut counts, mut cpus) = (Vec::new(), Vec::new());
    for cpu in host.cpus().iter() {
        let came = after.since(before, cpu);
        let all: u64 = came.iter().map(|(_, _, count)| count).sum();
        counts.push((all, cpu));
        if all <= limit {
            continue;
        }
        cpus.push(cpu);
        let line = |(number, device, count): &(u32, &str, u64)| {
            Evidence::new(
                "/proc/interrupts",
                format!("{number} ({device}) came to CPU {cpu} {} {in_time}", plural(*count, "time")),
            )
        };
        evidence.extend(came.iter().map(line));
    }
    evidence.truncate(SHOWN_MAX);
    let measured = most_interrupts(counts.into_iter(), &in_time);
    if cpus.is_empty() {
        return Verdict::fine(vec![Evidence::new("/proc/interrupts", measured)]);
    }
    let remedy = match host.rest() {
        Some(rest) => Remedy::parameter(format!("irqaffinity={rest}")),
        None => Remedy::other(
            "leave a CPU to the interrupts: name the real-time CPUs by --cpus, without it, and ask again",
            "nothing was changed",
        ),
    };
    let what = format!("devices interrupt {}", cpus_text(&cpus.into_iter().collect()));
    Verdict::measured(what, evidence, Some(measured), remedy)
}

/// The interrupts of devices that go to real-time CPUs: number, file, and what it says.
pub(super) fn directed(host: &Host) -> Result<Vec<(u32, String, CpuList)>, Unseen> {
    let (_, known) = host.interrupts()?;
    let mut found = Vec::new();
    for irq in host.numbers("/proc/irq").into_iter().filter(|&irq| known.is_device(irq)) {
        let folder = format!("/proc/irq/{irq}");
        // A directory for each handler: without one, nothing can come.
        let handled = host.names(&folder).iter().any(|name| host.path(&format!("{folder}/{name}")).is_dir());
        let allowed = host.text(&format!("{folder}/smp_affinity_list"))?;
        let may_go: CpuList = allowed.parsed()?;
        // Empty: it was never switched on. Where it moves with its next occurrence, this has the CPU of the last one.
        let read = host.optional(&format!("{folder}/effective_affinity_list"))?.unwrap_or(allowed);
        let cpus: CpuList = read.parsed()?;
        if handled && !cpus.intersection(host.cpus()).intersection(&may_go).is_empty() {
            found.push((irq, read.file.clone(), cpus));
        }
    }
    Ok(found)
}

fn affinity(host: &Host) -> Judged {
    let Some(rest) = host.rest() else { return Verdict::not_here(NO_OTHER_CPU) };
    if !host.exists("/proc/irq") {
        return unseen("there is no /proc/irq");
    }
    let directed = directed(host)?;
    let Some((first, ..)) = directed.first() else {
        return Verdict::fine(vec![Evidence::new("/proc/irq/*/smp_affinity_list", "no real-time CPU")]);
    };
    let evidence =
        directed.iter().take(SHOWN_MAX).map(|(_, file, cpus)| Evidence::new(file.clone(), cpus.to_string()));
    let (mut fix, mut undo) = (Vec::new(), Vec::new());
    for (irq, ..) in &directed {
        let file = format!("/proc/irq/{irq}/smp_affinity_list");
        let now = host.text(&file)?;
        let remedy = Remedy::write(&file, &rest.to_string(), now.value());
        fix.extend(remedy.fix);
        undo.extend(remedy.undo);
    }
    let what = match directed.len() {
        1 => format!("interrupt {first} may go to a real-time CPU"),
        many => format!("{many} interrupts may go to real-time CPUs"),
    };
    Verdict::found(what, evidence.collect(), Remedy::commands(fix, undo))
}

fn irqbalance(host: &Host) -> Judged {
    if host.rest().is_none() {
        return Verdict::not_here(NO_OTHER_CPU);
    }
    let processes = host.numbers("/proc");
    if processes.is_empty() {
        return unseen("/proc has no processes");
    }
    let is_it =
        |pid: &&u32| host.text(&format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.value() == "irqbalance");
    let Some(pid) = processes.iter().find(is_it) else {
        return Verdict::fine(vec![Evidence::new("/proc/*/comm", "no irqbalance")]);
    };
    let comm = Evidence::new(format!("/proc/{pid}/comm"), "irqbalance");
    // By itself it leaves out isolated and tickless CPUs; a list of its own replaces that.
    let environment = host.text(&format!("/proc/{pid}/environ"))?;
    let banned = environment.text.split('\0').find_map(|one| one.strip_prefix("IRQBALANCE_BANNED_CPULIST="));
    let (spared, evidence) = match banned.filter(|list| !list.is_empty()) {
        Some(list) => {
            let cpus: CpuList = list.parse().map_err(|_| environment.not_understood())?;
            (cpus, vec![comm, environment.says(format!("IRQBALANCE_BANNED_CPULIST={list}"))])
        }
        None => {
            let (isolated, mut seen) = host.isolated()?;
            let tickless = host.optional("/sys/devices/system/cpu/nohz_full")?;
            let more: CpuList =
                tickless.as_ref().map(|read| read.parsed().unwrap_or_default()).unwrap_or_default();
            seen.insert(0, comm);
            seen.extend(tickless.map(|read| read.evidence()));
            (isolated.iter().chain(more.iter()).collect(), seen)
        }
    };
    let exposed = host.cpus().difference(&spared);
    match exposed.is_empty() {
        true => Verdict::fine(evidence),
        false => Verdict::found(
            format!("irqbalance may move interrupts to {}", cpus_text(&exposed)),
            evidence,
            Remedy::command("sudo systemctl stop irqbalance", "sudo systemctl start irqbalance"),
        ),
    }
}

fn threads(host: &Host) -> Judged {
    let processes = host.numbers("/proc");
    if processes.is_empty() {
        return unseen("/proc has no processes");
    }
    let (mut count, mut high) = (0, Vec::new());
    for pid in processes {
        let Ok(stat) = host.text(&format!("/proc/{pid}/stat")) else { continue };
        let Some((name, priority)) = fifo_thread(&stat.text).filter(|(name, _)| name.starts_with("irq/"))
        else {
            continue;
        };
        count += 1;
        if priority > IRQ_PRIORITY {
            high.push((pid, name.to_owned(), priority));
        }
    }
    let Some((_, name, priority)) = high.iter().max_by_key(|(_, _, priority)| *priority) else {
        return match count {
            0 => Verdict::not_here("no interrupt has a thread"),
            _ => Verdict::fine(vec![Evidence::new(
                "/proc/*/stat",
                format!("{count} interrupt threads, none above 50"),
            )]),
        };
    };
    let what = format!("interrupt thread {name} has SCHED_FIFO priority {priority}");
    let evidence = high.iter().take(SHOWN_MAX).map(|(pid, name, priority)| {
        Evidence::new(format!("/proc/{pid}/stat"), format!("{name}: SCHED_FIFO, priority {priority}"))
    });
    let set = |pid: &u32, priority: u32| format!("sudo chrt --fifo --pid {priority} {pid}");
    let fix = high.iter().map(|(pid, ..)| set(pid, IRQ_PRIORITY)).collect();
    let undo = high.iter().map(|(pid, _, priority)| set(pid, *priority)).collect();
    Verdict::found(what, evidence.collect(), Remedy::commands(fix, undo))
}

/// Name and priority of a SCHED_FIFO thread: fields 2, 40 and 41 of proc_pid_stat(5).
fn fifo_thread(stat: &str) -> Option<(&str, u32)> {
    let (front, rest) = stat.rsplit_once(')')?;
    let name = front.split_once('(')?.1;
    let mut fields = rest.split_whitespace().skip(37);
    let priority = fields.next()?.parse().ok()?;
    (fields.next()? == "1").then_some((name, priority))
}

fn soft_watchdog(host: &Host) -> Judged {
    let on = host.text("/proc/sys/kernel/soft_watchdog")?;
    let file = "/proc/sys/kernel/watchdog_cpumask";
    if on.parsed::<u8>()? == 0 {
        return Verdict::fine(vec![on.evidence()]);
    }
    let watched = host.text(file)?;
    let cpus: CpuList = watched.parsed()?;
    let both = cpus.intersection(host.cpus());
    let evidence = vec![on.evidence(), watched.evidence()];
    if both.is_empty() {
        return Verdict::fine(evidence);
    }
    let remedy = match host.rest() {
        Some(rest) => Remedy::write(file, &rest.to_string(), watched.value()),
        None => Remedy::write("/proc/sys/kernel/soft_watchdog", "0", "1"),
    };
    Verdict::found(format!("the watchdog runs on {}", cpus_text(&both)), evidence, remedy)
}
