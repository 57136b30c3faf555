//! Overheads as tables.

use comfy_table::{CellAlignment, Table, presets};
use laxity_lab::overheads::{MachineOverheads, REAL_TIME, RunOverheads};
use laxity_model::{plural, shown};
use laxity_overheads::{Class, Overhead, POLICY_SAMPLES, Statistics, Summary};
use std::fmt::Write;

const HEADER: [&str; 9] =
    ["overhead (µs)", "class", "samples", "disturbed", "min", "mean", "median", "99 %", "max"];

/// What was recorded of a machine.
pub fn of_machine(found: &MachineOverheads) -> String {
    let seen = |&class: &Class| Some(format!("{} {}", found.threads_seen(class)?, class.name()));
    let seen: Vec<String> = REAL_TIME.iter().filter_map(seen).collect();
    let seen = if seen.is_empty() { "no real-time thread".to_owned() } else { seen.join(", ") };
    let scheduler = laxity_kernel::attached().map_or(String::new(), |name| format!("; attached: {name}"));
    let summary = &found.recorded.summary;
    format!(
        "Overheads on kernel {}, {}; threads seen: {seen}{scheduler}. Samples that an interrupt disturbed are counted only.\n\n{}",
        summary.kernel,
        plural(summary.cpus, "CPU"),
        of_summary(summary, None)
    )
}

/// The overheads of runs.
pub fn of_runs(all: &[RunOverheads]) -> String {
    let one = |overheads: &RunOverheads| {
        let class = Class::named(&overheads.class);
        format!(
            "\nOverheads of {} with {} ({}, {}; run {}; kernel {}). Samples that an interrupt disturbed are \
             counted only.\n\n{}",
            shown(&overheads.scheduler),
            shown(&overheads.set),
            plural(overheads.tasks, "task"),
            plural(overheads.cpus, "CPU"),
            overheads.run,
            shown(&overheads.recorded.kernel),
            of_summary(&overheads.recorded, class)
        )
    };
    all.iter().map(one).collect()
}

/// The summary as a table of µs, with what was not measured and what tracing costs below it. Of one class, or of all.
fn of_summary(summary: &Summary, class: Option<Class>) -> String {
    let shown: Vec<&Overhead> =
        summary.overheads.iter().filter(|o| class.is_none_or(|class| o.class == class.name())).collect();
    let mut text = match shown.is_empty() {
        true => "Nothing was sampled: no real-time thread was scheduled meanwhile.".to_owned(),
        false => table(&shown, class.is_none()),
    };
    text += "\n\n";
    text += &not_measured(summary, &shown, class);
    for overhead in shown.iter().filter(|o| o.statistics.disturbed > o.statistics.number) {
        let _ = writeln!(
            text,
            "mostly disturbed: {}: the few that were not may differ from the rest",
            overhead.kind
        );
    }
    text += &tracing(summary);
    let lost: u64 = summary.lost.iter().sum();
    if lost > 0 {
        let _ = writeln!(text, "lost: {lost} records found no place: their samples are missing above");
    }
    text
}

fn table(shown: &[&Overhead], classes: bool) -> String {
    let mut table = Table::new();
    let column = |at: usize| at != 1 || classes;
    let chosen = |cells: Vec<String>| {
        cells.into_iter().enumerate().filter(|(at, _)| column(*at)).map(|(_, cell)| cell).collect::<Vec<_>>()
    };
    table.load_style(presets::NOTHING).set_header(chosen(HEADER.map(str::to_owned).to_vec()));
    for overhead in shown {
        let told = &overhead.statistics;
        let number = [told.number, told.disturbed].map(|count| count.to_string());
        let lengths = [ns(told.min), us(told.mean), ns(told.p50), ns(told.p99), ns(told.max)];
        let words = [overhead.kind.clone(), overhead.class.clone()];
        table.add_row(chosen([&words[..], &number[..], &lengths[..]].concat()));
    }
    for column in table.column_iter_mut().skip(if classes { 2 } else { 1 }) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let lines = table.to_string();
    lines.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Quantities of which there is nothing because the kernel does not offer what they need, one line per reason.
fn not_measured(summary: &Summary, shown: &[&Overhead], class: Option<Class>) -> String {
    let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
    for missing in summary.missing.iter().filter(|missing| concerns(&missing.probe, class)) {
        let reason = missing.reason.split_once("': ").map_or(&missing.reason[..], |(_, reason)| reason);
        let sampled = |name: &String| shown.iter().any(|overhead| overhead.kind == *name);
        let mut what: Vec<String> =
            missing.quantities.iter().filter(|name| !sampled(name)).cloned().collect();
        if missing.quantities.is_empty() {
            what.push(format!("interrupts by {}", missing.probe));
        }
        let line = match lines.iter().position(|(known, _)| *known == reason) {
            Some(line) => line,
            None => {
                lines.push((reason, Vec::new()));
                lines.len() - 1
            }
        };
        what.retain(|name| !lines[line].1.contains(name));
        lines[line].1.extend(what);
    }
    let text =
        |(reason, what): (&str, Vec<String>)| format!("not measured: {} ({reason})\n", what.join(", "));
    lines.into_iter().filter(|(_, what)| !what.is_empty()).map(text).collect()
}

/// The kernel's functions of another class are nothing that is missing.
fn concerns(probe: &str, class: Option<Class>) -> bool {
    let of = |mark: &str| probe.ends_with(mark) || probe.contains(&format!("{mark}_"));
    let own = match class {
        None => return true,
        Some(Class::Deadline) => "_dl",
        Some(Class::FixedPriority) => "_rt",
        Some(Class::Ext) => "_scx",
        Some(Class::Other) => "",
    };
    let marks = ["_dl", "_rt", "_scx"];
    let foreign_policy =
        (probe.contains("kick_cpus") || probe == POLICY_SAMPLES) && class != Some(Class::Ext);
    !foreign_policy && !marks.into_iter().any(|mark| mark != own && of(mark))
}

fn tracing(summary: &Summary) -> String {
    let cost = &summary.tracing;
    let mut text = String::new();
    if let Some(Statistics { p50: Some(p50), max: Some(max), .. }) = &cost.empty_sample_ns {
        let _ = writeln!(
            text,
            "tracing: a sample of a function that does nothing is {p50} ns long (median; at most {max} ns), which every sample contains"
        );
    }
    if let Some(ns) = cost.probes_per_sample_ns {
        let _ = writeln!(text, "tracing: the probes ran {ns:.0} ns per sample");
    }
    if cost.probes_skipped > 0 {
        let _ = writeln!(
            text,
            "tracing: probes were skipped {}, each a sample at most",
            plural(cost.probes_skipped, "time")
        );
    }
    text
}

fn us(ns: Option<f64>) -> String {
    ns.map_or_else(|| "-".to_owned(), |ns| format!("{:.2}", ns / 1_000.0))
}

#[expect(clippy::cast_precision_loss, reason = "a number to be shown")]
fn ns(ns: Option<u64>) -> String {
    us(ns.map(|ns| ns as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_overheads::{Groups, Missing, OVERHEADS_SUMMARY_VERSION, Sample, SampleKind, TracingCost};

    fn summary() -> Summary {
        let mut groups = Groups::new(1);
        for (kind, class, duration_ns) in [
            (SampleKind::ReleaseLatency, Class::Deadline, 96_000),
            (SampleKind::ReleaseLatency, Class::Deadline, 160_000),
            (SampleKind::ReleaseLatency, Class::Ext, 1),
        ] {
            let (time_ns, cpu, disturbing) = (1_000, 1, 0);
            let (thread, task, job) = (Some(77), None, None);
            groups.add(&Sample { kind, class, time_ns, duration_ns, cpu, thread, task, job, disturbing });
        }
        let overhead = |(kind, class, group): (SampleKind, Class, &laxity_overheads::Group)| Overhead {
            kind: kind.name().to_owned(),
            class: class.name().to_owned(),
            statistics: group.statistics(),
        };
        Summary {
            version: OVERHEADS_SUMMARY_VERSION,
            kernel: "6.18.0".to_owned(),
            cpus: 2,
            duration_ns: 2_000_000_000,
            overheads: groups.iter().map(overhead).collect(),
            missing: vec![Missing {
                probe: "the function balance_scx".to_owned(),
                reason: "inlined".to_owned(),
                quantities: vec!["pull".to_owned()],
            }],
            tracing: TracingCost {
                empty_sample_ns: None,
                probes_per_sample_ns: Some(123.4),
                probe_runs: Some(9),
                probes_skipped: 1,
            },
            lost: vec![0, 3],
            interrupts: vec![5, 6],
            tuning: None,
        }
    }

    #[test]
    fn the_text_says_everything() {
        let text = of_summary(&summary(), None);
        for part in [
            "release-latency",
            "96.00",
            "160.00",
            "not measured: pull (inlined)",
            "123 ns per sample",
            "3 records",
            " ext ",
        ] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
        let deadline = of_summary(&summary(), Some(Class::Deadline));
        assert!(
            !deadline.contains(" ext ") && !deadline.contains("pull"),
            "balance_scx is sched_ext's:\n{deadline}"
        );
    }
}
