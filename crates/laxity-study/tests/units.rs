//! Units of a study's work: computed apart, in any order, and handed on as text, they add up to what the engine comes to.

use laxity_generate::seed_of;
use laxity_seeds::seeds;
use laxity_study::{NEVER, Point, Points, Progress, Study, Tally, WorkUnit, compute};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const PROOFS: &str = r#"
version = 1
title = "proofs"
sets = 12
guarantees = ["hard", "soft"]
[platform]
processors = 2
[axis]
of = "utilization"
from = 0
to = 2
step = 1
refine = { depth = 2, refine_noise = true }
[generator]
name = "emberson"
tasks = 5
[[curves]]
scheduler = "g-edf"
[[curves]]
scheduler = "p-edf"
[[curves]]
name = "by load"
scheduler = "p-rm"
fit = "utilization"
"#;

const SIMULATIONS: &str = r#"
version = 1
kind = "simulation"
title = "simulations"
sets = 9
duration = "100ms"
[platform]
processors = 2
[axis]
of = "utilization"
from = 0
to = 2
step = 1
[generator]
name = "emberson"
tasks = 5
periods = "log-uniform:5ms,20ms"
[[curves]]
scheduler = "g-edf-mp"
[[curves]]
scheduler = "p-edf"
placement = "wfd"
[[curves]]
name = "ffd by test"
scheduler = "p-rm"
fit = "test"
"#;

/// Numbers that a seed makes.
struct Draws(u64, u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.1 += 1;
        seed_of(&[self.0, self.1]) % end
    }

    /// Pieces of a range, of random lengths.
    fn cut(&mut self, end: u64) -> Vec<Range<u64>> {
        let mut pieces = Vec::new();
        let mut from = 0;
        while from < end {
            let to = from + 1 + self.below(end - from);
            pieces.push(from..to);
            from = to;
        }
        pieces
    }
}

/// All work at these points, cut into units at random, in a random order.
fn units(study: &Study, points: &Points, draws: &mut Draws) -> Vec<WorkUnit> {
    let mut units = Vec::new();
    for &point in points.keys() {
        for series in draws.cut(study.series() as u64) {
            let series =
                usize::try_from(series.start).expect("few")..usize::try_from(series.end).expect("few");
            let sets = draws.cut(study.outline.sets);
            units.extend(sets.into_iter().map(|sets| WorkUnit { point, series: series.clone(), sets }));
        }
    }
    for at in (1..units.len()).rev() {
        units.swap(at, usize::try_from(draws.below(at as u64 + 1)).expect("few"));
    }
    units
}

/// What a process elsewhere makes of a unit that it has as text, as text.
fn elsewhere(study: &str, unit: &str) -> String {
    let study = Study::from_text(study, "test", Path::new("")).expect("a study");
    let unit: WorkUnit = serde_json::from_str(unit).expect("a unit");
    let tally = study.tally(&unit, &NEVER).expect("computes").expect("was not stopped");
    serde_json::to_string(&tally).expect("serializes")
}

#[test]
fn units_add_up_to_the_study_however_it_is_cut() {
    for text in [PROOFS, SIMULATIONS] {
        let study = Study::from_text(text, "test", Path::new("")).expect("a study");
        let directory = tempfile::tempdir().expect("a directory");
        let done = compute(&study, directory.path(), 2, &NEVER, &Progress::default()).expect("no error");
        let csv = study.table(&done.points).csv();
        for seed in seeds!(0..6) {
            let mut draws = Draws(seed, 0);
            let units = units(&study, &done.points, &mut draws);
            assert!(units.len() > done.points.len(), "something is cut");
            let mut merged = Points::new();
            for unit in units {
                let written = serde_json::to_string(&unit).expect("serializes");
                let tally: Tally = serde_json::from_str(&elsewhere(text, &written)).expect("reads");
                merged.entry(unit.point).or_insert_with(|| study.tally_of_none()).merge(&tally);
            }
            assert!(merged.values().all(|tally| study.is_whole(tally)));
            assert_eq!(merged, done.points);
            assert_eq!(study.table(&merged).csv(), csv);
        }
    }
}

#[test]
fn a_unit_of_another_study_is_refused_and_one_that_is_stopped_says_nothing() {
    static STOPPED: AtomicBool = AtomicBool::new(true);
    let study = Study::from_text(PROOFS, "test", Path::new("")).expect("a study");
    let point = Point { family: 0, value: 1_000_000_000 };
    let unit = WorkUnit { point, series: 0..6, sets: 0..12 };
    assert_eq!(study.tally(&unit, &STOPPED), Ok(None));
    assert_eq!(study.series(), 6);
    #[expect(clippy::reversed_empty_ranges, reason = "what a damaged file may say")]
    for wrong in [
        WorkUnit { series: 0..7, ..unit.clone() },
        WorkUnit { series: 5..3, ..unit.clone() },
        WorkUnit { sets: 0..13, ..unit.clone() },
        WorkUnit { point: Point { family: 1, ..point }, ..unit.clone() },
    ] {
        let error = study.tally(&wrong, &NEVER).expect_err("refused");
        assert!(error.message.contains("a unit of work of family") && error.hint.is_some(), "{error}");
    }
}
