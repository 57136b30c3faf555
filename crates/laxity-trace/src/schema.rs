//! The published JSON Schemas (draft 2020-12) of what this crate writes as JSON.

use crate::{Manifest, RESULTS_VERSION, SUMMARY_VERSION, Summary};
use schemars::JsonSchema;
use serde_json::{Value, json};

/// Of [`Summary`], the data of `--json`; published as `schemas/summary.schema.json`.
pub fn summary_schema() -> Value {
    schema_of::<Summary>("summary", "laxity summary", SUMMARY_VERSION)
}

/// Of [`Manifest`]; published as `schemas/manifest.schema.json`.
pub fn manifest_schema() -> Value {
    schema_of::<Manifest>("manifest", "laxity results manifest", RESULTS_VERSION)
}

fn schema_of<T: JsonSchema>(name: &str, title: &str, version: u32) -> Value {
    let mut schema = schemars::schema_for!(T);
    schema.insert("$id".into(), format!("https://laxity-rt.github.io/schemas/{name}.schema.json").into());
    schema.insert("title".into(), title.into());
    let mut schema = schema.to_value();
    schema["properties"]["version"] = json!({ "description": "Version of this format.", "const": version });
    schema
}
