//! All points of all curves of a schedulability study as a table.
//!
//! A row per family, guarantee, curve and value of the axis, in this order. The matrix's parameters are columns of the same names.

use super::{ACCEPTED, Curve, NOT_APPLICABLE, OUT_OF_WORK, Proofs, guarantee_name};
use crate::journal::{Point, Points};
use crate::outline::Outline;
use crate::table::{Table, Values, varied_columns};
use crate::tally::SeriesTally;

/// One row, before it is taken apart.
struct Row<'a> {
    outline: &'a Outline,
    proofs: &'a Proofs,
    point: Point,
    series: usize,
    tally: &'a SeriesTally,
}

impl Row<'_> {
    fn curve(&self) -> &Curve {
        &self.proofs.curves[self.proofs.series[self.series].curve]
    }
}

type Word = fn(&Row<'_>) -> String;
type Whole = fn(&Row<'_>) -> u64;
type Real = fn(&Row<'_>) -> Option<f64>;

const WORDS: &[(&str, Word)] = &[
    ("guarantee", |row| guarantee_name(row.proofs.series[row.series].guarantee).to_owned()),
    ("curve", |row| row.curve().name.clone()),
    ("scheduler", |row| row.curve().scheduler.to_string()),
    ("axis", |row| row.outline.axis.variable.name().to_owned()),
];

const WHOLE: &[(&str, Whole)] = &[
    ("sets", |row| row.tally.sets),
    ("accepted", |row| row.tally.count(ACCEPTED)),
    ("out_of_work", |row| row.tally.count(OUT_OF_WORK)),
    ("not_applicable", |row| row.tally.count(NOT_APPLICABLE)),
];

const REAL: &[(&str, Real)] = &[
    ("acceptance", |row| row.tally.share(ACCEPTED)),
    ("mean_tasks", |row| row.tally.mean_tasks()),
    ("mean_utilization", |row| row.tally.mean_utilization()),
    ("weighted", |row| row.tally.weighted(ACCEPTED)),
];

/// Of the points of a study.
pub fn table((outline, proofs): (&Outline, &Proofs), points: &Points) -> Table {
    let mut rows = Vec::new();
    for family in 0..outline.families.len() {
        for series in 0..proofs.series.len() {
            let own = points.iter().filter(|(point, _)| point.family == family);
            rows.extend(own.map(|(&point, tally)| Row {
                outline,
                proofs,
                point,
                series,
                tally: &tally.series[series],
            }));
        }
    }
    let mut columns = varied_columns(&outline.families, rows.iter().map(|row| row.point.family));
    let add = |name: &str, values| (name.to_owned(), values);
    columns.extend(WORDS.iter().map(|(name, of)| add(name, Values::Words(rows.iter().map(of).collect()))));
    let value = |row: &Row<'_>| Some(outline.axis.position(row.point.value));
    columns.push(add("value", Values::Real(rows.iter().map(value).collect())));
    let whole = |number: u64| i64::try_from(number).expect("counts of at most a million sets");
    columns.extend(
        WHOLE
            .iter()
            .map(|(name, of)| add(name, Values::Whole(rows.iter().map(|row| whole(of(row))).collect()))),
    );
    columns.extend(REAL.iter().map(|(name, of)| add(name, Values::Real(rows.iter().map(of).collect()))));
    Table::of_columns(columns, rows.len())
}
