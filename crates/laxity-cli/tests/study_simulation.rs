//! `laxity study FILE` with `kind = "simulation"`: what it leaves, how it goes on, what it refuses.

mod calls;
mod host;
mod patience;

use calls::{json, json_file, prints, utf8};
use host::{kill, laxity, output, wait_until, words};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const STUDY: &str = r#"
version = 1
kind = "simulation"
title = "Two <placements>"
source = "nowhere, Fig. 2"
notes = ["a note"]
sets = 6
duration = "60ms"
demand = "uniform:0.5,1"
costs = "costs.toml"
metrics = ["ipc", "llc-miss-rate", "dsr", "max-tardiness", "tardiness-histogram", "migrations"]
[platform]
processors = 4
[axis]
of = "utilization"
from = 1
to = 4
step = 1
[generator]
name = "emberson"
tasks = 8
wss = "16KiB,64KiB"
[[curves]]
name = "worst fit"
scheduler = "p-edf"
placement = "wfd"
overload = "least-loaded"
[[curves]]
scheduler = "g-edf"
note = "a remark on this curve"
"#;

const COSTS: &str = "version = 1\n[cache]\ntracked = true\nline = \"64B\"\nl2 = \"5ns\"\nmemory = \"60ns\"\naccess = \"20ns\"\n";

fn written(folder: &Path, text: &str) -> PathBuf {
    fs::write(folder.join("costs.toml"), COSTS).expect("writes");
    let file = folder.join("small.toml");
    fs::write(&file, text).expect("writes");
    file
}

/// All that a study leaves but for the time and the command in its manifest, and the order of its journal.
fn left(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in [directory.to_path_buf(), directory.join("plots")] {
        for entry in fs::read_dir(&folder).expect("a directory").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_file() && name != "points.jsonl" && name != "manifest.json" {
                files.push((name, fs::read(&path).expect("reads")));
            }
        }
    }
    files.sort();
    assert!(files.iter().any(|(name, _)| name == "points.csv") && files.len() > 4, "{}", files.len());
    files
}

#[test]
fn a_study_leaves_tables_figures_and_what_they_come_from() {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, out) = (written(directory.path(), STUDY), directory.path().join("out"));
    let told = prints(&["study", utf8(&file), "--threads", "2", "--out", utf8(&out)]);
    for part in ["worst fit", "g-edf", "llc-miss-rate", "not placed", " .. "] {
        assert!(told.contains(part), "no `{part}` in\n{told}");
    }
    let csv = fs::read_to_string(out.join("points.csv")).expect("a table");
    let rows = csv.lines().count() - 1;
    // Curves, values of the axis, and metrics that are numbers.
    assert_eq!(rows, 2 * 4 * 5, "{csv}");
    let histograms = fs::read_to_string(out.join("histograms.csv")).expect("a table");
    assert!(histograms.lines().count() > 2 * 4, "{histograms}");
    assert_eq!(&fs::read(out.join("points.parquet")).expect("a table")[..4], b"PAR1");
    let page = fs::read_to_string(out.join("report.html")).expect("a page");
    for part in ["Two &lt;placements&gt;", "nowhere, Fig. 2", "a note", "a remark on this curve"] {
        assert!(page.contains(part), "no `{part}` in the page");
    }
    let manifest = json_file(&out.join("manifest.json"));
    assert_eq!((manifest["complete"].as_bool(), manifest["study"]["seed"].as_u64()), (Some(true), Some(1)));
    let answer = json(&prints(&["study", utf8(&file), "--json", "--out", utf8(&out)]));
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let schema = json_file(&schemas.join("study-simulation.schema.json"));
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(validator.is_valid(&answer), "{:?}", validator.iter_errors(&answer).next());
}

#[test]
fn the_same_study_leaves_the_same_bytes_and_another_seed_others() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = written(directory.path(), STUDY);
    let run = |name: &str, threads: &str, more: &[&str]| {
        let out = directory.path().join(name);
        let call = ["study", utf8(&file), "-q", "--threads", threads, "--out", utf8(&out)];
        let told = prints(&[&call[..], more].concat());
        (told, left(&out))
    };
    let first = run("first", "1", &[]);
    assert!(first == run("second", "3", &[]), "a second run, on three threads, differs");
    assert!(first.1 != run("third", "2", &["--seed", "2"]).1, "another seed comes to the same");
}

#[test]
fn neither_threads_nor_an_interruption_show_in_what_is_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = written(directory.path(), &STUDY.replace("sets = 6", "sets = 400"));
    let (whole, parts) = (directory.path().join("whole"), directory.path().join("parts"));
    prints(&["study", utf8(&file), "--threads", "3", "--out", utf8(&whole)]);
    let mut running = laxity()
        .args(["study", utf8(&file), "--threads", "1", "--out", utf8(&parts)])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let journal = parts.join("points.jsonl");
    wait_until("a point is finished", || fs::metadata(&journal).is_ok_and(|file| file.len() > 0));
    kill(i32::try_from(running.id()).expect("a process id"), libc::SIGINT);
    let status = running.wait().expect("ends");
    let lines = || fs::read_to_string(&journal).expect("a journal").lines().count();
    let before = lines();
    if status.code() == Some(130) {
        let points = fs::read_to_string(whole.join("points.jsonl")).expect("a journal").lines().count();
        assert!(before < points, "interrupted with all points");
        let page = fs::read_to_string(parts.join("report.html")).expect("a page of what is finished");
        assert!(page.contains("not complete"));
    } else {
        // It was faster than the signal.
        assert_eq!(status.code(), Some(0));
    }
    prints(&["study", utf8(&file), "--threads", "2", "--out", utf8(&parts)]);
    assert!(lines() >= before);
    assert_eq!(left(&whole), left(&parts));
}

#[test]
fn what_cannot_be_studied_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = written(directory.path(), STUDY);
    let out = directory.path().join("out");
    let refused = |call: &[&str], part: &str| {
        let ended = output(laxity().args(call).current_dir(directory.path()));
        assert_eq!(ended.status.code(), Some(2), "{}", words(&ended));
        assert!(words(&ended).contains(part) && ended.stdout.is_empty(), "no `{part}`: {}", words(&ended));
        assert!(words(&ended).contains("hint: "), "no hint: {}", words(&ended));
    };
    let bad = directory.path().join("bad.toml");
    for (from, to, part) in [
        ("placement = \"wfd\"", "placement = \"wrong\"", "wrong"),
        ("scheduler = \"g-edf\"", "scheduler = \"g-rdf\"", "g-rdf"),
        ("\"ipc\", ", "\"ips\", ", "metric `ips` is not known"),
        ("duration = \"60ms\"", "duration = \"60\"", "duration"),
        ("duration = \"60ms\"", "duration = \"2000s\"", "duration"),
        ("costs.toml", "missing.toml", "missing.toml"),
        ("processors = 4", "processors = 99999", "99999"),
        ("step = 1", "step = 0", "step"),
        ("sets = 6", "sets = 0", "sets"),
        ("demand = \"uniform:0.5,1\"", "demand = \"uniform:2,1\"", "demand"),
        ("title =", "titel =", "titel"),
    ] {
        let text = STUDY.replacen(from, to, 1);
        assert_ne!(text, STUDY, "{from}");
        fs::write(&bad, text).expect("writes");
        refused(&["study", "bad.toml", "-o", utf8(&out)], part);
        assert!(!out.exists(), "{to}: nothing is left of what was refused");
    }
    prints(&["study", utf8(&file), "--sets", "1", "-q", "-o", utf8(&out)]);
    refused(
        &["study", utf8(&file), "--sets", "2", "-o", utf8(&out)],
        "another study: sets 1 there, 2 asked for",
    );
    let costs = COSTS.replace("60ns", "61ns");
    fs::write(directory.path().join("costs.toml"), costs).expect("writes");
    refused(&["study", utf8(&file), "--sets", "1", "-o", utf8(&out)], "another study: ");
}
