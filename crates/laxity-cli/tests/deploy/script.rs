//! The script starts a plan, reads it back, and puts the host back, however it ends.

use super::{Place, answer, budgets, can_deploy, lock, partitioned, text};
use crate::host::{HostState, kill, machine, wait_until};
use crate::plans::reservation;
use laxity_deploy::Scheduling;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};

#[test]
fn the_script_starts_reads_back_and_puts_back() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let fifo = |which: u32| Scheduling::Fifo { priority: 10 + which };
    for (name, scheduling) in
        [("deploy-test-fifo", &fifo as &dyn Fn(u32) -> Scheduling), ("deploy-test-edf", &budgets)]
    {
        let Some(plan) = partitioned(name, scheduling) else { return };
        let place = Place::of(plan);
        let before = HostState::now();
        let started = place.call(&["start"]);
        assert!(started.status.success(), "{}", text(&started));
        let during = HostState::now();
        assert!(during != before, "cells are there");
        let read = place.deployed(&["--json"]);
        assert!(read.status.success(), "{}", text(&read));
        let answer = answer(&read);
        let threads = answer["threads"].as_array().expect("a list");
        assert_eq!(threads.len(), place.plan.threads.len());
        assert!(threads.iter().all(|thread| thread["found"][0]["by"] == "script"), "{answer}");
        // A second start says so and changes nothing.
        let again = place.call(&["start"]);
        assert_eq!(again.status.code(), Some(1), "{}", text(&again));
        assert!(text(&again).contains("already running"), "{}", text(&again));
        assert!(HostState::now() == during && place.deployed(&[]).status.success());
        let status = place.call(&["status"]);
        assert!(status.status.success(), "{}", text(&status));
        assert_eq!(
            text(&status).matches(place.plan.threads[0].scheduling.policy()).count(),
            threads.len(),
            "{}",
            text(&status)
        );
        // What is changed is seen.
        let pid = threads[0]["found"][0]["pid"].to_string();
        assert!(Command::new("chrt").args(["--other", "--pid", "0", &pid]).status().expect("chrt").success());
        let changed = place.deployed(&["--json"]);
        assert_eq!(changed.status.code(), Some(1), "{}", text(&changed));
        assert!(text(&changed).contains("\"SCHED_OTHER\""), "{}", text(&changed));
        let stopped = place.call(&["stop"]);
        assert!(stopped.status.success(), "{}", text(&stopped));
        assert_eq!(HostState::now(), before);
        assert_eq!(place.call(&["stop"]).status.code(), Some(1), "nothing is left to stop");
        let missing = place.deployed(&[]);
        assert_eq!(missing.status.code(), Some(1));
        assert!(
            text(&missing).contains("0 of 4 threads") && text(&missing).contains("missing"),
            "{}",
            text(&missing)
        );
    }
}

/// What the kernel refuses ends a start: the thread and the reason are said, and nothing is left.
#[test]
fn a_start_that_fails_says_which_thread_and_puts_back() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    // The second thread of each CPU asks for more than there is.
    let much =
        |which: u32| Scheduling::Deadline(reservation(u64::from(which) * 90_000 + 9_000, 100_000, 100_000));
    let Some(plan) = partitioned("deploy-test-much", much) else { return };
    let place = Place::of(plan);
    let before = HostState::now();
    let started = place.call(&["start"]);
    assert_eq!(started.status.code(), Some(3), "{}", text(&started));
    let said = text(&started);
    assert!(said.contains("task 2 (task 1 on 0)") && said.contains("Device or resource busy"), "{said}");
    assert_eq!(HostState::now(), before);
    assert!(!Path::new("/run/laxity-deploy/deploy-test-much").exists());
    // A program that is not there, and one that ends at once.
    let Some(plan) = partitioned("deploy-test-gone", budgets) else { return };
    let place = Place::of(plan);
    let mut gone = place.script(&["start"]);
    gone.env("TASK_3_TASK_0_ON_1", "/no such/program");
    let gone = place.ended(gone);
    assert_eq!(gone.status.code(), Some(2), "{}", text(&gone));
    assert!(
        text(&gone).contains("task 3 (task 0 on 1): there is no program /no such/program"),
        "{}",
        text(&gone)
    );
    let mut ends = place.script(&["start"]);
    ends.env("TASK_3_TASK_0_ON_1", "/bin/false");
    let ends = place.ended(ends);
    assert_eq!(ends.status.code(), Some(3), "{}", text(&ends));
    assert!(
        text(&ends).contains("task 3 (task 0 on 1): it ended at once, with exit code 1"),
        "{}",
        text(&ends)
    );
    assert_eq!(HostState::now(), before);
}

#[test]
fn a_start_that_is_ended_puts_back_and_one_that_is_killed_is_put_back_by_the_next() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let Some(plan) = partitioned("deploy-test-ended", budgets) else { return };
    let place = Place::of(plan);
    let before = HostState::now();
    let begin = || -> Child {
        let mut command = place.script(&["start"]);
        let file = || fs::File::create(place.path("out")).expect("a file");
        let child = command.stdout(file()).stderr(file()).spawn().expect("a shell");
        wait_until("a cell is there", || HostState::now() != before);
        child
    };
    for (signal, code) in [(libc::SIGTERM, 143), (libc::SIGINT, 130), (libc::SIGHUP, 129)] {
        let mut child = begin();
        kill(i32::try_from(child.id()).expect("a pid"), signal);
        let status = child.wait().expect("a child");
        let said = fs::read_to_string(place.path("out")).expect("readable");
        // It may have been done before the signal came.
        if status.success() {
            assert!(place.call(&["stop"]).status.success());
        } else {
            assert_eq!(status.code(), Some(code), "{said}");
        }
        assert_eq!(HostState::now(), before, "signal {signal}: {said}");
    }
    let mut child = begin();
    kill(i32::try_from(child.id()).expect("a pid"), libc::SIGKILL);
    let _ = child.wait();
    assert!(HostState::now() != before);
    let stopped = place.call(&["stop"]);
    assert!(stopped.status.success(), "{}", text(&stopped));
    assert_eq!(HostState::now(), before);
}
