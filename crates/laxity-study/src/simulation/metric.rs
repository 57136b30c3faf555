//! What is measured of a simulation: the only place where a study's metrics are listed.
//!
//! To add one: a line in [`METRICS`]. What it is computed from is a [`Simulated`], whose own values are computed by `laxity-trace`.

use super::counted::Counted;
use laxity_generate::Decimal;
use laxity_model::{Names, Result};
use laxity_sim::BackgroundSummary;
use laxity_trace::{Efficiency, RunSummary, TardinessHistogram};

/// One set, placed and simulated under one curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// The metrics of the run.
    pub summary: RunSummary,
    /// Its jobs by tardiness.
    pub tardiness: TardinessHistogram,
    /// How efficiently its jobs ran.
    pub efficiency: Efficiency,
    /// How long an access takes with warm caches, in ps, where the costs say so.
    pub access_ps: Option<u64>,
    /// Counts and times of the background tasks.
    pub ordinary: BackgroundSummary,
    /// How many real-time tasks were admitted, and how many asked.
    pub admitted: (u64, u64),
    /// The IPC of jobs with warm caches; 1 where the costs do not say.
    pub base_ipc: Decimal,
    /// What was counted of its jobs, where it was run and not simulated.
    pub counted: Counted,
}

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
    /// One number of every set, of which means and standard deviations are shown; nothing where it is not known.
    Number(Unit, fn(&Simulated) -> Option<f64>),
    /// Jobs by class, which are added up: classes as above and up to, in ns; the last are those that did not end.
    Histogram(fn(&Simulated) -> Vec<u64>),
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
}

/// All metrics.
pub static METRICS: [Metric; 10] = [
    Metric {
        name: "ipc",
        title: "instructions per cycle",
        description: "the IPC with warm caches (`ipc` of the costs; 1) times demand by CPU time (lindsay2012, 6.2.1)",
        measure: Measure::Number(Unit::Ratio, |one| {
            let relative = one.efficiency.relative_ipc()?;
            Some(shown(relative) * one.base_ipc.to_f64())
        }),
    },
    Metric {
        name: "llc-miss-rate",
        title: "LLC miss rate",
        description: "lines from beyond all caches by lines walked, one every `access` of the costs; at most 1 (lindsay2012, 6.2.2)",
        measure: Measure::Number(Unit::Ratio, |one| one.efficiency.llc_miss_rate(one.access_ps?).map(shown)),
    },
    Metric {
        name: "dsr",
        title: "deadline satisfaction ratio",
        description: "deadlines met by jobs (lindsay2012, 6.2.3)",
        measure: Measure::Number(Unit::Ratio, |one| one.summary.deadline_satisfaction),
    },
    Metric {
        name: "max-tardiness",
        title: "maximum tardiness",
        description: "the longest tardiness of a completed job",
        measure: Measure::Number(Unit::Nanoseconds, |one| {
            #[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
            one.summary.tardiness_ns.map(|tardiness| tardiness.max as f64)
        }),
    },
    Metric {
        name: "mean-max-tardiness",
        title: "mean maximum tardiness",
        description: "the mean over tasks of the longest tardiness of a completed job",
        measure: Measure::Number(Unit::Nanoseconds, |one| {
            one.summary.tardiness_ns.map(|tardiness| tardiness.mean_of_task_maxima)
        }),
    },
    Metric {
        name: "tardiness-histogram",
        title: "jobs by tardiness",
        description: "how many jobs were how late, and how many did not end (lindsay2012, Figure 6.27)",
        measure: Measure::Histogram(|one| {
            one.tardiness.completed().iter().copied().chain([one.tardiness.unfinished()]).collect()
        }),
    },
    Metric {
        name: "migrations",
        title: "migrations per task",
        description: "migrations by the number of tasks (lelli2012, Table 2)",
        measure: Measure::Number(Unit::Number, |one| one.summary.rates.migration_rate),
    },
    Metric {
        name: "admitted",
        title: "admitted real-time tasks",
        description: "real-time tasks that were admitted by those that asked (calandrino2007, 5.1)",
        measure: Measure::Number(Unit::Ratio, |one| {
            let (admitted, asked) = one.admitted;
            (asked > 0).then(|| shown((admitted.into(), asked.into())))
        }),
    },
    Metric {
        name: "nrt-rt",
        title: "%NRT-RT",
        description: "share of the time in which background tasks ran or were ready that they ran, in percent (calandrino2007, 5.1)",
        measure: Measure::Number(Unit::Number, |one| one.ordinary.run_percentage()),
    },
    Metric {
        name: "late-tardiness",
        title: "tardiness of late jobs",
        description: "the mean tardiness of the jobs that completed late (calandrino2007, Table 1)",
        measure: Measure::Number(Unit::Nanoseconds, |one| one.tardiness.mean_of_late_ns()),
    },
];

#[expect(clippy::cast_precision_loss, reason = "to be shown")]
fn shown((part, whole): (u128, u128)) -> f64 {
    part as f64 / whole as f64
}

impl Metric {
    /// The metric with this name.
    ///
    /// # Errors
    ///
    /// There is none with this name.
    pub fn named(name: &str) -> Result<&'static Metric> {
        METRICS.iter().find(|metric| metric.name == name).ok_or_else(|| {
            let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
            Names::of("metric", &known).listed_by("laxity list metrics").unknown(name)
        })
    }

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
