//! `laxity place` below deferrable servers (calandrino2007): onto the slowest CPU on which the test holds.

mod calls;
mod host;
mod patience;

use calls::{json, prints, utf8};
use host::{laxity, output, words};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// A fast CPU and two slow ones.
const PLATFORM: &str = "version = 1\n[[cores]]\ncpu = 0\nspeed = 2\n[[cores]]\ncpu = 1\n[[cores]]\ncpu = 2\n";

struct Files {
    _directory: tempfile::TempDir,
    set: PathBuf,
    platform: PathBuf,
}

fn files(tasks: &[(&str, &str, &str)]) -> Files {
    let directory = tempfile::tempdir().expect("directory");
    let (set, platform) = (directory.path().join("set.toml"), directory.path().join("amp.toml"));
    let task = |(name, wcet, period): &(&str, &str, &str)| {
        format!("[[tasks]]\nname = \"{name}\"\nwcet = \"{wcet}\"\nperiod = \"{period}\"\n")
    };
    fs::write(&set, format!("version = 1\n{}", tasks.iter().map(task).collect::<String>())).expect("write");
    fs::write(&platform, PLATFORM).expect("write");
    Files { _directory: directory, set, platform }
}

impl Files {
    fn call<'a>(&'a self, options: &[&'a str]) -> Vec<&'a str> {
        [&["place", utf8(&self.set), "--platform", utf8(&self.platform)][..], options].concat()
    }

    /// Where tasks go by slowest-fit, with the server and the bounds of each CPU.
    fn placed(&self, options: &[&str]) -> Value {
        let options = [&["--placement", "slowest-fit", "--json"][..], options].concat();
        json(&prints(&self.call(&options)))
    }

    fn refused(&self, options: &[&str]) -> String {
        let ended = output(laxity().args(self.call(options)));
        assert_eq!(ended.status.code(), Some(2), "{}", words(&ended));
        words(&ended)
    }
}

fn two() -> Files {
    files(&[("a", "1ms", "4ms"), ("b", "1ms", "4ms")])
}

#[test]
fn bounds_of_tardiness_decide_which_core_takes_a_task() {
    let two = two();
    // a: 2 + (1 + 2) = 5, 1 ms late; b beside it: 2 * 2 + 3 * 1 + (1 + 2) = 10, 6 ms late.
    let together = two.placed(&["--server", "2ms/6ms"]);
    assert_eq!(together["fit"], "ds-tardiness");
    assert_eq!(together["bins"][1]["tasks"], serde_json::json!(["a", "b"]));
    assert_eq!(together["bins"][1]["tardiness_ns"], serde_json::json!([1_000_000, 6_000_000]));
    assert_eq!(together["bins"][1]["response_times_ns"], Value::Null);
    let apart = two.placed(&["--server", "2ms/6ms", "--tardiness-bound", "1ms"]);
    assert_eq!(apart["bins"][1]["tasks"], serde_json::json!(["a"]));
    assert_eq!(apart["bins"][2]["tasks"], serde_json::json!(["b"]));
    assert_eq!(apart["bins"][2]["tardiness_ns"], serde_json::json!([1_000_000]));
    let table = prints(&two.call(&["--placement", "slowest-fit", "--server", "2ms/6ms"]));
    assert!(
        table.contains("2ms/6ms") && table.contains("late by at most") && table.contains("6ms"),
        "{table}"
    );
}

#[test]
fn cores_may_have_servers_of_different_sizes() {
    let two = two();
    // Below the server of CPU 1 both would be late; CPU 2 has none, and room for both.
    let placed = two.placed(&["--server", "1=2ms/6ms", "--tardiness-bound", "0ms"]);
    assert_eq!(placed["bins"][1]["tasks"], serde_json::json!([]));
    assert_eq!(placed["bins"][2]["tasks"], serde_json::json!(["a", "b"]));
    assert_eq!(placed["bins"][1]["server"], "2ms/6ms");
    // What comes last for a core counts: CPU 2 has one that takes all of it.
    let all = ["--server", "2ms/6ms", "--server", "2=6ms/6ms", "--tardiness-bound", "1ms"];
    let placed = two.placed(&all);
    assert_eq!(placed["bins"][2]["tasks"], serde_json::json!([]));
    assert_eq!(placed["bins"][0]["tasks"], serde_json::json!(["b"]));
    let foreign = two.refused(&["--placement", "slowest-fit", "--server", "2,7=2ms/6ms"]);
    assert!(foreign.contains("CPU 7 is none of those") && foreign.contains("0-2"), "{foreign}");
}

#[test]
fn with_the_double_hit_counted_no_deadline_is_missed() {
    let two = two();
    // 1 + 1 + 1 + 1 = 4 for the second on a slow core.
    let hard = two.placed(&["--server", "1ms/6ms", "--count-double-hit"]);
    assert_eq!(hard["fit"], "ds-rta");
    assert_eq!(hard["bins"][1]["response_times_ns"], serde_json::json!([3_000_000, 4_000_000]));
    // 0.5 + 2 + 2 > 4 even on the fast one
    let refused = two.refused(&["--placement", "slowest-fit", "--server", "2ms/6ms", "--count-double-hit"]);
    assert_eq!(refused.trim_end(), REFUSED);
    // Of the slowest core: half the time on the fast one, which takes what the slow ones cannot.
    let scaled = two.placed(&["--server", "2ms@slowest/6ms", "--count-double-hit"]);
    assert_eq!(scaled["bins"][0]["server"], "1ms/6ms");
    assert_eq!(scaled["bins"][1]["server"], "2ms/6ms");
    assert_eq!(scaled["bins"][0]["tasks"], serde_json::json!(["a", "b"]));
    assert_eq!(scaled["bins"][0]["response_times_ns"], serde_json::json!([2_500_000, 3_000_000]));
}

/// As `laxity promote` says it, with the other ways that there are to place tasks.
const REFUSED: &str = "\
error: task `a` cannot enter: CPU 1 (speed 1): `a` would respond after 5ms, 1ms later than its deadline of 4ms; CPU 2 (speed 1): \
`a` would respond after 5ms, 1ms later than its deadline of 4ms; CPU 0 (speed 2): `a` would respond after 4.5ms, 500us later than \
its deadline of 4ms
hint: shorten its execution time, lengthen its period, make the servers smaller, or add a faster CPU; no heuristic tried fits \
either; use more CPUs or reduce the load, or place it all the same with --overload least-loaded";

#[test]
fn a_refusal_has_the_reason_of_each_core() {
    // One of a, b and c is on each core. d beside them: more than 1/3 + 1/4 + 5/8; and at speed 2
    // 2 * 2 + 3 * 1/2 + (5/2 + 2) = 10 of 8.
    let set = files(&[("a", "1ms", "4ms"), ("b", "1ms", "4ms"), ("c", "1ms", "4ms"), ("d", "5ms", "8ms")]);
    let said =
        set.refused(&["--placement", "slowest-fit", "--server", "2ms/6ms", "--tardiness-bound", "1ms"]);
    let reasons = "task `d` cannot enter: CPU 1 (speed 1): more than all of its time would be needed; CPU 2 (speed 1): more than all \
                   of its time would be needed; CPU 0 (speed 2): `d` could be 2ms late, and may be 1ms\n";
    assert!(said.contains(reasons) && said.contains("hint: allow more tardiness"), "{said}");
    // By decreasing load it comes first, and is refused by the plain test, 5 + 2 * 2, or for 2 * 2 + (5/2 + 2) = 8.5.
    let said = set.refused(&["--placement", "ffd", "--server", "2ms/6ms", "--tardiness-bound", "0ms"]);
    assert!(
        said.contains("CPU 1 (speed 1): `d` would respond after 9ms, 1ms later than its deadline"),
        "{said}"
    );
    assert!(said.contains("CPU 0 (speed 2): `d` could be 500us late, and may be 0ns"), "{said}");
}

#[test]
fn slowest_fit_goes_by_rate_monotonic_priorities_unless_a_load_is_named() {
    // 3 + 2 * 2 = 7 of 6, with a load of 1.
    let set = files(&[("a", "2ms", "4ms"), ("b", "3ms", "6ms")]);
    let by_test = set.placed(&[]);
    assert_eq!(by_test["bins"][1]["tasks"], serde_json::json!(["a"]));
    assert_eq!(by_test["bins"][2]["tasks"], serde_json::json!(["b"]));
    let by_load = set.placed(&["--fit", "utilization"]);
    assert_eq!(by_load["bins"][1]["tasks"], serde_json::json!(["a", "b"]));
    assert_eq!(by_load["bins"][1].get("server"), None);
}

#[test]
fn what_knows_no_servers_is_refused() {
    let two = two();
    let cases: [(&[&str], &str); 5] = [
        (&["--server", "1ms/6ms", "--placement", "ilp"], "knows loads only"),
        (&["--server", "1ms/6ms", "--placement", "ffd", "--fit", "density"], "goes by load"),
        (&["--server", "1ms/6ms", "--placement", "ffd", "--onto", "clusters"], "of one CPU"),
        (&["--server", "7ms/6ms", "--placement", "ffd"], "longer than its period"),
        (&["--tardiness-bound", "1ms", "--count-double-hit", "--placement", "ffd"], "cannot be used with"),
    ];
    for (options, why) in cases {
        let said = two.refused(options);
        assert!(said.contains(why), "{options:?}: {said}");
    }
}
