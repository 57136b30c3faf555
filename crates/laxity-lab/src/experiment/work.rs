//! What every job is to do: releases and demands from the seed, as CPU time or as accesses.

use super::Settings;
use super::calibration::Calibration;
use crate::case::{Cases, expected_jobs};
use laxity_generate::jobs_of;
use laxity_model::{Demand, Diagnostic, Duration, Names, Result, Task, TaskSet};
use laxity_run::JobOrder;
use std::fmt;
use std::str::FromStr;

/// What a job's demand means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DemandModel {
    /// Run until the thread's CPU clock has advanced by the demand.
    #[default]
    CpuTime,
    /// Make as many accesses as take the demand in isolation: lost cache state shows as longer execution.
    Work,
}

impl FromStr for DemandModel {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "cpu-time" => Ok(DemandModel::CpuTime),
            "work" => Ok(DemandModel::Work),
            _ => Err(Names::of("demand model", &["cpu-time", "work"]).unknown(text)),
        }
    }
}

impl fmt::Display for DemandModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            DemandModel::CpuTime => "cpu-time",
            DemandModel::Work => "work",
        })
    }
}

/// The most jobs of one run: their records take about 150 bytes each, in locked memory.
pub const JOBS_MAX: u64 = 20_000_000;

/// Refuses a set that releases more jobs in `[0, duration)` than a run can record.
pub fn check_jobs(set: &TaskSet, duration: Duration) -> Result<()> {
    let jobs_of_task = |task: &Task| duration.as_ns() / task.period().as_ns();
    let jobs = expected_jobs(set, duration);
    if jobs <= u128::from(JOBS_MAX) {
        return Ok(());
    }
    let (_, most) = set.real_time().max_by_key(|(_, task)| jobs_of_task(task)).expect("there are jobs");
    Err(Diagnostic::usage(format!(
        "task set `{}` releases about {jobs} jobs in {duration}, of them {} of task `{}` (period {}); the limit \
         is {JOBS_MAX}",
        set.name(),
        jobs_of_task(most),
        most.name,
        most.period()
    ))
    .hint("use a shorter --duration"))
}

/// Whether a job may ask for more than its WCET.
pub fn may_exceed_wcet(set: &TaskSet, demand: Demand) -> bool {
    exceeding(set, demand).is_some()
}

/// The first task whose jobs may ask for more than their WCET.
pub fn exceeding(set: &TaskSet, demand: Demand) -> Option<&str> {
    const WHOLE_PPM: u32 = 1_000_000;
    let exceeds = |demand: Demand| match demand {
        Demand::Wcet => false,
        Demand::Fraction(share) => share > WHOLE_PPM,
        Demand::Uniform(_, most) => most > WHOLE_PPM,
        Demand::Normal(..) => true,
        Demand::Bimodal(low, high, _) => low.max(high) > WHOLE_PPM,
    };
    let of = |(_, task): &(usize, &Task)| exceeds(task.demand.unwrap_or(demand));
    set.real_time().find(of).map(|(_, task)| task.name.as_str())
}

/// Turns task sets into orders for the runner.
pub struct Workload {
    demand: Demand,
    /// Only for [`DemandModel::Work`].
    calibration: Option<Calibration>,
}

impl Workload {
    /// Jobs as the settings want them: under [`DemandModel::Work`] by what every kind of working set takes alone.
    pub fn new(cases: &Cases<'_>, settings: &Settings) -> Result<Self> {
        let calibration = match settings.demand_model {
            DemandModel::CpuTime => None,
            DemandModel::Work => {
                Some(Calibration::of(cases.sets, settings.runs.seed, settings.calibration.as_deref())?)
            }
        };
        Ok(Workload { demand: cases.settings.demand, calibration })
    }

    /// One line per calibrated working set, for the results.
    pub fn calibration(&self, sets: &[TaskSet]) -> Vec<String> {
        self.calibration.as_ref().map_or(Vec::new(), |calibration| calibration.lines(sets))
    }

    /// The jobs that task `id` releases in `[0, duration)`.
    pub fn orders(&self, set: &TaskSet, id: usize, seed: u64, duration: Duration) -> Vec<JobOrder> {
        let task = &set.tasks()[id];
        let jobs = jobs_of(task, id, seed, self.demand).before(duration);
        jobs.map(|job| self.order(task, job.release, job.demand)).collect()
    }

    /// What job number `index` of task `id` asks for, released at once.
    pub fn order_of(&self, set: &TaskSet, id: usize, index: usize, seed: u64) -> JobOrder {
        let task = &set.tasks()[id];
        let job = jobs_of(task, id, seed, self.demand).nth(index);
        self.order(task, Duration::ZERO, job.map_or(task.wcet, |job| job.demand))
    }

    fn order(&self, task: &Task, release: Duration, demand: Duration) -> JobOrder {
        let rate = self.calibration.as_ref().map(|calibration| calibration.rate(task));
        JobOrder { release, demand, accesses: rate.map(|rate| rate.accesses_in(demand)) }
    }
}
