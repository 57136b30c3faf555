//! The sets of a point, drawn and judged under every series.

use super::cell::Judge;
use super::metrics::values_of;
use super::{Curve, Proofs, Series, SetOutcome};
use crate::journal::Point;
use crate::outline::{Drawn, Outline, utilization_q32};
use crate::sampler::Sampler;
use crate::tally::{Gaps, SeriesResult, SetResult};
use laxity_analysis::overheads::working_sets_of;
use laxity_analysis::{AnalysedCell, SporadicTask, Work};
use laxity_model::{CpuList, Platform, Result, Scope, Task, TaskSet};
use laxity_place::{Bin, Fit, Fitting, Placement, Request};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// What judges the sets of a point.
pub struct ProofSampler<'a> {
    proofs: &'a Proofs,
    sets: Drawn,
    processors: u32,
    /// Processors in each cluster.
    cluster: u32,
    stop: &'static AtomicBool,
}

/// Where tasks may go by load: scope, whether each cell's last processor is dedicated, how they are placed and what fits.
type Way = (Scope, bool, String, &'static str);

impl<'a> ProofSampler<'a> {
    /// Readies what all sets of the point share; once `stop` is true, a set is given up.
    ///
    /// # Errors
    ///
    /// The generator refuses its parameters.
    pub fn new(
        (outline, proofs): (&Outline, &'a Proofs),
        point: Point,
        stop: &'static AtomicBool,
    ) -> Result<Self> {
        let processors = proofs.processors_at(point.value)?;
        Ok(ProofSampler {
            proofs,
            sets: outline.drawn(point, processors)?,
            processors,
            cluster: proofs.cell_at(point.value)?,
            stop,
        })
    }

    /// The tasks of set number `index`.
    ///
    /// # Errors
    ///
    /// There is no such set.
    pub fn tasks(&self, index: u64) -> Result<Vec<Task>> {
        self.sets.tasks(index, self.stop)
    }

    /// What each of these series says of a set.
    ///
    /// # Errors
    ///
    /// Tasks that make no set, or a platform that cannot be.
    pub fn outcomes(&self, tasks: Vec<Task>, series: &[Series]) -> Result<Vec<SetOutcome>> {
        if tasks.is_empty() {
            return Ok(vec![SetOutcome::Accepted; series.len()]);
        }
        let set = TaskSet::new("set", tasks)?;
        Platform::symmetric(self.processors)?.check_affinities(&set)?;
        let (sporadic, working_sets) = (SporadicTask::of_set(&set), working_sets_of(&set));
        let given: Option<Vec<u32>> = set.tasks().iter().map(|task| task.priority).collect();
        let given_priorities = given.unwrap_or_default();
        let mut by_load: BTreeMap<Way, Option<Vec<AnalysedCell>>> = BTreeMap::new();
        let mut outcomes = Vec::with_capacity(series.len());
        for series in series {
            let curve = &self.proofs.curves[series.curve];
            let judge = Judge {
                curve,
                series,
                tasks: &sporadic,
                working_sets: &working_sets,
                given_priorities: &given_priorities,
                work: Work::steps(self.proofs.steps).unless(self.stop),
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

impl Sampler for ProofSampler<'_> {
    fn judge(&self, index: u64, series: Range<usize>) -> Result<SetResult> {
        let tasks = self.tasks(index)?;
        let (number, utilization_q32) = (tasks.len() as u64, utilization_q32(&tasks));
        let outcomes = self.outcomes(tasks, &self.proofs.series[series])?;
        let result = |outcome| SeriesResult { values: Some(values_of(outcome)), gaps: Gaps::default() };
        let series = outcomes.into_iter().map(result).collect();
        Ok(SetResult { tasks: number, utilization_q32, series })
    }
}
