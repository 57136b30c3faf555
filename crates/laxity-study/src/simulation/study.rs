//! A study by simulation: what its file says, checked.

use super::curve::{SimulatedCurve, curves};
use super::file::{SimulatedPlatformFile, SimulationFile};
use super::metric::{METRICS, Metric};
use super::mixed::Mixed;
use super::sampler::SimulationSampler;
use super::tally::SimulationTally;
use crate::axis::{Axis, Variable};
use crate::family::{Family, families};
use crate::study::{Changes, SETS_MOST, axis_of, check_name, check_words, within};
use crate::{Planned, Point};
use laxity_generate::Request;
use laxity_model::{
    Demand, Diagnostic, Duration, Platform, Result, ShippedPlatform, read_file, read_platform,
};
use serde_json::{Value, json};
use std::path::Path;

/// The most CPUs of a platform.
const PROCESSORS_MOST: u32 = 4_096;
/// All of a WCET, in parts per million.
const WHOLE_PPM: u64 = 1_000_000;
/// The most that a job may ask for, as for [`Demand`].
const DEMAND_MOST_PPM: u32 = 10_000_000;
/// The longest simulation of one set.
const DURATION_MOST: Duration = Duration::from_secs(1_000);

/// A checked study.
#[derive(Debug)]
pub struct SimulationStudy {
    /// Its name: that of its directory.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// Task sets at every point.
    pub sets: u64,
    /// The machine; nothing where the number of CPUs varies.
    pub platform: Option<Platform>,
    /// What varies.
    pub axis: Axis,
    /// Kinds of task sets, figures for each.
    pub families: Vec<Family>,
    /// How sets are placed and scheduled.
    pub curves: Vec<SimulatedCurve>,
    /// What is measured.
    pub metrics: Vec<&'static Metric>,
    /// Jobs are released in `[0, duration)`.
    pub duration: Duration,
    /// How much longer a simulation goes on; nothing: as long as its set asks for.
    pub grace: Option<Duration>,
    /// What jobs ask for; what they ask for at an overrun of 1, if that varies.
    pub demand: Demand,
    /// What is beside the real-time tasks.
    pub mixed: Mixed,
}

impl SimulationStudy {
    /// Reads a study and the files that it names.
    ///
    /// # Errors
    ///
    /// What is wrong in a file, with its place, the rule and the fix; a file that is not there.
    pub fn read(path: &Path, changes: Changes) -> Result<SimulationStudy> {
        let beside = path.parent().unwrap_or(Path::new(""));
        let stem = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
        read_file(path, |text| SimulationStudy::of(SimulationFile::read(text)?, &stem, beside, changes))
    }

    /// Reads a study from TOML or JSON, with a name for one that has none. Files that it names are looked for in `beside`.
    ///
    /// # Errors
    ///
    /// As [`SimulationStudy::read`].
    pub fn from_text(text: &str, name: &str, beside: &Path) -> Result<SimulationStudy> {
        SimulationStudy::of(SimulationFile::read(text)?, name, beside, Changes::default())
    }

    pub(crate) fn of(
        file: SimulationFile,
        stem: &str,
        beside: &Path,
        changes: Changes,
    ) -> Result<SimulationStudy> {
        let name = file.name.clone().unwrap_or_else(|| stem.to_owned());
        check_name(&name)?;
        check_words(&file.title, file.source.as_deref(), &file.notes)?;
        let platform = platform(&file.platform, file.axis.of, beside)?;
        let processors = platform.as_ref().map(cores);
        let axis = axis_of(&file.axis, processors)?;
        if axis.refinement.is_some() {
            return Err(Diagnostic::usage("axis: a study by simulation is not refined")
                .hint("leave `refine` out, and take a smaller `step`"));
        }
        let study = SimulationStudy {
            name,
            title: file.title,
            source: file.source,
            notes: file.notes,
            seed: changes.seed.or(file.seed).unwrap_or(1),
            sets: within("sets", changes.sets.unwrap_or(file.sets), SETS_MOST)?,
            platform,
            families: families(&file.generator, &file.matrix, axis.variable)?,
            curves: curves(&file.curves, file.costs.as_ref(), beside)?,
            metrics: metrics(file.metrics.as_deref())?,
            duration: time("duration", &file.duration, false)?,
            grace: file.grace.as_deref().map(|text| time("grace", text, true)).transpose()?,
            mixed: Mixed::of(&file.ordinary, &axis)?,
            demand: demand(file.demand.map(|written| written.0).as_deref(), axis.variable)?,
            axis,
        };
        study.check()?;
        Ok(study)
    }

    /// What can only be seen with all parts together: the first set at both ends of the axis can be simulated under every curve.
    fn check(&self) -> Result<()> {
        let grid = self.axis.grid();
        for value in [grid.first(), grid.last()].into_iter().flatten() {
            for family in 0..self.families.len() {
                self.sampler(Point { family, value: *value })?.check()?;
            }
        }
        Ok(())
    }

    /// The machine at a value of the axis.
    ///
    /// # Errors
    ///
    /// There are too many processors.
    pub fn platform_at(&self, value: u64) -> Result<Platform> {
        match &self.platform {
            Some(platform) => Ok(platform.clone()),
            None => {
                let processors = u32::try_from(value).ok().filter(|&m| m <= PROCESSORS_MOST);
                Platform::symmetric(processors.ok_or_else(|| too_many(value))?)
            }
        }
    }

    /// What draws the sets of a point; nothing where the total utilization is 0: the set without tasks.
    ///
    /// # Errors
    ///
    /// A parameter that the generator does not have or take, named.
    pub fn request(&self, point: Point) -> Result<Option<Request>> {
        let processors = cores(&self.platform_at(point.value)?);
        self.families[point.family].request(self.seed, &self.axis, point.value, processors)
    }

    /// What jobs ask for at a value of the axis.
    ///
    /// # Errors
    ///
    /// More than a job may ask for.
    pub fn demand_at(&self, value: u64) -> Result<Demand> {
        if self.axis.variable != Variable::Overrun {
            return Ok(self.demand);
        }
        let share_ppm = match self.demand {
            Demand::Fraction(share_ppm) => u64::from(share_ppm),
            _ => WHOLE_PPM,
        };
        let asked_ppm = u128::from(value) * u128::from(share_ppm) / u128::from(WHOLE_PPM);
        let asked = u32::try_from(asked_ppm).ok().filter(|ppm| (1..=DEMAND_MOST_PPM).contains(ppm));
        asked.map(Demand::Fraction).ok_or_else(|| {
            Diagnostic::usage(format!(
                "axis: with overrun {} jobs ask for nothing, or for more than ten times their WCET",
                self.axis.text(value)
            ))
            .hint("let it vary between 1 and 2, as lindsay2012 does")
        })
    }

    /// What every curve is, a line each.
    pub fn curves_in_words(&self) -> Vec<String> {
        self.curves.iter().map(SimulatedCurve::words).collect()
    }
}

impl Planned for SimulationStudy {
    type Sums = SimulationTally;
    type Sampler<'s> = SimulationSampler<'s>;

    fn description(&self) -> Value {
        json!({
            "study": "simulation",
            "laxity": env!("CARGO_PKG_VERSION"),
            "seed": self.seed,
            "sets": self.sets,
            "platform": self.platform.as_ref().map(Platform::to_json_value),
            "axis": self.axis.description(),
            "families": self.families.iter().map(Family::description).collect::<Vec<_>>(),
            "curves": self.curves.iter().map(SimulatedCurve::description).collect::<Vec<_>>(),
            "metrics": self.metrics.iter().map(|metric| metric.name).collect::<Vec<_>>(),
            "duration_ns": self.duration.as_ns(),
            "grace_ns": self.grace.map(Duration::as_ns),
            "demand": self.demand.to_string(),
            "mixed": self.mixed.description(),
        })
    }

    fn sets(&self) -> u64 {
        self.sets
    }

    fn families(&self) -> usize {
        self.families.len()
    }

    fn is_whole(&self, tally: &SimulationTally) -> bool {
        let fits = |metrics: &[super::Kept]| {
            metrics.len() == self.metrics.len()
                && metrics.iter().zip(&self.metrics).all(|(kept, metric)| kept.fits(metric))
        };
        tally.sets == self.sets
            && tally.curves.len() == self.curves.len()
            && tally.curves.iter().all(|curve| curve.placed <= self.sets && fits(&curve.metrics))
    }

    fn next_values<'t>(&self, known: impl Fn(u64) -> Option<&'t SimulationTally>) -> Vec<u64> {
        self.axis.open(|value| known(value).is_some())
    }

    fn sampler(&self, point: Point) -> Result<SimulationSampler<'_>> {
        SimulationSampler::new(self, point)
    }
}

/// m.
fn cores(platform: &Platform) -> u32 {
    u32::try_from(platform.core_count()).expect("platforms have at most 2^32 CPUs")
}

fn too_many(processors: u64) -> Diagnostic {
    Diagnostic::usage(format!("m = {processors} is not between 1 and {PROCESSORS_MOST}"))
        .hint("simulate such a number of CPUs")
}

fn platform(file: &SimulatedPlatformFile, varies: Variable, beside: &Path) -> Result<Option<Platform>> {
    let SimulatedPlatformFile { processors, name, file } = file;
    match (processors, name, file) {
        (None, None, None) if varies == Variable::Processors => Ok(None),
        (None, None, None) => Err(Diagnostic::usage("platform: no machine is named").hint(
            "write [platform] and `processors = 4`, `name = \"four-cores\"` or `file = \"mine.toml\"`",
        )),
        _ if varies == Variable::Processors => {
            Err(Diagnostic::usage("platform: a machine is named, but the number of CPUs varies")
                .hint("leave [platform] out, or let something else vary"))
        }
        (Some(processors), None, None) if (1..=PROCESSORS_MOST).contains(processors) => {
            Platform::symmetric(*processors).map(Some)
        }
        (Some(processors), None, None) => Err(too_many((*processors).into())),
        (None, Some(name), None) => {
            ShippedPlatform::named(name).map(Some).map_err(|error| error.context("platform"))
        }
        (None, None, Some(file)) => read_platform(&beside.join(file)).map(Some),
        _ => Err(Diagnostic::usage("platform: more than one machine is named")
            .hint("give one of `processors`, `name` and `file`")),
    }
}

fn metrics(names: Option<&[String]>) -> Result<Vec<&'static Metric>> {
    let Some(names) = names else { return Ok(METRICS.iter().collect()) };
    if names.is_empty() {
        return Err(Diagnostic::usage("metrics: nothing is measured")
            .hint("name a metric, as in `metrics = [\"dsr\"]`, or leave it out for all"));
    }
    if let Some(at) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        return Err(Diagnostic::usage(format!("metrics: `{}` is there twice", names[at]))
            .hint("name every metric once"));
    }
    names.iter().map(|name| Metric::named(name)).collect()
}

fn time(what: &str, text: &str, may_be_zero: bool) -> Result<Duration> {
    let time: Duration = text.parse().map_err(|error: Diagnostic| error.context(what.to_owned()))?;
    check_duration(what, time, may_be_zero)
}

/// Refuses times of nothing and very long ones.
pub(super) fn check_duration(what: &str, time: Duration, may_be_zero: bool) -> Result<Duration> {
    if time > DURATION_MOST || (time.is_zero() && !may_be_zero) {
        let least = if may_be_zero { "at least" } else { "above" };
        return Err(Diagnostic::usage(format!(
            "{what} = {time} is not {least} 0ns and at most {DURATION_MOST}"
        ))
        .hint("more sets say more than longer simulations"));
    }
    Ok(time)
}

fn demand(text: Option<&str>, varies: Variable) -> Result<Demand> {
    match text {
        None => Ok(Demand::Wcet),
        Some(text) => match text.parse()? {
            Demand::Uniform(..) | Demand::Normal(..) | Demand::Bimodal(..) if varies == Variable::Overrun => {
                Err(Diagnostic::usage("`demand` is a distribution, and `overrun` also varies it").hint(
                    "give a share such as 0.5, of which overrun is a multiple, or let something else vary",
                ))
            }
            demand => Ok(demand),
        },
    }
}
