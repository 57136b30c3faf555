//! Groups of tasks that share memory, in real runs (lindsay2012, 3.1.6 and 6.1.1).

mod host;
mod patience;

use host::{HostState, Running, can_run, guardians, laxity, machine, words, workers};
use patience::at_rest;
use std::fs;

/// What the group shares, and what every member has besides, in KiB.
const SHARED_KIB: u64 = 64 << 10;
const OWN_KIB: u64 = 1 << 10;
const MEMBERS: u64 = 4;

/// Four members of a group, whom worst-fit spreads over both cores.
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

#[test]
fn a_group_that_is_spread_over_cells_has_its_memory_once() {
    if !can_run(&["p-edf"]) {
        return;
    }
    let _machine = machine();
    if std::thread::available_parallelism().map_or(1, std::num::NonZero::get) < 2 {
        eprintln!("SKIPPED: one core");
        return;
    }
    let before = at_rest(HostState::now);
    let directory = tempfile::tempdir().expect("directory");
    let (set, out) = (directory.path().join("spread.toml"), directory.path().join("out"));
    fs::write(&set, spread_group()).expect("write");
    let mut command = laxity();
    command.args([
        "run",
        "--scheduler",
        "p-edf",
        "--placement",
        "wfd",
        "--cpus",
        "2",
        "--duration",
        "1500ms",
    ]);
    command.args(["--demand-model", "work", "--record", "off", "-q", "--force", "--out"]).arg(&out).arg(&set);
    let running = Running::start(&mut command, usize::try_from(MEMBERS).expect("few"));
    let cells = workers();
    let program = i32::try_from(running.0.id()).expect("a process id");
    let all = [vec![program], guardians(), cells.clone()].concat();
    let kept_kib: u64 = all.into_iter().filter_map(proportional_kib).sum();
    let ended = running.end();
    assert!(ended.status.success(), "{}", words(&ended));
    assert_eq!(cells.len(), 2, "one process per cell");
    // One region and every member's own memory, and some of laxity's; a second region would be more than that.
    let walked_kib = SHARED_KIB + MEMBERS * OWN_KIB;
    assert!(kept_kib >= walked_kib, "{kept_kib} KiB of at least {walked_kib} KiB: nothing was seen");
    assert!(kept_kib < walked_kib + SHARED_KIB, "{kept_kib} KiB: the region is there more than once");
    let results = laxity_trace::load(&out).expect("results");
    let run = &results.runs[0];
    let calibration = &results.options["calibration"];
    assert!(calibration.contains("68157440 bytes, 67108864 of them shared,"), "{calibration}");
    let bins = &run.placement.as_ref().expect("a placement").bins;
    assert_eq!(bins.iter().map(|bin| bin.tasks.len()).collect::<Vec<_>>(), [2, 2]);
    let ended = |task: u32| run.jobs.iter().filter(|job| job.task == task && job.finish_ns.is_some()).count();
    assert!((0..4).all(|task| ended(task) > 0), "every member did its jobs");
    assert_eq!(at_rest(HostState::now), before);
}
