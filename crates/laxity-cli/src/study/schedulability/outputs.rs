//! What a schedulability study leaves: tables of all points, a page, its manifest, and a table on the terminal.

use crate::output;
use crate::study::manifest::{Headings, manifest};
use crate::study::page::write_page;
use laxity_model::{OutputDirectory, Result, plural};
use laxity_report::{LinesFigure, LinesPanel, LinesScale, PageSection, PlainTable, StudyPage};
use laxity_study::{Conducted, Point, Series, Study, Table, Tally, guarantee_name, weighted_schedulability};
use std::cmp::Reverse;
use std::path::Path;

/// All points.
const CSV_FILE: &str = "points.csv";
/// The same.
const PARQUET_FILE: &str = "points.parquet";
/// What they come from.
const MANIFEST_FILE: &str = "manifest.json";

/// What the columns of the terminal's table mean.
const LEGEND: &str = "weighted: the share of sets that are proven, by utilization; all up to, none from: where on the axis all are, \
                      and none; out of work: sets for which a test had too few steps; not applicable: sets to which no test applies\n";

/// A study and what it has come to.
pub struct StudyOutputs<'a> {
    study: &'a Study,
    conducted: &'a Conducted<Tally>,
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

impl<'a> StudyOutputs<'a> {
    /// Of a study that is complete, or as far as it is.
    pub fn of(study: &'a Study, conducted: &'a Conducted<Tally>) -> Self {
        StudyOutputs { study, conducted }
    }

    /// Writes everything into the study's directory.
    ///
    /// # Errors
    ///
    /// What the file system refuses.
    pub fn write(&self, directory: &Path) -> Result<()> {
        let directory = OutputDirectory::create(directory)?;
        let table = Table::of(self.study, &self.conducted.points);
        directory.write(CSV_FILE, table.csv().as_bytes())?;
        directory.write(PARQUET_FILE, &table.parquet()?)?;
        let headings = Headings {
            kind: "schedulability-study",
            name: &self.study.name,
            title: &self.study.title,
            source: self.study.source.as_deref(),
            notes: &self.study.notes,
        };
        let manifest = manifest(&headings, self.study, self.conducted);
        let text = serde_json::to_string_pretty(&manifest).expect("serializes");
        directory.write(MANIFEST_FILE, (text + "\n").as_bytes())?;
        write_page(&directory, &self.page())
    }

    /// A row per family and curve.
    pub fn terminal(&self) -> String {
        let mut table = crate::tables::table(output::columns());
        let several = self.study.families.len() > 1;
        let heads = self.columns();
        let family_head = several.then(|| "task sets".to_owned());
        table.set_header(family_head.into_iter().chain(heads));
        for (at, family) in self.study.families.iter().enumerate() {
            for row in self.rows(at) {
                table.add_row(several.then(|| family.label()).into_iter().chain(row));
            }
        }
        let mut text = crate::tables::fitted(table);
        text += LEGEND;
        for (at, family) in self.study.families.iter().enumerate() {
            let what = if several { format!("{}: ", family.label()) } else { String::new() };
            self.left_out(at).iter().for_each(|line| text += &format!("note: {what}{line}\n"));
        }
        text
    }

    fn columns(&self) -> Vec<String> {
        let mut columns = vec!["curve".to_owned()];
        for &guarantee in &self.study.guarantees {
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
        let value = |value: Option<u64>| value.map_or("-".to_owned(), |value| self.study.axis.text(value));
        let curves = self.study.curves.iter().enumerate();
        curves
            .map(|(curve, named)| {
                let (mut row, mut out_of_work, mut not_applicable) = (vec![named.name.clone()], 0, 0);
                for &guarantee in &self.study.guarantees {
                    let series = self.study.series_of(curve, guarantee);
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

    fn points(&self, family: usize) -> impl Iterator<Item = (&Point, &Tally)> {
        self.conducted.points.iter().filter(move |(point, _)| point.family == family)
    }

    fn sets(&self, family: usize) -> u64 {
        self.points(family).map(|(_, tally)| tally.sets).sum()
    }

    fn figures(&self, family: usize, series: usize) -> Figures {
        let counts =
            || self.points(family).map(|(point, tally)| (point.value, tally.sets, tally.counts[series]));
        let all = counts().take_while(|(_, sets, count)| count.accepted == *sets);
        let some = counts().filter(|(.., count)| count.accepted > 0).last();
        let none_from = match some {
            None => counts().next(),
            Some((last, ..)) => counts().find(|(value, ..)| *value > last),
        };
        let grid = self.points(family).filter(|(point, _)| self.study.axis.is_on_grid(point.value));
        Figures {
            weighted: weighted_schedulability(grid.map(|(_, tally)| tally), series),
            all_up_to: all.last().map(|(value, ..)| value),
            none_from: none_from.map(|(value, ..)| value),
            out_of_work: counts().map(|(.., count)| count.out_of_work).sum(),
            not_applicable: counts().map(|(.., count)| count.not_applicable).sum(),
        }
    }

    /// Where tests have left sets out, a sentence for each curve and guarantee: an accepted share of 0 is otherwise taken for a verdict
    /// on sets that nothing was said of.
    fn left_out(&self, family: usize) -> Vec<String> {
        let study = self.study;
        let sentence = |(at, series): (usize, &Series)| {
            let count = |(_, tally): &(&Point, &Tally)| tally.counts[at].not_applicable;
            let (point, tally) = self.points(family).max_by_key(|one| (count(one), Reverse(one.0.value)))?;
            let all: u64 = self.points(family).map(|one| count(&one)).sum();
            (all > 0).then(|| {
                format!(
                    "{}, {}: no test applies to {all} of {} sets, at most to {} of {} where {} = {}; they count as not accepted.",
                    study.curves[series.curve].name,
                    guarantee_name(series.guarantee),
                    self.sets(family),
                    count(&(point, tally)),
                    tally.sets,
                    study.axis.variable.name(),
                    study.axis.text(point.value)
                )
            })
        };
        study.series.iter().enumerate().filter_map(sentence).collect()
    }

    fn page(&self) -> StudyPage {
        let study = self.study;
        let mut sections: Vec<PageSection> =
            (0..study.families.len()).map(|family| self.section(family)).collect();
        sections.push(PageSection {
            heading: "How it was computed".to_owned(),
            paragraphs: self.method(),
            tables: Vec::new(),
            figures: Vec::new(),
            histograms: Vec::new(),
        });
        StudyPage {
            title: study.title.clone(),
            subtitle: study.source.clone().unwrap_or_default(),
            notes: self.unfinished().into_iter().chain(study.notes.iter().cloned()).collect(),
            findings: Vec::new(),
            sections,
        }
    }

    fn unfinished(&self) -> Option<String> {
        let points = plural(self.conducted.points.len(), "point");
        (!self.conducted.complete).then(|| format!("The study is not complete; finished so far: {points}."))
    }

    fn section(&self, family: usize) -> PageSection {
        let label = self.study.families[family].label();
        let heading = if label.is_empty() { "Schedulability".to_owned() } else { label };
        let table = PlainTable {
            caption: "Weighted schedulability, the last value up to which all sets are accepted, and the first from which none is"
                .to_owned(),
            columns: self.columns(),
            words: 1,
            rows: self.rows(family),
        };
        PageSection {
            heading,
            paragraphs: [self.study.families[family].words()]
                .into_iter()
                .chain(self.left_out(family))
                .collect(),
            tables: vec![table],
            figures: vec![self.figure(family)],
            histograms: Vec::new(),
        }
    }

    fn figure(&self, family: usize) -> LinesFigure {
        let study = self.study;
        let stem = study.families[family].stem();
        let label = study.families[family].label();
        let processors = study.processors.map(|m| format!("m = {m}"));
        let sets = format!("{} a point", plural(study.sets, "set"));
        let subtitle: Vec<String> = [Some(label).filter(|label| !label.is_empty()), processors, Some(sets)]
            .into_iter()
            .flatten()
            .collect();
        LinesFigure {
            stem: if stem.is_empty() { "acceptance".to_owned() } else { format!("acceptance-{stem}") },
            title: study.title.clone(),
            subtitle: subtitle.join("; "),
            caption: "The share of task sets that are proven schedulable.".to_owned(),
            x_title: study.axis.variable.title().to_owned(),
            labels: study.curves.iter().map(|curve| curve.name.clone()).collect(),
            panels: study.guarantees.iter().map(|&guarantee| self.panel(family, guarantee)).collect(),
            notes: self.notes(family),
        }
    }

    fn panel(&self, family: usize, guarantee: laxity_analysis::Guarantee) -> LinesPanel {
        let study = self.study;
        let line = |curve: usize| {
            let series = study.series_of(curve, guarantee);
            let point = |series: usize| {
                move |(point, tally): (&Point, &Tally)| {
                    (study.axis.position(point.value), tally.acceptance(series))
                }
            };
            series.map_or(Vec::new(), |series| self.points(family).map(point(series)).collect())
        };
        LinesPanel {
            heading: match guarantee {
                laxity_analysis::Guarantee::Hard => "Hard: no deadline is missed".to_owned(),
                laxity_analysis::Guarantee::Soft => "Soft: tardiness is bounded".to_owned(),
            },
            y_title: "share of sets".to_owned(),
            scale: LinesScale::Share,
            lines: (0..study.curves.len()).map(line).collect(),
        }
    }

    /// What figures say of curves: their notes, and of how many sets nothing is known.
    fn notes(&self, family: usize) -> Vec<String> {
        let of_curves = self
            .study
            .curves
            .iter()
            .filter_map(|curve| curve.note.as_ref().map(|note| format!("{}: {note}", curve.name)));
        self.unfinished().into_iter().chain(of_curves).chain(self.left_out(family)).collect()
    }

    fn method(&self) -> Vec<String> {
        let study = self.study;
        let mut words = vec![format!(
            "At every point {} task sets are drawn (seed {}), and each is judged under every curve. A set is accepted if a test \
             proves it schedulable; a test may take {} steps on it, and a set for which they are not enough is not accepted and \
             counted as out of work. One to which no test applies is not accepted either, and counted as not applicable. Verdicts \
             are exact.",
            study.sets, study.seed, study.steps
        )];
        if study.axis.refinement.is_some() {
            words.push(
                "The axis is sampled more densely where curves bend (ackelman2018, 6.3). Weighted schedulability counts the \
                 values before that only, which are equally far apart."
                    .to_owned(),
            );
        }
        words.extend(study.series_in_words());
        words
    }
}

impl Figures {
    fn applies_to_none(&self, sets: u64) -> bool {
        sets > 0 && self.not_applicable == sets
    }
}
