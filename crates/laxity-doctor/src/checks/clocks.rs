//! Clocks, timers and the tick.

use super::{NO_OTHER_CPU, costing, number};
use crate::evidence::{Evidence, unseen};
use crate::host::Host;
use crate::remedy::Remedy;
use crate::verdict::{Check, Judged, Severity, Verdict};

const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
const DEBUG: &str = "/sys/kernel/debug/sched/debug";
const FEATURES: &str = "/sys/kernel/debug/sched/features";

/// Clocks that take a call of the kernel, and about a microsecond or more, to be read.
const SLOW: [&str; 6] = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies", "tsc-early"];
/// A tick is no rarer than this, Hz.
const TICK_LEAST: u32 = 250;

pub const CHECKS: &[Check] = &[
    Check {
        name: "high-resolution-timers",
        severity: Severity::Severe,
        rule: "clock_getres says that timers have another resolution than 1 ns",
        why: "timers expire at ticks: releases are late by up to a tick (1 to 10 ms), and SCHED_DEADLINE's budgets and releases \
              are as coarse",
        judge: high_resolution,
    },
    Check {
        name: "clocksource",
        severity: Severity::Moderate,
        rule: "the clock is hpet, acpi_pm, pit, jiffies, refined-jiffies or tsc-early",
        why: "the time is read through the kernel, and slowly; in the scheduler, too, where it adds to every decision",
        judge: |host| costing(clocksource(host), || host.clock_reading()),
    },
    Check {
        name: "clock-unstable",
        severity: Severity::Moderate,
        rule: "sched_clock_stable() is 0 in /sys/kernel/debug/sched/debug",
        why: "the clocks of the CPUs are not in step: the kernel corrects them at ticks, so times of the scheduler are less \
              exact, and the tick cannot be stopped",
        judge: clock_unstable,
    },
    Check {
        name: "tick-rate",
        severity: Severity::Minor,
        rule: "the kernel was built with CONFIG_HZ below 250",
        why: "what happens at ticks, such as SCHED_RR's turns and the enforcement of budgets without hrtick, is late by up to a \
              tick",
        judge: tick_rate,
    },
    Check {
        name: "deadline-hrtick",
        severity: Severity::Moderate,
        rule: "/sys/kernel/debug/sched/features has NO_HRTICK_DL",
        why: "the kernel looks at SCHED_DEADLINE's budgets at ticks: a job can overrun its budget by up to a tick, at the cost of \
              all others; runtimes below a few ticks are hardly enforced",
        judge: deadline_hrtick,
    },
    Check {
        name: "timer-migration",
        severity: Severity::Minor,
        rule: "timer_migration is 1, and some CPUs are not real-time CPUs",
        why: "timers of idle CPUs expire on busy ones, also on real-time CPUs, and interrupt the tasks there",
        judge: |host| match host.rest() {
            None => Verdict::not_here(NO_OTHER_CPU),
            Some(_) => number(
                host,
                "/proc/sys/kernel/timer_migration",
                |on| on == 0,
                "0",
                |_| "timers of idle CPUs can expire on real-time CPUs".to_owned(),
            ),
        },
    },
];

fn high_resolution(host: &Host) -> Judged {
    let Some(ns) = host.probes.timer_resolution_ns else { return unseen("clock_getres does not answer") };
    let evidence = vec![Evidence::new("clock_getres(CLOCK_MONOTONIC)", format!("{ns} ns"))];
    if ns == 1 {
        return Verdict::fine(evidence);
    }
    let remedy = match host.booted_with("highres")? {
        Some((_, word)) => Remedy::other(
            format!("boot without `{}`", word.value),
            format!("boot with `{}` again", word.value),
        ),
        None => Remedy::kernel("with CONFIG_HIGH_RES_TIMERS, on a machine whose timers allow it"),
    };
    Verdict::measured(format!("timers expire at ticks of {ns} ns"), evidence, host.wakeups(), remedy)
}

fn clocksource(host: &Host) -> Judged {
    let current = host.text(CURRENT)?;
    if !SLOW.contains(&current.value()) {
        return match current.value() {
            "" => Err(current.not_understood()),
            _ => Verdict::fine(vec![current.evidence()]),
        };
    }
    let available = host.text(AVAILABLE)?;
    let better = available.value().split_whitespace().find(|name| !SLOW.contains(name));
    let remedy = match better {
        Some(name) => Remedy::write(CURRENT, name, current.value()),
        None => Remedy::other(
            "find in `dmesg | grep -i -e tsc -e clocksource` why the kernel gave up the better clock: often firmware, or the \
             hypervisor's settings",
            "restore these settings",
        ),
    };
    let what = format!("the clock is {}, which is slow to read", current.value());
    Verdict::found(what, vec![current.evidence(), available.evidence()], remedy)
}

fn clock_unstable(host: &Host) -> Judged {
    let debug = host.text(DEBUG)?;
    let line = debug.text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == "sched_clock_stable()").then(|| value.trim())
    });
    match line {
        Some("1") => Verdict::fine(vec![debug.says("sched_clock_stable() : 1")]),
        Some("0") => Verdict::found(
            "the clocks of the CPUs are not in step",
            vec![debug.says("sched_clock_stable() : 0")],
            Remedy::other(
                "find in `dmesg | grep -i tsc` why the kernel gave them up: often firmware, or a virtual machine that moves",
                "restore these settings",
            ),
        ),
        _ => unseen(format!("{DEBUG} does not say it on this architecture")),
    }
}

fn tick_rate(host: &Host) -> Judged {
    let config = host.config()?;
    match config.value("HZ").parse::<u32>() {
        Err(_) => unseen("the kernel's configuration has no CONFIG_HZ"),
        Ok(hz) if hz >= TICK_LEAST => Verdict::fine(vec![config.evidence("HZ")]),
        Ok(hz) => Verdict::found(
            format!("the tick comes {hz} times a second"),
            vec![config.evidence("HZ")],
            Remedy::kernel("that was built with CONFIG_HZ_250 or CONFIG_HZ_1000"),
        ),
    }
}

fn deadline_hrtick(host: &Host) -> Judged {
    let features = host.text(FEATURES)?;
    let has = |name: &str| features.text.split_whitespace().any(|word| word == name);
    if has("HRTICK_DL") {
        return Verdict::fine(vec![features.says("HRTICK_DL")]);
    }
    if !has("NO_HRTICK_DL") {
        return Verdict::not_here("the kernel cannot enforce budgets between ticks (no feature HRTICK_DL)");
    }
    let remedy = Remedy::write(FEATURES, "HRTICK_DL", "NO_HRTICK_DL");
    Verdict::found(
        "SCHED_DEADLINE's budgets are enforced at ticks",
        vec![features.says("NO_HRTICK_DL")],
        remedy,
    )
}
