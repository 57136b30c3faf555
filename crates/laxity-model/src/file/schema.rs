//! The published JSON Schemas, made from the structs that read the files.

use super::platform::PlatformFile;
use super::task_set::TaskSetFile;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// The JSON Schema (draft 2020-12) of task sets; published as `schemas/task-set.schema.json`.
pub fn task_set_schema() -> Value {
    schema_of::<TaskSetFile>("task-set")
}

/// The JSON Schema (draft 2020-12) of platforms; published as `schemas/platform.schema.json`.
pub fn platform_schema() -> Value {
    schema_of::<PlatformFile>("platform")
}

fn schema_of<T: JsonSchema>(name: &str) -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    schema.insert("$id".into(), format!("https://laxity-rt.github.io/schemas/{name}.schema.json").into());
    schema.into()
}
