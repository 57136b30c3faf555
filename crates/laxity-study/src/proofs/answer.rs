//! The results of a study, for other programs: what `laxity study FILE --json` prints.

use super::{ACCEPTED, NOT_APPLICABLE, OUT_OF_WORK, Proofs, guarantee_name};
use crate::axis::Variable;
use crate::journal::{Point, Points};
use crate::outline::Outline;
use crate::tally::{SeriesTally, weighted_schedulability};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of this format (`schemas/study-schedulability.schema.json`).
const VERSION: u32 = 1;

/// The whole study.
#[derive(Serialize, JsonSchema)]
pub struct ProofsAnswer {
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
    /// The mean of the number of tasks; null of no sets.
    mean_tasks: Option<f64>,
    /// The mean of the total utilization; null of no sets.
    mean_utilization: Option<f64>,
    /// Of the utilization of this point's sets, the share that is accepted; null if there is none.
    weighted: Option<f64>,
}

impl ProofsAnswer {
    /// Of what a study has come to.
    pub fn of((outline, proofs): (&Outline, &Proofs), points: &Points, complete: bool) -> ProofsAnswer {
        let family = |family: usize| {
            let of_series = |series| SeriesAnswer::of((outline, proofs), points, (family, series));
            FamilyAnswer {
                parameters: outline.families[family].varied.clone(),
                series: (0..proofs.series.len()).map(of_series).collect(),
            }
        };
        ProofsAnswer {
            version: VERSION,
            name: outline.name.clone(),
            title: outline.title.clone(),
            complete,
            seed: outline.seed,
            sets: outline.sets,
            axis: outline.axis.variable,
            families: (0..outline.families.len()).map(family).collect(),
        }
    }
}

impl SeriesAnswer {
    fn of(
        (outline, proofs): (&Outline, &Proofs),
        points: &Points,
        (family, series): (usize, usize),
    ) -> SeriesAnswer {
        let curve = &proofs.curves[proofs.series[series].curve];
        let own = || {
            let of_family = points.iter().filter(move |(point, _)| point.family == family);
            of_family.map(move |(point, tally)| (point, &tally.series[series]))
        };
        let on_grid = own().filter(|(point, _)| outline.axis.is_on_grid(point.value));
        let point = |(point, own): (&Point, &SeriesTally)| PointAnswer {
            value: outline.axis.position(point.value),
            sets: own.sets,
            accepted: own.count(ACCEPTED),
            out_of_work: own.count(OUT_OF_WORK),
            not_applicable: own.count(NOT_APPLICABLE),
            mean_tasks: own.mean_tasks(),
            mean_utilization: own.mean_utilization(),
            weighted: own.weighted(ACCEPTED),
        };
        SeriesAnswer {
            curve: curve.name.clone(),
            scheduler: curve.scheduler.to_string(),
            guarantee: guarantee_name(proofs.series[series].guarantee),
            weighted: weighted_schedulability(on_grid.map(|(_, own)| own), ACCEPTED),
            points: own().map(point).collect(),
        }
    }
}

/// The JSON Schema (draft 2020-12) of answers; published as `schemas/study-schedulability.schema.json`.
pub fn proofs_answer_schema() -> Value {
    laxity_model::written_schema::<ProofsAnswer>(
        "study-schedulability",
        "laxity study of schedulability",
        VERSION,
    )
}
