//! A summary as text.

use crate::statistics::Statistics;
use crate::summary::Summary;
use comfy_table::{CellAlignment, Table, presets};
use std::fmt::Write;

const HEADER: [&str; 11] =
    ["overhead", "class", "samples", "disturbed", "mean", "sd", "p50", "p90", "p99", "p99.9", "max"];

/// The summary as a table of µs, with what was not measured and what tracing costs below it.
pub fn terminal(summary: &Summary) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(HEADER);
    for overhead in &summary.overheads {
        let told = &overhead.statistics;
        let ranks = [told.p50, told.p90, told.p99, told.p99_9, told.max].map(ns);
        let mut row = vec![
            overhead.kind.clone(),
            overhead.class.clone(),
            told.number.to_string(),
            told.disturbed.to_string(),
            us(told.mean),
            us(told.sd),
        ];
        row.extend(ranks);
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!(
        "Overheads in µs, kernel {}, {} CPUs. Samples that an interrupt disturbed are counted only.\n\n{table}\n\n",
        summary.kernel, summary.cpus
    );
    for missing in &summary.missing {
        let what = match &missing.quantities[..] {
            [] => "its interrupts are not counted".to_owned(),
            quantities => format!("no or fewer samples of {}", quantities.join(", ")),
        };
        let _ = writeln!(text, "not measured: {} ({}): {what}", missing.probe, missing.reason);
    }
    for overhead in summary.overheads.iter().filter(|o| o.statistics.disturbed > o.statistics.number) {
        let (kind, class) = (&overhead.kind, &overhead.class);
        let _ = writeln!(
            text,
            "mostly disturbed: {kind} ({class}): the few that were not may differ from the rest"
        );
    }
    text += &tracing(summary);
    let lost: u64 = summary.lost.iter().sum();
    if lost > 0 {
        let _ = writeln!(text, "lost: {lost} records found no place: their samples are missing above");
    }
    text
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
            "tracing: probes were skipped {} times, each a sample at most",
            cost.probes_skipped
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
