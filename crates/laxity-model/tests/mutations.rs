//! Every reader against damaged files: the examples with bytes changed, cut, doubled and spliced. No reader
//! may panic, every refusal has a hint, and whatever is accepted survives being written and read again.
//!
//! `fuzz/` searches deeper with the same properties.

use laxity_model::*;
use laxity_seeds::{Damage, assert_complete, read_damaged, seeds};
use std::fs;
use std::path::{Path, PathBuf};

/// Damaged copies of each file for each reader.
const ROUNDS: u64 = 4_000;

/// Asserts what must hold for any text and any reader.
fn check<T>(result: Result<T>, accepted: impl FnOnce(T)) {
    match result {
        Ok(value) => accepted(value),
        Err(error) => assert_complete(&error.message, error.hint.as_deref()),
    }
}

fn set_survives(set: &TaskSet) {
    assert_eq!(TaskSet::from_toml(&set.to_toml(), "x").as_ref(), Ok(set));
    assert_eq!(TaskSet::from_json(&set.to_json(), "x").as_ref(), Ok(set));
    let csv = TaskSet::from_csv(&set.to_csv().text, set.name());
    assert_eq!(csv.map(|read| read.set.tasks().len()), Ok(set.tasks().len()));
    let _ = (set.utilization(), set.period_max());
}

fn platform_survives(platform: &Platform) {
    assert_eq!(Platform::from_toml(&platform.to_toml(), "x").as_ref(), Ok(platform));
    assert_eq!(Platform::from_json(&platform.to_json(), "x").as_ref(), Ok(platform));
}

/// Reads a text in one format and asserts the properties.
type Reader = fn(&str);

const SETS_TOML: Reader = |text| check(TaskSet::from_toml(text, "x"), |set| set_survives(&set));
const SETS_JSON: Reader = |text| check(TaskSet::from_json(text, "x"), |set| set_survives(&set));
const SETS_CSV: Reader = |text| check(TaskSet::from_csv(text, "x"), |read| set_survives(&read.set));
const SETS_RTAPP: Reader =
    |text| check(TaskSet::from_rtapp_as(text, "x", Incomplete::LeaveOut), |read| set_survives(&read.set));
const SETS_SIMSO: Reader = |text| check(TaskSet::from_simso(text, "x"), |read| set_survives(&read.set));
const PLATFORMS_TOML: Reader =
    |text| check(Platform::from_toml(text, "x"), |platform| platform_survives(&platform));
const PLATFORMS_JSON: Reader =
    |text| check(Platform::from_json(text, "x"), |platform| platform_survives(&platform));

const RATES: Reader = |text| {
    check(WalkRates::from_json(text, "x"), |rates| {
        assert_eq!(WalkRates::from_json(&rates.to_json(), "x"), Ok(rates));
    });
};

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path)
}

fn damage(files: &[&str], reader: Reader) {
    for file in files {
        damage_text(file, &fs::read_to_string(example(file)).expect("an example"), reader);
    }
}

fn damage_text(name: &str, whole: &str, reader: Reader) {
    read_damaged(name, whole, seeds!(0..ROUNDS), |text| {
        reader(text);
        true
    });
}

#[test]
fn damaged_task_sets() {
    damage(&["avionics.toml", "video-pipeline.toml", "sporadic.toml"], SETS_TOML);
    damage(&["overloaded.json"], SETS_JSON);
}

#[test]
fn damaged_platforms() {
    damage(
        &["platforms/four-cores.toml", "platforms/big-little.toml", "platforms/two-sockets.toml"],
        PLATFORMS_TOML,
    );
    damage(&["overloaded.json"], PLATFORMS_JSON);
}

#[test]
fn damaged_calibrations() {
    let mut rates = WalkRates::default();
    for size_bytes in [0, 64, 1 << 20] {
        let kind = WalkKind {
            size_bytes,
            shared_bytes: size_bytes / 2,
            random: size_bytes == 64,
            reads: 4,
            writes: 1,
        };
        rates.insert(kind, 1_000, Duration::from_us(3));
    }
    damage_text("calibration", &rates.to_json(), RATES);
}

#[test]
fn damaged_imports() {
    damage(&["three-tasks.csv"], SETS_CSV);
    damage(&["imports/rtapp-1.0.json", "imports/rtapp.json", "imports/rtapp-waits.json"], SETS_RTAPP);
    damage(&["imports/simso.xml"], SETS_SIMSO);
}

#[test]
fn every_file_against_every_reader() {
    let readers = [SETS_TOML, SETS_JSON, SETS_CSV, SETS_RTAPP, SETS_SIMSO, PLATFORMS_TOML, PLATFORMS_JSON];
    for folder in ["", "imports", "platforms"] {
        for entry in fs::read_dir(example(folder)).expect("a folder").flatten() {
            if let Ok(text) = fs::read_to_string(entry.path()) {
                readers.iter().for_each(|reader| reader(&text));
            }
        }
    }
}

#[test]
fn damaged_times_and_cpu_lists() {
    for text in ["1.5ms", "18446744073709551615ns", "0-3,8", "0-8191", "normal:0.8,0.1", "3/4", "16KiB"] {
        for seed in seeds!(0..ROUNDS) {
            let mut bytes = text.as_bytes().to_vec();
            Damage::of(seed).inflict(&mut bytes);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            check(text.parse::<Duration>(), |time| assert_eq!(time.to_string().parse(), Ok(time)));
            check(text.parse::<CpuList>(), |cpus| assert_eq!(cpus.to_string().parse(), Ok(cpus)));
            check(text.parse::<Demand>(), |demand| assert_eq!(demand.to_string().parse(), Ok(demand)));
            check(text.parse::<Speed>(), |speed| assert_eq!(speed.to_string().parse(), Ok(speed)));
            check(text.parse::<ByteSize>(), |size| assert_eq!(size.to_string().parse(), Ok(size)));
        }
    }
}
