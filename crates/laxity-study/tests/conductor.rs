//! A study whose units are judged somewhere else comes to the same, whatever happens to the judges and to the conductor.

use laxity_seeds::{Random, seeds};
use laxity_study::{Conductor, NEVER, POINTS_FILE, Progress, Study, Tally, WorkUnit, compute};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

const REFINED: &str = r#"
version = 1
title = "of proofs"
sets = 21
[platform]
processors = 4
[axis]
of = "utilization"
from = 1
to = "m"
step = 1
refine = { depth = 2, precision = 0.05, refine_noise = true }
[generator]
name = "unc"
[matrix]
utilizations = ["uni-light", "uni-heavy"]
[[curves]]
scheduler = "g-edf"
[[curves]]
scheduler = "fpp"
"#;

const SIMULATED: &str = r#"
version = 1
title = "simulated"
kind = "simulation"
sets = 5
duration = "50ms"
metrics = ["dsr", "max-tardiness"]
[platform]
processors = 2
[axis]
of = "utilization"
values = [0.5, 1.5, 2]
[generator]
name = "uunifast"
tasks = 4
periods = "log-uniform:10ms,50ms"
[[curves]]
scheduler = "gsn-edf"
"#;

fn study(text: &str) -> Arc<Study> {
    Arc::new(Study::from_text(text, "test", Path::new("")).expect("a study"))
}

fn lines(directory: &Path) -> Vec<String> {
    let text = fs::read_to_string(directory.join(POINTS_FILE)).expect("a journal");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// What a judge elsewhere sends back.
fn judged(study: &Study, unit: &WorkUnit) -> Tally {
    let unit: WorkUnit = serde_json::from_str(&serde_json::to_string(unit).expect("text")).expect("a unit");
    let tally = study.tally(&unit, &NEVER).expect("judges").expect("not stopped");
    serde_json::from_str(&serde_json::to_string(&tally).expect("text")).expect("a tally")
}

/// Everything that can happen, as a seed draws it, until the study is complete.
fn conducted(study: &Arc<Study>, directory: &Path, random: &mut Random) {
    let mut conductor = Conductor::open(Arc::clone(study), directory).expect("opens");
    // Judges that were given up for lost, and answer all the same.
    let mut late: Vec<(u64, WorkUnit)> = Vec::new();
    let mut out: Vec<(u64, WorkUnit)> = Vec::new();
    let mut taken_sets = 0;
    while !conductor.is_complete() {
        let any = |random: &mut Random, all: &[(u64, WorkUnit)]| {
            usize::try_from(random.below(all.len() as u64)).expect("few")
        };
        match random.below(12) {
            0..4 => out.extend(conductor.next(1 + random.below(9))),
            4..9 if !out.is_empty() => {
                let (number, unit) = out.swap_remove(any(random, &out));
                assert!(
                    conductor.take(number, &judged(study, &unit)).expect("takes"),
                    "the first answer counts"
                );
                assert!(!conductor.take(number, &judged(study, &unit)).expect("nothing"), "and no other");
                taken_sets += unit.sets.end - unit.sets.start;
            }
            9 if !out.is_empty() => {
                let lost = out.swap_remove(any(random, &out));
                conductor.give_back(lost.0);
                late.push(lost);
            }
            10 if !late.is_empty() => {
                let (number, unit) = late.swap_remove(any(random, &late));
                assert!(!conductor.take(number, &judged(study, &unit)).expect("nothing"), "given back");
            }
            11 if random.below(6) == 0 => {
                // It is killed: what is out is lost, and so are points that are begun.
                drop(conductor);
                (late, out, taken_sets) = (Vec::new(), Vec::new(), 0);
                conductor = Conductor::open(Arc::clone(study), directory).expect("opens again");
            }
            _ => {}
        }
        assert_eq!(conductor.out(), out.len());
    }
    assert!(conductor.is_over() && conductor.next(1).is_none());
    let (judged, planned) = conductor.progress();
    assert!(judged == planned && taken_sets <= judged);
}

#[test]
fn a_conducted_study_is_the_study_whatever_happens() {
    for text in [REFINED, SIMULATED] {
        let study = study(text);
        let whole = tempfile::tempdir().expect("a directory");
        let done = compute(&*study, whole.path(), 2, &NEVER, &Progress::default()).expect("computes");
        assert!(done.complete);
        let reference = lines(whole.path());
        for seed in seeds!(0..12) {
            let directory = tempfile::tempdir().expect("a directory");
            conducted(&study, directory.path(), &mut Random(seed));
            assert_eq!(lines(directory.path()), reference);
        }
        // What a conductor has left, `laxity study` goes on with.
        let directory = tempfile::tempdir().expect("a directory");
        let mut conductor = Conductor::open(Arc::clone(&study), directory.path()).expect("opens");
        for _ in 0..2 {
            let (number, unit) = conductor.next(study.outline.sets).expect("there is more");
            conductor.take(number, &judged(&study, &unit)).expect("takes");
        }
        drop(conductor);
        let progress = Progress::default();
        compute(&*study, directory.path(), 2, &NEVER, &progress).expect("goes on");
        assert!(progress.before.load(SeqCst) >= study.outline.sets, "points are kept");
        assert_eq!(lines(directory.path()), reference);
    }
}

#[test]
fn what_is_given_up_leaves_its_point_unfinished_and_the_rest_goes_on() {
    let (study, directory) = (study(SIMULATED), tempfile::tempdir().expect("a directory"));
    let mut conductor = Conductor::open(Arc::clone(&study), directory.path()).expect("opens");
    let (bad, _) = conductor.next(2).expect("a unit");
    conductor.give_up(bad);
    while let Some((number, unit)) = conductor.next(100) {
        conductor.take(number, &judged(&study, &unit)).expect("takes");
    }
    assert!(conductor.is_over() && !conductor.is_complete());
    assert_eq!(lines(directory.path()).len(), 2, "the other two points");
}

#[test]
fn what_is_no_answer_to_a_unit_is_refused_and_the_unit_stays_out() {
    let (study, directory) = (study(SIMULATED), tempfile::tempdir().expect("a directory"));
    let mut conductor = Conductor::open(Arc::clone(&study), directory.path()).expect("opens");
    let (number, unit) = conductor.next(3).expect("a unit");
    let other = WorkUnit { sets: 0..2, ..unit.clone() };
    let refused = conductor.take(number, &judged(&study, &other)).expect_err("two sets of three");
    assert!(refused.message.contains("not the sums of sets 0..3"), "{refused}");
    assert_eq!((conductor.out(), conductor.unit(number)), (1, Some(&unit)));
    let locked =
        Conductor::open(Arc::clone(&study), directory.path()).map(drop).expect_err("two write one journal");
    assert!(locked.hint.is_some(), "{locked}");
}
