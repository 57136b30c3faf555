//! What is said of sets that were run instead of simulated.

use super::Runnable;
use super::conditions::Conditions;
use laxity_model::{cpus_named, plural};
use laxity_report::PlainTable;
use laxity_study::{ComputedPoints, Gaps, Point, Recorded, RunAnswer, curves_in_words_of_runs};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A study whose sets were run, and what it has come to.
pub struct RealResults<'a> {
    /// The study.
    pub runnable: Runnable<'a>,
    /// How they were run.
    pub conditions: &'a Conditions,
    /// How they ended.
    pub computed: &'a ComputedPoints,
}

impl RealResults<'_> {
    /// For other programs.
    pub fn answer(&self) -> RunAnswer {
        let machine = &self.conditions.machine;
        RunAnswer {
            processor: machine.cpu_model.clone(),
            kernel: machine.kernel.clone(),
            cpus: machine.cpus.to_string(),
            duration: self.runnable.simulations.duration.to_string(),
            repeat: self.conditions.repeat,
        }
    }

    /// What a manifest has instead of, or beside what those of simulations have.
    pub fn manifest(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("study", self.conditions.description(self.runnable)),
            ("machine", json!(self.conditions.machine)),
            ("duration", json!(self.runnable.simulations.duration.to_string())),
            ("repeat", json!(self.conditions.repeat)),
            ("limit", json!(self.limit())),
        ]
    }

    fn gaps(&self, family: usize, value: u64, curve: usize) -> Option<&Gaps> {
        Some(&self.computed.points.get(&Point { family, value })?.series.get(curve)?.gaps)
    }

    /// Why a metric of a curve is not known at a point: in the cell of a table.
    pub fn why_nothing(&self, family: usize, value: u64, curve: usize, metric: &str) -> Option<String> {
        let gaps = self.gaps(family, value, curve)?;
        if let Some(why) = gaps.why_not_measured(metric) {
            return Some(format!("not measured: {why}"));
        }
        gaps.why_not_run().map(|_| "not run".to_owned())
    }

    /// Sets that could not be run, a row per curve, value and reason; nothing if there are none.
    pub fn not_run(&self, family: usize) -> Option<PlainTable> {
        let mut rows = Vec::new();
        let points = self.computed.points.iter().filter(|(point, _)| point.family == family);
        for (point, tally) in points {
            for (curve, own) in self.runnable.simulations.curves.iter().zip(&tally.series) {
                for (why, sets) in &own.gaps.not_run {
                    rows.push(vec![
                        self.runnable.outline.axis.text(point.value),
                        curve.name.clone(),
                        format!("{sets} of {}", own.sets),
                        why.clone(),
                    ]);
                }
            }
        }
        let first = self.runnable.outline.axis.variable.title();
        (!rows.is_empty()).then(|| PlainTable {
            caption: "Could not be run".to_owned(),
            columns: [first, "curve", "sets", "why"].map(String::from).into(),
            words: 4,
            rows,
        })
    }

    /// What is not measured anywhere in the study, with the reasons: to be said first.
    pub fn never_measured(&self) -> Vec<String> {
        let mut words = Vec::new();
        let metrics = self.runnable.simulations.metrics.iter().enumerate();
        for (_, metric) in metrics.filter(|&(at, _)| !self.is_known(at)) {
            let series = self.computed.points.values().flat_map(|tally| &tally.series);
            let gaps = series.map(|own| &own.gaps);
            let reasons: BTreeSet<&str> =
                gaps.filter_map(|gaps| gaps.why_not_measured(metric.name)).collect();
            if !reasons.is_empty() {
                let reasons: Vec<&str> = reasons.into_iter().collect();
                words.push(format!("Not measured: {} ({}).", metric.title, reasons.join("; ")));
            }
        }
        words
    }

    /// Whether the study's metric number `at` is known of any set.
    fn is_known(&self, at: usize) -> bool {
        let mut series = self.computed.points.values().flat_map(|tally| &tally.series);
        series.any(|own| own.moments(at).is_none_or(|moments| moments.count() > 0))
    }

    /// Which machine, in a line.
    pub fn machine(&self) -> String {
        let machine = &self.conditions.machine;
        format!("{}, {}, Linux {}", machine.cpu_model, cpus_named(&machine.cpus), machine.kernel)
    }

    /// How often and how long, for figures.
    pub fn runs(&self) -> String {
        let (sets, repeat) = (self.runnable.outline.sets, self.conditions.repeat);
        let times = if repeat == 1 { String::new() } else { format!(", {}", plural(repeat, "time")) };
        format!("{} a point, run for {} each{times}", plural(sets, "set"), self.runnable.simulations.duration)
    }

    /// How much of each CPU placements fill, as it is said; nothing: all of it.
    fn limit(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "to be shown")]
        self.conditions.limit.map(|(part, whole)| part as f64 / whole as f64)
    }

    /// How it was measured.
    pub fn method(&self) -> Vec<String> {
        let Runnable { outline, simulations, .. } = self.runnable;
        let mut words = vec![
            format!(
                "At every point {} drawn (seed {}), as in the study by simulation, placed onto the CPUs of this machine \
                 and run: jobs are released for {}, {} under every curve, one curve after the other, so that what else the \
                 machine does falls upon all of them alike. A job makes a fixed number of accesses, calibrated once for the whole \
                 study, for each working set alone: how much longer they take is what placement costs. A set's value is the mean \
                 over its runs, and means and standard deviations are over sets. Sets that could not be run under a curve are in none \
                 of its numbers; how many there were, and why, is beside them. What differs by less than some standard deviations \
                 over the square root of the number of sets is noise.",
                match outline.sets {
                    1 => "1 task set is".to_owned(),
                    sets => format!("{} are", plural(sets, "task set")),
                },
                outline.seed,
                simulations.duration,
                plural(self.conditions.repeat, "time")
            ),
            format!("Run on {}. {}.", self.machine(), self.conditions.machine.caches.join("; ")),
            "EDF is SCHED_DEADLINE: budgets are enforced, so that a job that takes longer than its WCET, and a margin, goes on in the \
             next period of its task. Each CPU or cluster of a placement is an exclusive cpuset."
                .to_owned(),
        ];
        words.extend(self.limit().map(|share| format!("Placements fill each CPU up to {share}.")));
        if self.conditions.recorded() != Recorded::default() {
            words.push(
                "What was recorded beside the jobs took CPU time of the runs: under all curves alike, but none of the other numbers \
                 is that of a run of which nothing is recorded."
                    .to_owned(),
            );
        }
        words.extend(
            simulations.metrics.iter().map(|metric| format!("{}: {}.", metric.name, metric.description)),
        );
        words.extend(curves_in_words_of_runs(simulations));
        words
    }
}
