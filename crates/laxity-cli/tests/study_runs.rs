//! `laxity study FILE --real`: the sets of a study by simulation, really run. Counts are judged, never times.

mod calls;
mod host;
mod patience;

use calls::{json, json_file, text, utf8};
use host::{HostState, Running, kill, laxity, machine, output, words};
use patience::{at_rest, patiently};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Two sets of one light task, and two of two, placed in two ways.
const STUDY: &str = r#"
version = 1
kind = "simulation"
title = "Light <sets>"
sets = 2
duration = "5s"
demand = 0.5
metrics = ["ipc", "dsr"]
[platform]
processors = 2
[axis]
of = "tasks"
from = 1
to = 2
step = 1
[generator]
name = "unc"
utilizations = "uni-light"
periods = "uniform:20ms,40ms"
[[curves]]
scheduler = "p-edf"
placement = "wfd"
[[curves]]
name = "FF, or least loaded"
scheduler = "p-edf"
placement = "ffd"
overload = "least-loaded"
"#;

fn written(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("light.toml");
    fs::write(&file, text).expect("writes");
    file
}

fn study(file: &Path, out: &Path, more: &[&str]) -> Output {
    patiently(|| {
        let mut command = laxity();
        command.args(["study", utf8(file), "--real", "--duration", "200ms", "--json"]);
        command.args(more).args(["--out", utf8(out)]);
        command
    })
}

/// When each run was made, by its folder.
fn made(out: &Path) -> Vec<(PathBuf, Value)> {
    let folders = |path: &Path| -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> =
            fs::read_dir(path).expect("a directory").flatten().map(|entry| entry.path()).collect();
        found.sort();
        found
    };
    let runs = folders(&out.join("runs"));
    let runs = runs.iter().flat_map(|set| folders(set));
    runs.map(|run| (run.clone(), json_file(&run.join("manifest.json"))["created"].clone())).collect()
}

fn points(answer: &Value, curve: usize) -> &Vec<Value> {
    answer["families"][0]["curves"][curve]["points"].as_array().expect("a list")
}

#[test]
fn a_study_is_run_and_goes_on_where_it_was() {
    if !host::can_run(&["p-edf"]) {
        return;
    }
    let _machine = machine();
    let before = at_rest(HostState::now);
    let directory = tempfile::tempdir().expect("a directory");
    let (file, out) = (written(directory.path(), STUDY), directory.path().join("out"));
    let ended = study(&file, &out, &["--repeat", "2"]);
    assert!(ended.status.success(), "{}", words(&ended));
    let answer = json(&text(&ended.stdout));
    let schema =
        json_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/study-simulation.schema.json"));
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(validator.is_valid(&answer), "{:?}", validator.iter_errors(&answer).next());
    assert_eq!((answer["complete"].as_bool(), answer["run"]["repeat"].as_u64()), (Some(true), Some(2)));
    for point in (0..2).flat_map(|curve| points(&answer, curve)) {
        assert_eq!((point["sets"].as_u64(), point["placed"].as_u64()), (Some(2), Some(2)), "{point}");
        for metric in ["execution-inflation", "dsr", "max-tardiness", "relative-ipc"] {
            assert_eq!(point["metrics"][metric]["n"], 2, "{metric}: {point}");
        }
        assert!(point["metrics"]["execution-inflation"]["mean"].as_f64() > Some(0.0), "{point}");
        // What is not counted is not known, and says why.
        let (ipc, why) = (&point["metrics"]["ipc"]["mean"], &point["not_measured"]["ipc"]);
        assert!(ipc.is_null() == why.is_object() && ipc.as_f64() != Some(0.0), "{point}");
    }
    assert!(points(&answer, 0).iter().all(|point| point["metrics"]["relative-ipc"]["mean"] == 1.0));
    let manifest = json_file(&out.join("manifest.json"));
    assert_eq!((&manifest["kind"], &manifest["duration"]), (&"study-of-runs".into(), &"200ms".into()));
    assert!(manifest["machine"]["kernel"].as_str().is_some_and(|kernel| kernel != "simulated"), "{manifest}");
    let page = fs::read_to_string(out.join("report.html")).expect("a page");
    for part in ["Light &lt;sets&gt;", "FF, or least loaded", "Run, not simulated", "How it was measured"] {
        assert!(page.contains(part), "no `{part}` in the page");
    }
    let counted = points(&answer, 0)[0]["metrics"]["ipc"]["mean"].is_number();
    assert_eq!(page.contains("not measured: "), !counted, "cells say why there is no IPC");
    assert!(fs::read_to_string(out.join("plots/run.svg")).is_ok_and(|plot| plot.contains("</svg>")));
    let csv = fs::read_to_string(out.join("points.csv")).expect("a table");
    assert!(
        csv.lines().any(|line| line.starts_with("wfd,p-edf,tasks,2,execution-inflation,number,2,2,2,")),
        "{csv}"
    );

    // Two points, two sets, two curves, twice: all with the same work, and both placements with the same jobs.
    let runs = made(&out);
    assert_eq!(runs.len(), 16);
    let jobs = |run: usize| {
        let results = laxity_trace::load(&runs[run].0).expect("results");
        let jobs = results.runs[0].jobs.iter().map(|job| (job.task, job.release_ns, job.demand_ns));
        (jobs.collect::<Vec<_>>(), results.options["calibration"].clone())
    };
    // Folders of one set: curve 1 twice, then curve 2 twice.
    assert!(jobs(0) == jobs(2) && jobs(1) == jobs(3), "{:?} {:?}", jobs(0), jobs(2));
    assert!(!jobs(0).0.is_empty());

    // It is whole: nothing is run again, and it says the same.
    let again = study(&file, &out, &["--repeat", "2"]);
    assert_eq!((json(&text(&again.stdout)), made(&out)), (answer.clone(), runs.clone()), "{}", words(&again));
    // What was lost is run again, and nothing else.
    fs::remove_file(out.join("points.jsonl")).expect("the journal is lost");
    fs::remove_dir_all(&runs[5].0).expect("a run is lost");
    std::thread::sleep(Duration::from_millis(1_100));
    let again = study(&file, &out, &["--repeat", "2"]);
    assert!(again.status.success(), "{}", words(&again));
    let changed: Vec<usize> =
        made(&out).iter().zip(&runs).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect();
    assert_eq!(changed, [5]);
    // Other runs are another study's.
    for other in
        [&["--repeat", "3"][..], &["--repeat", "2", "--seed", "7"], &["--repeat", "2", "--cpus", "1"]]
    {
        let refused = study(&file, &out, other);
        assert_eq!(refused.status.code(), Some(2), "{other:?}: {}", words(&refused));
        assert!(words(&refused).contains("another study"), "{other:?}: {}", words(&refused));
    }
    let simulated = output(laxity().args(["study", utf8(&file), "--out", utf8(&out)]));
    assert!(words(&simulated).contains("another study: "), "simulations are apart: {}", words(&simulated));
    assert_eq!(at_rest(HostState::now), before, "the host is as it was");
}

#[test]
fn what_is_recorded_of_runs_is_measured() {
    if !host::can_run(&["p-edf"]) {
        return;
    }
    let _machine = machine();
    let directory = tempfile::tempdir().expect("a directory");
    let (file, out) = (written(directory.path(), STUDY), directory.path().join("out"));
    let ended = study(&file, &out, &["--sets", "1", "--record", "--record-overheads"]);
    assert!(ended.status.success(), "{}", words(&ended));
    let answer = json(&text(&ended.stdout));
    for point in (0..2).flat_map(|curve| points(&answer, curve)) {
        let oracles = ["violations", "excused-deviations", "excused-time", "without-verdict"];
        for metric in oracles.into_iter().chain(["overhead-schedule-before", "overhead-tick"]) {
            let (found, why) = (&point["metrics"][metric], &point["not_measured"][metric]);
            assert!(found["n"] == 1 || why.is_object(), "{metric}: {point}");
        }
        assert_ne!(point["metrics"]["overhead-schedule-before"]["mean"], 0.0, "{point}");
    }
    // Without, it is another study.
    let refused = study(&file, &out, &["--sets", "1"]);
    assert!(
        words(&refused).contains("record true there, and not asked for; overheads events there"),
        "{}",
        words(&refused)
    );
}

/// The second set of a point under the second curve, as a virtual machine is told.
const UNITS: &str = r#"[{"point": {"family": 0, "value": 2}, "series": {"start": 1, "end": 2}, "sets": {"start": 1, "end": 2}}]"#;

#[test]
fn some_units_of_a_study_are_run_and_nothing_else() {
    if !host::can_run(&["p-edf"]) {
        return;
    }
    let _machine = machine();
    let directory = tempfile::tempdir().expect("a directory");
    let (file, out) = (written(directory.path(), STUDY), directory.path().join("out"));
    let units = directory.path().join("units.json");
    fs::write(&units, UNITS).expect("writes");
    let ended = study(&file, &out, &["--units", utf8(&units)]);
    assert!(ended.status.success(), "{}", words(&ended));
    let [(run, _)] = &made(&out)[..] else { panic!("one run: {:?}", made(&out)) };
    assert_eq!(*run, out.join("runs/1-2-1/ff--or-least-loaded-1"));
    assert!(words(&ended).contains("[1/1] FF, or least loaded"), "{}", words(&ended));
}

#[test]
fn an_interrupted_study_keeps_its_runs() {
    if !host::can_run(&["p-edf"]) {
        return;
    }
    let _machine = machine();
    let directory = tempfile::tempdir().expect("a directory");
    let (file, out) = (written(directory.path(), STUDY), directory.path().join("out"));
    let ask = |command: &mut Command| {
        command.args(["study", utf8(&file), "--real", "--duration", "1500ms", "--sets", "1"]);
        command.args(["--json", "--quiet", "--out", utf8(&out)]);
    };
    let first = out.join("runs/1-1-0/wfd-1/manifest.json");
    let give_up = Instant::now() + Duration::from_secs(120);
    loop {
        let mut command = laxity();
        ask(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Running(command.spawn().expect("laxity starts"));
        while !first.exists() && running.0.try_wait().expect("a child").is_none() {
            assert!(Instant::now() < give_up, "nothing has begun for minutes");
            std::thread::sleep(Duration::from_millis(10));
        }
        kill(i32::try_from(running.0.id()).expect("a process id"), libc::SIGINT);
        let ended = running.end();
        if words(&ended).contains("holds this machine") && Instant::now() < give_up {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        assert_eq!(ended.status.code(), Some(130), "{}", words(&ended));
        assert_eq!(json(&text(&ended.stdout))["complete"], false);
        break;
    }
    let again = patiently(|| {
        let mut command = laxity();
        ask(&mut command);
        command
    });
    assert!(again.status.success(), "{}", words(&again));
    let answer = json(&text(&again.stdout));
    assert_eq!(points(&answer, 1).len(), 2);
    for point in (0..2).flat_map(|curve| points(&answer, curve)) {
        assert_eq!(point["metrics"]["execution-inflation"]["n"], 1, "{point}");
    }
}

#[test]
fn what_cannot_be_run_says_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = written(directory.path(), STUDY);
    let out = directory.path().join("out");
    let refused = |file: &Path, more: &[&str], part: &str| {
        let ended = patiently(|| {
            let mut command = laxity();
            command.args(["study", utf8(file), "--out", utf8(&out)]).args(more);
            command
        });
        assert_eq!(ended.status.code(), Some(2), "{more:?}: {}", words(&ended));
        assert!(words(&ended).contains(part) && ended.stdout.is_empty(), "no `{part}`: {}", words(&ended));
        assert!(!out.exists(), "nothing is left of what was refused");
    };
    refused(&file, &["--duration", "1s"], "--real");
    refused(&file, &["--repeat", "2"], "--real");
    refused(&file, &["--cpus", "1"], "--real");
    refused(&file, &["--real", "--threads", "2"], "--threads");
    refused(&file, &["--real", "--repeat", "0"], "from 1 to 1000");
    refused(&file, &["--real", "--duration", "0ms"], "--duration = 0ns is not above 0ns");
    refused(&file, &["--real", "--duration", "-1s"], "`-1s`");
    refused(&file, &["--limit", "0.9"], "--real");
    refused(&file, &["--units", "units.json"], "--real");
    let units = directory.path().join("units.json");
    for (text, part) in [("[1]", "no units of work"), (UNITS, "families, 2 series and 1 sets")] {
        fs::write(&units, text).expect("writes");
        refused(&file, &["--real", "--sets", "1", "--units", utf8(&units)], part);
    }
    refused(&file, &["--real", "--limit", "1.1"], "`1.1` is not a share");
    refused(&file, &["--real", "--cpus", "4096"], "--cpus 4096");
    refused(&file, &["--real", "--clusters", "0;9999"], "9999");
    let write = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(&file).expect("reads").replace(from, to);
        let path = directory.path().join(name);
        fs::write(&path, text).expect("writes");
        path
    };
    let server = write("server.toml", "[platform]", "[ordinary]\nserver = \"20%/10ms\"\n[platform]");
    refused(&server, &["--real"], "deferrable servers can be simulated, but not run");
    let judged = write("judged.toml", "kind = \"simulation\"\n", "");
    let whole = fs::read_to_string(&judged).expect("reads");
    let kept: Vec<&str> = whole
        .lines()
        .filter(|line| ["duration", "demand", "metrics", "overload"].iter().all(|key| !line.starts_with(key)))
        .collect();
    fs::write(&judged, kept.join("\n")).expect("writes");
    refused(&judged, &["--real"], "judged, not run");
    if !host::can_run(&["p-edf"]) {
        return;
    }
    let _machine = machine();
    // Whatever the kernel's limit is.
    let strict = |path: &Path| {
        let text = fs::read_to_string(path).expect("reads");
        fs::write(path, text.replace("\"least-loaded\"", "\"refuse\"")).expect("writes");
    };
    let heavy = write("heavy.toml", "from = 1\nto = 2", "from = 3\nto = 4");
    fs::write(&heavy, fs::read_to_string(&heavy).expect("reads").replace("uni-light", "uniform:0.6,0.6"))
        .expect("writes");
    strict(&heavy);
    refused(
        &heavy,
        &["--real", "--cpus", "1", "--duration", "100ms"],
        "nothing of the study can be run on this machine",
    );
    // One task of 0.6 fits a core, and two do not: they are said not to have been run.
    let half = write("half.toml", "uni-light", "uniform:0.6,0.6");
    strict(&half);
    let ended = study(&half, &out, &["--cpus", "1", "--sets", "1"]);
    assert!(ended.status.success(), "{}", words(&ended));
    let answer = json(&text(&ended.stdout));
    for curve in 0..2 {
        let (fits, does_not) = (&points(&answer, curve)[0], &points(&answer, curve)[1]);
        assert_eq!((fits["placed"].as_u64(), does_not["placed"].as_u64()), (Some(1), Some(0)), "{answer}");
        assert!(fits["not_run"].is_null() && does_not["not_run"].is_object(), "{does_not}");
    }
    let page = fs::read_to_string(out.join("report.html")).expect("a page");
    // A limit below that, and none fits.
    let limited = directory.path().join("limited");
    let ended = study(&half, &limited, &["--cpus", "1", "--sets", "1", "--limit", "0.5"]);
    assert_eq!(ended.status.code(), Some(2), "{}", words(&ended));
    assert!(
        words(&ended).contains("nothing of the study can be run") && !limited.exists(),
        "{}",
        words(&ended)
    );
    assert!(page.contains("Could not be run") && page.contains(">not run<"), "the page says so");
}

#[test]
fn the_example_of_two_cores_can_be_run_and_simulated() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/lindsay2012-two-cores.toml");
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("simulated");
    let told = calls::prints(&["study", utf8(&file), "--sets", "1", "--json", "-q", "--out", utf8(&out)]);
    let answer = json(&told);
    assert_eq!(answer["families"].as_array().map(Vec::len), Some(3));
    assert!(answer["run"].is_null(), "it was simulated");
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if cores < 2 || !host::can_run(&["p-edf"]) {
        eprintln!("SKIPPED: it takes two CPUs and SCHED_DEADLINE");
        return;
    }
    let _machine = machine();
    let out = directory.path().join("run");
    let ended = study(&file, &out, &["--sets", "1", "--cpus", "2", "-q"]);
    assert!(ended.status.success(), "{}", words(&ended));
    let answer = json(&text(&ended.stdout));
    // LWFG, the last curve, can be run for every family somewhere.
    for family in answer["families"].as_array().expect("a list") {
        let points = family["curves"][3]["points"].as_array().expect("a list");
        let known = points.iter().filter(|point| point["metrics"]["execution-inflation"]["mean"].is_number());
        assert!(known.count() > 0, "{family}");
    }
}
