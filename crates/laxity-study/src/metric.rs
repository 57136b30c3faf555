//! What is measured of the sets of a point: names, units, and how a number is kept.
//!
//! Each back end lists its metrics: `proofs/metrics.rs`, `simulations/metrics.rs` and `runs/metrics.rs`. To add one: a line there.

use crate::outcomes::{SetOutcome, Simulated};
use laxity_trace::TardinessHistogram;

/// What a metric's numbers are, and how finely they are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A ratio; kept in billionths.
    Ratio,
    /// A time in ns; kept in whole ns.
    Nanoseconds,
    /// A number of things; kept in millionths.
    Number,
}

/// How a metric is measured.
#[derive(Debug, Clone, Copy)]
pub enum Measure {
    /// Whether something holds of a set, of which the sets and their utilization are counted.
    Sets(fn(SetOutcome) -> bool),
    /// One number of every set, of which means and standard deviations are shown; nothing where it is not known.
    Number(Unit, fn(&Simulated) -> Option<f64>),
    /// Jobs by class, which are added up: classes as above and up to, in ns; the last are those that did not end.
    Histogram(fn(&Simulated) -> Vec<u64>),
}

/// Where it is said why runs do not know a metric of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// No run has it: it is of proofs or of simulations only.
    NotOfRuns,
    /// With the first of these columns of jobs that was not measured.
    Columns(&'static [&'static str]),
    /// With that metric of the runs.
    Summary(&'static str),
    /// With that metric of the runs; if the set was not run under the first curve, which it is relative to, that is why.
    OfFirstCurve(&'static str),
    /// With the overheads of the runs.
    Overheads,
    /// In these words.
    Words(&'static str),
}

/// A metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name in files.
    pub name: &'static str,
    /// What it is called on figures.
    pub title: &'static str,
    /// One line on what it is.
    pub description: &'static str,
    /// How it is measured.
    pub measure: Measure,
    /// Where it is said why it is not known of a set that was run.
    pub unknown: Unknown,
}

impl Metric {
    /// The classes of a histogram, in words: ascending, and what did not end.
    pub fn classes() -> Vec<String> {
        let ms = |ns: u64| ns / 1_000_000;
        let word = |(above, end): (Option<u64>, Option<u64>)| match (above, end) {
            (None, _) => "none".to_owned(),
            (Some(above), Some(end)) => format!("{} to {} ms", ms(above), ms(end)),
            (Some(above), None) => format!("above {} ms", ms(above)),
        };
        TardinessHistogram::classes().map(word).chain(["did not end".to_owned()]).collect()
    }
}

/// No number that is kept is farther from 0 than this: squares of a million of them can be added.
const MOST: i64 = 1_000_000_000_000_000;

impl Unit {
    /// As in tables.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ratio => "ratio",
            Unit::Nanoseconds => "ns",
            Unit::Number => "number",
        }
    }

    /// What is kept of 1.
    pub(crate) fn resolution(self) -> f64 {
        match self {
            Unit::Ratio => 1e9,
            Unit::Nanoseconds => 1.0,
            Unit::Number => 1e6,
        }
    }

    /// What is kept of a number: to the nearest, at most 10^15 in size (11 days, a million, a thousand million).
    #[expect(clippy::cast_possible_truncation, reason = "clamped")]
    #[expect(clippy::cast_precision_loss, reason = "10^15 is exact")]
    pub(crate) fn kept(self, number: f64) -> i64 {
        (number * self.resolution()).round().clamp(-(MOST as f64), MOST as f64) as i64
    }
}
