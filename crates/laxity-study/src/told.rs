//! A study as judges elsewhere are told of it, and how they know that it is the same.

use crate::journal::sha256;
use crate::outline::Changes;
use crate::study::{Study, WorkUnit};
use crate::tally::Tally;
use laxity_model::{Diagnostic, Result, name_of, read_file};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// A study in a message: its file's text, not its path, so that it cannot have changed meanwhile. Other files that it names are read where
/// it is judged; the digest says whether they are the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    text: String,
    name: String,
    beside: PathBuf,
    sets: Option<u64>,
    seed: Option<u64>,
    /// The laxity that conducts the study.
    version: String,
    digest: String,
}

impl Told {
    /// Reads the study of a file, and what others are told of it.
    ///
    /// # Errors
    ///
    /// As [`Study::read`].
    pub fn read(file: &Path, changes: Changes, version: &str) -> Result<(Told, Arc<Study>)> {
        let beside = file.parent().unwrap_or(Path::new(""));
        let beside = beside.canonicalize().unwrap_or_else(|_| beside.to_owned());
        read_file(file, |text| {
            let study = Study::from_text_changed(text, &name_of(file), &beside, changes)?;
            let told = Told {
                text: text.to_owned(),
                name: name_of(file),
                beside: beside.clone(),
                sets: changes.sets,
                seed: changes.seed,
                version: version.to_owned(),
                digest: digest(&study),
            };
            Ok((told, Arc::new(study)))
        })
    }

    /// The study, where laxity `version` is to judge it. The last ones are kept.
    ///
    /// # Errors
    ///
    /// Another version of laxity, or other files that the study names; what is wrong in them.
    pub fn study(&self, version: &str) -> Result<Arc<Study>> {
        static KNOWN: Mutex<Vec<(String, Arc<Study>)>> = Mutex::new(Vec::new());
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if self.version != version {
            let (conducts, judges) = (&self.version, version);
            return Err(Diagnostic::environment(format!(
                "this study is conducted by laxity {conducts}, and a worker has {judges}"
            ))
            .hint("install the same laxity on all machines"));
        }
        if let Some((_, study)) = known().iter().find(|(digest, _)| *digest == self.digest) {
            return Ok(Arc::clone(study));
        }
        let changes = Changes { sets: self.sets, seed: self.seed };
        let study = Study::from_text_changed(&self.text, &self.name, &self.beside, changes)?;
        if digest(&study) != self.digest {
            let beside = self.beside.to_string_lossy();
            return Err(Diagnostic::environment(format!(
                "a worker would judge another study: files that it names, in {beside}, differ there"
            ))
            .hint("share the study's directory with all machines"));
        }
        let study = Arc::new(study);
        let mut known = known();
        known.insert(0, (self.digest.clone(), Arc::clone(&study)));
        known.truncate(KNOWN_MOST);
        Ok(study)
    }

    /// What units of the study come to; nothing if it was stopped.
    ///
    /// # Errors
    ///
    /// As [`Told::study`] and [`Study::tally`].
    fn judge(
        &self,
        units: &[WorkUnit],
        version: &str,
        stop: &'static AtomicBool,
    ) -> Result<Option<Vec<Tally>>> {
        let study = self.study(version)?;
        units.iter().map(|unit| study.tally(unit, stop)).collect()
    }

    /// What a judge does, whatever carries the messages: `told` and `units` are JSON, and so is what comes back, a text for each unit.
    ///
    /// # Errors
    ///
    /// Texts that are neither; as [`Told::study`] and [`Study::tally`]; it was stopped.
    pub fn judge_texts(
        told: &str,
        units: &[String],
        version: &str,
        stop: &'static AtomicBool,
    ) -> Result<Vec<String>> {
        let told: Told = read(told)?;
        let units: Vec<WorkUnit> = units.iter().map(|unit| read(unit)).collect::<Result<_>>()?;
        let tallies = told.judge(&units, version, stop)?;
        let tallies = tallies.ok_or_else(|| Diagnostic::interrupted("the units are not judged"))?;
        Ok(tallies.iter().map(|tally| serde_json::to_string(tally).expect("serializes")).collect())
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        Diagnostic::usage(format!("neither a study nor a unit of one: {error}"))
            .hint("`laxity study --on` writes them")
    })
}

/// So many studies are kept.
const KNOWN_MOST: usize = 4;

/// All that the results of a study depend on, in short: two studies with the same have the same points.
fn digest(study: &Study) -> String {
    sha256(&study.description().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::NEVER;

    const STUDY: &str = r#"
        version = 1
        title = "told"
        sets = 4
        [platform]
        processors = 2
        [axis]
        of = "utilization"
        values = [1]
        [generator]
        name = "unc"
        [matrix]
        utilizations = ["uni-light"]
        [[curves]]
        scheduler = "g-edf"
        overheads = "costs.csv"
    "#;
    const COSTS: &str =
        "TASK-COUNT,IPI-LATENCY,SCHEDULE,RELEASE,CXS,TICK,RELEASE-LATENCY\n2,1,1,1,1,1,1\n200,1,1,1,1,1,1\n";

    #[test]
    fn a_judge_with_another_laxity_or_other_files_is_refused() {
        let home = tempfile::tempdir().expect("a directory");
        let (file, costs) = (home.path().join("s.toml"), home.path().join("costs.csv"));
        std::fs::write(&file, STUDY).expect("written");
        std::fs::write(&costs, COSTS).expect("written");
        let (told, study) = Told::read(&file, Changes { sets: Some(2), seed: None }, "1").expect("a study");
        let there: Told =
            serde_json::from_str(&serde_json::to_string(&told).expect("text")).expect("the same");
        let unit = WorkUnit {
            point: crate::Point { family: 0, value: study.outline.axis.grid()[0] },
            series: 0..1,
            sets: 0..2,
        };
        let other = there.judge(std::slice::from_ref(&unit), "2", &NEVER).expect_err("another version");
        assert!(other.message.contains("conducted by laxity 1, and a worker has 2"), "{other}");
        // Files that have changed since; the file of the study itself may.
        std::fs::write(&costs, COSTS.replace(",1\n", ",2\n")).expect("written");
        let changed = there.study("1").expect_err("another study");
        assert!(changed.message.contains("another study"), "{changed}");
        std::fs::write(&costs, COSTS).expect("written");
        std::fs::write(&file, "nothing").expect("written");
        let tallies = there.judge(&[unit], "1", &NEVER).expect("judges").expect("not stopped");
        assert_eq!(tallies[0].series[0].sets, 2);
    }
}
