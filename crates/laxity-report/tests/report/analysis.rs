//! What is proven stands beside what was seen, in every form of a report.

use crate::synthetic::rover;
use laxity_report::{Report, TextStyle};
use laxity_trace::{AnalysisRecord, ProofRecord, ProofVerdict};

fn proof(verdict: ProofVerdict, test: &str) -> ProofRecord {
    ProofRecord { verdict, test: Some(test.to_owned()), reason: None }
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
    };
    results.analysis = vec![
        record("p-edf", proof(ProofVerdict::Schedulable, "qpa"), proof(ProofVerdict::Schedulable, "qpa")),
        record("g-edf", none.clone(), proof(ProofVerdict::Schedulable, "devi-anderson")),
        record("g-rm", none.clone(), none),
    ];
    let report = Report::of(&results).expect("valid");
    let text = report.text(TextStyle { width: Some(200), ..TextStyle::default() });
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
    for form in [report.text(TextStyle::default()), report.markdown()] {
        assert!(!form.contains("Analysis"), "{form}");
    }
}
