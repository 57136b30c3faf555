//! Studies from damaged files: the shipped ones and a small one, with bytes changed, cut, doubled and spliced. Reading never panics,
//! every refusal says what to do, and whatever is accepted has points and is the same study when it is read again.

use laxity_seeds::{assert_complete, assert_together, read_damaged, seeds};
use laxity_study::{Judging, Study};
use std::path::{Path, PathBuf};

/// Damaged copies of each file.
const ROUNDS: u64 = 1_000;

fn studies() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies")
}

/// What must hold for any text; whether it is a study.
fn check(text: &str, beside: &Path) -> bool {
    let study = match Study::from_text(text, "x", beside) {
        Ok(study) => study,
        Err(error) => {
            assert_complete(&error.message, error.hint.as_deref());
            return false;
        }
    };
    let (first, axis) = (study.next_values(|_| None), &study.outline.axis);
    assert!(!first.is_empty() && first.iter().all(|&value| axis.is_on_grid(value)), "{first:?}");
    let words = match &study.judging {
        Judging::Proofs(proofs) => proofs.series_in_words(axis),
        Judging::Simulations(simulations) => simulations.curves_in_words(),
    };
    assert_eq!(words.len(), study.series());
    let again = Study::from_text(text, "x", beside).expect("was read before");
    assert_eq!(again.description(), study.description());
    true
}

/// Damaged copies of a study, and how many of them are studies still.
fn damage(name: &str, whole: &str) -> u64 {
    read_damaged(name, whole, seeds!(0..ROUNDS), |text| check(text, &studies()))
}

fn shipped(name: &str) {
    let whole = std::fs::read_to_string(studies().join(name)).expect("a shipped study");
    // Much of a file is words, which may be any.
    let taken = damage(name, &whole);
    assert_together!(taken > ROUNDS / 20, "{name}: hardly any copy is read");
}

#[test]
fn a_figure_of_soft_guarantees() {
    shipped("cerqueira2014-fig8a.toml");
}

#[test]
fn a_figure_of_hard_guarantees() {
    shipped("cerqueira2014-fig8b.toml");
}

#[test]
fn eighteen_kinds_of_sets() {
    shipped("ackelman2018.toml");
}

#[test]
fn json_with_a_refined_axis() {
    let whole = r#"{"version": 1, "title": "t", "sets": 3, "seed": 7, "steps": 1000, "guarantees": ["hard", "soft"],
        "platform": {"processors": 4, "cluster": 2},
        "axis": {"of": "utilization", "from": 0.5, "to": "m", "step": 0.5},
        "generator": {"name": "emberson", "tasks": 8},
        "curves": [{"name": "c", "scheduler": "c-edf"}, {"name": "g", "scheduler": "g-edf", "tests": ["gfb", "rta"], "guarantees": ["hard"]}]}"#;
    let taken = damage("json", whole);
    assert_together!(taken > 0);
}

#[test]
fn a_study_by_simulation() {
    let whole = r#"
        version = 1
        kind = "simulation"
        title = "t"
        sets = 3
        duration = "50ms"
        demand = "uniform:0.5,1"
        costs = "costs/lindsay2012.toml"
        platform = { processors = 4 }
        axis = { of = "utilization", from = 1, to = 3, step = 1 }
        generator = { name = "emberson", tasks = 8, wss = "16KiB,64KiB" }
        ordinary = { tasks = 2, reserve = 5, reserve-period = "20ms" }
        curves = [{ placement = "wfd", scheduler = "p-edf" }, { scheduler = "g-edf" }]
    "#;
    let taken = damage("simulation", whole);
    assert_together!(taken > 0);
}
