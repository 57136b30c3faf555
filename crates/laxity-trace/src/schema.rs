//! The published JSON Schemas (draft 2020-12) of what this crate writes as JSON.

use crate::{Manifest, RESULTS_VERSION, SUMMARY_VERSION, Summary};
use laxity_model::written_schema;
use serde_json::Value;

/// Of [`Summary`], the data of `--json`; published as `schemas/summary.schema.json`.
pub fn summary_schema() -> Value {
    written_schema::<Summary>("summary", "laxity summary", SUMMARY_VERSION)
}

/// Of [`Manifest`]; published as `schemas/manifest.schema.json`.
pub fn manifest_schema() -> Value {
    written_schema::<Manifest>("manifest", "laxity results manifest", RESULTS_VERSION)
}
