//! Study files in TOML and JSON.
#![no_main]

use laxity_fuzz::{accepted, study_survives};
use laxity_study::Study;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    if let Some(study) = accepted(Study::from_text(text, "x", Path::new("/nonexistent"))) {
        study_survives(&study);
    }
});
