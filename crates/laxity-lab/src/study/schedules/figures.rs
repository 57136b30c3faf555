//! The figures of a study of schedules: a line per scheduler against the number of tasks per CPU. Task sets of one size are
//! taken together: sums and maxima over them, means of their means.

use super::evaluation::Measured;
use super::outputs::StudyOutputs;
use crate::study::Trial;
use crate::study::page::cpus_in_words;
use laxity_report::{LinesFigure, LinesPanel, LinesScale};
use laxity_trace::ScheduleRecord;

/// The trials of one scheduler and size.
type Trials<'a> = [&'a Measured];
/// What a panel shows of them.
type Value = fn(&Trials<'_>) -> Option<f64>;

/// A figure: name of its file, title, how to read it, and its panels, each with heading and unit.
struct Shown {
    stem: &'static str,
    title: &'static str,
    caption: &'static str,
    panels: [(&'static str, &'static str, Value); 3],
}

const SHOWN: &[Shown] = &[
    Shown {
        stem: "deviations",
        title: "Deviations from the definition",
        caption: "An instant is checked whenever something changes. A deviation is excused if something measured in the same \
                  run explains all of it; what nothing explains is a violation.",
        panels: [
            ("Excused deviations", "per 100 instants", |trials| {
                let excused = sum(trials, |schedule| schedule.verification.excused.count)?;
                share(excused, sum(trials, |schedule| schedule.verification.instants)?)
            }),
            ("Longest excused", "ms", |trials| {
                most(trials, |schedule| schedule.verification.excused.longest_ns)
            }),
            ("Longest violation", "ms", |trials| {
                most(trials, |schedule| {
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
            ("Jobs that missed their deadlines", "%", |trials| {
                let counts = |of: fn(&Measured) -> u64| trials.iter().map(|trial| of(trial)).sum();
                share(counts(|trial| trial.jobs.counts.misses), counts(|trial| trial.jobs.counts.jobs))
            }),
            ("Largest tardiness", "ms", |trials| {
                trials.iter().filter_map(|trial| Some(ms(trial.jobs.tardiness_ns?.max))).reduce(f64::max)
            }),
            ("Mean laxity", "of a period", |trials| {
                mean_over(trials, |trial| Some(trial.jobs.normalized_laxity?.mean))
            }),
        ],
    },
    Shown {
        stem: "movement",
        title: "Switches and migrations",
        caption: "As the kernel counts them for the tasks' threads; decisions as they are in the recorded schedules.",
        panels: [
            ("Context switches", "per job", |trials| {
                mean_over(trials, |trial| trial.jobs.per_job(trial.jobs.context_switches))
            }),
            ("Migrations", "per job", |trials| {
                mean_over(trials, |trial| trial.jobs.per_job(trial.jobs.migrations))
            }),
            ("Decisions", "per job", |trials| {
                mean_over(trials, |trial| trial.jobs.per_job(Some(trial.schedule.as_ref().ok()?.decisions)))
            }),
        ],
    },
];

fn sum(trials: &Trials<'_>, of: fn(&ScheduleRecord) -> u64) -> Option<u64> {
    let schedules: Vec<&ScheduleRecord> =
        trials.iter().filter_map(|trial| trial.schedule.as_ref().ok()).collect();
    (!schedules.is_empty()).then(|| schedules.into_iter().map(of).sum())
}

fn most(trials: &Trials<'_>, of: fn(&ScheduleRecord) -> u64) -> Option<f64> {
    trials.iter().filter_map(|trial| Some(ms(of(trial.schedule.as_ref().ok()?)))).reduce(f64::max)
}

fn mean_over(trials: &Trials<'_>, of: fn(&Measured) -> Option<f64>) -> Option<f64> {
    laxity_trace::mean(trials.iter().filter_map(|trial| of(trial)))
}

#[expect(clippy::cast_precision_loss, reason = "to be drawn")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}

#[expect(clippy::cast_precision_loss, reason = "to be drawn")]
fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

impl StudyOutputs<'_> {
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
            let own = |trial: &Trial| {
                trial.cpus == cpus
                    && trial.tasks_per_cpu == tasks_per_cpu
                    && trial.scheduler.name == scheduler
            };
            let trials: Vec<&Measured> =
                self.evaluation.measured().filter(|(trial, _)| own(trial)).map(|(_, one)| one).collect();
            Some((f64::from(tasks_per_cpu), value(&trials)?))
        };
        self.sizes(cpus).into_iter().filter_map(point).collect()
    }
}
