//! `laxity doctor` on this machine: what it says is of the form that it promises, whatever it finds.

mod calls;
mod host;
mod patience;

use calls::{json, prints, text};
use host::{laxity, output, words};
use std::collections::BTreeSet;

#[test]
fn the_answer_has_every_check_once_and_is_what_its_schema_says() {
    let schema = json(&prints(&["schema", "doctor"]));
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let ended = output(laxity().args(["doctor", "--json"]));
    let answer = json(&text(&ended.stdout));
    assert!(validator.is_valid(&answer), "{answer:#}");
    let findings = answer["findings"].as_array().expect("a list").len();
    assert_eq!(ended.status.code(), Some(i32::from(findings > 0)), "{}", words(&ended));
    let mut made: Vec<String> = Vec::new();
    for part in ["findings", "accepted", "unseen", "not_applicable", "passed"] {
        let names = answer[part].as_array().expect("a list").iter().map(|one| one["check"].as_str());
        made.extend(names.map(|name| name.expect("a name").to_owned()));
    }
    let listed = json(&prints(&["doctor", "--list", "--json"]));
    let listed: BTreeSet<String> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["name"].as_str().expect("a name").to_owned())
        .collect();
    assert!(listed.len() >= 30);
    assert_eq!(made.len(), listed.len(), "each once");
    assert_eq!(made.into_iter().collect::<BTreeSet<_>>(), listed);
}

#[test]
fn what_is_accepted_is_shown_and_does_not_count() {
    let doctor = |more: &[&str]| {
        let mut call = vec!["doctor", "--json", "--duration", "10ms", "--passive"];
        call.extend(more);
        let ended = output(laxity().args(&call));
        (ended.status.code(), json(&text(&ended.stdout)))
    };
    let names = |answer: &serde_json::Value, part: &str| -> Vec<String> {
        let all = answer[part].as_array().expect("a list");
        let mut names: Vec<String> =
            all.iter().map(|one| one["check"].as_str().expect("a name").to_owned()).collect();
        // What was measured, and so how grave it is, can change from call to call.
        names.sort();
        names
    };
    let (_, before) = doctor(&[]);
    let found = names(&before, "findings");
    if found.is_empty() {
        eprintln!("SKIPPED: there is no finding here");
        return;
    }
    let (code, after) = doctor(&["--accept", &found.join(",")]);
    assert_eq!((code, names(&after, "findings")), (Some(0), Vec::new()));
    assert_eq!(names(&after, "accepted"), found);
    assert_eq!(after["watched_ms"], 10);
}

#[test]
fn the_list_has_rules_and_wrong_names_are_answered() {
    let listed = prints(&["doctor", "--list", "swap"]);
    assert!(listed.starts_with("CHECKS (1)") && listed.contains("\nswap (moderate)\n"), "{listed}");
    for (call, said) in [
        (&["doctor", "fairserver"][..], "did you mean `fair-server`?"),
        (&["doctor", "--accept", "fairserver"], "did you mean `fair-server`?"),
        (&["doctor", "--duration", "0s"], "not from 1ms to 1h"),
        (&["doctor", "--cpus", "8000"], "the platform"),
        (&["doctor", "--cpus", "x"], "is not a CPU number or a range"),
    ] {
        let ended = output(laxity().args(call));
        assert_eq!(ended.status.code(), Some(2), "{}", words(&ended));
        assert!(words(&ended).contains(said), "{}", words(&ended));
    }
}
