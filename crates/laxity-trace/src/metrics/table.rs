//! The metrics of a run by name: what each is, what it needs of jobs, and whether a run has it. Lists, reasons why one is not there, and
//! checks of results come from here.

use super::run_summary::RunSummary;

/// A metric of a run.
pub struct RunMetric {
    /// Its name in results.
    pub name: &'static str,
    /// In one line.
    pub description: &'static str,
    /// Columns of jobs that it needs, and other names under which a producer may say why it is not there.
    pub(super) needs: &'static [&'static str],
    /// Of which jobs these have to be there.
    pub(super) takes: Takes,
    /// Whether a run has it.
    pub(super) is_there: fn(&RunSummary) -> bool,
}

/// Of which completed jobs a metric takes what it needs: of the others it need not be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Of one of them, at least.
    One,
    /// Of one of each task.
    OneOfEachTask,
    /// Of each.
    Each,
}

const fn row(
    name: &'static str,
    description: &'static str,
    (needs, takes): (&'static [&'static str], Takes),
    is_there: fn(&RunSummary) -> bool,
) -> RunMetric {
    RunMetric { name, description, needs, takes, is_there }
}

/// The metrics of every run, measured or simulated; the table of this module's parent has them level by level.
pub static METRICS_OF_EVERY_RUN: &[RunMetric] = &[
    row(
        "normalized_laxity",
        "(D - R)/T of a job: what was left of its period at its end; below 0 it was late (lelli2012, 5.5)",
        (&["finish_ns"], Takes::One),
        |run| run.normalized_laxity.is_some(),
    ),
    row("tardiness_ns", "max(0, R - D) of a job, in ns", (&["finish_ns"], Takes::One), |run| {
        run.tardiness_ns.is_some()
    }),
    row(
        "response_ns",
        "R of a job, in ns: its finish less its nominal release",
        (&["finish_ns"], Takes::One),
        |run| run.response_ns.is_some(),
    ),
    row(
        "deadline_satisfaction",
        "jobs that met their deadlines by all jobs (lindsay2012, 6.2.3)",
        (&["finish_ns"], Takes::One),
        |run| run.deadline_satisfaction.is_some(),
    ),
    row("miss_ratio", "jobs that missed their deadlines by all jobs", (&["finish_ns"], Takes::One), |run| {
        run.miss_ratio.is_some()
    }),
    row(
        "measured_utilization",
        "CPU time/T, mean over the jobs of a task, summed over tasks (lelli2012, Table 4)",
        (&["cpu_time_ns"], Takes::OneOfEachTask),
        |run| run.rates.measured_utilization.is_some(),
    ),
    row(
        "measured_utilization_per_core",
        "measured_utilization by the number of CPUs (lelli2012, Table 4)",
        (&["measured_utilization", "cpu_time_ns"], Takes::OneOfEachTask),
        |run| run.rates.measured_utilization_per_core.is_some(),
    ),
    row(
        "execution_inflation",
        "CPU time by work: what preemptions, migrations and shared caches cost",
        (&["demand_ns", "cpu_time_ns"], Takes::One),
        |run| run.rates.execution_inflation.is_some(),
    ),
    row(
        "migration_rate",
        "migrations by the number of tasks (lelli2012, Table 2)",
        (&["migrations"], Takes::Each),
        |run| run.rates.migration_rate.is_some(),
    ),
    row(
        "context_switch_rate",
        "context switches by the number of tasks (lelli2012, Table 2)",
        (&["context_switches"], Takes::Each),
        |run| run.rates.context_switch_rate.is_some(),
    ),
    row(
        "l1d_miss_rate_per_us",
        "read misses of the L1 data cache by CPU time in us (lelli2012, Table 2)",
        (&["l1d_miss_rate", "l1d_misses", "cpu_time_ns"], Takes::One),
        |run| run.rates.cache.l1d_miss_rate_per_us.is_some(),
    ),
    row(
        "l2_miss_rate_per_us",
        "misses of the L2 cache by CPU time in us (lelli2012, Table 2)",
        (&["l2_miss_rate", "l2_misses", "cpu_time_ns"], Takes::One),
        |run| run.rates.cache.l2_miss_rate_per_us.is_some(),
    ),
    row(
        "llc_miss_rate_per_us",
        "misses of the last-level cache by CPU time in us (lelli2012, Table 2)",
        (&["llc_miss_rate", "llc_misses", "cpu_time_ns"], Takes::One),
        |run| run.rates.cache.llc_miss_rate_per_us.is_some(),
    ),
    row(
        "tardiness_histogram",
        "jobs by classes of tardiness (lindsay2012, Figure 6.27)",
        (&[], Takes::One),
        |_| true,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Host, Run, RunStatus};
    use laxity_model::{Duration, Task, TaskSet};

    #[test]
    fn each_is_in_the_table_of_levels() {
        let table: Vec<&str> =
            include_str!("mod.rs").lines().filter(|line| line.starts_with("//! |")).collect();
        for metric in METRICS_OF_EVERY_RUN {
            // `l1d_`, `l2_`, `llc_miss_rate_per_us` and `..._per_core` share rows.
            let short = metric.name.split_once("_miss_rate").map_or(metric.name, |(cache, _)| cache);
            let short = short.strip_suffix("_per_core").unwrap_or(short);
            assert!(table.iter().any(|line| line.contains(&format!("`{short}"))), "{}", metric.name);
        }
    }

    /// A field of a run's summary that can be null and is no metric would be null without a reason.
    #[test]
    fn every_null_of_a_run_that_was_not_made_has_its_reason() {
        let ms = Duration::from_ms;
        let set = TaskSet::new("s", vec![Task::periodic("t", ms(1), ms(10))]).expect("valid");
        let run = Run::new("p-edf", Host::Linux, ms(100), RunStatus::NotRun { reason: "no".into() });
        let summary = RunSummary::of(&run, &set, 1).expect("a summary");
        let written = serde_json::to_value(&summary).expect("serializable");
        let nulls = written.as_object().expect("an object").iter().filter(|(_, value)| value.is_null());
        for (name, _) in nulls {
            // The least of something is there with it.
            let metric = ["normalized_laxity_min", "laxity_ns_min"].contains(&name.as_str());
            let metric = if metric { "normalized_laxity" } else { name };
            assert!(summary.not_measured.contains_key(metric), "{name} is in no row of METRICS_OF_EVERY_RUN");
        }
        assert_eq!(summary.not_measured.len(), METRICS_OF_EVERY_RUN.len() - 1, "but for the histogram");
    }
}
