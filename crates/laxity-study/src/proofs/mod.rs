//! The back end that proves: every set is judged by the tests of every series.

mod admission;
mod answer;
mod cell;
mod contradictions;
mod curve;
mod curve_file;
mod metrics;
mod sampler;
mod table;

pub use crate::outcomes::SetOutcome;
pub use answer::{ProofsAnswer, proofs_answer_schema};
pub use curve::{Costing, Curve, OwnTests, Series, guarantee_name};
pub use metrics::{ACCEPTED, METRICS_OF_SCHEDULABILITY, NOT_APPLICABLE, OUT_OF_WORK};
pub use sampler::ProofSampler;
pub use table::table;

use crate::axis::{Axis, Variable};
use crate::file::StudyFile;
use crate::journal::Point;
use crate::outline::{Outline, checked_processors, within};
use crate::refinement::Refinement;
use crate::tally::Tally;
use laxity_analysis::{Guarantee, WORK_DEFAULT, catalogue};
use laxity_model::{Diagnostic, Result};
use serde_json::{Value, json};
use std::path::Path;

/// What is to be proven of the sets of a study, and by what.
#[derive(Debug)]
pub struct Proofs {
    /// Steps that a test may take on a set.
    pub steps: u64,
    /// m, unless that is what varies.
    pub processors: Option<u32>,
    /// Processors in a cluster; nothing: all.
    pub cluster: Option<u32>,
    /// What is to be proven, a panel each.
    pub guarantees: Vec<Guarantee>,
    /// The curves.
    pub curves: Vec<Curve>,
    /// A curve for a guarantee: what every set is judged by. In the order of guarantees, then curves.
    pub series: Vec<Series>,
}

impl Proofs {
    /// What the file says.
    pub(crate) fn of(
        file: &StudyFile,
        axis: &Axis,
        beside: &Path,
        own_tests: OwnTests<'_>,
    ) -> Result<Proofs> {
        if axis.variable.is_of_simulations() {
            let name = axis.variable.name();
            return Err(Diagnostic::usage(format!("axis: `{name}` varies something which no test looks at"))
                .hint("write `kind = \"simulation\"`, or let something else vary"));
        }
        if let Some(test) = own_tests.iter().find(|test| catalogue::test(test.info().name).is_some()) {
            return Err(Diagnostic::usage(format!("test `{}` is one of the catalogue", test.info().name))
                .hint("give your own test another name"));
        }
        let (processors, cluster) = (processors(file)?, cluster(file)?);
        let guarantees = guarantees(file)?;
        let clusters = cluster.is_some() && cluster != processors;
        let (curves, series) = curve_file::curves(&file.curves, &guarantees, clusters, (beside, own_tests))?;
        let steps = within("steps", file.steps.unwrap_or(WORK_DEFAULT), u64::MAX)?;
        Ok(Proofs { steps, processors, cluster, guarantees, curves, series })
    }

    /// Whether a series is judged by this test.
    pub(crate) fn names_test(&self, name: &str) -> bool {
        self.series.iter().any(|series| series.tests.iter().any(|test| test.info().name == name))
    }

    /// What can only be seen with all parts together: every curve has processors, every point has task sets.
    pub(crate) fn check(&self, outline: &Outline) -> Result<()> {
        for value in outline.ends() {
            let (processors, cell) = (self.processors_at(value)?, self.cell_at(value)?);
            for curve in &self.curves {
                curve.check(processors, cell)?;
            }
            for family in 0..outline.families.len() {
                outline.drawn(Point { family, value }, processors)?;
            }
        }
        Ok(())
    }

    /// m at a value of the axis.
    ///
    /// # Errors
    ///
    /// There are too many.
    pub fn processors_at(&self, value: u64) -> Result<u32> {
        self.processors.map_or_else(|| checked_processors(value), Ok)
    }

    /// Processors in a cluster at a value of the axis.
    ///
    /// # Errors
    ///
    /// They do not divide m.
    pub fn cell_at(&self, value: u64) -> Result<u32> {
        let processors = self.processors_at(value)?;
        match self.cluster {
            None => Ok(processors),
            Some(cluster) if processors.is_multiple_of(cluster) => Ok(cluster),
            Some(cluster) => Err(Diagnostic::usage(format!(
                "platform: clusters of {cluster} CPUs do not divide m = {processors}"
            ))
            .hint("choose a divisor of m, or leave `cluster` out")),
        }
    }

    /// The series of a curve for a guarantee, if it has one.
    pub fn series_of(&self, curve: usize, guarantee: Guarantee) -> Option<usize> {
        self.series.iter().position(|series| series.curve == curve && series.guarantee == guarantee)
    }

    /// What every series is judged by, a line each: scheduler, overheads and what they leave out, tests.
    pub fn series_in_words(&self, axis: &Axis) -> Vec<String> {
        let most_tasks = (axis.variable == Variable::Tasks).then_some(axis.most());
        self.series.iter().map(|series| series.words(&self.curves, most_tasks)).collect()
    }

    /// All that results depend on, of this back end.
    pub(crate) fn description(&self) -> Value {
        json!({
            "study": "schedulability",
            "steps": self.steps,
            "processors": self.processors,
            "cluster": self.cluster,
            "series": self.series.iter().map(|series| series.description(&self.curves)).collect::<Vec<_>>(),
        })
    }

    /// Where the axis is to be looked at more closely.
    pub(crate) fn refined<'t>(
        outline: &Outline,
        refinement: Refinement,
        known: impl Fn(u64) -> Option<&'t Tally>,
    ) -> Vec<u64> {
        let accepted =
            |tally: &Tally| -> Vec<u64> { tally.series.iter().map(|own| own.count(ACCEPTED)).collect() };
        refinement.missing(&outline.axis.grid(), outline.sets, |value| known(value).map(accepted))
    }
}

/// m, unless that is what varies.
pub(crate) fn processors(file: &StudyFile) -> Result<Option<u32>> {
    match (file.platform.processors, file.axis.of == Variable::Processors) {
        (Some(_), true) => Err(Diagnostic::usage("platform: `processors` is given, and also what varies")
            .hint("leave `processors` out, or let something else vary")),
        (None, false) => Err(Diagnostic::usage("platform: `processors` is missing")
            .hint("write how many there are: [platform] and `processors = 4`")),
        (Some(processors), false) => checked_processors(processors.into()).map(Some),
        (None, true) => Ok(None),
    }
}

fn cluster(file: &StudyFile) -> Result<Option<u32>> {
    match file.platform.cluster {
        Some(0) => {
            Err(Diagnostic::usage("platform: `cluster` is 0").hint("give the number of CPUs of a cluster"))
        }
        cluster => Ok(cluster),
    }
}

fn guarantees(file: &StudyFile) -> Result<Vec<Guarantee>> {
    let mut guarantees: Vec<Guarantee> = Vec::new();
    match &file.guarantees {
        None => guarantees.push(Guarantee::Hard),
        Some(written) => guarantees.extend(written.iter().map(|&written| Guarantee::from(written))),
    }
    let twice = (1..guarantees.len()).any(|at| guarantees[..at].contains(&guarantees[at]));
    if guarantees.is_empty() || twice {
        return Err(Diagnostic::usage("guarantees: each is named once, and there is at least one")
            .hint("write [\"hard\"], [\"soft\"] or [\"hard\", \"soft\"]"));
    }
    Ok(guarantees)
}
