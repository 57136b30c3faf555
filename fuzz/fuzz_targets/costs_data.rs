//! Files that costs name: samples of a distribution, measured cache delays.
#![no_main]

use laxity_fuzz::{accepted, costs_survive};
use laxity_sim::costs::Costs;
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Left behind when the fuzzer ends, which it does by `_exit`.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("laxity-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    folder
});

fuzz_target!(|text: &str| {
    let file = FOLDER.join("data.csv");
    // A file that is cut to nothing and written again goes to disk at once on some file systems.
    let _ = fs::remove_file(&file);
    fs::write(file, text).expect("writes");
    for naming in ["scheduling = \"empirical:data.csv\"", "cache = { cpmd = \"data.csv\" }"] {
        let costs = Costs::from_toml(&format!("version = 1\n{naming}"), &FOLDER);
        if let Some(costs) = accepted(costs) {
            costs_survive(&costs);
        }
    }
});
