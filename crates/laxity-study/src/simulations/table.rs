//! All points of a study by simulation as tables.
//!
//! Numbers: a row per family, curve, value of the axis and metric, in this order. Histograms: a row for each of their classes. The
//! matrix's parameters are columns of the same names.

use super::Simulations;
use crate::journal::{Point, Points};
use crate::metric::{Measure, Metric, Unit};
use crate::outline::Outline;
use crate::table::{Table, Values, varied_columns};
use crate::tally::{Kept, Moments, SeriesTally};

/// One row, before it is taken apart.
struct Row<'a, T> {
    study: (&'a Outline, &'a Simulations),
    point: Point,
    tally: &'a SeriesTally,
    curve: usize,
    metric: &'static Metric,
    is: T,
}

/// Of a number.
type Number<'a> = Row<'a, (Unit, Moments)>;
/// Of a class of a histogram.
type Class<'a> = Row<'a, (String, u64)>;

/// Means and standard deviations of all metrics of a study by simulation.
pub fn numbers(study: (&Outline, &Simulations), points: &Points) -> Table {
    let rows = rows(study, points, |metric, kept| match (metric.measure, kept) {
        (Measure::Number(unit, _), Kept::Number(moments)) => vec![(unit, *moments)],
        (Measure::Sets(_) | Measure::Histogram(_), _)
        | (Measure::Number(..), Kept::Sets(_) | Kept::Histogram(_)) => Vec::new(),
    });
    let mut columns = common(study, &rows);
    let words = |of: fn(&Number<'_>) -> String| Values::Words(rows.iter().map(of).collect());
    let whole = |of: fn(&Number<'_>) -> u64| {
        Values::Whole(rows.iter().map(|row| i64::try_from(of(row)).unwrap_or(i64::MAX)).collect())
    };
    let real = |of: fn(&Number<'_>) -> Option<f64>| Values::Real(rows.iter().map(of).collect());
    columns.extend([
        ("unit".to_owned(), words(|row| row.is.0.name().to_owned())),
        ("sets".to_owned(), whole(|row| row.tally.sets)),
        ("placed".to_owned(), whole(|row| row.tally.placed)),
        ("n".to_owned(), whole(|row| row.is.1.count())),
        ("mean".to_owned(), real(|row| row.is.1.mean(row.is.0))),
        ("sd".to_owned(), real(|row| row.is.1.sd(row.is.0))),
        ("min".to_owned(), real(|row| row.is.1.range(row.is.0).map(|(least, _)| least))),
        ("max".to_owned(), real(|row| row.is.1.range(row.is.0).map(|(_, most)| most))),
    ]);
    Table::of_columns(columns, rows.len())
}

/// The histograms of a study by simulation; nothing if it has none.
pub fn histograms(study: (&Outline, &Simulations), points: &Points) -> Option<Table> {
    let rows = rows(study, points, |_, kept| match kept {
        Kept::Sets(_) | Kept::Number(_) => Vec::new(),
        Kept::Histogram(jobs) => Metric::classes().into_iter().zip(jobs.iter().copied()).collect(),
    });
    let mut columns = common(study, &rows);
    columns.extend([
        ("class".to_owned(), Values::Words(rows.iter().map(|row: &Class<'_>| row.is.0.clone()).collect())),
        (
            "jobs".to_owned(),
            Values::Whole(rows.iter().map(|row| i64::try_from(row.is.1).unwrap_or(i64::MAX)).collect()),
        ),
    ]);
    (!rows.is_empty()).then(|| Table::of_columns(columns, rows.len()))
}

/// In order: what `of` makes of each metric of each curve and point.
fn rows<'a, T>(
    study: (&'a Outline, &'a Simulations),
    points: &'a Points,
    of: impl Fn(&'static Metric, &Kept) -> Vec<T>,
) -> Vec<Row<'a, T>> {
    let (outline, simulations) = study;
    let mut rows = Vec::new();
    for family in 0..outline.families.len() {
        for curve in 0..simulations.curves.len() {
            for (&point, tally) in points.iter().filter(|(point, _)| point.family == family) {
                let tally = &tally.series[curve];
                for (&metric, kept) in simulations.metrics.iter().zip(&tally.metrics) {
                    let parts = of(metric, kept);
                    rows.extend(parts.into_iter().map(|is| Row { study, point, tally, curve, metric, is }));
                }
            }
        }
    }
    rows
}

/// Which family, curve, value and metric.
fn common<T>((outline, _): (&Outline, &Simulations), rows: &[Row<'_, T>]) -> Vec<(String, Values)> {
    let mut columns = varied_columns(&outline.families, rows.iter().map(|row| row.point.family));
    let words = |of: fn(&Row<'_, T>) -> String| Values::Words(rows.iter().map(of).collect());
    columns.extend([
        ("curve".to_owned(), words(|row| row.study.1.curves[row.curve].name.clone())),
        ("scheduler".to_owned(), words(|row| row.study.1.curves[row.curve].scheduler_name.clone())),
        ("axis".to_owned(), words(|row| row.study.0.axis.variable.name().to_owned())),
        (
            "value".to_owned(),
            Values::Real(rows.iter().map(|row| Some(outline.axis.position(row.point.value))).collect()),
        ),
        ("metric".to_owned(), words(|row| row.metric.name.to_owned())),
    ]);
    columns
}
