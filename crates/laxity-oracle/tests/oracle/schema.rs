//! The published schema is that of the code, and verdicts are valid under it.
//!
//! After a deliberate change of the format: `LAXITY_BLESS=1 cargo test --release -p laxity-oracle`.

use crate::random::{ANY, Case, case};
use laxity_oracle::{Verdict, reference, verdict_schema, verify};
use std::path::PathBuf;

#[test]
fn the_published_schema_is_that_of_the_code() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schemas/verdict.schema.json");
    let text = serde_json::to_string_pretty(&verdict_schema()).expect("serializes") + "\n";
    if std::env::var_os("LAXITY_BLESS").is_some() {
        std::fs::write(&path, &text).expect("writes the schema");
    }
    let published = std::fs::read_to_string(&path).expect("the schema is published");
    assert!(published == text, "verdict.schema.json differs from the code; LAXITY_BLESS=1 rewrites it");
}

#[test]
fn verdicts_are_valid_and_read_back() {
    let validator = jsonschema::draft202012::new(&verdict_schema()).expect("a valid schema");
    let Case { definition, end, .. } = case(2, ANY);
    let mut events = reference(&definition, &definition.jobs(), end).expect("possible").events;
    let clean = verify(&definition, &events, end);
    events.remove(events.len() / 2);
    let violated = verify(&definition, &events, end);
    assert!(clean.clean && !violated.clean);
    for verdict in [clean, violated] {
        let json = serde_json::to_value(&verdict).expect("serializes");
        let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        assert_eq!(serde_json::from_value::<Verdict>(json.clone()).expect("reads back"), verdict);
        let mut wrong = json;
        wrong["version"] = 2.into();
        assert!(!validator.is_valid(&wrong), "a wrong version is not noticed");
    }
}
