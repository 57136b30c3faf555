//! What `--calibration FILE` keeps, in JSON.
#![no_main]

use laxity_fuzz::accepted;
use laxity_model::WalkRates;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(rates) = accepted(WalkRates::from_json(text, "x")) {
        assert_eq!(WalkRates::from_json(&rates.to_json(), "x"), Ok(rates));
    }
});
