//! Costs in TOML and in the field's CSV of overheads.
#![no_main]

use laxity_fuzz::{accepted, costs_survive};
use laxity_sim::costs::Costs;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    for costs in [Costs::from_toml(text, Path::new("/nonexistent")), Costs::from_csv(text)] {
        if let Some(costs) = accepted(costs) {
            costs_survive(&costs);
        }
    }
});
