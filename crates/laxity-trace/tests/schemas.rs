//! The published schemas are those of the code, and what is written is valid under them.
//!
//! After a deliberate change of a format: `LAXITY_BLESS=1 cargo test -p laxity-trace --test schemas`.

mod fixtures;

use fixtures::{job, manifest, placement, run, two_tasks};
use laxity_model::Duration;
use laxity_trace::{
    AnalysisRecord, BackgroundRecord, Manifest, ProofRecord, ProofVerdict, Run, RunStatus, Summary,
    manifest_schema, summary_schema,
};
use serde_json::Value;
use std::path::PathBuf;

fn check_published(name: &str, schema: &Value) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schemas").join(name);
    let text = serde_json::to_string_pretty(schema).expect("serializes") + "\n";
    if std::env::var_os("LAXITY_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("has a parent")).expect("creates schemas/");
        std::fs::write(&path, &text).expect("writes the schema");
    }
    let published = std::fs::read_to_string(&path).expect("the schema is published");
    assert!(published == text, "{name} differs from the code; LAXITY_BLESS=1 rewrites it");
}

#[test]
fn published_schemas_are_those_of_the_code() {
    check_published("summary.schema.json", &summary_schema());
    check_published("manifest.schema.json", &manifest_schema());
}

#[test]
fn what_is_written_is_valid() {
    let interrupted = RunStatus::Interrupted { reason: "SIGINT".to_owned(), ran: Duration::from_ms(15) };
    let runs = vec![
        run(0, "g-edf", 20, vec![job(0, 0, 0, 10, Some(4)), job(1, 0, 0, 20, Some(9))]),
        Run {
            status: interrupted,
            placement: Some(placement()),
            job_count: Some(1),
            ..run(1, "p-rm", 20, vec![job(0, 0, 0, 10, Some(12))])
        },
        Run { status: RunStatus::NotRun { reason: "no time".to_owned() }, ..run(2, "c-rm", 20, vec![]) },
    ];
    let background =
        BackgroundRecord { run: 0, entered: 3, exited: 1, run_ns: 7, ready_ns: 0, capacity_ns: 40 };
    let proof = |verdict| ProofRecord {
        verdict,
        test: Some("qpa".to_owned()),
        task: None,
        refuted: false,
        reason: None,
        proven_without: None,
    };
    let analysis = AnalysisRecord {
        set: 0,
        scheduler: "p-rm".to_owned(),
        hard: proof(ProofVerdict::NotProven),
        soft: proof(ProofVerdict::Schedulable),
        assumptions: vec!["no background thread is ever ready".to_owned()],
    };
    let manifest = Manifest { background: vec![background], analysis: vec![analysis], ..manifest(runs) };
    let summary = Summary::of(&manifest, &[two_tasks()]).expect("valid");
    let documents = [
        (summary_schema(), serde_json::to_value(&summary).expect("serializes")),
        (manifest_schema(), serde_json::to_value(&manifest).expect("serializes")),
    ];
    for (schema, document) in documents {
        let validator = jsonschema::draft202012::new(&schema).expect("a valid schema");
        let errors: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let mut wrong = document.clone();
        wrong["version"] = 2.into();
        assert!(!validator.is_valid(&wrong), "a wrong version is not noticed");
    }
}
