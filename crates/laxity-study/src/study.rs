//! A study: what its file says, checked; and one unit of its work.

use crate::engine::{Control, tally_of};
use crate::file::{StudyFile, StudyKind};
use crate::journal::{OWN, Point};
use crate::metric::Metric;
use crate::outline::{Changes, Outline};
use crate::own::Own;
use crate::proofs::{METRICS_OF_SCHEDULABILITY, ProofSampler, Proofs, processors};
use crate::sampler::Sampler;
use crate::simulations::{SimulationSampler, Simulations, cpus, machine};
use crate::tally::{SetResult, Tally};
use laxity_model::{Diagnostic, Result, Task, name_of, read_file};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// A checked study.
#[derive(Debug)]
pub struct Study {
    /// Which sets, and what varies.
    pub outline: Outline,
    /// How they are judged.
    pub judging: Judging,
    /// Versions of the tests and prototypes of one's own that it names.
    pub(crate) versions: BTreeMap<String, String>,
}

/// How the sets of a study are judged.
#[derive(Debug)]
pub enum Judging {
    /// They are proven schedulable, or not.
    Proofs(Proofs),
    /// They are placed and simulated, or run.
    Simulations(Simulations),
}

/// A unit of a study's work: some sets of a point under some series. What it comes to is a [`Tally`], and depends on nothing but the
/// study and this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkUnit {
    /// Which point.
    pub point: Point,
    /// Which series, in the study's order.
    pub series: Range<usize>,
    /// Which sets.
    pub sets: Range<u64>,
}

impl Study {
    /// Reads a study and the files that it names.
    ///
    /// # Errors
    ///
    /// What is wrong in a file, with its place, the rule and the fix; a file that is not there.
    pub fn read(path: &Path, changes: Changes) -> Result<Study> {
        Study::read_with(path, changes, &Own::default())
    }

    /// The same with tests and prototypes of one's own, which its curves can name.
    ///
    /// # Errors
    ///
    /// As [`Study::read`]; a test with a name of the catalogue.
    pub fn read_with(path: &Path, changes: Changes, own: &Own) -> Result<Study> {
        let beside = path.parent().unwrap_or(Path::new(""));
        let stem = name_of(path);
        read_file(path, |text| Study::of(&StudyFile::read(text)?, &stem, (beside, own), changes))
    }

    /// Reads a study from TOML or JSON, with a name for one that has none. Files that it names are looked for in `beside`.
    ///
    /// # Errors
    ///
    /// As [`Study::read`].
    pub fn from_text(text: &str, name: &str, beside: &Path) -> Result<Study> {
        Study::from_text_with(text, name, beside, &Own::default())
    }

    /// The same with tests and prototypes of one's own.
    ///
    /// # Errors
    ///
    /// As [`Study::read_with`].
    pub fn from_text_with(text: &str, name: &str, beside: &Path, own: &Own) -> Result<Study> {
        Study::of(&StudyFile::read(text)?, name, (beside, own), Changes::default())
    }

    /// The same with what is changed of it.
    ///
    /// # Errors
    ///
    /// As [`Study::read`].
    pub fn from_text_changed(text: &str, name: &str, beside: &Path, changes: Changes) -> Result<Study> {
        Study::of(&StudyFile::read(text)?, name, (beside, &Own::default()), changes)
    }

    fn of(file: &StudyFile, stem: &str, (beside, own): (&Path, &Own), changes: Changes) -> Result<Study> {
        match file.kind {
            StudyKind::Schedulability => {
                let mut outline = Outline::of(file, stem, processors(file)?, beside, changes)?;
                let proofs = Proofs::of(file, &outline.axis, beside, &own.tests)?;
                outline.look_at_files(|value| proofs.processors_at(value))?;
                proofs.check(&outline)?;
                let versions = versions(own, |name| proofs.names_test(name));
                Ok(Study { outline, judging: Judging::Proofs(proofs), versions })
            }
            StudyKind::Simulation => {
                let platform = machine(file, beside)?;
                let mut outline = Outline::of(file, stem, platform.as_ref().map(cpus), beside, changes)?;
                let simulations = Simulations::of(file, &outline.axis, platform, (beside, own))?;
                outline.look_at_files(|value| Ok(cpus(&simulations.platform_at(value)?)))?;
                simulations.check(&outline)?;
                let versions = versions(own, |name| simulations.names_prototype(name));
                Ok(Study { outline, judging: Judging::Simulations(simulations), versions })
            }
        }
    }

    /// What is to be proven, where that is its back end.
    pub fn proofs(&self) -> Option<&Proofs> {
        match &self.judging {
            Judging::Proofs(proofs) => Some(proofs),
            Judging::Simulations(_) => None,
        }
    }

    /// How sets are simulated, or run, where that is its back end.
    pub fn simulations(&self) -> Option<&Simulations> {
        match &self.judging {
            Judging::Proofs(_) => None,
            Judging::Simulations(simulations) => Some(simulations),
        }
    }

    /// How many series it has: curves for guarantees where sets are proven, and curves.
    pub fn series(&self) -> usize {
        match &self.judging {
            Judging::Proofs(proofs) => proofs.series.len(),
            Judging::Simulations(simulations) => simulations.curves.len(),
        }
    }

    /// How many curves it has.
    pub fn curves(&self) -> usize {
        match &self.judging {
            Judging::Proofs(proofs) => proofs.curves.len(),
            Judging::Simulations(simulations) => simulations.curves.len(),
        }
    }

    /// What is known of every set under every series.
    pub fn metrics(&self) -> Vec<&'static Metric> {
        match &self.judging {
            Judging::Proofs(_) => METRICS_OF_SCHEDULABILITY.iter().collect(),
            Judging::Simulations(simulations) => simulations.metrics.clone(),
        }
    }

    /// All that results depend on, and nothing else: two studies with the same description have the same points.
    pub fn description(&self) -> Value {
        let mut description = self.outline.description(match &self.judging {
            Judging::Proofs(proofs) => proofs.description(),
            Judging::Simulations(simulations) => simulations.description(),
        });
        if !self.versions.is_empty() {
            description[OWN] = json!(self.versions);
        }
        description
    }

    /// The sums of no sets.
    pub fn tally_of_none(&self) -> Tally {
        Tally::of_none(self.series(), &self.metrics())
    }

    /// Whether this is what is kept of a finished point of this study.
    pub fn is_whole(&self, tally: &Tally) -> bool {
        self.is_of(tally, self.outline.sets)
    }

    /// Whether this is what is kept of so many sets of a point of this study.
    pub(crate) fn is_of(&self, tally: &Tally, sets: u64) -> bool {
        tally.is_whole(self.series(), sets, &self.metrics())
    }

    /// Where the axis is to be looked at next, for a family of which some values are known; ascending, and none once all is known.
    pub fn next_values<'t>(&self, known: impl Fn(u64) -> Option<&'t Tally>) -> Vec<u64> {
        let open = self.outline.axis.open(|value| known(value).is_some());
        match (&self.judging, self.outline.axis.refinement) {
            (Judging::Proofs(_), Some(refinement)) if open.is_empty() => {
                Proofs::refined(&self.outline, refinement, known)
            }
            _ => open,
        }
    }

    /// What judges the sets of a point; it gives up a set once `stop` is true.
    ///
    /// # Errors
    ///
    /// The generator refuses its parameters.
    pub fn sampler(&self, point: Point, stop: &'static AtomicBool) -> Result<PointSampler<'_>> {
        Ok(match &self.judging {
            Judging::Proofs(proofs) => {
                PointSampler::Proofs(ProofSampler::new((&self.outline, proofs), point, stop)?)
            }
            Judging::Simulations(simulations) => {
                PointSampler::Simulations(SimulationSampler::new((&self.outline, simulations), point, stop)?)
            }
        })
    }

    /// The sums of a unit of work; nothing if it was stopped. Sums of units add up to those of their points, in any order, on any
    /// machine.
    ///
    /// # Errors
    ///
    /// The study has no such series or sets; the generator refuses its parameters.
    pub fn tally(&self, unit: &WorkUnit, stop: &'static AtomicBool) -> Result<Option<Tally>> {
        self.check(unit)?;
        let WorkUnit { point, series, sets } = unit;
        let (sampler, none, judged) = (self.sampler(*point, stop)?, self.tally_of_none(), AtomicU64::new(0));
        let control = Control { threads: 1, none: &none, stop, judged: &judged };
        tally_of(&sampler, &control, series.clone(), sets.clone())
    }

    /// Refuses a unit of another study's work.
    ///
    /// # Errors
    ///
    /// The study has no such series, sets or family.
    pub fn check(&self, unit: &WorkUnit) -> Result<()> {
        let WorkUnit { point, series, sets } = unit;
        if series.start > series.end
            || series.end > self.series()
            || sets.end > self.outline.sets
            || point.family >= self.outline.families.len()
        {
            return Err(Diagnostic::usage(format!(
                "a unit of work of family {}, series {series:?} and sets {sets:?}: the study has {} families, {} series and {} sets",
                point.family,
                self.outline.families.len(),
                self.series(),
                self.outline.sets
            ))
            .hint("give the study that the unit is of"));
        }
        Ok(())
    }
}

/// What judges the sets of one point of a study.
pub enum PointSampler<'a> {
    /// By tests.
    Proofs(ProofSampler<'a>),
    /// By simulation.
    Simulations(SimulationSampler<'a>),
}

impl PointSampler<'_> {
    /// The tasks of set number `index`.
    ///
    /// # Errors
    ///
    /// There is no such set.
    pub fn tasks(&self, index: u64) -> Result<Vec<Task>> {
        match self {
            PointSampler::Proofs(sampler) => sampler.tasks(index),
            PointSampler::Simulations(sampler) => sampler.tasks(index),
        }
    }
}

impl Sampler for PointSampler<'_> {
    fn judge(&self, index: u64, series: Range<usize>) -> Result<SetResult> {
        match self {
            PointSampler::Proofs(sampler) => sampler.judge(index, series),
            PointSampler::Simulations(sampler) => sampler.judge(index, series),
        }
    }
}

/// Versions of those of one's own that a study names.
fn versions(own: &Own, names: impl Fn(&str) -> bool) -> BTreeMap<String, String> {
    own.versions
        .iter()
        .filter(|(name, _)| names(name))
        .map(|(name, version)| (name.clone(), version.clone()))
        .collect()
}
