//! SimSo files.
#![no_main]

use laxity_fuzz::{accepted, set_survives};
use laxity_model::TaskSet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(read) = accepted(TaskSet::from_simso(text, "x")) {
        set_survives(&read.set);
    }
});
