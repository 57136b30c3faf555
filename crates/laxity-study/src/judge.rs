//! The sets of a point, drawn and judged under every series.

use crate::curve::Series;
use crate::engine::Sampler;
use crate::{Curve, Judged, Outcome, Point, Study};
use laxity_analysis::overheads::working_sets_of;
use laxity_analysis::scheduler::{Asked, Placed};
use laxity_analysis::{Cell, DeviAnderson, Guarantee, NotProven, SporadicTask, Test, Verdict, Work};
use laxity_generate::Prepared;
use laxity_model::{CpuList, Platform, Result, Scope, Task, TaskSet};
use laxity_place::{Bin, Method, Request};
use std::collections::BTreeMap;

/// What judges the sets of a point.
pub struct PointSampler<'a> {
    study: &'a Study,
    /// Nothing: the set without tasks.
    sets: Option<Prepared>,
    processors: u32,
    /// Processors in each cluster.
    cluster: u32,
}

/// Where tasks may go: scope, whether each cell's last processor is dedicated, and how they are placed.
type Way = (Scope, bool, String);

impl<'a> PointSampler<'a> {
    /// Readies what all sets of the point share.
    ///
    /// # Errors
    ///
    /// The generator refuses its parameters.
    pub fn new(study: &'a Study, point: Point) -> Result<Self> {
        Ok(PointSampler {
            study,
            sets: study.request(point)?.map(|request| request.prepare()).transpose()?,
            processors: study.processors_at(point.value)?,
            cluster: study.cell_at(point.value)?,
        })
    }

    /// The tasks of set number `index`.
    ///
    /// # Errors
    ///
    /// There is no such set.
    pub fn tasks(&self, index: u64) -> Result<Vec<Task>> {
        self.sets.as_ref().map_or(Ok(Vec::new()), |sets| sets.tasks(index))
    }

    /// What each series says of a set.
    ///
    /// # Errors
    ///
    /// Tasks that make no set, or a platform that cannot be.
    pub fn outcomes(&self, tasks: Vec<Task>) -> Result<Vec<Outcome>> {
        if tasks.is_empty() {
            return Ok(vec![Outcome::Accepted; self.study.series.len()]);
        }
        let set = TaskSet::new("set", tasks)?;
        let (sporadic, working_sets) = (SporadicTask::of_set(&set), working_sets_of(&set));
        let mut placements: BTreeMap<Way, Option<Vec<Cell>>> = BTreeMap::new();
        let mut outcomes = Vec::with_capacity(self.study.series.len());
        for series in &self.study.series {
            let curve = &self.study.curves[series.curve];
            let scheduler = curve.scheduler;
            let way = (scheduler.scope(), scheduler.dedicates_a_processor(), curve.placement.to_string());
            if !placements.contains_key(&way) {
                placements.insert(way.clone(), self.cells(&set, curve)?);
            }
            outcomes.push(match &placements[&way] {
                None => Outcome::Rejected,
                Some(cells) => {
                    let overheads = series.overheads.as_ref().map(|costing| &costing.overheads);
                    let (tasks, working_sets) = (sporadic.as_slice(), working_sets.as_slice());
                    judge(
                        curve,
                        series,
                        &Placed { tasks, working_sets, given_priorities: &[], cells, overheads },
                        self.study.steps,
                    )
                }
            });
        }
        Ok(outcomes)
    }

    /// The cells with their tasks; nothing if a task fits nowhere.
    fn cells(&self, set: &TaskSet, curve: &Curve) -> Result<Option<Vec<Cell>>> {
        let scope = curve.scheduler.scope();
        let size = match scope {
            Scope::Global => self.processors,
            Scope::Clustered => self.cluster,
            Scope::Partitioned => 1,
        };
        if size == self.processors {
            return Ok(Some(vec![Cell { processors: size, tasks: (0..set.tasks().len()).collect() }]));
        }
        let platform = Platform::symmetric(self.processors)?;
        let running = curve.scheduler.running(size);
        let cpus = |cell: u32| (cell * size..cell * size + running).collect::<CpuList>();
        let bins: Result<Vec<Bin>> =
            (0..self.processors / size).map(|cell| Bin::new(&platform, cpus(cell))).collect();
        Ok(place(set, bins?, curve.placement)?
            .map(|assigned| assigned.into_iter().map(|tasks| Cell { processors: size, tasks }).collect()))
    }
}

/// Tasks by bin; nothing if one fits nowhere. Heuristics refuse nothing else.
fn place(set: &TaskSet, bins: Vec<Bin>, method: Method) -> Result<Option<Vec<Vec<usize>>>> {
    let count = bins.len();
    let placement = Request::new(set, bins)?.place(method).ok();
    Ok(placement.map(|placement| (0..count).map(|bin| placement.tasks_of(bin)).collect()))
}

/// Any test that accepts is enough. Where it is only asked whether tardiness is bounded, the cheapest test comes first.
fn judge(curve: &Curve, series: &Series, placed: &Placed<'_>, steps: u64) -> Outcome {
    let mut asked = Asked { work: Work::steps(steps), ..Asked::of(series.guarantee) };
    let scheduler = curve.scheduler;
    if series.tests.is_empty() {
        let is_edf = scheduler.priorities(2) == DeviAnderson.info().priorities;
        if series.guarantee == Guarantee::Soft && is_edf && scheduler.scope() == Scope::Global {
            let quick = Asked { test: Some(&DeviAnderson), ..asked };
            if scheduler.judge(placed, quick).verdict.is_schedulable() {
                return Outcome::Accepted;
            }
        }
        return outcome(&scheduler.judge(placed, asked).verdict);
    }
    let mut best = Outcome::NotApplicable;
    for &test in &series.tests {
        asked.test = Some(test);
        let found = outcome(&scheduler.judge(placed, asked).verdict);
        best = match (best, found) {
            (_, Outcome::Accepted) => return Outcome::Accepted,
            (Outcome::OutOfWork, _) | (_, Outcome::OutOfWork) => Outcome::OutOfWork,
            (Outcome::Rejected, _) | (_, Outcome::Rejected) => Outcome::Rejected,
            _ => best,
        };
    }
    best
}

fn outcome(verdict: &Verdict) -> Outcome {
    match verdict {
        Verdict::Schedulable(_) => Outcome::Accepted,
        Verdict::NotProven(NotProven { out_of_work: true, .. }) => Outcome::OutOfWork,
        Verdict::NotProven(_) => Outcome::Rejected,
        Verdict::NotApplicable(_) => Outcome::NotApplicable,
    }
}

impl Sampler for PointSampler<'_> {
    fn judge(&self, index: u64) -> Result<Judged> {
        let tasks = self.tasks(index)?;
        let share_q32 = |task: &Task| {
            let wide = (u128::from(task.wcet.as_ns()) << 32) / u128::from(task.period().as_ns());
            u64::try_from(wide).unwrap_or(u64::MAX)
        };
        let utilization_q32 = tasks.iter().map(share_q32).fold(0, u64::saturating_add);
        Ok(Judged { tasks: tasks.len() as u64, utilization_q32, outcomes: self.outcomes(tasks)? })
    }
}
