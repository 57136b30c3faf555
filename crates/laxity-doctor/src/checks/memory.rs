//! What makes memory slow at times.

use super::{chosen, number};
use crate::host::Host;
use crate::remedy::Remedy;
use crate::verdict::{Check, Evidence, Judged, Severity, Verdict};

const HUGE: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const DEFRAG: &str = "/sys/kernel/mm/transparent_hugepage/defrag";
/// Linux swaps anonymous memory sooner above this, although there is memory.
const SWAPPINESS_MAX: i64 = 10;

pub const CHECKS: &[Check] = &[
    Check {
        name: "swap",
        severity: Severity::Moderate,
        rule: "a swap area other than zram is in use",
        why: "memory that is not locked can be swapped out; the page fault that brings it back takes milliseconds on a disk",
        judge: swap,
    },
    Check {
        name: "swappiness",
        severity: Severity::Minor,
        rule: "a swap area is in use, and swappiness is above 10",
        why: "the kernel swaps out memory that is not locked although file caches could be dropped",
        judge: |host| {
            let areas = host.text("/proc/swaps")?;
            if areas.text.lines().nth(1).is_none_or(|line| line.trim().is_empty()) {
                return swapless(&areas);
            }
            number(
                host,
                "/proc/sys/vm/swappiness",
                |value| value <= SWAPPINESS_MAX,
                "10",
                |value| format!("memory is swapped out early (swappiness {value})"),
            )
        },
    },
    Check {
        name: "huge-pages",
        severity: Severity::Moderate,
        rule: "transparent huge pages are `always`",
        why: "a first access may have to clear 2 MiB at once (some 100 us), and khugepaged replaces pages of running tasks, whose \
              accesses wait meanwhile",
        judge: huge_pages,
    },
    Check {
        name: "huge-page-defrag",
        severity: Severity::Moderate,
        rule: "transparent huge pages are not `never`, and their defrag is `always`",
        why: "a first access waits until memory was compacted for a huge page, for milliseconds",
        judge: defrag,
    },
    Check {
        name: "ksm",
        severity: Severity::Moderate,
        rule: "ksm/run is 1",
        why: "equal pages are merged: a write to one is a page fault that copies it; the scanning takes CPU time in bursts",
        judge: |host| {
            number(
                host,
                "/sys/kernel/mm/ksm/run",
                |run| run != 1,
                "0",
                |_| "equal pages are merged".to_owned(),
            )
        },
    },
    Check {
        name: "numa-balancing",
        severity: Severity::Moderate,
        rule: "the machine has more than one memory node, and numa_balancing is not 0",
        why: "pages of running tasks are unmapped at times to see which node uses them: page faults, and pages that move",
        judge: numa_balancing,
    },
    Check {
        name: "locked-compaction",
        severity: Severity::Moderate,
        rule: "compact_unevictable_allowed is 1",
        why: "locked pages are moved when memory is compacted; a task that touches one meanwhile waits (Linux's default is 0 only \
              under PREEMPT_RT)",
        judge: |host| {
            number(
                host,
                "/proc/sys/vm/compact_unevictable_allowed",
                |allowed| allowed == 0,
                "0",
                |_| "locked pages are moved when memory is compacted".to_owned(),
            )
        },
    },
    Check {
        name: "proactive-compaction",
        severity: Severity::Minor,
        rule: "compaction_proactiveness is above 0",
        why: "kcompactd moves pages in the background before memory is asked for; a task that touches one meanwhile waits",
        judge: |host| {
            number(
                host,
                "/proc/sys/vm/compaction_proactiveness",
                |value| value == 0,
                "0",
                |value| format!("memory is compacted in the background (proactiveness {value})"),
            )
        },
    },
    Check {
        name: "zone-reclaim",
        severity: Severity::Minor,
        rule: "zone_reclaim_mode is not 0",
        why: "an allocation frees memory of its own node first, while the task waits, although other nodes have some",
        judge: |host| {
            number(
                host,
                "/proc/sys/vm/zone_reclaim_mode",
                |mode| mode == 0,
                "0",
                |_| "allocations wait for memory of their own node".to_owned(),
            )
        },
    },
];

fn swapless(areas: &crate::host::Read) -> Judged {
    match areas.text.starts_with("Filename") {
        true => Verdict::not_here("no swap area is in use"),
        false => Err(areas.not_understood()),
    }
}

fn swap(host: &Host) -> Judged {
    let areas = host.text("/proc/swaps")?;
    if !areas.text.starts_with("Filename") {
        return Err(areas.not_understood());
    }
    let names: Vec<&str> =
        areas.text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    let slow: Vec<&str> = names.iter().copied().filter(|name| !name.starts_with("/dev/zram")).collect();
    if slow.is_empty() {
        let said = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Verdict::fine(vec![areas.says(said)]);
    }
    let what = format!("memory can be swapped out to {}", slow.join(", "));
    let remedy = Remedy::command("sudo swapoff --all", "sudo swapon --all");
    Verdict::found(what, vec![areas.says(slow.join(", "))], remedy)
}

fn huge_pages(host: &Host) -> Judged {
    if !host.exists("/sys/kernel/mm/transparent_hugepage") && host.exists("/sys/kernel/mm") {
        return Verdict::not_here("the kernel has no transparent huge pages");
    }
    let read = host.text(HUGE)?;
    match chosen(&read)? {
        "always" => {
            let remedy = Remedy::write(HUGE, "madvise", "always");
            Verdict::found("every program gets huge pages unasked", vec![read.evidence()], remedy)
        }
        "madvise" | "never" => Verdict::fine(vec![read.evidence()]),
        _ => Err(read.not_understood()),
    }
}

fn defrag(host: &Host) -> Judged {
    if !host.exists("/sys/kernel/mm/transparent_hugepage") && host.exists("/sys/kernel/mm") {
        return Verdict::not_here("the kernel has no transparent huge pages");
    }
    let (enabled, read) = (host.text(HUGE)?, host.text(DEFRAG)?);
    match (chosen(&enabled)?, chosen(&read)?) {
        ("never", _) => Verdict::not_here("there are no transparent huge pages"),
        (_, "always") => {
            let remedy = Remedy::write(DEFRAG, "madvise", "always");
            Verdict::found(
                "first accesses wait for huge pages",
                vec![enabled.evidence(), read.evidence()],
                remedy,
            )
        }
        _ => Verdict::fine(vec![read.evidence()]),
    }
}

fn numa_balancing(host: &Host) -> Judged {
    let nodes = host.text("/sys/devices/system/node/online")?;
    let count = nodes.parsed::<laxity_model::CpuList>()?.len();
    match count {
        0 => Err(nodes.not_understood()),
        1 => Verdict::not_here("the machine has one memory node"),
        _ => number(
            host,
            "/proc/sys/kernel/numa_balancing",
            |on| on == 0,
            "0",
            |_| "pages are unmapped to see which node uses them".to_owned(),
        )
        .map(|verdict| with(verdict, nodes.evidence())),
    }
}

/// Adds a line of evidence.
fn with(verdict: Verdict, more: Evidence) -> Verdict {
    match verdict {
        Verdict::Fine(mut evidence) => {
            evidence.push(more);
            Verdict::Fine(evidence)
        }
        Verdict::Found(mut found) => {
            found.evidence.push(more);
            Verdict::Found(found)
        }
        Verdict::NotHere(why) => Verdict::NotHere(why),
    }
}
