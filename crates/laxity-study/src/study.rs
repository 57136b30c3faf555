//! A study: what its file says, checked.

use crate::axis::{Axis, Variable};
use crate::curve::{Curve, Series};
use crate::family::{Family, families};
use crate::file::{AxisFile, RefineFile, StudyFile};
use crate::refinement::{DEPTH_MOST, Refinement};
use crate::simulation::{SimulationFile, SimulationStudy, is_simulation};
use crate::{Planned, Point, PointSampler, Quantity, Tally};
use laxity_analysis::{Guarantee, WORK_DEFAULT};
use laxity_generate::{Decimal, Request};
use laxity_model::{Diagnostic, Result, name_of, read_file, shown};
use serde_json::{Value, json};
use std::path::Path;

/// The most sets of a point.
pub(crate) const SETS_MOST: u64 = 1_000_000;
/// The most processors of a platform.
const PROCESSORS_MOST: u32 = 4_096;

/// A checked study.
#[derive(Debug)]
pub struct Study {
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
    /// Steps that a test may take on a set.
    pub steps: u64,
    /// m, unless that is what varies.
    pub processors: Option<u32>,
    /// Processors in a cluster; nothing: all.
    pub cluster: Option<u32>,
    /// What varies.
    pub axis: Axis,
    /// Kinds of task sets, a figure each.
    pub families: Vec<Family>,
    /// What is to be proven, a panel each.
    pub guarantees: Vec<Guarantee>,
    /// The curves.
    pub curves: Vec<Curve>,
    /// A curve for a guarantee: what every set is judged by. In the order of guarantees, then curves.
    pub series: Vec<Series>,
}

/// A study of any kind.
#[derive(Debug)]
pub enum Described {
    /// How many sets are proven schedulable.
    Schedulability(Box<Study>),
    /// How sets fare when they are simulated.
    Simulation(Box<SimulationStudy>),
}

impl Described {
    /// Reads a study and the files that it names; its `kind` says which it is.
    ///
    /// # Errors
    ///
    /// What is wrong in a file, with its place, the rule and the fix; a file that is not there.
    pub fn read(path: &Path, changes: Changes) -> Result<Described> {
        let beside = path.parent().unwrap_or(Path::new(""));
        let stem = name_of(path);
        read_file(path, |text| {
            if is_simulation(text)? {
                let study = SimulationStudy::of(SimulationFile::read(text)?, &stem, beside, changes)?;
                return Ok(Described::Simulation(Box::new(study)));
            }
            Ok(Described::Schedulability(Box::new(Study::of(
                StudyFile::read(text)?,
                &stem,
                beside,
                changes,
            )?)))
        })
    }
}

/// What the command line says instead of the file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Changes {
    /// Task sets at every point.
    pub sets: Option<u64>,
    /// Seed of everything random.
    pub seed: Option<u64>,
}

impl Study {
    /// Reads a study and the files that it names.
    ///
    /// # Errors
    ///
    /// What is wrong in a file, with its place, the rule and the fix; a file that is not there.
    pub fn read(path: &Path, changes: Changes) -> Result<Study> {
        let beside = path.parent().unwrap_or(Path::new(""));
        let stem = name_of(path);
        read_file(path, |text| Study::of(StudyFile::read(text)?, &stem, beside, changes))
    }

    /// Reads a study from TOML or JSON, with a name for one that has none. Files that it names are looked for in `beside`.
    ///
    /// # Errors
    ///
    /// As [`Study::read`].
    pub fn from_text(text: &str, name: &str, beside: &Path) -> Result<Study> {
        Study::of(StudyFile::read(text)?, name, beside, Changes::default())
    }

    fn of(file: StudyFile, stem: &str, beside: &Path, changes: Changes) -> Result<Study> {
        let name = file.name.clone().unwrap_or_else(|| stem.to_owned());
        check_name(&name)?;
        check_words(&file.title, file.source.as_deref(), &file.notes)?;
        let (processors, cluster) = platform(&file)?;
        let sets = within("sets", changes.sets.unwrap_or(file.sets), SETS_MOST)?;
        let steps = within("steps", file.steps.unwrap_or(WORK_DEFAULT), u64::MAX)?;
        let axis = axis_of(&file.axis, processors)?;
        if axis.variable.is_of_simulations() {
            let name = axis.variable.name();
            return Err(Diagnostic::usage(format!("axis: `{name}` varies something which no test looks at"))
                .hint("write `kind = \"simulation\"` (schemas/simulation-study.schema.json), or let something else vary"));
        }
        let families = families(&file.generator, &file.matrix, axis.variable)?;
        let guarantees = guarantees(&file)?;
        let clusters = cluster.is_some() && cluster != processors;
        let (curves, series) = crate::curve::curves(&file.curves, &guarantees, clusters, beside)?;
        let study = Study {
            name,
            title: file.title,
            source: file.source,
            notes: file.notes,
            seed: changes.seed.or(file.seed).unwrap_or(1),
            sets,
            steps,
            processors,
            cluster,
            axis,
            families,
            guarantees,
            curves,
            series,
        };
        study.check()?;
        Ok(study)
    }

    /// What can only be seen with all parts together: every curve has processors, every point has task sets.
    fn check(&self) -> Result<()> {
        let grid = self.axis.grid();
        for value in [grid.first(), grid.last()].into_iter().flatten() {
            let (processors, cell) = (self.processors_at(*value)?, self.cell_at(*value)?);
            for curve in &self.curves {
                curve.check(processors, cell)?;
            }
            for family in 0..self.families.len() {
                PointSampler::new(self, Point { family, value: *value })?;
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
        match self.processors {
            Some(processors) => Ok(processors),
            None => {
                u32::try_from(value).ok().filter(|&m| m <= PROCESSORS_MOST).ok_or_else(|| too_many(value))
            }
        }
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
    pub fn series_in_words(&self) -> Vec<String> {
        let most_tasks = (self.axis.variable == Variable::Tasks).then_some(self.axis.to);
        self.series.iter().map(|series| series.words(&self.curves, most_tasks)).collect()
    }

    /// What draws the sets of a point; nothing where the total utilization is 0: the set without tasks.
    ///
    /// # Errors
    ///
    /// A parameter that the generator does not have or take, named.
    pub fn request(&self, point: Point) -> Result<Option<Request>> {
        let processors = self.processors_at(point.value)?;
        self.families[point.family].request(self.seed, &self.axis, point.value, processors)
    }
}

impl Planned for Study {
    type Sums = Tally;
    type Sampler<'s> = PointSampler<'s>;

    fn description(&self) -> Value {
        json!({
            "study": "schedulability",
            "laxity": env!("CARGO_PKG_VERSION"),
            "seed": self.seed,
            "sets": self.sets,
            "steps": self.steps,
            "processors": self.processors,
            "cluster": self.cluster,
            "axis": self.axis.description(),
            "families": self.families.iter().map(Family::description).collect::<Vec<_>>(),
            "series": self.series.iter().map(|series| series.description(&self.curves)).collect::<Vec<_>>(),
        })
    }

    fn sets(&self) -> u64 {
        self.sets
    }

    fn families(&self) -> usize {
        self.families.len()
    }

    fn is_whole(&self, tally: &Tally) -> bool {
        tally.counts.len() == self.series.len() && tally.sets == self.sets
    }

    fn next_values<'t>(&self, tally: impl Fn(u64) -> Option<&'t Tally>) -> Vec<u64> {
        let open = self.axis.open(|value| tally(value).is_some());
        match self.axis.refinement {
            _ if !open.is_empty() => open,
            None => Vec::new(),
            Some(refinement) => {
                let accepted =
                    |tally: &Tally| -> Vec<u64> { tally.counts.iter().map(|count| count.accepted).collect() };
                refinement.missing(&self.axis.grid(), self.sets, |value| tally(value).map(accepted))
            }
        }
    }

    fn sampler(&self, point: Point) -> Result<PointSampler<'_>> {
        PointSampler::new(self, point)
    }
}

pub(crate) fn check_name(name: &str) -> Result<()> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && name.chars().all(good) && !name.starts_with('.') && name.len() <= 100 {
        return Ok(());
    }
    Err(Diagnostic::usage(format!("name `{}`: a study's name is also that of its directory", shown(name)))
        .hint("use letters, digits, `-`, `_` and `.`, as in `name = \"cerqueira2014-fig8a\"`"))
}

/// Refuses words on a study that would not be shown as they are.
pub(crate) fn check_words(title: &str, source: Option<&str>, notes: &[String]) -> Result<()> {
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

fn platform(file: &StudyFile) -> Result<(Option<u32>, Option<u32>)> {
    let (given, varies) = (file.platform.processors, file.axis.of == Variable::Processors);
    match (given, varies) {
        (Some(_), true) => {
            return Err(Diagnostic::usage("platform: `processors` is given, and also what varies")
                .hint("leave `processors` out, or let something else vary"));
        }
        (None, false) => {
            return Err(Diagnostic::usage("platform: `processors` is missing")
                .hint("write how many there are: [platform] and `processors = 4`"));
        }
        (Some(processors), false) if !(1..=PROCESSORS_MOST).contains(&processors) => {
            return Err(too_many(processors.into()));
        }
        _ => {}
    }
    if file.platform.cluster == Some(0) {
        return Err(
            Diagnostic::usage("platform: `cluster` is 0").hint("give the number of CPUs of a cluster")
        );
    }
    Ok((given, file.platform.cluster))
}

fn too_many(processors: u64) -> Diagnostic {
    Diagnostic::usage(format!("m = {processors} is not between 1 and {PROCESSORS_MOST}"))
        .hint("study such a number of CPUs")
}

pub(crate) fn axis_of(file: &AxisFile, processors: Option<u32>) -> Result<Axis> {
    let quantity = |text: &str| text.parse::<Quantity>().map_err(|error| error.context("axis"));
    let [from, to, step] = [&file.from, &file.to, &file.step].map(|written| quantity(&written.0));
    let refinement = file.refine.as_ref().map(refinement).transpose()?;
    Axis::new(file.of, [from?, to?, step?], processors, refinement)
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
