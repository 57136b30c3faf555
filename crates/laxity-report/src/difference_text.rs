//! The difference between two results directories, as text.

use crate::number::{self, NOT_AVAILABLE};
use crate::recommend::{ConfigurationDifference, Difference, DifferenceVerdict, Metric, MetricDifference};
use crate::table::{Column, Field, Table, Tone};
use crate::terminal::{self, TextStyle};
use laxity_model::listed;

impl Difference {
    /// The answer, the table behind it, and what a reader should know.
    pub fn text(&self, style: TextStyle) -> String {
        let mut out = terminal::bold(&format!("{}.", self.headline()), style) + "\n\n";
        out += &format!("{}\n", terminal::table(&self.table(), style));
        let notes: Vec<String> =
            self.notes.iter().map(|note| terminal::wrapped(note, "  - ", style)).collect();
        out + &notes.concat()
    }

    /// The answer in a sentence without its full stop.
    fn headline(&self) -> String {
        let changed = |wanted| -> Vec<String> {
            let of = |one: &ConfigurationDifference| {
                let metrics = one.metrics.iter().filter(|of| of.verdict == wanted);
                let words: Vec<String> = metrics.map(MetricDifference::words).collect();
                (!words.is_empty()).then(|| format!("{} ({})", one.label, words.join("; ")))
            };
            self.configurations.iter().filter_map(of).collect()
        };
        let [worse, better] = [DifferenceVerdict::Worse, DifferenceVerdict::Better].map(changed);
        let mut parts = Vec::new();
        parts.extend((!worse.is_empty()).then(|| format!("worse: {}", listed(worse))));
        parts.extend((!better.is_empty()).then(|| format!("better: {}", listed(better))));
        match parts.join("; ") {
            none if none.is_empty() => "No difference beyond noise".to_owned(),
            some => some[..1].to_uppercase() + &some[1..],
        }
    }

    fn table(&self) -> Table {
        let caption = format!(
            "{}, first and second results",
            match &self.task_sets[..] {
                [one] => format!("Task set {one}"),
                several => number::counted(several.len(), "task set"),
            }
        );
        let mut columns = vec![Column::text("Scheduler"), Column::number("Pairs")];
        for metric in [Metric::MissesPerRun, Metric::TardinessNs, Metric::NormalizedLaxity] {
            let heading = match metric {
                Metric::MissesPerRun => "Missed per run",
                Metric::TardinessNs => "Max. tardiness",
                Metric::NormalizedLaxity => "Norm. laxity",
            };
            columns.extend(["first", "second"].map(|side| Column::grouped(heading, side)));
        }
        Table {
            caption,
            columns,
            rows: self.configurations.iter().map(row).collect(),
            notes: vec![
                "Pairs: runs of the same jobs, one of each. Differences beyond their noise: + better, - worse. Maximum \
                 tardiness is compared where every run has misses."
                    .to_owned(),
            ],
        }
    }
}

fn row(one: &ConfigurationDifference) -> Vec<Field> {
    let mut row: Vec<Field> = vec![one.label.clone().into(), one.pairs.to_string().into()];
    for metric in [Metric::MissesPerRun, Metric::TardinessNs, Metric::NormalizedLaxity] {
        let of = one.metrics.iter().find(|of| of.metric == metric);
        let value = |value: Option<f64>| value.map_or(NOT_AVAILABLE.to_owned(), |value| metric.show(value));
        let (mark, tone) = match of.map(|of| of.verdict) {
            Some(DifferenceVerdict::Better) => (" +", Tone::Good),
            Some(DifferenceVerdict::Worse) => (" -", Tone::Bad),
            _ => ("", Tone::Plain),
        };
        row.push(value(of.and_then(|of| of.before)).into());
        row.push(Field::toned(value(of.and_then(|of| of.after)) + mark, tone));
    }
    row
}

impl MetricDifference {
    fn words(&self) -> String {
        let what = match self.metric {
            Metric::MissesPerRun => "missed per run",
            Metric::TardinessNs => "maximum tardiness",
            Metric::NormalizedLaxity => "mean normalized laxity",
        };
        let [before, after] = [self.before, self.after]
            .map(|value| value.map_or(NOT_AVAILABLE.to_owned(), |value| self.metric.show(value)));
        format!("{what} {before}, then {after}")
    }
}

impl Metric {
    fn show(self, value: f64) -> String {
        match self {
            Metric::MissesPerRun => number::jobs(value),
            Metric::TardinessNs => number::span(value),
            Metric::NormalizedLaxity => number::significant(value),
        }
    }
}
