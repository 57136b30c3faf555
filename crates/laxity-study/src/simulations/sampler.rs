//! The sets of a point, drawn, placed and simulated under every curve.
//!
//! 1. All curves see the same sets, and jobs that ask for the same and are released at the same instants.
//! 2. A set is placed by the WCETs that its tasks report, whatever its jobs ask for.
//! 3. A set without tasks is placed under every curve, and has no value of any metric.

use super::by_test::ByTest;
use super::curve::SimulatedCurve;
use super::metrics::value_of;
use super::mixed::{Admitted, Rules, admit, servers};
use super::{Simulations, cpus};
use crate::journal::Point;
use crate::outcomes::Simulated;
use crate::outline::{Drawn, Outline, utilization_q32};
use crate::sampler::Sampler;
use crate::tally::{Gaps, Kept, SeriesResult, SetResult, Value};
use laxity_generate::{Decimal, seed_of};
use laxity_model::{Cell, Demand, Platform, Result, Scope, ServerSize, Task, TaskSet};
use laxity_place::{Bin, Fitting, Request};
use laxity_sim::costs::CacheCosts;
use laxity_sim::{Background, BackgroundSummary, Observer, Servers, Setup, global_cell, simulate};
use laxity_trace::{
    Efficiency, Event, HardwareCounts, Host, Job, Run, RunStatus, RunSummary, Tallies, TardinessHistogram,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// What simulates the sets of a point.
pub struct SimulationSampler<'a> {
    simulations: &'a Simulations,
    sets: Drawn,
    platform: Platform,
    demand: Demand,
    server: Option<ServerSize>,
    servers: Servers,
    seed: u64,
    stop: &'static AtomicBool,
}

impl<'a> SimulationSampler<'a> {
    /// Readies what all sets of the point share; once `stop` is true, a set is given up.
    ///
    /// # Errors
    ///
    /// The generator refuses its parameters.
    pub fn new(
        (outline, simulations): (&Outline, &'a Simulations),
        point: Point,
        stop: &'static AtomicBool,
    ) -> Result<Self> {
        let platform = simulations.platform_at(point.value)?;
        let server = simulations.mixed.size_at(&outline.axis, point.value)?;
        Ok(SimulationSampler {
            simulations,
            server,
            servers: servers(server, &platform),
            sets: outline.drawn(point, cpus(&platform))?,
            platform,
            demand: simulations.demand_at(&outline.axis, point.value)?,
            seed: outline.seed_of_point(point),
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

    /// Whether the first set can be simulated under every curve.
    ///
    /// # Errors
    ///
    /// It cannot, whatever it is placed like; which curve.
    pub(super) fn check(&self) -> Result<()> {
        let tasks = self.tasks(0)?;
        if tasks.is_empty() {
            return Ok(());
        }
        let set = TaskSet::new("set", tasks)?;
        self.platform.check_affinities(&set)?;
        let background = self.simulations.mixed.background(self.seed);
        for curve in &self.simulations.curves {
            let here = |error: laxity_model::Diagnostic| error.context(format!("curve `{}`", curve.name));
            let Some(placed) = self.placed(curve, &set).map_err(here)? else { continue };
            self.setup(curve, &placed, &background, 0).check().map_err(here)?;
        }
        Ok(())
    }

    /// A set with the places of its tasks under a curve; nothing if they could not be placed.
    fn placed<'t>(&self, curve: &SimulatedCurve, set: &'t TaskSet) -> Result<Option<Admitted<'t>>> {
        if let Some(word) = curve.admission {
            let rules = Rules {
                word,
                tardiness_max: curve.tardiness_bound,
                at_ticks: self.simulations.mixed.at_ticks,
            };
            return admit(set.tasks(), &self.platform, self.server, rules).map(Some);
        }
        let count = set.real_time().count() as u64;
        let admitted = |cells| Admitted { set: Cow::Borrowed(set), cells, count: (count, count) };
        Ok(self.cells(curve, set)?.map(admitted))
    }

    /// Where the tasks of a set are under a curve; nothing if they could not be placed.
    fn cells(&self, curve: &SimulatedCurve, set: &TaskSet) -> Result<Option<Vec<Cell>>> {
        if curve.scheduler.scope == Scope::Global {
            return Ok(Some(vec![global_cell(set, &self.platform)]));
        }
        let bins = Bin::of_platform(&self.platform, curve.scheduler.scope)?;
        let by_test = ByTest::of(curve.scheduler.into(), set, &self.platform, &bins, self.server);
        let request = Request::new(set, bins)?.with_overload(curve.overload).with_interrupt(self.stop);
        let request = match curve.fit {
            Fitting::Test => request.with_acceptance(&by_test),
            Fitting::Load(Some(fit)) => request.with_fit(fit)?,
            Fitting::Load(None) => request,
        };
        let cells = request.find(curve.placement).map(|placement| {
            let cell = |at: usize| Cell::new(placement.bins[at].cpus().clone(), placement.tasks_of(at));
            (0..placement.bins.len()).map(cell).collect()
        });
        Ok(cells)
    }

    fn setup<'s>(
        &'s self,
        curve: &'s SimulatedCurve,
        placed: &'s Admitted<'s>,
        background: &'s Background,
        index: u64,
    ) -> Setup<'s> {
        let setup = Setup::new(&placed.set, &self.platform, curve.scheduler, placed.cells.clone());
        Setup {
            duration: self.simulations.duration,
            grace: self.simulations.grace.unwrap_or(setup.grace),
            seed: seed_of(&[self.seed, index]),
            demand: self.demand,
            batching: curve.batching.unwrap_or(setup.batching),
            costs: &curve.costs,
            background,
            servers: &self.servers,
            reserve: self.simulations.mixed.reserve,
            at_ticks: self.simulations.mixed.at_ticks,
            prototypes: &self.simulations.prototypes,
            ..setup
        }
    }

    fn simulated(
        &self,
        curve: &SimulatedCurve,
        (index, set): (u64, &TaskSet),
        background: &Background,
    ) -> Result<SeriesResult> {
        let Some(placed) = self.placed(curve, set)? else { return Ok(SeriesResult::default()) };
        let setup = self.setup(curve, &placed, background, index);
        let horizon_ns = (setup.duration + setup.grace).as_ns();
        let mut watcher = Watcher {
            tallies: Tallies::new(&placed.set, horizon_ns),
            tardiness: TardinessHistogram::default(),
            efficiency: Efficiency::default(),
            horizon_ns,
        };
        let ended = simulate(&setup, &mut watcher, self.stop)?;
        let simulated = watcher.simulated(&setup, ended.background, placed.count);
        let values = self.simulations.metrics.iter().map(|metric| value_of(metric, &simulated));
        Ok(SeriesResult { values: Some(values.collect()), gaps: Gaps::default() })
    }

    /// Of the set without tasks: it is placed, and nothing is known of it.
    fn nothing(&self) -> SeriesResult {
        let value = |kept| match kept {
            Kept::Sets(_) => Value::Holds(false),
            Kept::Number(_) => Value::Number(None),
            Kept::Histogram(classes) => Value::Histogram(classes),
        };
        let values = self.simulations.metrics.iter().map(|metric| value(Kept::none(metric)));
        SeriesResult { values: Some(values.collect()), gaps: Gaps::default() }
    }
}

impl Sampler for SimulationSampler<'_> {
    fn judge(&self, index: u64, series: Range<usize>) -> Result<SetResult> {
        let tasks = self.tasks(index)?;
        let (number, utilization_q32) = (tasks.len() as u64, utilization_q32(&tasks));
        if tasks.is_empty() {
            return Ok(SetResult { tasks: 0, utilization_q32, series: vec![self.nothing(); series.len()] });
        }
        let set = TaskSet::new("set", tasks)?;
        self.platform.check_affinities(&set)?;
        let background = self.simulations.mixed.background(seed_of(&[self.seed, index]));
        let curves = self.simulations.curves[series].iter();
        let series = curves.map(|curve| self.simulated(curve, (index, &set), &background));
        Ok(SetResult { tasks: number, utilization_q32, series: series.collect::<Result<_>>()? })
    }
}

/// Takes the jobs of a simulation to where they are counted.
struct Watcher {
    tallies: Tallies,
    tardiness: TardinessHistogram,
    efficiency: Efficiency,
    horizon_ns: u64,
}

impl Observer for Watcher {
    const EVENTS: bool = false;

    #[inline]
    fn job(&mut self, job: &Job) {
        self.tallies.add(job).expect("the simulator knows the set's tasks only");
        self.tardiness.add(job, self.horizon_ns);
        self.efficiency.add(job);
    }

    fn event(&mut self, _: Event) {}
}

impl Watcher {
    fn simulated(self, setup: &Setup<'_>, ordinary: BackgroundSummary, admitted: (u64, u64)) -> Simulated {
        let run = Run {
            grace: setup.grace,
            ..Run::new(setup.scheduler.to_string(), Host::Simulator, setup.duration, RunStatus::Completed)
        };
        let cores = setup.platform.core_count();
        let cache = setup.costs.cache.as_ref();
        Simulated {
            summary: RunSummary::of_tallies(&run, setup.set, cores, &self.tallies),
            tardiness: self.tardiness,
            efficiency: self.efficiency,
            access_ps: cache.and_then(CacheCosts::access_ps),
            ordinary,
            admitted,
            base_ipc: cache.and_then(|cache| cache.ipc).unwrap_or(Decimal::ONE),
            counted: HardwareCounts::default(),
            inflation_of_first: None,
            judged: None,
            overheads_ns: BTreeMap::new(),
        }
    }
}
