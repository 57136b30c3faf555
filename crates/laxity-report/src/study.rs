//! Results, indexed: which sets, which schedulers, what each run amounts to.

use crate::number;
use laxity_model::{Duration, LoadSum, Result, Scheduler, Task, TaskSet, scheduler_of};
use laxity_trace::{
    ALONE, Counts, Host, Laxities, Results, Run, RunDigest, RunStatus, RunSummary, Sample, SchedulerSummary,
    Summary, TaskSummary,
};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A scheduler and the host that carried it out: what can be recommended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// Name of the scheduler.
    pub scheduler: String,
    /// The host that scheduled.
    pub host: Host,
    /// What it is called in tables and plots: the scheduler, and the host where several had it.
    pub label: String,
}

/// A run with its metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured<'a> {
    pub(crate) run: &'a Run,
    pub(crate) summary: &'a RunSummary,
    /// None where only the summary is known.
    pub(crate) laxities: Option<&'a Laxities>,
}

/// Where the metrics of results come from.
pub(crate) enum Source {
    /// What was gathered of the jobs, by number of the run; of other runs the jobs that they have kept.
    Digests(BTreeMap<u32, RunDigest>),
    /// They are known already. There is nothing to plot.
    Summary(Summary),
}

/// Results with their task sets and metrics.
pub(crate) struct Study<'a> {
    pub(crate) results: &'a Results,
    pub(crate) sets: Vec<TaskSet>,
    pub(crate) summary: Summary,
    /// By number of the run.
    laxities: BTreeMap<u32, Laxities>,
    /// Without [`ALONE`]; those of lelli2012 first, in the order of its tables. Simulated ones only where nothing was
    /// measured.
    pub(crate) configurations: Vec<Configuration>,
    /// What was simulated beside measurements.
    pub(crate) simulated: Vec<Configuration>,
}

impl<'a> Study<'a> {
    /// With metrics from `source`.
    ///
    /// Errors: a task set of the manifest is not valid, or a run or job refers to something that is not there.
    pub(crate) fn of(results: &'a Results, source: Source) -> Result<Study<'a>> {
        let sets = results.sets()?;
        let (summary, laxities) = match source {
            Source::Summary(summary) => (summary, BTreeMap::new()),
            Source::Digests(digests) => measured(results, &sets, digests)?,
        };
        let (configurations, simulated) = configurations(&results.runs);
        Ok(Study { results, configurations, simulated, sets, summary, laxities })
    }

    /// What the runs of a summary are called.
    pub(crate) fn label_of(&self, summary: &SchedulerSummary) -> String {
        let all = self.configurations.iter().chain(&self.simulated);
        let own = |c: &&Configuration| c.scheduler == summary.scheduler && c.host == summary.host;
        { all }.find(own).map_or_else(|| summary.scheduler.clone(), |c| c.label.clone())
    }

    /// The number of CPUs used.
    pub(crate) fn cores(&self) -> usize {
        self.results.machine.cpus.len()
    }

    /// All CPUs are one cluster, so that clustered scheduling is global scheduling.
    pub(crate) fn one_cluster(&self) -> bool {
        self.results.machine.clusters.len() <= 1
    }

    /// Every run that was asked for, of these sets under this configuration.
    pub(crate) fn runs(&self, sets: &[usize], configuration: &Configuration) -> Vec<Measured<'_>> {
        self.select(sets, |run| run.scheduler == configuration.scheduler && run.host == configuration.host)
    }

    /// Whether there is anything to show of it: a policy of laxity's own that is only simulated has no measured run.
    pub(crate) fn is_shown(&self, configuration: &Configuration) -> bool {
        let made = |one: &Measured<'_>| !matches!(one.run.status, RunStatus::NotRun { .. });
        configuration.host != Host::KernelPolicy
            || self.runs(&self.all_sets(), configuration).iter().any(made)
    }

    /// Whether jobs asked for work, which takes longer where caches are cold; else they asked for CPU time.
    pub(crate) fn demand_is_work(&self) -> bool {
        self.results.options.get("demand-model").is_some_and(|model| model == "work")
    }

    /// Whether any run of what is compared was made, to its end or not.
    pub(crate) fn anything_was_run(&self) -> bool {
        let all = self.all_sets();
        self.configurations.iter().any(|one| Evidence::of(&self.runs(&all, one)).runs > 0)
    }

    /// Whether jobs ran under any of the configurations; a simulation beside measurements that failed is none.
    pub(crate) fn anything_ran(&self) -> bool {
        let all = self.all_sets();
        self.configurations.iter().any(|one| Evidence::of(&self.runs(&all, one)).counts.jobs > 0)
    }

    /// The runs in which the tasks of this set ran alone.
    pub(crate) fn alone(&self, set: usize) -> Vec<Measured<'_>> {
        self.select(&[set], |run| run.scheduler == ALONE)
    }

    fn select(&self, sets: &[usize], wanted: impl Fn(&Run) -> bool) -> Vec<Measured<'_>> {
        let of_sets = |run: &Run| usize::try_from(run.set).is_ok_and(|set| sets.contains(&set));
        let runs = self.results.runs.iter().zip(&self.summary.runs);
        runs.filter(|(run, _)| of_sets(run) && wanted(run))
            .map(|(run, summary)| Measured { run, summary, laxities: self.laxities.get(&run.id) })
            .collect()
    }

    /// Indices of all sets.
    pub(crate) fn all_sets(&self) -> Vec<usize> {
        (0..self.sets.len()).collect()
    }
}

/// The metrics of results and the laxities of their runs, of which some are gathered already.
fn measured(
    results: &Results,
    sets: &[TaskSet],
    mut digests: BTreeMap<u32, RunDigest>,
) -> Result<(Summary, BTreeMap<u32, Laxities>)> {
    for run in results.runs.iter().filter(|run| !run.jobs.is_empty()) {
        let set = usize::try_from(run.set).ok().and_then(|set| sets.get(set));
        if let (Some(set), Entry::Vacant(none)) = (set, digests.entry(run.id)) {
            none.insert(RunDigest::of(run, set)?);
        }
    }
    let tallied = |run| digests.get(&run).map(|digest: &RunDigest| &digest.tallies);
    let summary = Summary::of_tallied(results, sets, tallied)?;
    Ok((summary, digests.into_iter().map(|(run, digest)| (run, digest.laxities)).collect()))
}

/// What was measured and what was simulated beside it; what was simulated alone stands for what was measured.
fn configurations(runs: &[Run]) -> (Vec<Configuration>, Vec<Configuration>) {
    let mut seen: Vec<(String, Host)> = Vec::new();
    for run in runs.iter().filter(|run| run.scheduler != ALONE) {
        let key = (run.scheduler.clone(), run.host);
        if !seen.contains(&key) {
            seen.push(key);
        }
    }
    let known = |name: &str| Scheduler::ALL.iter().position(|s| s.name() == name).unwrap_or(usize::MAX);
    seen.sort_by_key(|(scheduler, _)| known(scheduler_of(scheduler).0));
    let (mut simulated, mut real): (Vec<_>, Vec<_>) =
        seen.into_iter().partition(|(_, host)| *host == Host::Simulator);
    if real.is_empty() {
        std::mem::swap(&mut simulated, &mut real);
    }
    let names: Vec<String> = real.iter().map(|(scheduler, _)| scheduler.clone()).collect();
    let shown = |(scheduler, host): (String, Host)| {
        let several_hosts = names.iter().filter(|name| **name == scheduler).count() > 1;
        let label = if several_hosts { format!("{scheduler} ({})", host.name()) } else { scheduler.clone() };
        Configuration { scheduler, host, label }
    };
    let beside = |(scheduler, host): (String, Host)| Configuration {
        label: format!("{scheduler} (simulated)"),
        scheduler,
        host,
    };
    (real.into_iter().map(shown).collect(), simulated.into_iter().map(beside).collect())
}

/// What the runs of one configuration show, taken together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    /// Runs made, to their end or not.
    pub(crate) runs: usize,
    /// Why runs were not made or did not end, without repeats.
    pub(crate) incomplete: Vec<String>,
    pub(crate) counts: Counts,
    pub(crate) tardiness_ns_max: Option<u64>,
    /// Least normalized laxity of a completed job.
    pub(crate) laxity_min: Option<f64>,
    /// Over runs, each run being one value.
    pub(crate) laxity: Option<Sample>,
    pub(crate) utilization_per_core: Option<Sample>,
    pub(crate) context_switch_rate: Option<Sample>,
    pub(crate) migration_rate: Option<Sample>,
}

impl Evidence {
    pub(crate) fn of(runs: &[Measured<'_>]) -> Evidence {
        let made: Vec<&RunSummary> = runs
            .iter()
            .map(|m| m.summary)
            .filter(|s| !matches!(s.status, RunStatus::NotRun { .. }))
            .collect();
        let over = |metric: fn(&RunSummary) -> Option<f64>| {
            Sample::of(&made.iter().filter_map(|summary| metric(summary)).collect::<Vec<_>>())
        };
        let counts: Counts = made.iter().map(|summary| summary.counts).sum();
        let mut incomplete = incomplete(runs);
        if counts.jobs == 0 && incomplete.is_empty() && !made.is_empty() {
            incomplete.push("no job ended or had to end while it ran".to_owned());
        }
        Evidence {
            runs: made.len(),
            incomplete,
            counts,
            tardiness_ns_max: made.iter().filter_map(|s| s.tardiness_ns).map(|t| t.max).max(),
            laxity_min: made.iter().filter_map(|s| s.normalized_laxity_min).min_by(f64::total_cmp),
            laxity: over(|s| s.normalized_laxity.map(|laxity| laxity.mean)),
            utilization_per_core: over(|s| s.rates.measured_utilization_per_core),
            context_switch_rate: over(|s| s.rates.context_switch_rate),
            migration_rate: over(|s| s.rates.migration_rate),
        }
    }

    /// Every run that was asked for ran to its end, and the fate of at least one job is known.
    pub(crate) fn complete(&self) -> bool {
        self.counts.jobs > 0 && self.incomplete.is_empty()
    }
}

fn incomplete(runs: &[Measured<'_>]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for run in runs {
        let reason = match &run.run.status {
            RunStatus::Completed => continue,
            RunStatus::Interrupted { reason, ran } => {
                let why = if reason == "interrupted" { String::new() } else { format!(": {reason}") };
                format!("interrupted after {} of {}{why}", shown(*ran), shown(run.run.duration))
            }
            RunStatus::NotRun { reason } => format!("not run: {reason}"),
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

/// Names with the same reason together, in their order, and the reason.
pub(crate) fn by_reason(reasons: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut together: Vec<(String, String)> = Vec::new();
    for (name, why) in reasons {
        match together.iter_mut().find(|(_, known)| *known == why) {
            Some((names, _)) => *names += &format!(", {name}"),
            None => together.push((name, why)),
        }
    }
    together
}

/// Why something is missing of measured runs (`Run::not_measured`), with the schedulers whose it is.
pub(crate) fn reasons_of_runs(study: &Study<'_>, what: &str) -> Vec<(String, String)> {
    let reason = |run: &laxity_trace::Run| Some((run.scheduler.clone(), run.not_measured.get(what)?.clone()));
    let mut reasons: Vec<(String, String)> = Vec::new();
    for one in study.results.runs.iter().filter_map(reason) {
        if !reasons.contains(&one) {
            reasons.push(one);
        }
    }
    by_reason(reasons)
}

/// A duration to three digits.
pub(crate) fn shown(duration: Duration) -> String {
    number::span_ns(duration.as_ns())
}

/// One task under one configuration, over the runs made.
#[derive(Debug, Clone, Default)]
pub(crate) struct TaskEvidence {
    pub(crate) counts: Counts,
    pub(crate) tardiness_ns_max: Option<u64>,
    pub(crate) response_ns_max: Option<u64>,
    /// Mean over runs of the 99th percentile.
    pub(crate) response_ns_p99: Option<f64>,
    /// Mean over runs of the median.
    pub(crate) response_ns_median: Option<f64>,
    /// Mean over runs of the mean CPU time of a job.
    pub(crate) execution_ns: Option<Sample>,
    /// Mean over runs of CPU time by demand.
    pub(crate) execution_inflation: Option<f64>,
    pub(crate) l1d_miss_rate: Option<f64>,
    pub(crate) l2_miss_rate: Option<f64>,
    pub(crate) llc_miss_rate: Option<f64>,
}

impl TaskEvidence {
    /// Of the task with this id in the set.
    pub(crate) fn of(runs: &[Measured<'_>], task: usize) -> TaskEvidence {
        let id = u32::try_from(task).unwrap_or(u32::MAX);
        // They are in the order of their ids.
        let of_run = |m: &Measured<'_>| -> Option<usize> {
            m.summary.tasks.binary_search_by_key(&id, |task| task.task).ok()
        };
        let summaries: Vec<&TaskSummary> =
            runs.iter().filter_map(|m| m.summary.tasks.get(of_run(m)?)).collect();
        let over = |metric: fn(&TaskSummary) -> Option<f64>| {
            Sample::of(&summaries.iter().filter_map(|task| metric(task)).collect::<Vec<_>>())
        };
        let mean = |metric| over(metric).map(|sample: Sample| sample.mean);
        #[expect(clippy::cast_precision_loss, reason = "for display only")]
        let response_ns_p99 = mean(|t| t.response_ns.map(|r| r.p99 as f64));
        #[expect(clippy::cast_precision_loss, reason = "for display only")]
        let response_ns_median = mean(|t| t.response_ns.map(|r| r.p50 as f64));
        TaskEvidence {
            counts: summaries.iter().map(|task| task.counts).sum(),
            tardiness_ns_max: summaries.iter().filter_map(|t| t.tardiness_ns).map(|t| t.max).max(),
            response_ns_max: summaries.iter().filter_map(|t| t.response_ns).map(|r| r.max).max(),
            response_ns_p99,
            response_ns_median,
            execution_ns: over(|t| t.execution_ns.map(|e| e.mean)),
            execution_inflation: mean(|t| t.execution_inflation),
            l1d_miss_rate: mean(|t| t.cache.l1d_miss_rate_per_us),
            l2_miss_rate: mean(|t| t.cache.l2_miss_rate_per_us),
            llc_miss_rate: mean(|t| t.cache.llc_miss_rate_per_us),
        }
    }
}

/// The working set that all real-time tasks of a set have, if it is one.
pub(crate) fn common_working_set(set: &TaskSet) -> Option<u64> {
    let mut sizes = set.real_time().map(|(_, task)| task.working_set.size_bytes);
    let first = sizes.next()?;
    sizes.all(|size| size == first).then_some(first)
}

/// Number of real-time tasks.
pub(crate) fn tasks_of(set: &TaskSet) -> usize {
    set.real_time().count()
}

/// U of a set, to show.
pub(crate) fn utilization_of(set: &TaskSet) -> f64 {
    set.load().to_f64()
}

/// C/T of a task, to show.
pub(crate) fn task_utilization(task: &Task) -> f64 {
    let mut share = LoadSum::new();
    share.add(task.wcet, task.period());
    share.to_f64()
}
