//! Late jobs that abort, or have later releases skipped: traces written by hand. Two tasks of 3 every 4 us on one CPU.

use crate::written::{edf, trace};
use laxity_model::{Demand, OnMiss};
use laxity_oracle::{Definition, Oracle, Verdict, reference, verify};

const ABORTED: &str = "
    0 release 0.0 4
    0 release 1.0 4
    0 start 0.0 on 0
    3 complete 0.0 4 on 0
    3 start 1.0 on 0
    4 deadline-miss 1.0
    4 abort 1.0 4 on 0
    4 release 0.1 8
    4 release 1.1 8
    4 start 0.1 on 0
    7 complete 0.1 8 on 0
    7 start 1.1 on 0
    8 deadline-miss 1.1
    8 abort 1.1 8 on 0";

const SKIPPED: &str = "
    0 release 0.0 4
    0 release 1.0 4
    0 start 0.0 on 0
    3 complete 0.0 4 on 0
    3 start 1.0 on 0
    4 release 0.1 8
    4 skip 1.1
    4 deadline-miss 1.0
    6 complete 1.0 4 on 0
    6 start 0.1 on 0
    8 deadline-miss 0.1
    9 complete 0.1 8 on 0";

fn definition(on_miss: OnMiss) -> Definition {
    edf(&[(3, 4), (3, 4)], 1, 8).with_jobs(1, Demand::Wcet).with_on_miss(on_miss)
}

fn verdict(on_miss: OnMiss, text: &str) -> Verdict {
    verify(&definition(on_miss), &trace(text), 9_000)
}

/// The first violation, by the oracle that is to see it, among so many of that one.
fn seen(on_miss: OnMiss, text: &str, oracle: Oracle) -> (u64, String) {
    let verdict = verdict(on_miss, text);
    let first = verdict.violations.iter().find(|violation| violation.oracle == oracle);
    (verdict.count(oracle), first.map(|first| first.text.clone()).unwrap_or_default())
}

#[test]
fn what_follows_its_rule_is_clean() {
    for (on_miss, text) in [(OnMiss::Abort, ABORTED), (OnMiss::Skip, SKIPPED)] {
        let verdict = verdict(on_miss, text);
        assert!(verdict.clean, "{on_miss}: {verdict}");
        let definition = definition(on_miss);
        let schedule = reference(&definition, &definition.jobs(), 9_000).expect("a schedule");
        let verdict = verify(&definition, &schedule.events, 9_000);
        assert!(verdict.clean, "{on_miss}, reference: {verdict}");
    }
    let verdict = verdict(OnMiss::Abort, ABORTED);
    assert_eq!(verdict.jobs_completed, 2);
}

#[test]
fn no_job_aborts_or_is_skipped_where_the_definition_has_none() {
    for on_miss in [OnMiss::Continue, OnMiss::Skip] {
        let (count, text) = seen(on_miss, ABORTED, Oracle::Demand);
        assert!(count == 2 && text.contains("aborts, which no job does here"), "{on_miss}: {count}, {text}");
    }
    for on_miss in [OnMiss::Continue, OnMiss::Abort] {
        let (count, text) = seen(on_miss, SKIPPED, Oracle::Periods);
        assert!(
            count == 1 && text.contains("is skipped, which no job is here"),
            "{on_miss}: {count}, {text}"
        );
    }
}

#[test]
fn an_abort_comes_at_the_deadline_and_only_for_a_job_that_is_not_done() {
    let early = ABORTED.replace("4 abort 1.0", "3 abort 1.0").replace("4 deadline-miss 1.0", "");
    let (count, text) = seen(OnMiss::Abort, &early, Oracle::Demand);
    assert!(count == 1 && text.contains("aborts before its deadline"), "{count}, {text}");
    let late =
        ABORTED.replace("4 abort 1.0 4 on 0", "").replace("4 start 0.1", "5 abort 1.0 4 on 0\n5 start 0.1");
    let late =
        late.replace("7 complete 0.1 8 on 0", "8 complete 0.1 8 on 0").replace("7 start 1.1", "8 start 1.1");
    let (count, text) = seen(OnMiss::Abort, &late, Oracle::Demand);
    assert!(count == 1 && text.contains("ran on after its deadline"), "{count}, {text}");
    // No abort stops 1.0: it completes.
    let complete = late.replace("5 abort", "6 complete").replace("5 start 0.1", "6 start 0.1");
    let (count, text) = seen(OnMiss::Abort, &complete, Oracle::Demand);
    assert!(count >= 2 && text.contains("ran on after its deadline"), "{count}, {text}");
    let needless = "
        0 release 0.0 4
        0 release 1.0 4
        0 start 0.0 on 0
        4 deadline-miss 0.0
        4 deadline-miss 1.0
        4 abort 0.0 4 on 0";
    let (count, text) = seen(OnMiss::Abort, needless, Oracle::Demand);
    assert!(count == 1 && text.contains("aborted t0.0"), "{count}, {text}");
}

#[test]
fn an_abort_is_a_miss() {
    let unsaid = ABORTED.replace("8 deadline-miss 1.1", "");
    let (count, text) = seen(OnMiss::Abort, &unsaid, Oracle::Deadlines);
    assert!(count == 1 && text.contains("aborts, and no miss is recorded"), "{count}, {text}");
}

#[test]
fn releases_are_skipped_if_and_only_if_an_earlier_job_is_late() {
    let released = SKIPPED.replace("4 skip 1.1", "4 release 1.1 8");
    let (count, text) = seen(OnMiss::Skip, &released, Oracle::Periods);
    assert!(count == 1 && text.contains("is released while a job before it is late"), "{count}, {text}");
    let needless = SKIPPED.replace("4 release 0.1 8", "4 skip 0.1");
    let (count, text) = seen(OnMiss::Skip, &needless, Oracle::Periods);
    assert!(count >= 1 && text.contains("is skipped, though no job before it is late"), "{count}, {text}");
    let forgotten = SKIPPED.replace("4 skip 1.1", "");
    let (count, text) = seen(OnMiss::Skip, &forgotten, Oracle::Periods);
    assert!(count == 1 && text.contains("t1.1 was never released"), "{count}, {text}");
    let moved = SKIPPED.replace("4 skip 1.1", "").replace("6 complete", "5 skip 1.1\n6 complete");
    let (count, text) = seen(OnMiss::Skip, &moved, Oracle::Periods);
    assert!(count == 1 && text.contains("due at 4us"), "{count}, {text}");
}
