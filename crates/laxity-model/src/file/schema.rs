//! The published JSON Schemas, made from the structs that read the files.

use super::platform::PlatformFile;
use super::task_set::TaskSetFile;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of task sets; published as `schemas/task-set.schema.json`.
pub fn task_set_schema() -> Value {
    schema_of::<TaskSetFile>("task-set")
}

/// The JSON Schema (draft 2020-12) of platforms; published as `schemas/platform.schema.json`.
pub fn platform_schema() -> Value {
    schema_of::<PlatformFile>("platform")
}

/// The JSON Schema (draft 2020-12) of JSON that laxity writes, `T`; published as `schemas/NAME.schema.json`. The field
/// `version` has this one value.
pub fn written_schema<T: JsonSchema>(name: &str, title: &str, version: u32) -> Value {
    let mut schema = generated::<T>(name);
    schema.insert("title".into(), title.into());
    let mut schema = schema.to_value();
    schema["properties"]["version"] = json!({ "description": "Version of this format.", "const": version });
    schema
}

fn generated<T: JsonSchema>(name: &str) -> Schema {
    let mut generated = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    generated.insert("$id".into(), format!("https://laxity-rt.github.io/schemas/{name}.schema.json").into());
    generated
}

/// The JSON Schema (draft 2020-12) of documents that laxity reads, `T`; published as `schemas/NAME.schema.json`. The field `version` has
/// this one value.
pub fn read_schema<T: JsonSchema>(name: &str, version: u64) -> Value {
    let mut schema = schema_of::<T>(name);
    schema["properties"]["version"] = json!({ "description": "Version of this format.", "const": version });
    schema
}

fn schema_of<T: JsonSchema>(name: &str) -> Value {
    let generated = generated::<T>(name);
    let mut rest = generated.as_object().cloned().unwrap_or_default();
    // What a reader wants to know first comes first.
    let first = ["$schema", "$id", "title", "description", "type", "required"];
    let mut ordered: Map<String, Value> =
        first.iter().filter_map(|key| Some(((*key).to_owned(), rest.shift_remove(*key)?))).collect();
    ordered.extend(rest);
    let mut schema = Value::Object(ordered);
    without_null(&mut schema);
    schema
}

/// An optional field is there or not; the generator would also allow it to be `null`.
fn without_null(schema: &mut Value) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| *kind != json!("null"));
        if let [kind] = types.as_slice() {
            schema["type"] = kind.clone();
        }
    }
    if let Some([kind, null]) = schema.get("anyOf").and_then(Value::as_array).map(Vec::as_slice)
        && *null == json!({ "type": "null" })
        && let (Some(kind), Some(object)) = (kind.as_object().cloned(), schema.as_object_mut())
    {
        object.remove("anyOf");
        object.extend(kind);
    }
    match schema {
        Value::Object(entries) => {
            entries.retain(|key, value| key != "default" || !value.is_null());
            entries.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}
