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
    shown_of(WRITERS, "opteron-6164-he", costs)
}

/// The same of any set; `platform`: a name, or what is in a file.
fn shown_of(tasks: &str, platform: &str, costs: &str) -> (Value, [String; 3]) {
    let directory = tempfile::tempdir().expect("directory");
    fs::write(directory.path().join("platform.toml"), platform).expect("written");
    let platform = if platform.contains('\n') { "platform.toml" } else { platform };
    let (set, file) = (directory.path().join("set.toml"), directory.path().join("costs.toml"));
    fs::write(&set, tasks).and(fs::write(&file, costs)).expect("written");
    let call = |more: &[&str]| {
        let out = output(
            laxity()
                .args(["simulate", "--scheduler", "p-edf", "--platform", platform, "--duration", "100ms"])
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

/// Two CPUs of this speed, each with an L2.
fn two_cores(speed: &str) -> String {
    let core = |cpu| format!("{{ cpu = {cpu}, speed = \"{speed}\" }}");
    let l2 = |cpu| {
        format!(
            "{{ level = 2, kind = \"unified\", size = \"1MiB\", line = 64, ways = 16, cpus = \"{cpu}\" }}"
        )
    };
    format!(
        "version = 1\nname = \"two\"\ncores = [{}, {}]\ncaches = [{}, {}]\n",
        core(0),
        core(6),
        l2(0),
        l2(6)
    )
}

#[test]
fn inflation_is_what_caches_do_at_any_speed() {
    let costs = "version = 1\n[cache]\ntracked = true\nipc = \"0.68\"\naccess = \"20ns\"\nl2 = \"5ns\"\nmemory = \"65ns\"\n";
    let alone = WRITERS.replace("group = \"g\"\n", "");
    for (speed, access_ns) in [("1", 20.0), ("1/2", 40.0), ("1/4", 80.0), ("2", 10.0)] {
        let number = |tasks: &str, name: &str| {
            let (json, _) = shown_of(tasks, &two_cores(speed), costs);
            json["caches"][0][name].as_f64().unwrap_or_else(|| panic!("{name} at {speed} in {json}"))
        };
        // Only the first of ten jobs finds its 1024 lines cold, of 50000 that each walks.
        let cold = 1.0 + 60.0 * 1_024.0 / (500_000.0 * access_ns);
        assert!((number(&alone, "execution_inflation") - cold).abs() < 1e-6, "at {speed}");
        assert!((number(&alone, "ipc") - 0.68 / cold).abs() < 1e-6, "at {speed}");
        // Every access is to a line that the other has written, and takes 60 ns more on a core of any speed.
        let inflated = (access_ns + 60.0) / access_ns;
        assert!((number(WRITERS, "execution_inflation") - inflated).abs() < 1e-3, "at {speed}");
        assert!(
            (number(WRITERS, "llc_miss_rate_per_us") - 1_000.0 / (access_ns + 60.0)).abs() < 1e-2,
            "at {speed}"
        );
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
    let tracked = "version = 1\n[cache]\ntracked = true\nl2 = \"5ns\"\nmemory = \"60ns\"\n";
    let (json, views) = shown_of(&WRITERS.replace("\"6\"", "\"1\""), "four-cores", tracked);
    assert!(json["caches"].is_null(), "of no caches: {json}");
    for view in views {
        assert!(!view.contains("hat caches did") && view.contains("describes no caches"), "{view}");
    }
}
