//! Why deadlines were missed, of real runs: budgets without a margin are used up, and the answer, the table of jobs and the events
//! say the same of that.

mod calls;
mod host;
mod patience;

use calls::{json_file, text, utf8};
use host::{laxity, output, words};
use patience::real_run;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Two tasks that ask for their whole WCETs, and so for more than their budgets once the kernel has charged its own work.
const SET: &str = r#"
version = 1
name = "tight"
tasks = [
  { name = "loop", wcet = "100us", period = "2ms" },
  { name = "rest", wcet = "1ms", period = "10ms" },
]
"#;

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a number"))
}

/// A run of the set without a margin, under this scheduler; nothing where that is not possible here.
fn tight_run(scheduler: &str, more: &[&str]) -> Option<(tempfile::TempDir, PathBuf, Value)> {
    let directory = tempfile::tempdir().expect("a directory");
    let (set, out) = (directory.path().join("tight.toml"), directory.path().join("out"));
    fs::write(&set, SET).expect("written");
    let call = ["run", utf8(&set), "--scheduler", scheduler, "--duration", "300ms", "--budget-margin", "0us"];
    let ended = real_run(|| {
        let mut command = laxity();
        command.args(call).args(["--out", utf8(&out)]).args(more);
        command
    })?;
    assert!(ended.status.success(), "{}", words(&ended));
    let summary = json_file(&out.join("summary.json"));
    Some((directory, out, summary))
}

/// The causes of the scheduler's misses, of which each has one.
fn causes_of(summary: &Value) -> &Value {
    let causes = &summary["causes"][0];
    let scheduler = &summary["schedulers"][0];
    assert_eq!(causes["misses"], scheduler["misses"], "one count of misses");
    let told: u64 =
        causes["causes"].as_array().expect("a list").iter().map(|one| number(&one["misses"])).sum();
    assert_eq!(told + number(&causes["not_recorded"]), number(&causes["misses"]), "{causes}");
    causes
}

fn shown(out: &Path, how: &str) -> String {
    let ended = output(laxity().args(["report", utf8(out), "--run", "0", how]));
    assert!(ended.status.success(), "{}", words(&ended));
    text(&ended.stdout)
}

#[test]
fn budgets_without_a_margin_are_used_up_and_said_to_be() {
    let Some((_directory, out, summary)) = tight_run("p-edf", &[]) else { return };
    let run = &json_file(&out.join("manifest.json"))["runs"][0];
    if run["schedule"].is_null() {
        eprintln!("SKIPPED: schedules cannot be recorded here: {}", run["not_measured"]["schedule"]);
        return;
    }
    let causes = causes_of(&summary);
    let throttled =
        causes["causes"].as_array().expect("a list").iter().find(|one| one["cause"] == "throttled");
    assert!(throttled.is_some_and(|one| number(&one["misses"]) > 0), "{causes}");
    assert!(
        number(&causes["margin_ns"]) > 0 && number(&causes["margin_ns"]).is_multiple_of(1_000),
        "{causes}"
    );
    // What the events say.
    let events = shown(&out, "--text");
    let throttles: u64 =
        causes["tasks"].as_array().expect("a list").iter().map(|one| number(&one["throttles"])).sum();
    let in_events = events.lines().filter(|line| line.contains("is throttled")).count();
    assert_eq!(u64::try_from(in_events), Ok(throttles), "as often as the events say");
    let ended = number(&run["schedule"]["end_ns"]);
    let in_events = events.lines().filter(|line| line.ends_with("misses its deadline")).count();
    assert!(
        u64::try_from(in_events).is_ok_and(|count| count <= number(&causes["misses"])),
        "until {ended} ns"
    );
    let answer = text(&output(laxity().args(["report", utf8(&out)])).stdout);
    assert!(answer.contains("Why deadlines were missed") && answer.contains(" throttled (`"), "{answer}");
}

#[test]
fn without_a_record_the_causes_are_said_not_to_be_recorded() {
    let Some((_directory, out, summary)) = tight_run("p-edf", &["--record", "off"]) else { return };
    let causes = causes_of(&summary);
    assert_eq!(causes["not_recorded"], causes["misses"], "{causes}");
    let answer = text(&output(laxity().args(["report", utf8(&out)])).stdout);
    if number(&causes["misses"]) > 0 {
        assert!(answer.contains("missed: causes were not recorded"), "{answer}");
    }
}
