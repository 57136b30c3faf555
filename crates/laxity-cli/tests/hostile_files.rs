//! Files that somebody else has written, to do harm: names in task sets, studies and results reach no shell, no path, no page and no
//! terminal as anything but text. (Links in results directories have their own tests.)

mod host;

use host::{laxity, output};
use serde_json::json;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A path out of the directory, commands for a shell, and an element for a page; all of it printable.
const HOSTILE: &str =
    r#"../../../out"; touch PWNED; $(touch PWNED) `touch PWNED` ' \ <script>alert(1)</script> & | % #"#;
/// What takes the title of a terminal, clears it, and goes back to the beginning of the line.
const ESCAPES: &[u8] = b"a\x1b]0;owned\x07\x1b[2J\rb\xc2\x9b31m";

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

/// Control characters that are neither line ends nor tabs.
fn controls(bytes: &[u8]) -> Vec<char> {
    let text = String::from_utf8_lossy(bytes);
    text.chars().filter(|&c| c.is_control() && c != '\n' && c != '\t').collect()
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

/// A file is right or wrong; its name is shown, and a terminal does not obey it.
#[test]
fn names_of_files_do_not_reach_the_terminal_as_they_are() {
    let place = Place::new();
    for (content, code) in [(set_of("plain", "a"), 0), ("version = ".to_owned(), 2)] {
        let name = OsStr::from_bytes(ESCAPES);
        fs::write(place.path("a/b/c").join(name), content).expect("written");
        for call in [
            &["check"][..],
            &["place", "--cpus", "2"],
            &["analyze", "--cpus", "2"],
            &["simulate", "--cpus", "2", "--duration", "20ms", "--scheduler", "g-edf"],
        ] {
            let mut call: Vec<&OsStr> = call.iter().map(OsStr::new).collect();
            call.insert(1, name);
            let ended = output(&mut place.laxity(&call));
            assert_eq!(ended.status.code(), Some(code), "{call:?}: {}", host::words(&ended));
            assert_eq!(controls(&[ended.stdout, ended.stderr].concat()), [], "{call:?}");
        }
    }
}

/// Results whose manifest was written by hand.
#[test]
fn names_in_results_do_not_reach_the_terminal_as_they_are() {
    let place = Place::new();
    fs::write(place.path("a/b/c/set.json"), set_of("placeholder", "task")).expect("written");
    place.succeeds(&[
        "simulate",
        "set.json",
        "--cpus",
        "2",
        "--scheduler",
        "g-edf",
        "--duration",
        "50ms",
        "--events",
        "--out",
        "out",
    ]);
    let manifest = place.path("a/b/c/out/manifest.json");
    let text = fs::read_to_string(&manifest).expect("written");
    let escapes = json!(String::from_utf8_lossy(ESCAPES)).to_string();
    let changed =
        text.replace("placeholder", escapes.trim_matches('"')).replace("50ms", escapes.trim_matches('"'));
    assert_ne!(changed, text);
    fs::write(&manifest, changed).expect("written");
    fs::remove_file(place.path("a/b/c/out/SHA256SUMS")).expect("nothing says what it was");
    for call in [
        &["check", "out"][..],
        &["report", "out"],
        &["verify", "out"],
        &["report", "out", "--run", "0", "--text"],
    ] {
        let call: Vec<&OsStr> = call.iter().map(OsStr::new).collect();
        let ended = output(&mut place.laxity(&call));
        assert!(matches!(ended.status.code(), Some(0 | 2)), "{call:?}: {}", host::words(&ended));
        assert_eq!(controls(&[ended.stdout, ended.stderr].concat()), [], "{call:?}");
    }
}
