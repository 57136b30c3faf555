//! Curves: schedulers, with what scheduling costs under them and the tests that judge them.

use laxity_analysis::overheads::{Displacements, Overhead, Overheads};
use laxity_analysis::scheduler::Analysed;
use laxity_analysis::{Guarantee, Test, catalogue};
use laxity_model::{Diagnostic, Duration, Result, Scope};
use laxity_place::{Fit, Fitting, Method};
use serde_json::{Value, json};
use std::fmt;

/// A scheduler as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curve {
    /// What it is called.
    pub name: String,
    /// The scheduler.
    pub scheduler: Analysed,
    /// How its tasks are placed, unless they share all processors.
    pub placement: Method,
    /// What may be placed together.
    pub fit: Fitting,
    /// What a reader must know of it.
    pub note: Option<String>,
}

/// A curve for one guarantee: what every set is judged by.
pub struct Series {
    /// Which curve, in the study's order.
    pub curve: usize,
    /// What is to be proven.
    pub guarantee: Guarantee,
    /// Tests of which one has to accept; those that know the scheduler best if there are none.
    pub tests: Vec<&'static dyn Test>,
    /// What scheduling costs, with the name of its file, and the quantum of pfair; nothing if there are neither.
    pub overheads: Option<Costing>,
}

/// What scheduling costs, and where that is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costing {
    /// The file of overheads, as the study names it; empty without one.
    pub file: String,
    /// What scheduling costs.
    pub overheads: Overheads,
    /// All files' texts, for the study's description; none where scheduling costs nothing and only has quanta.
    pub(super) texts: Vec<String>,
    /// Whether the scheduler has quanta, of a tick's period.
    pub(super) quanta: bool,
}

impl fmt::Debug for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tests: Vec<&str> = self.tests.iter().map(|test| test.info().name).collect();
        write!(f, "series of curve {} ({:?}, tests {tests:?})", self.curve, self.guarantee)
    }
}

impl Curve {
    /// How many processors schedule their tasks on their own, of all and of a cluster's.
    pub(crate) fn cell(&self, processors: u32, cluster: u32) -> u32 {
        match self.scheduler.scope() {
            Scope::Global => processors,
            Scope::Clustered => cluster,
            Scope::Partitioned => 1,
        }
    }

    /// What may be placed together.
    fn fit_in_words(&self) -> String {
        match self.fit {
            Fitting::Test => "the test".to_owned(),
            load @ Fitting::Load(_) => load.to_string(),
        }
    }

    /// Refuses a scheduler that no processor is left for.
    pub(crate) fn check(&self, processors: u32, cluster: u32) -> Result<()> {
        let cell = self.cell(processors, cluster);
        if self.fit == Fitting::Load(Some(Fit::DemandBound))
            && cell != processors
            && self.scheduler.running(cell) > 1
        {
            return Err(Diagnostic::usage(format!(
                "curve `{}`: fit `dbf` is defined for single CPUs, but tasks go to clusters of {cell}",
                self.name
            ))
            .hint("use test, utilization or density for clusters"));
        }
        if self.scheduler.running(cell) > 0 {
            return Ok(());
        }
        Err(Diagnostic::usage(format!(
            "curve `{}`: {} dedicates one CPU of each {cell}, which leaves none for tasks",
            self.name, self.scheduler
        ))
        .hint("begin with two CPUs or more in each of its cells, or choose another scheduler"))
    }
}

impl Series {
    pub(crate) fn description(&self, curves: &[Curve]) -> Value {
        let curve = &curves[self.curve];
        json!({
            "curve": curve.name,
            "scheduler": curve.scheduler.to_string(),
            "placement": curve.placement.to_string(),
            "fit": curve.fit.to_string(),
            "guarantee": guarantee_name(self.guarantee),
            "tests": self.tests.iter().map(|test| test.info().name).collect::<Vec<_>>(),
            "overheads": self.overheads.as_ref().map(Costing::description),
        })
    }
}

impl Series {
    /// In words; `most_tasks` is the largest number of tasks, if that is known.
    pub(crate) fn words(&self, curves: &[Curve], most_tasks: Option<u64>) -> String {
        let curve = &curves[self.curve];
        let mut words = format!("{}, {}: {}", curve.name, guarantee_name(self.guarantee), curve.scheduler);
        if curve.scheduler.scope() != Scope::Global {
            words += &format!(", placed by {} and {}", curve.placement, curve.fit_in_words());
        }
        let tests: Vec<&str> = self.tests.iter().map(|test| test.info().name).collect();
        if !tests.is_empty() {
            words += &format!(", tests {}", tests.join(" or "));
        }
        match &self.overheads {
            None => words += "; scheduling costs nothing",
            Some(costing) => words += &costing.words(most_tasks),
        }
        words + "."
    }
}

impl Costing {
    fn description(&self) -> Value {
        let mut description = json!({ "files": self.texts, "tick_period_ns": self.overheads.tick_period() });
        if self.overheads.displacements() == Displacements::Ignored {
            description["displacements"] = "ignored".into();
        }
        description
    }

    fn words(&self, most_tasks: Option<u64>) -> String {
        let quantum = Duration::from_ns(self.overheads.tick_period());
        let quanta = if self.quanta { format!("; quanta of {quantum}") } else { String::new() };
        if self.texts.is_empty() {
            return format!("{quanta}; scheduling costs nothing");
        }
        let mut words = format!("{quanta}; overheads {}", self.file);
        if self.overheads.displacements() == Displacements::Ignored {
            words += " without displacements, so that sets are accepted that miss";
        }
        let names = |columns: Vec<&str>| columns.join(", ");
        let absent: Vec<&str> = self.overheads.absent().map(Overhead::column).collect();
        if !absent.is_empty() {
            words += &format!("; not given and counted as nothing: {}", names(absent));
        }
        let most = most_tasks.and_then(|tasks| usize::try_from(tasks).ok());
        let beyond: Vec<&str> = most
            .into_iter()
            .flat_map(|tasks| self.overheads.extrapolated(tasks).map(Overhead::column))
            .collect();
        if !beyond.is_empty() {
            words += &format!("; extrapolated to the largest number of tasks: {}", names(beyond));
        }
        words
    }
}

/// As in files.
pub fn guarantee_name(guarantee: Guarantee) -> &'static str {
    match guarantee {
        Guarantee::Hard => "hard",
        Guarantee::Soft => "soft",
    }
}

/// Tests that are not in the catalogue: of a crate of one's own.
pub type OwnTests<'a> = &'a [&'static dyn Test];

/// The test of a name: one of the catalogue, or of one's own.
pub(super) fn named(name: &str, own_tests: OwnTests<'_>) -> Option<&'static dyn Test> {
    catalogue::test(name).or_else(|| own_tests.iter().copied().find(|test| test.info().name == name))
}
