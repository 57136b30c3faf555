//! Demands, speeds and sizes.
#![no_main]

use laxity_fuzz::value_survives;
use laxity_model::{ByteSize, Demand, Speed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    value_survives::<Demand>(text);
    value_survives::<Speed>(text);
    value_survives::<ByteSize>(text);
});
