//! What is proven stands beside what was seen, in every form of a report.

use crate::synthetic::rover;
use laxity_report::{Report, TextStyle};
use laxity_trace::{AnalysisRecord, ProofRecord, ProofVerdict};

fn proof(verdict: ProofVerdict, test: &str) -> ProofRecord {
    ProofRecord {
        verdict,
        test: Some(test.to_owned()),
        task: None,
        refuted: false,
        reason: None,
        proven_without: None,
    }
}

#[test]
fn a_column_says_what_is_proven() {
    let mut results = rover();
    let none = proof(ProofVerdict::NotProven, "none");
    let record = |scheduler: &str, hard: ProofRecord, soft| AnalysisRecord {
        set: 0,
        scheduler: scheduler.to_owned(),
        hard,
        soft,
        assumptions: Vec::new(),
    };
    results.analysis = vec![
        record("p-edf", proof(ProofVerdict::Schedulable, "qpa"), proof(ProofVerdict::Schedulable, "qpa")),
        record("g-edf", none.clone(), proof(ProofVerdict::Schedulable, "devi-anderson")),
        record("g-rm", none.clone(), none),
    ];
    let report = Report::of(&results).expect("valid");
    let text = report.text(TextStyle { width: Some(200), verbose: true, ..TextStyle::default() });
    let says = |scheduler: &str, what: &str| {
        text.lines().any(|line| line.contains(scheduler) && line.contains(what))
    };
    assert!(says("p-edf", "hard (qpa)"), "{text}");
    assert!(says("g-edf", "soft (devi-anderson)"), "{text}");
    assert!(says("g-rm", "not proven"), "{text}");
    assert!(!says("p-rm", "hard") && !says("p-rm", "proven"), "{text}");
    for form in [text, report.markdown(), report.html().expect("a page")] {
        assert!(form.contains("hard (qpa)") && form.contains("for any arrivals"), "{form}");
    }
}

#[test]
fn without_an_analysis_there_is_no_column() {
    let results = rover();
    let report = Report::of(&results).expect("valid");
    for form in [report.text(TextStyle { verbose: true, ..TextStyle::default() }), report.markdown()] {
        assert!(!form.contains("Analysis"), "{form}");
    }
}

/// What is said of the winner, whose verdict this is.
fn caveat(hard: Option<ProofVerdict>) -> String {
    let mut results = rover();
    results.runs.iter_mut().flat_map(|run| &mut run.jobs).for_each(|job| {
        job.finish_ns = job.finish_ns.map(|finish| finish.min(job.deadline_ns));
    });
    let winner =
        Report::of(&results).expect("valid").recommendation().scheduler.clone().expect("one is best");
    let record = |verdict| AnalysisRecord {
        set: 0,
        scheduler: winner.clone(),
        hard: proof(verdict, "qpa"),
        soft: proof(ProofVerdict::Schedulable, "qpa"),
        assumptions: vec![],
    };
    results.analysis = hard.into_iter().map(record).collect();
    let answer = Report::of(&results).expect("valid").recommendation().clone();
    assert!(answer.misses_nothing, "{answer:?}");
    let found = answer.caveats.into_iter().find(|line| line.contains("can occur"));
    found.expect("what a measurement cannot show is said")
}

#[test]
fn a_recommendation_says_whether_it_is_proven() {
    assert!(caveat(None).contains("only a schedulability analysis can show"));
    assert!(caveat(Some(ProofVerdict::Schedulable)).contains("the analysis proves that none can occur"));
    assert!(caveat(Some(ProofVerdict::NotProven)).contains("no test could prove"));
    assert!(caveat(Some(ProofVerdict::NotApplicable)).contains("no test could prove"));
}
