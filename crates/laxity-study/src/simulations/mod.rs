//! The back end that simulates: every set is placed and simulated under every curve.

mod answer;
mod by_test;
mod curve;
mod metrics;
mod mixed;
mod sampler;
mod table;

pub use answer::{RunAnswer, SimulationAnswer, simulation_answer_schema};
pub use curve::SimulatedCurve;
pub use metrics::METRICS;
pub(crate) use metrics::value_of;
pub use mixed::Mixed;
pub use sampler::SimulationSampler;
pub use table::{histograms, numbers};

use crate::axis::{Axis, Variable};
use crate::file::StudyFile;
use crate::journal::Point;
use crate::metric::Metric;
use crate::outline::{Outline, checked_processors};
use crate::own::Own;
use crate::sampler::NEVER;
use curve::curves;
use laxity_model::{Demand, Diagnostic, Duration, Platform, Result, ShippedPlatform, read_platform};
use laxity_sim::Prototypes;
use serde_json::{Value, json};
use std::path::Path;

/// All of a WCET, in parts per million.
const WHOLE_PPM: u64 = 1_000_000;
/// The most that a job may ask for, as for [`Demand`].
const DEMAND_MOST_PPM: u32 = 10_000_000;
/// The longest simulation of one set.
const DURATION_MOST: Duration = Duration::from_secs(1_000);

/// How the sets of a study are placed and simulated, and what is measured.
#[derive(Debug)]
pub struct Simulations {
    /// The machine; nothing where the number of CPUs varies.
    pub platform: Option<Platform>,
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
    /// The prototypes that curves may name.
    pub prototypes: Prototypes,
}

impl Simulations {
    /// What the file says.
    pub(crate) fn of(
        file: &StudyFile,
        axis: &Axis,
        platform: Option<Platform>,
        (beside, own): (&Path, &Own),
    ) -> Result<Simulations> {
        if axis.refinement.is_some() {
            return Err(Diagnostic::usage("axis: a study by simulation is not refined")
                .hint("leave `refine` out, and take a smaller `step`"));
        }
        let duration = file.duration.as_deref().ok_or_else(|| {
            Diagnostic::usage("`duration` is missing: how long jobs are released in every simulation")
                .hint("write such as `duration = \"10s\"`")
        })?;
        Ok(Simulations {
            platform,
            curves: curves(&file.curves, file.costs.as_ref(), beside)?,
            metrics: metrics(file.metrics.as_deref())?,
            duration: time("duration", duration, false)?,
            grace: file.grace.as_deref().map(|text| time("grace", text, true)).transpose()?,
            mixed: Mixed::of(&file.ordinary, axis)?,
            prototypes: own.prototypes.clone(),
            demand: demand(file.demand.as_ref().map(|written| written.0.as_str()), axis.variable)?,
        })
    }

    /// What can only be seen with all parts together: the first set at both ends of the axis can be simulated under every curve.
    pub(crate) fn check(&self, outline: &Outline) -> Result<()> {
        for value in outline.ends() {
            for family in 0..outline.families.len() {
                SimulationSampler::new((outline, self), Point { family, value }, &NEVER)?.check()?;
            }
        }
        Ok(())
    }

    /// Whether a curve is of this prototype.
    pub(crate) fn names_prototype(&self, name: &str) -> bool {
        let named =
            |curve: &SimulatedCurve| curve.scheduler.policy.prototype().is_some_and(|it| it.name() == name);
        self.curves.iter().any(named)
    }

    /// The machine at a value of the axis.
    ///
    /// # Errors
    ///
    /// There are too many processors.
    pub fn platform_at(&self, value: u64) -> Result<Platform> {
        match &self.platform {
            Some(platform) => Ok(platform.clone()),
            None => Platform::symmetric(checked_processors(value)?),
        }
    }

    /// What jobs ask for at a value of the axis.
    ///
    /// # Errors
    ///
    /// More than a job may ask for.
    pub fn demand_at(&self, axis: &Axis, value: u64) -> Result<Demand> {
        if axis.variable != Variable::Overrun {
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
                axis.text(value)
            ))
            .hint("let it vary between 1 and 2, as lindsay2012 does")
        })
    }

    /// What every curve is, a line each.
    pub fn curves_in_words(&self) -> Vec<String> {
        self.curves.iter().map(SimulatedCurve::words).collect()
    }

    /// All that results depend on, of this back end.
    pub(crate) fn description(&self) -> Value {
        json!({
            "study": "simulation",
            "platform": self.platform.as_ref().map(Platform::to_json_value),
            "curves": self.curves.iter().map(SimulatedCurve::description).collect::<Vec<_>>(),
            "metrics": self.metrics.iter().map(|metric| metric.name).collect::<Vec<_>>(),
            "duration_ns": self.duration.as_ns(),
            "grace_ns": self.grace.map(Duration::as_ns),
            "demand": self.demand.to_string(),
            "mixed": self.mixed.description(),
        })
    }
}

/// m.
pub(crate) fn cpus(platform: &Platform) -> u32 {
    u32::try_from(platform.core_count()).expect("platforms have at most 2^32 CPUs")
}

/// The machine that the file names; nothing where the number of CPUs varies.
pub(crate) fn machine(file: &StudyFile, beside: &Path) -> Result<Option<Platform>> {
    let (processors, name, path) = (&file.platform.processors, &file.platform.name, &file.platform.file);
    let varies = file.axis.of == Variable::Processors;
    match (processors, name, path) {
        (None, None, None) if varies => Ok(None),
        (None, None, None) => Err(Diagnostic::usage("platform: no machine is named").hint(
            "write [platform] and `processors = 4`, `name = \"four-cores\"` or `file = \"mine.toml\"`",
        )),
        _ if varies => Err(Diagnostic::usage("platform: a machine is named, but the number of CPUs varies")
            .hint("leave [platform] out, or let something else vary")),
        (Some(processors), None, None) => {
            Platform::symmetric(checked_processors((*processors).into())?).map(Some)
        }
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
    names.iter().map(|name| metrics::named(name)).collect()
}

fn time(what: &str, text: &str, may_be_zero: bool) -> Result<Duration> {
    let time: Duration = text.parse().map_err(|error: Diagnostic| error.context(what.to_owned()))?;
    check_duration(what, time, may_be_zero)
}

/// Refuses times of nothing and very long ones.
pub(crate) fn check_duration(what: &str, time: Duration, may_be_zero: bool) -> Result<Duration> {
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
