//! Files of studies by simulation in TOML and JSON.
#![no_main]

use laxity_fuzz::{accepted, simulation_study_survives};
use laxity_study::SimulationStudy;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    if let Some(study) = accepted(SimulationStudy::from_text(text, "x", Path::new("/nonexistent"))) {
        simulation_study_survives(&study);
    }
});
