//! Laxity's own policies for real: what is said where the kernel takes none. Where it does, `tests/vm/policies` runs them.

mod host;

use host::{can_run, laxity, machine, output, small_set, takes_policies, words};
use serde_json::Value;
use std::fs;

fn listed() -> Value {
    let listed = output(laxity().args(["list", "--json"]));
    serde_json::from_slice(&listed.stdout).expect("JSON")
}

#[test]
fn the_list_says_of_every_policy_whether_it_runs_here_or_why_not() {
    let answer = listed();
    let can = answer["can"]["sched_ext"].as_str().expect("a verdict");
    for policy in answer["policies"].as_array().expect("a list") {
        let runs = policy["runs_here"].as_bool().expect("a verdict");
        assert_eq!(policy["why_not"].is_null(), runs, "{policy}");
        assert!(!runs || can == "yes", "{policy}: sched_ext is {can}");
    }
    let list = |part| {
        let ended = output(laxity().args(["list", part]));
        String::from_utf8_lossy(&ended.stdout).into_owned()
    };
    assert!(list("machine").contains("  sched_ext  "), "{}", list("machine"));
    let text = list("schedulers");
    assert_eq!(text.contains("in the kernel, none of them here: "), !takes_policies(), "{text}");
}

#[test]
fn without_sched_ext_nothing_is_begun_and_the_command_for_a_machine_is_given() {
    let _machine = machine();
    if takes_policies() {
        eprintln!("SKIPPED: the kernel of this machine takes policies");
        return;
    }
    let (directory, set) = small_set();
    let set = set.to_str().expect("a path of text");
    let out = directory.path().join("out of this").to_str().expect("text").to_owned();
    for call in [
        &["run", set, "--scheduler", "edf-bh,p-fpp:rm", "--out", &out][..],
        &["compare", set, "--schedulers", "gsn-edf", "--no-simulation", "--out", &out],
    ] {
        let ended = output(laxity().args(call));
        assert_eq!(ended.status.code(), Some(3), "{}", words(&ended));
        assert!(ended.stdout.is_empty());
        let why = listed()["policies"][0]["why_not"].as_str().expect("a reason").to_owned();
        let command = format!("laxity vm -- {} {set} {} {} ", call[0], call[2], call[3]);
        for part in [call[3].replace(',', ", "), why, command, format!("--out '{out}'")] {
            assert!(words(&ended).contains(&part), "{part}: {}", words(&ended));
        }
        assert!(!fs::exists(&out).expect("its directory is ours"), "something was written");
    }
}

#[test]
fn what_linux_can_do_is_run_all_the_same() {
    let _machine = machine();
    if takes_policies() || !can_run(&["g-rm"]) {
        eprintln!("SKIPPED: the kernel of this machine takes policies, or no real-time tasks");
        return;
    }
    let (directory, set) = small_set();
    let out = directory.path().join("out");
    let mut command = laxity();
    command
        .args(["run", "--scheduler", "g-rm,c-edf-rbt", "--duration", "100ms", "--out"])
        .arg(&out)
        .arg(&set);
    let ended = output(&mut command);
    assert!(ended.status.success(), "{}", words(&ended));
    let told = words(&ended);
    assert!(told.contains("note: c-edf-rbt cannot be run here: ") && told.contains("hint: "), "{told}");
    assert!(told.contains("laxity vm -- run --scheduler g-rm,c-edf-rbt --duration 100ms"), "{told}");
    let manifest: Value =
        serde_json::from_slice(&fs::read(out.join("manifest.json")).expect("a manifest")).expect("JSON");
    let state = |at: usize| {
        let run = &manifest["runs"][at];
        format!("{} {} {}", run["scheduler"], run["host"], run["status"]["state"])
    };
    assert_eq!(state(0), r#""g-rm" "linux" "completed""#);
    assert_eq!(state(1), r#""c-edf-rbt" "kernel-policy" "not-run""#);
    let options = &manifest["options"];
    assert_eq!([&options["budget"], &options["batching"], &options["retries"]], ["throttle", "on", "3"]);
}
