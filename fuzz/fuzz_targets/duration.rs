//! Times.
#![no_main]

use laxity_fuzz::value_survives;
use laxity_model::Duration;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    value_survives::<Duration>(text);
});
