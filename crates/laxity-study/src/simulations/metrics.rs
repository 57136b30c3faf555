//! What is measured of a simulation: the only place where these metrics are listed.
//!
//! To add one: a line in [`METRICS`]. What it is computed from is a [`Simulated`], whose own values are computed by `laxity-trace`.

use crate::metric::{Measure, Metric, Unit, Unknown};
use crate::outcomes::Simulated;
use crate::tally::Value;
use laxity_model::{Names, Result};

/// All metrics.
pub static METRICS: &[Metric] = &[
    Metric {
        name: "ipc",
        title: "instructions per cycle",
        description: "the IPC with warm caches (`ipc` of the costs; 1) times demand by CPU time (lindsay2012, 6.2.1)",
        measure: Measure::Number(Unit::Ratio, |one| {
            let relative = one.efficiency.relative_ipc()?;
            Some(shown(relative) * one.base_ipc.to_f64())
        }),
        unknown: Unknown::NotOfRuns,
    },
    Metric {
        name: "llc-miss-rate",
        title: "LLC miss rate",
        description: "lines from beyond all caches by lines walked, one every `access` of the costs; at most 1 (lindsay2012, 6.2.2)",
        measure: Measure::Number(Unit::Ratio, |one| one.efficiency.llc_miss_rate(one.access_ps?).map(shown)),
        unknown: Unknown::NotOfRuns,
    },
    Metric {
        name: "dsr",
        title: "deadline satisfaction ratio",
        description: "deadlines met by jobs (lindsay2012, 6.2.3)",
        measure: Measure::Number(Unit::Ratio, |one| one.summary.deadline_satisfaction),
        unknown: Unknown::Summary("deadline_satisfaction"),
    },
    Metric {
        name: "max-tardiness",
        title: "maximum tardiness",
        description: "the longest tardiness of a completed job",
        measure: Measure::Number(Unit::Nanoseconds, |one| {
            #[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
            one.summary.tardiness_ns.map(|tardiness| tardiness.max as f64)
        }),
        unknown: Unknown::Summary("tardiness_ns"),
    },
    Metric {
        name: "mean-max-tardiness",
        title: "mean maximum tardiness",
        description: "the mean over tasks of the longest tardiness of a completed job",
        measure: Measure::Number(Unit::Nanoseconds, |one| {
            one.summary.tardiness_ns.map(|tardiness| tardiness.mean_of_task_maxima)
        }),
        unknown: Unknown::Summary("tardiness_ns"),
    },
    Metric {
        name: "tardiness-histogram",
        title: "jobs by tardiness",
        description: "how many jobs were how late, and how many did not end (lindsay2012, Figure 6.27)",
        measure: Measure::Histogram(|one| {
            one.tardiness.completed().iter().copied().chain([one.tardiness.unfinished()]).collect()
        }),
        unknown: Unknown::Summary("tardiness_ns"),
    },
    Metric {
        name: "migrations",
        title: "migrations per task",
        description: "migrations by the number of tasks (lelli2012, Table 2)",
        measure: Measure::Number(Unit::Number, |one| one.summary.rates.migration_rate),
        unknown: Unknown::Summary("migration_rate"),
    },
    Metric {
        name: "admitted",
        title: "admitted real-time tasks",
        description: "real-time tasks that were admitted by those that asked (calandrino2007, 5.1)",
        measure: Measure::Number(Unit::Ratio, |one| {
            let (admitted, asked) = one.admitted;
            (asked > 0).then(|| shown((admitted.into(), asked.into())))
        }),
        unknown: Unknown::NotOfRuns,
    },
    Metric {
        name: "nrt-rt",
        title: "%NRT-RT",
        description: "share of the time in which background tasks ran or were ready that they ran, in percent (calandrino2007, 5.1)",
        measure: Measure::Number(Unit::Number, |one| one.ordinary.run_percentage()),
        unknown: Unknown::NotOfRuns,
    },
    Metric {
        name: "late-tardiness",
        title: "tardiness of late jobs",
        description: "the mean tardiness of the jobs that completed late (calandrino2007, Table 1)",
        measure: Measure::Number(Unit::Nanoseconds, |one| one.tardiness.mean_of_late_ns()),
        unknown: Unknown::Words("not in every repetition was a job late"),
    },
];

/// The metric of simulations with this name.
///
/// # Errors
///
/// There is none with this name.
pub(super) fn named(name: &str) -> Result<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name).ok_or_else(|| {
        let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        Names::of("metric", &known).listed_by("laxity list metrics").unknown(name)
    })
}

/// What a metric is of a set that was simulated, or run.
pub(crate) fn value_of(metric: &Metric, simulated: &Simulated) -> Value {
    match metric.measure {
        Measure::Number(unit, of) => Value::Number(of(simulated).map(|number| unit.kept(number))),
        Measure::Histogram(of) => Value::Histogram(of(simulated)),
        Measure::Sets(_) => unreachable!("`{}` is of proofs", metric.name),
    }
}

#[expect(clippy::cast_precision_loss, reason = "to be shown")]
fn shown((part, whole): (u128, u128)) -> f64 {
    part as f64 / whole as f64
}
