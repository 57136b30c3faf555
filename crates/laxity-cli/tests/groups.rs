//! Groups of tasks that share memory, in real runs (lindsay2012, 3.1.6 and 6.1.1).

mod host;
mod patience;

use host::{HostState, Running, can_run, guardians, kill, laxity, machine, words, workers};
use patience::at_rest;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What the group shares, and what every member has besides, in KiB.
const SHARED_KIB: u64 = 64 << 10;
const OWN_KIB: u64 = 1 << 10;
const MEMBERS: u64 = 4;

/// Four members of a group, which worst-fit spreads over both CPUs.
fn spread_group() -> String {
    let size = SHARED_KIB + OWN_KIB;
    let member = |name: u64| {
        format!(
            "[[tasks]]\nname = \"m{name}\"\nwcet = \"4ms\"\nperiod = \"20ms\"\ngroup = \"g\"\nshared = \"{SHARED_KIB}KiB\"\n\
             working_set = {{ size = \"{size}KiB\" }}\n"
        )
    };
    format!("version = 1\nname = \"spread\"\n{}", (0..MEMBERS).map(member).collect::<String>())
}

/// Kibibytes that a process has of its own, and its part of what it has with others.
fn proportional_kib(pid: i32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?.split_whitespace().next()?.parse().ok()
}

/// A run of the group on two CPUs.
fn spread_run(directory: &Path, scheduler: &str, duration: &str) -> Command {
    let set = directory.join("spread.toml");
    fs::write(&set, spread_group()).expect("write");
    let mut command = laxity();
    command.args(["run", "--scheduler", scheduler, "--placement", "wfd", "--cpus", "2"]);
    command.args(["--duration", duration, "--demand-model", "work", "--record", "off", "-q", "--force"]);
    command.arg("--out").arg(directory.join("out")).arg(set);
    command
}

/// Whether there are real runs on two CPUs.
fn on_two_cores(scheduler: &str) -> bool {
    if std::thread::available_parallelism().map_or(1, std::num::NonZero::get) < 2 {
        eprintln!("SKIPPED: one CPU");
        return false;
    }
    can_run(&[scheduler])
}

/// The CPUs that each task's thread of a process may use, in order.
fn cpus_of_threads(pid: i32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("a process").flatten();
    let cpus = |thread: fs::DirEntry| {
        let status = fs::read_to_string(thread.path().join("status")).ok()?;
        let value = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim().to_owned())
        };
        value("Name:").filter(|name| name == "laxity-task").and(value("Cpus_allowed_list:"))
    };
    let mut found: Vec<String> = threads.filter_map(cpus).collect();
    found.sort_unstable();
    found
}

/// Its members are threads of one process (lindsay2012, 3.1.6), each on its own CPU, and its memory is there once.
#[test]
fn a_group_that_is_spread_over_cores_is_one_process() {
    for scheduler in ["p-edf", "p-rm"] {
        if !on_two_cores(scheduler) {
            return;
        }
        let _machine = machine();
        let before = at_rest(HostState::now);
        let directory = tempfile::tempdir().expect("directory");
        let mut command = spread_run(directory.path(), scheduler, "1500ms");
        let running = Running::start(&mut command, usize::try_from(MEMBERS).expect("few"));
        let processes = workers();
        let seen: Vec<Vec<String>> = processes.iter().map(|&pid| cpus_of_threads(pid)).collect();
        let program = i32::try_from(running.0.id()).expect("a process id");
        let all = [vec![program], guardians(), processes].concat();
        let kept_kib: u64 = all.into_iter().filter_map(proportional_kib).sum();
        let ended = running.end();
        assert!(ended.status.success(), "{}", words(&ended));
        // One region and every member's own memory, and some of laxity's; a second region would be more than that.
        let walked_kib = SHARED_KIB + MEMBERS * OWN_KIB;
        assert!(kept_kib >= walked_kib, "{kept_kib} KiB of at least {walked_kib} KiB: nothing was seen");
        assert!(kept_kib < walked_kib + SHARED_KIB, "{kept_kib} KiB: the region is there more than once");
        let results = laxity_trace::load(directory.path().join("out")).expect("results");
        let run = &results.runs[0];
        let calibration = &results.options["calibration"];
        assert!(calibration.contains("68157440 bytes, 67108864 of them shared,"), "{calibration}");
        let bins = &run.placement.as_ref().expect("a placement").bins;
        assert_eq!(bins.iter().map(|bin| bin.tasks.len()).collect::<Vec<_>>(), [2, 2]);
        let placed: Vec<String> =
            bins.iter().flat_map(|bin| [bin.cpus.to_string(), bin.cpus.to_string()]).collect();
        assert_eq!(seen, [placed], "{scheduler}: the threads of each process, by their CPUs");
        for task in 0..4 {
            let own = bins.iter().find(|bin| bin.tasks.contains(&format!("m{task}"))).expect("placed");
            let mut jobs =
                run.jobs.iter().filter(|job| job.task == task && job.finish_ns.is_some()).peekable();
            assert!(jobs.peek().is_some(), "every member did its jobs");
            let inside = |cpu: Option<u32>| cpu.is_some_and(|cpu| own.cpus.contains(cpu));
            assert!(jobs.all(|job| inside(job.first_cpu)
                && inside(job.last_cpu)
                && job.migrations.unwrap_or(0) == 0));
        }
        assert_eq!(at_rest(HostState::now), before);
    }
}

/// The threads are in two cpusets, their process in one of them.
#[test]
fn cores_of_a_group_are_given_back_when_the_guardian_or_its_process_is_killed() {
    if !on_two_cores("p-edf") {
        return;
    }
    let _machine = machine();
    let before = at_rest(HostState::now);
    for processes in [workers, guardians] {
        let directory = tempfile::tempdir().expect("directory");
        let mut command = spread_run(directory.path(), "p-edf", "60s");
        let running = Running::start(&mut command, usize::try_from(MEMBERS).expect("few"));
        assert_ne!(HostState::now(), before, "there are cpusets to be removed");
        kill(processes()[0], libc::SIGKILL);
        let ended = running.end();
        let manifest = fs::read_to_string(directory.path().join("out/manifest.json")).expect("a manifest");
        assert!(
            manifest.contains("was killed") || manifest.contains("the guardian died"),
            "{}",
            words(&ended)
        );
        assert_eq!(at_rest(HostState::now), before);
    }
}
