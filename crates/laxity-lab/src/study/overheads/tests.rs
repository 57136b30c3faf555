//! A study whose samples are made by hand, from statistics to the table and the page.

use super::functions::FUNCTIONS;
use super::outputs::SHOWN;
use super::{Evaluation, StudyOutputs, Unit};
use crate::overheads::class_of;
use crate::study::overheads::evaluation::Measured;
use crate::study::{Batching, Contender, Place};
use laxity_model::Duration;
use laxity_model::overheads::Overhead;
use laxity_overheads::{Groups, Sample, SampleKind, Summary, kinds_of};
use serde_json::json;
use std::collections::BTreeMap;

fn contenders(names: &[&str], batching: Batching) -> Vec<Contender> {
    let schedulers: Vec<_> = names.iter().map(|name| name.parse().expect("a scheduler")).collect();
    Contender::each(&schedulers, batching)
}

fn summary() -> Summary {
    let tracing = json!({
        "empty_sample_ns": null, "probes_per_sample_ns": null, "probe_runs": null, "probes_skipped": 0
    });
    let summary = json!({
        "version": 1, "kernel": "6.18.15", "cpus": 2, "duration_ns": 1_000, "overheads": [], "missing": [],
        "tracing": tracing, "lost": [0], "interrupts": [0]
    });
    serde_json::from_value(summary).expect("a summary")
}

/// Samples of a scheduler at a place: their kind and lengths.
type Given<'a> = (usize, u32, u32, &'a [(SampleKind, &'a [u64])]);

fn evaluation(schedulers: &[Contender], given: &[Given<'_>]) -> Evaluation {
    let mut evaluation = Evaluation { places: BTreeMap::new(), refused: Vec::new(), open: 0 };
    for (scheduler, cpus, tasks_per_cpu, samples) in given {
        let mut groups = Groups::new(1);
        let class = class_of(&schedulers[*scheduler].scheduler.scheduler);
        for (kind, lengths) in *samples {
            for &duration_ns in *lengths {
                let (kind, at) = (*kind, (None, None, None));
                let (thread, task, job) = at;
                groups.add(&Sample {
                    kind,
                    class,
                    time_ns: 0,
                    duration_ns,
                    cpu: 0,
                    thread,
                    task,
                    job,
                    disturbing: 0,
                });
            }
        }
        let place = Place { cpus: *cpus, scheduler: *scheduler, tasks_per_cpu: *tasks_per_cpu };
        evaluation
            .places
            .insert(place, Measured { points: BTreeMap::new(), groups, summary: summary(), runs: 1 });
    }
    evaluation.draw_points(Duration::from_secs(1), 1);
    evaluation
}

/// What is written of it: the table and the page.
fn written(schedulers: &[Contender], given: &[Given<'_>]) -> (String, String) {
    let evaluation = evaluation(schedulers, given);
    let out = tempfile::tempdir().expect("a directory");
    let method = vec!["By hand.".to_owned()];
    let told = StudyOutputs { schedulers, evaluation: &evaluation, unit: Unit::Time, method };
    told.write(out.path()).expect("writes");
    let read = |name: &str| std::fs::read_to_string(out.path().join(name)).expect("written");
    assert!(read("report.html").contains("<svg"));
    (read("overheads.csv"), read("summary.md"))
}

#[test]
fn functions_are_told_where_they_were_timed() {
    use SampleKind::{Dequeue, Enqueue, Pull, Push, Release};
    let schedulers = contenders(&["g-edf", "fpp", "g-rm"], Batching::Off);
    let given: [Given<'_>; 3] = [
        (0, 2, 1, &[(Enqueue, &[9_000])]),
        (
            0,
            2,
            4,
            &[
                (Enqueue, &[1_000, 2_000, 6_000]),
                (Dequeue, &[500]),
                (Push, &[700]),
                (Pull, &[40_000, 60_000]),
            ],
        ),
        (1, 2, 4, &[(Enqueue, &[1_250]), (Release, &[10])]),
    ];
    let (_, page) = written(&schedulers, &given);
    let table: Vec<&str> = page
        .lines()
        .skip_while(|line| {
            !line.starts_with("Functions of the scheduling classes (lelli2012, Table 6), 4 tasks per CPU")
        })
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let expected = [
        "| scheduler | function | samples | mean | 99 % | maximum |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
        "| g-edf | enqueue | 3* | 3.00 | 6.00 | 6.00 |",
        "| g-edf | dequeue | 1* | 0.50 | 0.50 | 0.50 |",
        "| g-edf | push | 1* | 0.70 | 0.70 | 0.70 |",
        "| g-edf | pull | 2* | 50.00 | 60.00 | 60.00 |",
        "| fpp | enqueue | 1* | 1.25 | 1.25 | 1.25 |",
        "| fpp | dequeue | - | - | - | - |",
        "| fpp | push | - | - | - | - |",
        "| fpp | pull | - | - | - | - |",
    ];
    assert_eq!(table, expected, "{page}");
    for figure in ["m2-enqueue", "m2-pull"] {
        assert!(page.contains(&format!("(plots/{figure}.svg)")), "{page}");
    }
    let without: [Given<'_>; 1] = [(1, 2, 4, &[(Release, &[10])])];
    let (_, page) = written(&schedulers, &without);
    assert!(!page.contains("Functions") && !page.contains("m2-enqueue"), "{page}");
}

#[test]
fn nothing_is_said_of_what_is_not_there() {
    use SampleKind::Release;
    let schedulers = contenders(&["g-edf", "g-edf-mp"], Batching::Off);
    let release: &[(SampleKind, &[u64])] = &[(Release, &[10, 20])];
    // As --instructions has it: one CPU, and two for what dedicates one.
    let (_, page) = written(&schedulers, &[(0, 1, 4, release), (1, 2, 4, release)]);
    assert!(page.contains("## 1 CPU\n") && page.contains("## 2 CPUs\n"), "{page}");
    assert!(!page.contains("Against the number of CPUs"), "no scheduler has two numbers of CPUs: {page}");
    assert!(!page.contains("\n\n\n"), "{page}");
    let (_, page) = written(&schedulers, &[(0, 1, 4, release), (0, 2, 4, release)]);
    let against = page.split("## Against the number of CPUs\n").nth(1).expect("a section");
    assert!(
        against.starts_with("\n![Release: the handler of the release interrupt](plots/cpus-release.svg)\n")
    );
    assert!(!against.contains("cpus-tick"), "{page}");
}

#[test]
fn a_policy_is_there_with_and_without_batching() {
    let schedulers = contenders(&["fpp", "g-edf"], Batching::Both);
    let release: &[(SampleKind, &[u64])] = &[(SampleKind::Release, &[1_000])];
    let given: Vec<Given<'_>> = (0..3).map(|scheduler| (scheduler, 2, 4, release)).collect();
    let (table, page) = written(&schedulers, &given);
    let told: Vec<(&str, &str)> = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<&str>>())
        .map(|row| (row[3], *row.last().expect("columns")))
        .collect();
    let expected = [("scheduler", "batching"), ("fpp", "off"), ("fpp+batching", "on"), ("g-edf", "off")];
    assert_eq!(told, expected, "{table}");
    assert!(page.contains("| tasks per CPU | fpp: mean / 99 % | fpp+batching: mean / 99 % |"), "{page}");
}

/// What is recorded and in no figure: parts of others, what only a table of the classes' functions would have, and what tracing costs.
const IN_NO_FIGURE: &[SampleKind] = &[
    SampleKind::SchedulerTick,
    SampleKind::Replenish,
    SampleKind::ScheduleBoth,
    SampleKind::Pick,
    SampleKind::SelectCpu,
    SampleKind::Kick,
    SampleKind::Empty,
];

#[test]
fn every_kind_of_sample_is_shown_in_one_place_or_said_to_be_in_none() {
    for kind in SampleKind::ALL {
        let shown = SHOWN.iter().filter(|(shown, _)| *shown == kind).count();
        let timed = FUNCTIONS.iter().filter(|(timed, ..)| *timed == kind).count();
        let hidden = IN_NO_FIGURE.iter().filter(|hidden| **hidden == kind).count();
        assert_eq!(shown + timed + hidden, 1, "{}", kind.name());
    }
}

#[test]
fn studies_of_runs_have_every_overhead_that_linux_has() {
    let metrics =
        laxity_study::METRICS_OF_RUNS.iter().filter_map(|metric| metric.name.strip_prefix("overhead-"));
    let mut metrics: Vec<&str> = metrics.collect();
    let linux = Overhead::ALL.into_iter().filter(|overhead| !overhead.is_of_messages());
    let mut kinds: Vec<&str> = linux.map(|overhead| kinds_of(overhead)[0].name()).collect();
    metrics.sort_unstable();
    kinds.sort_unstable();
    assert_eq!(metrics, kinds);
}
