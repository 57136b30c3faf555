//! The largest factor for all execution times (`--sensitivity`), against analyses of sets with such execution times.

use crate::calls::text;
use crate::{Desk, examples, set};
use laxity_model::{Duration, Task, TaskSet};
use serde_json::{Value, json};
use std::fs;

/// A set with all execution times multiplied by so many thousandths, rounded up; nothing if that is no set.
fn lengthened(set: &TaskSet, thousandths: u64) -> Option<String> {
    let longer = |task: &Task| {
        let wcet = (task.wcet.as_ns() * thousandths).div_ceil(1_000);
        Task { wcet: Duration::from_ns(wcet), ..task.clone() }
    };
    TaskSet::new(set.name(), set.tasks().iter().map(longer).collect()).ok().map(|set| set.to_toml())
}

/// The largest factor is what an analysis says of the set with such execution times: tasks get the places that these ask for.
#[test]
fn the_largest_factor_is_that_of_sets_analysed_anew() {
    let avionics = fs::read_to_string(examples().join("avionics.toml")).expect("reads");
    let avionics = TaskSet::from_toml(&avionics, "avionics").expect("a set");
    // No two of four fit one core: lengthened, they need places that others do not have.
    let pairs =
        set("pairs", &[("a", 30, 100, ""), ("b", 30, 150, ""), ("c", 40, 200, ""), ("d", 50, 350, "")]);
    let pairs = TaskSet::from_toml(&pairs, "pairs").expect("a set");
    let desk = Desk::with(&[]);
    let mut beyond = 0;
    for (set, cpus, scheduler, placement) in [
        (&avionics, "4", "p-rm", "ffd"),
        (&avionics, "4", "p-edf", "wfd"),
        (&avionics, "4", "p-rm", "ilp"),
        (&avionics, "2", "p-rm", "ffd"),
        (&pairs, "2", "p-rm", "ffd"),
        (&pairs, "2", "p-edf", "bfd"),
    ] {
        let what = format!("{} {cpus} {scheduler} {placement}", set.name());
        let call = ["--cpus", cpus, "--schedulers", scheduler, "--placement", placement];
        let verdict = |thousandths: u64| {
            let text = lengthened(set, thousandths)?;
            fs::write(desk.0.path().join("longer.toml"), text).expect("writes");
            Some(desk.first(&[&["longer.toml"], &call[..]].concat())["hard"]["verdict"] == "schedulable")
        };
        assert_eq!(verdict(1_000), Some(true), "{what}");
        let ended = desk.analyze(&[&["longer.toml"], &call[..], &["--sensitivity"]].concat());
        let one = desk.first(&[&["longer.toml"], &call[..], &["--sensitivity"]].concat());
        let scaling = &one["largest_scaling"];
        let factor = scaling["numerator"].as_u64().expect("a number");
        assert_eq!((&scaling["denominator"], &scaling["placed_anew"]), (&json!(1_000), &json!(true)));
        assert_eq!(verdict(factor), Some(true), "{what}: {factor}");
        assert_ne!(verdict(factor + 1), Some(true), "{what}: {factor}");
        // Nothing is said of factors that were not tried, but where the cores cannot do so much.
        let told = text(&ended.stdout);
        assert!(told.contains(", placed anew with each factor ("), "{told}");
        assert_eq!(told.contains("nor with more"), scaling["nothing_above"] == true, "{told}");
        if scaling["nothing_above"] == true {
            let steps = (1..200).map(|step| factor + 5 * step);
            assert!(
                steps.into_iter().all(|thousandths| verdict(thousandths) != Some(true)),
                "{what}: {factor}"
            );
            beyond += 1;
        }
        if cpus == "4" {
            assert_eq!(verdict(2_000), Some(true), "{what}");
            assert!(factor >= 2_000, "{what}: {factor}");
        }
    }
    assert!((1..6).contains(&beyond), "{beyond}");
    // One core has nothing to place, and the test is exact there.
    fs::write(desk.0.path().join("a.toml"), avionics.to_toml()).expect("writes");
    let one = desk.first(&["a.toml", "--cpus", "1", "--schedulers", "p-rm", "--sensitivity"]);
    let scaling = &one["largest_scaling"];
    assert_eq!((&scaling["placed_anew"], &scaling["nothing_above"]), (&json!(false), &json!(true)));
}

/// Three tasks of 0.6 do not fit two cores: shorter ones do.
#[test]
fn a_set_without_a_place_has_a_factor() {
    let desk =
        Desk::with(&[("s.toml", &set("s", &[("a", 60, 100, ""), ("b", 60, 100, ""), ("c", 60, 100, "")]))]);
    for placement in ["ilp", "ffd"] {
        let call =
            ["s.toml", "--cpus", "2", "--schedulers", "p-edf", "--placement", placement, "--sensitivity"];
        let one = desk.first(&call);
        assert_eq!(one["placement"], Value::Null, "{one}");
        // Two of them fill a core: 1/1.2 = 0.833.
        assert_eq!(one["largest_scaling"]["numerator"], 833, "{one}");
    }
}
