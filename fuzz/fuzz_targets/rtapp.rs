//! rt-app files.
#![no_main]

use laxity_fuzz::{accepted, set_survives};
use laxity_model::{Incomplete, TaskSet};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(read) = accepted(TaskSet::from_rtapp_as(text, "x", Incomplete::LeaveOut)) {
        set_survives(&read.set);
    }
});
