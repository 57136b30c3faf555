//! Every metric against numbers worked out by hand.

mod fixtures;

use fixtures::{MS, job, manifest, run, tallies, two_tasks};
use laxity_model::{Duration, Task, TaskKind, TaskSet};
use laxity_trace::{
    Counters, Host, Job, JobOutcome, Laxities, ResponseTimes, Run, RunStatus, RunSummary, Sample, Summary,
    Tallies, TaskSelection, UnknownTask, nearest_rank,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a job measured besides its times: CPU time in ms, migrations, context switches, misses.
fn measured(job: Job, cpu_ms: u64, migrations: u32, switches: u32, l1d: u64, llc: u64) -> Job {
    Job {
        cpu_time_ns: Some(cpu_ms * MS),
        migrations: Some(migrations),
        context_switches: Some(switches),
        counters: Counters { l1d_misses: Some(l1d), llc_misses: Some(llc), ..Counters::default() },
        ..job
    }
}

/// 40 ms of two tasks; `fast` has D = T = 10 ms, `slow` D = T = 20 ms.
///
/// ```text
///            release deadline finish  R   laxity  laxity/T  tardiness  CPU  migr. switches L1D  LLC
/// fast   0      0       10       2    2      8      0.8         0       2     0      1    200  1000
/// fast   1     10       20      20   10      0      0.0         0       2     1      2    400  3000
/// fast   2     20       30      34   14     -4     -0.4         4       3     2      3    900  6000
/// slow   0      0       20      12   12      8      0.4         0       6     1      4   1200   600
/// slow   1     20       40       -    (due at the horizon: unfinished, a miss)
/// slow   2     40       60       -    (released at the horizon, due beyond it: undecided)
/// ```
fn example() -> Run {
    let jobs = vec![
        measured(job(0, 0, 0, 10, Some(2)), 2, 0, 1, 200, 1000),
        measured(job(0, 1, 10, 20, Some(20)), 2, 1, 2, 400, 3000),
        measured(job(0, 2, 20, 30, Some(34)), 3, 2, 3, 900, 6000),
        measured(job(1, 0, 0, 20, Some(12)), 6, 1, 4, 1200, 600),
        job(1, 1, 20, 40, None),
        job(1, 2, 40, 60, None),
    ];
    let mut run = run(0, "g-edf", 40, jobs);
    run.not_measured.insert("l2_misses".to_owned(), "the PMU has no such event".to_owned());
    run
}

/// `fast` takes 2, 2 and 3 ms where 2 each were asked for, `slow` 6 of 4: 7/6, 6/4, and 13/10 of both.
#[test]
fn inflation_is_cpu_time_by_demand() {
    let mut run = example();
    for (job, demand_ms) in run.jobs.iter_mut().zip([2, 2, 2, 4, 4, 4]) {
        job.demand_ns = Some(demand_ms * MS);
    }
    let of = |run: &Run| RunSummary::of(run, &two_tasks(), 2).expect("valid");
    let summary = of(&run);
    assert_eq!([0, 1].map(|task| summary.tasks[task].execution_inflation), [Some(7.0 / 6.0), Some(1.5)]);
    assert_eq!(summary.rates.execution_inflation, Some(1.3));
    // A job without CPU time, and one that was aborted, count on neither side.
    run.jobs[0].cpu_time_ns = None;
    run.jobs[3].outcome = JobOutcome::Aborted;
    let summary = of(&run);
    assert_eq!([0, 1].map(|task| summary.tasks[task].execution_inflation), [Some(1.25), None]);
    assert_eq!(summary.rates.execution_inflation, Some(1.25));
}

/// `fast` has its third job aborted at 31 (due at 30), `slow` its second release skipped.
///
/// The abort is a miss without response time, laxity or tardiness; its 3 ms of CPU time are in no mean, its 2 migrations in
/// the total. The skipped release counts nowhere else.
#[test]
fn aborted_jobs_are_misses_and_skipped_releases_are_no_jobs() {
    let mut run = example();
    run.jobs[2] = Job { outcome: JobOutcome::Aborted, finish_ns: Some(31 * MS), ..run.jobs[2].clone() };
    run.jobs[4].outcome = JobOutcome::Skipped;
    let summary = RunSummary::of(&run, &two_tasks(), 2).expect("valid");
    let [fast, slow] = &summary.tasks[..] else { panic!("two tasks: {:?}", summary.tasks) };
    let counts = |c: laxity_trace::Counts| [c.jobs, c.completed, c.unfinished, c.aborted, c.met, c.misses];
    assert_eq!(counts(fast.counts), [3, 2, 0, 1, 2, 1]);
    assert_eq!(counts(slow.counts), [1, 1, 0, 0, 1, 0]);
    assert_eq!((slow.counts.skipped, slow.counts.undecided, summary.counts.skipped), (1, 1, 1));
    assert_eq!((fast.deadline_satisfaction, summary.deadline_satisfaction), (Some(2.0 / 3.0), Some(0.75)));
    // 0.8 and 0.0; nothing was late that has completed.
    assert_eq!(fast.normalized_laxity.map(|laxity| laxity.mean), Some(0.4));
    assert_eq!((fast.laxity_ns_min, fast.tardiness_ns.map(|late| late.max)), (Some(0), Some(0)));
    assert_eq!(fast.response_ns.map(|response| (response.max, response.mean)), Some((10 * MS, 6e6)));
    assert_eq!(fast.execution_ns.map(|execution| execution.max), Some(2 * MS));
    assert_eq!((fast.migrations, fast.context_switches), (Some(3), Some(6)));
}

fn close(left: Option<f64>, right: f64) {
    let left = left.expect("measured");
    assert!((left - right).abs() <= 1e-12 * right.abs().max(1.0), "{left} is not {right}");
}

#[test]
fn tasks_as_worked_out_by_hand() {
    let summary = RunSummary::of(&example(), &two_tasks(), 2).expect("valid");
    let [fast, slow] = &summary.tasks[..] else { panic!("two tasks: {:?}", summary.tasks) };
    assert_eq!((fast.task, &*fast.name, slow.task, &*slow.name), (0, "fast", 1, "slow"));

    let counts = |t: &laxity_trace::TaskSummary| {
        let c = t.counts;
        (c.jobs, c.completed, c.unfinished, c.undecided, c.met, c.misses)
    };
    assert_eq!((counts(fast), counts(slow)), ((3, 3, 0, 0, 2, 1), (2, 1, 1, 1, 1, 1)));
    assert_eq!((fast.deadline_satisfaction, slow.deadline_satisfaction), (Some(2.0 / 3.0), Some(0.5)));

    // fast: (0.8 + 0.0 - 0.4)/3 = 0.4/3; deviations 2/3, -2/15, -8/15, squares 0.746667, over 2: 0.373333.
    let laxity = fast.normalized_laxity.expect("measured");
    close(Some(laxity.mean), 0.4 / 3.0);
    close(laxity.sd, (28.0f64 / 75.0).sqrt());
    assert_eq!(slow.normalized_laxity, Some(Sample { mean: 0.4, sd: None }));
    assert_eq!((fast.normalized_laxity_min, fast.laxity_ns_min), (Some(-0.4), Some(-4_000_000)));

    let tardiness = fast.tardiness_ns.expect("measured");
    close(Some(tardiness.mean), 4e6 / 3.0);
    assert_eq!((tardiness.max, slow.tardiness_ns.map(|t| t.max)), (4 * MS, Some(0)));

    // R of fast: 2, 10, 14 ms; the median is the ceil(1.5) = 2nd, all higher percentiles the 3rd.
    let response = fast.response_ns.expect("measured");
    assert_eq!((response.p50, response.p90, response.max), (10 * MS, 14 * MS, 14 * MS));
    close(Some(response.mean), 26e6 / 3.0);

    // CPU time of fast: 2, 2, 3 ms: mean 7/3, over T = 10 ms.
    close(fast.measured_utilization, 0.7 / 3.0);
    close(slow.measured_utilization, 0.3);
    let execution = fast.execution_ns.expect("measured");
    assert_eq!((execution.min, execution.max), (2 * MS, 3 * MS));
    assert_eq!((fast.migrations, fast.context_switches, slow.migrations), (Some(3), Some(6), Some(1)));

    // Misses per µs: 200/2000 = 0.1, 400/2000 = 0.2, 900/3000 = 0.3; LLC 0.5, 1.5, 2.
    close(fast.cache.l1d_miss_rate_per_us, 0.2);
    close(fast.cache.llc_miss_rate_per_us, 4.0 / 3.0);
    close(slow.cache.l1d_miss_rate_per_us, 0.2);
    assert_eq!(fast.cache.l2_miss_rate_per_us, None);
}

#[test]
fn a_run_as_worked_out_by_hand() {
    let summary = RunSummary::of(&example(), &two_tasks(), 2).expect("valid");
    let c = summary.counts;
    assert_eq!((c.jobs, c.completed, c.unfinished, c.undecided, c.met, c.misses), (5, 4, 1, 1, 3, 2));
    assert_eq!((summary.deadline_satisfaction, summary.miss_ratio), (Some(0.6), Some(0.4)));

    // Tasks: 2/15 and 0.4; mean 4/15, deviations ∓2/15: variance 2 (2/15)^2 / 1.
    let laxity = summary.normalized_laxity.expect("measured");
    close(Some(laxity.mean), 4.0 / 15.0);
    close(laxity.sd, 2.0f64.sqrt() * 2.0 / 15.0);
    assert_eq!((summary.normalized_laxity_min, summary.laxity_ns_min), (Some(-0.4), Some(-4_000_000)));

    // Jobs: 4 ms in 4 jobs. Maxima of the tasks: 4 ms and 0.
    let tardiness = summary.tardiness_ns.expect("measured");
    assert_eq!((tardiness.mean, tardiness.max, tardiness.mean_of_task_maxima), (1e6, 4 * MS, 2e6));

    // R: 2, 10, 12, 14 ms: the median is the 2nd, p90 the ceil(3.6) = 4th.
    let all = ResponseTimes {
        mean: 9.5e6,
        p50: 10 * MS,
        p90: 14 * MS,
        p95: 14 * MS,
        p99: 14 * MS,
        p99_9: 14 * MS,
        max: 14 * MS,
        approximate: false,
    };
    assert_eq!(summary.response_ns, Some(all));

    // 0.7/3 + 0.3, and half of it on each of two cores.
    close(summary.rates.measured_utilization, 1.6 / 3.0);
    close(summary.rates.measured_utilization_per_core, 0.8 / 3.0);
    // 0+1+2+1 = 4 migrations and 1+2+3+4 = 10 context switches of 2 tasks.
    assert_eq!((summary.rates.migration_rate, summary.rates.context_switch_rate), (Some(2.0), Some(5.0)));
    // Tasks: 0.2 and 0.2; 4/3 and 600/6000 = 0.1.
    close(summary.rates.cache.l1d_miss_rate_per_us, 0.2);
    close(summary.rates.cache.llc_miss_rate_per_us, (4.0 / 3.0 + 0.1) / 2.0);
    let missing: Vec<_> = summary.not_measured.iter().map(|(k, v)| (&**k, &**v)).collect();
    let nobody_asked = ("execution_inflation", "not recorded for any completed job");
    assert_eq!(missing, [nobody_asked, ("l2_miss_rate_per_us", "the PMU has no such event")]);
}

#[test]
fn a_set_counts_once_however_often_it_is_repeated() {
    // One job of `fast` (T = 10) per run, with laxities 8 and 4 for set 0 and 2 for set 1: sets 0.6 and 0.2.
    let made = |id: u32, set: u32, finish_ms: u64| {
        let jobs = vec![job(0, 0, 0, 10, Some(finish_ms))];
        Run { set, repetition: id, ..run(id, "g-edf", 40, jobs) }
    };
    let alone = Run { scheduler: laxity_trace::ALONE.to_owned(), ..made(3, 0, 1) };
    let results = manifest(vec![made(0, 0, 2), made(1, 0, 6), made(2, 1, 8), alone]);
    let summary = Summary::of(&results, &[two_tasks(), two_tasks()]).expect("valid");
    assert_eq!((summary.schedulers.len(), summary.runs.len()), (1, 4), "alone is no scheduler");
    let laxity = summary.schedulers[0].normalized_laxity.expect("measured");
    close(Some(laxity.mean), 0.4);
    close(laxity.sd, 0.2 * 2.0f64.sqrt());
}

#[test]
fn a_scheduler_as_worked_out_by_hand() {
    // A second run in which `fast` alone has jobs that all end with laxity 5 of 10: tasks 0.5 (slow has none).
    let mut second = run(1, "g-edf", 40, vec![]);
    second.repetition = 1;
    second.jobs = (0..4)
        .map(|k| job(0, k, u64::from(k) * 10, u64::from(k) * 10 + 10, Some(u64::from(k) * 10 + 5)))
        .collect();
    let not_run =
        Run { status: RunStatus::NotRun { reason: "no time".to_owned() }, ..run(2, "g-edf", 40, vec![]) };
    let other = Run { host: Host::Simulator, ..run(3, "g-edf", 40, vec![]) };
    let results = manifest(vec![example(), second, not_run, other]);
    let summary = Summary::of(&results, &[two_tasks()]).expect("valid");
    assert_eq!((summary.schedulers.len(), summary.runs.len()), (2, 4));
    let edf = &summary.schedulers[0];
    assert_eq!((edf.runs, edf.runs_interrupted, edf.runs_not_made), (2, 0, 1));
    assert_eq!((edf.counts.jobs, edf.counts.misses, edf.deadline_satisfaction), (9, 2, Some(7.0 / 9.0)));

    // Runs: 4/15 and 1/2; mean 23/60, deviations ∓7/60.
    let laxity = edf.normalized_laxity.expect("measured");
    close(Some(laxity.mean), 23.0 / 60.0);
    close(laxity.sd, 2.0f64.sqrt() * 7.0 / 60.0);
    // 4 ms of tardiness in 8 completed jobs; maxima of the runs 4 ms and 0; of the tasks 2 ms and 0.
    let tardiness = edf.tardiness_ns.expect("measured");
    assert_eq!((tardiness.mean, tardiness.max), (0.5e6, 4 * MS));
    assert_eq!((tardiness.mean_of_run_maxima, tardiness.mean_of_task_maxima), (2e6, 1e6));
    // R: 2 5 5 5 5 10 12 14 ms: the median is the 4th, p90 the ceil(7.2) = 8th.
    assert_eq!(edf.response_ns.map(|r| (r.p50, r.p90, r.max)), Some((5 * MS, 14 * MS, 14 * MS)));
    // Only the first run measured these: a mean over one run, without a standard deviation, and a note.
    assert_eq!((edf.rates.migration_rate, edf.sd.migration_rate), (Some(2.0), None));
    assert!(
        edf.notes.iter().any(|note| note.starts_with("migration_rate not measured: not recorded")),
        "{:?}",
        edf.notes
    );
    assert!(!edf.not_measured.contains_key("migration_rate"));
    assert_eq!(edf.not_measured["l2_miss_rate_per_us"], "the PMU has no such event");

    let simulated = &summary.schedulers[1];
    assert_eq!(
        (simulated.host, simulated.counts.jobs, simulated.deadline_satisfaction),
        (Host::Simulator, 0, None)
    );
}

#[test]
fn runs_of_two_sets_have_a_standard_deviation() {
    let with_migrations = |id, set, migrations| {
        let jobs = [0, 1].map(|task| {
            measured(job(task, 0, 0, 10 * (u64::from(task) + 1), Some(5)), 5, migrations, 0, 0, 0)
        });
        Run { set, ..run(id, "g-rm", 20, jobs.into()) }
    };
    let results = manifest(vec![with_migrations(0, 0, 1), with_migrations(1, 1, 3)]);
    let summary = Summary::of(&results, &[two_tasks(), two_tasks()]).expect("valid");
    // Rates 1 and 3: mean 2, deviations ∓1, variance 2/1.
    assert_eq!(summary.schedulers[0].rates.migration_rate, Some(2.0));
    assert_eq!(summary.schedulers[0].sd.migration_rate, Some(2.0f64.sqrt()));
    // 5/10 + 5/20 in both.
    assert_eq!(summary.schedulers[0].rates.measured_utilization, Some(0.75));
    assert_eq!(summary.schedulers[0].sd.measured_utilization, Some(0.0));
}

#[test]
fn what_was_not_measured_is_null_with_the_reason() {
    let not_run = Run {
        status: RunStatus::NotRun { reason: "no SCHED_DEADLINE".to_owned() },
        ..run(0, "p-edf", 40, vec![])
    };
    let summary = RunSummary::of(&not_run, &two_tasks(), 2).expect("valid");
    assert_eq!((summary.normalized_laxity, summary.tardiness_ns, summary.response_ns), (None, None, None));
    assert!(summary.not_measured.values().all(|reason| reason == "not run: no SCHED_DEADLINE"));
    let document = serde_json::to_value(&summary).expect("serializes");
    let fields = document.as_object().expect("an object").iter();
    let null: BTreeSet<&str> =
        fields.filter(|(_, value)| value.is_null()).map(|(name, _)| name.as_str()).collect();
    let mut said: BTreeSet<&str> = summary.not_measured.keys().map(String::as_str).collect();
    // The least values are there where the mean is.
    said.extend(["normalized_laxity_min", "laxity_ns_min"]);
    assert_eq!(null, said, "every metric that is null has its reason (`RunSummary::availability`)");

    // One completed job without a count makes the total unknown; it is not taken for zero.
    let mut partly = example();
    partly.jobs[1].migrations = None;
    let summary = RunSummary::of(&partly, &two_tasks(), 2).expect("valid");
    assert_eq!(summary.rates.migration_rate, None);
    assert_eq!(summary.not_measured["migration_rate"], "not recorded for every completed job");

    // A task without a completed job: its part of the sum is unknown, and so is the sum.
    let mut starved = example();
    starved.jobs.retain(|job| job.task == 0 || job.finish_ns.is_none());
    let summary = RunSummary::of(&starved, &two_tasks(), 2).expect("valid");
    assert_eq!(summary.rates.measured_utilization, None);
    assert!(summary.not_measured["measured_utilization"].contains("`slow`"));
    assert!(summary.notes.iter().any(|note| note.contains("no job of task `slow` completed")));
    assert_eq!(
        RunSummary::of(&example(), &two_tasks(), 0).expect("valid").rates.measured_utilization_per_core,
        None
    );
}

#[test]
fn an_interrupted_run_judges_only_the_time_it_covered() {
    let mut run = example();
    run.status = RunStatus::Interrupted { reason: "SIGINT".to_owned(), ran: Duration::from_ms(39) };
    let summary = RunSummary::of(&run, &two_tasks(), 2).expect("valid");
    // slow 1 is due at 40 ms: not known any more.
    assert_eq!((summary.counts.jobs, summary.counts.undecided, summary.counts.misses), (4, 2, 1));
    assert!(
        summary.notes.contains(&"interrupted after 39ms of 40ms: SIGINT".to_owned()),
        "{:?}",
        summary.notes
    );
}

#[test]
fn best_effort_tasks_count_nowhere() {
    let mut tasks = two_tasks().tasks().to_vec();
    tasks.insert(
        0,
        Task {
            kind: TaskKind::BestEffort,
            ..Task::periodic("noise", Duration::from_ms(1), Duration::from_ms(5))
        },
    );
    let set = TaskSet::new("three", tasks).expect("valid");
    let mut mixed = example();
    mixed.jobs.iter_mut().for_each(|job| job.task += 1);
    mixed.jobs.push(measured(job(0, 0, 0, 5, Some(50)), 1, 9, 9, 9, 9));
    let summary = RunSummary::of(&mixed, &set, 2).expect("valid");
    let plain = RunSummary::of(&example(), &two_tasks(), 2).expect("valid");
    assert_eq!(
        (summary.counts, summary.rates, summary.tardiness_ns),
        (plain.counts, plain.rates, plain.tardiness_ns)
    );
    assert_eq!((summary.tasks[0].task, &*summary.tasks[0].name), (1, "fast"));
    assert_eq!(normalized_laxities(&mixed, &set, TaskSelection::ShortestPeriod), [-0.4, 0.0, 0.8]);
}

/// The normalized laxities of the completed jobs of a run, each as often as there are jobs that have it.
fn normalized_laxities(run: &Run, set: &TaskSet, selection: TaskSelection) -> Vec<f64> {
    let mut laxities = Laxities::new(set.tasks().len());
    run.jobs.iter().for_each(|job| laxities.add(job));
    let counted = laxities.normalized(set, selection);
    counted.into_iter().flat_map(|(laxity, jobs)| vec![laxity; usize::try_from(jobs).expect("few")]).collect()
}

#[test]
fn very_many_laxities_are_counted_in_classes_of_one_sign() {
    let set = two_tasks();
    // Of 300,000 jobs of a task with a period of 10 ms every 3rd misses, by up to 2 ms.
    let finish = |k: u64| if k.is_multiple_of(3) { 10 * MS + 1 + k % 2000 * 1000 } else { k % 10_000 * 1000 };
    let jobs: Vec<Job> = (0..300_000u32)
        .map(|k| {
            let release_ns = u64::from(k) * 10 * MS;
            let finish_ns = Some(release_ns + finish(u64::from(k)));
            Job {
                start_ns: Some(release_ns),
                finish_ns,
                ..Job::new((0, k), (release_ns, release_ns + 10 * MS), JobOutcome::Completed)
            }
        })
        .collect();
    let mut exact: Vec<i64> = jobs.iter().filter_map(Job::laxity_ns).collect();
    exact.sort_unstable();
    let counted = {
        let mut laxities = Laxities::new(2);
        jobs.iter().for_each(|job| laxities.add(job));
        laxities.normalized(&set, TaskSelection::ShortestPeriod)
    };
    assert!(counted.len() < 4000, "{} classes", counted.len());
    let mut up_to = 0;
    for (laxity, jobs) in counted {
        up_to += jobs;
        let period = set.tasks()[0].period().as_ns() as f64;
        let share = exact.partition_point(|&ns| ns as f64 / period <= laxity) as u64;
        assert_eq!(share, up_to, "at {laxity}");
    }
    assert_eq!(up_to, 300_000);
}

#[test]
fn distributions_of_the_shortest_and_the_longest_period() {
    let (run, set) = (example(), two_tasks());
    assert_eq!(normalized_laxities(&run, &set, TaskSelection::All), [-0.4, 0.0, 0.4, 0.8]);
    assert_eq!(normalized_laxities(&run, &set, TaskSelection::ShortestPeriod), [-0.4, 0.0, 0.8]);
    assert_eq!(normalized_laxities(&run, &set, TaskSelection::LongestPeriod), [0.4]);
}

#[test]
fn jobs_and_runs_of_nothing_are_refused() {
    let stray = run(4, "g-edf", 10, vec![job(7, 0, 0, 10, Some(1))]);
    let error = RunSummary::of(&stray, &two_tasks(), 2).expect_err("no task 7");
    assert!(error.message.contains("run 4 has a job of task 7"), "{error}");
    let results = manifest(vec![Run { set: 1, ..run(0, "g-edf", 10, vec![]) }]);
    let error = Summary::of(&results, &[two_tasks()]).expect_err("no set 1");
    assert!(error.message.contains("task set 1"), "{error}");
}

#[test]
fn very_many_jobs_have_percentiles_rounded_up_and_say_so() {
    // Responses of `fast` spread over [1, 6) ms without a pattern; `slow` has a single job.
    let response = |k: u64| 1_000_000 + k * 7_919_317 % 5_000_000;
    let many = |jobs: u64| {
        let fast = (0..jobs).map(|k| {
            let mut job = job(0, 0, 10 * k, 10 * k + 10, None);
            job.finish_ns = Some(job.release_ns + response(k));
            job.outcome = JobOutcome::Completed;
            job
        });
        run(0, "g-edf", 4_000_000, fast.chain([job(1, 0, 0, 20, Some(12))]).collect())
    };
    // 2^18 over two tasks.
    let few = RunSummary::of(&many(1 << 17), &two_tasks(), 2).expect("valid");
    assert!(few.response_ns.is_some_and(|times| !times.approximate) && few.notes.is_empty());

    let jobs = (1 << 17) + 1;
    let run = many(jobs);
    let many = RunSummary::of(&run, &two_tasks(), 2).expect("valid");
    let mut sorted: Vec<u64> = (0..jobs).map(response).collect();
    sorted.sort_unstable();
    let fast = many.tasks[0].response_ns.expect("measured");
    let percentiles = [(500, fast.p50), (900, fast.p90), (950, fast.p95), (990, fast.p99), (999, fast.p99_9)];
    for (permille, rounded) in percentiles {
        let exact = nearest_rank(&sorted, permille).expect("many");
        assert!(exact <= rounded && (rounded - exact) * 128 <= exact, "{permille}: {rounded} of {exact}");
    }
    assert!(fast.approximate && many.tasks[1].response_ns.is_some_and(|slow| !slow.approximate));
    assert_eq!(fast.max, sorted[sorted.len() - 1]);
    close(Some(fast.mean), sorted.iter().sum::<u64>() as f64 / jobs as f64);
    let exact_sd =
        Sample::of(&sorted.iter().map(|&ns| ns as f64 / 1e7).collect::<Vec<_>>()).and_then(|s| s.sd);
    let sd = many.tasks[0].normalized_laxity.and_then(|laxity| laxity.sd);
    assert!((sd.expect("two") - exact_sd.expect("two")).abs() < 1e-9, "{sd:?} is not {exact_sd:?}");

    assert!(many.response_ns.is_some_and(|times| times.approximate), "one task's suffice");
    assert!(many.notes[0].contains("rounded up by at most 1/128"), "{:?}", many.notes);
    let mut backwards = run.clone();
    backwards.jobs.reverse();
    assert_eq!(RunSummary::of(&backwards, &two_tasks(), 2).expect("valid"), many);
    let scheduler = &Summary::of(&manifest(vec![run]), &[two_tasks()]).expect("valid").schedulers[0];
    assert_eq!((scheduler.response_ns, &scheduler.notes), (many.response_ns, &many.notes));
}

#[test]
fn runs_that_kept_no_jobs_are_summarised_from_their_tallies() {
    let kept = manifest(vec![example(), Run { id: 1, repetition: 1, ..example() }]);
    let mut streamed = kept.clone();
    streamed.runs[1].jobs.clear();
    let tallied: BTreeMap<u32, Tallies> = [(1, tallies(&kept.runs[1], &two_tasks()))].into();
    let summary = Summary::of_tallied(&streamed, &[two_tasks()], |run| tallied.get(&run)).expect("valid");
    assert_eq!(summary, Summary::of(&kept, &[two_tasks()]).expect("valid"));
    assert_ne!(summary, Summary::of(&streamed, &[two_tasks()]).expect("valid"));
}

#[test]
fn a_run_that_ends_early_judges_its_unfinished_jobs_by_that() {
    let mut run = example();
    run.status = RunStatus::Interrupted { reason: "SIGINT".to_owned(), ran: Duration::from_ms(39) };
    let mut early = Tallies::new(&two_tasks(), 40 * MS);
    let (ended, unfinished): (Vec<Job>, Vec<Job>) =
        run.jobs.iter().cloned().partition(|job| job.finish_ns.is_some());
    ended.iter().for_each(|job| early.add(job).expect("known"));
    early.end_at(39 * MS);
    unfinished.iter().for_each(|job| early.add(job).expect("known"));
    let summary = RunSummary::of_tallies(&run, &two_tasks(), 2, &early);
    assert_eq!(summary, RunSummary::of(&run, &two_tasks(), 2).expect("valid"));
}

#[test]
#[should_panic(expected = "judged by the horizon")]
fn a_horizon_does_not_change_after_it_judged() {
    let mut late = tallies(&example(), &two_tasks());
    late.end_at(39 * MS);
}

#[test]
#[should_panic(expected = "another horizon")]
fn tallies_of_another_horizon_are_refused() {
    let tallies = Tallies::new(&two_tasks(), 41 * MS);
    RunSummary::of_tallies(&example(), &two_tasks(), 2, &tallies);
}

#[test]
fn jobs_of_unknown_tasks_are_not_tallied() {
    let mut tallies = Tallies::new(&two_tasks(), MS);
    let error = tallies.add(&job(2, 0, 0, 10, Some(1))).expect_err("two tasks");
    assert_eq!(error, UnknownTask { task: 2, tasks: 2 });
    assert_eq!(error.to_string(), "a job of task 2 but its task set has only 2 tasks");
}
