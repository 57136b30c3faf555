//! Metrics of one task in one run, and of one run.

use super::responses::{ResponseTimes, Responses};
use super::run_summary::{
    ExecutionTimes, MissRates, Rates, RunSummary, Tardiness, TaskSummary, TaskTardiness,
};
use super::statistics::{Sample, mean, ratio};
use super::table::{METRICS_OF_EVERY_RUN, RunMetric, Takes};
use super::tally::{Counts, Events, Tallies, TaskTally, Work, tally};
use crate::{Run, RunStatus};
use laxity_model::{Result, Task, TaskSet};
use std::collections::BTreeMap;

impl TaskSummary {
    fn of(id: u32, tally: &TaskTally, task: &Task) -> TaskSummary {
        let period = task.period().as_ns();
        let over_period = |ns: f64| Some(ns / ratio(period.into(), 1)?);
        // D is the same for all jobs: laxity and response time have one standard deviation.
        let sd = tally.responses.sd().and_then(over_period);
        let counts = tally.counts();
        let total = |events: &Events| events.total().filter(|_| counts.completed > 0);
        let cache = tally.cache_misses();
        TaskSummary {
            task: id,
            name: task.name.clone(),
            counts,
            deadline_satisfaction: counts.deadline_satisfaction(),
            normalized_laxity: tally.laxity_mean_over(period).map(|mean| Sample { mean, sd }),
            normalized_laxity_min: tally.laxity_ns_min().and_then(|ns| ratio(ns.into(), period.into())),
            laxity_ns_min: tally.laxity_ns_min(),
            tardiness_ns: tally
                .tardiness_ns_max()
                .and_then(|max| Some(TaskTardiness { mean: tally.tardiness_mean()?, max })),
            response_ns: tally.responses.summary(),
            execution_ns: execution_times(tally),
            execution_inflation: tally.work.inflation(),
            measured_utilization: tally.cpu_times.mean_over(period),
            migrations: total(&tally.migrations),
            context_switches: total(&tally.context_switches),
            cache: MissRates {
                l1d_miss_rate_per_us: cache.l1d.mean(),
                l2_miss_rate_per_us: cache.l2.mean(),
                llc_miss_rate_per_us: cache.llc.mean(),
            },
        }
    }
}

fn execution_times(tally: &TaskTally) -> Option<ExecutionTimes> {
    let (min, max) = tally.cpu_times.range()?;
    Some(ExecutionTimes { mean: tally.cpu_times.mean_over(1)?, min, max })
}

impl RunSummary {
    /// The metrics of a run of `set` on `cores` CPUs, from the jobs that it has kept.
    ///
    /// Errors: a job of a task that the set does not have.
    pub fn of(run: &Run, set: &TaskSet, cores: usize) -> Result<RunSummary> {
        Ok(Self::of_tallies(run, set, cores, &tally(run, set)?))
    }

    /// The metrics of a run of `set` on `cores` CPUs, whose jobs are in `tallies`; `run.jobs` is not looked at.
    ///
    /// Panics if the tallies are of a set with another number of tasks, or of another horizon than the run's.
    pub fn of_tallies(run: &Run, set: &TaskSet, cores: usize, tallies: &Tallies) -> RunSummary {
        assert_eq!(tallies.horizon_ns(), run.horizon().as_ns(), "tallies of another horizon than the run's");
        let tallies = tallies.real_time(set);
        let tasks: Vec<TaskSummary> = tallies
            .iter()
            .map(|&(id, tally)| TaskSummary::of(id, tally, &set.tasks()[id as usize]))
            .collect();
        let tallies: Vec<&TaskTally> = tallies.into_iter().map(|(_, tally)| tally).collect();
        let counts: Counts = tasks.iter().map(|task| task.counts).sum();
        // What the tasks keep is bounded by their number already.
        let mut responses = Responses::new(usize::MAX);
        tallies.iter().for_each(|tally| responses.merge(&tally.responses));
        let response_ns = responses.summary();
        let laxities: Vec<f64> =
            tasks.iter().filter_map(|task| task.normalized_laxity).map(|laxity| laxity.mean).collect();
        let mut summary = RunSummary {
            run: run.id,
            set: run.set,
            set_name: set.name().to_owned(),
            scheduler: run.scheduler.clone(),
            host: run.host,
            repetition: run.repetition,
            status: run.status.clone(),
            horizon_ns: run.horizon().as_ns(),
            counts,
            deadline_satisfaction: counts.deadline_satisfaction(),
            miss_ratio: counts.miss_ratio(),
            normalized_laxity: Sample::of(&laxities),
            normalized_laxity_min: tasks
                .iter()
                .filter_map(|task| task.normalized_laxity_min)
                .min_by(f64::total_cmp),
            laxity_ns_min: tasks.iter().filter_map(|task| task.laxity_ns_min).min(),
            tardiness_ns: tardiness(&tallies),
            response_ns,
            rates: rates(&tasks, &tallies, counts, cores),
            not_measured: BTreeMap::new(),
            ordinary_tasks: run
                .placement
                .as_ref()
                .map_or_else(Vec::new, |placement| placement.ordinary.clone()),
            notes: notes(run, &tasks, response_ns),
            tasks,
        };
        summary.not_measured = not_measured(run, &summary);
        summary
    }
}

fn tardiness(tallies: &[&TaskTally]) -> Option<Tardiness> {
    let maxima: Vec<u64> = tallies.iter().filter_map(|tally| tally.tardiness_ns_max()).collect();
    let sum: u128 = tallies.iter().map(|tally| tally.tardiness_ns).sum();
    let jobs: u64 = tallies.iter().map(|tally| tally.responses.count()).sum();
    let mean_of_task_maxima = mean(maxima.iter().filter_map(|&max| ratio(max.into(), 1)))?;
    Some(Tardiness {
        mean: ratio(i128::try_from(sum).ok()?, jobs.into())?,
        max: maxima.into_iter().max()?,
        mean_of_task_maxima,
    })
}

fn rates(tasks: &[TaskSummary], tallies: &[&TaskTally], counts: Counts, cores: usize) -> Rates {
    let per_task = |events: fn(&TaskTally) -> &Events| -> Option<f64> {
        let totals = tallies.iter().map(|tally| events(tally).total().map(i128::from));
        let sum = totals.sum::<Option<i128>>()?;
        ratio(sum, i128::try_from(tallies.len()).ok()?).filter(|_| counts.completed > 0)
    };
    let over_tasks = |metric: fn(&MissRates) -> Option<f64>| -> Option<f64> {
        mean(tasks.iter().filter_map(|task| metric(&task.cache)))
    };
    let real_time = tasks.iter().filter(|task| !task.counts.are_ordinary());
    let utilizations: Option<Vec<f64>> = real_time.map(|task| task.measured_utilization).collect();
    let measured_utilization = utilizations.filter(|u| !u.is_empty()).map(|u| u.iter().sum::<f64>());
    let cores = i128::try_from(cores).ok().filter(|&cores| cores > 0).and_then(|cores| ratio(cores, 1));
    Rates {
        measured_utilization,
        measured_utilization_per_core: measured_utilization.and_then(|sum| Some(sum / cores?)),
        execution_inflation: tallies.iter().map(|tally| tally.work).sum::<Work>().inflation(),
        migration_rate: per_task(|tally| &tally.migrations),
        context_switch_rate: per_task(|tally| &tally.context_switches),
        cache: MissRates {
            l1d_miss_rate_per_us: over_tasks(|cache| cache.l1d_miss_rate_per_us),
            l2_miss_rate_per_us: over_tasks(|cache| cache.l2_miss_rate_per_us),
            llc_miss_rate_per_us: over_tasks(|cache| cache.llc_miss_rate_per_us),
        },
    }
}

/// Said of runs and of schedulers whose response times were too many to keep.
pub(super) const PERCENTILES_ARE_APPROXIMATE: &str = "response-time percentiles are rounded up by at most 1/128: there were too many jobs to keep all response times";

fn notes(run: &Run, tasks: &[TaskSummary], response_ns: Option<ResponseTimes>) -> Vec<String> {
    let mut notes = run.notes.clone();
    if response_ns.is_some_and(|times| times.approximate) {
        notes.push(PERCENTILES_ARE_APPROXIMATE.to_owned());
    }
    if let RunStatus::Interrupted { reason, ran } = &run.status {
        notes.push(format!("interrupted after {ran} of {}: {reason}", run.duration));
    }
    if !matches!(run.status, RunStatus::NotRun { .. }) {
        let starved = tasks.iter().filter(|task| task.counts.completed == 0 && !task.counts.are_ordinary());
        notes.extend(starved.map(|task| {
            format!("no job of task `{}` completed: it is in no mean of laxity or tardiness", task.name)
        }));
    }
    notes
}

fn not_measured(run: &Run, summary: &RunSummary) -> BTreeMap<String, String> {
    let missing = METRICS_OF_EVERY_RUN.iter().filter(|metric| !(metric.is_there)(summary));
    missing.map(|metric| (metric.name.to_owned(), reason(run, summary, metric))).collect()
}

/// Why a metric is null: what the producer said, or what the jobs show.
fn reason(run: &Run, summary: &RunSummary, metric: &RunMetric) -> String {
    if let RunStatus::NotRun { reason } = &run.status {
        return format!("not run: {reason}");
    }
    let named = std::iter::once(metric.name).chain(metric.needs.iter().copied());
    if let Some(reason) = named.filter_map(|name| run.not_measured.get(name)).next() {
        return reason.clone();
    }
    match summary.counts {
        Counts { jobs: 0, .. } => return "no job completed and no deadline passed".to_owned(),
        Counts { completed: 0, .. } => return "no job completed".to_owned(),
        Counts { .. } => {}
    }
    let without_cpu_time =
        summary.tasks.iter().find(|task| task.measured_utilization.is_none() && !task.counts.are_ordinary());
    match (metric.takes, without_cpu_time) {
        (Takes::OneOfEachTask, Some(task)) => {
            format!("no completed job of task `{}` has a known CPU time", task.name)
        }
        (Takes::Each, _) => "not recorded for every completed job".to_owned(),
        (Takes::One | Takes::OneOfEachTask, _) => "not recorded for any completed job".to_owned(),
    }
}
