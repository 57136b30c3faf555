//! Files that somebody else has written, to do harm: names in task sets, studies and results reach no shell, no path
//! and no page as anything but text. `hostile_names.rs` has all commands, and terminals; links in results directories have
//! tests of their own.

mod host;
mod hostile;

use host::output;
use hostile::Place;
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

/// A path out of the directory, commands for a shell, and an element for a page; all of it printable.
const HOSTILE: &str =
    r#"../../../out"; touch PWNED; $(touch PWNED) `touch PWNED` ' \ <script>alert(1)</script> & | % #"#;

fn succeeds(place: &Place, call: &[&str]) -> Output {
    let ended = output(&mut place.laxity(call));
    assert_eq!(ended.status.code(), Some(0), "{call:?}: {}", host::words(&ended));
    ended
}

fn set_of(set: &str, task: &str) -> String {
    let tasks = [
        json!({"name": task, "wcet": "1ms", "period": "10ms", "working_set": {"size": "4KiB"}, "group": task}),
    ];
    json!({"version": 1, "name": set, "tasks": tasks}).to_string()
}

#[test]
fn names_in_a_task_set_are_no_paths_and_no_elements_of_pages() {
    let place = Place::new();
    fs::write(place.path("set.json"), set_of(HOSTILE, HOSTILE)).expect("written");
    let before = place.files();
    let simulate =
        ["simulate", "set.json", "--cpus", "2", "--schedulers", "g-edf,p-rm", "--duration", "50ms"];
    succeeds(&place, &[&simulate[..], &["--events", "--verify", "--out", "out"]].concat());
    succeeds(&place, &["report", "out"]);
    succeeds(&place, &["verify", "out"]);
    assert_eq!(place.beside_out(&before), Vec::<PathBuf>::new());
    let page = fs::read_to_string(place.path("out/report.html")).expect("written");
    assert!(page.contains("alert(1)") && !page.contains("<script>alert"), "escaped, not left out");
    let summary = fs::read_to_string(place.path("out/summary.md")).expect("written");
    assert!(summary.contains("alert(1)") && !summary.contains("<script>alert"));
    for plot in place.files().iter().filter(|path| path.extension() == Some(OsStr::new("svg"))) {
        assert!(!fs::read_to_string(plot).expect("text").contains("<script>alert"), "{}", plot.display());
    }
}

/// A study whose title, curve and remarks are hostile.
fn study() -> String {
    let named = |field: &str| format!("{field} = {}\n", json!(HOSTILE));
    let (title, curve, note) = (named("title"), named("name"), named("note"));
    format!(
        r#"
version = 1
kind = "simulation"
{title}
sets = 2
duration = "60ms"
metrics = ["max-tardiness"]
[platform]
processors = 2
[axis]
of = "utilization"
from = 1
to = 1
step = 1
[generator]
name = "emberson"
tasks = 3
[[curves]]
{curve}{note}
scheduler = "g-edf"
"#
    )
}

#[test]
fn names_in_a_study_are_no_paths_and_no_elements_of_pages() {
    let place = Place::new();
    fs::write(place.path("study.toml"), study()).expect("written");
    fs::write(place.path("named.toml"), format!("name = {}\n{}", json!(HOSTILE), study())).expect("written");
    let before = place.files();
    succeeds(&place, &["study", "study.toml", "--out", "out"]);
    let page = fs::read_to_string(place.path("out/report.html")).expect("written");
    assert!(page.contains("alert(1)") && !page.contains("<script>alert"), "escaped, not left out");
    // The study's own name would be that of its directory.
    let refused = output(&mut place.laxity(&["study", "named.toml"]));
    assert_eq!(refused.status.code(), Some(2), "{}", host::words(&refused));
    assert_eq!(place.beside_out(&before), Vec::<PathBuf>::new());
}
