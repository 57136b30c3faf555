//! How fast working sets are walked alone, as `--calibration FILE` keeps it, in JSON.

use super::document::printable;
use super::plain::json_in_plain_words;
use crate::{AccessPattern, ByteSize, Diagnostic, Duration, Result, Task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the file.
const VERSION: u32 = 1;

/// What decides how fast a task walks alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalkKind {
    /// Size of the working set.
    pub size_bytes: u64,
    /// How much of it is memory of the kind that groups share.
    pub shared_bytes: u64,
    /// Whether it is walked in random order.
    pub random: bool,
    /// Reads to [`WalkKind::writes`].
    pub reads: u32,
    /// Writes to [`WalkKind::reads`].
    pub writes: u32,
}

impl WalkKind {
    /// That of a task.
    pub fn of(task: &Task) -> Self {
        let set = task.working_set;
        WalkKind {
            size_bytes: set.size_bytes,
            shared_bytes: task.group.as_ref().map_or(0, |group| group.shared_bytes),
            random: set.pattern == AccessPattern::Random,
            reads: set.reads,
            writes: set.writes,
        }
    }
}

/// Accesses, and the CPU time that they took: both above 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalkRates {
    rates: BTreeMap<WalkKind, (u64, Duration)>,
}

/// One working set in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    size_bytes: u64,
    shared_bytes: u64,
    random: bool,
    reads: u32,
    writes: u32,
    accesses: u64,
    span_ns: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    rates: Vec<Entry>,
}

impl WalkRates {
    /// Reads a file's text; `name` says which file in errors.
    ///
    /// # Errors
    ///
    /// What is no calibration of this version, with a rate of nothing, or two of one working set.
    pub fn from_json(text: &str, name: &str) -> Result<Self> {
        let bad = |why: String| {
            Diagnostic::usage(format!("{name} is no calibration: {why}"))
                .hint("use a file that --calibration has made, or name one that does not exist yet")
        };
        let document: Document =
            serde_json::from_str(text).map_err(|error| bad(printable(&json_in_plain_words(&error))))?;
        if document.version != VERSION {
            return Err(bad(format!("it has version {}, not {VERSION}", document.version)));
        }
        let mut all = WalkRates::default();
        for entry in document.rates {
            let Entry { size_bytes, shared_bytes, random, reads, writes, accesses, span_ns } = entry;
            if accesses == 0 || span_ns == 0 {
                return Err(bad(format!(
                    "{accesses} accesses in {span_ns} ns are no rate (both must be above 0)"
                )));
            }
            let kind = WalkKind { size_bytes, shared_bytes, random, reads, writes };
            if all.rates.insert(kind, (accesses, Duration::from_ns(span_ns))).is_some() {
                return Err(bad(format!("a working set of {} is there twice", ByteSize(size_bytes))));
            }
        }
        Ok(all)
    }

    /// The file's text.
    pub fn to_json(&self) -> String {
        let entry = |(kind, &(accesses, span)): (&WalkKind, &(u64, Duration))| Entry {
            size_bytes: kind.size_bytes,
            shared_bytes: kind.shared_bytes,
            random: kind.random,
            reads: kind.reads,
            writes: kind.writes,
            accesses,
            span_ns: span.as_ns(),
        };
        let document = Document { version: VERSION, rates: self.rates.iter().map(entry).collect() };
        serde_json::to_string_pretty(&document).expect("numbers and words") + "\n"
    }

    /// Adds a rate, in the place of one that is there already.
    ///
    /// Panics where one of the two is 0.
    pub fn insert(&mut self, kind: WalkKind, accesses: u64, span: Duration) {
        assert!(accesses > 0 && !span.is_zero(), "{accesses} accesses in {span} are no rate");
        self.rates.insert(kind, (accesses, span));
    }

    /// Kinds, accesses and the time that they took, in the order of the kinds.
    pub fn iter(&self) -> impl Iterator<Item = (WalkKind, u64, Duration)> {
        self.rates.iter().map(|(&kind, &(accesses, span))| (kind, accesses, span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(size_bytes: u64, accesses: u64) -> String {
        format!(
            "{{\"size_bytes\":{size_bytes},\"shared_bytes\":0,\"random\":false,\"reads\":4,\"writes\":1,\
             \"accesses\":{accesses},\"span_ns\":5}}"
        )
    }

    #[test]
    fn what_is_written_is_read_back() {
        let text = format!("{{\"version\":1,\"rates\":[{},{}]}}", rate(64, 7), rate(32, 9));
        let rates = WalkRates::from_json(&text, "x").expect("valid");
        let sizes: Vec<_> =
            rates.iter().map(|(kind, accesses, span)| (kind.size_bytes, accesses, span.as_ns())).collect();
        assert_eq!(sizes, [(32, 9, 5), (64, 7, 5)]);
        assert_eq!(WalkRates::from_json(&rates.to_json(), "x"), Ok(rates));
    }

    #[test]
    fn what_is_no_calibration_is_refused() {
        for (text, why) in [
            ("{".to_owned(), "the text ends"),
            ("{\"version\":2,\"rates\":[]}".to_owned(), "version 2"),
            (format!("{{\"version\":1,\"rates\":[{}]}}", rate(64, 0)), "0 accesses in 5 ns"),
            (format!("{{\"version\":1,\"rates\":[{},{}]}}", rate(64, 1), rate(64, 2)), "there twice"),
        ] {
            let error = WalkRates::from_json(&text, "rates.json").expect_err("refused");
            let named = error.message.starts_with("rates.json is no calibration: ");
            assert!(named && error.message.contains(why) && error.hint.is_some(), "{error:?}");
        }
    }
}
