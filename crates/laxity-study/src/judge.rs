//! The sets of a point, drawn and judged under every series.

mod admission;
mod cell;

use crate::engine::{NEVER, Sampler};
use crate::{Curve, Judged, Point, SetOutcome, Study, Tally};
use cell::Judge;
use laxity_analysis::overheads::working_sets_of;
use laxity_analysis::{AnalysedCell, SporadicTask, Work};
use laxity_generate::Prepared;
use laxity_model::{CpuList, Platform, Result, Scope, Task, TaskSet};
use laxity_place::{Bin, Fit, Fitting, Placement, Request};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// What judges the sets of a point.
pub struct PointSampler<'a> {
    study: &'a Study,
    /// Nothing: the set without tasks.
    sets: Option<Prepared>,
    processors: u32,
    /// Processors in each cluster.
    cluster: u32,
    stop: &'static AtomicBool,
}

/// Where tasks may go by load: scope, whether each cell's last processor is dedicated, how they are placed and what fits.
type Way = (Scope, bool, String, &'static str);

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
            stop: &NEVER,
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
    pub fn outcomes(&self, tasks: Vec<Task>) -> Result<Vec<SetOutcome>> {
        if tasks.is_empty() {
            return Ok(vec![SetOutcome::Accepted; self.study.series.len()]);
        }
        let set = TaskSet::new("set", tasks)?;
        let (sporadic, working_sets) = (SporadicTask::of_set(&set), working_sets_of(&set));
        let mut by_load: BTreeMap<Way, Option<Vec<AnalysedCell>>> = BTreeMap::new();
        let mut outcomes = Vec::with_capacity(self.study.series.len());
        for series in &self.study.series {
            let curve = &self.study.curves[series.curve];
            let judge = Judge {
                curve,
                series,
                tasks: &sporadic,
                working_sets: &working_sets,
                work: Work::steps(self.study.steps).unless(self.stop),
            };
            let size = curve.cell(self.processors, self.cluster);
            outcomes.push(match curve.fit {
                _ if size == self.processors => {
                    judge.cells(&[AnalysedCell { processors: size, tasks: (0..sporadic.len()).collect() }])
                }
                Fitting::Test => judge.placing(&set, self.bins(curve, size)?, size, self.stop)?,
                Fitting::Load(fit) => {
                    let fit = fit.unwrap_or_else(|| Fit::default_for(&set));
                    let scheduler = curve.scheduler;
                    let dedicated = scheduler.dedicates_a_processor();
                    let way = (scheduler.scope(), dedicated, curve.placement.to_string(), fit.name());
                    if !by_load.contains_key(&way) {
                        let request = Request::new(&set, self.bins(curve, size)?)?
                            .with_fit(fit)?
                            .with_interrupt(self.stop);
                        let placed = request.find(curve.placement);
                        by_load.insert(way.clone(), placed.map(|placement| cells(&placement, size)));
                    }
                    by_load[&way].as_ref().map_or(SetOutcome::Rejected, |cells| judge.cells(cells))
                }
            });
        }
        Ok(outcomes)
    }

    /// The processors of each cell that run tasks.
    fn bins(&self, curve: &Curve, size: u32) -> Result<Vec<Bin>> {
        let platform = Platform::symmetric(self.processors)?;
        let running = curve.scheduler.running(size);
        let cpus = |cell: u32| (cell * size..cell * size + running).collect::<CpuList>();
        (0..self.processors / size).map(|cell| Bin::new(&platform, cpus(cell))).collect()
    }
}

/// Each bin with its tasks. All tasks of a set that is drawn are real-time tasks: their ids are their numbers.
fn cells(placement: &Placement, processors: u32) -> Vec<AnalysedCell> {
    let cell = |bin: usize| AnalysedCell { processors, tasks: placement.tasks_of(bin) };
    (0..placement.bins.len()).map(cell).collect()
}

impl Sampler for PointSampler<'_> {
    type Sums = Tally;

    fn stopped_by(self, stop: &'static AtomicBool) -> Self {
        PointSampler { stop, ..self }
    }

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
