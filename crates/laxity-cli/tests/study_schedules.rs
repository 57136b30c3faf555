//! `laxity study schedules`: what is checked on real kernels. Where the kernel does not let itself be recorded it says so; counts
//! are judged, never times.

mod calls;
mod host;
mod patience;

use calls::{json, json_file, text, utf8, with_machines, with_machines_watched};
use host::{Running, kill, laxity, output, takes_policies, words};
use patience::patiently;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn study(out: &Path, more: &[&str]) -> Output {
    patiently(|| {
        let mut command = laxity();
        command.args(["study", "schedules", "--cpu-counts", "1", "--tasks", "1,3", "--duration", "300ms"]);
        command.args(["--load", "0.3", "--json"]).args(more).args(["--out", utf8(out)]);
        command
    })
}

fn trials<'a>(answer: &'a Value, scheduler: &str) -> Vec<&'a Value> {
    let all = answer["trials"].as_array().expect("a list");
    all.iter().filter(|trial| trial["scheduler"] == scheduler).collect()
}

#[test]
fn a_study_goes_on_where_it_was_and_says_what_it_could_not_do() {
    if !host::can_run(&["g-edf"]) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("study");
    let ended = study(&out, &["--schedulers", "g-edf,edf-bh,g-edf-mp"]);
    let answer = json(&text(&ended.stdout));
    let runs = trials(&answer, "g-edf");
    assert_eq!(runs.len(), 2);
    for run in &runs {
        assert!(run["jobs"]["jobs"].as_u64() > Some(2), "{run}");
        let recorded = run["schedule"].is_object();
        assert_eq!(recorded, run["schedule_not_recorded"].is_null(), "a schedule, or why there is none");
        assert!(!recorded || run["schedule"]["verification"]["instants"].as_u64() > Some(2), "{run}");
    }
    for run in trials(&answer, "g-edf-mp") {
        assert!(run["not_measured"].as_str().is_some_and(|why| why.contains("dedicates a CPU")), "{run}");
    }
    for run in trials(&answer, "edf-bh").iter().filter(|_| !takes_policies()) {
        assert!(run["not_measured"].as_str().is_some_and(|why| why.contains("sched_ext")), "{run}");
    }
    // 3: nothing lets itself be recorded here. 1: what a real kernel did is not for this test to judge.
    let recorded =
        answer["trials"].as_array().expect("a list").iter().any(|trial| trial["schedule"].is_object());
    assert_eq!(ended.status.code() == Some(3), !recorded, "{}", words(&ended));
    assert_eq!(ended.status.code() == Some(0), recorded && answer["clean"] == true, "{}", words(&ended));
    let table = fs::read_to_string(out.join("schedules.csv")).expect("a table");
    assert!(table.lines().any(|line| line.starts_with("1,3,3,0,g-edf,")), "{table}");
    let page = fs::read_to_string(out.join("report.html")).expect("a page");
    assert!(page.contains("<svg") && page.contains("Not measured"), "{page}");

    let made =
        |n: u32| json_file(&out.join(format!("m1/runs/1-{n}-0/g-edf-1/manifest.json")))["created"].clone();
    let before = [made(1), made(3)];
    fs::remove_dir_all(out.join("m1/runs/1-3-0/g-edf-1")).expect("one is lost");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    study(&out, &["--schedulers", "g-edf"]);
    let after = [made(1), made(3)];
    assert!(before[0] == after[0] && before[1] != after[1], "{before:?} {after:?}");
    let other = study(&out, &["--schedulers", "g-edf", "--seed", "9"]);
    assert_eq!(other.status.code(), Some(2), "{}", words(&other));
    assert!(words(&other).contains("another study"), "{}", words(&other));
    let costs = output(laxity().args(["study", "overheads", "--out", utf8(&out)]));
    assert_eq!(costs.status.code(), Some(2), "overheads are not of this study: {}", words(&costs));
}

#[test]
fn what_makes_no_study_is_refused() {
    for wrong in [&["--tasks", "0"][..], &["--load", "0.95"], &["--schedulers", "edf"], &["--functions"]] {
        let mut command = laxity();
        let ended = output(command.args(["study", "schedules", "--out", "/nonexistent/study"]).args(wrong));
        assert_eq!(ended.status.code(), Some(2), "{wrong:?}: {}", words(&ended));
    }
}

/// A policy and SCHED_DEADLINE in a machine that counts: every schedule is recorded, and checked at many instants.
#[test]
fn a_study_in_virtual_machines_checks_schedules() {
    let directory = tempfile::Builder::new().prefix("laxity vm ").tempdir().expect("a directory");
    let out = directory.path().join("study");
    let Some(ended) = with_machines(|command| {
        command.args([
            "study",
            "schedules",
            "--deterministic",
            "--cpu-counts",
            "2",
            "--schedulers",
            "edf-bh,g-edf",
        ]);
        command.args(["--tasks", "2", "--duration", "500ms", "--load", "0.3", "--json", "--out", utf8(&out)]);
    }) else {
        return;
    };
    let answer = json(&text(&ended.stdout));
    for scheduler in ["edf-bh", "g-edf"] {
        let runs = trials(&answer, scheduler);
        let [run] = runs[..] else { panic!("one run of {scheduler}: {answer}") };
        let (jobs, schedule) = (run["jobs"]["jobs"].as_u64().expect("a number"), &run["schedule"]);
        let checked = schedule["verification"]["instants"].as_u64().expect("a number");
        // A job's release and its end are instants, but several may be one.
        assert!(jobs > 10 && checked > jobs, "{scheduler}: {jobs} jobs, {checked} instants");
        assert!(schedule["decisions"].as_u64() > Some(jobs), "{scheduler}: {schedule}");
        assert!(schedule["windows"]["decision"]["count"].as_u64() > Some(jobs), "{scheduler}: {schedule}");
        let trial = out.join(format!("m2/runs/1-4-0/{scheduler}-1"));
        // What the study allows in emulated machines, of which it can say `clean`, and what a machine of its own is allowed.
        let mut asked = laxity();
        asked.args(["verify", utf8(&trial), "--json", "--excuse-limit", "50ms", "--excuse-share", "0.5"]);
        let usual = output(laxity().args(["verify", utf8(&trial), "--json"]));
        for (again, state) in
            [(output(&mut asked), &schedule["state"]), (usual, &schedule["verification"]["state"])]
        {
            assert_eq!(json(&text(&again.stdout))["state"], *state, "kept results give the same verdict");
            let code = match state.as_str() {
                Some("clean") => 0,
                Some("violated") => 1,
                _ => 4,
            };
            assert_eq!(again.status.code(), Some(code), "{}", words(&again));
        }
    }
}

/// Runs it and presses Ctrl-C once `begun`; to its end where that comes first.
fn interrupted(command: &mut Command, begun: impl Fn() -> bool) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(command.spawn().expect("laxity starts"));
    // A machine may first have to be waited for, or a kernel to be fetched.
    let give_up = Instant::now() + Duration::from_secs(300);
    while !begun() && running.0.try_wait().expect("a child").is_none() {
        assert!(Instant::now() < give_up, "nothing has begun for minutes");
        std::thread::sleep(Duration::from_millis(20));
    }
    kill(i32::try_from(running.0.id()).expect("a process id"), libc::SIGINT);
    running.end()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn an_interrupted_study_goes_on() {
    if !host::can_run(&["g-edf"]) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("study");
    let ask = |command: &mut Command| {
        command.args(["study", "schedules", "--schedulers", "g-edf", "--cpu-counts", "1", "--tasks", "1,2"]);
        command.args(["--duration", "3s", "--json", "--out", utf8(&out)]);
    };
    let manifest = |n: u32| out.join(format!("m1/runs/1-{n}-0/g-edf-1/manifest.json"));
    let give_up = Instant::now() + Duration::from_secs(60);
    loop {
        let mut command = laxity();
        ask(&mut command);
        let ended = interrupted(&mut command, || manifest(1).exists());
        if words(&ended).contains("holds this machine") && Instant::now() < give_up {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        assert_eq!(ended.status.code(), Some(130), "{}", words(&ended));
        break;
    }
    assert!(!manifest(2).exists(), "it ended before the second trial");
    let again = patiently(|| {
        let mut command = laxity();
        ask(&mut command);
        command
    });
    let answer = json(&text(&again.stdout));
    for run in trials(&answer, "g-edf") {
        assert!(run["jobs"]["jobs"].as_u64() > Some(2), "{run}");
    }
}

/// The machine and its directory are gone.
#[test]
fn an_interrupted_machine_leaves_nothing() {
    let directory = tempfile::Builder::new().prefix("laxity vm ").tempdir().expect("a directory");
    let (out, mark) = (directory.path().join("study"), "1999M");
    let ask = |command: &mut Command| {
        command.args([
            "study",
            "schedules",
            "--vm",
            "--schedulers",
            "g-edf",
            "--cpu-counts",
            "1",
            "--tasks",
            "1,2",
        ]);
        command.args(["--duration", "20s", "--load", "0.1", "--memory", mark, "--out", utf8(&out)]);
    };
    let in_machine = || names(&out).iter().any(|name| name.starts_with(".machine"));
    let watch = |command: &mut Command| interrupted(command, || out.exists() && in_machine());
    let Some(ended) = with_machines_watched(ask, watch) else { return };
    assert_eq!(ended.status.code(), Some(130), "{}", words(&ended));
    assert!(words(&ended).contains("interrupted"), "{}", words(&ended));
    assert_eq!(names(&out).iter().filter(|name| name.starts_with('.')).count(), 0, "{:?}", names(&out));
    let machines = |line: &[u8]| String::from_utf8_lossy(line).contains(&format!("-m\0{mark}"));
    let left = fs::read_dir("/proc").expect("/proc").flatten();
    let left =
        left.filter(|process| fs::read(process.path().join("cmdline")).is_ok_and(|line| machines(&line)));
    assert_eq!(left.count(), 0, "no machine is left");
}
