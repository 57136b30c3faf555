//! Files that somebody else has written, to do harm: names in task sets, studies and results reach no shell, no path, no page and no
//! terminal as anything but text. (Links in results directories have their own tests.)

mod host;

use host::{laxity, output};
use serde_json::json;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A path out of the directory, commands for a shell, and an element for a page; all of it printable.
const HOSTILE: &str =
    r#"../../../out"; touch PWNED; $(touch PWNED) `touch PWNED` ' \ <script>alert(1)</script> & | % #"#;

/// A directory with a directory in it for what is written, and one beside that.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Place { directory: tempfile::tempdir().expect("directory") };
        fs::create_dir_all(place.path("a/b/c")).expect("made");
        place
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(name)
    }

    /// In `a/b/c`.
    fn laxity(&self, call: &[&OsStr]) -> Command {
        let mut command = laxity();
        command.current_dir(self.path("a/b/c")).args(call);
        command
    }

    fn succeeds(&self, call: &[&str]) -> Output {
        let call: Vec<&OsStr> = call.iter().map(OsStr::new).collect();
        let ended = output(&mut self.laxity(&call));
        assert_eq!(ended.status.code(), Some(0), "{call:?}: {}", host::words(&ended));
        ended
    }

    /// All files.
    fn files(&self) -> BTreeSet<PathBuf> {
        let mut open = vec![self.directory.path().to_owned()];
        let mut found = BTreeSet::new();
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).expect("readable").flatten() {
                match entry.file_type().expect("known").is_dir() {
                    true => open.push(entry.path()),
                    false => _ = found.insert(entry.path()),
                }
            }
        }
        found
    }

    /// What was not there before, but for what is under `out`.
    fn beside_out(&self, before: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let out = self.path("a/b/c/out");
        self.files().into_iter().filter(|path| !before.contains(path) && !path.starts_with(&out)).collect()
    }
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
    fs::write(place.path("a/b/c/set.json"), set_of(HOSTILE, HOSTILE)).expect("written");
    let before = place.files();
    let simulate =
        ["simulate", "set.json", "--cpus", "2", "--schedulers", "g-edf,p-rm", "--duration", "50ms"];
    place.succeeds(&[&simulate[..], &["--events", "--verify", "--out", "out"]].concat());
    place.succeeds(&["report", "out"]);
    place.succeeds(&["verify", "out"]);
    assert_eq!(place.beside_out(&before), Vec::<PathBuf>::new());
    let page = fs::read_to_string(place.path("a/b/c/out/report.html")).expect("written");
    assert!(page.contains("alert(1)") && !page.contains("<script>alert"), "escaped, not left out");
    let summary = fs::read_to_string(place.path("a/b/c/out/summary.md")).expect("written");
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
    fs::write(place.path("a/b/c/study.toml"), study()).expect("written");
    fs::write(place.path("a/b/c/named.toml"), format!("name = {}\n{}", json!(HOSTILE), study()))
        .expect("written");
    let before = place.files();
    place.succeeds(&["study", "study.toml", "--out", "out"]);
    let page = fs::read_to_string(place.path("a/b/c/out/report.html")).expect("written");
    assert!(page.contains("alert(1)") && !page.contains("<script>alert"), "escaped, not left out");
    // The study's own name would be that of its directory.
    let refused = output(&mut place.laxity(&["study".as_ref(), "named.toml".as_ref()]));
    assert_eq!(refused.status.code(), Some(2), "{}", host::words(&refused));
    assert_eq!(place.beside_out(&before), Vec::<PathBuf>::new());
}
