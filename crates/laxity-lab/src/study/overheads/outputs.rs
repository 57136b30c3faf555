//! What a study leaves: a table of everything as CSV, costs files for `--costs`, and a page.

use super::evaluation::{EQUAL_LEAST, Evaluation, Measured, Point};
use super::unit::Unit;
use crate::overheads::{class_of, write_costs};
use crate::study::contender::on_or_off;
use crate::study::page::{cpus_in_words, not_measured, numbers_of_cpus, refusals, sizes, write_page};
use crate::study::{Contender, Place};
use laxity_model::{OutputDirectory, Result, plural};
use laxity_overheads::{Groups, SampleKind, Statistics};
use laxity_report::{LinesFigure, LinesPanel, LinesScale, PageSection, PlainTable, StudyPage};
use std::fmt::Write;
use std::path::Path;

/// All numbers.
pub const TABLE_FILE: &str = "overheads.csv";
/// Where costs files are.
const COSTS_DIRECTORY: &str = "costs";

/// A study that was evaluated, and what is to be said of it.
pub struct StudyOutputs<'a> {
    /// The schedulers, in the order of the study.
    pub schedulers: &'a [Contender],
    /// What was measured.
    pub evaluation: &'a Evaluation,
    /// In what.
    pub unit: Unit,
    /// How it was measured, in words.
    pub method: Vec<String>,
}

/// What figures and tables show, and in what order.
pub(super) const SHOWN: &[(SampleKind, &str)] = &[
    (SampleKind::Release, "Release: the handler of the release interrupt"),
    (SampleKind::Schedule, "Scheduling decision: from the scheduler's entry until the next thread is chosen"),
    (SampleKind::Schedule2, "Scheduling after the switch"),
    (SampleKind::ContextSwitch, "Context switch"),
    (SampleKind::ReleaseLatency, "Release latency: from the nominal release until its handler runs"),
    (SampleKind::IpiLatency, "IPI latency: from sending a reschedule interrupt until its handler runs"),
    (SampleKind::Tick, "Timer tick"),
    (SampleKind::RequestLatency, "Client request latency: from sending a message until the DSP takes it"),
    (SampleKind::DspHandler, "DSP handler: the dedicated CPU's handling of a message"),
    (SampleKind::ScheduleKept, "Scheduler's run that keeps the running thread"),
];

/// One number of a point, in ns.
type Value = fn(&Point) -> Option<f64>;

/// The panels of a figure.
const VALUES: [(&str, Value); 3] = [
    ("Mean", |point| point.all.mean),
    ("99th percentile", |point| point.equal.p99.map(float)),
    ("Maximum", |point| point.equal.max.map(float)),
];

impl StudyOutputs<'_> {
    /// Writes everything into the study's directory.
    pub fn write(&self, directory: &Path) -> Result<()> {
        let directory = OutputDirectory::create(directory)?;
        directory.write(TABLE_FILE, self.csv().as_bytes())?;
        if self.unit == Unit::Time {
            self.write_costs(&directory)?;
        }
        write_page(&directory, &self.page())
    }

    /// A row per point: lengths in ns, or instructions.
    fn csv(&self) -> String {
        let mut text = String::from(
            "cpus,tasks_per_cpu,tasks,scheduler,overhead,unit,samples,disturbed,per_second,mean,min,median,p90,p99,max,\
             equal_samples,equal_median,equal_p99,equal_max,batching\n",
        );
        let unit = if self.unit == Unit::Time { "ns" } else { "instructions" };
        let (scale, decimals) = match self.unit {
            Unit::Time => (1.0, 1),
            Unit::Instructions { ns_each } => (f64::from(ns_each), 2),
        };
        let whole = |ns: Option<u64>| ns.map_or_else(String::new, |ns| format!("{}", float(ns) / scale));
        for (place, measured) in &self.evaluation.places {
            for (kind, Point { all, equal, per_second }) in &measured.points {
                let mean = all.mean.map_or_else(String::new, |mean| format!("{:.decimals$}", mean / scale));
                let _ = write!(
                    text,
                    "{},{},{},{},{},{unit},{},{},{per_second:.2},{mean}",
                    place.cpus,
                    place.tasks_per_cpu,
                    place.cpus * place.tasks_per_cpu,
                    self.schedulers[place.scheduler].name,
                    kind.name(),
                    all.number,
                    all.disturbed
                );
                for value in [all.min, all.p50, all.p90, all.p99, all.max] {
                    let _ = write!(text, ",{}", whole(value));
                }
                let _ = write!(text, ",{}", equal.number);
                for value in [equal.p50, equal.p99, equal.max] {
                    let _ = write!(text, ",{}", whole(value));
                }
                let scheduler = &self.schedulers[place.scheduler];
                let _ = writeln!(text, ",{}", on_or_off(scheduler.batches));
            }
        }
        text
    }

    fn write_costs(&self, directory: &OutputDirectory) -> Result<()> {
        for (at, scheduler) in self.schedulers.iter().enumerate() {
            for cpus in self.cpus() {
                let of: Vec<(&Place, &Measured)> = self
                    .evaluation
                    .places
                    .iter()
                    .filter(|(p, _)| p.scheduler == at && p.cpus == cpus)
                    .collect();
                let Some((_, first)) = of.first() else { continue };
                let by_tasks: Vec<(u32, &Groups)> =
                    of.iter().map(|(p, measured)| (p.tasks_per_cpu * cpus, &measured.groups)).collect();
                let folder = directory.subdirectory(COSTS_DIRECTORY)?.subdirectory(&format!("m{cpus}"))?;
                write_costs(
                    &folder,
                    &scheduler.name,
                    class_of(&scheduler.scheduler.scheduler),
                    &by_tasks,
                    &first.summary,
                )?;
            }
        }
        Ok(())
    }

    fn cpus(&self) -> Vec<u32> {
        numbers_of_cpus(self.evaluation.places.keys())
    }

    fn labels(&self) -> Vec<String> {
        self.schedulers.iter().map(|scheduler| scheduler.name.clone()).collect()
    }

    pub(super) fn point(
        &self,
        cpus: u32,
        scheduler: usize,
        tasks_per_cpu: u32,
        kind: SampleKind,
    ) -> Option<&Point> {
        self.evaluation.places.get(&Place { cpus, scheduler, tasks_per_cpu })?.points.get(&kind)
    }

    /// All of it as a page.
    fn page(&self) -> StudyPage {
        let mut sections = Vec::new();
        let mut findings = Vec::new();
        for cpus in self.cpus() {
            findings.extend(self.cheapest(cpus));
            sections.push(self.section(cpus));
        }
        sections.extend(self.against_cpus());
        sections.push(self.tracing());
        sections.push(PageSection {
            heading: "How it was measured".to_owned(),
            paragraphs: self.method.clone(),
            tables: self.not_measured().into_iter().collect(),
            figures: Vec::new(),
            histograms: Vec::new(),
        });
        let first = self.evaluation.places.values().next();
        let kernel = first.map_or("no kernel", |measured| measured.summary.kernel.as_str());
        StudyPage {
            title: match self.unit {
                Unit::Time => "What scheduling costs".to_owned(),
                Unit::Instructions { .. } => "What scheduling costs, in instructions".to_owned(),
            },
            subtitle: format!("Linux {kernel}; {}", plural(self.schedulers.len(), "scheduler")),
            notes: Vec::new(),
            findings,
            sections,
        }
    }

    /// The cheapest with the most tasks.
    fn cheapest(&self, cpus: u32) -> Vec<String> {
        let most = self.sizes(cpus).last().copied().unwrap_or(0);
        let mut lines = Vec::new();
        for (kind, what) in
            [(SampleKind::Release, "a release"), (SampleKind::Schedule, "a scheduling decision")]
        {
            let mean = |at: usize| self.point(cpus, at, most, kind)?.all.mean;
            let mut ranked: Vec<(f64, &str)> = (0..self.schedulers.len())
                .filter_map(|at| Some((mean(at)?, self.schedulers[at].name.as_str())))
                .collect();
            if ranked.len() < 2 {
                continue;
            }
            ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
            let told: Vec<String> =
                ranked.iter().map(|(ns, name)| format!("{name} {}", self.unit.text(Some(*ns)))).collect();
            lines.push(format!(
                "{}, {} per CPU: {what} takes on average, in {}: {}.",
                cpus_in_words(cpus),
                plural(most, "task"),
                self.unit,
                told.join(", ")
            ));
        }
        lines
    }

    pub(super) fn sizes(&self, cpus: u32) -> Vec<u32> {
        sizes(self.evaluation.places.keys(), cpus)
    }

    fn section(&self, cpus: u32) -> PageSection {
        let mut section = PageSection {
            heading: cpus_in_words(cpus),
            paragraphs: Vec::new(),
            tables: Vec::new(),
            figures: Vec::new(),
            histograms: Vec::new(),
        };
        for (kind, title) in SHOWN.iter().filter(|(kind, _)| self.measured(cpus, *kind)) {
            section.figures.push(self.figure(cpus, *kind, title));
            section.tables.push(self.table(cpus, *kind, title));
        }
        section.figures.extend(self.function_figures(cpus));
        section.tables.extend(self.function_table(cpus));
        section.figures.push(self.rates(cpus));
        section
    }

    /// Whether there are samples of this kind with this number of CPUs.
    pub(super) fn measured(&self, cpus: u32, kind: SampleKind) -> bool {
        let of = self.evaluation.places.iter().filter(|(place, _)| place.cpus == cpus);
        of.into_iter().any(|(_, measured)| measured.points.contains_key(&kind))
    }

    /// Whether this scheduler was measured there.
    pub(super) fn was_measured(&self, cpus: u32, scheduler: usize, tasks_per_cpu: u32) -> bool {
        self.evaluation.places.contains_key(&Place { cpus, scheduler, tasks_per_cpu })
    }

    /// A table of one kind: a row per number of tasks, the mean and the maximum of each scheduler.
    fn table(&self, cpus: u32, kind: SampleKind, title: &str) -> PlainTable {
        let shown: Vec<usize> = (0..self.schedulers.len())
            .filter(|&at| self.sizes(cpus).iter().any(|&n| self.point(cpus, at, n, kind).is_some()))
            .collect();
        let names = shown.iter().map(|&at| format!("{}: mean / 99 %", self.schedulers[at].name));
        let row = |n: &u32| {
            let trial = |&at: &usize| match self.point(cpus, at, *n, kind) {
                None => "-".to_owned(),
                Some(Point { all, equal, .. }) => {
                    let few = if all.number < EQUAL_LEAST { "*" } else { "" };
                    let p99 = equal.p99.map(float);
                    format!("{} / {}{few}", self.unit.text(all.mean), self.unit.text(p99))
                }
            };
            [n.to_string()].into_iter().chain(shown.iter().map(trial)).collect::<Vec<String>>()
        };
        PlainTable {
            caption: format!("{title} ({}; *: fewer than {EQUAL_LEAST} samples)", self.unit),
            columns: ["tasks per CPU".to_owned()].into_iter().chain(names).collect(),
            words: 0,
            rows: self.sizes(cpus).iter().map(row).collect(),
        }
    }

    pub(super) fn figure(&self, cpus: u32, kind: SampleKind, title: &str) -> LinesFigure {
        let panel = |(heading, value): (&str, Value)| LinesPanel {
            heading: heading.to_owned(),
            y_title: self.unit.to_string(),
            scale: LinesScale::Measured,
            lines: self.lines(cpus, |place, _| Some(self.unit.of_ns(value(self.at(place, kind)?)?))),
        };
        let drawn = self.evaluation.places.iter().filter(|(place, _)| place.cpus == cpus);
        let equal =
            drawn.filter_map(|(_, measured)| measured.points.get(&kind)).map(|p| p.equal.number).max();
        LinesFigure {
            stem: format!("m{cpus}-{}", kind.name()),
            title: title.to_owned(),
            subtitle: cpus_in_words(cpus),
            caption: format!(
                "Means are of all undisturbed samples; percentiles and maxima of equally many from every point (at most {}).",
                equal.unwrap_or(0)
            ),
            x_title: "tasks per CPU".to_owned(),
            labels: self.labels(),
            panels: VALUES.into_iter().map(panel).collect(),
            notes: Vec::new(),
        }
    }

    /// How often there is something to measure (ackelman2018, Figure 7.2).
    fn rates(&self, cpus: u32) -> LinesFigure {
        let kinds = [
            (SampleKind::Release, "Release interrupts"),
            (SampleKind::Schedule, "Scheduling decisions that switch"),
            (SampleKind::IpiLatency, "Reschedule interrupts"),
        ];
        let panel = |(kind, heading): (SampleKind, &str)| LinesPanel {
            heading: heading.to_owned(),
            y_title: "per second".to_owned(),
            scale: LinesScale::Measured,
            lines: self.lines(cpus, |place, _| Some(self.at(place, kind)?.per_second)),
        };
        LinesFigure {
            stem: format!("m{cpus}-rates"),
            title: "How often".to_owned(),
            subtitle: format!("{}, per second of the runs", cpus_in_words(cpus)),
            caption: "Samples of each kind, disturbed ones among them, per second.".to_owned(),
            x_title: "tasks per CPU".to_owned(),
            labels: self.labels(),
            panels: kinds.into_iter().map(panel).collect(),
            notes: Vec::new(),
        }
    }

    fn at(&self, place: &Place, kind: SampleKind) -> Option<&Point> {
        self.evaluation.places.get(place)?.points.get(&kind)
    }

    /// A line per scheduler against n.
    fn lines(&self, cpus: u32, value: impl Fn(&Place, &Measured) -> Option<f64>) -> Vec<Vec<(f64, f64)>> {
        let line = |scheduler: usize| {
            let of = self.evaluation.places.iter();
            let of = of.filter(|(place, _)| place.cpus == cpus && place.scheduler == scheduler);
            of.filter_map(|(place, m)| Some((f64::from(place.tasks_per_cpu), value(place, m)?))).collect()
        };
        (0..self.schedulers.len()).map(line).collect()
    }

    /// Against the number of CPUs, with the most tasks that all numbers of CPUs have (cerqueira2014, Figure 6): what some
    /// scheduler was measured of with several numbers of them.
    fn against_cpus(&self) -> Option<PageSection> {
        let cpus = self.cpus();
        let common = self.sizes(*cpus.first()?).into_iter().rev();
        let most = common.into_iter().find(|n| cpus.iter().all(|&m| self.sizes(m).contains(n)))?;
        let figure = |(kind, title): &(SampleKind, &str)| {
            let line = |at: usize, value: Value| {
                let point =
                    |&m: &u32| Some((f64::from(m), self.unit.of_ns(value(self.point(m, at, most, *kind)?)?)));
                cpus.iter().filter_map(point).collect()
            };
            let panel = |(heading, value): (&str, Value)| LinesPanel {
                heading: heading.to_owned(),
                y_title: self.unit.to_string(),
                scale: LinesScale::Measured,
                lines: (0..self.schedulers.len()).map(|at| line(at, value)).collect(),
            };
            LinesFigure {
                stem: format!("cpus-{}", kind.name()),
                title: (*title).to_owned(),
                subtitle: format!("{} per CPU", plural(most, "task")),
                caption: "Against the number of CPUs.".to_owned(),
                x_title: "CPUs".to_owned(),
                labels: self.labels(),
                panels: VALUES.into_iter().map(panel).collect(),
                notes: Vec::new(),
            }
        };
        let is_line = |figure: &LinesFigure| {
            figure.panels.iter().any(|panel| panel.lines.iter().any(|line| line.len() > 1))
        };
        Some(PageSection {
            heading: "Against the number of CPUs".to_owned(),
            paragraphs: Vec::new(),
            tables: Vec::new(),
            figures: SHOWN.iter().map(figure).filter(is_line).collect(),
            histograms: Vec::new(),
        })
    }

    /// What tracing itself costs, as measured in the same recordings.
    fn tracing(&self) -> PageSection {
        let row = |(place, measured): (&Place, &Measured)| {
            let cost = &measured.summary.tracing;
            let empty = |of: fn(&Statistics) -> Option<u64>| {
                self.unit.text(cost.empty_sample_ns.as_ref().and_then(of).map(float))
            };
            vec![
                self.schedulers[place.scheduler].name.clone(),
                place.cpus.to_string(),
                place.tasks_per_cpu.to_string(),
                empty(|told| told.p50),
                empty(|told| told.p99),
                self.unit.text(cost.probes_per_sample_ns),
                measured.summary.lost.iter().sum::<u64>().to_string(),
            ]
        };
        PageSection {
            heading: "What tracing itself costs".to_owned(),
            paragraphs: vec![
                "A sample contains what tracing needs between its two time stamps: the length of a sample around a function \
                 of the kernel that does nothing, measured in the same recording. It is not subtracted. All probes together \
                 ran for so long per sample; of that, only the former is inside of samples."
                    .to_owned(),
            ],
            tables: vec![PlainTable {
                caption: format!("Tracing ({})", self.unit),
                columns: [
                    "scheduler",
                    "CPUs",
                    "tasks per CPU",
                    "empty sample, median",
                    "empty sample, 99 %",
                    "probes per sample",
                    "records lost",
                ]
                .map(String::from)
                .into(),
                words: 1,
                rows: self.evaluation.places.iter().map(row).collect(),
            }],
            figures: Vec::new(),
            histograms: Vec::new(),
        }
    }

    /// Trials that could not be measured, by reason, and quantities that the kernel does not offer.
    fn not_measured(&self) -> Option<PlainTable> {
        let mut rows = refusals(&self.evaluation.refused);
        if let Some(measured) = self.evaluation.places.values().next() {
            for missing in &measured.summary.missing {
                let what = missing.quantities.join(", ");
                rows.push(vec![what, "all".to_owned(), format!("{}: {}", missing.probe, missing.reason)]);
            }
        }
        not_measured(rows)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number to be shown")]
pub(super) fn float(number: u64) -> f64 {
    number as f64
}
