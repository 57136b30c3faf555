//! Costs from damaged files: the examples with bytes changed, cut, doubled and spliced. No reader may panic, every
//! refusal says what to do, whatever is accepted can be drawn from, and survives being written and read again.

use laxity_model::{Platform, Result, read_platform};
use laxity_seeds::{assert_complete, read_damaged, seeds};
use laxity_sim::costs::{COST_MAX, Costs};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::fs;
use std::path::{Path, PathBuf};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Asserts what must hold for any costs and any reader; whether they have been read.
fn check(costs: Result<Costs>, platform: &Platform) -> bool {
    let costs = match costs {
        Ok(costs) => costs,
        Err(error) => {
            assert_complete(&error.message, error.hint.as_deref());
            return false;
        }
    };
    let mut rng = Pcg64::seed_from_u64(1);
    let all =
        [&costs.release, &costs.scheduling, &costs.context_switch, &costs.ipi, &costs.tick, &costs.step];
    for (cost, tasks) in all.into_iter().zip([0, 1, 7, 100, u32::MAX].into_iter().cycle()) {
        assert!(cost.prepare(tasks).draw(&mut rng) <= COST_MAX.as_ns(), "{cost:?} at {tasks} tasks");
    }
    let _ = costs.cache_delay(platform);
    assert_eq!(Costs::from_toml(&costs.to_toml(), Path::new("")).as_ref(), Ok(&costs));
    true
}

/// Damaged copies of an example, each read by `read`.
fn damage(file: &str, read: impl Fn(&str) -> Result<Costs>) {
    let platform = read_platform(&examples().join("platforms/opteron-6168.toml")).expect("an example");
    let whole = fs::read_to_string(examples().join("costs").join(file)).expect("an example");
    read_damaged(file, &whole, seeds!(0..4_000), |text| check(read(text), &platform));
}

#[test]
fn damaged_costs() {
    for file in ["constant.toml", "measured.toml"] {
        damage(file, |text| Costs::from_toml(text, &examples().join("costs")));
    }
}

#[test]
fn damaged_overheads() {
    damage("overheads.csv", Costs::from_csv);
}

/// Files that a costs file names, in the places where it names them.
#[test]
fn damaged_samples_and_cache_delays() {
    let folder = tempfile::tempdir().expect("a directory");
    let named = |line: &'static str| {
        let folder = folder.path().to_owned();
        move |text: &str| {
            let file = folder.join("data.csv");
            // Some file systems bring a file that is cut to nothing and written again to disk at once.
            let _ = fs::remove_file(&file);
            fs::write(file, text).expect("writes");
            Costs::from_toml(&format!("version = 1\n{line}"), &folder)
        }
    };
    damage("scheduling-samples.csv", named("scheduling = \"empirical:data.csv\""));
    damage("cpmd.csv", named("cache = { cpmd = \"data.csv\" }"));
}
