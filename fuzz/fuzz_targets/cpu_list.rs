//! CPU lists.
#![no_main]

use laxity_fuzz::value_survives;
use laxity_model::CpuList;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    value_survives::<CpuList>(text);
});
