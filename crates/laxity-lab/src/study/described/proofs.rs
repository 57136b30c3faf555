//! What is shown of a schedulability study.

use super::{Known, Shown};
use laxity_analysis::Guarantee;
use laxity_model::plural;
use laxity_report::{LinesFigure, LinesPanel, LinesScale, PageSection, PlainTable};
use laxity_study::{
    ACCEPTED, NOT_APPLICABLE, OUT_OF_WORK, Point, Proofs, Series, SeriesTally, guarantee_name,
    weighted_schedulability,
};
use std::cmp::Reverse;

/// What the columns of the terminal's table mean.
const LEGEND: &str = "weighted: the share of sets that are proven, by utilization; all up to, none from: where on the axis all are, \
                      and none; out of work: sets for which a test had too few steps; not applicable: sets to which no test applies";

/// A schedulability study.
pub(super) struct ProofsShown<'a> {
    pub(super) known: Known<'a>,
    pub(super) proofs: &'a Proofs,
}

/// One curve for one guarantee in one family, in numbers.
struct Figures {
    weighted: Option<f64>,
    /// The last value of the axis up to which every set is accepted.
    all_up_to: Option<u64>,
    /// The first value of the axis from which on no set is.
    none_from: Option<u64>,
    out_of_work: u64,
    not_applicable: u64,
}

impl Shown for ProofsShown<'_> {
    fn kind(&self) -> &'static str {
        "schedulability-study"
    }

    fn columns(&self) -> Vec<String> {
        let mut columns = vec!["curve".to_owned()];
        for &guarantee in &self.proofs.guarantees {
            let name = guarantee_name(guarantee);
            columns.push(format!("{name}: weighted"));
            columns.push(format!("{name}: all up to"));
            columns.push(format!("{name}: none from"));
        }
        columns.extend(["out of work", "not applicable"].map(String::from));
        columns
    }

    /// A row per curve.
    fn rows(&self, family: usize) -> Vec<Vec<String>> {
        let value =
            |value: Option<u64>| value.map_or("-".to_owned(), |value| self.known.outline.axis.text(value));
        let curves = self.proofs.curves.iter().enumerate();
        curves
            .map(|(curve, named)| {
                let (mut row, mut out_of_work, mut not_applicable) = (vec![named.name.clone()], 0, 0);
                for &guarantee in &self.proofs.guarantees {
                    let series = self.proofs.series_of(curve, guarantee);
                    let Some(figures) = series.map(|series| self.figures(family, series)) else {
                        row.extend(["-"; 3].map(String::from));
                        continue;
                    };
                    out_of_work += figures.out_of_work;
                    not_applicable += figures.not_applicable;
                    row.push(match figures.weighted {
                        _ if figures.applies_to_none(self.sets(family)) => "not applicable".to_owned(),
                        Some(weighted) => format!("{weighted:.3}"),
                        None => "-".to_owned(),
                    });
                    row.extend([value(figures.all_up_to), value(figures.none_from)]);
                }
                row.extend([out_of_work, not_applicable].map(|count| count.to_string()));
                row
            })
            .collect()
    }

    fn legend(&self) -> Option<&'static str> {
        Some(LEGEND)
    }

    /// Where tests have left sets out, a sentence for each curve and guarantee: an accepted share of 0 is otherwise taken for a verdict
    /// on sets that nothing was said of.
    fn left_out(&self, family: usize) -> Vec<String> {
        let axis = &self.known.outline.axis;
        let sentence = |(at, series): (usize, &Series)| {
            let count = |(_, own): &(Point, &SeriesTally)| own.count(NOT_APPLICABLE);
            let (point, own) =
                self.points(family, at).max_by_key(|one| (count(one), Reverse(one.0.value)))?;
            let all: u64 = self.points(family, at).map(|one| count(&one)).sum();
            (all > 0).then(|| {
                format!(
                    "{}, {}: no test applies to {all} of {} sets, at most to {} of {} where {} = {}; they count as not accepted.",
                    self.proofs.curves[series.curve].name,
                    guarantee_name(series.guarantee),
                    self.sets(family),
                    own.count(NOT_APPLICABLE),
                    own.sets,
                    axis.variable.name(),
                    axis.text(point.value)
                )
            })
        };
        self.proofs.series.iter().enumerate().filter_map(sentence).collect()
    }

    fn said_first(&self) -> Vec<String> {
        Vec::new()
    }

    fn section(&self, family: usize, label: Option<String>) -> PageSection {
        let table = PlainTable {
            caption: "Weighted schedulability, the last value up to which all sets are accepted, and the first from which none is"
                .to_owned(),
            columns: self.columns(),
            words: 1,
            rows: self.rows(family),
        };
        PageSection {
            heading: label.unwrap_or_else(|| "Schedulability".to_owned()),
            paragraphs: [self.known.outline.families[family].words()]
                .into_iter()
                .chain(self.left_out(family))
                .collect(),
            tables: vec![table],
            figures: vec![self.figure(family)],
            histograms: Vec::new(),
        }
    }

    fn method(&self) -> (&'static str, Vec<String>) {
        let outline = self.known.outline;
        let mut words = vec![format!(
            "At every point {} task sets are drawn (seed {}), and each is judged under every curve. A set is accepted if a test \
             proves it schedulable; a test may take {} steps on it, and a set for which they are not enough is not accepted and \
             counted as out of work. One to which no test applies is not accepted either, and counted as not applicable. Verdicts \
             are exact.",
            outline.sets, outline.seed, self.proofs.steps
        )];
        if outline.axis.refinement.is_some() {
            words.push(
                "The axis is sampled more densely where curves bend (ackelman2018, 6.3). Weighted schedulability counts the \
                 values before that only, which are equally far apart."
                    .to_owned(),
            );
        }
        words.extend(self.proofs.series_in_words(&outline.axis));
        ("How it was computed", words)
    }
}

impl ProofsShown<'_> {
    /// The points of a family with what is known of a series there, ascending.
    fn points(&self, family: usize, series: usize) -> impl Iterator<Item = (Point, &SeriesTally)> {
        self.known.points(family).map(move |(point, tally)| (point, &tally.series[series]))
    }

    fn sets(&self, family: usize) -> u64 {
        self.points(family, 0).map(|(_, own)| own.sets).sum()
    }

    fn figures(&self, family: usize, series: usize) -> Figures {
        let points = || self.points(family, series);
        let all = points().take_while(|(_, own)| own.count(ACCEPTED) == own.sets);
        let some = points().filter(|(_, own)| own.count(ACCEPTED) > 0).last();
        let none_from = match some {
            None => points().next(),
            Some((last, _)) => points().find(|(point, _)| point.value > last.value),
        };
        let axis = &self.known.outline.axis;
        let grid = points().filter(|(point, _)| axis.is_on_grid(point.value));
        let sum = |metric: usize| points().map(|(_, own)| own.count(metric)).sum();
        Figures {
            weighted: weighted_schedulability(grid.map(|(_, own)| own), ACCEPTED),
            all_up_to: all.last().map(|(point, _)| point.value),
            none_from: none_from.map(|(point, _)| point.value),
            out_of_work: sum(OUT_OF_WORK),
            not_applicable: sum(NOT_APPLICABLE),
        }
    }

    fn figure(&self, family: usize) -> LinesFigure {
        let proofs = self.proofs;
        let processors = proofs.processors.map(|m| format!("m = {m}"));
        let sets = format!("{} a point", plural(self.known.outline.sets, "set"));
        let curves: Vec<(&str, Option<&str>)> =
            proofs.curves.iter().map(|curve| (curve.name.as_str(), curve.note.as_deref())).collect();
        let panels = proofs.guarantees.iter().map(|&guarantee| self.panel(family, guarantee)).collect();
        let words = ("acceptance", 0, "The share of task sets that are proven schedulable.");
        let mut figure = self.known.figure(family, words, &[processors, Some(sets)], &curves, panels);
        figure.notes.extend(self.left_out(family));
        figure
    }

    fn panel(&self, family: usize, guarantee: Guarantee) -> LinesPanel {
        let axis = &self.known.outline.axis;
        let point =
            |(point, own): (Point, &SeriesTally)| Some((axis.position(point.value), own.share(ACCEPTED)?));
        let line = |curve: usize| {
            let series = self.proofs.series_of(curve, guarantee);
            series.map_or(Vec::new(), |series| self.points(family, series).filter_map(point).collect())
        };
        LinesPanel {
            heading: match guarantee {
                Guarantee::Hard => "Hard: no deadline is missed".to_owned(),
                Guarantee::Soft => "Soft: tardiness is bounded".to_owned(),
            },
            y_title: "share of sets".to_owned(),
            scale: LinesScale::Share,
            lines: (0..self.proofs.curves.len()).map(line).collect(),
        }
    }
}

impl Figures {
    fn applies_to_none(&self, sets: u64) -> bool {
        sets > 0 && self.not_applicable == sets
    }
}
