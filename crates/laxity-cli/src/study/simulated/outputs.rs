//! What a study by simulation leaves, or one whose sets were run instead: tables of all points, a page, its manifest, and a table on
//! the terminal.

use crate::output;
use crate::study::manifest::{Headings, manifest};
use crate::study::page::write_page;
use crate::study::real::RealResults;
use laxity_model::{OutputDirectory, Result, plural};
use laxity_report::{BarsFigure, LinesFigure, LinesPanel, LinesScale, PageSection, PlainTable, StudyPage};
use laxity_study::{
    Conducted, Kept, Measure, Metric, Moments, SimulationStudy, SimulationTally, Table, Unit,
};
use std::path::Path;

/// Means and standard deviations of all points.
const CSV_FILE: &str = "points.csv";
/// The same.
const PARQUET_FILE: &str = "points.parquet";
/// Histograms of all points.
const HISTOGRAMS_FILE: &str = "histograms.csv";
/// What they come from.
const MANIFEST_FILE: &str = "manifest.json";
/// As many panels of a figure can be read side by side.
const PANELS: usize = 3;

/// A study and what it has come to.
pub struct StudyOutputs<'a> {
    study: &'a SimulationStudy,
    conducted: &'a Conducted<SimulationTally>,
    /// How its sets were run; nothing if they were simulated.
    real: Option<&'a RealResults<'a>>,
}

/// A metric that is a number: which of the study's it is, and its unit.
type Numbered = (usize, &'static Metric, Unit);

impl<'a> StudyOutputs<'a> {
    /// Of a study that is complete, or as far as it is.
    pub fn of(study: &'a SimulationStudy, conducted: &'a Conducted<SimulationTally>) -> Self {
        StudyOutputs { study, conducted, real: None }
    }

    /// Of a study whose sets were run; `sums` are those of `real`.
    pub fn of_runs(real: &'a RealResults<'a>, sums: &'a Conducted<SimulationTally>) -> Self {
        StudyOutputs { study: real.study, conducted: sums, real: Some(real) }
    }

    /// Writes everything into the study's directory.
    ///
    /// # Errors
    ///
    /// What the file system refuses.
    pub fn write(&self, directory: &Path) -> Result<()> {
        let directory = OutputDirectory::create(directory)?;
        let points = &self.conducted.points;
        let numbers = Table::of_numbers(self.study, points);
        directory.write(CSV_FILE, numbers.csv().as_bytes())?;
        directory.write(PARQUET_FILE, &numbers.parquet()?)?;
        if let Some(histograms) = Table::of_histograms(self.study, points) {
            directory.write(HISTOGRAMS_FILE, histograms.csv().as_bytes())?;
        }
        let headings = Headings {
            kind: if self.real.is_some() { "study-of-runs" } else { "simulation-study" },
            name: &self.study.name,
            title: &self.study.title,
            source: self.study.source.as_deref(),
            notes: &self.study.notes,
        };
        let mut manifest = manifest(&headings, self.study, self.conducted);
        for (key, value) in self.real.iter().flat_map(|real| real.manifest()) {
            manifest[key] = value;
        }
        let text = serde_json::to_string_pretty(&manifest).expect("serializes");
        directory.write(MANIFEST_FILE, (text + "\n").as_bytes())?;
        write_page(&directory, &self.page())
    }

    /// A row per family and curve: every metric at both ends of the axis.
    pub fn terminal(&self) -> String {
        let mut table = crate::tables::table(output::columns());
        let several = self.study.families.len() > 1;
        let numbers = self.numbers();
        let left_out = if self.real.is_some() { "not run" } else { "not placed" };
        let heads = ["curve".to_owned(), left_out.to_owned()].into_iter();
        let heads = heads.chain(numbers.iter().map(|(_, metric, _)| metric.name.to_owned()));
        table.set_header(several.then(|| "task sets".to_owned()).into_iter().chain(heads));
        for (family, sets) in self.study.families.iter().enumerate() {
            for (curve, named) in self.study.curves.iter().enumerate() {
                let ends = numbers.iter().map(|&number| self.ends(family, curve, number));
                let row = [named.name.clone(), self.not_placed(family, curve).to_string()].into_iter();
                table.add_row(several.then(|| sets.label()).into_iter().chain(row).chain(ends));
            }
        }
        let missing = self.real.iter().flat_map(|real| real.never_measured());
        format!("{}{}", crate::tables::fitted(table), missing.map(|words| words + "\n").collect::<String>())
    }

    fn numbers(&self) -> Vec<Numbered> {
        let metrics = self.study.metrics.iter().enumerate();
        let numbered = |(at, metric): (usize, &&'static Metric)| match metric.measure {
            Measure::Number(unit, _) => Some((at, *metric, unit)),
            Measure::Histogram(_) => None,
        };
        metrics.filter_map(numbered).collect()
    }

    fn histograms(&self) -> Vec<(usize, &'static Metric)> {
        let metrics = self.study.metrics.iter().enumerate();
        metrics.filter(|(_, m)| matches!(m.measure, Measure::Histogram(_))).map(|(at, m)| (at, *m)).collect()
    }

    /// Values of the axis with what is known there, ascending.
    fn points(&self, family: usize) -> impl Iterator<Item = (u64, &SimulationTally)> {
        let own = self.conducted.points.iter().filter(move |(point, _)| point.family == family);
        own.map(|(point, tally)| (point.value, tally))
    }

    fn not_placed(&self, family: usize, curve: usize) -> u64 {
        self.points(family).map(|(_, tally)| tally.sets - tally.curves[curve].placed).sum()
    }

    /// The means at both ends of the axis.
    fn ends(&self, family: usize, curve: usize, (at, _, unit): Numbered) -> String {
        let mean = |(_, tally): (u64, &SimulationTally)| match moments(tally, curve, at).mean(unit) {
            Some(mean) => number(unit, mean),
            None => "-".to_owned(),
        };
        match (self.points(family).next(), self.points(family).last()) {
            (Some(first), Some(last)) if first.0 != last.0 => format!("{} .. {}", mean(first), mean(last)),
            (Some(first), _) => mean(first),
            (None, _) => "-".to_owned(),
        }
    }

    fn page(&self) -> StudyPage {
        let study = self.study;
        let mut sections: Vec<PageSection> =
            (0..study.families.len()).map(|family| self.section(family)).collect();
        sections.push(PageSection {
            heading: if self.real.is_some() { "How it was measured" } else { "How it was computed" }
                .to_owned(),
            paragraphs: self.real.map_or_else(|| self.method(), RealResults::method),
            tables: Vec::new(),
            figures: Vec::new(),
            histograms: Vec::new(),
        });
        StudyPage {
            title: study.title.clone(),
            subtitle: study.source.clone().unwrap_or_default(),
            notes: self.said_first().into_iter().chain(study.notes.iter().cloned()).collect(),
            findings: Vec::new(),
            sections,
        }
    }

    fn unfinished(&self) -> Option<String> {
        let points = plural(self.conducted.points.len(), "point");
        (!self.conducted.complete).then(|| format!("The study is not complete; finished so far: {points}."))
    }

    /// What a reader must know before anything else.
    fn said_first(&self) -> Vec<String> {
        let of_runs = self.real.iter().flat_map(|real| {
            let here = "Run, not simulated, on another machine than the study may speak of";
            std::iter::once(format!("{here}: {}.", real.machine())).chain(real.never_measured())
        });
        self.unfinished().into_iter().chain(of_runs).collect()
    }

    fn section(&self, family: usize) -> PageSection {
        let label = self.study.families[family].label();
        let numbers = self.numbers();
        let mut tables: Vec<PlainTable> = numbers.iter().map(|&one| self.table(family, one)).collect();
        for (at, metric) in self.histograms() {
            tables.extend(self.points(family).map(|point| self.histogram(point, at, metric)));
        }
        tables.extend(self.real.and_then(|real| real.not_run(family)));
        let drawn: Vec<Numbered> =
            numbers.into_iter().filter(|&one| self.real.is_none() || self.is_known(family, one)).collect();
        PageSection {
            heading: match (label.is_empty(), self.real) {
                (false, _) => label,
                (true, None) => "Simulated".to_owned(),
                (true, Some(_)) => "Run".to_owned(),
            },
            paragraphs: vec![self.study.families[family].words()],
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

    /// Whether a metric is known anywhere.
    fn is_known(&self, family: usize, (at, ..): Numbered) -> bool {
        let curves = self.points(family).flat_map(|(_, tally)| &tally.curves);
        curves
            .into_iter()
            .any(|curve| matches!(&curve.metrics[at], Kept::Number(moments) if moments.count() > 0))
    }

    /// A row per value of the axis, and a column per curve.
    fn table(&self, family: usize, (at, metric, unit): Numbered) -> PlainTable {
        let why = |value: u64, curve: usize| self.real?.why_nothing(family, value, curve, metric.name);
        let cell = |(value, tally): (u64, &SimulationTally), curve: usize| {
            let moments = moments(tally, curve, at);
            let text = match (moments.mean(unit), moments.sd(unit)) {
                (Some(mean), Some(sd)) => format!("{} ± {}", number(unit, mean), number(unit, sd)),
                (Some(mean), None) => number(unit, mean),
                (None, _) => {
                    return why(value, curve).unwrap_or_else(|| self.of_sets("-".to_owned(), 0, tally));
                }
            };
            self.of_sets(text, moments.count(), tally)
        };
        let row = |(value, tally): (u64, &SimulationTally)| {
            let curves = (0..self.study.curves.len()).map(|curve| cell((value, tally), curve));
            std::iter::once(self.study.axis.text(value)).chain(curves).collect()
        };
        PlainTable {
            caption: format!("{}: mean and standard deviation over sets", titled(metric, unit)),
            columns: self.columns(self.study.axis.variable.title()),
            words: 0,
            rows: self.points(family).map(row).collect(),
        }
    }

    /// A number with how many sets it is of, unless it is of all.
    fn of_sets(&self, text: String, n: u64, tally: &SimulationTally) -> String {
        if n == tally.sets { text } else { format!("{text} ({n} of {} sets)", tally.sets) }
    }

    /// A row per class, and a column per curve.
    fn histogram(&self, (value, tally): (u64, &SimulationTally), at: usize, metric: &Metric) -> PlainTable {
        let jobs = |curve: usize, class: usize| match &tally.curves[curve].metrics[at] {
            Kept::Histogram(jobs) => jobs[class].to_string(),
            Kept::Number(_) => String::new(),
        };
        let row = |(class, words): (usize, String)| {
            let curves = (0..self.study.curves.len()).map(|curve| jobs(curve, class));
            std::iter::once(words).chain(curves).collect()
        };
        let axis = &self.study.axis;
        PlainTable {
            caption: format!("{} at {} {}", metric.title, axis.variable.title(), axis.text(value)),
            columns: self.columns("tardiness"),
            words: 1,
            rows: Metric::classes().into_iter().enumerate().map(row).collect(),
        }
    }

    /// A histogram as a figure: all curves at one value of the axis.
    fn bars(
        &self,
        family: usize,
        (value, tally): (u64, &SimulationTally),
        at: usize,
        metric: &Metric,
    ) -> BarsFigure {
        let jobs = |curve: usize| match &tally.curves[curve].metrics[at] {
            Kept::Histogram(jobs) => jobs.clone(),
            Kept::Number(_) => Vec::new(),
        };
        let (axis, families) = (&self.study.axis, &self.study.families);
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
                .study
                .curves
                .iter()
                .enumerate()
                .map(|(at, curve)| (curve.name.clone(), jobs(at)))
                .collect(),
        }
    }

    fn columns(&self, first: &str) -> Vec<String> {
        let curves = self.study.curves.iter().map(|curve| curve.name.clone());
        std::iter::once(first.to_owned()).chain(curves).collect()
    }

    fn figure(&self, family: usize, part: usize, numbers: &[Numbered]) -> LinesFigure {
        let study = self.study;
        let (label, stem) = (study.families[family].label(), study.families[family].stem());
        let subtitle: Vec<String> =
            [label, self.of_what()].into_iter().filter(|words| !words.is_empty()).collect();
        let first = if self.real.is_some() { "run" } else { "simulated" };
        let stem = [Some(first.to_owned()), Some(stem).filter(|stem| !stem.is_empty())];
        let stem: Vec<String> =
            stem.into_iter().flatten().chain((part > 0).then(|| (part + 1).to_string())).collect();
        LinesFigure {
            stem: stem.join("-"),
            title: study.title.clone(),
            subtitle: subtitle.join("; "),
            caption: match self.real {
                Some(_) => "Means over the task sets that could be run.",
                None => "Means over the task sets that could be placed.",
            }
            .to_owned(),
            x_title: study.axis.variable.title().to_owned(),
            labels: study.curves.iter().map(|curve| curve.name.clone()).collect(),
            panels: numbers.iter().map(|&one| self.panel(family, one)).collect(),
            notes: self.notes(),
        }
    }

    /// The machine, how many sets and for how long.
    fn of_what(&self) -> String {
        let study = self.study;
        let machine = match self.real {
            Some(real) => Some(real.machine()),
            None => study.platform.as_ref().map(|platform| platform.name().to_owned()),
        };
        let simulated = || format!("{} a point, {} each", plural(study.sets, "set"), study.duration);
        let sets = self.real.map_or_else(simulated, RealResults::runs);
        machine.into_iter().chain([sets]).collect::<Vec<String>>().join("; ")
    }

    fn panel(&self, family: usize, (at, metric, unit): Numbered) -> LinesPanel {
        let line = |curve: usize| {
            let point = |(value, tally): (u64, &SimulationTally)| {
                let mean = moments(tally, curve, at).mean(unit)?;
                Some((self.study.axis.position(value), shown(unit, mean)))
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
            lines: (0..self.study.curves.len()).map(line).collect(),
        }
    }

    /// What figures say of curves: their notes, and that sets were left out.
    fn notes(&self) -> Vec<String> {
        let curves = &self.study.curves;
        let of_curves = curves
            .iter()
            .filter_map(|curve| curve.note.as_ref().map(|note| format!("{}: {note}", curve.name)));
        self.unfinished().into_iter().chain(of_curves).collect()
    }

    fn method(&self) -> Vec<String> {
        let study = self.study;
        let mut words = vec![format!(
            "At every point {} task sets are drawn (seed {}), placed and simulated under every curve: jobs are released for {}. All \
             curves see the same sets and the same jobs. Sets that could not be placed under a curve are in none of its numbers; how \
             many there were is beside them. What differs by less than some standard deviations over the square root of the number \
             of sets is noise.",
            study.sets, study.seed, study.duration
        )];
        words.extend(study.metrics.iter().map(|metric| format!("{}: {}.", metric.name, metric.description)));
        words.extend(study.curves_in_words());
        words
    }
}

/// Of a metric that is a number.
fn moments(tally: &SimulationTally, curve: usize, metric: usize) -> Moments {
    match &tally.curves[curve].metrics[metric] {
        Kept::Number(moments) => *moments,
        Kept::Histogram(_) => Moments::default(),
    }
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
