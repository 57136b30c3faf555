//! All points of all curves of a schedulability study as a table.
//!
//! A row per family, guarantee, curve and value of the axis, in this order. The matrix's parameters are columns of the same names.

use crate::curve::guarantee_name;
use crate::table::{Table, Values, varied_columns};
use crate::{Point, Points, Study, Tally};

/// One row, before it is taken apart.
struct Row<'a> {
    study: &'a Study,
    point: Point,
    series: usize,
    tally: &'a Tally,
}

impl Row<'_> {
    fn curve(&self) -> &crate::Curve {
        &self.study.curves[self.study.series[self.series].curve]
    }

    fn count(&self) -> &crate::Count {
        &self.tally.counts[self.series]
    }
}

type Word = fn(&Row<'_>) -> String;
type Whole = fn(&Row<'_>) -> u64;
type Real = fn(&Row<'_>) -> Option<f64>;

const WORDS: [(&str, Word); 4] = [
    ("guarantee", |row| guarantee_name(row.study.series[row.series].guarantee).to_owned()),
    ("curve", |row| row.curve().name.clone()),
    ("scheduler", |row| row.curve().scheduler.to_string()),
    ("axis", |row| row.study.axis.variable.name().to_owned()),
];

const WHOLE: [(&str, Whole); 4] = [
    ("sets", |row| row.tally.sets),
    ("accepted", |row| row.count().accepted),
    ("out_of_work", |row| row.count().out_of_work),
    ("not_applicable", |row| row.count().not_applicable),
];

const REAL: [(&str, Real); 4] = [
    ("acceptance", |row| Some(row.tally.acceptance(row.series))),
    ("mean_tasks", |row| Some(row.tally.mean_tasks())),
    ("mean_utilization", |row| Some(row.tally.mean_utilization())),
    ("weighted", |row| row.tally.weighted(row.series)),
];

impl Table {
    /// Of the points of a study.
    pub fn of(study: &Study, points: &Points<Tally>) -> Table {
        let mut rows = Vec::new();
        for family in 0..study.families.len() {
            let own = || points.iter().filter(|(point, _)| point.family == family);
            for series in 0..study.series.len() {
                rows.extend(own().map(|(&point, tally)| Row { study, point, series, tally }));
            }
        }
        let mut columns = varied_columns(&study.families, rows.iter().map(|row| row.point.family));
        let add = |name: &str, values| (name.to_owned(), values);
        columns.extend(WORDS.map(|(name, of)| add(name, Values::Words(rows.iter().map(of).collect()))));
        let value = |row: &Row<'_>| Some(study.axis.position(row.point.value));
        columns.push(add("value", Values::Real(rows.iter().map(value).collect())));
        let whole = |number: u64| i64::try_from(number).expect("counts of at most a million sets");
        columns.extend(
            WHOLE.map(|(name, of)| add(name, Values::Whole(rows.iter().map(|row| whole(of(row))).collect()))),
        );
        columns.extend(REAL.map(|(name, of)| add(name, Values::Real(rows.iter().map(of).collect()))));
        Table::of_columns(columns, rows.len())
    }
}
