//! Places by the test of the scheduler.

use crate::{Desk, set};
use serde_json::{Value, json};

/// On one CPU there is nothing to place: a set whose density exceeds 1 is not refused before a test has seen it.
#[test]
fn one_core_takes_what_its_test_proves() {
    let early = [("a", 2, 10, "deadline = \"3us\""), ("b", 4, 10, "deadline = \"8us\"")];
    let desk = Desk::with(&[("s.toml", &set("s", &early))]);
    // 2/3 + 4/8 > 1, but 2 are due by 3 and 6 by 8.
    let one = desk.first(&["s.toml", "--cpus", "1", "--schedulers", "p-edf", "--sensitivity"]);
    assert_eq!(one["hard"]["verdict"], "schedulable", "{one}");
    assert_eq!(one["fewest_processors"]["processors"], 1);
    // 2k <= 3 and 6k <= 8: 1.333.
    assert_eq!(one["largest_scaling"]["numerator"], 1333);
}

/// Rate-monotonic priorities bear Lehoczky's pair on two CPUs, not on one.
fn pair_and_more(more: &[(&str, u64, u64, &str)]) -> String {
    set("s", &[&[("short", 26, 70, ""), ("long", 62, 100, "")][..], more].concat())
}

#[test]
fn heuristics_go_by_the_test_of_the_scheduler() {
    let twice = pair_and_more(&[("short2", 26, 70, ""), ("long2", 62, 100, "")]);
    let desk = Desk::with(&[
        ("pair.toml", &pair_and_more(&[])),
        ("twice.toml", &twice),
        ("early.toml", &set("s", &[("a", 2, 10, "deadline = \"3us\""), ("b", 4, 10, "deadline = \"8us\"")])),
        ("large.csv", "TASK-COUNT, SCHEDULE\n1, 20\n"),
    ]);
    let on_two = |file: &str, more: &[&str]| {
        desk.first(&[&[file, "--cpus", "2", "--schedulers", "p-rm", "--placement", "ffd"], more].concat())
    };
    let said =
        |one: &Value| [one["fit"].clone(), one["hard"]["verdict"].clone(), one["soft"]["verdict"].clone()];
    let by_test = on_two("pair.toml", &[]);
    assert_eq!(said(&by_test), ["hard-test", "schedulable", "schedulable"]);
    assert_eq!(by_test["cells"].as_array().map(Vec::len), Some(2));
    assert_eq!(by_test["notes"], json!([]));
    assert_eq!(
        said(&on_two("pair.toml", &["--fit", "utilization"])),
        ["utilization", "not-proven", "schedulable"]
    );
    // Two long ones fill a core each, and beside them no short one meets its deadline; but none is late without end.
    let soft = on_two("twice.toml", &[]);
    assert_eq!(said(&soft), ["soft-test", "not-proven", "schedulable"]);
    assert!(soft["notes"].to_string().contains("the hard test of p-rm"), "{soft}");
    // C' = 66 of 70 and 102 of 100: no place at all, and those by load show what fails.
    let large = on_two("pair.toml", &["--overheads", "large.csv"]);
    assert_eq!(said(&large), ["utilization", "not-proven", "not-proven"]);
    assert!(large["notes"].to_string().contains("these places are by utilization"), "{large}");
    // 2/3 + 4/8 > 1, but 2 are due by 3 and 6 by 8: the test knows.
    assert_eq!(on_two("early.toml", &["--fit", "density"])["cells"].as_array().map(Vec::len), Some(2));
    let early = on_two("early.toml", &[]);
    assert_eq!(early["cells"].as_array().map(Vec::len), Some(1));
    assert_eq!(said(&early), ["hard-test", "schedulable", "schedulable"]);
    // Three cores for the four, by the test; the shorts share one.
    let fewest = on_two("twice.toml", &["--sensitivity"])["fewest_processors"]["processors"].clone();
    assert_eq!(fewest, 3);
}

/// {short, long} and {e, f} have the least load, 0.991, and long is late there; {short, e} and {long, f}, at most 0.995, are harmonic.
#[test]
fn the_integer_program_knows_loads_only_and_says_where_that_is_not_enough() {
    let desk = Desk::with(&[("s.toml", &pair_and_more(&[("e", 42, 70, ""), ("f", 375, 1_000, "")]))]);
    let call = ["s.toml", "--cpus", "2", "--schedulers", "p-rm"];
    let least = desk.first(&[&call[..], &["--placement", "ilp"]].concat());
    assert_eq!((&least["fit"], &least["hard"]["verdict"]), (&json!("utilization"), &json!("not-proven")));
    let notes: Vec<&str> = least["notes"].as_array().expect("notes").iter().flat_map(Value::as_str).collect();
    assert!(notes.iter().any(|note| note.contains("--placement auto asks the test of p-rm")), "{notes:?}");
    for placement in ["ffd", "auto"] {
        let by_test = desk.first(&[&call[..], &["--placement", placement]].concat());
        assert_eq!(
            (&by_test["fit"], &by_test["hard"]["verdict"]),
            (&json!("hard-test"), &json!("schedulable"))
        );
    }
    let by_default = desk.first(&call)["notes"].to_string();
    assert!(by_default.contains("because the places of least load are not proven"), "{by_default}");
}
