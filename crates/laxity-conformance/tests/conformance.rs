//! The same events through the native and the BPF build of a policy.

use laxity_conformance::{Programs, Recording, Scenario, available, table_checked};
use laxity_model::Policy;
use laxity_policy::Table;

/// Runs `test` on a policy's programs, or says why not.
fn with_programs(policy: Policy, test: impl Fn(&Programs)) {
    if let Err(reason) = available() {
        eprintln!("SKIPPED: {reason}");
        return;
    }
    // From here on a refusal is a failure: the kernel has taken the probe.
    match Programs::load(policy) {
        Ok(programs) => test(&programs),
        Err(why) => panic!("{policy} does not load: {why}"),
    }
}

/// Compares all decisions; the first difference.
fn difference(recording: &Recording, programs: &Programs) -> Option<String> {
    let replayed = programs.replay(recording).expect("the kernel runs what it has loaded");
    let native = &recording.decisions;
    assert_eq!(replayed.len(), native.len());
    let at = (0..native.len()).find(|&i| replayed[i] != native[i])?;
    Some(format!("event {at}, {:?}\n native {:?}\n BPF {:?}", recording.events[at], native[at], replayed[at]))
}

fn conforms(policy: Policy) {
    with_programs(policy, |programs| {
        for seed in laxity_seeds::seeds!(0..400) {
            let scenario = Scenario::draw(policy, seed);
            // Every other one natively with its checks, which see what the two builds do wrong alike.
            let table = if seed % 2 == 1 { table_checked(policy) } else { Table::of(policy) };
            let recording = Recording::make(scenario, table, 1000);
            if let Some(difference) = difference(&recording, programs) {
                panic!("{policy}, seed {seed}: {difference}");
            }
        }
    });
}

#[test]
fn every_policy_decides_the_same() {
    std::thread::scope(|scope| {
        for policy in Policy::all() {
            scope.spawn(move || conforms(policy));
        }
    });
}

/// The queue is no part of the schedule: with the same events the linking CPU decides the same over each of them. (A group
/// that gsn-edf merges is released in another order, so its links may go elsewhere.)
#[test]
fn queues_make_one_schedule() {
    for seed in laxity_seeds::seeds!(0..1500) {
        let record = |policy| {
            let scenario = Scenario::draw(Policy::EdfBh, seed);
            Recording::make(scenario, table_checked(policy), 500)
        };
        let heap = record(Policy::EdfBh);
        let same = [Policy::EdfRbt, Policy::Fpp, Policy::GsnEdf];
        for policy in &same[..if heap.scenario.config.batching { 2 } else { 3 }] {
            let other = record(*policy);
            assert_eq!(heap.events, other.events, "{policy}, seed {seed}");
            assert_eq!(heap.decisions, other.decisions, "{policy}, seed {seed}");
        }
    }
}

/// The comparison sees a difference: decisions of an instance whose tie-breaking parameters differ.
#[test]
fn a_difference_is_noticed() {
    with_programs(Policy::EdfBh, |programs| {
        let scenario = Scenario::draw(Policy::EdfBh, 3);
        let mut recording = Recording::make(scenario, Table::of(Policy::EdfBh), 1000);
        assert_eq!(difference(&recording, programs), None);
        for task in &mut recording.scenario.tasks {
            task.deadline_rel_ns += 1;
        }
        assert!(difference(&recording, programs).is_some());
    });
}

/// Natively, with every assertion of `policy/` tested, and with as many seeds as fit.
#[test]
fn assertions_hold() {
    for policy in Policy::all() {
        for seed in laxity_seeds::seeds!(0..1500) {
            let scenario = Scenario::draw(policy, seed);
            let recording = Recording::make(scenario, table_checked(policy), 500);
            assert!(recording.events.len() >= 500);
        }
    }
}
