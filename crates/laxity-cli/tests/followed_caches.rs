//! What `laxity simulate` shows where it follows what caches hold (lindsay2012, 6.2).

mod host;

use host::{laxity, output, words};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Two writers of one region that fits into an L2, on CPUs of two L3s, so that they take its lines from each other.
const WRITERS: &str = "version = 1\nname = \"writers\"\n\
    [[tasks]]\nname = \"a\"\nwcet = \"1ms\"\nperiod = \"10ms\"\ngroup = \"g\"\naffinity = \"0\"\n\
    working_set = { size = \"64KiB\", reads_to_writes = \"0:1\" }\n\
    [[tasks]]\nname = \"b\"\nwcet = \"1ms\"\nperiod = \"10ms\"\ngroup = \"g\"\naffinity = \"6\"\n\
    working_set = { size = \"64KiB\", reads_to_writes = \"0:1\" }\n";

/// Everything that a call with these costs shows: on the terminal, as JSON, and in the files that it leaves.
fn shown(costs: &str) -> (Value, [String; 3]) {
    let directory = tempfile::tempdir().expect("directory");
    let (set, file) = (directory.path().join("set.toml"), directory.path().join("costs.toml"));
    fs::write(&set, WRITERS).and(fs::write(&file, costs)).expect("written");
    let call = |more: &[&str]| {
        let out = output(
            laxity()
                .args([
                    "simulate",
                    "--scheduler",
                    "p-edf",
                    "--platform",
                    "opteron-6164-he",
                    "--duration",
                    "100ms",
                ])
                .arg("--costs")
                .arg(&file)
                .arg(&set)
                .args(more)
                .current_dir(directory.path()),
        );
        assert!(out.status.success(), "{}", words(&out));
        String::from_utf8(out.stdout).expect("UTF-8")
    };
    let json = serde_json::from_str(&call(&["--json"])).expect("JSON");
    let text = call(&["--out", "kept"]);
    let kept = |name: &str| fs::read_to_string(directory.path().join("kept").join(name)).expect("written");
    (json, [text, kept("summary.md"), kept("report.html")])
}

#[test]
fn inflation_ipc_and_misses_are_shown_everywhere() {
    let study = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/costs/lindsay2012.toml");
    let costs = fs::read_to_string(study).expect("of the study");
    let (json, views) = shown(&costs);
    let caches = &json["caches"][0];
    let number = |name: &str| caches[name].as_f64().unwrap_or_else(|| panic!("{name} in {json}"));
    let (inflation, ipc) = (number("execution_inflation"), number("ipc"));
    // An access of 20 ns takes 61.74 ns more: every one is to a line that the other has written.
    assert!((4.0..4.1).contains(&inflation), "{caches}");
    assert!((ipc * inflation - 0.68).abs() < 1e-9, "{caches}");
    assert!((12.0..12.5).contains(&number("llc_miss_rate_per_us")), "one every 81.74 ns: {caches}");
    for view in &views {
        for word in ["hat caches did", "inflation", "IPC", "LLC misses", "0.166"] {
            assert!(view.contains(word), "{word} is not in\n{view}");
        }
    }
}

#[test]
fn nothing_is_said_of_what_is_not_known() {
    let (json, views) = shown("version = 1\n[cache]\ntracked = true\nl2 = \"5ns\"\nmemory = \"60ns\"\n");
    assert!(
        json["caches"][0]["ipc"].is_null() && json["caches"][0]["execution_inflation"].is_f64(),
        "{json}"
    );
    assert!(views.iter().all(|view| view.contains("hat caches did")), "{views:?}");
    let (json, views) = shown("version = 1\n[cache]\nl2 = \"5ns\"\nmemory = \"60ns\"\n");
    assert!(json["caches"].is_null(), "by distance: {json}");
    assert!(views.iter().all(|view| !view.contains("hat caches did")), "{views:?}");
}
