//! Task sets in TOML.
#![no_main]

use laxity_fuzz::{accepted, set_survives};
use laxity_model::TaskSet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(set) = accepted(TaskSet::from_toml(text, "x")) {
        set_survives(&set);
    }
});
