//! Platforms in TOML and JSON.
#![no_main]

use laxity_fuzz::{accepted, platform_survives};
use laxity_model::Platform;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for platform in [Platform::from_toml(text, "x"), Platform::from_json(text, "x")] {
        if let Some(platform) = accepted(platform) {
            platform_survives(&platform);
        }
    }
});
