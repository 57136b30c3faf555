//! What a study that a file describes leaves: tables of all points, a page, its manifest, and a summary for a terminal.
//!
//! Each back end says what is its own (`Shown`): `proofs` and `simulations`, the latter also of sets that were run.

mod manifest;
mod proofs;
mod simulations;

use super::page::write_page;
use super::real::RealResults;
use crate::observer::Caller;
use laxity_model::{OutputDirectory, Result, plural};
use laxity_report::{LinesFigure, LinesPanel, PageSection, PlainTable, StudyPage};
use laxity_study::{ComputedPoints, Judging, Outline, Point, Study, Tally};
use proofs::ProofsShown;
use simulations::SimulationsShown;
use std::path::Path;

/// All points.
const CSV_FILE: &str = "points.csv";
/// The same.
const PARQUET_FILE: &str = "points.parquet";
/// Histograms of all points.
const HISTOGRAMS_FILE: &str = "histograms.csv";
/// What they come from.
const MANIFEST_FILE: &str = "manifest.json";

/// A study and what it has come to.
pub struct StudyOutputs<'a> {
    study: &'a Study,
    computed: &'a ComputedPoints,
    /// How its sets were run; nothing if they were judged or simulated.
    real: Option<&'a RealResults<'a>>,
}

/// A study at a glance.
pub struct Summary {
    /// A row per family and curve.
    pub table: PlainTable,
    /// What its columns mean, and what has to be said below it.
    pub lines: Vec<String>,
}

/// What a back end shows of a study.
trait Shown {
    /// What kind of study its manifest says it is.
    fn kind(&self) -> &'static str;

    /// The columns of the summary.
    fn columns(&self) -> Vec<String>;

    /// The rows of the summary for a family.
    fn rows(&self, family: usize) -> Vec<Vec<String>>;

    /// What the columns of the summary mean, if they do not say it.
    fn legend(&self) -> Option<&'static str>;

    /// What has to be said of a family below its rows.
    fn left_out(&self, family: usize) -> Vec<String>;

    /// What a reader must know before anything else.
    fn said_first(&self) -> Vec<String>;

    /// The section of a family, under its label, if it has one.
    fn section(&self, family: usize, label: Option<String>) -> PageSection;

    /// How the numbers came about: a heading, and paragraphs.
    fn method(&self) -> (&'static str, Vec<String>);
}

/// The points of a study.
#[derive(Clone, Copy)]
struct Known<'a> {
    outline: &'a Outline,
    computed: &'a ComputedPoints,
}

impl<'a> Known<'a> {
    /// The points of a family with what is known there, ascending.
    fn points(self, family: usize) -> impl Iterator<Item = (Point, &'a Tally)> {
        let points = self.computed.points.iter().filter(move |(point, _)| point.family == family);
        points.map(|(point, tally)| (*point, tally))
    }

    fn unfinished(self) -> Option<String> {
        let points = plural(self.computed.points.len(), "point");
        (!self.computed.complete).then(|| format!("The study is not complete; finished so far: {points}."))
    }

    /// A figure of a family: `stem` begins its file's name; what is known of its sets stands below its title.
    fn figure(
        self,
        family: usize,
        (stem, part, caption): (&str, usize, &str),
        said: &[Option<String>],
        curves: &[(&str, Option<&str>)],
        panels: Vec<LinesPanel>,
    ) -> LinesFigure {
        let of_family = &self.outline.families[family];
        let filled = |text: String| Some(text).filter(|text| !text.is_empty());
        let number = (part > 0).then(|| (part + 1).to_string());
        let stem = [Some(stem.to_owned()), filled(of_family.stem()), number];
        let subtitle = [filled(of_family.label())].into_iter().chain(said.iter().cloned());
        let of_curves = curves.iter().filter_map(|(name, note)| note.map(|note| format!("{name}: {note}")));
        LinesFigure {
            stem: stem.into_iter().flatten().collect::<Vec<_>>().join("-"),
            title: self.outline.title.clone(),
            subtitle: subtitle.flatten().collect::<Vec<_>>().join("; "),
            caption: caption.to_owned(),
            x_title: self.outline.axis.variable.title().to_owned(),
            labels: curves.iter().map(|(name, _)| (*name).to_owned()).collect(),
            panels,
            notes: self.unfinished().into_iter().chain(of_curves).collect(),
        }
    }
}

impl<'a> StudyOutputs<'a> {
    /// Of a study that is complete, or as far as it is; `real` says how its sets were run, if they were.
    pub fn of(study: &'a Study, computed: &'a ComputedPoints, real: Option<&'a RealResults<'a>>) -> Self {
        StudyOutputs { study, computed, real }
    }

    fn shown(&self) -> Box<dyn Shown + '_> {
        let known = self.known();
        match &self.study.judging {
            Judging::Proofs(proofs) => Box::new(ProofsShown { known, proofs }),
            Judging::Simulations(simulations) => {
                Box::new(SimulationsShown { known, simulations, real: self.real })
            }
        }
    }

    fn known(&self) -> Known<'_> {
        Known { outline: &self.study.outline, computed: self.computed }
    }

    /// Writes everything into the study's directory.
    ///
    /// # Errors
    ///
    /// What the file system refuses.
    pub fn write(&self, directory: &Path, caller: &Caller) -> Result<()> {
        let directory = OutputDirectory::create(directory)?;
        let points = &self.computed.points;
        let table = self.study.table(points);
        directory.write(CSV_FILE, table.csv().as_bytes())?;
        directory.write(PARQUET_FILE, &table.parquet()?)?;
        if let Some(histograms) = self.study.histograms(points) {
            directory.write(HISTOGRAMS_FILE, histograms.csv().as_bytes())?;
        }
        let mut manifest = manifest::manifest(self.shown().kind(), self.study, self.computed, caller);
        for (key, value) in self.real.iter().flat_map(|real| real.manifest()) {
            manifest[key] = value;
        }
        let text = serde_json::to_string_pretty(&manifest).expect("serializes");
        directory.write(MANIFEST_FILE, (text + "\n").as_bytes())?;
        write_page(&directory, &self.page())
    }

    /// A row per family and curve.
    pub fn summary(&self) -> Summary {
        let (shown, families) = (self.shown(), &self.study.outline.families);
        let several = families.len() > 1;
        let headed = |head: &str, cells: Vec<String>| {
            several.then(|| head.to_owned()).into_iter().chain(cells).collect::<Vec<_>>()
        };
        let mut rows = Vec::new();
        let mut lines: Vec<String> = shown.legend().map(str::to_owned).into_iter().collect();
        for (at, family) in families.iter().enumerate() {
            let label = family.label();
            rows.extend(shown.rows(at).into_iter().map(|row| headed(&label, row)));
            let what = if several { format!("{label}: ") } else { String::new() };
            lines.extend(shown.left_out(at).into_iter().map(|line| format!("note: {what}{line}")));
        }
        lines.extend(self.real.iter().flat_map(|real| real.never_measured()));
        let columns = headed("task sets", shown.columns());
        Summary { table: PlainTable { caption: String::new(), columns, words: 0, rows }, lines }
    }

    fn page(&self) -> StudyPage {
        let (shown, outline) = (self.shown(), &self.study.outline);
        let label = |family: usize| Some(outline.families[family].label()).filter(|label| !label.is_empty());
        let mut sections: Vec<PageSection> =
            (0..outline.families.len()).map(|family| shown.section(family, label(family))).collect();
        let (heading, paragraphs) = shown.method();
        sections.push(PageSection {
            heading: heading.to_owned(),
            paragraphs,
            tables: Vec::new(),
            figures: Vec::new(),
            histograms: Vec::new(),
        });
        let first = self.known().unfinished().into_iter().chain(shown.said_first());
        StudyPage {
            title: outline.title.clone(),
            subtitle: outline.source.clone().unwrap_or_default(),
            notes: first.chain(outline.notes.iter().cloned()).collect(),
            findings: Vec::new(),
            sections,
        }
    }
}
