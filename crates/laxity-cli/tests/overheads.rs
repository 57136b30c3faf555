//! Overheads: recorded beside runs, swept over by a study, read back as costs. The probes need root and a kernel that takes
//! BPF programs; where they are not possible it says SKIPPED. Counts are judged, never times.

mod calls;
mod host;
mod patience;

use calls::{json, json_file, prints, text, utf8, with_machines};
use host::{laxity, output, small_set, takes_policies, words};
use patience::{patiently, real_run};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// Whether the probes were not possible here; then it says so.
fn skipped(ended: &Output) -> bool {
    let said = words(ended);
    let refused = ended.status.code() == Some(3)
        && ["overheads cannot be measured", "no probe could be attached", "refuses the probes"]
            .iter()
            .any(|part| said.contains(part));
    if refused {
        eprintln!("SKIPPED: {said}");
    }
    refused
}

/// Samples of one kind and class, disturbed ones among them.
fn samples(run: &Value, kind: &str, class: &str) -> u64 {
    let all = run["recorded"]["overheads"].as_array().expect("a list");
    let found = all.iter().find(|overhead| overhead["kind"] == kind && overhead["class"] == class);
    found.map_or(0, |o| o["number"].as_u64().expect("a number") + o["disturbed"].as_u64().expect("a number"))
}

fn missing(run: &Value, kind: &str) -> bool {
    let all = run["recorded"]["missing"].as_array().expect("a list");
    all.iter().any(|missing| missing["quantities"].as_array().expect("a list").contains(&kind.into()))
}

#[test]
fn a_run_records_what_scheduling_costs() {
    let (directory, set) = small_set();
    let out = directory.path().join("out");
    let Some(ended) = real_run(|| {
        let mut command = laxity();
        command.args([
            "run",
            utf8(&set),
            "--scheduler",
            "g-edf,g-rm",
            "--duration",
            "1s",
            "--record-overheads",
        ]);
        command.args(["--json", "--force", "--out", utf8(&out)]);
        command
    }) else {
        return;
    };
    if skipped(&ended) {
        return;
    }
    assert!(ended.status.success(), "{}", words(&ended));
    let answer = json(&text(&ended.stdout));
    let runs = answer["overheads"].as_array().expect("a list");
    assert_eq!(runs.len(), 2);
    for (run, (scheduler, class)) in runs.iter().zip([("g-edf", "deadline"), ("g-rm", "fixed-priority")]) {
        assert_eq!((&run["scheduler"], &run["class"]), (&scheduler.into(), &class.into()));
        let tasks = run["tasks"].as_u64().expect("a number");
        let at = usize::try_from(run["run"].as_u64().expect("a number")).expect("small");
        let jobs = answer["runs"][at]["jobs"].as_u64().expect("a number");
        for kind in ["release", "release-latency"] {
            let number = samples(run, kind, class);
            // Late jobs are not released by a timer; each task is woken once more for the synchronous release.
            assert!(missing(run, kind) || number > 0 && number <= jobs + tasks, "{kind}: {number} of {jobs}");
        }
        // Every job is switched to.
        let switches = samples(run, "schedule-before", class);
        assert!(missing(run, "schedule-before") || switches >= jobs / 2, "{switches} of {jobs}");
        for ending in ["mean", "max"] {
            let costs = out.join(format!("overheads/{scheduler}-{ending}.csv"));
            let simulated = output(laxity().args([
                "simulate",
                utf8(&set),
                "--scheduler",
                scheduler,
                "--duration",
                "1s",
                "--costs",
                utf8(&costs),
            ]));
            assert!(simulated.status.success(), "{}", words(&simulated));
        }
        let run_number = run["run"].as_u64().expect("a number");
        let bytes = fs::read(out.join(format!("overheads/run-{run_number}.parquet"))).expect("samples");
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    }
    // They are read back with the results, and shown as tables.
    let report = prints(&["report", utf8(&out)]);
    assert!(report.contains("overhead (µs)"), "{report}");
    // An experiment without them leaves none of the old ones.
    let again = patiently(|| {
        let mut command = laxity();
        command.args([
            "run",
            utf8(&set),
            "--scheduler",
            "g-rm",
            "--duration",
            "100ms",
            "--force",
            "--out",
            utf8(&out),
        ]);
        command
    });
    assert!(again.status.success(), "{}", words(&again));
    assert!(!out.join("overheads").exists());
}

/// The rows of a table whose scheduler and overhead these are.
fn rows<'a>(table: &'a str, scheduler: &str, overhead: &str) -> Vec<Vec<&'a str>> {
    let rows = table.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    rows.filter(|row| row[3] == scheduler && row[4] == overhead).collect()
}

fn study(out: &Path, more: &[&str]) -> Output {
    patiently(|| {
        let mut command = laxity();
        command.args(["study", "overheads", "--cpu-counts", "1", "--tasks", "1,3", "--duration", "300ms"]);
        command.args(more).args(["--out", utf8(out)]);
        command
    })
}

#[test]
fn a_study_goes_on_where_it_was_and_says_what_it_could_not_measure() {
    if !host::can_run(&["g-edf"]) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("study");
    let ended = study(&out, &["--schedulers", "g-edf,edf-bh,g-edf-mp"]);
    if skipped(&ended) {
        return;
    }
    assert!(ended.status.success(), "{}", words(&ended));
    assert!(words(&ended).contains("g-edf-mp dedicates a CPU"), "{}", words(&ended));
    let table = fs::read_to_string(out.join("overheads.csv")).expect("a table");
    assert_eq!(rows(&table, "g-edf", "schedule-before").len(), 2, "{table}");
    assert!(rows(&table, "g-edf-mp", "schedule-before").is_empty(), "one CPU is not enough for it");
    let page = fs::read_to_string(out.join("report.html")).expect("a page");
    for part in ["<svg", "Not measured", "dedicates a CPU", "What tracing itself costs"] {
        assert!(page.contains(part), "no {part} on the page");
    }
    if !takes_policies() {
        assert!(page.contains("has no sched_ext") && page.contains("--vm"), "it says why, and what helps");
    }
    assert!(fs::read_dir(out.join("plots")).expect("plots").count() > 2);
    let set = directory.path().join("set.toml");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vm/small.toml"), &set).expect("copies");
    let costs = out.join("costs/m1/g-edf-max.csv");
    let simulated = output(laxity().args(["simulate", utf8(&set), "--costs", utf8(&costs)]));
    assert!(simulated.status.success(), "{}", words(&simulated));

    // What was run can be simulated: the same sets under the schedulers that one CPU is enough for.
    let (file, simulated) = (out.join("m1/kernels.json"), directory.path().join("simulated"));
    let told = json(&prints(&["study", utf8(&file), "--json", "--quiet", "--out", utf8(&simulated)]));
    let curves = told["families"][0]["curves"].as_array().expect("a list");
    let names: Vec<&str> = curves.iter().filter_map(|curve| curve["curve"].as_str()).collect();
    assert_eq!((told["complete"].as_bool(), names), (Some(true), vec!["g-edf", "edf-bh"]));

    let made = |n: u32| {
        let manifest: PathBuf = out.join(format!("m1/runs/1-{n}-0/g-edf-1/manifest.json"));
        json_file(&manifest)["created"].clone()
    };
    let before = [made(1), made(3)];
    fs::remove_dir_all(out.join("m1/runs/1-3-0/g-edf-1")).expect("one is lost");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let again = study(&out, &["--schedulers", "g-edf"]);
    assert!(again.status.success(), "{}", words(&again));
    let after = [made(1), made(3)];
    assert!(before[0] == after[0] && before[1] != after[1], "{before:?} {after:?}");
    let other = study(&out, &["--schedulers", "g-edf", "--seed", "9"]);
    assert_eq!(other.status.code(), Some(2), "{}", words(&other));
    assert!(words(&other).contains("another study"), "{}", words(&other));
}

#[test]
fn what_makes_no_study_is_refused() {
    for wrong in [
        &["--tasks", "0"][..],
        &["--tasks", "5-1"],
        &["--cpu-counts", "none"],
        &["--load", "2"],
        &["--schedulers", "edf"],
        &["--duration", "0s"],
        &["--batching", "maybe"],
        &["--batching", "on,on"],
    ] {
        let mut command = laxity();
        let ended = output(command.args(["study", "overheads", "--out", "/nonexistent/study"]).args(wrong));
        assert_eq!(ended.status.code(), Some(2), "{wrong:?}: {}", words(&ended));
    }
    let ended = output(laxity().args(["run", "x.toml", "--scheduler", "g-edf", "--record-overheads=all"]));
    assert!(words(&ended).contains("selection of overheads `all` is not known"), "{}", words(&ended));
}

/// Once, and before anything is made: not by every trial.
#[test]
fn a_kernel_that_is_none_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("study");
    for study in ["overheads", "schedules"] {
        for kernel in ["/nonexistent/vmlinuz", "/etc/passwd"] {
            let ended =
                output(laxity().args(["study", study, "--vm", "--kernel", kernel, "--out", utf8(&out)]));
            assert_eq!(ended.status.code(), Some(2), "{}", words(&ended));
            assert_eq!(words(&ended).matches(kernel).count(), 1, "{}", words(&ended));
            assert!(words(&ended).contains("hint: "), "{}", words(&ended));
            assert!(!out.exists(), "nothing is made");
        }
        let here = output(laxity().args(["study", study, "--kernel", "/etc/passwd", "--out", utf8(&out)]));
        assert_eq!(here.status.code(), Some(2), "{}", words(&here));
        assert!(words(&here).contains("add --vm"), "{}", words(&here));
    }
}

/// Threads of SCHED_FIFO that laxity has not made.
const FIFO_SLEEPER: &str = "import os,time,sys\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(5))\n\
    [time.sleep(0.002) for _ in range(100)]\nsys.exit(7)";

#[test]
fn overheads_of_any_program_are_recorded_while_it_runs() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("out");
    let ended = output(laxity().args([
        "overheads",
        "--json",
        "--out",
        utf8(&out),
        "--",
        "python3",
        "-c",
        FIFO_SLEEPER,
    ]));
    if skipped(&ended) || words(&ended).contains("Operation not permitted") {
        eprintln!("SKIPPED: no real-time threads for this user");
        return;
    }
    assert_eq!(ended.status.code(), Some(7), "the program's own: {}", words(&ended));
    let answer = json(&text(&ended.stdout));
    assert_eq!(answer, json_file(&out.join("overheads.json")));
    let recorded = serde_json::json!({ "recorded": answer });
    let switches = samples(&recorded, "schedule-before", "fixed-priority");
    assert!(missing(&recorded, "schedule-before") || switches >= 100, "{switches} switches");
    let bytes = fs::read(out.join("samples.parquet")).expect("samples");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let (_set_directory, set) = small_set();
    for ending in ["mean", "max"] {
        let costs = out.join(format!("fixed-priority-{ending}.csv"));
        let simulated = ["simulate", utf8(&set), "--duration", "100ms", "--costs", utf8(&costs)];
        prints(&simulated);
    }
    let again = output(laxity().args(["overheads", "--duration", "10ms", "--out", utf8(&out)]));
    assert_eq!(again.status.code(), Some(2), "{}", words(&again));
    assert!(words(&again).contains("has a recording already"), "{}", words(&again));
    // What is there no more is not left from before.
    let again = output(laxity().args([
        "overheads",
        "--duration",
        "10ms",
        "--tasks",
        "9",
        "--force",
        "--out",
        utf8(&out),
    ]));
    assert!(again.status.success(), "{}", words(&again));
    assert!(!out.join("deadline-max.csv").exists());
    assert!(text(&again.stdout).contains("Overheads on kernel"), "{}", text(&again.stdout));
}

#[test]
fn overheads_are_recorded_until_somebody_ends_it() {
    let mut command = laxity();
    command.args(["overheads", "--", "sleep", "100"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.spawn().expect("starts");
    let begin = Instant::now();
    let children = || {
        let path = format!("/proc/{0}/task/{0}/children", program.id());
        fs::read_to_string(path).is_ok_and(|children| !children.trim().is_empty())
    };
    while !children() && begin.elapsed() < Duration::from_secs(60) && program_runs(program.id()) {
        std::thread::sleep(Duration::from_millis(10));
    }
    // SAFETY: the program's process, which has not been waited for.
    unsafe { libc::kill(i32::try_from(program.id()).expect("a process id"), libc::SIGTERM) };
    let ended = program.wait_with_output().expect("ends");
    if skipped(&ended) {
        return;
    }
    assert_eq!(ended.status.code(), Some(128 + libc::SIGTERM), "passed on: {}", words(&ended));
    assert!(text(&ended.stdout).contains("Overheads on kernel"), "{}", words(&ended));
}

/// True if the process has not ended yet: after its end it is a zombie until it is waited for.
fn program_runs(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn what_cannot_be_recorded_is_refused_before_it_begins() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("out");
    for (arguments, said) in [
        (&["--", "no-such-program"][..], "no-such-program cannot be started"),
        (&["--duration", "1s", "--", "true"], "cannot be used with"),
        (&["--force"], "--out"),
        (&["--tasks", "0"], "not a whole number from 1"),
        (&["--tasks", "x"], "hint: write digits only"),
    ] {
        let ended = output(laxity().args(["overheads"]).args(arguments));
        assert_eq!(ended.status.code(), Some(2), "{}", words(&ended));
        assert!(words(&ended).contains(said), "{}", words(&ended));
    }
    let ended = output(laxity().args(["overheads", "--out", utf8(&out), "--", "no-such-program"]));
    assert_eq!(ended.status.code(), Some(2));
    assert!(!out.exists(), "nothing is made");
}

/// g-edf-mp in a virtual machine: releases, requests to the dedicated processor and their handling are its own.
#[test]
fn a_study_in_virtual_machines_measures_the_policies() {
    let directory = tempfile::Builder::new().prefix("laxity vm ").tempdir().expect("a directory");
    let out = directory.path().join("study");
    let Some(ended) = with_machines(|command| {
        command.args(["study", "overheads", "--vm", "--cpu-counts", "2", "--schedulers", "g-edf-mp,g-edf"]);
        command.args(["--tasks", "2", "--duration", "2s", "--functions", "--batching", "off,on"]);
        command.args(["--out", utf8(&out)]);
    }) else {
        return;
    };
    assert!(ended.status.success(), "{}", words(&ended));
    let table = fs::read_to_string(out.join("overheads.csv")).expect("a table");
    let number = |scheduler: &str, overhead: &str| {
        let rows = rows(&table, scheduler, overhead);
        let count = |row: &Vec<&str>| {
            row[6].parse::<u64>().expect("a count") + row[7].parse::<u64>().expect("a count")
        };
        rows.iter().map(count).sum::<u64>()
    };
    for overhead in ["request-latency", "dsp-handler", "schedule-before", "context-switch"] {
        assert!(number("g-edf-mp", overhead) > 20, "{overhead}: {table}");
    }
    // Every request is handled; recording may begin and end in the middle of one.
    let (requests, handled) = (number("g-edf-mp", "request-latency"), number("g-edf-mp", "dsp-handler"));
    assert!(requests.abs_diff(handled) <= 2, "{requests} requests, {handled} handled: {table}");
    // Late jobs of SCHED_DEADLINE are not released by a timer, and in an emulated machine they may all be late.
    assert!(number("g-edf", "release") > 0 && number("g-edf", "request-latency") == 0, "{table}");
    // Both ways of releasing are there, and each was what its name says.
    assert!(number("g-edf-mp+batching", "release") > 5, "{table}");
    for (scheduler, batching) in [("g-edf-mp", "off"), ("g-edf-mp-batching", "on")] {
        let manifest = json_file(&out.join(format!("m2/runs/1-4-0/{scheduler}-1/manifest.json")));
        assert_eq!(manifest["options"]["batching"], batching, "{scheduler}");
    }
    // sched_ext has no push; the others are functions of every class.
    let page = fs::read_to_string(out.join("summary.md")).expect("a page");
    assert!(page.contains("Functions of the scheduling classes (lelli2012, Table 6)"), "{page}");
    for (scheduler, function) in
        [("g-edf", "enqueue"), ("g-edf", "dequeue"), ("g-edf-mp", "enqueue"), ("g-edf-mp", "dequeue")]
    {
        assert!(number(scheduler, function) > 0, "{scheduler}: {function}: {table}");
        assert!(!page.contains(&format!("| {scheduler} | {function} | - |")), "{page}");
    }
    assert!(page.contains("| g-edf-mp | push | - | - | - | - |"), "{page}");
    let left: Vec<_> =
        fs::read_dir(&out).expect("a directory").flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".machine")), "{left:?}");
}
