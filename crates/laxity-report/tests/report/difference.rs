//! Differences between constructed results: what is called worse, better, or the same.

use crate::synthetic::{Noise, results, run};
use laxity_model::{Duration, Task, TaskSet};
use laxity_report::{Difference, DifferenceVerdict, Metric, TextStyle};
use laxity_trace::{Counters, Host, Job, JobOutcome, Results, Run};

const PERIOD_NS: u64 = 10_000_000;
const JOBS: u32 = 1000;

fn set(name: &str) -> TaskSet {
    let task = Task::periodic("a", Duration::from_ms(1), Duration::from_ms(10));
    TaskSet::new(name, vec![task]).expect("a valid set")
}

/// A run in which so many jobs are late by 3 ms, and the others take so long.
fn run_of(scheduler: &str, repetition: u32, late: u32, response_us: u64) -> Run {
    let job = |index: u32| {
        let release_ns = u64::from(index) * PERIOD_NS;
        let response_ns = if index < late { PERIOD_NS + 3_000_000 } else { response_us * 1000 };
        Job {
            task: 0,
            index,
            release_ns,
            deadline_ns: release_ns + PERIOD_NS,
            demand_ns: None,
            warm_ns: None,
            cause: None,
            outcome: JobOutcome::Completed,
            start_ns: Some(release_ns),
            finish_ns: Some(release_ns + response_ns),
            cpu_time_ns: Some(1_000_000),
            first_cpu: Some(0),
            last_cpu: Some(0),
            migrations: Some(0),
            context_switches: Some(1),
            counters: Counters::default(),
        }
    };
    let duration = Duration::from_ns(u64::from(JOBS) * PERIOD_NS);
    run(0, scheduler, repetition, duration, (0..JOBS).map(job).collect())
}

/// Repetitions with so many late jobs under two schedulers.
fn directory(edf: [u32; 3], rm: [u32; 3], response_us: u64) -> Results {
    let of = |scheduler: &'static str, lates: [u32; 3]| {
        (0..).zip(lates).map(move |(repetition, late)| run_of(scheduler, repetition, late, response_us))
    };
    results(&[set("pair")], of("p-edf", edf).chain(of("p-rm", rm)).collect(), 2)
}

fn verdict(difference: &Difference, label: &str, metric: Metric) -> Option<DifferenceVerdict> {
    let one = difference.configurations.iter().find(|one| one.label == label).expect("in both");
    one.metrics.iter().find(|of| of.metric == metric).map(|of| of.verdict)
}

fn difference(before: &Results, after: &Results) -> Difference {
    Difference::of(before, after).expect("something in common")
}

#[test]
fn what_misses_more_by_more_than_noise_is_worse_and_the_other_way_round_better() {
    let (few, many) = (directory([2, 4, 3], [0, 1, 0], 2_000), directory([60, 55, 58], [1, 0, 0], 2_000));
    let worse = difference(&few, &many);
    assert!(worse.worse && !worse.better, "{worse:?}");
    assert_eq!(verdict(&worse, "p-edf", Metric::MissesPerRun), Some(DifferenceVerdict::Worse));
    assert_eq!(verdict(&worse, "p-rm", Metric::MissesPerRun), Some(DifferenceVerdict::Same));
    // Tardiness is the same 3 ms, and p-rm has runs without misses.
    assert_eq!(verdict(&worse, "p-edf", Metric::TardinessNs), Some(DifferenceVerdict::Same));
    assert_eq!(verdict(&worse, "p-rm", Metric::TardinessNs), None);
    let better = difference(&many, &few);
    assert!(better.better && !better.worse, "{better:?}");
    let text = worse.text(TextStyle::default());
    assert!(
        text.starts_with(
            "Worse: p-edf (missed per run 3, then 57.7; mean normalized laxity 0.797, then 0.737).\n"
        ),
        "{text}"
    );
    assert!(text.contains("57.7 -"), "{text}");
    assert!(better.text(TextStyle::default()).starts_with("Better: p-edf"));
}

#[test]
fn what_differs_by_no_more_than_noise_is_the_same() {
    let (one, other) = (directory([0, 9, 2], [4, 0, 1], 2_000), directory([7, 0, 12], [0, 3, 0], 2_100));
    let same = difference(&one, &other);
    assert!(!same.worse && !same.better, "{same:?}");
    assert!(same.text(TextStyle::default()).starts_with("No difference beyond noise.\n"));
    let identical = difference(&one, &one);
    assert!(!identical.worse && !identical.better && identical.notes.is_empty(), "{identical:?}");
}

#[test]
fn laxity_counts_from_a_twentieth_of_a_period() {
    let at = |response_us| directory([0; 3], [0; 3], response_us);
    assert!(!difference(&at(2_000), &at(2_400)).worse);
    let worse = difference(&at(2_000), &at(3_000));
    assert_eq!(verdict(&worse, "p-rm", Metric::NormalizedLaxity), Some(DifferenceVerdict::Worse));
    assert!(difference(&at(3_000), &at(2_000)).better);
}

#[test]
fn in_simulations_every_miss_counts() {
    let simulated = |late| {
        let mut results = directory([late; 3], [0; 3], 2_000);
        results.runs.iter_mut().for_each(|run| run.host = Host::Simulator);
        results
    };
    assert!(difference(&simulated(0), &simulated(1)).worse);
    assert!(difference(&simulated(1), &simulated(0)).better);
    assert!(!difference(&simulated(1), &simulated(1)).worse);
}

#[test]
fn noise_that_no_repetition_shows_is_said_to_be_assumed() {
    let once = |host: Host| {
        let mut results = directory([9, 0, 0], [0; 3], 2_000);
        results.runs.retain(|run| run.repetition == 0);
        results.runs.iter_mut().for_each(|run| run.host = host);
        results
    };
    let said = |results: &Results| difference(results, results).notes.join("\n");
    assert!(said(&once(Host::Linux)).contains("noise is assumed"));
    assert_eq!(said(&once(Host::Simulator)), "");
}

#[test]
fn only_what_both_have_is_compared_and_the_rest_is_said() {
    let before = directory([0; 3], [0; 3], 2_000);
    let mut after = directory([0; 3], [0; 3], 2_000);
    after.runs.iter_mut().filter(|run| run.scheduler == "p-rm").for_each(|run| run.scheduler = "g-rm".into());
    after.machine.kernel = "7.0".into();
    after.options.insert("busy".into(), "4".into());
    let part = difference(&before, &after);
    assert_eq!(part.configurations.iter().map(|one| one.label.as_str()).collect::<Vec<_>>(), ["p-edf"]);
    let said = part.notes.join("\n");
    for words in [
        "the other lacks it: p-rm",
        "the other lacks it: g-rm",
        "kernel, ",
        " and 7.0",
        "busy, nothing and 4",
    ] {
        assert!(said.contains(words), "{said}");
    }
    after.task_sets[0]["name"] = "another".into();
    let refused = Difference::of(&before, &after).expect_err("another set").to_string();
    assert!(refused.contains("no task set is the same in both: `pair` and `another`"), "{refused}");
    let mut shorter = directory([0; 3], [0; 3], 2_000);
    shorter.runs.iter_mut().for_each(|run| run.duration = Duration::from_secs(5));
    let refused = Difference::of(&before, &shorter).expect_err("another duration").to_string();
    assert!(refused.contains("no configuration ran to its end in both"), "{refused}");
}

#[test]
fn sets_are_found_wherever_they_stand() {
    let two = |order: [&str; 2], late: [u32; 2]| {
        let runs = (0..).zip(late).flat_map(|(set, late)| {
            (0..3).map(move |repetition| Run { set, ..run_of("p-edf", repetition, late, 2_000) })
        });
        results(&order.map(set), runs.collect(), 2)
    };
    let same = difference(&two(["one", "two"], [0, 80]), &two(["two", "one"], [80, 0]));
    assert_eq!((same.worse, same.better, same.configurations[0].pairs), (false, false, 6), "{same:?}");
    assert!(difference(&two(["one", "two"], [0, 80]), &two(["two", "one"], [80, 70])).worse);
}

/// Two directories of the same machine, whose runs miss as Poisson's law says or four times as wildly: at most one pair in
/// twenty is told apart.
#[test]
fn equal_directories_are_seldom_told_apart() {
    let mut noise = Noise(11);
    let mut late = |wild: u64| -> u32 {
        let mean = noise.within(0, 40 * wild);
        let hits = (0..400).filter(|_| noise.within(0, 400) < mean).count();
        u32::try_from(hits).expect("few")
    };
    let mut alarms = 0;
    for _ in 0..200 {
        let mut three = |wild| [late(wild), late(wild), late(wild)];
        let one = directory(three(1), three(3), 2_000);
        let other = directory(three(1), three(3), 2_000);
        let of = difference(&one, &other);
        alarms += u32::from(of.worse || of.better);
    }
    assert!(alarms <= 10, "{alarms} of 200");
}
