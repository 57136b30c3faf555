//! The published JSON Schema of verdicts.

use crate::{VERDICT_VERSION, Verdict};
use serde_json::Value;

/// Of [`Verdict`], the data of `laxity verify --json`; published as `schemas/verdict.schema.json`.
pub fn verdict_schema() -> Value {
    laxity_model::written_schema::<Verdict>("verdict", "laxity verdict", VERDICT_VERSION)
}
