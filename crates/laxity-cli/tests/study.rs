//! `laxity study FILE`: what it leaves, how it goes on, what it refuses.

mod calls;
mod host;
mod patience;

use calls::{json, json_file, left_by_study as left, prints, text, utf8};
use host::{kill, laxity, output, wait_until, words};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const STUDY: &str = r#"
version = 1
title = "Small <sets>"
source = "nowhere, Fig. 1"
notes = ["a note"]
sets = 60
guarantees = ["hard", "soft"]
[platform]
processors = 4
[axis]
of = "utilization"
from = 1
to = "m"
step = 1
refine = { depth = 2 }
[generator]
name = "unc"
periods = "uni-moderate"
[matrix]
utilizations = ["uni-medium", "bimo-heavy"]
[[curves]]
name = "no overheads"
scheduler = "g-edf"
[[curves]]
name = "fpp, costly"
scheduler = "fpp"
overheads = "costs.csv"
note = "an assumption that must be on the plot"
"#;

fn written(folder: &Path, text: &str) -> PathBuf {
    fs::write(folder.join("costs.csv"), "TASK-COUNT, SCHEDULE\n1, 200\n").expect("writes");
    let file = folder.join("small.toml");
    fs::write(&file, text).expect("writes");
    file
}

#[test]
fn a_study_leaves_tables_figures_and_what_they_come_from() {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, out) = (written(directory.path(), STUDY), directory.path().join("out"));
    let told = prints(&["study", utf8(&file), "--threads", "2", "--out", utf8(&out)]);
    for part in ["no overheads", "fpp, costly", "bimo-heavy", "hard: weighted", "soft: none from"] {
        assert!(told.contains(part), "no `{part}` in\n{told}");
    }
    let csv = fs::read_to_string(out.join("points.csv")).expect("a table");
    assert!(csv.starts_with("utilizations,guarantee,curve,scheduler,axis,value,sets,accepted,"), "{csv}");
    assert!(csv.contains("uni-medium,soft,\"fpp, costly\",fpp,utilization,4,60,"), "{csv}");
    assert_eq!(&fs::read(out.join("points.parquet")).expect("a table")[..4], b"PAR1");
    let svg = fs::read_to_string(out.join("plots/acceptance-uni-medium.svg")).expect("a plot");
    for part in ["assumption", "Small", "m = 4", "60 sets a point"] {
        assert!(svg.contains(part), "no `{part}` on the plot");
    }
    let page = fs::read_to_string(out.join("report.html")).expect("a page");
    for part in
        ["Small &lt;sets&gt;", "nowhere, Fig. 1", "a note", "not given and counted as nothing: IPI-LATENCY"]
    {
        assert!(page.contains(part), "no `{part}` in the page");
    }
    let manifest = json_file(&out.join("manifest.json"));
    assert_eq!((manifest["complete"].as_bool(), manifest["study"]["seed"].as_u64()), (Some(true), Some(1)));
    assert_eq!(manifest["name"], "small");

    let answer = json(&prints(&["study", utf8(&file), "--json", "--out", utf8(&out)]));
    let schema = json_file(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/study-schedulability.schema.json"),
    );
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(validator.is_valid(&answer), "{:?}", validator.iter_errors(&answer).next());
    let series = answer["families"][0]["series"].as_array().expect("a list");
    assert_eq!(series.len(), 4);
    let weighted = |at: usize| series[at]["weighted"].as_f64().expect("a number");
    // hard and soft without overheads, then with: hard 0, hard 1, soft 2, soft 3
    assert!(weighted(2) > 0.7 && weighted(0) < weighted(2) && weighted(3) <= weighted(2), "{series:?}");
}

#[test]
fn neither_threads_nor_an_interruption_show_in_what_is_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = written(directory.path(), &STUDY.replace("sets = 60", "sets = 2000"));
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
    };
    refused(&["study"], "<FILE>");
    refused(&["study", "overhead"], "neither a file nor a study");
    refused(&["study", "missing.toml"], "no such file");
    refused(&["study", utf8(&file), "--sets", "0"], "from 1 to 1000000");
    fs::write(directory.path().join("bad.toml"), STUDY.replace("g-edf", "g-rdf")).expect("writes");
    refused(&["study", "bad.toml", "-o", utf8(&out)], "curve `no overheads`: scheduler `g-rdf` is not known");
    assert!(!out.exists(), "nothing is left of what was refused");
    prints(&["study", utf8(&file), "--sets", "5", "-q", "-o", utf8(&out)]);
    for (wrong, part) in [
        (
            STUDY.replace("\"fpp\"", "\"fpp\"\nplacement = \"wfd\""),
            "curve `fpp, costly`: fpp is global: nothing is placed",
        ),
        (
            STUDY.replace("[\"hard\", \"soft\"]", "[\"soft\"]") + "tests = [\"gfb\"]",
            "test `gfb` proves hard guarantees",
        ),
    ] {
        fs::write(directory.path().join("bad.toml"), wrong).expect("writes");
        let bad = directory.path().join("bad");
        refused(&["study", "bad.toml", "-o", utf8(&bad)], part);
        assert!(!bad.exists(), "nothing is left of what was refused");
    }
    refused(
        &["study", utf8(&file), "--sets", "6", "-o", utf8(&out)],
        "another study: sets 5 there, 6 asked for",
    );
    refused(
        &["study", utf8(&file), "--sets", "5", "--seed", "9", "-o", utf8(&out)],
        "another study: seed 1 there, 9 asked for",
    );
    fs::write(directory.path().join("costs.csv"), "TASK-COUNT, SCHEDULE\n1, 201\n").expect("writes");
    refused(&["study", utf8(&file), "--sets", "5", "-o", utf8(&out)], "another study: series differ");
    fs::rename(&file, directory.path().join("overheads")).expect("renames");
    let own = directory.path().join("own");
    let ended = output(
        laxity()
            .args(["study", "./overheads", "--sets", "1", "-o", utf8(&own)])
            .current_dir(directory.path()),
    );
    assert!(ended.status.success(), "{}", text(&ended.stderr));
}

/// Deadlines above the period, for which one of the curves has no test.
const LEFT_OUT: &str = r#"
version = 1
title = "Deadlines above periods"
sets = 50
guarantees = ["hard"]
[platform]
processors = 4
[axis]
of = "tasks"
from = 2
to = 6
step = 2
[generator]
name = "emberson"
utilization = 1
deadlines = "arbitrary:1.3"
[[curves]]
name = "Guan"
scheduler = "g-rm"
tests = ["gfp-guan"]
[[curves]]
name = "any"
scheduler = "g-edf"
"#;

#[test]
fn sets_to_which_no_test_applies_are_told_wherever_shares_are() {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, out) = (written(directory.path(), LEFT_OUT), directory.path().join("out"));
    let told = prints(&["study", utf8(&file), "-q", "--out", utf8(&out)]);
    let csv = fs::read_to_string(out.join("points.csv")).expect("a table");
    let counts: Vec<(u64, u64)> = csv
        .lines()
        .filter(|line| line.starts_with("hard,Guan,"))
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[4].parse().expect("n"), fields[8].parse().expect("a count"))
        })
        .collect();
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let (most_at, most) = counts.iter().rev().max_by_key(|(_, count)| count).expect("three points");
    assert!(all > 0 && all < 150, "{counts:?}");
    let sentence = format!(
        "Guan, hard: no test applies to {all} of 150 sets, at most to {most} of 50 where tasks = {most_at}; they count as \
         not accepted."
    );
    assert!(told.contains("not applicable") && told.contains(&format!("note: {sentence}")), "{told}");
    assert!(!told.contains("any, hard"), "every set has a test for EDF:\n{told}");
    for name in ["report.html", "summary.md", "plots/acceptance.svg"] {
        let text = fs::read_to_string(out.join(name)).expect("a page");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // A plot breaks lines.
        let parts =
            if name.ends_with("svg") { ["no test applies to", "Guan, hard"] } else { [&*sentence, "Guan"] };
        parts.iter().for_each(|part| assert!(text.contains(part), "no `{part}` in {name}"));
    }
    let answer = json(&prints(&["study", utf8(&file), "-q", "--json", "--out", utf8(&out)]));
    let points = answer["families"][0]["series"][0]["points"].as_array().expect("points").clone();
    let of_json: u64 = points.iter().map(|point| point["not_applicable"].as_u64().expect("a count")).sum();
    assert_eq!(of_json, all);
}
