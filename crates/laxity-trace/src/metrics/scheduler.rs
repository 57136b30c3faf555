//! Metrics of one scheduler over task sets and repetitions: what `--json` carries.

use super::background::BackgroundSummary;
use super::followed_caches::CacheSummary;
use super::responses::{ResponseTimes, Responses};
use super::run::PERCENTILES_ARE_APPROXIMATE;
use super::run_summary::{MissRates, Rates, RunSummary};
use super::statistics::{Sample, mean, ratio};
use super::tally::{Counts, Tallies, tally};
use crate::{ALONE, BackgroundRecord, Host, Manifest, Run, RunStatus};
use laxity_model::{Diagnostic, Result, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The version of the summary's JSON (`schemas/summary.schema.json`).
pub const SUMMARY_VERSION: u32 = 1;

/// Tardiness of the completed jobs under a scheduler: max(0, finish - deadline), in ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchedulerTardiness {
    /// Mean over all jobs of all runs.
    pub mean: f64,
    /// Maximum over all jobs of all runs.
    pub max: u64,
    /// Mean over runs of the mean over tasks of the maximum over the task's jobs.
    pub mean_of_task_maxima: f64,
    /// Mean over runs of the maximum over the run's jobs (lindsay2012's mean maximum tardiness).
    pub mean_of_run_maxima: f64,
}

/// Response times that are kept as they are over the runs of a scheduler: 32 MiB of them.
const EXACT_RESPONSES_PER_SCHEDULER: usize = 1 << 22;

/// One scheduler over the task sets and repetitions that it ran.
///
/// Counts, ratios of counts, tardiness (mean and maximum) and response times are over all jobs of all runs.
/// The others are means over sets, a set's value being the mean over its repetitions (with a single set: over its
/// repetitions), and `sd` has the standard deviations of the same values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchedulerSummary {
    /// Name of the scheduler.
    pub scheduler: String,
    /// The host that scheduled.
    pub host: Host,
    /// Runs made, to their end or interrupted.
    pub runs: u64,
    /// Runs that were interrupted.
    pub runs_interrupted: u64,
    /// Runs that were not made at all.
    pub runs_not_made: u64,
    /// How the jobs ended.
    #[serde(flatten)]
    pub counts: Counts,
    /// met / jobs.
    pub deadline_satisfaction: Option<f64>,
    /// misses / jobs.
    pub miss_ratio: Option<f64>,
    /// Mean and standard deviation over sets, or over the repetitions of a single set.
    pub normalized_laxity: Option<Sample>,
    /// The least normalized laxity of a job.
    pub normalized_laxity_min: Option<f64>,
    /// The least laxity of a job, in ns; negative if it was late.
    pub laxity_ns_min: Option<i64>,
    /// Tardiness.
    pub tardiness_ns: Option<SchedulerTardiness>,
    /// Response times of all jobs.
    pub response_ns: Option<ResponseTimes>,
    /// Means over sets, or over the repetitions of a single set.
    #[serde(flatten)]
    pub rates: Rates,
    /// Standard deviations of the same values; null for a single one.
    pub sd: Rates,
    /// Why a metric is null, by its name.
    pub not_measured: BTreeMap<String, String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// All schedulers of a results directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of this format.
    pub version: u32,
    /// One object per scheduler and host, in the order of their first runs. Runs of every task alone are no
    /// scheduler's; they are only among `runs`.
    pub schedulers: Vec<SchedulerSummary>,
    /// How the tasks in the background fared, one object per scheduler that had some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundSummary>,
    /// What caches did, one object per scheduler whose simulations followed what they hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<CacheSummary>,
    /// The runs, in the order of the manifest.
    pub runs: Vec<RunSummary>,
}

impl Summary {
    /// The metrics of `results`, whose task sets are `sets`, on the machine's CPUs, from the jobs of the runs.
    ///
    /// Errors: a run of a set, or a job of a task, that is not there.
    pub fn of(results: &Manifest, sets: &[TaskSet]) -> Result<Summary> {
        let mut builder = SummaryBuilder::new(results.machine.cpus.len());
        for run in &results.runs {
            let set = set_of(run, sets)?;
            builder.add(run, set, &tally(run, set)?);
        }
        Ok(builder.finish().with_background(&results.background).with_caches(&results.options))
    }

    /// The same where some runs have not kept their jobs: `tallied` has theirs, by [`Run::id`].
    ///
    /// Errors: a run of a set, or a job of a task, that is not there.
    ///
    /// Panics if tallies are of another set or horizon than their run (see [`RunSummary::of_tallies`]).
    pub fn of_tallied<'t>(
        results: &Manifest,
        sets: &[TaskSet],
        tallied: impl Fn(u32) -> Option<&'t Tallies>,
    ) -> Result<Summary> {
        let mut builder = SummaryBuilder::new(results.machine.cpus.len());
        for run in &results.runs {
            let set = set_of(run, sets)?;
            match tallied(run.id) {
                Some(tallies) => builder.add(run, set, tallies),
                None => builder.add(run, set, &tally(run, set)?),
            };
        }
        Ok(builder.finish().with_background(&results.background).with_caches(&results.options))
    }

    /// Adds what caches did, where the options of the manifest say that they were followed.
    #[must_use]
    pub fn with_caches(mut self, options: &BTreeMap<String, String>) -> Summary {
        let of = |scheduler: &SchedulerSummary| {
            CacheSummary::of((&scheduler.scheduler, scheduler.host), &self.runs, options)
        };
        self.caches = self.schedulers.iter().filter_map(of).collect();
        self
    }

    /// Adds how the tasks in the background fared, taken together by scheduler and host. Records of runs that are
    /// not in the summary do not count.
    #[must_use]
    pub fn with_background(mut self, records: &[BackgroundRecord]) -> Summary {
        let of = |scheduler: &SchedulerSummary| {
            let runs = self.runs.iter();
            let own: BTreeSet<u32> = runs
                .filter(|run| run.scheduler == scheduler.scheduler && run.host == scheduler.host)
                .map(|run| run.run)
                .collect();
            let records = records.iter().filter(|record| own.contains(&record.run));
            BackgroundSummary::of(&scheduler.scheduler, scheduler.host, records)
        };
        self.background = self.schedulers.iter().filter_map(of).collect();
        self
    }
}

/// A [`Summary`] made run by run, in the order of the manifest, so that the tallies of thousands of runs need not be in
/// memory at the same time.
pub struct SummaryBuilder {
    cores: usize,
    groups: Vec<Group>,
    runs: Vec<RunSummary>,
}

impl SummaryBuilder {
    /// No runs yet, on a machine of so many CPUs.
    pub fn new(cores: usize) -> Self {
        SummaryBuilder { cores, groups: Vec::new(), runs: Vec::new() }
    }

    /// The next run, whose jobs are in `tallies`; `run.jobs` is not looked at. Its summary.
    ///
    /// Panics if the tallies are of another set or horizon than the run (see [`RunSummary::of_tallies`]).
    pub fn add(&mut self, run: &Run, set: &TaskSet, tallies: &Tallies) -> &RunSummary {
        let summary = RunSummary::of_tallies(run, set, self.cores, tallies);
        if run.scheduler != ALONE {
            let same = |g: &Group| g.scheduler == run.scheduler && g.host == run.host;
            let index = self.groups.iter().position(same).unwrap_or_else(|| {
                self.groups.push(Group::new(&run.scheduler, run.host));
                self.groups.len() - 1
            });
            self.groups[index].add(&summary, tallies, set);
        }
        self.runs.push(summary);
        &self.runs[self.runs.len() - 1]
    }

    /// The summary of the runs.
    pub fn finish(self) -> Summary {
        let schedulers = self.groups.into_iter().map(Group::summary).collect();
        Summary {
            version: SUMMARY_VERSION,
            schedulers,
            background: Vec::new(),
            caches: Vec::new(),
            runs: self.runs,
        }
    }
}

fn set_of<'a>(run: &Run, sets: &'a [TaskSet]) -> Result<&'a TaskSet> {
    usize::try_from(run.set).ok().and_then(|index| sets.get(index)).ok_or_else(|| {
        Diagnostic::usage(format!(
            "run {} is of task set {} but there are only {}",
            run.id,
            run.set,
            sets.len()
        ))
        .hint("the manifest is damaged or was edited; use one that laxity wrote")
    })
}

/// What is gathered over the runs of one scheduler.
struct Group {
    scheduler: String,
    host: Host,
    runs: Vec<RunSummary>,
    runs_not_made: u64,
    not_made: BTreeMap<String, String>,
    responses: Responses,
    tardiness_ns: u128,
}

impl Group {
    fn new(scheduler: &str, host: Host) -> Group {
        Group {
            scheduler: scheduler.to_owned(),
            host,
            runs: Vec::new(),
            runs_not_made: 0,
            not_made: BTreeMap::new(),
            responses: Responses::new(EXACT_RESPONSES_PER_SCHEDULER),
            tardiness_ns: 0,
        }
    }

    fn add(&mut self, summary: &RunSummary, tallies: &Tallies, set: &TaskSet) {
        if matches!(summary.status, RunStatus::NotRun { .. }) {
            self.runs_not_made += 1;
            for (metric, reason) in &summary.not_measured {
                self.not_made.entry(metric.clone()).or_insert_with(|| reason.clone());
            }
            return;
        }
        self.runs.push(RunSummary { tasks: Vec::new(), ..summary.clone() });
        for (_, tally) in tallies.real_time(set) {
            self.responses.merge(&tally.responses);
            self.tardiness_ns += tally.tardiness_ns;
        }
    }

    fn summary(self) -> SchedulerSummary {
        let counts: Counts = self.runs.iter().map(|run| run.counts).sum();
        let response_ns = self.responses.summary();
        let laxities = self.samples(|run| run.normalized_laxity.map(|laxity| laxity.mean));
        let interrupted = self.runs.iter().filter(|run| matches!(run.status, RunStatus::Interrupted { .. }));
        SchedulerSummary {
            scheduler: self.scheduler.clone(),
            host: self.host,
            runs: count(self.runs.len()),
            runs_interrupted: count(interrupted.count()),
            runs_not_made: self.runs_not_made,
            counts,
            deadline_satisfaction: counts.deadline_satisfaction(),
            miss_ratio: counts.miss_ratio(),
            normalized_laxity: Sample::of(&laxities),
            normalized_laxity_min: self
                .runs
                .iter()
                .filter_map(|run| run.normalized_laxity_min)
                .min_by(f64::total_cmp),
            laxity_ns_min: self.runs.iter().filter_map(|run| run.laxity_ns_min).min(),
            tardiness_ns: self.tardiness(counts),
            response_ns,
            rates: self.rates(|values| mean(values.iter().copied())),
            sd: self.rates(|values| Sample::of(values)?.sd),
            not_measured: self.not_measured(),
            notes: self.notes(response_ns),
        }
    }

    /// The values that means and standard deviations are over: a set's is the mean over its repetitions. With a
    /// single set, its repetitions.
    fn samples(&self, metric: impl Fn(&RunSummary) -> Option<f64>) -> Vec<f64> {
        let mut by_set: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for run in &self.runs {
            by_set.entry(run.set).or_default().extend(metric(run));
        }
        by_set.retain(|_, values| !values.is_empty());
        if by_set.len() == 1 {
            return by_set.into_values().flatten().collect();
        }
        by_set.values().filter_map(|values| mean(values.iter().copied())).collect()
    }

    /// Applies `statistic` to the samples of every metric.
    fn rates(&self, statistic: fn(&[f64]) -> Option<f64>) -> Rates {
        let over = |metric: fn(&Rates) -> Option<f64>| statistic(&self.samples(|run| metric(&run.rates)));
        Rates {
            measured_utilization: over(|r| r.measured_utilization),
            measured_utilization_per_core: over(|r| r.measured_utilization_per_core),
            execution_inflation: over(|r| r.execution_inflation),
            migration_rate: over(|r| r.migration_rate),
            context_switch_rate: over(|r| r.context_switch_rate),
            cache: MissRates {
                l1d_miss_rate_per_us: over(|r| r.cache.l1d_miss_rate_per_us),
                l2_miss_rate_per_us: over(|r| r.cache.l2_miss_rate_per_us),
                llc_miss_rate_per_us: over(|r| r.cache.llc_miss_rate_per_us),
            },
        }
    }

    fn tardiness(&self, counts: Counts) -> Option<SchedulerTardiness> {
        let of_runs = || self.runs.iter().filter_map(|run| run.tardiness_ns);
        Some(SchedulerTardiness {
            mean: ratio(i128::try_from(self.tardiness_ns).ok()?, counts.completed.into())?,
            max: of_runs().map(|t| t.max).max()?,
            mean_of_task_maxima: mean(of_runs().map(|t| t.mean_of_task_maxima))?,
            mean_of_run_maxima: mean(of_runs().filter_map(|t| ratio(t.max.into(), 1)))?,
        })
    }

    /// A metric is null if no run has it; the first run says why.
    fn not_measured(&self) -> BTreeMap<String, String> {
        let Some(first) = self.runs.first() else {
            return self.not_made.clone();
        };
        let nowhere = |metric: &String| self.runs.iter().all(|run| run.not_measured.contains_key(metric));
        let missing = first.not_measured.iter().filter(|(metric, _)| nowhere(metric));
        missing.map(|(metric, reason)| (metric.clone(), reason.clone())).collect()
    }

    /// The notes of the runs, each with the number of runs that have it, and metrics that some runs lack.
    fn notes(&self, response_ns: Option<ResponseTimes>) -> Vec<String> {
        let mut seen: Vec<(String, usize)> = Vec::new();
        let nowhere = self.not_measured();
        for run in &self.runs {
            let partly = run.not_measured.iter().filter(|(metric, _)| !nowhere.contains_key(*metric));
            let partly = partly.map(|(metric, reason)| format!("{metric} not measured: {reason}"));
            for note in run.notes.iter().cloned().chain(partly) {
                match seen.iter_mut().find(|(text, _)| *text == note) {
                    Some((_, times)) => *times += 1,
                    None => seen.push((note, 1)),
                }
            }
        }
        let all = self.runs.len();
        // Here it is about the percentiles over all runs, however many runs had too many jobs.
        seen.retain(|(note, _)| note != PERCENTILES_ARE_APPROXIMATE);
        if response_ns.is_some_and(|times| times.approximate) {
            seen.push((PERCENTILES_ARE_APPROXIMATE.to_owned(), all));
        }
        let with_times =
            |(note, times)| if times == all { note } else { format!("{note} ({times} of {all} runs)") };
        seen.into_iter().map(with_times).collect()
    }
}

fn count(runs: usize) -> u64 {
    u64::try_from(runs).unwrap_or(u64::MAX)
}
