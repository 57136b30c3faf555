//! How fast working sets are walked alone: measured, or read from a file, so that several calls give jobs the same work.

use laxity_model::{
    Existing, Result, ShownPath as _, Task, TaskSet, WalkKind, WalkRates, read_file, write_file,
};
use laxity_run::{AccessRate, access_rate};
use std::collections::BTreeMap;
use std::path::Path;

/// Rates of all working sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calibration {
    rates: BTreeMap<WalkKind, AccessRate>,
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
            let kind = WalkKind::of(task);
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
        if !file.exists() {
            return Ok(Calibration::default());
        }
        let name = file.shown().to_string();
        let rates = read_file(file, |text| WalkRates::from_json(text, &name))?;
        let rate = |accesses, span| AccessRate::of(accesses, span).expect("read: both are above 0");
        Ok(Calibration {
            rates: rates.iter().map(|(kind, accesses, span)| (kind, rate(accesses, span))).collect(),
        })
    }

    fn write(&self, file: &Path) -> Result<()> {
        let mut rates = WalkRates::default();
        for (&kind, rate) in &self.rates {
            rates.insert(kind, rate.accesses(), rate.span());
        }
        // What the file had is among the rates, so nothing of it is lost.
        write_file(file, rates.to_json().as_bytes(), Existing::Replace)
            .map_err(|error| error.context("--calibration"))
    }

    /// The rate of a task of the sets.
    ///
    /// Panics for a task of another set.
    pub fn rate(&self, task: &Task) -> AccessRate {
        self.rates[&WalkKind::of(task)]
    }

    /// One line per working set of these sets, for the results.
    pub fn lines(&self, sets: &[TaskSet]) -> Vec<String> {
        let mut kinds: Vec<WalkKind> =
            sets.iter().flat_map(TaskSet::real_time).map(|(_, task)| WalkKind::of(task)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let line = |kind: &WalkKind| {
            let WalkKind { size_bytes, shared_bytes, random, reads, writes } = *kind;
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

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::Duration;

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
        std::fs::write(&file, "{\"version\":2,\"rates\":[]}").expect("write");
        let error = Calibration::read(&file).expect_err("refused");
        assert!(error.message.contains("rates.json is no calibration: it has version 2"), "{error:?}");
        std::fs::write(&file, b"\xff").expect("write");
        assert!(Calibration::read(&file).is_err(), "no text");
        assert!(Calibration::read(directory.path()).is_err(), "a directory");
    }
}
