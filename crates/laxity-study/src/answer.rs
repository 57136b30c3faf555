//! The results of a study, for other programs: what `laxity study FILE --json` prints.

use crate::{Conducted, Point, Study, Tally, Variable, guarantee_name, weighted_schedulability};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of this format (`schemas/study-schedulability.schema.json`).
const VERSION: u32 = 1;

/// The whole study.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
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
    /// Kinds of task sets.
    families: Vec<FamilyAnswer>,
}

/// Task sets of one kind.
#[derive(Serialize, JsonSchema)]
struct FamilyAnswer {
    /// What the matrix chose for it, by parameter.
    parameters: BTreeMap<String, String>,
    /// Curves for guarantees.
    series: Vec<SeriesAnswer>,
}

/// A curve for a guarantee.
#[derive(Serialize, JsonSchema)]
struct SeriesAnswer {
    /// What the curve is called.
    curve: String,
    /// Its scheduler.
    scheduler: String,
    /// What is proven: hard or soft.
    guarantee: &'static str,
    /// Weighted schedulability: the share of the utilization of all sets at the axis's unrefined values that is accepted; null if
    /// there is none.
    weighted: Option<f64>,
    /// Points, ascending.
    points: Vec<PointAnswer>,
}

/// A value of the axis.
#[derive(Serialize, JsonSchema)]
struct PointAnswer {
    /// n, U or m.
    value: f64,
    /// Sets that were judged.
    sets: u64,
    /// Sets that are proven schedulable.
    accepted: u64,
    /// Sets for which a test's steps were not enough; they are not accepted.
    out_of_work: u64,
    /// Sets to which no test applies; they are not accepted.
    not_applicable: u64,
    /// The mean of the number of tasks.
    mean_tasks: f64,
    /// The mean of the total utilization.
    mean_utilization: f64,
    /// Of the utilization of this point's sets, the share that is accepted; null if there is none.
    weighted: Option<f64>,
}

impl Answer {
    /// Of what a study has come to.
    pub fn of(study: &Study, conducted: &Conducted<Tally>) -> Answer {
        Answer {
            version: VERSION,
            name: study.name.clone(),
            title: study.title.clone(),
            complete: conducted.complete,
            seed: study.seed,
            sets: study.sets,
            axis: study.axis.variable,
            families: (0..study.families.len())
                .map(|family| FamilyAnswer::of(study, conducted, family))
                .collect(),
        }
    }
}

impl FamilyAnswer {
    fn of(study: &Study, conducted: &Conducted<Tally>, family: usize) -> FamilyAnswer {
        let points: Vec<(&Point, &Tally)> =
            conducted.points.iter().filter(|(point, _)| point.family == family).collect();
        let series = (0..study.series.len()).map(|series| SeriesAnswer::of(study, &points, series));
        FamilyAnswer { parameters: study.families[family].varied.clone(), series: series.collect() }
    }
}

impl SeriesAnswer {
    fn of(study: &Study, points: &[(&Point, &Tally)], series: usize) -> SeriesAnswer {
        let curve = &study.curves[study.series[series].curve];
        let on_grid = points.iter().filter(|(point, _)| study.axis.is_on_grid(point.value));
        let point = |(point, tally): &(&Point, &Tally)| PointAnswer {
            value: study.axis.position(point.value),
            sets: tally.sets,
            accepted: tally.counts[series].accepted,
            out_of_work: tally.counts[series].out_of_work,
            not_applicable: tally.counts[series].not_applicable,
            mean_tasks: tally.mean_tasks(),
            mean_utilization: tally.mean_utilization(),
            weighted: tally.weighted(series),
        };
        SeriesAnswer {
            curve: curve.name.clone(),
            scheduler: curve.scheduler.to_string(),
            guarantee: guarantee_name(study.series[series].guarantee),
            weighted: weighted_schedulability(on_grid.map(|(_, tally)| *tally), series),
            points: points.iter().map(point).collect(),
        }
    }
}

/// The JSON Schema (draft 2020-12) of answers; published as `schemas/study-schedulability.schema.json`.
pub fn answer_schema() -> Value {
    laxity_model::written_schema::<Answer>("study-schedulability", "laxity study of schedulability", VERSION)
}
