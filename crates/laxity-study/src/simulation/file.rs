//! The file that describes a study by simulation, as it is written.

use crate::file::{AxisFile, Written, without_null};
use laxity_model::{Diagnostic, DocumentEntries, DocumentKind, Names, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The version of files of studies by simulation that this library reads.
pub const SIMULATION_STUDY_VERSION: u64 = 1;

const KIND: DocumentKind = DocumentKind {
    what: "study by simulation",
    schema: "schemas/simulation-study.schema.json",
    version: SIMULATION_STUDY_VERSION,
    entries: Some(DocumentEntries {
        key: "curves",
        singular: "curve",
        refuses: |curve| SimulatedCurveFile::deserialize(curve).is_err(),
    }),
};

/// What `kind` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SimulationKind {
    /// A study by simulation.
    Simulation,
}

/// A study by simulation: which task sets, how many, on which machine, how they are placed and scheduled, and what is measured.
/// Numbers may be multiples of m, the number of CPUs, as in "0.95m". Files that are named are looked for beside this one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "laxity study by simulation", rename = "simulation-study")]
pub(crate) struct SimulationFile {
    /// The schema, for editors.
    #[serde(rename = "$schema", default)]
    pub(crate) _schema: Option<String>,
    /// Version of this format.
    pub(crate) version: u64,
    /// simulation. A file without `kind` describes a schedulability study.
    #[serde(rename = "kind")]
    pub(crate) _kind: SimulationKind,
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
    /// The machine.
    #[serde(default)]
    pub(crate) platform: SimulatedPlatformFile,
    /// How long jobs are released in every simulation: "10s". At most 1000s.
    pub(crate) duration: String,
    /// How much longer a simulation goes on, so that late jobs can end; the longest relative deadline, but 50ms to 10s, if it is not
    /// given.
    #[serde(default)]
    pub(crate) grace: Option<String>,
    /// What jobs ask for, as for `laxity simulate --demand`; wcet if it is not given. Where `overrun` varies, the share of the reported
    /// WCET that jobs ask for at an overrun of 1.
    #[serde(default)]
    pub(crate) demand: Option<Written>,
    /// What everything costs, unless a curve says otherwise: a costs file; nothing if it is not given.
    #[serde(default)]
    pub(crate) costs: Option<String>,
    /// What is measured, by name (`laxity study --help` has them); all if it is not given.
    #[serde(default)]
    pub(crate) metrics: Option<Vec<String>>,
    /// What varies.
    pub(crate) axis: AxisFile,
    /// What draws task sets: `name` is that of a generator, the rest are its parameters, as on the command line (`laxity list`),
    /// without what varies.
    pub(crate) generator: BTreeMap<String, Written>,
    /// More values of the generator's parameters: every combination is a family of task sets, with figures of its own.
    #[serde(default)]
    pub(crate) matrix: BTreeMap<String, Vec<Written>>,
    /// Background tasks beside the real-time ones, and what is reserved for them; none if it is not given.
    #[serde(default)]
    pub(crate) ordinary: MixedFile,
    /// The curves of every figure.
    pub(crate) curves: Vec<SimulatedCurveFile>,
}

/// Background tasks, drawn as calandrino2007 (5.1) does, and the deferrable servers that let them go first.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "ordinary")]
pub(crate) struct MixedFile {
    /// How many enter, one after the other; 0 if it is not given.
    #[serde(default)]
    pub(crate) tasks: Option<u32>,
    /// The scheduler looks only at ticks of 1 ms: a task that is done keeps the CPU until the next one.
    #[serde(default)]
    pub(crate) at_ticks: bool,
    /// Size of every CPU's server: "20%/10ms" or "2ms/10ms" of each CPU, or "2ms@slowest/10ms", as much work as the slowest CPU does
    /// in that time. None if it is not given.
    #[serde(default)]
    pub(crate) server: Option<String>,
    /// Period of the servers, where `server` varies.
    #[serde(default)]
    pub(crate) server_period: Option<String>,
}

/// How real-time tasks are admitted, one by one as they enter, each onto the slowest CPU that can take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AdmissionWord {
    /// The server counts as a periodic task: deadlines may be missed, by what Theorem 1 says (calandrino2007, 4.2).
    IgnoresDoubleHit,
    /// What the server can do at the most is counted: no deadline is missed.
    CountsDoubleHit,
}

/// A machine: one of `processors`, `name` and `file`, or nothing where processors vary.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "platform")]
pub(crate) struct SimulatedPlatformFile {
    /// So many identical CPUs that share all caches.
    #[serde(default)]
    pub(crate) processors: Option<u32>,
    /// A machine that comes with laxity (`laxity list`).
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// A platform file.
    #[serde(default)]
    pub(crate) file: Option<String>,
}

/// A curve: how sets are placed, and what schedules them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "curve")]
pub(crate) struct SimulatedCurveFile {
    /// What it is called in figures; its placement's name if it is not given, and its scheduler's where nothing is placed.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The scheduler's name (`laxity list`), one that can be simulated.
    pub(crate) scheduler: String,
    /// How tasks are placed under partitioned and clustered schedulers; ffd if it is not given. Not ilp, which can search for
    /// seconds for each set.
    #[serde(default)]
    pub(crate) placement: Option<String>,
    /// What may be placed together: test (what the scheduler's schedulability test proves, as if scheduling cost nothing), utilization,
    /// density or dbf; density where deadlines are short, else utilization, if it is not given.
    #[serde(default)]
    pub(crate) fit: Option<String>,
    /// Instead of `placement`: tasks are admitted one by one as they enter, each onto the slowest CPU that can take it, and those
    /// that are refused are left out (amp-rm).
    #[serde(default)]
    pub(crate) admission: Option<AdmissionWord>,
    /// With `admission = "ignores-double-hit"`: a task is admitted only where Theorem 1 bounds the tardiness of every task by that
    /// much (calandrino2007, 4.2), such as "0ms", which counts the double hit as one more budget. Any tardiness if it is not given.
    #[serde(default)]
    pub(crate) tardiness_bound: Option<String>,
    /// The rule for a task that fits nowhere: refuse, which makes the set one that could not be placed, or
    /// least-loaded. refuse if it is not given.
    #[serde(default)]
    pub(crate) overload: Option<String>,
    /// What everything costs: a costs file, instead of the study's.
    #[serde(default)]
    pub(crate) costs: Option<String>,
    /// What a reader of the figure must know of this curve.
    #[serde(default)]
    pub(crate) note: Option<String>,
}

impl SimulationFile {
    /// Reads JSON if the text looks like it, TOML otherwise.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let json = text.trim_start().starts_with('{');
        let file: SimulationFile = if json { KIND.from_json(text)? } else { KIND.from_toml(text)? };
        KIND.check_version(file.version)?;
        if file.curves.is_empty() {
            return Err(
                Diagnostic::usage("the study has no curves").hint("add a [[curves]] with its scheduler")
            );
        }
        Ok(file)
    }
}

/// The `kind` of a study by simulation; one of schedulability has none.
const SIMULATION: &str = "simulation";

/// Whether a text is meant to be a study by simulation: `kind` says so.
///
/// # Errors
///
/// It has another kind.
pub(crate) fn is_simulation(text: &str) -> Result<bool> {
    let document: Option<Value> = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).ok(),
        false => KIND.from_toml(text).ok(),
    };
    let kind = document.as_ref().and_then(|document| document.get("kind")).and_then(Value::as_str);
    match kind {
        Some(kind) if kind != SIMULATION => Err(Names::of("kind", &[SIMULATION]).unknown(kind)),
        kind => Ok(kind.is_some()),
    }
}

/// The JSON Schema (draft 2020-12) of studies by simulation; published as `schemas/simulation-study.schema.json`.
pub fn simulation_study_schema() -> Value {
    let generated = schemars::schema_for!(SimulationFile).to_value();
    let mut schema = json!({
        "$schema": generated["$schema"],
        "$id": "https://laxity-rt.github.io/schemas/simulation-study.schema.json",
    });
    for key in ["title", "description", "type", "required", "properties", "additionalProperties", "$defs"] {
        schema[key] = generated[key].clone();
    }
    schema["properties"]["version"] =
        json!({ "description": "Version of this format.", "const": SIMULATION_STUDY_VERSION });
    schema["properties"]["generator"]["required"] = json!(["name"]);
    without_null(&mut schema);
    schema
}
