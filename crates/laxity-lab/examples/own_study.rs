//! A study with a schedulability test of your own: the hyperbolic bound of the example `own_test` beside the exact test.
//!
//! Finished points are kept: called again with the same directory, it goes on where it was interrupted.
//!
//! `cargo run --release -p laxity-lab --example own_study`

use laxity_lab::study::described::StudyOutputs;
use laxity_lab::{Caller, Silent};
use laxity_model::Result;
use laxity_study::{NEVER, Own, Progress, Study, compute};
use std::path::Path;
use std::sync::Arc;

// Its own `main` is not called here.
#[allow(dead_code)]
#[path = "../../laxity-analysis/examples/own_test.rs"]
mod own_test;

/// As in a study's file; `laxity schema study` has all keys.
const STUDY: &str = r#"
version = 1
title = "The hyperbolic bound"
sets = 200

[platform]
processors = 1

[axis]
of = "utilization"
from = 0.6
to = 1
step = 0.05

[generator]
name = "emberson"
tasks = 6

[[curves]]
name = "hyperbolic"
scheduler = "p-rm"
tests = ["hyperbolic"]

[[curves]]
name = "exact"
scheduler = "p-rm"
"#;

/// Computes the study, and writes page, figures and tables into the directory.
pub fn study(directory: &Path) -> Result<()> {
    let study = Study::from_text_with(STUDY, "own", Path::new(""), &Own::tests(&[&own_test::Hyperbolic]))?;
    let computed = compute(&study, directory, 2, &NEVER, &Progress::default())?;
    let caller = Caller { observer: Arc::new(Silent), version: "0".into(), command: Vec::new() };
    StudyOutputs::of(&study, &computed, None).write(directory, &caller)
}

fn main() -> Result<()> {
    let directory = Path::new("laxity-results/own");
    study(directory)?;
    println!("{}", directory.join("report.html").display());
    Ok(())
}
