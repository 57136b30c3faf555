//! What a costs file may give: a cost, or the delays of cold caches, in the file itself or in one that it names.

use super::cache_costs::MeasuredDelays;
use super::{Cost, Distribution, PiecewiseLinear, field_csv};
use laxity_model::{Diagnostic, Duration, Result, read_file};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// A cost as it stands in the file.
pub(super) enum WrittenCost {
    /// A time, a distribution, or `empirical:FILE`.
    Text(String),
    /// Numbers of tasks and times.
    Points(Vec<(u64, String)>),
    /// Measured times.
    Samples(Vec<String>),
}

/// The delays of cold caches as they stand in the file.
pub(super) enum WrittenDelays {
    /// The CSV file that has them.
    File(String),
    /// Working sets in bytes and times, by `memory`, `l1` ...
    Points(BTreeMap<String, Vec<(u64, String)>>),
}

impl<'de> Deserialize<'de> for WrittenCost {
    /// Written out because an untagged enum would answer every slip with "did not match any variant".
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct CostVisitor;

        impl<'de> de::Visitor<'de> for CostVisitor {
            type Value = WrittenCost;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a time such as \"2us\", a distribution such as \"uniform:1us,5us\", or points such as [[10, \"1us\"], [20, \"2us\"]], or { samples = [\"1us\", \"2us\"] }",
                )
            }

            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<WrittenCost, E> {
                Ok(WrittenCost::Text(text.to_owned()))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> std::result::Result<WrittenCost, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(list)).map(WrittenCost::Points)
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> std::result::Result<WrittenCost, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Measured {
                    samples: Vec<String>,
                }
                let measured = Measured::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(WrittenCost::Samples(measured.samples))
            }
        }

        deserializer.deserialize_any(CostVisitor)
    }
}

impl JsonSchema for WrittenCost {
    fn schema_name() -> Cow<'static, str> {
        "cost".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time (\"2us\"), a distribution (\"uniform:LOW,HIGH\", \"normal:MEAN,SD[,MAX]\", \"exponential:MEAN[,MAX]\", \"empirical:FILE\" with one column headed ns or us), a function of the number of tasks by its points ([[10, \"1us\"], [20, \"2us\"]]), or measured times ({ samples = [\"1us\", \"2us\"] }).",
            "anyOf": [
                { "type": "string" },
                points_schema(),
                {
                    "type": "object",
                    "properties": {
                        "samples": { "type": "array", "minItems": 1, "items": { "type": "string" } },
                    },
                    "required": ["samples"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

fn points_schema() -> Value {
    json!({
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "array",
            "prefixItems": [{ "type": "integer", "minimum": 0 }, { "type": "string" }],
            "minItems": 2,
            "maxItems": 2,
        },
    })
}

impl<'de> Deserialize<'de> for WrittenDelays {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct DelaysVisitor;

        impl<'de> de::Visitor<'de> for DelaysVisitor {
            type Value = WrittenDelays;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "the name of a CSV file, or points by place such as { memory = [[4096, \"1us\"]] }",
                )
            }

            fn visit_str<E: de::Error>(self, name: &str) -> std::result::Result<WrittenDelays, E> {
                Ok(WrittenDelays::File(name.to_owned()))
            }

            fn visit_map<A: de::MapAccess<'de>>(
                self,
                map: A,
            ) -> std::result::Result<WrittenDelays, A::Error> {
                BTreeMap::deserialize(de::value::MapAccessDeserializer::new(map)).map(WrittenDelays::Points)
            }
        }

        deserializer.deserialize_any(DelaysVisitor)
    }
}

impl JsonSchema for WrittenDelays {
    fn schema_name() -> Cow<'static, str> {
        "delays".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let points = points_schema();
        json_schema!({
            "description": "A CSV file, or points (bytes of the working set and times) by the closest place that has it.",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": { "l1": points, "l2": points, "l3": points, "l4": points, "memory": points },
                    "required": ["memory"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

/// A function through points that are given as text; `what` an x is.
fn function(points: Vec<(u64, String)>, what: &str) -> Result<PiecewiseLinear> {
    let point = |(x, time): (u64, String)| -> Result<(u64, u64)> {
        let time: Duration = time.parse().map_err(|e: Diagnostic| e.context(format!("at {x} {what}")))?;
        Ok((x, time.as_ns()))
    };
    PiecewiseLinear::through(points.into_iter().map(point).collect::<Result<Vec<_>>>()?)
}

impl WrittenCost {
    /// The cost; files are looked for in `folder`.
    pub(super) fn read(self, folder: &Path) -> Result<Cost> {
        match self {
            WrittenCost::Text(text) => match text.trim().strip_prefix("empirical:") {
                Some(name) => {
                    read_file(&folder.join(name.trim()), field_csv::samples).map(Cost::Distribution)
                }
                None => text.parse(),
            },
            WrittenCost::Points(points) => function(points, "tasks").map(Cost::PiecewiseLinear),
            WrittenCost::Samples(times) => {
                let times: Vec<Duration> =
                    times.iter().map(|time| time.parse()).collect::<Result<Vec<_>>>()?;
                Distribution::empirical(times).map(Cost::Distribution)
            }
        }
    }
}

impl WrittenDelays {
    /// The delays; a file is looked for in `folder`.
    pub(super) fn read(self, folder: &Path) -> Result<MeasuredDelays> {
        let by_place = match self {
            WrittenDelays::File(name) => return read_file(&folder.join(name), field_csv::cache_delays),
            WrittenDelays::Points(by_place) => by_place,
        };
        let (mut levels, mut memory) = (BTreeMap::new(), None);
        for (place, points) in by_place {
            let function = function(points, "bytes").map_err(|e| e.context(&place))?;
            match place.strip_prefix('l').and_then(|level| level.parse::<u32>().ok()) {
                Some(level @ 1..=4) => _ = levels.insert(level, function),
                None if place == "memory" => memory = Some(function),
                _ => {
                    return Err(Diagnostic::usage(format!(
                        "`{place}` is no place where a working set may be"
                    ))
                    .hint("known are l1, l2, l3, l4 and memory"));
                }
            }
        }
        let memory = memory.ok_or_else(|| {
            Diagnostic::usage("there is no `memory`")
                .hint("it has the delays of migrations that share no cache")
        })?;
        Ok(MeasuredDelays { levels, memory })
    }
}
