//! What is shown of a study by simulation, or of one whose sets were run instead.

use super::{Known, Shown};
use crate::study::real::RealResults;
use laxity_model::plural;
use laxity_report::{BarsFigure, LinesFigure, LinesPanel, LinesScale, PageSection, PlainTable};
use laxity_study::{Measure, Metric, Moments, SeriesTally, Simulations, Tally, Unit};

/// As many panels of a figure can be read side by side.
const PANELS: usize = 3;

/// A study by simulation.
pub(super) struct SimulationsShown<'a> {
    pub(super) known: Known<'a>,
    pub(super) simulations: &'a Simulations,
    /// How its sets were run; nothing if they were simulated.
    pub(super) real: Option<&'a RealResults<'a>>,
}

/// A metric that is a number: which of the study's it is, and its unit.
type Numbered = (usize, &'static Metric, Unit);

impl Shown for SimulationsShown<'_> {
    fn kind(&self) -> &'static str {
        if self.real.is_some() { "study-of-runs" } else { "simulation-study" }
    }

    fn columns(&self) -> Vec<String> {
        let left_out = if self.real.is_some() { "not run" } else { "not placed" };
        let heads = ["curve".to_owned(), left_out.to_owned()].into_iter();
        heads.chain(self.numbers().iter().map(|(_, metric, _)| metric.name.to_owned())).collect()
    }

    /// Every metric at both ends of the axis.
    fn rows(&self, family: usize) -> Vec<Vec<String>> {
        let row = |(curve, named): (usize, &laxity_study::SimulatedCurve)| {
            let numbers = self.numbers();
            let ends = numbers.iter().map(|&number| self.ends(family, curve, number));
            let row = [named.name.clone(), self.not_placed(family, curve).to_string()].into_iter();
            row.chain(ends).collect()
        };
        self.simulations.curves.iter().enumerate().map(row).collect()
    }

    fn legend(&self) -> Option<&'static str> {
        None
    }

    fn left_out(&self, _: usize) -> Vec<String> {
        Vec::new()
    }

    fn said_first(&self) -> Vec<String> {
        let of_runs = self.real.iter().flat_map(|real| {
            let here = "Run, not simulated, on another machine than the study may speak of";
            std::iter::once(format!("{here}: {}.", real.machine())).chain(real.never_measured())
        });
        of_runs.collect()
    }

    fn section(&self, family: usize, label: Option<String>) -> PageSection {
        let numbers = self.numbers();
        let mut tables: Vec<PlainTable> = numbers.iter().map(|&one| self.table(family, one)).collect();
        for (at, metric) in self.histograms() {
            tables.extend(self.points(family).map(|point| self.histogram(point, at, metric)));
        }
        tables.extend(self.real.and_then(|real| real.not_run(family)));
        let drawn: Vec<Numbered> =
            numbers.into_iter().filter(|&one| self.real.is_none() || self.is_known(family, one)).collect();
        PageSection {
            heading: label
                .unwrap_or_else(|| if self.real.is_some() { "Run" } else { "Simulated" }.to_owned()),
            paragraphs: vec![self.known.outline.families[family].words()],
            tables,
            figures: drawn
                .chunks(PANELS)
                .enumerate()
                .map(|(number, chunk)| self.figure(family, number, chunk))
                .collect(),
            histograms: self
                .histograms()
                .into_iter()
                .flat_map(|(at, metric)| self.points(family).map(move |point| (at, metric, point)))
                .map(|(at, metric, point)| self.bars(family, point, at, metric))
                .collect(),
        }
    }

    fn method(&self) -> (&'static str, Vec<String>) {
        match self.real {
            Some(real) => ("How it was measured", real.method()),
            None => ("How it was computed", self.how_simulated()),
        }
    }
}

impl SimulationsShown<'_> {
    fn numbers(&self) -> Vec<Numbered> {
        let metrics = self.simulations.metrics.iter().enumerate();
        let numbered = |(at, metric): (usize, &&'static Metric)| match metric.measure {
            Measure::Number(unit, _) => Some((at, *metric, unit)),
            Measure::Sets(_) | Measure::Histogram(_) => None,
        };
        metrics.filter_map(numbered).collect()
    }

    fn histograms(&self) -> Vec<(usize, &'static Metric)> {
        let metrics = self.simulations.metrics.iter().enumerate();
        metrics.filter(|(_, m)| matches!(m.measure, Measure::Histogram(_))).map(|(at, m)| (at, *m)).collect()
    }

    /// Values of the axis with what is known there, ascending.
    fn points(&self, family: usize) -> impl Iterator<Item = (u64, &Tally)> {
        self.known.points(family).map(|(point, tally)| (point.value, tally))
    }

    fn not_placed(&self, family: usize, curve: usize) -> u64 {
        let own = self.points(family).map(|(_, tally)| &tally.series[curve]);
        own.map(|own| own.sets - own.placed).sum()
    }

    /// The means at both ends of the axis.
    fn ends(&self, family: usize, curve: usize, (at, _, unit): Numbered) -> String {
        let mean = |(_, tally): (u64, &Tally)| match moments(&tally.series[curve], at).mean(unit) {
            Some(mean) => number(unit, mean),
            None => "-".to_owned(),
        };
        match (self.points(family).next(), self.points(family).last()) {
            (Some(first), Some(last)) if first.0 != last.0 => format!("{} .. {}", mean(first), mean(last)),
            (Some(first), _) => mean(first),
            (None, _) => "-".to_owned(),
        }
    }

    /// Whether a metric is known anywhere.
    fn is_known(&self, family: usize, (at, ..): Numbered) -> bool {
        self.points(family)
            .flat_map(|(_, tally)| &tally.series)
            .any(|own| own.moments(at).is_some_and(|moments| moments.count() > 0))
    }

    /// A row per value of the axis, and a column per curve.
    fn table(&self, family: usize, (at, metric, unit): Numbered) -> PlainTable {
        let why = |value: u64, curve: usize| self.real?.why_nothing(family, value, curve, metric.name);
        let cell = |(value, tally): (u64, &Tally), curve: usize| {
            let own = &tally.series[curve];
            let moments = moments(own, at);
            let text = match (moments.mean(unit), moments.sd(unit)) {
                (Some(mean), Some(sd)) => format!("{} ± {}", number(unit, mean), number(unit, sd)),
                (Some(mean), None) => number(unit, mean),
                (None, _) => {
                    return why(value, curve).unwrap_or_else(|| of_sets("-".to_owned(), 0, own));
                }
            };
            of_sets(text, moments.count(), own)
        };
        let row = |(value, tally): (u64, &Tally)| {
            let curves = (0..self.simulations.curves.len()).map(|curve| cell((value, tally), curve));
            std::iter::once(self.known.outline.axis.text(value)).chain(curves).collect()
        };
        PlainTable {
            caption: format!("{}: mean and standard deviation over sets", titled(metric, unit)),
            columns: self.curves(self.known.outline.axis.variable.title()),
            words: 0,
            rows: self.points(family).map(row).collect(),
        }
    }

    /// A row per class, and a column per curve.
    fn histogram(&self, (value, tally): (u64, &Tally), at: usize, metric: &Metric) -> PlainTable {
        let jobs = |curve: usize, class: usize| {
            tally.series[curve].histogram(at).map_or(String::new(), |jobs| jobs[class].to_string())
        };
        let row = |(class, words): (usize, String)| {
            let curves = (0..self.simulations.curves.len()).map(|curve| jobs(curve, class));
            std::iter::once(words).chain(curves).collect()
        };
        let axis = &self.known.outline.axis;
        PlainTable {
            caption: format!("{} at {} {}", metric.title, axis.variable.title(), axis.text(value)),
            columns: self.curves("tardiness"),
            words: 1,
            rows: Metric::classes().into_iter().enumerate().map(row).collect(),
        }
    }

    /// A histogram as a figure: all curves at one value of the axis.
    fn bars(&self, family: usize, (value, tally): (u64, &Tally), at: usize, metric: &Metric) -> BarsFigure {
        let jobs = |curve: usize| tally.series[curve].histogram(at).map_or_else(Vec::new, <[u64]>::to_vec);
        let (axis, families) = (&self.known.outline.axis, &self.known.outline.families);
        let stem = [metric.name.to_owned(), families[family].stem(), axis.text(value)];
        let subtitle = [families[family].label(), self.of_what()];
        let joined = |parts: &[String], by: &str| {
            let said: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
            said.join(by)
        };
        BarsFigure {
            stem: joined(&stem, "-"),
            title: format!("{} at {} {}", metric.title, axis.variable.title(), axis.text(value)),
            subtitle: joined(&subtitle, "; "),
            caption: "Jobs of all task sets, by how late they were.".to_owned(),
            x_title: "jobs".to_owned(),
            classes: Metric::classes(),
            kinds: self
                .simulations
                .curves
                .iter()
                .enumerate()
                .map(|(at, curve)| (curve.name.clone(), jobs(at)))
                .collect(),
        }
    }

    fn curves(&self, first: &str) -> Vec<String> {
        let curves = self.simulations.curves.iter().map(|curve| curve.name.clone());
        std::iter::once(first.to_owned()).chain(curves).collect()
    }

    fn figure(&self, family: usize, part: usize, numbers: &[Numbered]) -> LinesFigure {
        let (stem, caption) = match self.real {
            Some(_) => ("run", "Means over the task sets that could be run."),
            None => ("simulated", "Means over the task sets that could be placed."),
        };
        let curves = &self.simulations.curves;
        let curves: Vec<(&str, Option<&str>)> =
            curves.iter().map(|curve| (curve.name.as_str(), curve.note.as_deref())).collect();
        let panels = numbers.iter().map(|&one| self.panel(family, one)).collect();
        self.known.figure(family, (stem, part, caption), &[Some(self.of_what())], &curves, panels)
    }

    /// The machine, how many sets and for how long.
    fn of_what(&self) -> String {
        let (sets, simulations) = (self.known.outline.sets, self.simulations);
        let machine = match self.real {
            Some(real) => Some(real.machine()),
            None => simulations.platform.as_ref().map(|platform| platform.name().to_owned()),
        };
        let simulated = || format!("{} a point, {} each", plural(sets, "set"), simulations.duration);
        let sets = self.real.map_or_else(simulated, RealResults::runs);
        machine.into_iter().chain([sets]).collect::<Vec<String>>().join("; ")
    }

    fn panel(&self, family: usize, (at, metric, unit): Numbered) -> LinesPanel {
        let line = |curve: usize| {
            let point = |(value, tally): (u64, &Tally)| {
                let mean = moments(&tally.series[curve], at).mean(unit)?;
                Some((self.known.outline.axis.position(value), shown(unit, mean)))
            };
            self.points(family).filter_map(point).collect()
        };
        LinesPanel {
            heading: metric.title.to_owned(),
            y_title: titled(metric, unit),
            scale: match unit {
                Unit::Ratio => LinesScale::Share,
                Unit::Nanoseconds | Unit::Number => LinesScale::Measured,
            },
            lines: (0..self.simulations.curves.len()).map(line).collect(),
        }
    }

    fn how_simulated(&self) -> Vec<String> {
        let (outline, simulations) = (self.known.outline, self.simulations);
        let mut words = vec![format!(
            "At every point {} task sets are drawn (seed {}), placed and simulated under every curve: jobs are released for {}. All \
             curves see the same sets and the same jobs. Sets that could not be placed under a curve are in none of its numbers; how \
             many there were is beside them. What differs by less than some standard deviations over the square root of the number \
             of sets is noise.",
            outline.sets, outline.seed, simulations.duration
        )];
        words.extend(
            simulations.metrics.iter().map(|metric| format!("{}: {}.", metric.name, metric.description)),
        );
        words.extend(simulations.curves_in_words());
        words
    }
}

/// Of a metric that is a number.
fn moments(own: &SeriesTally, metric: usize) -> Moments {
    own.moments(metric).copied().unwrap_or_default()
}

/// A number with how many sets it is of, unless it is of all.
fn of_sets(text: String, n: u64, own: &SeriesTally) -> String {
    if n == own.sets { text } else { format!("{text} ({n} of {} sets)", own.sets) }
}

/// In the unit of tables and figures: times in ms.
fn shown(unit: Unit, value: f64) -> f64 {
    match unit {
        Unit::Nanoseconds => value / 1e6,
        Unit::Ratio | Unit::Number => value,
    }
}

fn number(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ratio => format!("{value:.5}"),
        Unit::Nanoseconds | Unit::Number => format!("{:.3}", shown(unit, value)),
    }
}

fn titled(metric: &Metric, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => format!("{} (ms)", metric.title),
        Unit::Ratio | Unit::Number => metric.title.to_owned(),
    }
}
