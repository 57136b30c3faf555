//! How single values are written in files: the text is kept until its task is known, so that an error can
//! name the task and the field.

use crate::{Diagnostic, Result};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// Integers above this lose digits in readers that keep numbers as floats (RFC 7493, 2.2).
const INTEROPERABLE_MAX: u64 = 1 << 53;

/// One way of writing a value.
pub(super) trait Notation {
    /// Name of its definition in the schema.
    const NAME: &'static str;
    /// What was expected, for "invalid type" errors.
    const EXPECTED: &'static str;
    /// Its JSON Schema.
    fn schema() -> Schema;
    /// The text of an integer in the file, if integers are allowed.
    fn integer(_value: u64) -> Option<String> {
        None
    }
    /// The text of a decimal number in the file, if those are allowed.
    fn decimal(_value: f64) -> Option<String> {
        None
    }
    /// The integer to write in place of the text.
    fn as_integer(_text: &str) -> Option<u64> {
        None
    }
}

/// A value as it stands in the file.
pub(super) struct Written<N>(String, PhantomData<N>);

impl<N> Written<N> {
    /// The notation of `value`.
    pub fn of(value: impl fmt::Display) -> Self {
        Written(value.to_string(), PhantomData)
    }

    /// Reads the value; an error names the field.
    pub fn read<T: FromStr<Err = Diagnostic>>(&self, field: &str) -> Result<T> {
        self.0.parse().map_err(|e: Diagnostic| e.context(field))
    }

    /// The text itself.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl<N: Notation> Serialize for Written<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match N::as_integer(&self.0) {
            Some(integer) => serializer.serialize_u64(integer),
            None => serializer.serialize_str(&self.0),
        }
    }
}

impl<'de, N: Notation> Deserialize<'de> for Written<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenVisitor(PhantomData))
    }
}

struct WrittenVisitor<N>(PhantomData<N>);

impl<N: Notation> Visitor<'_> for WrittenVisitor<N> {
    type Value = Written<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(N::EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Self::Value, E> {
        Ok(Written::of(text))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<Self::Value, E> {
        let text = N::integer(value);
        text.map(Written::of).ok_or_else(|| E::invalid_type(de::Unexpected::Unsigned(value), &self))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<Self::Value, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(value), &self)),
        }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> std::result::Result<Self::Value, E> {
        let text = N::decimal(value);
        text.map(Written::of).ok_or_else(|| E::invalid_type(de::Unexpected::Float(value), &self))
    }
}

impl<N: Notation> JsonSchema for Written<N> {
    fn schema_name() -> Cow<'static, str> {
        N::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        N::schema()
    }
}

/// A span of time.
pub(super) struct Time;

impl Notation for Time {
    const NAME: &'static str = "time";
    const EXPECTED: &'static str = "a time in quotes with a unit, such as \"10ms\"";

    fn schema() -> Schema {
        json_schema!({
            "description": "A time with a unit (ns, us, ms, s, m for minutes, or h), exact to the nanosecond: \"10ms\", \"1.5ms\", \"250us\".",
            "type": "string",
            "pattern": "^\\s*([0-9]+\\.?[0-9]*|\\.[0-9]+)\\s*(ns|us|µs|μs|ms|s|m|min|h)\\s*$",
        })
    }
}

/// A number of bytes.
pub(super) struct Size;

impl Notation for Size {
    const NAME: &'static str = "size";
    const EXPECTED: &'static str = "a size such as \"16KiB\", or a number of bytes";

    fn schema() -> Schema {
        json_schema!({
            "description": "A number of bytes: an integer, or text with a unit. KiB, MiB, GiB, TiB are powers of 1024; kB (KB), MB, GB, TB powers of 1000.",
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": "^\\s*[0-9]+\\s*(B|KiB|MiB|GiB|TiB|kB|KB|MB|GB|TB)\\s*$" },
            ],
        })
    }

    fn integer(value: u64) -> Option<String> {
        Some(format!("{value}B"))
    }
}

/// A 64-bit number that is not a quantity (a seed).
pub(super) struct Whole;

impl Notation for Whole {
    const NAME: &'static str = "whole";
    const EXPECTED: &'static str = "a whole number of at least 0";

    fn schema() -> Schema {
        json_schema!({
            "description": "A whole number below 2^64; as decimal text where it exceeds 2^53.",
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": "^[0-9]+$" },
            ],
        })
    }

    fn integer(value: u64) -> Option<String> {
        Some(value.to_string())
    }

    fn as_integer(text: &str) -> Option<u64> {
        text.parse().ok().filter(|&value| value <= INTEROPERABLE_MAX)
    }
}

/// A CPU's relative speed.
pub(super) struct Ratio;

impl Notation for Ratio {
    const NAME: &'static str = "speed";
    const EXPECTED: &'static str = "a speed such as 1, 0.5 or \"3/4\"";

    fn schema() -> Schema {
        json_schema!({
            "description": "Speed relative to the CPU that WCETs refer to: 1, 0.5 or, exactly, \"3/4\".",
            "anyOf": [
                { "type": "number", "exclusiveMinimum": 0 },
                { "type": "string", "pattern": "^\\s*([0-9]+\\.?[0-9]*|\\.[0-9]+|[0-9]+\\s*/\\s*[0-9]+)\\s*$" },
            ],
        })
    }

    fn integer(value: u64) -> Option<String> {
        Some(value.to_string())
    }

    fn decimal(value: f64) -> Option<String> {
        // The shortest decimal that denotes this float: what was written, unless it had over 15 digits.
        value.is_finite().then(|| value.to_string())
    }

    fn as_integer(text: &str) -> Option<u64> {
        text.parse::<u32>().ok().map(u64::from)
    }
}

/// A set of CPUs.
pub(super) struct Cpus;

impl Notation for Cpus {
    const NAME: &'static str = "cpus";
    const EXPECTED: &'static str = "a list of CPUs in quotes, such as \"0-3,8\"";

    fn schema() -> Schema {
        json_schema!({
            "description": "CPU numbers and ranges in the kernel's list format: \"0-3,8\".",
            "type": "string",
            "pattern": "^[0-9,\\s-]*$",
        })
    }
}

/// The reads and writes of a working set.
pub(super) struct ReadsToWrites;

impl Notation for ReadsToWrites {
    const NAME: &'static str = "reads_to_writes";
    const EXPECTED: &'static str = "a ratio in quotes, such as \"4:1\"";

    fn schema() -> Schema {
        json_schema!({
            "description": "Reads to writes: \"4:1\" is four reads, then one write.",
            "type": "string",
            "pattern": "^\\s*[0-9]+\\s*:\\s*[0-9]+\\s*$",
        })
    }
}

/// How much of its WCET a job asks for.
pub(super) struct Share;

impl Notation for Share {
    const NAME: &'static str = "demand";
    const EXPECTED: &'static str = "a demand in quotes, such as \"wcet\", \"0.8\" or \"uniform:0.5,1\"";

    fn schema() -> Schema {
        json_schema!({
            "description": "What a job asks for, as a share of the WCET: \"wcet\", \"0.8\", \"uniform:LOW,HIGH\", \"normal:MEAN,SD\" or \"bimodal:LOW,HIGH,PROBABILITY_OF_HIGH\".",
            "type": "string",
            "pattern": "^\\s*([wW][cC][eE][tT]|[0-9.]+|([uU][nN][iI][fF][oO][rR][mM]|[nN][oO][rR][mM][aA][lL]|[bB][iI][mM][oO][dD][aA][lL]):[0-9., ]+)\\s*$",
        })
    }
}

/// A list that is refused while it is read when it grows past `MAX`, before it fills the memory.
pub(super) struct Bounded<T, const MAX: usize>(pub Vec<T>);

impl<T, const MAX: usize> Default for Bounded<T, MAX> {
    fn default() -> Self {
        Bounded(Vec::new())
    }
}

impl<T, const MAX: usize> Bounded<T, MAX> {
    /// True for a list that need not be written.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize, const MAX: usize> Serialize for Bounded<T, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Bounded<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct ListVisitor<T, const MAX: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for ListVisitor<T, MAX> {
            type Value = Bounded<T, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MAX} entries")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = list.next_element()? {
                    if entries.len() == MAX {
                        return Err(de::Error::custom(format!(
                            "the list has more than {MAX} entries, the limit"
                        )));
                    }
                    entries.push(entry);
                }
                Ok(Bounded(entries))
            }
        }

        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

impl<T: JsonSchema, const MAX: usize> JsonSchema for Bounded<T, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("list_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array",
            "items": generator.subschema_for::<T>(),
            "maxItems": MAX,
        })
    }
}
