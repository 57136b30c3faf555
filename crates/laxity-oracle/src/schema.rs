//! The published JSON Schema of verdicts.

use crate::{VERDICT_VERSION, Verdict};
use serde_json::{Value, json};

/// Of [`Verdict`], the data of `laxity verify --json`; published as `schemas/verdict.schema.json`.
pub fn verdict_schema() -> Value {
    let mut schema = schemars::schema_for!(Verdict);
    schema.insert("$id".into(), "https://laxity-rt.github.io/schemas/verdict.schema.json".into());
    schema.insert("title".into(), "laxity verdict".into());
    let mut schema = schema.to_value();
    schema["properties"]["version"] =
        json!({ "description": "Version of this format.", "const": VERDICT_VERSION });
    schema
}
