//! The schedulers that everybody has: SCHED_RR, SCHED_OTHER, SCHED_DEADLINE with reclaiming. They run as what they say, nothing is
//! proven or simulated of them, and budgets that are used up are counted.

mod host;
mod patience;

use host::{Running, is_root, laxity, machine, output, small_set, words};
use laxity_trace::{Host, OverrunRecord, ProofVerdict, Results, RunStatus};
use patience::real_run;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The results of a command on the small set; nothing where there are no real runs.
fn results(arguments: &[&str]) -> Option<Results> {
    let _machine = machine();
    let (directory, set) = small_set();
    let out = directory.path().join("out");
    let ended = real_run(|| {
        let mut command = laxity();
        command.args(arguments).args(["-q", "--force", "--out"]).arg(&out).arg(&set);
        command
    })?;
    assert!(ended.status.success(), "{}", words(&ended));
    Some(laxity_trace::load(&out).expect("results"))
}

#[test]
fn they_are_measured_and_proven_and_simulated_where_that_is_possible() {
    let names = "p-rr,g-rr,other,other:nice=5,p-edf:grub,g-edf:grub,p-edf";
    let arguments =
        ["compare", "--schedulers", names, "--duration", "200ms", "--repeat", "1", "--alone", "0s"];
    let Some(results) = results(&arguments) else { return };
    let real: Vec<_> = results.runs.iter().filter(|run| run.host == Host::Linux).collect();
    assert_eq!(real.iter().map(|run| run.scheduler.as_str()).collect::<Vec<_>>().join(","), names);
    for run in &real {
        assert_eq!(run.status, RunStatus::Completed, "{}: {:?}", run.scheduler, run.status);
        assert!(!run.jobs.is_empty(), "{}", run.scheduler);
        let modelled = run.scheduler == "p-edf";
        assert_eq!(run.not_measured.contains_key("simulation"), !modelled, "{}", run.scheduler);
        let undefined = run.scheduler.starts_with("other");
        // Where nothing can be recorded, that is said instead.
        if !run.not_measured.contains_key("schedule") {
            assert_eq!(run.schedule.is_some(), !undefined, "{}: {:?}", run.scheduler, run.not_measured);
            assert_eq!(run.not_measured.contains_key("verification"), undefined, "{}", run.scheduler);
        }
        assert_eq!(run.overruns.is_some(), run.scheduler.contains("edf"), "{}", run.scheduler);
        let turns =
            run.notes.iter().any(|note| note.contains("turns of") && note.contains("sched_rr_timeslice_ms"));
        assert_eq!(turns, run.scheduler.contains("rr"), "{:?}", run.notes);
    }
    let simulated: Vec<&str> = results
        .runs
        .iter()
        .filter(|run| run.host == Host::Simulator)
        .map(|run| run.scheduler.as_str())
        .collect();
    assert_eq!(simulated, ["p-edf"]);
    for record in &results.analysis {
        let proven = record.scheduler.contains("edf");
        for proof in [&record.hard, &record.soft] {
            assert_eq!(proof.verdict == ProofVerdict::Schedulable, proven, "{record:?}");
            let said = proof.reason.as_ref().is_some_and(|why| why.starts_with("nothing is proven of"));
            assert_eq!(said, !proven, "{record:?}");
        }
    }
    assert_eq!(results.analysis.len(), 7);
}

/// The policy, the nice value and the real-time priority of each thread of a task.
fn classes_of_tasks() -> Vec<(u32, i32, u32)> {
    let mut classes = Vec::new();
    for worker in host::workers() {
        for task in fs::read_dir(format!("/proc/{worker}/task")).into_iter().flatten().flatten() {
            let Ok(stat) = fs::read_to_string(task.path().join("stat")) else { continue };
            let Some((name, rest)) = stat.rsplit_once(") ") else { continue };
            // From the state on, which is the third of proc_pid_stat(5).
            let words: Vec<&str> = rest.split(' ').collect();
            if name.ends_with("(laxity-task") {
                let number = |field: usize| words[field - 3].parse::<i64>().expect("a number");
                let small = |field: usize| u32::try_from(number(field)).expect("small");
                classes.push((small(41), i32::try_from(number(19)).expect("small"), small(40)));
            }
        }
    }
    classes
}

/// The nice value of this process, which real-time threads inherit and do not use.
fn own_nice() -> i32 {
    let stat = fs::read_to_string("/proc/self/stat").expect("procfs");
    let after_name = stat.rsplit_once(") ").expect("a name").1;
    after_name.split(' ').nth(19 - 3).expect("a nice value").parse().expect("a number")
}

#[test]
fn threads_have_the_class_that_the_name_says() {
    let _machine = machine();
    if !host::can_run(&["p-edf", "g-rm"]) {
        return;
    }
    let ((directory, set), nice) = (small_set(), own_nice());
    for (name, class) in
        [("g-rr", (2, nice, 98)), ("p-edf:grub", (6, nice, 0)), ("other:nice=-3", (0, -3, 0))]
    {
        let mut command = laxity();
        command.args(["run", "--scheduler", name, "--duration", "3s", "-q", "--force", "--out"]);
        command.arg(directory.path().join("out")).arg(&set);
        // The guardian alone is real-time where tasks are of SCHED_OTHER.
        let running = Running::start(&mut command, if class.0 == 0 { 0 } else { 4 });
        host::wait_until("all threads have their class", || classes_of_tasks() == [class; 4]);
        let ended = running.end();
        assert!(ended.status.success(), "{name}: {}", words(&ended));
    }
}

/// Of one task whose jobs need two and a half budgets of 20 ms: what was counted, and how many jobs met their deadline.
fn overrunning(scheduler: &str) -> Option<(OverrunRecord, usize)> {
    let _machine = machine();
    let directory = tempfile::tempdir().expect("directory");
    let (set, out) = (directory.path().join("long.toml"), directory.path().join("out"));
    let text =
        "version = 1\nname = \"long\"\n[[tasks]]\nname = \"long\"\nwcet = \"20ms\"\nperiod = \"100ms\"\n";
    fs::write(&set, text).expect("write");
    let ended = real_run(|| {
        let mut command = laxity();
        command.args(["run", "--scheduler", scheduler, "--demand", "2.5", "--budget-margin", "0%"]);
        command.args(["--duration", "1s", "--cpus", "1", "-q", "--force", "--out"]).arg(&out).arg(&set);
        command
    })?;
    assert!(ended.status.success(), "{}", words(&ended));
    let results = laxity_trace::load(&out).expect("results");
    let run = &results.runs[0];
    let overruns = run.overruns.as_deref().expect("SCHED_DEADLINE");
    let met = run.jobs.iter().filter(|job| job.finish_ns.is_some_and(|end| end <= job.deadline_ns)).count();
    let named = run.notes.iter().any(|note| note.contains("budgets used up: `long`"));
    assert_eq!(named, overruns[0].signals > 0 || overruns[0].throttled.unwrap_or(0) > 0, "{:?}", run.notes);
    Some((overruns[0], met))
}

/// Every budget is longer than a tick, so that the kernel tells of each that is used up.
#[test]
fn the_kernel_tells_of_every_budget_that_is_used_up() {
    let Some((counted, met)) = overrunning("p-edf") else { return };
    assert!(counted.signals >= 5, "{counted:?}");
    // By its budgets no job is done within a period.
    assert_eq!(met, 0, "{counted:?}");
    if let Some(throttled) = counted.throttled {
        // The last may not be told any more; and records may be missing (`thread_replay.rs` of laxity-kernel).
        assert!(counted.signals.abs_diff(throttled) <= 2, "{counted:?}");
    }
    let (reclaimed, met) = overrunning("p-edf:grub").expect("as before");
    // Alone on its CPU it has nearly all of it.
    assert!(met > 0 && reclaimed.signals < counted.signals, "{reclaimed:?} {counted:?}");
}

fn json(arguments: &[&str], set: &Path) -> (i32, Value) {
    let ended = output(laxity().args(arguments).arg(set).arg("--json"));
    let value = serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{}", words(&ended)));
    (ended.status.code().expect("it ends"), value)
}

#[test]
fn analyses_say_that_nothing_is_proven() {
    let (_directory, set) = small_set();
    let names = "g-rr,c-rr,p-rr,other,other:slice=wcet,scx:scx_simple";
    let (code, answer) = json(&["analyze", "--cpus", "2", "--schedulers", names], &set);
    assert_eq!(code, 1);
    let text = answer.to_string();
    assert!(!text.contains("\"schedulable\""), "{text}");
    assert_eq!(text.matches("\"not-applicable\"").count() / 2, names.split(',').count(), "{text}");
    assert!(text.contains("nothing is proven of the turns of SCHED_RR"), "{text}");
}

#[test]
fn reclaiming_is_proven_where_edf_meets_deadlines() {
    let (_directory, set) = small_set();
    let (code, answer) =
        json(&["analyze", "--cpus", "2", "--schedulers", "p-edf:grub,g-edf:grub,p-edf"], &set);
    assert_eq!(code, 0, "{answer}");
    let all = answer["schedulers"].as_array().expect("three");
    for one in all {
        assert_eq!(one["hard"]["verdict"], "schedulable", "{one}");
    }
    let assumed =
        |at: usize| all[at]["assumptions"].to_string().contains("no job needs more than its budget");
    assert_eq!([0, 1, 2].map(assumed), [true, true, false], "{answer}");
}

#[test]
fn what_has_no_model_is_not_simulated_as_something_else() {
    let (_directory, set) = small_set();
    for (name, why) in [
        ("p-rr", "no model of the turns of SCHED_RR"),
        ("other", "no model of SCHED_OTHER"),
        ("g-edf:grub", "no model of reclaimed budgets"),
        ("scx:scx_simple", "no model of what a program loads"),
    ] {
        let ended = output(laxity().args(["simulate", "--scheduler", name]).arg(&set));
        assert_eq!(ended.status.code(), Some(2), "{}", words(&ended));
        assert!(words(&ended).contains(why), "{}", words(&ended));
    }
}

#[test]
fn a_foreign_scheduler_is_refused_with_the_reason() {
    let (_directory, set) = small_set();
    let ended =
        output(laxity().args(["run", "--scheduler", "scx:no-such-program", "--duration", "1s"]).arg(&set));
    assert_eq!(ended.status.code(), Some(3), "{}", words(&ended));
    // Which of them lacks depends on the machine.
    let reasons = ["sched_ext", "no program of this name", "not permitted", "holds this machine"];
    assert!(reasons.iter().any(|reason| words(&ended).contains(reason)), "{} {}", is_root(), words(&ended));
}
