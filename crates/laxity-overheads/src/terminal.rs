//! A summary as text.

use crate::recorder::POLICY_SAMPLES;
use crate::sample::Class;
use crate::statistics::Statistics;
use crate::summary::{Overhead, Summary};
use comfy_table::{CellAlignment, Table, presets};
use laxity_model::plural;
use std::fmt::Write;

const HEADER: [&str; 9] =
    ["overhead (µs)", "class", "samples", "disturbed", "min", "mean", "median", "99 %", "max"];

/// The summary as a table of µs, with what was not measured and what tracing costs below it. Of one class, or of all.
pub fn terminal(summary: &Summary, class: Option<Class>) -> String {
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
