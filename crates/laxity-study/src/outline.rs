//! What studies of all back ends have in common: what they are called, which sets they draw, and what varies.

use crate::axis::{Axis, WrittenGrid};
use crate::family::{Family, families};
use crate::file::{AxisFile, RefineFile, StudyFile, Written};
use crate::journal::Point;
use crate::quantity::Quantity;
use crate::refinement::{DEPTH_MOST, Refinement};
use crate::sets::{Place, Source, fingerprint};
use laxity_generate::{Decimal, Prepared, Request, seed_of};
use laxity_model::{Diagnostic, Result, Task, shown};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The most sets of a point.
const SETS_MOST: u64 = 1_000_000;
/// The most CPUs of a platform.
const PROCESSORS_MOST: u32 = 4_096;

/// What the command line says instead of the file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Changes {
    /// Task sets at every point.
    pub sets: Option<u64>,
    /// Seed of everything random.
    pub seed: Option<u64>,
}

/// A study without its back end.
#[derive(Debug)]
pub struct Outline {
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
    /// What varies.
    pub axis: Axis,
    /// Kinds of task sets, figures for each.
    pub families: Vec<Family>,
    /// Where files are looked for.
    beside: PathBuf,
    /// A number that is another one for other sets in files; nothing without such.
    files: Option<u64>,
}

impl Outline {
    /// What the file says, checked, with a name for one that has none; `processors` are those of the platform, if they do not vary.
    pub(crate) fn of(
        file: &StudyFile,
        stem: &str,
        processors: Option<u32>,
        beside: &Path,
        changes: Changes,
    ) -> Result<Outline> {
        let name = file.name.clone().unwrap_or_else(|| stem.to_owned());
        check_name(&name)?;
        check_words(&file.title, file.source.as_deref(), &file.notes)?;
        let sets = within("sets", changes.sets.unwrap_or(file.sets), SETS_MOST)?;
        let axis = axis_of(&file.axis, processors)?;
        Ok(Outline {
            name,
            title: file.title.clone(),
            source: file.source.clone(),
            notes: file.notes.clone(),
            seed: changes.seed.or(file.seed).unwrap_or(1),
            sets,
            families: families(&file.generator, &file.matrix, axis.variable)?,
            axis,
            beside: beside.to_owned(),
            files: None,
        })
    }

    /// All of it that results depend on, added to what they depend on of the back end.
    pub(crate) fn description(&self, mut own: Value) -> Value {
        own["laxity"] = json!(env!("CARGO_PKG_VERSION"));
        own["seed"] = json!(self.seed);
        own["sets"] = json!(self.sets);
        own["axis"] = self.axis.description();
        own["families"] = self.families.iter().map(Family::description).collect();
        if let Some(files) = self.files {
            own["files"] = json!(format!("{files:016x}"));
        }
        own
    }

    /// What draws the sets of a point with so many CPUs; nothing where the total utilization is 0: the set without tasks.
    ///
    /// # Errors
    ///
    /// A parameter that the generator does not have or take, named.
    pub fn request(&self, point: Point, processors: u32) -> Result<Option<Request>> {
        self.families[point.family].request(self.seed, &self.axis, point.value, processors)
    }

    /// The sets of a point with so many CPUs.
    ///
    /// # Errors
    ///
    /// As [`Outline::request`]; there are not so many sets.
    pub(crate) fn drawn(&self, point: Point, processors: u32) -> Result<Drawn> {
        if let Some((given, parameters)) = self.families[point.family].given() {
            let place = self.place(point, processors);
            let source = given.source(&parameters, &place).map_err(|error| error.context("generator"))?;
            return Ok(Drawn::Given(source));
        }
        let request = self.request(point, processors)?;
        Ok(request.map(|request| request.prepare()).transpose()?.map_or(Drawn::Nothing, Drawn::Generated))
    }

    /// Looks at the sets that are in files, so that a study with others is another study.
    pub(crate) fn look_at_files(&mut self, processors: impl Fn(u64) -> Result<u32>) -> Result<()> {
        let mut found = Vec::new();
        for (family, of_family) in self.families.iter().enumerate() {
            if of_family.given().is_none() {
                continue;
            }
            for value in self.axis.grid() {
                if let Drawn::Given(source) = self.drawn(Point { family, value }, processors(value)?)? {
                    found.extend(fingerprint(&source)?);
                }
            }
        }
        self.files = (!found.is_empty()).then(|| seed_of(&found));
        Ok(())
    }

    fn place(&self, point: Point, processors: u32) -> Place<'_> {
        Place {
            axis: &self.axis,
            value: point.value,
            processors,
            seed: self.seed_of_point(point),
            sets: self.sets,
            beside: &self.beside,
        }
    }

    /// The seed of all that is random beside the sets of a point.
    pub(crate) fn seed_of_point(&self, point: Point) -> u64 {
        self.families[point.family].seed(self.seed, &self.axis, point.value)
    }

    /// Both ends of the axis.
    pub(crate) fn ends(&self) -> impl Iterator<Item = u64> {
        let grid = self.axis.grid();
        [grid.first().copied(), grid.last().copied()].into_iter().flatten()
    }
}

/// The sets of a point.
#[derive(Debug)]
pub(crate) enum Drawn {
    /// All are the set without tasks.
    Nothing,
    /// By a generator.
    Generated(Prepared),
    /// From files or by a command.
    Given(Source),
}

impl Drawn {
    /// The tasks of set number `index`.
    ///
    /// # Errors
    ///
    /// There is no such set; it was stopped.
    pub(crate) fn tasks(&self, index: u64, stop: &AtomicBool) -> Result<Vec<Task>> {
        match self {
            Drawn::Nothing => Ok(Vec::new()),
            Drawn::Generated(sets) => sets.tasks(index),
            Drawn::Given(sets) => sets.tasks(index, stop),
        }
    }
}

/// U in units of 2^-32, each task's rounded down.
pub(crate) fn utilization_q32(tasks: &[Task]) -> u64 {
    let share_q32 = |task: &Task| {
        let wide = (u128::from(task.wcet.as_ns()) << 32) / u128::from(task.period().as_ns());
        u64::try_from(wide).unwrap_or(u64::MAX)
    };
    tasks.iter().map(share_q32).fold(0, u64::saturating_add)
}

/// m CPUs, where that is a number that can be studied.
pub(crate) fn checked_processors(m: u64) -> Result<u32> {
    u32::try_from(m).ok().filter(|m| (1..=PROCESSORS_MOST).contains(m)).ok_or_else(|| {
        Diagnostic::usage(format!("m = {m} is not between 1 and {PROCESSORS_MOST}"))
            .hint("study such a number of CPUs")
    })
}

fn check_name(name: &str) -> Result<()> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && name.chars().all(good) && !name.starts_with('.') && name.len() <= 100 {
        return Ok(());
    }
    Err(Diagnostic::usage(format!("name `{}`: a study's name is also that of its directory", shown(name)))
        .hint("use letters, digits, `-`, `_` and `.`, as in `name = \"cerqueira2014-fig8a\"`"))
}

/// Refuses words on a study that would not be shown as they are.
fn check_words(title: &str, source: Option<&str>, notes: &[String]) -> Result<()> {
    laxity_model::check_name("the title", title)?;
    source.map_or(Ok(()), |source| laxity_model::check_name("the source", source))?;
    notes.iter().try_for_each(|note| laxity_model::check_name("the note", note))
}

/// Refuses a curve whose name or note would not be shown as it is.
pub(crate) fn check_curve(name: &str, note: Option<&str>) -> Result<()> {
    laxity_model::check_name("the name of the curve", name)?;
    note.map_or(Ok(()), |note| laxity_model::check_name("the note of the curve", note))
}

pub(crate) fn within(what: &str, number: u64, most: u64) -> Result<u64> {
    if (1..=most).contains(&number) {
        return Ok(number);
    }
    Err(Diagnostic::usage(format!("{what} = {number} is not between 1 and {most}"))
        .hint(format!("give `{what}` such a number")))
}

fn axis_of(file: &AxisFile, processors: Option<u32>) -> Result<Axis> {
    let quantity = |written: &Written| written.0.parse::<Quantity>().map_err(|error| error.context("axis"));
    let grid = match (&file.from, &file.to, &file.step, &file.values) {
        (Some(from), Some(to), Some(step), None) => {
            WrittenGrid::Steps([quantity(from)?, quantity(to)?, quantity(step)?])
        }
        (None, None, None, Some(values)) => {
            WrittenGrid::Values(values.iter().map(quantity).collect::<Result<_>>()?)
        }
        (_, _, _, Some(_)) => {
            return Err(Diagnostic::usage("axis: `values` are given, and also `from`, `to` or `step`")
                .hint("list all values, or say from where to where in which steps"));
        }
        (from, to, step, None) => {
            let keys = [("from", from), ("to", to), ("step", step)];
            let missing = keys.iter().find(|(_, written)| written.is_none()).map_or("step", |(key, _)| key);
            return Err(Diagnostic::usage(format!("axis: `{missing}` is missing"))
                .hint("give `from`, `to` and `step`, or list all `values`"));
        }
    };
    let refinement = file.refine.as_ref().map(refinement).transpose()?;
    Axis::new(file.of, &grid, processors, refinement)
}

fn refinement(file: &RefineFile) -> Result<Refinement> {
    if file.depth > DEPTH_MOST {
        return Err(Diagnostic::usage(format!("axis: depth = {} is above {DEPTH_MOST}", file.depth))
            .hint("the paper's is 10"));
    }
    let precision: Decimal = match &file.precision {
        None => Decimal::from_thousandths(2),
        Some(text) => text.0.parse().map_err(|error: Diagnostic| error.context("axis: precision"))?,
    };
    if precision == Decimal::ZERO || precision > Decimal::ONE {
        return Err(Diagnostic::usage(format!("axis: precision = {precision} is not above 0 and at most 1"))
            .hint("0.002 is a pixel of 500"));
    }
    Ok(Refinement { depth: file.depth, precision, refine_noise: file.refine_noise })
}
