//! How fast working sets are walked alone: measured, or read from a file, so that several calls give jobs the same work.

use laxity_model::{AccessPattern, ByteSize, Diagnostic, Duration, Result, Task, TaskSet};
use laxity_run::{AccessRate, access_rate};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// The version of the file.
const VERSION: u32 = 1;

/// What decides how fast a task walks alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Kind {
    size_bytes: u64,
    /// How much of it is memory of the kind that groups share.
    shared_bytes: u64,
    random: bool,
    reads: u32,
    writes: u32,
}

impl Kind {
    fn of(task: &Task) -> Self {
        let set = task.working_set;
        Kind {
            size_bytes: set.size_bytes,
            shared_bytes: task.group.as_ref().map_or(0, |group| group.shared_bytes),
            random: set.pattern == AccessPattern::Random,
            reads: set.reads,
            writes: set.writes,
        }
    }
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

/// Rates of all working sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calibration {
    rates: BTreeMap<Kind, AccessRate>,
}

impl Calibration {
    /// The rates of the sets' tasks: from `file` what it has, the others measured now, and kept there.
    ///
    /// # Errors
    ///
    /// A file that is no calibration, or cannot be read or written; no memory for a working set.
    pub fn of(sets: &[TaskSet], seed: u64, file: Option<&Path>) -> Result<Self> {
        let mut calibration = file.map_or(Ok(Calibration::default()), Calibration::read)?;
        let known = calibration.rates.len();
        for (_, task) in sets.iter().flat_map(TaskSet::real_time) {
            let kind = Kind::of(task);
            if let std::collections::btree_map::Entry::Vacant(entry) = calibration.rates.entry(kind) {
                entry.insert(access_rate(&task.working_set, kind.shared_bytes, seed)?);
            }
        }
        if let Some(file) = file.filter(|_| calibration.rates.len() > known) {
            calibration.write(file)?;
        }
        Ok(calibration)
    }

    /// What a file has; nothing if there is none yet.
    fn read(file: &Path) -> Result<Self> {
        let text = match fs::read(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Calibration::default()),
            Err(error) => return Err(cannot("read", file, &error)),
        };
        let bad = |why: String| {
            Diagnostic::usage(format!("{} is no calibration: {why}", file.display()))
                .hint("use a file that --calibration has made, or name one that does not exist yet")
        };
        let document: Document = serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?;
        if document.version != VERSION {
            return Err(bad(format!("it has version {}, not {VERSION}", document.version)));
        }
        let mut calibration = Calibration::default();
        for entry in document.rates {
            let Entry { size_bytes, shared_bytes, random, reads, writes, accesses, span_ns } = entry;
            let rate = AccessRate::of(accesses, Duration::from_ns(span_ns)).ok_or_else(|| {
                bad(format!("{accesses} accesses in {span_ns} ns are no rate (both must be above 0)"))
            })?;
            let kind = Kind { size_bytes, shared_bytes, random, reads, writes };
            if calibration.rates.insert(kind, rate).is_some() {
                return Err(bad(format!("a working set of {} is there twice", ByteSize(size_bytes))));
            }
        }
        Ok(calibration)
    }

    fn write(&self, file: &Path) -> Result<()> {
        let entry = |(kind, rate): (&Kind, &AccessRate)| Entry {
            size_bytes: kind.size_bytes,
            shared_bytes: kind.shared_bytes,
            random: kind.random,
            reads: kind.reads,
            writes: kind.writes,
            accesses: rate.accesses(),
            span_ns: rate.span().as_ns(),
        };
        let document = Document { version: VERSION, rates: self.rates.iter().map(entry).collect() };
        let text = serde_json::to_string_pretty(&document).expect("numbers and words");
        fs::write(file, text + "\n").map_err(|error| cannot("write", file, &error))
    }

    /// The rate of a task of the sets.
    ///
    /// Panics for a task of another set.
    pub fn rate(&self, task: &Task) -> AccessRate {
        self.rates[&Kind::of(task)]
    }

    /// One line per working set of these sets, for the results.
    pub fn lines(&self, sets: &[TaskSet]) -> Vec<String> {
        let mut kinds: Vec<Kind> =
            sets.iter().flat_map(TaskSet::real_time).map(|(_, task)| Kind::of(task)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let line = |kind: &Kind| {
            let Kind { size_bytes, shared_bytes, random, reads, writes } = *kind;
            let shared =
                if shared_bytes == 0 { String::new() } else { format!(", {shared_bytes} of them shared,") };
            let pattern = if random { "Random" } else { "Sequential" };
            format!(
                "{size_bytes} bytes{shared} {pattern} {reads}:{writes}: {:.2} ns per access",
                self.rates[kind].ns_per_access()
            )
        };
        kinds.iter().map(line).collect()
    }
}

fn cannot(what: &str, file: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::usage(format!("cannot {what} {}: {error}", file.display()))
        .hint("name a file with --calibration that can be read and written")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(sizes: &[u64]) -> TaskSet {
        let task = |(id, &size): (usize, &u64)| {
            let mut task = Task::periodic(format!("t{id}"), Duration::from_ms(1), Duration::from_ms(10));
            task.working_set.size_bytes = size;
            task
        };
        TaskSet::new("set", sizes.iter().enumerate().map(task).collect()).expect("valid")
    }

    #[test]
    fn what_a_file_has_is_not_measured_again() {
        let directory = tempfile::tempdir().expect("directory");
        let file = directory.path().join("rates.json");
        let first = Calibration::of(&[set(&[4096, 64])], 1, Some(&file)).expect("measured");
        assert_eq!(Calibration::of(&[set(&[64, 4096])], 1, Some(&file)), Ok(first.clone()));
        // A third one is measured, and the others stay as they were.
        let more = Calibration::of(&[set(&[64, 1 << 16])], 1, Some(&file)).expect("measured");
        assert_eq!(Calibration::read(&file), Ok(more.clone()));
        assert_eq!((first.rates.len(), more.rates.len()), (2, 3));
        assert!(first.rates.iter().all(|(kind, rate)| more.rates[kind] == *rate));
        assert_eq!(more.lines(&[set(&[64])]).len(), 1, "only those of the sets");
    }

    #[test]
    fn what_is_no_calibration_is_refused() {
        let directory = tempfile::tempdir().expect("directory");
        let file = directory.path().join("rates.json");
        let rate = |accesses| {
            format!(
                "{{\"size_bytes\":64,\"shared_bytes\":0,\"random\":false,\"reads\":4,\"writes\":1,\"accesses\":{accesses},\"span_ns\":5}}"
            )
        };
        for (text, why) in [
            ("{".to_owned(), "EOF"),
            ("{\"version\":2,\"rates\":[]}".to_owned(), "version 2"),
            (format!("{{\"version\":1,\"rates\":[{}]}}", rate(0)), "0 accesses in 5 ns"),
            (format!("{{\"version\":1,\"rates\":[{},{}]}}", rate(1), rate(2)), "there twice"),
        ] {
            fs::write(&file, text).expect("write");
            let error = Calibration::read(&file).expect_err("refused");
            assert!(error.message.contains(why) && error.hint.is_some(), "{error:?}");
        }
        assert!(Calibration::read(directory.path()).is_err(), "a directory");
    }
}
