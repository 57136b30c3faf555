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

/// How many CPUs this process may use, and the last of them.
fn cpus() -> (usize, String) {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let last = allowed.expect("Linux has it").trim().rsplit(['-', ',']).next().expect("one at least");
    (std::thread::available_parallelism().map_or(1, std::num::NonZero::get), last.to_owned())
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

/// A run of a minute on the last CPU, on a machine that is made quiet for it.
fn quiet_run(set: &Path, out: &Path) -> Command {
    let (_, last) = cpus();
    let mut command = laxity();
    command.args(["run", "--quiet-machine", "--verbose", "--scheduler", "p-rm", "--duration", "60s"]);
    command.arg("--cpus").arg(format!("{last}-{last}")).arg("--out").arg(out).arg(set);
    command
}

/// Starts such a run once it is seen that the machine is quiet; nothing where none can be made.
fn started_quietly(set: &Path, out: &Path, before: &HostState) -> Option<Running> {
    if !can_run(&["p-rm"]) {
        return None;
    }
    let running = Running::start(&mut quiet_run(set, out), 4);
    let meanwhile = HostState::now();
    assert_eq!(meanwhile.latency, before.latency.as_ref().map(|_| vec![0; 4]), "no latency is allowed");
    assert!(meanwhile.governors.iter().all(|(_, governor)| governor == "performance"), "{meanwhile:?}");
    match before.interrupts.is_empty() || cpus().0 == 1 {
        true => eprintln!("SKIPPED: interrupts: there are none here, or no CPU to move them to"),
        false => assert_ne!(meanwhile.interrupts, before.interrupts, "interrupts go elsewhere"),
    }
    Some(running)
}

/// Ends such a run somehow, and checks the host. Returns what the program said and its manifest.
fn quiet_run_ended_by(end: impl FnOnce(&Running)) -> Option<(Output, serde_json::Value)> {
    let _machine = machine();
    let before = HostState::now();
    let (directory, set) = small_set();
    let out = directory.path().join("out");
    let running = started_quietly(&set, &out, &before)?;
    end(&running);
    let ended = running.end();
    wait_until("all processes are gone", || laxity_processes(|_| true).is_empty());
    assert_eq!(HostState::now(), before);
    Some((ended, manifest(&out)))
}

#[test]
fn a_quiet_machine_is_put_back_and_what_was_set_is_kept() {
    let Some((ended, manifest)) = quiet_run_ended_by(|running| kill(program(running), libc::SIGINT)) else {
        return;
    };
    let of = |name: &str| -> Vec<String> {
        let said = manifest["runs"][0]["quiet"][name].as_array().expect("a list");
        said.iter().map(|said| said.as_str().expect("words").to_owned()).collect()
    };
    let (set, not_set) = (of("set"), of("not_set"));
    for about in ["governor", "/dev/cpu_dma_latency", "interrupt"] {
        let said = set.iter().chain(&not_set).filter(|said| said.contains(about));
        assert!(said.count() > 0, "{about}: {set:?} {not_set:?}");
    }
    // --verbose says the same.
    for said in set.iter().map(|said| format!("quiet machine: {said}")) {
        assert!(words(&ended).contains(&said), "{said}: {}", words(&ended));
    }
    for said in not_set.iter().map(|said| format!("quiet machine, not set: {said}")) {
        assert!(words(&ended).contains(&said), "{said}: {}", words(&ended));
    }
    // As the machine was before the run.
    let tuning = &manifest["machine"]["tuning"];
    assert_ne!(tuning["cpu_dma_latency_us"], 0, "{tuning}");
}

#[test]
fn sigkill_of_the_program_leaves_no_quiet_machine_behind() {
    quiet_run_ended_by(|running| kill(program(running), libc::SIGKILL));
}

#[test]
fn sigkill_of_the_guardian_leaves_no_quiet_machine_behind() {
    let Some((ended, manifest)) = quiet_run_ended_by(|_| kill(guardians()[0], libc::SIGKILL)) else { return };
    assert_eq!(manifest["runs"][0]["status"]["state"], "interrupted", "{}", words(&ended));
}

#[test]
fn a_quiet_machine_that_a_massacre_leaves_is_put_back_by_the_next_run() {
    let _machine = machine();
    let before = HostState::now();
    let (directory, set) = small_set();
    let Some(running) = started_quietly(&set, &directory.path().join("out"), &before) else { return };
    massacre(running);
    wait_until("all processes are gone", || laxity_processes(|_| true).is_empty());
    assert_eq!(HostState::now().latency, before.latency, "the kernel has forgotten it with the process");
    the_next_run_restores(directory.path(), &set, &before);
}

/// The guardian first stopped, then both killed: neither can clean up after the other.
fn massacre(running: Running) {
    kill(guardians()[0], libc::SIGSTOP);
    kill(program(&running), libc::SIGKILL);
    kill(guardians()[0], libc::SIGKILL);
    running.end();
}

/// Another run puts back what a killed one has left, and says so.
fn the_next_run_restores(directory: &Path, set: &Path, before: &HostState) {
    let mut next = laxity();
    next.args(["run", "--scheduler", "g-rm", "--duration", "100ms", "--out"]).arg(directory.join("next"));
    let ended = output(next.arg(set));
    assert!(ended.status.success(), "{}", words(&ended));
    assert!(words(&ended).contains("an earlier run was killed; restored"), "{}", words(&ended));
    assert_eq!(&HostState::now(), before);
}

/// Its memory stays, and it runs where no task does.
#[test]
fn the_guardian_keeps_out_of_the_way() {
    let _machine = machine();
    let before = HostState::now();
    let (directory, set) = small_set();
    let Some(running) = started_quietly(&set, &directory.path().join("out"), &before) else { return };
    let status = std::fs::read_to_string(format!("/proc/{}/status", guardians()[0])).expect("it is there");
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name}: {status}")).trim().to_owned()
    };
    assert_ne!(of("VmLck:"), "0 kB");
    let (count, last) = cpus();
    if count > 1 {
        let allowed = of("Cpus_allowed_list:");
        assert!(!allowed.split(['-', ',']).any(|cpu| cpu == last), "{allowed}");
    } else {
        eprintln!("SKIPPED: there is no CPU without tasks");
    }
    kill(program(&running), libc::SIGINT);
    running.end();
    wait_until("all processes are gone", || laxity_processes(|_| true).is_empty());
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
    massacre(running);
    wait_until("no real-time thread is left", || real_time_threads().is_empty());
    wait_until("all processes are gone", || laxity_processes(|_| true).is_empty());
    assert_ne!(HostState::now(), before, "cpusets are left behind");
    the_next_run_restores(directory.path(), &set, &before);
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
