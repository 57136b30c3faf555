//! The sets of a point, drawn and run under every curve.

use super::Runnable;
use super::conditions::{Conditions, Slot, name_of_set};
use super::made::State;
use super::ready::Ready;
use crate::experiment::measure_on;
use crate::observer::Caller;
use crate::overheads::{RunOverheads, read};
use laxity_model::{Diagnostic, Duration, Result, ShownPath as _, TaskSet};
use laxity_study::{
    MadeRun, Planned, Point, PointSampler, Runs, Sampler, SetResult, Study, result_of_nothing, result_of_runs,
};
use laxity_trace::{Results, Run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// A study on a machine that is ready for it.
pub struct RealStudy<'a> {
    /// What is run.
    pub runnable: Runnable<'a>,
    /// How.
    pub conditions: &'a Conditions,
    /// Where its runs are kept.
    pub directory: &'a Path,
    /// The machine.
    pub ready: Ready,
    /// Where warnings go.
    pub caller: &'a Caller,
    /// Becomes true when no more is wanted.
    pub interrupt: &'static AtomicBool,
}

impl Planned for RealStudy<'_> {
    type Sampler<'s>
        = RealSampler<'s>
    where
        Self: 's;

    fn study(&self) -> &Study {
        self.runnable.study
    }

    fn description(&self) -> Value {
        self.conditions.description(self.runnable)
    }

    fn sampler(&self, point: Point, stop: &'static AtomicBool) -> Result<RealSampler<'_>> {
        Ok(RealSampler { real: self, point, sets: self.runnable.study.sampler(point, stop)? })
    }
}

/// What runs the sets of a point.
pub struct RealSampler<'a> {
    real: &'a RealStudy<'a>,
    point: Point,
    sets: PointSampler<'a>,
}

impl Sampler for RealSampler<'_> {
    /// What is said of a set that was interrupted counts nowhere: the engine looks at the flag behind it.
    fn judge(&self, index: u64, series: Range<usize>) -> Result<SetResult> {
        let RealStudy { runnable, conditions, ready, .. } = self.real;
        let simulations = runnable.simulations;
        let tasks = self.sets.tasks(index)?;
        if tasks.is_empty() {
            return Ok(result_of_nothing(simulations));
        }
        let set = TaskSet::new(name_of_set(runnable.outline, self.point, index), tasks)?;
        let refusal = |curve| ready.refusal(self.point, index, curve).map(str::to_owned);
        let mut runs: Vec<Runs> = series.map(|curve| refusal(curve).map_or(Ok(Vec::new()), Err)).collect();
        // One curve after the other, and all again: whatever else the machine does falls upon all of them alike.
        for repetition in 0..conditions.repeat {
            for (curve, made) in runs.iter_mut().enumerate() {
                let Ok(made) = made else { continue };
                if self.real.interrupt.load(SeqCst) {
                    return Ok(result_of_nothing(simulations));
                }
                made.push(self.run(&set, Slot { point: self.point, index, curve, repetition })?);
            }
        }
        let accesses = |task: usize, demand: Duration| {
            let task = set.tasks().get(task)?;
            Some(ready.calibration.rate(task).accesses_in(demand))
        };
        result_of_runs(simulations, &set, conditions.platform.core_count(), &runs, accesses)
    }
}

impl RealSampler<'_> {
    /// The run of a slot: that which is there, or made now.
    fn run(&self, set: &TaskSet, slot: Slot) -> Result<MadeRun> {
        let RealStudy { runnable, conditions, ready, directory, caller, interrupt } = self.real;
        let settings = conditions.settings(*runnable, slot, directory, caller.without_progress())?;
        let out = &settings.run.out;
        let results = match State::of_run(out) {
            State::Measured => laxity_trace::load(out)?,
            State::Open | State::NotMeasured(_) => {
                measure_on(&ready.bench(), &settings.case(set, interrupt)?, &settings.run)?.results
            }
        };
        let at = |error: Diagnostic| error.context(out.shown().to_string());
        Ok(MadeRun {
            run: only_run(results, set).map_err(at)?,
            overheads_ns: match settings.run.overheads {
                Some(_) => overheads_of(out).map_err(at)?,
                None => BTreeMap::new(),
            },
        })
    }
}

/// The mean lengths, in ns, of what the only run of a results directory had recorded of its own class, by kind.
fn overheads_of(out: &Path) -> Result<BTreeMap<String, f64>> {
    let recorded = read(out)?.into_iter().next();
    Ok(recorded.map_or_else(BTreeMap::new, |RunOverheads { class, recorded, .. }| {
        let own = recorded.overheads.into_iter().filter(|overhead| overhead.class == class);
        own.filter_map(|overhead| Some((overhead.kind, overhead.statistics.mean?))).collect()
    }))
}

/// The run of results that have one, of this set.
fn only_run(mut results: Results, set: &TaskSet) -> Result<Run> {
    let same = results.task_sets.first() == Some(&set.to_json_value());
    results.runs.pop().filter(|_| same && results.runs.is_empty()).ok_or_else(|| {
        Diagnostic::usage("this is not the run of this study's set")
            .hint("remove that directory: the set is then run again")
    })
}
