//! The results of a study by simulation, for other programs: what `laxity study FILE --json` prints.

use super::Simulations;
use crate::axis::Variable;
use crate::journal::{Point, Points};
use crate::metric::{Measure, Metric};
use crate::outline::Outline;
use crate::tally::{Kept, Tally};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of this format (`schemas/study-simulation.schema.json`).
const VERSION: u32 = 1;

/// The whole study.
#[derive(Serialize, JsonSchema)]
pub struct SimulationAnswer {
    /// Version of this format.
    version: u32,
    /// The study's name.
    name: String,
    /// Its title.
    title: String,
    /// Whether all points are finished.
    complete: bool,
    /// Seed of everything random.
    seed: u64,
    /// Task sets at every point.
    sets: u64,
    /// What varies.
    axis: Variable,
    /// How the sets were run; not there where they were simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunAnswer>,
    /// Kinds of task sets.
    families: Vec<FamilyAnswer>,
}

/// How sets were really run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunAnswer {
    /// The machine's processor.
    pub processor: String,
    /// Its kernel.
    pub kernel: String,
    /// The CPUs that were used.
    pub cpus: String,
    /// How long each run released jobs.
    pub duration: String,
    /// Runs of every set under every curve.
    pub repeat: u32,
}

/// Task sets of one kind.
#[derive(Serialize, JsonSchema)]
struct FamilyAnswer {
    /// What the matrix chose for it, by parameter.
    parameters: BTreeMap<String, String>,
    /// Ways to place and schedule.
    curves: Vec<CurveAnswer>,
}

/// A way to place and schedule.
#[derive(Serialize, JsonSchema)]
struct CurveAnswer {
    /// What the curve is called.
    curve: String,
    /// Its scheduler.
    scheduler: String,
    /// Points, ascending.
    points: Vec<PointAnswer>,
}

/// A value of the axis.
#[derive(Serialize, JsonSchema)]
struct PointAnswer {
    /// n, U, m or a ratio of WCETs.
    value: f64,
    /// Sets that were drawn.
    sets: u64,
    /// Sets that could be placed, or run: of these are the metrics.
    placed: u64,
    /// How many sets were not run, by reason; not there where they were simulated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    not_run: BTreeMap<String, u64>,
    /// How many sets were run without that a metric became known, by its name and the reason; not there where they were simulated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    not_measured: BTreeMap<String, BTreeMap<String, u64>>,
    /// The mean of the number of tasks; null of no sets.
    mean_tasks: Option<f64>,
    /// By name.
    metrics: BTreeMap<&'static str, MetricAnswer>,
}

/// A metric.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum MetricAnswer {
    /// One number of every set.
    Number {
        /// ratio, ns or number.
        unit: &'static str,
        /// Sets of which it is known.
        n: u64,
        /// Over these sets; null if there are none.
        mean: Option<f64>,
        /// Sample standard deviation; null if there are less than two.
        sd: Option<f64>,
        /// The least; null if there are none.
        min: Option<f64>,
        /// The greatest; null if there are none.
        max: Option<f64>,
    },
    /// Jobs by class, ascending.
    Histogram(Vec<ClassAnswer>),
}

/// A class of a histogram.
#[derive(Serialize, JsonSchema)]
struct ClassAnswer {
    /// What its jobs have in common.
    class: String,
    /// How many there are.
    jobs: u64,
}

impl SimulationAnswer {
    /// Of what a study has come to; `run` says how its sets were run, if they were not simulated.
    pub fn of(
        study: (&Outline, &Simulations),
        points: &Points,
        complete: bool,
        run: Option<RunAnswer>,
    ) -> SimulationAnswer {
        let (outline, simulations) = study;
        let family = |family: usize| FamilyAnswer {
            parameters: outline.families[family].varied.clone(),
            curves: (0..simulations.curves.len())
                .map(|curve| curve_answer(study, points, (family, curve)))
                .collect(),
        };
        SimulationAnswer {
            version: VERSION,
            name: outline.name.clone(),
            title: outline.title.clone(),
            complete,
            seed: outline.seed,
            sets: outline.sets,
            axis: outline.axis.variable,
            run,
            families: (0..outline.families.len()).map(family).collect(),
        }
    }
}

fn curve_answer(
    (outline, simulations): (&Outline, &Simulations),
    points: &Points,
    (family, curve): (usize, usize),
) -> CurveAnswer {
    let point = |(point, tally): (&Point, &Tally)| {
        let own = &tally.series[curve];
        let metrics = simulations.metrics.iter().zip(&own.metrics);
        PointAnswer {
            value: outline.axis.position(point.value),
            sets: own.sets,
            placed: own.placed,
            not_run: own.gaps.not_run.clone(),
            not_measured: own.gaps.not_measured.clone(),
            mean_tasks: own.mean_tasks(),
            metrics: metrics.map(|(metric, kept)| (metric.name, MetricAnswer::of(metric, kept))).collect(),
        }
    };
    CurveAnswer {
        curve: simulations.curves[curve].name.clone(),
        scheduler: simulations.curves[curve].scheduler_name.clone(),
        points: points.iter().filter(|(point, _)| point.family == family).map(point).collect(),
    }
}

impl MetricAnswer {
    fn of(metric: &Metric, kept: &Kept) -> MetricAnswer {
        match (metric.measure, kept) {
            (Measure::Number(unit, _), Kept::Number(moments)) => MetricAnswer::Number {
                unit: unit.name(),
                n: moments.count(),
                mean: moments.mean(unit),
                sd: moments.sd(unit),
                min: moments.range(unit).map(|(least, _)| least),
                max: moments.range(unit).map(|(_, most)| most),
            },
            (_, Kept::Histogram(jobs)) => {
                let classes = Metric::classes().into_iter().zip(jobs);
                MetricAnswer::Histogram(classes.map(|(class, &jobs)| ClassAnswer { class, jobs }).collect())
            }
            (Measure::Sets(_) | Measure::Histogram(_), Kept::Number(_)) | (_, Kept::Sets(_)) => {
                unreachable!("a metric of simulations is one or the other")
            }
        }
    }
}

/// The JSON Schema (draft 2020-12) of answers; published as `schemas/study-simulation.schema.json`.
pub fn simulation_answer_schema() -> Value {
    laxity_model::written_schema::<SimulationAnswer>(
        "study-simulation",
        "laxity study by simulation",
        VERSION,
    )
}
