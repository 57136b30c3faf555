//! Curves: schedulers, with what scheduling costs under them and the tests that judge them.

use crate::file::{CurveFile, DisplacementsWord, WrittenGuarantee};
use crate::outline::check_curve;
use crate::profiles::read_overheads;
use laxity_analysis::overheads::{CacheDelays, Displacements, Overhead, Overheads};
use laxity_analysis::scheduler::Analysed;
use laxity_analysis::{Guarantee, Priorities, Test, catalogue};
use laxity_model::{Diagnostic, Duration, Result, Scope, read_file};
use laxity_place::{Fit, Fitting, Method};
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;

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
    texts: Vec<String>,
    /// Whether the scheduler has quanta, of a tick's period.
    quanta: bool,
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

/// The curves, and their series in the order of guarantees. `clusters` says whether a clustered scheduler has several.
pub(crate) fn curves(
    files: &[CurveFile],
    guarantees: &[Guarantee],
    clusters: bool,
    (beside, own_tests): (&Path, OwnTests<'_>),
) -> Result<(Vec<Curve>, Vec<Series>)> {
    let curves: Vec<Curve> = files.iter().map(curve).collect::<Result<_>>()?;
    for (at, curve) in curves.iter().enumerate() {
        if curves[..at].iter().any(|other| other.name == curve.name) {
            return Err(Diagnostic::usage(format!("curve `{}` is there twice", curve.name))
                .hint("give one of them another `name`"));
        }
    }
    let mut series = Vec::new();
    for &guarantee in guarantees {
        for (at, file) in files.iter().enumerate() {
            let one = series_of((at, &curves[at]), file, guarantee, beside, own_tests);
            series.extend(one.map_err(|error| error.context(format!("curve `{}`", curves[at].name)))?);
        }
    }
    let used = |at: usize| series.iter().any(|series: &Series| series.curve == at);
    if let Some(unused) = (0..curves.len()).find(|&at| !used(at)) {
        return Err(Diagnostic::usage(format!(
            "curve `{}` is for none of the study's guarantees",
            curves[unused].name
        ))
        .hint("leave its `guarantees` out, or add one of them to the study's"));
    }
    for (curve, file) in curves.iter().zip(files) {
        super::contradictions::check(curve, file, guarantees, clusters, own_tests)
            .map_err(|error| error.context(format!("curve `{}`", curve.name)))?;
    }
    Ok((curves, series))
}

fn curve(file: &CurveFile) -> Result<Curve> {
    let name = file.name.clone().unwrap_or_else(|| file.scheduler.clone());
    check_curve(&name, file.note.as_deref())?;
    let here = |error: Diagnostic| error.context(format!("curve `{name}`"));
    let placement: Method = file.placement.as_deref().unwrap_or("ffd").parse().map_err(here)?;
    if placement.may_solve() {
        return Err(here(
            Diagnostic::usage(format!(
                "placement `{placement}` can search for seconds, and a study has thousands of sets"
            ))
            .hint("choose a heuristic such as ffd or wfd (see `laxity list`)"),
        ));
    }
    let fit = file.fit.as_deref().map_or(Ok(Fitting::Test), str::parse).map_err(here)?;
    let scheduler: Analysed = file.scheduler.parse().map_err(here)?;
    if let Some(needed) = scheduler.unproven() {
        return Err(here(
            Diagnostic::usage(format!("`{scheduler}`: a test needs that {needed}"))
                .hint("choose a scheduler that goes by priorities (`laxity list schedulers`)"),
        ));
    }
    Ok(Curve { scheduler, placement, fit, note: file.note.clone(), name })
}

fn series_of(
    (at, curve): (usize, &Curve),
    file: &CurveFile,
    guarantee: Guarantee,
    beside: &Path,
    own_tests: OwnTests<'_>,
) -> Result<Option<Series>> {
    let wanted = |written: &WrittenGuarantee| Guarantee::from(*written) == guarantee;
    if file.guarantees.as_ref().is_some_and(|only| !only.iter().any(wanted)) {
        return Ok(None);
    }
    let mut tests: Vec<&'static dyn Test> = Vec::new();
    for name in &file.tests {
        let test = test(curve, name, own_tests)?;
        if test.info().guarantee == guarantee {
            tests.push(test);
        }
    }
    let own = match guarantee {
        Guarantee::Hard => &file.overheads_hard,
        Guarantee::Soft => &file.overheads_soft,
    };
    let overheads = costing(curve.scheduler, own.as_ref().or(file.overheads.as_ref()), file, beside)?;
    Ok(Some(Series { curve: at, guarantee, tests, overheads }))
}

/// Tests that are not in the catalogue: of a crate of one's own.
pub type OwnTests<'a> = &'a [&'static dyn Test];

/// The test of a name: one of the catalogue, or of one's own.
pub(super) fn named(name: &str, own_tests: OwnTests<'_>) -> Option<&'static dyn Test> {
    catalogue::test(name).or_else(|| own_tests.iter().copied().find(|test| test.info().name == name))
}

fn test(curve: &Curve, name: &str, own_tests: OwnTests<'_>) -> Result<&'static dyn Test> {
    let Some(test) = named(name, own_tests) else {
        let known: Vec<&str> =
            catalogue::tests().iter().chain(own_tests).map(|test| test.info().name).collect();
        return Err(Diagnostic::usage(format!("test `{name}` is not known"))
            .hint(format!("choose from {}", known.join(", "))));
    };
    // A cell of one processor and one of several can have different priorities under G-FL: either is good.
    let priorities: [Priorities; 2] = [1, 2].map(|processors| curve.scheduler.priorities(processors));
    if priorities.contains(&test.info().priorities) {
        return Ok(test);
    }
    Err(Diagnostic::usage(format!("test `{name}` is not for the priorities of {}", curve.scheduler))
        .hint("choose a test for them, or leave `tests` out"))
}

fn costing(
    scheduler: Analysed,
    overheads: Option<&String>,
    file: &CurveFile,
    beside: &Path,
) -> Result<Option<Costing>> {
    let mut texts = Vec::new();
    let mut costs = Overheads::none();
    if let Some(name) = overheads {
        let (text, read) = read_overheads(&beside.join(name), name)?;
        texts.push(text);
        costs = read;
    }
    if let Some(name) = &file.cache_delays {
        let (text, read) =
            read_file(&beside.join(name), |text| Ok((text.to_owned(), CacheDelays::from_csv(text)?)))?;
        texts.push(text);
        costs = costs.with_cache(read.within(file.shared_cache));
    } else if file.shared_cache.is_some() {
        return Err(Diagnostic::usage("`shared_cache` is given without `cache_delays`")
            .hint("name the file of delays, or leave it out"));
    }
    if let Some(text) = &file.tick_period {
        let period: Duration = text.parse().map_err(|error: Diagnostic| error.context("tick_period"))?;
        if period.is_zero() {
            return Err(
                Diagnostic::usage("tick_period is 0").hint("give the time between ticks, such as \"1ms\"")
            );
        }
        costs = costs.with_tick_period(period.as_ns());
    }
    if file.displacements == Some(DisplacementsWord::Ignored) {
        costs = costs.with_displacements(Displacements::Ignored);
    }
    let quanta = matches!(scheduler, Analysed::Pfair(_));
    if texts.is_empty() && !quanta {
        return match &file.tick_period {
            None => Ok(None),
            Some(_) => Err(Diagnostic::usage("`tick_period` is given without `overheads`")
                .hint("name the file of overheads, or leave it out; only pfair has quanta without them")),
        };
    }
    Ok(Some(Costing { file: overheads.cloned().unwrap_or_default(), overheads: costs, texts, quanta }))
}
