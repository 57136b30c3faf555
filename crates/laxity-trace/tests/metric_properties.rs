//! Every metric against its definition, for any jobs.

mod fixtures;

use fixtures::{MS, job, manifest, run, tallies, two_tasks};
use laxity_trace::{
    BackgroundRecord, Job, JobOutcome, Manifest, Run, RunSummary, Sample, Summary, TaskSummary,
};
use proptest::prelude::*;

/// The metrics of one task by their definitions, from all its jobs at once.
fn by_definition(task: u32, period_ms: u64, jobs: &[Job], horizon_ns: u64) -> TaskSummary {
    let of_task = || jobs.iter().filter(|job| job.task == task);
    let mean =
        |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let ended = |how: JobOutcome| of_task().filter(move |job| job.outcome == how);
    let completed: Vec<&Job> = ended(JobOutcome::Completed).collect();
    let unfinished = ended(JobOutcome::Unfinished).filter(|job| job.deadline_ns <= horizon_ns).count();
    let [aborted, skipped, ordinary] =
        [JobOutcome::Aborted, JobOutcome::Skipped, JobOutcome::Ordinary].map(|how| ended(how).count());
    let tardiness: Vec<u64> = completed.iter().filter_map(|job| job.tardiness_ns()).collect();
    let laxities: Vec<i64> = completed.iter().filter_map(|job| job.laxity_ns()).collect();
    let normalized: Vec<f64> = laxities.iter().map(|&ns| ns as f64 / (period_ms * MS) as f64).collect();
    let cpu_times: Vec<u64> = completed.iter().filter_map(|job| job.cpu_time_ns).collect();
    let cpu_ms: Vec<f64> = cpu_times.iter().map(|&ns| ns as f64 / MS as f64).collect();
    let total = |events: fn(&Job) -> Option<u32>| {
        let known = !completed.is_empty() && completed.iter().all(|job| events(job).is_some());
        let promised = || of_task().filter(|job| job.outcome != JobOutcome::Ordinary);
        known.then(|| promised().filter_map(events).map(u64::from).sum())
    };
    let miss_rates: Vec<f64> = completed
        .iter()
        .filter_map(|job| {
            Some(job.counters.l1d_misses? as f64 * 1e3 / job.cpu_time_ns.filter(|&ns| ns > 0)? as f64)
        })
        .collect();
    let met = laxities.iter().filter(|&&laxity| laxity >= 0).count();
    let size = |count: usize| count as u64;
    let mut summary = RunSummary::of(&run(0, "g-edf", 100, vec![]), &two_tasks(), 2).expect("valid").tasks
        [task as usize]
        .clone();
    summary.counts = laxity_trace::Counts {
        jobs: size(completed.len() + unfinished + aborted),
        completed: size(completed.len()),
        unfinished: size(unfinished),
        aborted: size(aborted),
        undecided: size(of_task().count() - completed.len() - unfinished - aborted - skipped - ordinary),
        skipped: size(skipped),
        ordinary: size(ordinary),
        met: size(met),
        misses: size(completed.len() - met + unfinished + aborted),
    };
    summary.normalized_laxity = Sample::of(&normalized);
    summary.laxity_ns_min = laxities.iter().min().copied();
    summary.tardiness_ns = mean(&tardiness.iter().map(|&ns| ns as f64).collect::<Vec<_>>())
        .map(|mean| laxity_trace::TaskTardiness { mean, max: tardiness.iter().max().copied().unwrap_or(0) });
    summary.execution_ns = mean(&cpu_ms).map(|mean| laxity_trace::ExecutionTimes {
        mean: mean * 1e6,
        min: cpu_times.iter().min().copied().unwrap_or(0),
        max: cpu_times.iter().max().copied().unwrap_or(0),
    });
    summary.migrations = total(|job| job.migrations);
    summary.context_switches = total(|job| job.context_switches);
    summary.cache.l1d_miss_rate_per_us = mean(&miss_rates);
    summary
}

fn near(left: Option<f64>, right: Option<f64>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => (left - right).abs() <= 1e-9 * right.abs().max(1.0),
        (left, right) => left == right,
    }
}

/// A job of one of two tasks, whose response time is up to 3 periods, or which was aborted, did not end, was skipped, or was of an ordinary
/// task.
fn plausible_job() -> impl Strategy<Value = Job> {
    let measured = (
        proptest::option::of(0u64..30 * MS),
        proptest::option::of(0u32..9),
        proptest::option::of(0u64..99_999),
    );
    (0u32..2, 0u32..20, proptest::option::of(0u64..60 * MS), 0u32..4, measured).prop_map(
        |(task, index, response, fate, measured)| {
            let period = if task == 0 { 10 } else { 20 };
            let release = u64::from(index) * period;
            let mut job = job(task, index, release, release + period, None);
            job.finish_ns = response.map(|response| job.release_ns + response);
            job.outcome = match (job.finish_ns, fate) {
                (_, 1) => JobOutcome::Ordinary,
                (Some(_), 0) => JobOutcome::Aborted,
                (Some(_), _) => JobOutcome::Completed,
                (None, 0) => JobOutcome::Skipped,
                (None, _) => JobOutcome::Unfinished,
            };
            (job.cpu_time_ns, job.migrations, job.context_switches) = (measured.0, measured.1, measured.1);
            job.counters.l1d_misses = measured.2;
            job
        },
    )
}

laxity_seeds::properties! {
    #[test]
    fn tasks_agree_with_the_definitions(jobs in proptest::collection::vec(plausible_job(), 0..60)) {
        let summary = RunSummary::of(&run(0, "g-edf", 100, jobs.clone()), &two_tasks(), 2).expect("valid");
        for (task, period_ms) in [(0, 10), (1, 20)] {
            let found = &summary.tasks[task as usize];
            let wanted = by_definition(task, period_ms, &jobs, 100 * MS);
            prop_assert_eq!((found.counts, found.laxity_ns_min), (wanted.counts, wanted.laxity_ns_min));
            prop_assert_eq!((found.migrations, found.context_switches), (wanted.migrations, wanted.context_switches));
            let laxity = |t: &TaskSummary| t.normalized_laxity.map(|l| l.mean);
            prop_assert!(near(laxity(found), laxity(&wanted)), "{:?} {:?}", found, wanted);
            let sd = |t: &TaskSummary| t.normalized_laxity.and_then(|l| l.sd);
            prop_assert!(near(sd(found), sd(&wanted)), "{:?} {:?}", found, wanted);
            let tardiness = |t: &TaskSummary| t.tardiness_ns.map(|t| t.max);
            prop_assert_eq!(tardiness(found), tardiness(&wanted));
            let tardiness = |t: &TaskSummary| t.tardiness_ns.map(|t| t.mean);
            prop_assert!(near(tardiness(found), tardiness(&wanted)), "{:?} {:?}", found, wanted);
            let range = |t: &TaskSummary| t.execution_ns.map(|e| (e.min, e.max));
            prop_assert_eq!(range(found), range(&wanted));
            let execution = |t: &TaskSummary| t.execution_ns.map(|e| e.mean);
            prop_assert!(near(execution(found), execution(&wanted)), "{:?} {:?}", found, wanted);
            let utilization = wanted.execution_ns.map(|e| e.mean / (period_ms * MS) as f64);
            prop_assert!(near(found.measured_utilization, utilization), "{:?}", found);
            let misses = |t: &TaskSummary| t.cache.l1d_miss_rate_per_us;
            // Rates are rounded to 10^-9 per µs, job by job.
            prop_assert!(near(misses(found), misses(&wanted)), "{:?} {:?}", found, wanted);
        }
    }

    #[test]
    fn streamed_jobs_give_the_summary_of_kept_ones(
        (jobs, shuffled) in proptest::collection::vec(plausible_job(), 0..60)
            .prop_flat_map(|jobs| (Just(jobs.clone()), Just(jobs).prop_shuffle()))
    ) {
        let (kept, set) = (run(0, "g-edf", 100, jobs), two_tasks());
        let streamed = tallies(&Run { jobs: shuffled, ..kept.clone() }, &set);
        let summary = RunSummary::of_tallies(&run(0, "g-edf", 100, vec![]), &set, 2, &streamed);
        prop_assert_eq!(summary, RunSummary::of(&kept, &set, 2).expect("valid"));
    }

    #[test]
    fn background_tasks_are_summed_by_scheduler(
        records in proptest::collection::vec((0u32..9, 0..1u64 << 40, 0..1u64 << 40, 1..1u64 << 40), 0..12)
    ) {
        let name = |id: u32| if id.is_multiple_of(2) { "edf-bh" } else { "fpp" };
        let runs = (0..6).map(|id| run(id, name(id), 100, vec![])).collect();
        let record = |&(run, run_ns, ready_ns, capacity_ns): &(u32, u64, u64, u64)| BackgroundRecord {
            run, entered: 2, exited: 1, run_ns, ready_ns, capacity_ns,
        };
        let background: Vec<_> = records.iter().map(record).collect();
        let summary = Summary::of(&Manifest { background, ..manifest(runs) }, &[two_tasks()]).expect("valid");
        for (parity, scheduler) in [(0, "edf-bh"), (1, "fpp")] {
            // Records of runs that are not there count nowhere.
            let own: Vec<_> = records.iter().filter(|record| record.0 < 6 && record.0 % 2 == parity).collect();
            let found = summary.background.iter().find(|one| one.scheduler == scheduler);
            prop_assert_eq!(found.is_some(), !own.is_empty());
            if let Some(found) = found {
                let sum = |of: fn(&(u32, u64, u64, u64)) -> u64| own.iter().map(|record| of(record)).sum::<u64>();
                prop_assert_eq!((found.runs, found.entered), (own.len() as u64, 2 * own.len() as u64));
                prop_assert_eq!(
                    (found.run_ns, found.ready_ns, found.capacity_ns),
                    (sum(|r| r.1), sum(|r| r.2), sum(|r| r.3))
                );
                prop_assert_eq!(found.run_share.is_none(), found.run_ns + found.ready_ns == 0);
            }
        }
    }

    #[test]
    fn the_order_of_jobs_does_not_matter(
        (jobs, shuffled) in proptest::collection::vec(plausible_job(), 0..60)
            .prop_flat_map(|jobs| (Just(jobs.clone()), Just(jobs).prop_shuffle()))
    ) {
        let of = |jobs| RunSummary::of(&run(0, "g-edf", 100, jobs), &two_tasks(), 2).expect("valid");
        prop_assert_eq!(of(jobs), of(shuffled));
    }

    #[test]
    fn metrics_are_in_range_and_agree_with_each_other(jobs in proptest::collection::vec(plausible_job(), 0..60)) {
        let released = jobs.len() as u64;
        let run = run(0, "g-edf", 100, jobs);
        let results = manifest(vec![run]);
        let summary = Summary::of(&results, &[two_tasks()]).expect("valid");
        let run = &summary.runs[0];
        let c = run.counts;
        prop_assert_eq!(c.jobs + c.undecided + c.skipped + c.ordinary, released);
        prop_assert_eq!((c.completed + c.unfinished + c.aborted, c.met + c.misses), (c.jobs, c.jobs));
        if let (Some(satisfied), Some(missed)) = (run.deadline_satisfaction, run.miss_ratio) {
            prop_assert!((0.0..=1.0).contains(&satisfied) && (satisfied + missed - 1.0).abs() < 1e-12);
        }
        if let Some(t) = run.tardiness_ns {
            prop_assert!(t.max as f64 >= t.mean && t.max as f64 >= t.mean_of_task_maxima);
            prop_assert_eq!(t.max > 0, run.laxity_ns_min.is_some_and(|laxity| laxity < 0));
        }
        if let Some(r) = run.response_ns {
            prop_assert!(r.p50 <= r.p90 && r.p90 <= r.p95 && r.p95 <= r.p99 && r.p99 <= r.p99_9 && r.p99_9 <= r.max);
            prop_assert!(r.max as f64 >= r.mean);
        }
        // One run of one set: the scheduler's numbers are the run's.
        let scheduler = &summary.schedulers[0];
        prop_assert_eq!((scheduler.counts, scheduler.response_ns, scheduler.rates), (c, run.response_ns, run.rates));
        prop_assert_eq!(scheduler.normalized_laxity.map(|l| l.mean), run.normalized_laxity.map(|l| l.mean));
        // Null and a reason go together.
        let document = serde_json::to_value(scheduler).expect("serializes");
        for metric in ["normalized_laxity", "tardiness_ns", "deadline_satisfaction", "measured_utilization",
            "migration_rate", "context_switch_rate", "l1d_miss_rate_per_us"] {
            prop_assert_eq!(document[metric].is_null(), scheduler.not_measured.contains_key(metric), "{}", metric);
        }
        let text = serde_json::to_string(&summary).expect("serializes");
        prop_assert_eq!(serde_json::from_str::<Summary>(&text).expect("reads back"), summary);
    }
}
