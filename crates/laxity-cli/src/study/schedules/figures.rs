//! The figures of a study of schedules: a line per scheduler against the number of tasks per CPU. Task sets of one size are
//! taken together: sums and maxima over them, means of their means.

use super::evaluation::Measured;
use super::outputs::Told;
use crate::study::Cell;
use crate::study::page::cpus_in_words;
use laxity_report::{LinesFigure, LinesPanel, LinesScale};
use laxity_trace::ScheduleRecord;

/// The cells of one scheduler and size.
type Cells<'a> = [&'a Measured];
/// What a panel shows of them.
type Value = fn(&Cells<'_>) -> Option<f64>;

/// A figure: name of its file, title, how to read it, and its panels, each with heading and unit.
struct Shown {
    stem: &'static str,
    title: &'static str,
    caption: &'static str,
    panels: [(&'static str, &'static str, Value); 3],
}

const SHOWN: [Shown; 3] = [
    Shown {
        stem: "deviations",
        title: "Deviations from the definition",
        caption: "An instant is checked whenever something changes. A deviation is excused if something measured in the same \
                  run explains all of it; what nothing explains is a violation.",
        panels: [
            ("Excused deviations", "per 100 instants", |cells| {
                let excused = sum(cells, |schedule| schedule.verification.excused.count)?;
                share(excused, sum(cells, |schedule| schedule.verification.instants)?)
            }),
            ("Longest excused", "ms", |cells| {
                most(cells, |schedule| schedule.verification.excused.longest_ns)
            }),
            ("Longest violation", "ms", |cells| {
                most(cells, |schedule| {
                    let violated = schedule.verification.violated.iter();
                    violated.map(|rule| rule.violations.longest_ns).max().unwrap_or(0)
                })
            }),
        ],
    },
    Shown {
        stem: "jobs",
        title: "How the jobs ended",
        caption: "Laxity is normalized by the period, and the mean over tasks of the means over jobs (lelli2012, Table 2).",
        panels: [
            ("Jobs that missed their deadlines", "%", |cells| {
                let counts = |of: fn(&Measured) -> u64| cells.iter().map(|cell| of(cell)).sum();
                share(counts(|cell| cell.jobs.counts.misses), counts(|cell| cell.jobs.counts.jobs))
            }),
            ("Largest tardiness", "ms", |cells| {
                cells.iter().filter_map(|cell| Some(ms(cell.jobs.tardiness_ns?.max))).reduce(f64::max)
            }),
            ("Mean laxity", "of a period", |cells| {
                mean(cells, |cell| Some(cell.jobs.normalized_laxity?.mean))
            }),
        ],
    },
    Shown {
        stem: "movement",
        title: "Switches and migrations",
        caption: "As the kernel counts them for the tasks' threads; decisions as they are in the recorded schedules.",
        panels: [
            ("Context switches", "per job", |cells| {
                mean(cells, |cell| cell.jobs.per_job(cell.jobs.context_switches))
            }),
            ("Migrations", "per job", |cells| mean(cells, |cell| cell.jobs.per_job(cell.jobs.migrations))),
            ("Decisions", "per job", |cells| {
                mean(cells, |cell| cell.jobs.per_job(Some(cell.schedule.as_ref().ok()?.decisions)))
            }),
        ],
    },
];

fn sum(cells: &Cells<'_>, of: fn(&ScheduleRecord) -> u64) -> Option<u64> {
    let schedules: Vec<&ScheduleRecord> =
        cells.iter().filter_map(|cell| cell.schedule.as_ref().ok()).collect();
    (!schedules.is_empty()).then(|| schedules.into_iter().map(of).sum())
}

fn most(cells: &Cells<'_>, of: fn(&ScheduleRecord) -> u64) -> Option<f64> {
    cells.iter().filter_map(|cell| Some(ms(of(cell.schedule.as_ref().ok()?)))).reduce(f64::max)
}

fn mean(cells: &Cells<'_>, of: fn(&Measured) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = cells.iter().filter_map(|cell| of(cell)).collect();
    let number = f64::from(u32::try_from(values.len()).ok()?);
    (number > 0.0).then(|| values.iter().sum::<f64>() / number)
}

#[expect(clippy::cast_precision_loss, reason = "to be drawn")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}

#[expect(clippy::cast_precision_loss, reason = "to be drawn")]
fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

impl Told<'_> {
    /// All figures of this number of CPUs.
    pub(super) fn figures(&self, cpus: u32) -> Vec<LinesFigure> {
        let figure = |shown: &Shown| LinesFigure {
            stem: format!("m{cpus}-{}", shown.stem),
            title: shown.title.to_owned(),
            subtitle: cpus_in_words(cpus),
            caption: shown.caption.to_owned(),
            x_title: "tasks per CPU".to_owned(),
            labels: self.schedulers.to_vec(),
            notes: Vec::new(),
            panels: shown
                .panels
                .iter()
                .map(|(heading, y_title, value)| LinesPanel {
                    heading: (*heading).to_owned(),
                    y_title: (*y_title).to_owned(),
                    scale: LinesScale::Measured,
                    lines: self.schedulers.iter().map(|name| self.line(cpus, name, *value)).collect(),
                })
                .collect(),
        };
        SHOWN.iter().map(figure).collect()
    }

    fn line(&self, cpus: u32, scheduler: &str, value: Value) -> Vec<(f64, f64)> {
        let point = |tasks_per_cpu: u32| {
            let own = |cell: &Cell| {
                cell.cpus == cpus && cell.tasks_per_cpu == tasks_per_cpu && cell.scheduler.name == scheduler
            };
            let cells: Vec<&Measured> =
                self.evaluation.measured().filter(|(cell, _)| own(cell)).map(|(_, one)| one).collect();
            Some((f64::from(tasks_per_cpu), value(&cells)?))
        };
        self.sizes(cpus).into_iter().filter_map(point).collect()
    }
}
