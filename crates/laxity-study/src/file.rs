//! The file that describes a study, as it is written.

use crate::axis::Variable;
use laxity_analysis::Guarantee;
use laxity_model::{Diagnostic, DocumentEntries, DocumentKind, Result};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// The version of study files that this library reads.
pub const STUDY_VERSION: u64 = 1;

const KIND: DocumentKind = DocumentKind {
    what: "study",
    schema: "schemas/study.schema.json",
    version: STUDY_VERSION,
    entries: Some(DocumentEntries {
        key: "curves",
        singular: "curve",
        refuses: |curve| CurveFile::deserialize(curve).is_err(),
    }),
};

/// A number or a text: 5, 0.5, "5m", "10ms".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written(pub(crate) String);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Written;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a text such as \"5m\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Written, E> {
                Ok(Written(text.to_owned()))
            }
            fn visit_u64<E: Error>(self, number: u64) -> std::result::Result<Written, E> {
                Ok(Written(number.to_string()))
            }
            fn visit_i64<E: Error>(self, number: i64) -> std::result::Result<Written, E> {
                Ok(Written(number.to_string()))
            }
            // The shortest text that reads as this double is what was written, up to 15 digits.
            fn visit_f64<E: Error>(self, number: f64) -> std::result::Result<Written, E> {
                Ok(Written(number.to_string()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Written {
    fn schema_name() -> Cow<'static, str> {
        "number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"] })
    }

    fn inline_schema() -> bool {
        true
    }
}

/// What is to be proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WrittenGuarantee {
    /// No deadline is missed.
    Hard,
    /// Tardiness is bounded.
    Soft,
}

impl From<WrittenGuarantee> for Guarantee {
    fn from(written: WrittenGuarantee) -> Self {
        match written {
            WrittenGuarantee::Hard => Guarantee::Hard,
            WrittenGuarantee::Soft => Guarantee::Soft,
        }
    }
}

/// A schedulability study: which task sets, how many, on how many processors, and what is asked about them. Numbers may be
/// multiples of m, the number of processors, as in "5m". Files that are named are looked for beside this one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "laxity study", rename = "study")]
pub(crate) struct StudyFile {
    /// The schema, for editors.
    #[serde(rename = "$schema", default)]
    pub(crate) _schema: Option<String>,
    /// Version of this format.
    pub(crate) version: u64,
    /// Its name, of letters, digits, `-`, `_` and `.`: the name of its directory; the file's if it is not given.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Its title.
    pub(crate) title: String,
    /// Where it comes from: paper and figure.
    #[serde(default)]
    pub(crate) source: Option<String>,
    /// What a reader of its figures must know: assumptions, differences from the source.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// Seed of everything random; 1 if it is not given.
    #[serde(default)]
    pub(crate) seed: Option<u64>,
    /// Task sets at every point: 1 to 1000000.
    pub(crate) sets: u64,
    /// How many steps a test may take on a set; 4294967296 if it is not given.
    #[serde(default)]
    pub(crate) steps: Option<u64>,
    /// The processors.
    #[serde(default)]
    pub(crate) platform: PlatformFile,
    /// What varies.
    pub(crate) axis: AxisFile,
    /// What draws task sets: `name` is that of a generator, the rest are its parameters, as on the command line (`laxity list`),
    /// without what varies.
    pub(crate) generator: BTreeMap<String, Written>,
    /// More values of the generator's parameters: every combination is a family of task sets, with a figure of its own.
    #[serde(default)]
    pub(crate) matrix: BTreeMap<String, Vec<Written>>,
    /// What is to be proven: hard, soft, or both side by side; hard if it is not given.
    #[serde(default)]
    pub(crate) guarantees: Option<Vec<WrittenGuarantee>>,
    /// The curves of every figure.
    pub(crate) curves: Vec<CurveFile>,
}

/// Processors.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "platform")]
pub(crate) struct PlatformFile {
    /// m, unless that is what varies.
    #[serde(default)]
    pub(crate) processors: Option<u32>,
    /// Processors in each cluster, for clustered schedulers; a divisor of m. All are one cluster if it is not given.
    #[serde(default)]
    pub(crate) cluster: Option<u32>,
}

/// What varies, from where to where.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "axis")]
pub(crate) struct AxisFile {
    /// tasks: n; utilization: the total U; processors: m.
    pub(crate) of: Variable,
    /// The first value.
    pub(crate) from: Written,
    /// No value is above this.
    pub(crate) to: Written,
    /// From one value to the next.
    pub(crate) step: Written,
    /// Sample more densely where curves bend (ackelman2018, 6.3); only the values above if it is not given.
    #[serde(default)]
    pub(crate) refine: Option<RefineFile>,
}

/// How the axis is sampled more densely.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "refine")]
pub(crate) struct RefineFile {
    /// How often an interval between two values is halved, at most: 0 to 16. Its quarters are looked at in any case.
    pub(crate) depth: u32,
    /// The relative error of an integral under a curve that is of no account; 0.002 if it is not given.
    #[serde(default)]
    pub(crate) precision: Option<Written>,
    /// Also look closely at differences of less than 3/sqrt(sets), which chance makes; no if it is not given.
    #[serde(default)]
    pub(crate) refine_noise: bool,
}

/// A curve: a scheduler, what scheduling costs under it, and how it is judged.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "curve")]
pub(crate) struct CurveFile {
    /// What it is called in figures; its scheduler's name if it is not given.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The scheduler's name (`laxity list`), also `g-fl`, or `pfair` with any of :aligned, :staggered and :dedicated behind it.
    pub(crate) scheduler: String,
    /// How tasks are placed under partitioned and clustered schedulers; ffd if it is not given. Not ilp, which can search for
    /// seconds for each set. Refused where nothing is placed: under a global scheduler, and with one cluster of all
    /// processors.
    #[serde(default)]
    pub(crate) placement: Option<String>,
    /// What may be placed together: test, the tests by which the curve is judged, with overheads, or utilization, density or dbf,
    /// which know neither. test if it is not given. Refused where nothing is placed.
    #[serde(default)]
    pub(crate) fit: Option<String>,
    /// For which of the study's guarantees the curve is drawn; all if it is not given.
    #[serde(default)]
    pub(crate) guarantees: Option<Vec<WrittenGuarantee>>,
    /// Tests by name (`laxity list tests`), of which one has to accept: at least one for each guarantee that the curve is drawn for,
    /// and none for another. Those that know the scheduler best if it is not given.
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    /// What scheduling costs: a CSV file in µs with the header TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK,
    /// RELEASE-LATENCY, or the name of one that laxity comes with (`laxity list`); nothing if it is not given.
    #[serde(default)]
    pub(crate) overheads: Option<String>,
    /// The same, for hard guarantees only, for which the curve has to be drawn.
    #[serde(default)]
    pub(crate) overheads_hard: Option<String>,
    /// The same, for soft guarantees only, for which the curve has to be drawn.
    #[serde(default)]
    pub(crate) overheads_soft: Option<String>,
    /// Cache-related preemption and migration delays: a CSV file in KiB and µs with the header WSS, MEM, L1, L2, L3.
    #[serde(default)]
    pub(crate) cache_delays: Option<String>,
    /// The level of the cache that all processors share among which jobs migrate; only memory if it is not given.
    #[serde(default)]
    pub(crate) shared_cache: Option<u32>,
    /// From one timer tick to the next, and the quantum of pfair, also without overheads; 1ms if it is not given.
    #[serde(default)]
    pub(crate) tick_period: Option<String>,
    /// What a reader of the figure must know of this curve.
    #[serde(default)]
    pub(crate) note: Option<String>,
}

impl StudyFile {
    /// Reads JSON if the text looks like it, TOML otherwise.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let json = text.trim_start().starts_with('{');
        let file: StudyFile = if json { KIND.from_json(text)? } else { KIND.from_toml(text)? };
        KIND.check_version(file.version)?;
        if file.curves.is_empty() {
            return Err(
                Diagnostic::usage("the study has no curves").hint("add a [[curves]] with its scheduler")
            );
        }
        Ok(file)
    }
}

/// The JSON Schema (draft 2020-12) of study files; published as `schemas/study.schema.json`.
pub fn study_schema() -> Value {
    let generated = schemars::schema_for!(StudyFile).to_value();
    let mut schema = json!({
        "$schema": generated["$schema"],
        "$id": "https://laxity-rt.github.io/schemas/study.schema.json",
    });
    for key in ["title", "description", "type", "required", "properties", "additionalProperties", "$defs"] {
        schema[key] = generated[key].clone();
    }
    schema["properties"]["version"] =
        json!({ "description": "Version of this format.", "const": STUDY_VERSION });
    schema["properties"]["generator"]["required"] = json!(["name"]);
    without_null(&mut schema);
    schema
}

/// TOML has no null: an optional field is there or not.
pub(crate) fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(entries) => {
            entries.retain(|key, value| key != "default" || !value.is_null());
            if let Some(Value::Array(kinds)) = entries.get_mut("type") {
                kinds.retain(|kind| *kind != json!("null"));
                if let [only] = kinds.as_slice() {
                    let only = only.clone();
                    entries.insert("type".to_owned(), only);
                }
            }
            if let Some([kind, null]) = entries.get("anyOf").and_then(Value::as_array).map(Vec::as_slice)
                && *null == json!({ "type": "null" })
                && let Some(kind) = kind.as_object().cloned()
            {
                entries.remove("anyOf");
                entries.extend(kind);
            }
            entries.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}
