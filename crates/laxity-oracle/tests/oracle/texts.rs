//! What a researcher reads.

use crate::written::{edf, trace};
use laxity_oracle::{Oracle, VIOLATIONS_KEPT, first_difference, reference, verify};

#[test]
fn verdicts_name_the_instant_the_job_that_ran_and_the_one_that_should_have() {
    let definition = edf(&[(4, 20), (2, 10)], 1, 20);
    let text = "
        0 release 0.0 20
        0 release 1.0 10
        0 start 0.0 on 0
        4 complete 0.0 20 on 0
        5 start 1.0 on 0
        7 complete 1.0 10 on 0
        10 release 1.1 20
        10 start 1.1 on 0
        12 complete 1.1 20 on 0";
    let verdict = verify(&definition, &trace(text), 20_000);
    assert_eq!(
        verdict.to_string(),
        "t=0ns..5us cpu0 ran t0.0 (deadline 20us) while t1.0 (deadline 10us) waited [global invariant]\n\
         1 violation: 9 events, 3 jobs"
    );
    let schedule = reference(&definition, &definition.jobs(), 20_000).expect("possible");
    let other = laxity_oracle::TimelineBuilder::of(&trace(text), 20_000).expect("well-formed");
    let difference = first_difference(&schedule.timeline, &other).expect("they differ");
    assert_eq!(difference.to_string(), "job 0 of task 0 ran from 0ns in the second, but not in the first");
}

#[test]
fn every_kind_of_violation_reads_as_a_sentence() {
    let definition = edf(&[(4, 20), (2, 10)], 2, 20);
    let text = "
        0 release 0.0 20
        0 release 1.0 11
        0 start 1.0 on 0
        1 start 0.0 on 0
        2 start 0.0 on 1
        3 start 1.1 on 1
        5 complete 0.0 20 on 1
        6 wake 1.0
        7 start 0.0 on 7";
    let verdict = verify(&definition, &trace(text), 20_000);
    let texts: Vec<&str> = verdict.violations.iter().map(|violation| violation.text.as_str()).collect();
    golden(&texts.join("\n"));
}

fn golden(text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/texts.golden");
    if std::env::var_os("LAXITY_BLESS").is_some() {
        std::fs::write(&path, format!("{text}\n")).expect("writes the golden");
    }
    let known = std::fs::read_to_string(&path).expect("the golden is there");
    assert_eq!(known.trim_end(), text, "LAXITY_BLESS=1 rewrites it");
}

#[test]
fn all_violations_are_counted_and_the_first_are_kept() {
    let definition = edf(&[(1, 2)], 1, 2_000);
    let mut events = Vec::new();
    for job in 0..1_000 {
        let at = 2 * job;
        events.extend(trace(&format!(
            "{at} release 0.{job} {0}\n {at} start 0.{job} on 0\n {1} complete 0.{job} {2} on 0",
            at + 2,
            at + 1,
            at + 3
        )));
    }
    let verdict = verify(&definition, &events, 2_000_000);
    assert_eq!(verdict.violated().collect::<Vec<_>>(), [Oracle::Deadlines]);
    assert_eq!((verdict.count(Oracle::Deadlines), verdict.violations.len()), (1_000, VIOLATIONS_KEPT));
    assert_eq!(verdict.jobs_completed, 1_000);
}
