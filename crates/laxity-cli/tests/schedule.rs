//! Runs record the schedule of the kernel and have it verified, and a schedule that is wrong is seen: in a virtual machine that
//! counts instructions instead of time. Says SKIPPED where there is no machine.

use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

const SET: &str = r#"
version = 1
name = "four"
[[tasks]]
name = "a"
wcet = "4ms"
period = "20ms"
[[tasks]]
name = "b"
wcet = "9ms"
period = "30ms"
[[tasks]]
name = "c"
wcet = "12ms"
period = "50ms"
[[tasks]]
name = "d"
wcet = "20ms"
period = "100ms"
"#;

/// The machine's part: `NAME FAULT SCHEDULERS` by `NAME`, each its JSON in one line, and what `laxity verify` says of it.
const GUEST: &str = r#"
laxity=$1
run() {
    LAXITY_FAULT=$2 $laxity run set.toml --quiet --json --duration 500ms --scheduler $3 --out /tmp/$1 >/tmp/$1.json 2>/tmp/$1.words ||
        cat /tmp/$1.words
    echo "JSON $1 $(tr -d '\n' </tmp/$1.json)"
    $laxity verify /tmp/$1 --json >/tmp/$1.verdict
    echo "VERIFIED $1 $?"
    echo "JSON $1-again $(tr -d '\n' </tmp/$1.verdict)"
    echo "EVENTS $1 $($laxity report /tmp/$1 --run 0 --text | wc -l)"
}
run right none g-edf,p-rm,edf-bh
run inverted inverted@priorities p-rm
run forgetful forget@kicks edf-bh
run beyond none "edf-bh --demand 3 --budget throttle"
run late late@budgets "edf-bh --demand 3 --budget throttle"
run unrecorded none "p-rm --record off"
echo DONE
"#;

fn line<'a>(output: &'a str, begin: &str) -> &'a str {
    let found = output.lines().find_map(|line| line.strip_prefix(begin));
    found.unwrap_or_else(|| panic!("no line `{begin}`: {output}")).trim()
}

fn json(output: &str, name: &str) -> Value {
    serde_json::from_str(line(output, &format!("JSON {name} "))).expect("JSON")
}

/// Violations of a rule in a record of the results: how many, and the longest in ns.
fn violated(schedule: &Value, rule: &str) -> (u64, u64) {
    let rules = schedule["verification"]["violated"].as_array().expect("a list");
    let of = rules.iter().find(|one| one["rule"] == rule);
    let number = |name: &str| of.and_then(|one| one[name].as_u64()).unwrap_or(0);
    (number("count"), number("longest_ns"))
}

/// All violations of a record of the results.
fn violations(schedule: &Value) -> u64 {
    let rules = schedule["verification"]["violated"].as_array().expect("a list");
    rules.iter().map(|one| one["count"].as_u64().expect("a number")).sum()
}

/// What the machine says; nothing where there is none.
fn output_of_the_machine() -> Option<String> {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("set.toml"), SET).expect("written");
    fs::write(directory.path().join("schedule.guest"), GUEST).expect("written");
    let one_machine = File::create(std::env::temp_dir().join("laxity-vm-tests.lock")).expect("a lock file");
    one_machine.lock().expect("a lock");
    let laxity = env!("CARGO_BIN_EXE_laxity");
    let mut call = Command::new(laxity);
    if std::env::var_os("LAXITY_VM_CACHE").is_none() {
        call.env("LAXITY_VM_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("laxity-vm"));
    }
    call.args(["vm", "--deterministic", "--cpus", "2", "--timeout", "5m", "--boot-timeout", "2m"])
        .args(["--with", laxity, "--with", "set.toml", "--exec", "--", "sh", "schedule.guest", laxity])
        .current_dir(directory.path())
        .stdin(Stdio::null());
    let ended = call.output().expect("laxity starts");
    let (output, words) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    // No QEMU, no kernel, or a host that is too slow for it.
    if ended.status.code() == Some(3) {
        eprintln!("SKIPPED: no virtual machine: {}", words.lines().last().unwrap_or_default());
        return None;
    }
    assert!(output.contains("DONE"), "{output}\n{words}");
    Some(output.into_owned())
}

#[test]
fn runs_are_verified_and_wrong_schedules_are_seen() {
    let Some(output) = output_of_the_machine() else { return };
    let right = json(&output, "right");
    let schedules = right["schedules"].as_array().expect("a list");
    assert_eq!(schedules.len(), 3, "{}", right["runs"]);
    for one in schedules {
        let schedule = &one["schedule"];
        let number = |name: &str| schedule[name].as_u64().expect("a number");
        assert!(schedule["verification"]["instants"].as_u64() > Some(50), "{one}");
        assert!(number("decisions") > 50 && number("records") > 200, "{one}");
        assert_eq!(number("lost"), 0, "{one}");
        // Nothing is lost, so all is there until the last release, at 480 ms. Behind the last job there need not be a record.
        assert!(number("end_ns") >= 480_000_000, "{one}");
    }
    again(&output, "right", schedules);
    let of = |name: &str| json(&output, name)["schedules"][0]["schedule"].clone();
    // The first of all jobs runs last: whole jobs, not microseconds. Each task has one core, so no other core
    // can be to blame.
    let (partitioned, inverted) = (schedules[1]["schedule"].clone(), of("inverted"));
    assert!(violated(&inverted, "global invariant").1 > 2_000_000, "{inverted}");
    assert!(violated(&partitioned, "global invariant").1 < 1_000_000, "{partitioned}");
    let forgetful = of("forgetful");
    assert!(violations(&forgetful) > violations(&schedules[2]["schedule"]) + 3, "{forgetful}");
    assert_eq!([line(&output, "VERIFIED inverted"), line(&output, "VERIFIED forgetful")], ["1", "1"]);
    // Every budget ends late, by as much as its own timer, interrupt and decision were; a timer that was set too late is no reason.
    let (beyond, late) = (of("beyond"), of("late"));
    assert_eq!(violated(&beyond, "budgets"), (0, 0), "{beyond}");
    assert!(beyond["verification"]["overruns"]["count"].as_u64() > Some(10), "{beyond}");
    assert!(violated(&late, "budgets").0 > 10, "{late}");
    assert!((900_000..=1_100_000).contains(&violated(&late, "budgets").1), "{late}");
    assert_eq!(line(&output, "VERIFIED late"), "1");
    let unrecorded = json(&output, "unrecorded");
    assert_eq!(unrecorded["schedules"].as_array().map(Vec::len), Some(0), "{unrecorded}");
    assert_eq!(line(&output, "VERIFIED unrecorded"), "2", "there is nothing to verify");
}

/// What was kept is enough to come to the same verdict.
fn again(output: &str, name: &str, schedules: &[Value]) {
    let verdicts = json(output, &format!("{name}-again"));
    let verdicts = verdicts["runs"].as_array().expect("a list");
    assert_eq!(verdicts.len(), schedules.len());
    for (one, verdict) in schedules.iter().zip(verdicts) {
        let findings = verdict["verdict"]["findings"].as_array().expect("a list");
        let total: u64 =
            findings.iter().map(|finding| finding["violations"].as_u64().expect("a number")).sum();
        assert_eq!(total, violations(&one["schedule"]), "{verdict}");
        let kept = &one["schedule"]["verification"];
        assert_eq!(
            (&verdict["verdict"]["state"], &verdict["verdict"]["extent"]),
            (&kept["state"], &kept["extent"])
        );
        let extent = &kept["extent"];
        assert!(
            extent["observed_ns"].as_u64() > Some(400_000_000) && extent["jobs"].as_u64() > Some(20),
            "{one}"
        );
    }
    let events: u64 = line(output, &format!("EVENTS {name}")).parse().expect("a number");
    assert!(events > 100, "{events} lines");
}
