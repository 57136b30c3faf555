//! The file that describes a study, as it is written: one format, of which some keys are of one back end only.

use crate::axis::Variable;
use laxity_analysis::Guarantee;
use laxity_model::{Diagnostic, DocumentEntries, DocumentKind, Names, Result};
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

laxity_model::listed_enum! {
    /// The back end: how the sets are judged.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum StudyKind {
        /// They are proven schedulable, or not.
        #[default]
        Schedulability,
        /// They are placed and simulated.
        Simulation,
    }
}

impl StudyKind {
    /// As in files.
    pub fn name(self) -> &'static str {
        match self {
            StudyKind::Schedulability => "schedulability",
            StudyKind::Simulation => "simulation",
        }
    }
}

/// Keys that are of one kind of study only: where they stand, and which they are.
struct OwnKeys {
    study: &'static [&'static str],
    platform: &'static [&'static str],
    curve: &'static [&'static str],
}

const OF_SCHEDULABILITY: OwnKeys = OwnKeys {
    study: &["steps", "guarantees"],
    platform: &["cluster"],
    curve: &[
        "guarantees",
        "tests",
        "overheads",
        "overheads_hard",
        "overheads_soft",
        "cache_delays",
        "shared_cache",
        "tick_period",
        "displacements",
    ],
};

const OF_SIMULATION: OwnKeys = OwnKeys {
    study: &["duration", "grace", "demand", "costs", "metrics", "ordinary"],
    platform: &["name", "file"],
    curve: &["admission", "tardiness-bound", "overload", "costs", "batching"],
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

/// A study: which task sets, how many, on which CPUs, and under each curve whether they are proven schedulable, or
/// how they fare when they are simulated. Numbers may be multiples of m, the number of CPUs, as in "5m". Files that are named are looked
/// for beside this one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "laxity study", rename = "study")]
pub(crate) struct StudyFile {
    /// The schema, for editors.
    #[serde(rename = "$schema", default)]
    pub(crate) _schema: Option<String>,
    /// Version of this format.
    pub(crate) version: u64,
    /// schedulability: sets are proven, or not; simulation: they are placed and simulated. schedulability if it is not given.
    #[serde(default)]
    pub(crate) kind: StudyKind,
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
    /// Of schedulability: how many steps a test may take on a set; 4294967296 if it is not given.
    #[serde(default)]
    pub(crate) steps: Option<u64>,
    /// The CPUs.
    #[serde(default)]
    pub(crate) platform: PlatformFile,
    /// By simulation: how long jobs are released in every simulation: "10s". At most 1000s.
    #[serde(default)]
    pub(crate) duration: Option<String>,
    /// By simulation: how much longer a simulation goes on, so that late jobs can end; the longest relative deadline, but 50ms to 10s, if
    /// it is not given.
    #[serde(default)]
    pub(crate) grace: Option<String>,
    /// By simulation: what jobs ask for, as for `laxity simulate --demand`; wcet if it is not given. Where `overrun` varies, the share of
    /// the reported WCET that jobs ask for at an overrun of 1.
    #[serde(default)]
    pub(crate) demand: Option<Written>,
    /// By simulation: what everything costs, unless a curve says otherwise: a costs file; nothing if it is not given.
    #[serde(default)]
    pub(crate) costs: Option<String>,
    /// By simulation: what is measured, by name (`laxity study --help` has them); all if it is not given.
    #[serde(default)]
    pub(crate) metrics: Option<Vec<String>>,
    /// What varies.
    pub(crate) axis: AxisFile,
    /// What draws task sets: `name` is that of a generator, the rest are its parameters, as on the command line (`laxity list`),
    /// without what varies. `files` takes sets from the files of a `directory`, `command` those that a command prints (`run`); in both,
    /// `{name}` stands for what varies or a parameter of that name, in `run` also `{seed}` and `{index}`.
    pub(crate) generator: BTreeMap<String, Written>,
    /// More values of the generator's parameters: every combination is a family of task sets, with figures of its own.
    #[serde(default)]
    pub(crate) matrix: BTreeMap<String, Vec<Written>>,
    /// Of schedulability: what is to be proven: hard, soft, or both side by side; hard if it is not given.
    #[serde(default)]
    pub(crate) guarantees: Option<Vec<WrittenGuarantee>>,
    /// By simulation: background tasks beside the real-time ones, and what is reserved for them; none if it is not given.
    #[serde(default)]
    pub(crate) ordinary: MixedFile,
    /// The curves of every figure.
    pub(crate) curves: Vec<CurveFile>,
}

/// The CPUs: their number, or, by simulation, a machine; nothing where their number varies.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "platform")]
pub(crate) struct PlatformFile {
    /// m, unless that is what varies: so many identical CPUs, which share all caches.
    #[serde(default)]
    pub(crate) processors: Option<u32>,
    /// Of schedulability: CPUs in each cluster, for clustered schedulers; a divisor of m. All are one cluster if it is not given.
    #[serde(default)]
    pub(crate) cluster: Option<u32>,
    /// By simulation: a machine that comes with laxity (`laxity list`).
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// By simulation: a platform file.
    #[serde(default)]
    pub(crate) file: Option<String>,
}

/// What varies: from where to where in which steps, or the values one by one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "axis")]
pub(crate) struct AxisFile {
    /// tasks: n; utilization: the total U; processors: m.
    pub(crate) of: Variable,
    /// The first value.
    #[serde(default)]
    pub(crate) from: Option<Written>,
    /// No value is above this.
    #[serde(default)]
    pub(crate) to: Option<Written>,
    /// From one value to the next.
    #[serde(default)]
    pub(crate) step: Option<Written>,
    /// Instead of `from`, `to` and `step`: all values, ascending.
    #[serde(default)]
    pub(crate) values: Option<Vec<Written>>,
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

/// Background tasks, drawn as calandrino2007 (5.1) does, and the deferrable servers and the reserve that let them go first.
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
    /// What real-time tasks leave of every CPU to background tasks while these wait, in percent: 0 to 90. Nothing if it is not given.
    #[serde(default)]
    pub(crate) reserve: Option<u8>,
    /// The time within which `reserve` is granted, 10ms to 10s; 1s if it is not given.
    #[serde(default)]
    pub(crate) reserve_period: Option<String>,
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

/// Whether jobs that are displaced where other CPUs are idle pay for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DisplacementsWord {
    /// They do: what is proven holds.
    Counted,
    /// They do not, as the papers have it: sets are accepted that miss.
    Ignored,
}

/// A curve: a scheduler, how tasks are placed, and what scheduling costs.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "curve")]
pub(crate) struct CurveFile {
    /// What it is called in figures. If it is not given: of schedulability, its scheduler's name; by simulation, its placement's, and its
    /// scheduler's where nothing is placed.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The scheduler's name (`laxity list`). Of schedulability also `g-fl`, or `pfair` with any of :aligned, :staggered and :dedicated
    /// behind it; by simulation one that can be simulated.
    pub(crate) scheduler: String,
    /// How tasks are placed under partitioned and clustered schedulers; ffd if it is not given. Not ilp, which can search for
    /// seconds for each set. Refused where nothing is placed: under a global scheduler, and of schedulability also with one cluster
    /// of all CPUs.
    #[serde(default)]
    pub(crate) placement: Option<String>,
    /// What may be placed together: test, utilization, density or dbf. test is, of schedulability, the tests by which the curve is
    /// judged, with overheads, and by simulation what the scheduler's schedulability test proves, as if scheduling cost nothing. If it
    /// is not given: of schedulability, test; by simulation, density where deadlines are short, else utilization.
    #[serde(default)]
    pub(crate) fit: Option<String>,
    /// Of schedulability: for which of the study's guarantees the curve is drawn; all if it is not given.
    #[serde(default)]
    pub(crate) guarantees: Option<Vec<WrittenGuarantee>>,
    /// Of schedulability: tests by name (`laxity list tests`), of which one has to accept: at least one for each guarantee that the
    /// curve is drawn for, and none for another. Those that know the scheduler best if it is not given.
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    /// Of schedulability: what scheduling costs: a CSV file in µs with the header TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK,
    /// RELEASE-LATENCY, or the name of one that laxity comes with (`laxity list`); nothing if it is not given.
    #[serde(default)]
    pub(crate) overheads: Option<String>,
    /// The same, for hard guarantees only, for which the curve has to be drawn.
    #[serde(default)]
    pub(crate) overheads_hard: Option<String>,
    /// The same, for soft guarantees only, for which the curve has to be drawn.
    #[serde(default)]
    pub(crate) overheads_soft: Option<String>,
    /// Of schedulability: cache-related preemption and migration delays: a CSV file in KiB and µs with the header WSS, MEM, L1, L2, L3.
    #[serde(default)]
    pub(crate) cache_delays: Option<String>,
    /// Of schedulability: the level of the cache that all CPUs share among which jobs migrate; only memory if it is not given.
    #[serde(default)]
    pub(crate) shared_cache: Option<u32>,
    /// Of schedulability: from one timer tick to the next, and the quantum of pfair, also without overheads; 1ms if it is not given.
    #[serde(default)]
    pub(crate) tick_period: Option<String>,
    /// Of schedulability, with overheads, under schedulers that push jobs between CPUs (SCHED_DEADLINE, SCHED_FIFO, push-pull): counted, or
    /// ignored, as the papers have it, by which sets are accepted that miss. counted if it is not given.
    #[serde(default)]
    pub(crate) displacements: Option<DisplacementsWord>,
    /// By simulation, instead of `placement`: tasks are admitted one by one as they enter, each onto the slowest CPU that can take it, and
    /// those that are refused are left out (amp-rm).
    #[serde(default)]
    pub(crate) admission: Option<AdmissionWord>,
    /// With `admission = "ignores-double-hit"`: a task is admitted only where Theorem 1 bounds the tardiness of every task by that
    /// much (calandrino2007, 4.2), such as "0ms", which counts the double hit as one more budget. Any tardiness if it is not given.
    #[serde(default, rename = "tardiness-bound")]
    pub(crate) tardiness_bound: Option<String>,
    /// By simulation: the rule for a task that fits nowhere: refuse, which makes the set one that could not be placed, or
    /// least-loaded. refuse if it is not given.
    #[serde(default)]
    pub(crate) overload: Option<String>,
    /// By simulation: what everything costs: a costs file, instead of the study's.
    #[serde(default)]
    pub(crate) costs: Option<String>,
    /// By simulation, under laxity's own policies: whether jobs that are released at one instant are released together, by one timer;
    /// yes if it is not given.
    #[serde(default)]
    pub(crate) batching: Option<bool>,
    /// What a reader of the figure must know of this curve.
    #[serde(default)]
    pub(crate) note: Option<String>,
}

impl StudyFile {
    /// Reads JSON if the text looks like it, TOML otherwise.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let is_json = text.trim_start().starts_with('{');
        let document: Option<Value> =
            if is_json { serde_json::from_str(text).ok() } else { KIND.from_toml(text).ok() };
        let kind = document.as_ref().map(check_kind).transpose()?;
        let file: StudyFile = if is_json { KIND.from_json(text)? } else { KIND.from_toml(text)? };
        KIND.check_version(file.version)?;
        if let Some((document, kind)) = document.as_ref().zip(kind) {
            check_keys(document, kind)?;
        }
        if file.curves.is_empty() {
            return Err(
                Diagnostic::usage("the study has no curves").hint("add a [[curves]] with its scheduler")
            );
        }
        Ok(file)
    }
}

/// Which kind of study a document is; one that does not say so is of schedulability. What is no word is for its reader to refuse.
fn check_kind(document: &Value) -> Result<StudyKind> {
    let Some(word) = document.get("kind").and_then(Value::as_str) else { return Ok(StudyKind::default()) };
    StudyKind::ALL.into_iter().find(|kind| kind.name() == word).ok_or_else(|| {
        let names = StudyKind::ALL.map(StudyKind::name);
        Names::of("kind", &names).unknown(word)
    })
}

/// Refuses keys that mean nothing in a study of this kind.
fn check_keys(document: &Value, kind: StudyKind) -> Result<()> {
    let (foreign, other) = match kind {
        StudyKind::Schedulability => (&OF_SIMULATION, StudyKind::Simulation),
        StudyKind::Simulation => (&OF_SCHEDULABILITY, StudyKind::Schedulability),
    };
    let refused = |found: &Value, keys: &[&str], place: &str| {
        keys.iter().find(|key| found.get(key).is_some()).map_or(Ok(()), |key| {
            let (own, other) = (kind.name(), other.name());
            Err(Diagnostic::usage(format!(
                "{place}`{key}` is of studies of kind = \"{other}\", and this one is of kind = \"{own}\""
            ))
            .hint(format!(
                "leave it out, or write `kind = \"{other}\"` at the top (schemas/study.schema.json)"
            )))
        })
    };
    refused(document, foreign.study, "")?;
    document.get("platform").map_or(Ok(()), |found| refused(found, foreign.platform, "platform: "))?;
    let curves = document.get("curves").and_then(Value::as_array).into_iter().flatten();
    for (number, curve) in (1..).zip(curves) {
        let name = curve.get("name").and_then(Value::as_str);
        let place = name
            .map_or(format!("curve {number}: "), |name| format!("curve `{}`: ", laxity_model::shown(name)));
        refused(curve, foreign.curve, &place)?;
    }
    Ok(())
}

/// The JSON Schema (draft 2020-12) of study files; published as `schemas/study.schema.json`.
pub fn study_schema() -> Value {
    let mut schema = laxity_model::read_schema::<StudyFile>("study", STUDY_VERSION);
    schema["properties"]["generator"]["required"] = json!(["name"]);
    let (steps, values) = (["from", "to", "step"], ["values"]);
    let only = |own: &[&str], other: &[&str]| {
        let none = other.iter().map(|&key| (key.to_owned(), json!(false)));
        json!({ "required": own, "properties": none.collect::<serde_json::Map<_, _>>() })
    };
    let listed = only(&values, &[&steps[..], &["refine"]].concat());
    schema["$defs"]["axis"]["oneOf"] = json!([only(&steps, &values), listed]);
    let mut simulation = without(&OF_SCHEDULABILITY);
    simulation["required"] = json!(["duration"]);
    schema["if"] =
        json!({ "required": ["kind"], "properties": { "kind": { "const": StudyKind::Simulation.name() } } });
    schema["then"] = simulation;
    schema["else"] = without(&OF_SIMULATION);
    schema
}

/// Without any of these keys.
fn without(keys: &OwnKeys) -> Value {
    let none = |keys: &[&str]| {
        keys.iter().map(|&key| (key.to_owned(), json!(false))).collect::<serde_json::Map<_, _>>()
    };
    let mut properties = none(keys.study);
    properties.insert("platform".to_owned(), json!({ "properties": none(keys.platform) }));
    properties.insert("curves".to_owned(), json!({ "items": { "properties": none(keys.curve) } }));
    json!({ "properties": properties })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that is listed for a kind and is none of the format would be refused nowhere.
    #[test]
    fn every_key_of_one_kind_is_a_key_of_the_format() {
        let schema = study_schema();
        let of = |place: &Value, keys: &[&str]| keys.iter().all(|key| place["properties"].get(key).is_some());
        for keys in [OF_SCHEDULABILITY, OF_SIMULATION] {
            assert!(of(&schema, keys.study) && of(&schema["$defs"]["platform"], keys.platform));
            assert!(of(&schema["$defs"]["curve"], keys.curve));
        }
    }
}
