//! Disks that fill up: what was measured before is kept, and nothing is half-written.

use crate::host::{self, HostState, laxity, output, small_set, words};
use crate::patience::{at_rest, real_run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A shell in a mount namespace of its own, in which `small` is a disk of `size`. What is on that disk at the
/// end is copied to `kept`.
fn on_a_small_disk(directory: &Path, size: &str, call: &[&str]) -> Command {
    let small = directory.join("small");
    fs::create_dir_all(&small).expect("directory");
    let script = r#"mount -t tmpfs -o size="$0" tmpfs "$1" || exit 99
        cd "$1" && shift
        "$@"; status=$?
        cp -r . ../kept
        exit "$status""#;
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", script, size])
        .arg(small)
        .arg(env!("CARGO_BIN_EXE_laxity"))
        .args(call);
    command
}

/// True if disks can be mounted; else says why the test is skipped.
fn can_mount(directory: &Path) -> bool {
    let tried = output(&mut on_a_small_disk(directory, "64k", &["--version"]));
    let _ = fs::remove_dir_all(directory.join("kept"));
    if !tried.status.success() {
        eprintln!("SKIPPED: no small disk can be mounted: {}", words(&tried));
    }
    tried.status.success()
}

#[test]
fn a_disk_that_fills_up_keeps_the_runs_made_before() {
    let _machine = host::machine();
    let (directory, set) = small_set();
    if !can_mount(directory.path()) {
        return;
    }
    let set = set.to_str().expect("UTF-8");
    let call = ["run", set, "--scheduler", "p-rm", "--duration", "50ms", "--repeat", "100", "--out", "out"];
    let before = at_rest(HostState::now);
    let make = || {
        let _ = fs::remove_dir_all(directory.path().join("kept"));
        on_a_small_disk(directory.path(), "160k", &call)
    };
    let Some(ended) = real_run(make) else { return };
    let said = words(&ended);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("cannot write") && said.contains("the disk is full"), "{said}");
    assert!(said.contains("run-") && said.contains("kept in") && said.contains("laxity report"), "{said}");
    assert_eq!(at_rest(HostState::now), before);
    // With room again, what was kept makes a report.
    let kept = directory.path().join("kept/out");
    let report = output(laxity().args(["report", "--json"]).arg(&kept));
    assert!(report.status.success(), "{}", words(&report));
    let answer: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    let scheduler = &answer["schedulers"][0];
    let runs = scheduler["runs"].as_u64().expect("a number");
    assert!(runs >= 1, "{scheduler:#}");
    // Two tasks of the small set release 5 and 3 jobs in 50 ms, the slow ones 2 and 1.
    assert_eq!(scheduler["jobs"].as_u64(), Some(11 * runs));
    let told = if runs == 1 { "the run finished".to_owned() } else { format!("the {runs} runs finished") };
    assert!(said.contains(&told), "{told}: {said}");
}

#[test]
fn a_disk_without_any_room_is_refused_before_the_first_run() {
    let _machine = host::machine();
    let (directory, set) = small_set();
    if !can_mount(directory.path()) {
        return;
    }
    let set = set.to_str().expect("UTF-8");
    // So many runs that not even the list of them fits.
    let call = ["run", set, "--scheduler", "p-rm", "--duration", "50ms", "--repeat", "100", "--out", "out"];
    let Some(ended) = real_run(|| {
        let _ = fs::remove_dir_all(directory.path().join("kept"));
        on_a_small_disk(directory.path(), "4k", &call)
    }) else {
        return;
    };
    let said = words(&ended);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(
        said.contains("error: cannot") && said.contains("out") && said.contains("disk is full"),
        "{said}"
    );
    assert!(!said.contains("jobs,"), "a run was made all the same: {said}");
    let call = ["generate", "emberson", "-n", "200", "-u", "1", "-o", "set.toml"];
    let _ = fs::remove_dir_all(directory.path().join("kept"));
    let ended = output(&mut on_a_small_disk(directory.path(), "4k", &call));
    let said = words(&ended);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("cannot write set.toml: the disk is full"), "{said}");
    let left = fs::read_dir(directory.path().join("kept")).expect("readable").count();
    assert_eq!(left, 0, "something half-written is left");
}

#[test]
fn a_disk_that_fills_up_ends_a_simulation_that_keeps_its_events() {
    let (directory, set) = small_set();
    if !can_mount(directory.path()) {
        return;
    }
    let set = set.to_str().expect("UTF-8");
    let call = ["simulate", set, "--cpus", "2", "--duration", "2000s", "--events", "--out", "results"];
    let ended = output(&mut on_a_small_disk(directory.path(), "256k", &call));
    let said = words(&ended);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("run-0.parquet") && said.contains("the disk is full"), "{said}");
    let events = fs::read_dir(directory.path().join("kept/results/events")).expect("readable");
    assert_eq!(events.count(), 0, "something half-written is left");
}
