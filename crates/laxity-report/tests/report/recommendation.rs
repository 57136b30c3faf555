//! Recommendations for constructed results: each case has one right answer.

use crate::synthetic::{results, run};
use laxity_model::{Duration, Task, TaskSet};
use laxity_report::{Recommendation, Report, TextStyle};
use laxity_trace::{
    AnalysisRecord, Counters, Host, Job, JobOutcome, ProofRecord, ProofVerdict, Run, RunStatus,
};
use proptest::prelude::*;

const PERIOD_NS: u64 = 10_000_000;
const JOBS: u32 = 200;

fn set() -> TaskSet {
    let task = |name: &str| Task::periodic(name, Duration::from_ms(1), Duration::from_ms(10));
    TaskSet::new("pair", vec![task("a"), task("b")]).expect("a valid set")
}

/// What one run looks like: response time of jobs, how many of task 0's are late and by how much.
#[derive(Clone, Copy)]
struct Shape {
    scheduler: &'static str,
    response_us: u64,
    late: u32,
    late_by_us: u64,
    migrations: Option<u32>,
}

const FINE: Shape =
    Shape { scheduler: "g-edf", response_us: 2_000, late: 0, late_by_us: 0, migrations: Some(0) };

fn jobs(shape: Shape) -> Vec<Job> {
    let job = |task: u32, index: u32| {
        let release_ns = u64::from(index) * PERIOD_NS;
        let late = task == 0 && index < shape.late;
        let response = if late { PERIOD_NS + shape.late_by_us * 1000 } else { shape.response_us * 1000 };
        Job {
            task,
            index,
            release_ns,
            deadline_ns: release_ns + PERIOD_NS,
            demand_ns: None,
            warm_ns: None,
            cause: None,
            outcome: JobOutcome::Completed,
            start_ns: Some(release_ns),
            finish_ns: Some(release_ns + response),
            cpu_time_ns: Some(1_000_000),
            first_cpu: Some(0),
            last_cpu: Some(0),
            migrations: shape.migrations,
            context_switches: Some(1),
            counters: Counters::default(),
        }
    };
    (0..2).flat_map(|task| (0..JOBS).map(move |index| job(task, index))).collect()
}

fn duration() -> Duration {
    Duration::from_ns(u64::from(JOBS) * PERIOD_NS)
}

fn run_of(shape: Shape, repetition: u32) -> Run {
    run(0, shape.scheduler, repetition, duration(), jobs(shape))
}

fn recommend(runs: Vec<Run>) -> Recommendation {
    let results = results(&[set()], runs, 2);
    Report::of(&results).expect("valid results").recommendation().clone()
}

fn recommend_shapes(shapes: &[Shape]) -> Recommendation {
    recommend(shapes.iter().map(|&shape| run_of(shape, 0)).collect())
}

fn says(lines: &[String], words: &str) -> bool {
    lines.iter().any(|line| line.contains(words))
}

/// Three repetitions of each, with these late jobs in them.
fn recommend_repeated(shapes: &[(Shape, [u32; 3])]) -> Recommendation {
    let repeated = |&(shape, lates): &(Shape, [u32; 3])| {
        let run = move |(repetition, late)| run_of(Shape { late, late_by_us: 10, ..shape }, repetition);
        (0..).zip(lates).map(run)
    };
    recommend(shapes.iter().flat_map(repeated).collect())
}

#[test]
fn misses_beyond_noise_decide_whatever_else_it_costs() {
    let costly = Shape { scheduler: "g-rm", response_us: 9_000, migrations: Some(9), ..FINE };
    let partitioned = Shape { scheduler: "p-edf", response_us: 1_100, ..FINE };
    let answer = recommend_repeated(&[(partitioned, [30, 24, 27]), (costly, [0, 1, 0])]);
    assert_eq!(answer.scheduler.as_deref(), Some("g-rm"));
    assert_eq!(answer.tied, ["g-rm"]);
    assert_eq!(answer.runner_up.as_deref(), Some("p-edf"));
    let better = "Better share of jobs missed: g-rm 0.0833 %, against p-edf 6.75 %.";
    assert!(says(&answer.reasons, better), "{answer:?}");
    assert_eq!(answer.misses_per_run[1].labels, ["p-edf"]);
    assert_eq!(answer.misses_per_run[1].mean, 27.0);
    let [low, high] = answer.misses_per_run[1].interval.expect("three repetitions");
    assert!(low < 26.0 && 28.0 < high && high < 45.0, "{low} to {high}");
    // One repetition does not say how much noise there is: some is assumed.
    let once = |late| {
        recommend_shapes(&[Shape { late, late_by_us: 10, ..partitioned }, costly]).scheduler.expect("one")
    };
    assert_eq!((once(1).as_str(), once(60).as_str()), ("p-edf", "g-rm"));
}

#[test]
fn misses_within_noise_are_a_tie_that_goes_to_what_is_proven_then_to_the_simpler() {
    let noisy =
        [(Shape { scheduler: "g-edf", ..FINE }, [0, 0, 1]), (Shape { scheduler: "p-rm", ..FINE }, [2, 0, 1])];
    let answer = recommend_repeated(&noisy);
    assert_eq!((answer.scheduler.as_deref(), answer.misses_within_noise), (Some("p-rm"), false));
    assert_eq!(answer.tied, ["p-rm", "g-edf"]);
    assert!(
        says(&answer.reasons, "Tie: the misses of g-edf and p-rm differ by no more than noise."),
        "{answer:?}"
    );
    assert!(says(&answer.reasons, "g-edf would win if p-rm missed"), "{answer:?}");
    assert!(
        says(&answer.caveats, "That others met every") || says(&answer.caveats, "No configuration"),
        "{answer:?}"
    );
    let runs = |(shape, lates): (Shape, [u32; 3])| {
        (0..)
            .zip(lates)
            .map(move |(repetition, late)| run_of(Shape { late, late_by_us: 9, ..shape }, repetition))
    };
    let all: Vec<Run> = noisy.into_iter().flat_map(runs).collect();
    let answer = recommend_analysed(all.clone(), vec![proven("g-edf")]);
    assert_eq!(
        (answer.scheduler.as_deref(), answer.misses_within_noise),
        (Some("g-edf"), true),
        "{answer:?}"
    );
    assert!(says(&answer.reasons, "Proven to meet every deadline, of these: g-edf."), "{answer:?}");
    assert!(says(&answer.caveats, "no more than this machine's noise"), "{answer:?}");
    assert!(says(&answer.reasons, "p-rm would win if as much were proven of it"), "{answer:?}");
    let results = results(&[set()], all, 2);
    let text = Report::of(&results).expect("valid results").text(TextStyle::default());
    assert!(text.contains("p-rm is the least bad (a tie with another), but it misses."), "{text}");
}

#[test]
fn configurations_that_are_the_same_thing_show_the_noise() {
    // What would be a difference between the two scopes is none, because c-edf and g-edf are one on one cluster.
    let with_twin = |late: u32| {
        recommend_repeated(&[
            (Shape { scheduler: "g-edf", ..FINE }, [2, 2, 2]),
            (Shape { scheduler: "c-edf", ..FINE }, [late, late, late]),
            (Shape { scheduler: "g-rm", ..FINE }, [20, 20, 20]),
        ])
    };
    let answer = with_twin(2);
    assert_eq!(answer.tied, ["g-edf", "c-edf"], "{answer:?}");
    assert!(says(&answer.caveats, "count as one: g-edf and c-edf (6 and 6 jobs missed)"), "{answer:?}");
    assert_eq!(with_twin(40).tied.len(), 3, "{:?}", with_twin(40));
    let twin =
        answer.misses_per_run.iter().find(|of| of.labels == ["g-edf", "c-edf"]).expect("taken together");
    assert_eq!(twin.mean, 2.0);
}

#[test]
fn if_all_miss_the_fewest_misses_win_and_the_answer_says_so() {
    let answer = recommend_shapes(&[
        Shape { scheduler: "g-edf", late: 90, late_by_us: 10, ..FINE },
        Shape { scheduler: "c-rm", late: 4, late_by_us: 3_000, migrations: Some(5), ..FINE },
        Shape { scheduler: "p-edf", late: 91, late_by_us: 10, ..FINE },
    ]);
    assert_eq!(answer.scheduler.as_deref(), Some("c-rm"));
    assert!(!answer.misses_nothing);
    assert!(
        says(&answer.reasons, "c-rm missed 4 of 400 jobs (1.0 %) in 1 run, by at most 3.00 ms."),
        "{answer:?}"
    );
    assert!(
        says(&answer.reasons, "Better share of jobs missed: c-rm 1.00 %, against g-edf 22.5 %"),
        "{answer:?}"
    );
    assert!(says(&answer.caveats, "least bad"), "{answer:?}");
}

#[test]
fn equal_shares_of_misses_are_decided_by_tardiness() {
    let answer = recommend_shapes(&[
        Shape { scheduler: "p-edf", late: 10, late_by_us: 9_000, ..FINE },
        Shape { scheduler: "g-rm", late: 10, late_by_us: 500, migrations: Some(3), ..FINE },
    ]);
    assert_eq!(answer.scheduler.as_deref(), Some("g-rm"));
    assert!(
        says(&answer.reasons, "Better maximum tardiness: g-rm 500 µs, against p-edf 9.00 ms."),
        "{answer:?}"
    );
}

#[test]
fn laxity_within_a_twentieth_of_a_period_is_a_tie_that_goes_to_the_simpler() {
    // 500 µs of 10 ms are a twentieth.
    let global = Shape { scheduler: "g-edf", response_us: 2_000, migrations: Some(4), ..FINE };
    let answer = recommend_shapes(&[global, Shape { scheduler: "p-rm", response_us: 2_490, ..FINE }]);
    assert_eq!(answer.scheduler.as_deref(), Some("p-rm"));
    assert!(says(&answer.reasons, "p-rm is preferred for a narrower scope"), "{answer:?}");
    let answer = recommend_shapes(&[global, Shape { scheduler: "p-rm", response_us: 3_000, ..FINE }]);
    assert_eq!(answer.scheduler.as_deref(), Some("g-edf"));
    assert!(
        says(&answer.reasons, "Better mean normalized laxity: g-edf 0.800, against p-rm 0.700."),
        "{answer:?}"
    );
}

#[test]
fn laxity_within_the_noise_of_repetitions_is_a_tie() {
    let mut runs = Vec::new();
    for (repetition, response_us) in (0..).zip([1_000, 2_000, 3_000]) {
        runs.push(run_of(Shape { scheduler: "g-edf", response_us, migrations: Some(1), ..FINE }, repetition));
    }
    for repetition in 0..3 {
        runs.push(run_of(Shape { scheduler: "p-edf", response_us: 2_900, ..FINE }, repetition));
    }
    // Means 0.80 and 0.71; the sd of g-edf over its repetitions is 0.1.
    let answer = recommend(runs);
    assert_eq!(answer.scheduler.as_deref(), Some("p-edf"), "{answer:?}");
    assert!(!says(&answer.caveats, "One repetition"), "{answer:?}");
}

#[test]
fn without_any_difference_the_narrower_scope_and_then_the_table_order_decide() {
    let all = ["g-edf", "g-rm", "c-edf", "c-rm", "p-edf", "p-rm"];
    let shapes: Vec<Shape> = all.iter().map(|&scheduler| Shape { scheduler, ..FINE }).collect();
    let mut two_clusters = results(&[set()], shapes.iter().map(|&shape| run_of(shape, 0)).collect(), 2);
    two_clusters.machine.clusters = ["0", "1"].map(|cpus| cpus.parse().expect("a CPU")).into();
    let report = Report::of(&two_clusters).expect("valid results");
    assert_eq!(report.recommendation().ranking, ["p-edf", "p-rm", "c-edf", "c-rm", "g-edf", "g-rm"]);
    let unmeasured: Vec<Shape> = shapes.iter().map(|&s| Shape { migrations: None, ..s }).collect();
    let answer = recommend_shapes(&unmeasured);
    assert_eq!(answer.scheduler.as_deref(), Some("p-edf"));
}

#[test]
fn on_one_cluster_clustered_scheduling_is_global_scheduling() {
    let clustered = Shape { scheduler: "c-rm", migrations: Some(2), ..FINE };
    let global = Shape { scheduler: "g-rm", migrations: Some(2), ..FINE };
    let answer = recommend_shapes(&[clustered, global]);
    assert_eq!(answer.scheduler.as_deref(), Some("g-rm"), "{answer:?}");
    assert!(says(&answer.reasons, "g-rm is preferred for needing no cpusets"), "{answer:?}");
    assert!(says(&answer.caveats, "With one cluster these are the same thing"), "{answer:?}");
}

#[test]
fn what_did_not_run_to_its_end_is_not_recommended() {
    let mut interrupted = run_of(Shape { scheduler: "p-edf", response_us: 1_000, ..FINE }, 1);
    interrupted.status =
        RunStatus::Interrupted { reason: "Ctrl-C".into(), ran: Duration::from_ns(duration().as_ns() / 2) };
    let mut not_run = run_of(Shape { scheduler: "c-edf", ..FINE }, 0);
    not_run.jobs.clear();
    not_run.status = RunStatus::NotRun { reason: "no cpusets".into() };
    let first = run_of(Shape { scheduler: "p-edf", response_us: 1_000, ..FINE }, 0);
    let slow = run_of(Shape { scheduler: "g-rm", response_us: 8_000, ..FINE }, 0);
    let answer = recommend(vec![first, interrupted.clone(), not_run.clone(), slow]);
    assert_eq!(answer.scheduler.as_deref(), Some("g-rm"));
    assert_eq!(answer.ranking, ["g-rm"]);
    assert_eq!(answer.runner_up, None);
    let incomplete = "c-edf (not run: no cpusets), p-edf (interrupted after 1.00 s of 2.00 s: Ctrl-C)";
    assert!(says(&answer.caveats, incomplete), "{answer:?}");

    let answer = recommend(vec![interrupted, not_run]);
    assert_eq!((answer.scheduler, answer.misses_nothing), (None, false));
    assert!(says(&answer.reasons, "No configuration ran to its end"), "{:?}", answer.reasons);
    let idle = Run { jobs: vec![], ..run_of(FINE, 0) };
    let answer = recommend(vec![idle]);
    assert_eq!(answer.scheduler, None);
    assert!(says(&answer.reasons, "g-edf (no job ended or had to end while it ran)"), "{:?}", answer.reasons);
    assert!(recommend(vec![]).reasons[0].contains("no run"));
}

#[test]
fn a_task_that_never_completes_cannot_win_by_having_no_laxity() {
    let mut starved = run_of(Shape { scheduler: "p-edf", response_us: 1_000, ..FINE }, 0);
    for job in starved.jobs.iter_mut().filter(|job| job.task == 1) {
        job.outcome = JobOutcome::Unfinished;
        job.finish_ns = None;
    }
    let answer =
        recommend(vec![starved, run_of(Shape { scheduler: "g-rm", late: 3, late_by_us: 100, ..FINE }, 0)]);
    assert_eq!(answer.scheduler.as_deref(), Some("g-rm"), "{answer:?}");
}

#[test]
fn a_simulation_is_not_preferred_to_a_measurement() {
    let mut simulated = run_of(Shape { scheduler: "p-edf", response_us: 1_000, ..FINE }, 0);
    simulated.host = Host::Simulator;
    let measured = run_of(Shape { scheduler: "p-edf", response_us: 5_000, ..FINE }, 0);
    let answer = recommend(vec![simulated.clone(), measured]);
    assert_eq!(answer.host, Some(Host::Linux));
    assert_eq!(answer.ranking, ["p-edf"], "a simulation beside it is no competitor");
    let answer = recommend(vec![simulated]);
    assert_eq!(answer.host, Some(Host::Simulator));
    assert!(says(&answer.caveats, "Simulated"), "{answer:?}");
}

#[test]
fn several_sets_are_answered_together_and_one_by_one() {
    let runs = |set: u32, shapes: [Shape; 2]| shapes.map(|shape| Run { set, ..run_of(shape, 0) });
    let global = Shape { scheduler: "g-edf", ..FINE };
    let partitioned = Shape { scheduler: "p-edf", ..FINE };
    let mut all = Vec::new();
    all.extend(runs(0, [Shape { late: 50, late_by_us: 9, ..global }, partitioned]));
    all.extend(runs(1, [global, Shape { late: 190, late_by_us: 9, ..partitioned }]));
    let results = results(&[set().renamed("one"), set().renamed("two")], all, 2);
    let report = Report::of(&results).expect("valid results");
    let labels: Vec<_> = report.set_recommendations().iter().map(|r| r.scheduler.clone()).collect();
    assert_eq!(labels, [Some("p-edf".to_owned()), Some("g-edf".to_owned())]);
    assert_eq!(report.recommendation().scheduler.as_deref(), Some("g-edf"));
    let by_set = "Taken set by set, g-edf is the best on 1 of 2 sets (p-edf on 1).";
    assert!(says(&report.recommendation().reasons, by_set), "{:?}", report.recommendation());
}

/// The analysis proves that no deadline is missed under this scheduler.
fn proven(scheduler: &str) -> AnalysisRecord {
    let sound = |record: AnalysisRecord| ProofRecord {
        verdict: ProofVerdict::Schedulable,
        task: None,
        refuted: false,
        ..record.hard
    };
    AnalysisRecord { hard: sound(refuted(scheduler)), ..refuted(scheduler) }
}

/// An exact test shows that task `a` misses its deadline for some arrivals under this scheduler.
fn refuted(scheduler: &str) -> AnalysisRecord {
    let proof = |verdict, refuted| ProofRecord {
        verdict,
        test: Some("qpa".into()),
        task: Some("a".into()),
        refuted,
        reason: None,
        proven_without: None,
    };
    AnalysisRecord {
        set: 0,
        scheduler: scheduler.into(),
        hard: proof(ProofVerdict::NotProven, true),
        soft: proof(ProofVerdict::Schedulable, false),
        assumptions: Vec::new(),
    }
}

fn recommend_analysed(runs: Vec<Run>, analysis: Vec<AnalysisRecord>) -> Recommendation {
    let mut results = results(&[set()], runs, 2);
    results.analysis = analysis;
    Report::of(&results).expect("valid results").recommendation().clone()
}

#[test]
fn a_refuted_configuration_comes_after_one_that_missed_only_when_measured() {
    let clean = run_of(Shape { scheduler: "p-rm", response_us: 1_000, ..FINE }, 0);
    let late = run_of(Shape { scheduler: "g-edf", late: 40, late_by_us: 9_000, ..FINE }, 0);
    let answer = recommend_analysed(vec![clean.clone(), late], vec![refuted("p-rm")]);
    assert_eq!(answer.ranking, ["g-edf", "p-rm"]);
    let why = "Others miss deadlines whatever the machine does: p-rm (analysis: for some arrivals, `a` misses its deadline).";
    assert!(says(&answer.reasons, why), "{answer:?}");
    let needed = "p-rm would win only if neither the analysis nor the simulation showed misses.";
    assert!(says(&answer.reasons, needed), "{answer:?}");
    assert!(
        says(&answer.caveats, "Those that met every deadline here miss some by themselves"),
        "{answer:?}"
    );
    assert_eq!(answer.objections.iter().map(|one| one.label.as_str()).collect::<Vec<_>>(), ["p-rm"]);
    // Where it is the only one left, it is not called safe.
    let other = run_of(Shape { scheduler: "p-edf", late: 3, late_by_us: 10, ..FINE }, 0);
    let answer = recommend_analysed(vec![clean, other], vec![refuted("p-rm"), refuted("p-edf")]);
    assert_eq!(answer.label.as_deref(), Some("p-rm"));
    assert!(
        says(&answer.caveats, "It misses deadlines by itself (analysis: for some arrivals"),
        "{answer:?}"
    );
    assert!(says(&answer.caveats, "for other arrivals, some occur"), "{answer:?}");
}

#[test]
fn a_configuration_that_misses_in_the_simulation_comes_after_one_that_does_not() {
    let measured = |scheduler, late| run_of(Shape { scheduler, late, late_by_us: 500, ..FINE }, 0);
    let simulated = |scheduler, late| Run { host: Host::Simulator, ..measured(scheduler, late) };
    let answer = recommend(vec![
        measured("p-rm", 8),
        measured("g-edf", 90),
        simulated("p-rm", 8),
        simulated("g-edf", 0),
    ]);
    assert_eq!(answer.ranking, ["g-edf", "p-rm"]);
    assert!(says(&answer.reasons, "p-rm (simulation: 8 of 400 jobs miss, of `a`)"), "{answer:?}");
    // The measurement decides where the simulation has something against both.
    let answer = recommend(vec![
        measured("p-rm", 8),
        measured("g-edf", 90),
        simulated("p-rm", 8),
        simulated("g-edf", 1),
    ]);
    assert_eq!(answer.ranking, ["p-rm", "g-edf"]);
}

/// What is proven of g-edf would put it second, if only its runs and those of p-rm told how much noise there is.
#[test]
fn the_runner_up_is_found_with_the_noise_of_all() {
    let late = |scheduler, lates: [u32; 3]| {
        let run =
            move |(repetition, late)| run_of(Shape { scheduler, late, late_by_us: 10, ..FINE }, repetition);
        (0..).zip(lates).map(run)
    };
    let runs = late("p-edf", [0; 3]).chain(late("g-edf", [60, 64, 62])).chain(late("p-rm", [20, 22, 21]));
    let runs: Vec<Run> = runs.collect();
    let answer = recommend_analysed(runs.clone(), vec![proven("g-edf")]);
    assert_eq!(answer.ranking, ["p-edf", "p-rm", "g-edf"], "{answer:?}");
    let two = runs.into_iter().filter(|run| run.scheduler != "p-edf").collect();
    assert_eq!(recommend_analysed(two, vec![proven("g-edf")]).ranking, ["g-edf", "p-rm"]);
}

#[test]
fn nothing_is_recommended_of_one_configuration() {
    let answer = recommend_shapes(&[FINE]);
    assert_eq!((answer.scheduler, answer.label, answer.misses_nothing), (None, None, true));
    assert_eq!((answer.ranking, answer.runner_up), (vec!["g-edf".to_owned()], None));
    assert!(says(&answer.reasons, "g-edf met every deadline: 400 jobs"), "{:?}", answer.reasons);
    let one = results(&[set()], vec![run_of(Shape { late: 3, late_by_us: 10, ..FINE }, 0)], 2);
    let report = Report::of(&one).expect("valid results");
    let told = "g-edf missed deadlines; nothing was compared with it";
    for form in [report.text(TextStyle::default()), report.markdown(), report.html().expect("a page")] {
        assert!(
            form.contains(told) && !form.contains("least bad") && !form.contains("Deploy g-edf"),
            "{form}"
        );
    }
}

#[test]
fn what_would_make_the_runner_up_win_is_said() {
    let missed = Shape { scheduler: "p-edf", late: 80, late_by_us: 10, ..FINE };
    let answer = recommend_shapes(&[FINE, missed]);
    let fewer = "p-edf would win with a better share of jobs missed: it has 20.0 %, g-edf has 0 %.";
    assert!(says(&answer.reasons, fewer), "{answer:?}");
    let slow = Shape { scheduler: "p-rm", response_us: 5_000, ..FINE };
    let answer = recommend_shapes(&[FINE, slow]);
    let laxity = "p-rm would win with a better mean normalized laxity: it has 0.500, g-edf has 0.800.";
    assert!(says(&answer.reasons, laxity), "{answer:?}");
    let answer = recommend_shapes(&[FINE, Shape { scheduler: "p-rm", ..FINE }]);
    let more =
        "g-edf would win if p-rm missed 18 more of the 400 jobs in each run than g-edf does; with so many";
    assert!(says(&answer.reasons, more), "{answer:?}");
    let simulated = |shape| Run { host: Host::Simulator, ..run_of(shape, 0) };
    let answer = recommend(vec![simulated(FINE), simulated(Shape { late: 1, late_by_us: 9, ..missed })]);
    let all = "p-edf would win if it met every deadline: it missed 1 of 400 jobs.";
    assert!(says(&answer.reasons, all), "{answer:?}");
    let answer = recommend(vec![simulated(FINE), simulated(Shape { scheduler: "p-rm", ..FINE })]);
    assert!(says(&answer.reasons, "g-edf would win if p-rm missed deadlines that it meets."), "{answer:?}");
}

laxity_seeds::properties! {
    /// What misses deadlines by itself comes after all else, whatever was measured.
    #[test]
    fn objections_go_before_measurements(
        shapes in proptest::collection::vec((0u32..30, 0u64..9, any::<bool>(), any::<bool>()), 6),
    ) {
        let names = ["g-edf", "g-rm", "c-edf", "c-rm", "p-edf", "p-rm"];
        let (mut runs, mut analysis) = (Vec::new(), Vec::new());
        for (scheduler, &(late, response, shown, simulated)) in names.into_iter().zip(&shapes) {
            let shape = Shape { scheduler, late, late_by_us: 7, response_us: 1_000 + response * 500, ..FINE };
            runs.push(run_of(shape, 0));
            let twin = Shape { late: u32::from(simulated), ..shape };
            runs.push(Run { host: Host::Simulator, ..run_of(twin, 0) });
            analysis.extend(shown.then(|| refuted(scheduler)));
        }
        let answer = recommend_analysed(runs, analysis);
        prop_assert_eq!(answer.ranking.len(), 6);
        let sound = |label: &String| {
            let place = names.iter().position(|name| name == label).expect("one of them");
            !shapes[place].2 && !shapes[place].3
        };
        let count = answer.ranking.iter().filter(|label| sound(label)).count();
        prop_assert!(answer.ranking[..count].iter().all(sound), "{:?}", answer);
        prop_assert_eq!(answer.objections.len(), 6 - count);
    }

    /// The order in which runs were made decides nothing. Of simulations, which have no noise, one with misses never wins
    /// over one without.
    #[test]
    fn the_order_of_the_runs_does_not_matter(
        shapes in proptest::collection::vec((0u64..9, 0u32..3, 0u64..5, 0u32..4), 6),
        swaps in proptest::collection::vec((0usize..6, 0usize..6), 0..8),
    ) {
        let names = ["g-edf", "g-rm", "c-edf", "c-rm", "p-edf", "p-rm"];
        let shape = |(scheduler, &(response, late, by, migrations)): (&&'static str, &(u64, u32, u64, u32))| Shape {
            scheduler, response_us: 1_000 + response * 700, late, late_by_us: 1 + by * 400, migrations: Some(migrations),
        };
        let shapes: Vec<Shape> = names.iter().zip(&shapes).map(shape).collect();
        let mut shuffled = shapes.clone();
        swaps.iter().for_each(|&(a, b)| shuffled.swap(a, b));
        prop_assert_eq!(recommend_shapes(&shapes), recommend_shapes(&shuffled));
        let simulated = |shapes: &[Shape]| {
            recommend(shapes.iter().map(|&of| Run { host: Host::Simulator, ..run_of(of, 0) }).collect())
        };
        let answer = simulated(&shapes);
        prop_assert_eq!(&answer, &simulated(&shuffled));
        let clean = shapes.iter().filter(|s| s.late == 0).count();
        prop_assert_eq!(answer.misses_nothing, clean > 0);
        for (place, label) in answer.ranking.iter().enumerate() {
            let own = shapes.iter().find(|s| s.scheduler == label).expect("one of them");
            prop_assert_eq!(own.late == 0, place < clean);
        }
    }
}

#[test]
fn what_set_the_runner_up_apart_is_said_also_where_the_two_alone_would_not_show_it() {
    // Twelve misses a run are beyond the noise of six schedulers, and within what two of them alone could show.
    let names = ["g-edf", "g-rm", "c-dm", "c-fp", "p-edf", "p-rm"];
    let shapes: Vec<(Shape, [u32; 3])> = names
        .iter()
        .map(|&scheduler| (Shape { scheduler, ..FINE }, if scheduler == "p-edf" { [0; 3] } else { [12; 3] }))
        .collect();
    let answer = recommend_repeated(&shapes);
    assert_eq!((answer.scheduler.as_deref(), answer.tied.len()), (Some("p-edf"), 1), "{answer:?}");
    let needed = "p-rm would win with a better share of jobs missed: it has 3.00 %, p-edf has 0 %.";
    assert!(says(&answer.reasons, needed), "{answer:?}");
}
