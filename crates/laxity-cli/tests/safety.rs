//! Whatever ends a run, no real-time task is left and the host is as it was. Needs root; says so if skipped.

mod host;

use host::{
    HostState, Running, can_run, guardians, kill, laxity, laxity_processes, machine, output,
    real_time_threads, small_set, wait_until, words, workers,
};
use std::path::Path;
use std::process::{Command, Output};

/// A run of a minute under partitioned EDF, which changes cpusets and uses SCHED_DEADLINE.
fn long_run(set: &Path, out: &Path) -> Command {
    let mut command = laxity();
    command.args(["run", "--scheduler", "p-edf", "--duration", "60s", "--out"]).arg(out).arg(set);
    command
}

fn manifest(out: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(out.join("manifest.json")).expect("a manifest")).expect("JSON")
}

/// Starts a run, ends it somehow, and checks the host. Returns what the program said and its manifest.
fn ended_by(end: impl FnOnce(&Running)) -> Option<(std::process::Output, serde_json::Value)> {
    let _machine = machine();
    if !can_run(&["p-edf"]) {
        return None;
    }
    let before = HostState::now();
    let (directory, set) = small_set();
    let out = directory.path().join("out");
    let running = Running::start(&mut long_run(&set, &out), 4);
    assert_ne!(HostState::now(), before, "a run changes the host while it lasts");
    end(&running);
    let ended = running.end();
    wait_until("all processes are gone", || laxity_processes(|_| true).is_empty());
    assert_eq!(HostState::now(), before);
    Some((ended, manifest(&out)))
}

fn program(running: &Running) -> i32 {
    i32::try_from(running.0.id()).expect("a process id")
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let Some((ended, manifest)) = ended_by(|running| kill(program(running), libc::SIGINT)) else { return };
    assert_eq!(ended.status.code(), Some(130), "{}", words(&ended));
    assert_eq!(manifest["runs"][0]["status"]["state"], "interrupted");
}

#[test]
fn sigterm_keeps_what_was_measured() {
    let Some((ended, manifest)) = ended_by(|running| kill(program(running), libc::SIGTERM)) else { return };
    assert_eq!(ended.status.code(), Some(130), "{}", words(&ended));
    assert_eq!(manifest["runs"][0]["status"]["state"], "interrupted");
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    ended_by(|running| {
        // Stop the guardian, so that the first request cannot be answered.
        let guardian = guardians()[0];
        kill(guardian, libc::SIGSTOP);
        kill(program(running), libc::SIGINT);
        std::thread::sleep(std::time::Duration::from_millis(300));
        kill(program(running), libc::SIGINT);
        wait_until("the program is gone", || laxity_processes(|line| line.contains(" run ")).is_empty());
        kill(guardian, libc::SIGCONT);
    });
}

#[test]
fn sigkill_of_the_program_leaves_nothing_behind() {
    ended_by(|running| kill(program(running), libc::SIGKILL));
}

#[test]
fn sigkill_of_the_guardian_ends_the_run_and_restores() {
    let Some((ended, manifest)) = ended_by(|_| kill(guardians()[0], libc::SIGKILL)) else { return };
    assert_eq!(manifest["runs"][0]["status"]["state"], "interrupted", "{}", words(&ended));
    let reason = manifest["runs"][0]["status"]["reason"].as_str().expect("a reason");
    assert!(reason.contains("guardian died"), "{reason}");
}

#[test]
fn sigkill_of_a_worker_ends_the_run() {
    let Some((_, manifest)) = ended_by(|_| kill(workers()[0], libc::SIGKILL)) else { return };
    let reason = manifest["runs"][0]["status"]["reason"].as_str().expect("a reason");
    assert!(reason.contains("a worker process was killed by signal 9"), "{reason}");
}

#[test]
fn sigterm_of_the_guardian_ends_the_run() {
    let Some((_, manifest)) = ended_by(|_| kill(guardians()[0], libc::SIGTERM)) else { return };
    assert_eq!(manifest["runs"][0]["status"]["reason"], "the guardian was asked to terminate");
}

/// A run whose program brings itself down once the tasks run; how it ended, if it could be made.
fn faulty(fault: &str) -> Option<Output> {
    let _machine = machine();
    if !can_run(&["p-edf"]) {
        return None;
    }
    let before = HostState::now();
    let (directory, set) = small_set();
    let out = directory.path().join("out");
    let ended = output(long_run(&set, &out).env("LAXITY_FAULT", fault));
    assert!(!ended.status.success(), "{}", words(&ended));
    wait_until("all processes are gone", || laxity_processes(|_| true).is_empty());
    assert_eq!(HostState::now(), before);
    Some(ended)
}

#[test]
fn a_panic_leaves_nothing_behind() {
    faulty("panic@released");
}

#[test]
fn an_abort_leaves_nothing_behind() {
    faulty("abort@released");
}

#[test]
fn memory_that_cannot_be_had_leaves_nothing_behind() {
    let Some(ended) = faulty("memory@released") else { return };
    assert_eq!(ended.status.code(), Some(3), "{}", words(&ended));
    assert!(words(&ended).contains("error: out of memory"), "{}", words(&ended));
}

#[test]
fn what_a_massacre_leaves_is_put_back_by_the_next_run() {
    let _machine = machine();
    if !can_run(&["p-edf"]) {
        return;
    }
    let before = HostState::now();
    let (directory, set) = small_set();
    let running = Running::start(&mut long_run(&set, &directory.path().join("out")), 4);
    // The guardian first stopped, then both killed: neither can clean up after the other.
    kill(guardians()[0], libc::SIGSTOP);
    kill(program(&running), libc::SIGKILL);
    kill(guardians()[0], libc::SIGKILL);
    running.end();
    wait_until("no real-time thread is left", || real_time_threads().is_empty());
    wait_until("all processes are gone", || laxity_processes(|_| true).is_empty());
    assert_ne!(HostState::now(), before, "cpusets are left behind");
    let mut next = laxity();
    next.args(["run", "--scheduler", "g-rm", "--duration", "100ms", "--out"])
        .arg(directory.path().join("next"));
    let ended = output(next.arg(&set));
    assert!(ended.status.success(), "{}", words(&ended));
    assert!(words(&ended).contains("an earlier run was killed; restored"), "{}", words(&ended));
    assert_eq!(HostState::now(), before);
}

#[test]
fn tasks_that_never_end_a_job_are_ended_on_time() {
    let _machine = machine();
    if !can_run(&["p-rm"]) {
        return;
    }
    let before = HostState::now();
    let (directory, _) = small_set();
    let set = directory.path().join("runaway.toml");
    let hog = |name: &str| format!("[[tasks]]\nname = \"{name}\"\nwcet = \"10s\"\nperiod = \"10s\"\n");
    let text = format!("version = 1\nname = \"runaway\"\n{}{}{}", hog("a"), hog("b"), hog("c"));
    std::fs::write(&set, text).expect("write");
    let out = directory.path().join("out");
    let mut command = laxity();
    // Ten times their WCET of 10 s: no job could end within minutes.
    command.args(["run", "--scheduler", "g-rm", "--duration", "500ms", "--grace", "200ms", "--demand", "10"]);
    let ended = output(command.args(["--overload", "least-loaded", "--out"]).arg(&out).arg(&set));
    assert!(ended.status.success(), "{}", words(&ended));
    let manifest = manifest(&out);
    assert_eq!(manifest["runs"][0]["status"]["state"], "completed");
    assert_eq!(HostState::now(), before);
}
