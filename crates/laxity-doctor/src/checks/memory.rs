//! What makes memory slow at times.

use super::{chosen, costing, number};
use crate::evidence::Evidence;
use crate::host::Host;
use crate::remedy::{Remedy, quoted};
use crate::verdict::{Check, Judged, Severity, Verdict};

const HUGE: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const DEFRAG: &str = "/sys/kernel/mm/transparent_hugepage/defrag";
/// Linux swaps anonymous memory sooner above this, although there is memory.
const SWAPPINESS_MAX: i64 = 10;

/// Events of /proc/vmstat that are the cost of findings, with words for them.
const SWAPPED: &[(&str, &str)] = &[("pswpin", "pages swapped in"), ("pswpout", "pages swapped out")];
const SWAPPED_OUT: &[(&str, &str)] = &[("pswpout", "pages swapped out")];
const HUGE_PAGES: &[(&str, &str)] =
    &[("thp_fault_alloc", "huge pages at first accesses"), ("thp_collapse_alloc", "made by khugepaged")];
const COMPACTED: &[(&str, &str)] = &[("compact_stall", "allocations that waited for compaction")];
const COPIED: &[(&str, &str)] = &[("cow_ksm", "copies of merged pages")];
const BALANCED: &[(&str, &str)] =
    &[("numa_hint_faults", "page faults of the balancing"), ("numa_pages_migrated", "pages moved by it")];
const MOVED: &[(&str, &str)] = &[("pgmigrate_success", "pages moved, for compaction or another reason")];

pub const CHECKS: &[Check] = &[
    Check {
        name: "swap",
        severity: Severity::Moderate,
        rule: "a swap area other than zram is in use",
        why: "memory that is not locked can be swapped out; the page fault that brings it back takes milliseconds on a disk",
        judge: |host| costing(swap(host), || host.memory_events(SWAPPED)),
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
            let judged = number(
                host,
                "/proc/sys/vm/swappiness",
                |value| value <= SWAPPINESS_MAX,
                "10",
                |value| format!("memory is swapped out early (swappiness {value})"),
            );
            costing(judged, || host.memory_events(SWAPPED_OUT))
        },
    },
    Check {
        name: "huge-pages",
        severity: Severity::Moderate,
        rule: "transparent huge pages are `always`",
        why: "a first access may have to clear 2 MiB at once (some 100 us), and khugepaged replaces pages of running tasks, whose \
              accesses wait meanwhile",
        judge: |host| costing(huge_pages(host), || host.memory_events(HUGE_PAGES)),
    },
    Check {
        name: "huge-page-defrag",
        severity: Severity::Moderate,
        rule: "transparent huge pages are not `never`, and their defrag is `always`",
        why: "a first access waits until memory was compacted for a huge page, for milliseconds",
        judge: |host| costing(defrag(host), || host.memory_events(COMPACTED)),
    },
    Check {
        name: "ksm",
        severity: Severity::Moderate,
        rule: "ksm/run is 1",
        why: "equal pages are merged: a write to one is a page fault that copies it; the scanning takes CPU time in bursts",
        judge: |host| {
            let judged = number(
                host,
                "/sys/kernel/mm/ksm/run",
                |run| run != 1,
                "0",
                |_| "equal pages are merged".to_owned(),
            );
            costing(judged, || host.memory_events(COPIED))
        },
    },
    Check {
        name: "numa-balancing",
        severity: Severity::Moderate,
        rule: "the machine has more than one memory node, and numa_balancing is not 0",
        why: "pages of running tasks are unmapped at times to see which node uses them: page faults, and pages that move",
        judge: |host| costing(numa_balancing(host), || host.memory_events(BALANCED)),
    },
    Check {
        name: "locked-compaction",
        severity: Severity::Moderate,
        rule: "compact_unevictable_allowed is 1",
        why: "locked pages are moved when memory is compacted; a task that touches one meanwhile waits (Linux's default is 0 only \
              under PREEMPT_RT)",
        judge: |host| {
            let judged = number(
                host,
                "/proc/sys/vm/compact_unevictable_allowed",
                |allowed| allowed == 0,
                "0",
                |_| "compaction may move locked pages".to_owned(),
            );
            costing(judged, || host.memory_events(MOVED))
        },
    },
    Check {
        name: "proactive-compaction",
        severity: Severity::Minor,
        rule: "compaction_proactiveness is above 0",
        why: "kcompactd moves pages in the background before memory is asked for; a task that touches one meanwhile waits",
        judge: |host| {
            let judged = number(
                host,
                "/proc/sys/vm/compaction_proactiveness",
                |value| value == 0,
                "0",
                |value| format!("memory is compacted in the background (proactiveness {value})"),
            );
            costing(judged, || host.memory_events(MOVED))
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
    let all: Vec<Area> = areas.text.lines().skip(1).filter_map(Area::parse).collect();
    let names = |all: &[&Area]| all.iter().map(|area| area.name.as_str()).collect::<Vec<_>>().join(", ");
    let slow: Vec<&Area> = all.iter().filter(|area| !area.name.starts_with("/dev/zram")).collect();
    if slow.is_empty() {
        let said = if all.is_empty() { "none".to_owned() } else { names(&all.iter().collect::<Vec<_>>()) };
        return Verdict::fine(vec![areas.says(said)]);
    }
    let what = format!("memory can be swapped out to {}", names(&slow));
    let remedy = Remedy::commands(
        slow.iter().map(|area| format!("sudo swapoff {}", quoted(&area.name))).collect(),
        slow.iter().map(|area| area.swapon()).collect(),
    );
    Verdict::found(what, vec![areas.says(names(&slow))], remedy)
}

/// A swap area that is in use.
struct Area {
    name: String,
    /// Negative: the kernel's choice.
    priority: i32,
}

impl Area {
    /// A line of /proc/swaps: name, type, size, used, priority.
    fn parse(line: &str) -> Option<Area> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let priority = words.get(4).and_then(|word| word.parse().ok()).unwrap_or(-1);
        Some(Area { name: unescaped(words.first()?), priority })
    }

    /// What puts it into use again, as it is now.
    fn swapon(&self) -> String {
        let priority = if self.priority < 0 { String::new() } else { format!("-p {} ", self.priority) };
        format!("sudo swapon {priority}{}", quoted(&self.name))
    }
}

/// A name in which the kernel writes blanks and backslashes as octal numbers: `\\040`.
fn unescaped(name: &str) -> String {
    let mut parts = name.split('\\');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|code| u8::from_str_radix(code, 8).ok());
        match code {
            Some(code) => {
                whole.push(char::from(code));
                whole.push_str(&part[3..]);
            }
            None => {
                whole.push('\\');
                whole.push_str(part);
            }
        }
    }
    whole
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_area_comes_back_as_it_was() {
        let back = |line: &str| Area::parse(line).map(|area| area.swapon());
        assert_eq!(back("/dev/sda2 partition 8 0 -2").as_deref(), Some("sudo swapon /dev/sda2"));
        assert_eq!(back("/my\\040swap file 8 0 5").as_deref(), Some("sudo swapon -p 5 '/my swap'"));
        assert_eq!(unescaped("/a\\x"), "/a\\x");
        assert!(Area::parse("").is_none());
    }
}
