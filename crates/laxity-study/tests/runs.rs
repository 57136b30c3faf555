//! Studies whose sets are really run: what is made of measurements, which are canned here.

use laxity_model::{Duration, TaskSet};
use laxity_study::{
    ComputedPoints, Gaps, Kept, MadeRun, Measure, NEVER, Planned, Point, Progress, Recorded, RunAnswer, Runs,
    Sampler, SetResult, Simulations, Study, compute, result_of_runs,
};
use laxity_trace::{
    Counters, ExcuseExtent, Host, Job, JobOutcome, RuleRecord, Run, RunStatus, ScheduleRecord, SpanRecord,
    VerdictState, VerificationRecord,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// One task (5 ms, 10 ms), which releases four jobs in every run.
const STUDY: &str = r#"
version = 1
kind = "simulation"
title = "canned"
sets = 2
duration = "40ms"
grace = "100ms"
metrics = ["ipc", "llc-miss-rate", "dsr", "late-tardiness", "tardiness-histogram", "admitted", "nrt-rt"]
[platform]
processors = 2
[axis]
of = "tasks"
from = 1
to = 2
step = 1
[generator]
name = "unc"
utilizations = "uniform:0.5,0.5"
periods = "uniform:10ms,10ms"
[[curves]]
scheduler = "p-edf"
placement = "wfd"
[[curves]]
scheduler = "p-edf"
placement = "ffd"
overload = "least-loaded"
"#;

const MS: u64 = 1_000_000;

fn study(text: &str) -> Study {
    study_recording(text, Recorded::default())
}

fn study_recording(text: &str, recorded: Recorded) -> Study {
    let study = Study::from_text(text, "canned", Path::new("")).expect("a study");
    study.for_real(None, recorded).expect("it can be run")
}

/// What was measured of every job of a run.
#[derive(Debug, Clone, Copy)]
struct Canned {
    cpu_ms: u64,
    response_ms: u64,
    counters: Counters,
}

const NOT_COUNTED: Counters =
    Counters { instructions: None, cycles: None, l1d_misses: None, l2_misses: None, llc_misses: None };

/// A run in which each of these tasks did its four jobs so.
fn run(tasks: usize, canned: Canned) -> Run {
    let job = |task: usize, index: u64| Job {
        task: u32::try_from(task).expect("few"),
        index: u32::try_from(index).expect("few"),
        release_ns: index * 10 * MS,
        deadline_ns: (index + 1) * 10 * MS,
        demand_ns: Some(5 * MS),
        warm_ns: None,
        cause: None,
        outcome: JobOutcome::Completed,
        start_ns: Some(index * 10 * MS),
        finish_ns: Some(index * 10 * MS + canned.response_ms * MS),
        cpu_time_ns: Some(canned.cpu_ms * MS),
        first_cpu: Some(0),
        last_cpu: Some(0),
        migrations: Some(0),
        context_switches: Some(1),
        counters: canned.counters,
    };
    let mut not_measured = BTreeMap::new();
    if canned.counters == NOT_COUNTED {
        for column in ["instructions", "cycles", "llc_misses"] {
            not_measured.insert(column.to_owned(), "no counters".to_owned());
        }
    }
    Run {
        grace: Duration::from_ms(100),
        not_measured,
        jobs: (0..tasks).flat_map(|task| (0..4).map(move |index| job(task, index))).collect(),
        ..Run::new("p-edf", Host::Linux, Duration::from_ms(40), RunStatus::Completed)
    }
}

/// A run beside which nothing was recorded.
fn made(run: Run) -> MadeRun {
    MadeRun { run, overheads_ns: BTreeMap::new() }
}

fn simulations(study: &Study) -> &Simulations {
    study.simulations().expect("a study by simulation")
}

/// A study of which everything has been measured already: the runs by point, set and curve.
struct Measured<'a, F> {
    study: &'a Study,
    runs: F,
}

struct MeasuredPoint<'a, F> {
    of: &'a Measured<'a, F>,
    point: Point,
}

impl<F: Fn(u64, u64, usize) -> Runs + Send + Sync> Sampler for MeasuredPoint<'_, F> {
    fn judge(&self, index: u64, series: Range<usize>) -> laxity_model::Result<SetResult> {
        let study = self.of.study;
        let tasks = study.sampler(self.point, &NEVER)?.tasks(index)?;
        let set = TaskSet::new("set", tasks)?;
        let runs: Vec<Runs> = series.map(|curve| (self.of.runs)(self.point.value, index, curve)).collect();
        result_of_runs(simulations(study), &set, 2, &runs, |_, demand| Some(demand.as_ns() / 50))
    }
}

impl<F: Fn(u64, u64, usize) -> Runs + Send + Sync> Planned for Measured<'_, F> {
    type Sampler<'s>
        = MeasuredPoint<'s, F>
    where
        Self: 's;

    fn study(&self) -> &Study {
        self.study
    }

    fn sampler(&self, point: Point, _: &'static AtomicBool) -> laxity_model::Result<MeasuredPoint<'_, F>> {
        Ok(MeasuredPoint { of: self, point })
    }
}

fn computed(
    study: &Study,
    directory: &Path,
    runs: impl Fn(u64, u64, usize) -> Runs + Send + Sync,
) -> ComputedPoints {
    let measured = Measured { study, runs };
    let done = compute(&measured, directory, 2, &NEVER, &Progress::default());
    let done = done.expect("no error");
    assert!(done.complete);
    done
}

fn csv(study: &Study, done: &ComputedPoints) -> String {
    study.table(&done.points).csv()
}

/// n, mean and standard deviation of a metric of a curve at a value.
fn row(csv: &str, curve: &str, value: u64, metric: &str) -> (u64, Option<f64>, Option<f64>) {
    let begins = format!("{curve},p-edf,tasks,{value},{metric},");
    let line = csv.lines().find_map(|line| line.strip_prefix(&begins)).expect(&begins);
    let fields: Vec<&str> = line.split(',').collect();
    // unit, sets, placed, n, mean, sd, min, max
    (fields[3].parse().expect("n"), fields[4].parse().ok(), fields[5].parse().ok())
}

fn near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 1e-6 * expected.abs().max(1.0))
}

/// WFD took 10 and 20 ms for 5 ms of work, FFD 5 and 5: the second set ran half as fast again in its second repetition.
fn uncounted(tasks: u64, index: u64, curve: usize) -> Runs {
    let tasks = usize::try_from(tasks).expect("few");
    let cpu_ms: &[u64] = match (curve, index) {
        (0, 0) => &[10, 10],
        (0, _) => &[10, 20],
        _ => &[5, 5],
    };
    let response = |cpu_ms: u64| if curve == 0 { cpu_ms + 2 } else { cpu_ms };
    let of =
        |&cpu_ms: &u64| run(tasks, Canned { cpu_ms, response_ms: response(cpu_ms), counters: NOT_COUNTED });
    Ok(cpu_ms.iter().map(|cpu_ms| made(of(cpu_ms))).collect())
}

#[test]
fn means_are_over_sets_and_a_set_is_the_mean_of_its_runs() {
    let study = study(STUDY);
    let names: Vec<&str> = study.metrics().iter().map(|metric| metric.name).collect();
    assert_eq!(
        names,
        [
            "ipc",
            "llc-miss-rate",
            "dsr",
            "late-tardiness",
            "tardiness-histogram",
            "execution-inflation",
            "relative-ipc",
            "max-tardiness"
        ]
    );
    let directory = tempfile::tempdir().expect("a directory");
    let done = computed(&study, directory.path(), uncounted);
    let csv = csv(&study, &done);
    // Sets: 2 and (2 + 4) / 2.
    let (n, mean, sd) = row(&csv, "wfd", 1, "execution-inflation");
    assert!(n == 2 && near(mean, 2.5) && near(sd, 0.5_f64.sqrt()), "{csv}");
    let (n, mean, sd) = row(&csv, "ffd", 1, "execution-inflation");
    assert!(n == 2 && near(mean, 1.0) && near(sd, 0.0), "{csv}");
    // Within a repetition: 2 and 2 of the first set, 2 and 4 of the second.
    let (n, mean, _) = row(&csv, "ffd", 2, "relative-ipc");
    assert!(n == 2 && near(mean, 2.5), "{csv}");
    assert!(near(row(&csv, "wfd", 2, "relative-ipc").1, 1.0), "{csv}");
    // Responses of 12 and 22 ms are 2 and 12 ms late.
    assert!(near(row(&csv, "wfd", 1, "max-tardiness").1, (2.0 + 7.0) / 2.0 * 1e6), "{csv}");
    assert!(near(row(&csv, "wfd", 1, "late-tardiness").1, 4.5e6), "{csv}");
    assert_eq!(row(&csv, "ffd", 1, "late-tardiness"), (0, None, None), "{csv}");
    assert!(near(row(&csv, "wfd", 1, "dsr").1, 0.0) && near(row(&csv, "ffd", 1, "dsr").1, 1.0), "{csv}");
    // Two sets, two runs each, four jobs: FFD's end within their deadlines.
    let tally = &done.points[&Point { family: 0, value: 1 }];
    let Kept::Histogram(jobs) = &tally.series[1].metrics[4] else { panic!("no histogram") };
    assert_eq!((jobs[0], jobs.iter().sum::<u64>()), (16, 16));
}

#[test]
fn what_is_not_counted_is_not_known_and_never_zero() {
    let study = study(STUDY);
    let directory = tempfile::tempdir().expect("a directory");
    let done = computed(&study, directory.path(), uncounted);
    let table = csv(&study, &done);
    for curve in ["wfd", "ffd"] {
        for metric in ["ipc", "llc-miss-rate"] {
            assert_eq!(row(&table, curve, 1, metric), (0, None, None), "{table}");
        }
    }
    let gaps: Vec<&Gaps> =
        done.points[&Point { family: 0, value: 2 }].series.iter().map(|own| &own.gaps).collect();
    for gaps in &gaps {
        assert_eq!(gaps.why_not_measured("ipc"), Some("no counters"));
        assert_eq!(gaps.not_measured["llc-miss-rate"]["no counters"], 2);
        assert!(gaps.not_run.is_empty() && gaps.why_not_measured("dsr").is_none(), "{gaps:?}");
    }
    assert!(gaps[1].why_not_measured("late-tardiness").is_some_and(|why| why.contains("was a job late")));
    // A machine that counts: 5 ms of 50 ns an access are 100 000 accesses.
    let counters =
        Counters { instructions: Some(30), cycles: Some(20), llc_misses: Some(25_000), ..NOT_COUNTED };
    let counted = |tasks: u64, _, curve| {
        let tasks = usize::try_from(tasks).expect("few");
        let counters = if curve == 0 { counters } else { Counters { llc_misses: Some(0), ..counters } };
        Ok(vec![made(run(tasks, Canned { cpu_ms: 5, response_ms: 5, counters }))])
    };
    let directory = tempfile::tempdir().expect("a directory");
    let table = csv(&study, &computed(&study, directory.path(), counted));
    assert!(near(row(&table, "wfd", 2, "ipc").1, 1.5), "{table}");
    assert!(near(row(&table, "wfd", 2, "llc-miss-rate").1, 0.25), "{table}");
    assert_eq!(row(&table, "ffd", 2, "llc-miss-rate").1, Some(0.0), "a counter that counted none: {table}");
}

#[test]
fn what_is_known_of_some_repetitions_only_is_not_known() {
    let study = study(STUDY);
    let directory = tempfile::tempdir().expect("a directory");
    // Late in the first repetition, and counted in the second.
    let runs = |tasks: u64, _, _| {
        let tasks = usize::try_from(tasks).expect("few");
        let counters = Counters { instructions: Some(30), cycles: Some(20), ..NOT_COUNTED };
        let late = run(tasks, Canned { cpu_ms: 10, response_ms: 12, counters: NOT_COUNTED });
        Ok(vec![made(late), made(run(tasks, Canned { cpu_ms: 5, response_ms: 5, counters }))])
    };
    let done = computed(&study, directory.path(), runs);
    let table = csv(&study, &done);
    for metric in ["late-tardiness", "ipc"] {
        assert_eq!(row(&table, "wfd", 1, metric), (0, None, None), "{table}");
    }
    let gaps = &done.points[&Point { family: 0, value: 1 }].series[0].gaps;
    assert_eq!(gaps.why_not_measured("ipc"), Some("no counters"));
    assert_eq!(gaps.why_not_measured("late-tardiness"), Some("not in every repetition was a job late"));
    assert!(near(row(&table, "wfd", 1, "execution-inflation").1, 1.5), "{table}");
}

fn number_is_excused(violations: u64) -> bool {
    violations == 2
}

/// A run of which the oracles found so many violations and excused deviations at 100 instants.
fn judged(run: Run, violations: u64, excused: u64) -> Run {
    let span = |count: u64| SpanRecord { count, longest_ns: 1, total_ns: count };
    let rule = RuleRecord { rule: "work-conservation".into(), violations: span(violations) };
    let verification = VerificationRecord {
        instants: 100,
        excused: span(excused),
        violated: vec![rule],
        state: Some(if number_is_excused(violations) { VerdictState::Excused } else { VerdictState::Clean }),
        extent: Some(ExcuseExtent::new((violations, 100), (1, 1), None)),
        ..VerificationRecord::default()
    };
    Run { schedule: Some(ScheduleRecord { verification, ..ScheduleRecord::default() }), ..run }
}

#[test]
fn what_is_recorded_beside_the_jobs_is_measured() {
    let study = study_recording(STUDY, Recorded { schedules: true, overheads: true });
    let directory = tempfile::tempdir().expect("a directory");
    // FFD's schedules could not be recorded, and its runs have no sample of an IPI.
    let runs = |tasks: u64, index: u64, curve: usize| {
        let mut runs = uncounted(tasks, index, curve)?;
        for (made, (number, release_ns)) in runs.iter_mut().zip([(2, 1_000.0), (4, 3_000.0)]) {
            made.overheads_ns.insert("release".to_owned(), release_ns);
            if curve == 0 {
                made.run = judged(made.run.clone(), number, 10 * number);
                made.overheads_ns.insert("ipi-latency".to_owned(), 500.0);
            } else {
                made.run.not_measured.insert("schedule".into(), "no BPF".into());
            }
        }
        Ok(runs)
    };
    let done = computed(&study, directory.path(), runs);
    let table = csv(&study, &done);
    for (curve, metric, mean) in [
        ("wfd", "violations", Some(3.0)),
        ("wfd", "excused-deviations", Some(0.3)),
        ("wfd", "excused-time", Some(0.03)),
        ("wfd", "without-verdict", Some(0.5)),
        ("wfd", "overhead-release", Some(2_000.0)),
        ("wfd", "overhead-ipi-latency", Some(500.0)),
        ("ffd", "overhead-release", Some(2_000.0)),
        ("ffd", "overhead-ipi-latency", None),
        ("ffd", "violations", None),
    ] {
        let (n, found, _) = row(&table, curve, 2, metric);
        match mean {
            Some(mean) => assert!(n == 2 && near(found, mean), "{curve} {metric}: {table}"),
            None => assert_eq!((n, found), (0, None), "{curve} {metric}: {table}"),
        }
    }
    let gaps = &done.points[&Point { family: 0, value: 2 }].series[1].gaps;
    assert_eq!(gaps.why_not_measured("violations"), Some("no BPF"));
    assert!(gaps.why_not_measured("overhead-ipi-latency").is_some_and(|why| why.contains("no undisturbed")));
    assert_eq!(row(&table, "wfd", 1, "overhead-tick"), (0, None, None), "{table}");
    let none = study_recording(STUDY, Recorded::default());
    assert!(none.metrics().iter().all(|metric| !metric.name.starts_with("overhead-")));
}

#[test]
fn sets_that_could_not_be_run_are_counted_with_the_reasons() {
    let study = study(STUDY);
    let directory = tempfile::tempdir().expect("a directory");
    let runs = |tasks: u64, index: u64, curve: usize| match (tasks, index, curve) {
        // Refused before anything was run, cut short in its second repetition, and refused by the kernel.
        (1, 0, 0) => Err("too much for the kernel".to_owned()),
        (1, 1, 1) => {
            let mut runs = uncounted(tasks, index, curve).expect("runs");
            runs[1].run.status =
                RunStatus::Interrupted { reason: "the watchdog".into(), ran: Duration::from_ms(20) };
            Ok(runs)
        }
        (2, _, 1) => {
            let mut runs = uncounted(tasks, index, curve).expect("runs");
            runs[0].run.status = RunStatus::NotRun { reason: "busy".into() };
            Ok(runs)
        }
        _ => uncounted(tasks, index, curve),
    };
    let done = computed(&study, directory.path(), runs);
    let table = csv(&study, &done);
    assert_eq!(row(&table, "wfd", 1, "execution-inflation").0, 1, "{table}");
    let (n, mean, sd) = row(&table, "ffd", 1, "execution-inflation");
    assert!(n == 1 && near(mean, 1.0) && sd.is_none(), "{table}");
    // The only set that was run under FFD was not run under WFD: there is nothing to hold it against.
    assert_eq!(row(&table, "ffd", 1, "relative-ipc"), (0, None, None), "{table}");
    assert_eq!(row(&table, "ffd", 2, "execution-inflation"), (0, None, None), "{table}");
    let gaps = |value: u64, curve: usize| &done.points[&Point { family: 0, value }].series[curve].gaps;
    let one = |why: &str, sets: u64| BTreeMap::from([(why.to_owned(), sets)]);
    assert_eq!(gaps(1, 0).not_run, one("too much for the kernel", 1));
    assert_eq!(gaps(1, 1).not_run, one("ended before its time: the watchdog", 1));
    assert_eq!(gaps(2, 1).not_run, one("busy", 2));
    assert_eq!(gaps(2, 1).why_not_run(), Some("busy"));
    assert!(gaps(1, 1).why_not_measured("relative-ipc").is_some_and(|why| why.contains("first curve")));

    let machine = RunAnswer {
        processor: "some".into(),
        kernel: "7.0".into(),
        cpus: "0-1".into(),
        duration: "40ms".into(),
        repeat: 2,
    };
    let answer = serde_json::to_value(study.answer(&done, Some(machine))).expect("serializes");
    let validator = jsonschema::validator_for(&laxity_study::simulation_answer_schema()).expect("a schema");
    assert!(validator.is_valid(&answer), "{:?}", validator.iter_errors(&answer).next());
    let point = &answer["families"][0]["curves"][1]["points"][1];
    assert_eq!((point["placed"].as_u64(), point["not_run"]["busy"].as_u64()), (Some(0), Some(2)), "{point}");
    assert!(point["metrics"]["ipc"]["mean"].is_null() && answer["run"]["repeat"] == 2);
    let of_other = &answer["families"][0]["curves"][0]["points"][1];
    assert_eq!(of_other["not_measured"]["ipc"]["no counters"], 2, "{of_other}");
    // What is in the journal is what was found.
    let again = computed(&study, directory.path(), |_, _, _| panic!("nothing is run again"));
    assert_eq!(again, done);
}

#[test]
fn what_can_only_be_simulated_is_refused() {
    let of = |from: &str, to: &str| {
        let text = STUDY.replace(from, to);
        assert_ne!(text, STUDY, "{from}");
        Study::from_text(&text, "canned", Path::new("")).expect("a study by simulation")
    };
    // Of the second curve, so that both keep names of their own.
    let amp = (
        "scheduler = \"p-edf\"\nplacement = \"ffd\"\noverload = \"least-loaded\"",
        "name = \"amp\"\nscheduler = \"amp-rm\"\nadmission = \"counts-double-hit\"",
    );
    for (from, to, part) in [
        ("[platform]", "[ordinary]\ntasks = 3\n[platform]", "tasks that are not real-time"),
        ("[platform]", "[ordinary]\nserver = \"20%/10ms\"\n[platform]", "deferrable servers"),
        ("[platform]", "[ordinary]\nat-ticks = true\n[platform]", "ticks"),
        (amp.0, amp.1, "admitted one by one"),
        (amp.0, "scheduler = \"p-edf\"\nplacement = \"ffd\"\nfit = \"test\"", "places by the test"),
    ] {
        let error = of(from, to).for_real(None, Recorded::default()).expect_err(part);
        assert!(error.message.contains(part) && error.hint.is_some(), "{error}");
        assert_eq!(error.failure.exit_code(), 2);
    }
    for wrong in [Duration::ZERO, Duration::from_secs(100_000)] {
        let error = study(STUDY).for_real(Some(wrong), Recorded::default()).expect_err("no duration");
        assert!(error.message.contains("--duration"), "{error}");
    }
    assert_eq!(
        study(STUDY)
            .for_real(Some(Duration::from_ms(7)), Recorded::default())
            .map(|study| simulations(&study).duration),
        Ok(Duration::from_ms(7))
    );
    // Nothing is lost of a study that names no metrics, but what is never known.
    let all = Study::from_text(
        &STUDY.lines().filter(|line| !line.starts_with("metrics")).collect::<Vec<_>>().join("\n"),
        "canned",
        Path::new(""),
    );
    let metrics = all.expect("a study").for_real(None, Recorded::default()).expect("it can be run").metrics();
    assert_eq!(metrics.len(), 10, "ten of simulations, less two, and two");
    assert!(metrics.iter().filter(|metric| metric.name == "ipc").all(|metric| {
        metric.description.contains("hardware") && matches!(metric.measure, Measure::Number(..))
    }));
}

laxity_seeds::properties! {
    /// Neither the order of sets nor which were added together shows in the sums.
    #[test]
    fn sums_do_not_depend_on_the_order(outcomes in proptest::collection::vec(0u64..4, 1..12), cut in 0usize..12) {
        let study = study(STUDY);
        let sets: Vec<SetResult> = outcomes.iter().map(|&outcome| {
            let sampler = study.sampler(Point { family: 0, value: 1 }, &NEVER).expect("sets");
            let set = TaskSet::new("set", sampler.tasks(0).expect("tasks")).expect("a set");
            let runs = |curve: usize| match outcome {
                0 => Err(format!("curve {curve} is refused")),
                1 if curve == 1 => Err("another reason".to_owned()),
                _ => uncounted(1, outcome, curve),
            };
            result_of_runs(simulations(&study), &set, 2, &[runs(0), runs(1)], |_, _| None).expect("runs")
        }).collect();
        let sum = |sets: &[SetResult]| {
            let mut tally = study.tally_of_none();
            sets.iter().for_each(|set| tally.add(0, set));
            tally
        };
        let whole = sum(&sets);
        let (first, rest) = sets.split_at(cut % sets.len());
        let mut merged = sum(rest);
        merged.merge(&sum(first));
        prop_assert_eq!(&merged, &whole);
        let not_run = |gaps: &Gaps| gaps.not_run.values().sum::<u64>();
        for own in &whole.series {
            prop_assert_eq!(own.placed + not_run(&own.gaps), outcomes.len() as u64);
        }
    }
}
