//! Exact sums over the jobs of a task.

use super::statistics::ratio;
use crate::{Job, Run};
use laxity_model::{Diagnostic, Result, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::Add;

/// How many jobs there were and what became of them. `jobs = completed + unfinished = met + misses`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Jobs whose fate is known.
    pub jobs: u64,
    /// Jobs that completed, in time or late.
    pub completed: u64,
    /// Jobs that did not complete although their deadline passed while the run lasted.
    pub unfinished: u64,
    /// Released jobs that neither completed nor had to; they count nowhere else.
    pub undecided: u64,
    /// Jobs that completed by their deadline.
    pub met: u64,
    /// Jobs that completed late, and all unfinished ones.
    pub misses: u64,
}

impl Counts {
    /// Deadline satisfaction ratio (lindsay2012, 6.2.3): met / jobs. Nothing if there are no jobs.
    pub fn deadline_satisfaction(&self) -> Option<f64> {
        ratio(self.met.into(), self.jobs.into())
    }

    /// misses / jobs. Nothing if there are no jobs.
    pub fn miss_ratio(&self) -> Option<f64> {
        ratio(self.misses.into(), self.jobs.into())
    }

    fn add_job(&mut self, job: &Job, horizon_ns: u64) {
        match job.finish_ns {
            Some(finish) => {
                self.completed += 1;
                if finish <= job.deadline_ns {
                    self.met += 1;
                } else {
                    self.misses += 1;
                }
            }
            None if job.deadline_ns <= horizon_ns => {
                self.unfinished += 1;
                self.misses += 1;
            }
            None => {
                self.undecided += 1;
                return;
            }
        }
        self.jobs += 1;
    }
}

impl Add for Counts {
    type Output = Counts;
    fn add(self, other: Counts) -> Counts {
        Counts {
            jobs: self.jobs + other.jobs,
            completed: self.completed + other.completed,
            unfinished: self.unfinished + other.unfinished,
            undecided: self.undecided + other.undecided,
            met: self.met + other.met,
            misses: self.misses + other.misses,
        }
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(counts: I) -> Counts {
        counts.fold(Counts::default(), Add::add)
    }
}

/// An exact sum over those jobs for which a value is known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KnownSum {
    pub(super) sum: i128,
    pub(super) known: u64,
    pub(super) unknown: u64,
}

impl KnownSum {
    /// Only nonsense (2^64 misses in a nanosecond, job after job) can reach the end of an i128: it saturates.
    fn add(&mut self, value: Option<i128>) {
        match value {
            Some(value) => {
                self.sum = self.sum.saturating_add(value);
                self.known += 1;
            }
            None => self.unknown += 1,
        }
    }

    /// The mean over the jobs for which the value is known, divided by `scale`.
    pub(super) fn mean_over(&self, scale: i128) -> Option<f64> {
        ratio(self.sum, scale.checked_mul(self.known.into())?)
    }

    /// The sum, if no completed job lacks its part.
    pub(super) fn total(&self) -> Option<i128> {
        (self.unknown == 0).then_some(self.sum)
    }
}

/// Misses per µs are summed in units of 10^-9: far finer than any clock, and exact to add.
pub(super) const MISS_RATE_UNIT: i128 = 1_000_000_000;

/// Sums over the jobs of one real-time task in one run.
#[derive(Debug, Clone)]
pub(super) struct TaskTally {
    pub(super) task: u32,
    pub(super) counts: Counts,
    /// Response times of completed jobs, ascending.
    pub(super) responses: Vec<u64>,
    pub(super) laxity_ns: KnownSum,
    pub(super) laxity_ns_min: Option<i64>,
    pub(super) tardiness_ns: KnownSum,
    pub(super) tardiness_ns_max: Option<u64>,
    pub(super) cpu_time_ns: KnownSum,
    pub(super) cpu_time_ns_min: Option<u64>,
    pub(super) cpu_time_ns_max: Option<u64>,
    pub(super) migrations: KnownSum,
    pub(super) context_switches: KnownSum,
    pub(super) l1d_miss_rate: KnownSum,
    pub(super) l2_miss_rate: KnownSum,
    pub(super) llc_miss_rate: KnownSum,
}

impl TaskTally {
    fn new(task: u32) -> Self {
        TaskTally {
            task,
            counts: Counts::default(),
            responses: Vec::new(),
            laxity_ns: KnownSum::default(),
            laxity_ns_min: None,
            tardiness_ns: KnownSum::default(),
            tardiness_ns_max: None,
            cpu_time_ns: KnownSum::default(),
            cpu_time_ns_min: None,
            cpu_time_ns_max: None,
            migrations: KnownSum::default(),
            context_switches: KnownSum::default(),
            l1d_miss_rate: KnownSum::default(),
            l2_miss_rate: KnownSum::default(),
            llc_miss_rate: KnownSum::default(),
        }
    }

    fn add_job(&mut self, job: &Job, horizon_ns: u64) {
        self.counts.add_job(job, horizon_ns);
        match (job.response_ns(), job.laxity_ns(), job.tardiness_ns()) {
            (Some(response), Some(laxity), Some(tardiness)) => {
                self.responses.push(response);
                self.laxity_ns.add(Some(laxity.into()));
                self.laxity_ns_min = Some(self.laxity_ns_min.map_or(laxity, |min| min.min(laxity)));
                self.tardiness_ns.add(Some(tardiness.into()));
                self.tardiness_ns_max = self.tardiness_ns_max.max(Some(tardiness));
                self.add_completed(job);
            }
            _ => self.add_events_of_unfinished(job),
        }
    }

    fn add_completed(&mut self, job: &Job) {
        self.cpu_time_ns.add(job.cpu_time_ns.map(Into::into));
        if let Some(cpu_time) = job.cpu_time_ns {
            self.cpu_time_ns_min = Some(self.cpu_time_ns_min.map_or(cpu_time, |min| min.min(cpu_time)));
            self.cpu_time_ns_max = self.cpu_time_ns_max.max(Some(cpu_time));
        }
        self.migrations.add(job.migrations.map(Into::into));
        self.context_switches.add(job.context_switches.map(Into::into));
        let rate = |misses: Option<u64>| {
            let cpu_time = i128::from(job.cpu_time_ns.filter(|&ns| ns > 0)?);
            Some((i128::from(misses?) * 1_000 * MISS_RATE_UNIT + cpu_time / 2) / cpu_time)
        };
        self.l1d_miss_rate.add(rate(job.counters.l1d_misses));
        self.l2_miss_rate.add(rate(job.counters.l2_misses));
        self.llc_miss_rate.add(rate(job.counters.llc_misses));
    }

    /// The events of a job that did not end happened during the test, but need not be known.
    fn add_events_of_unfinished(&mut self, job: &Job) {
        for (sum, value) in
            [(&mut self.migrations, job.migrations), (&mut self.context_switches, job.context_switches)]
        {
            if let Some(value) = value {
                sum.add(Some(value.into()));
            }
        }
    }
}

/// The tallies of the real-time tasks, in id order.
///
/// Errors: a job of a task that the set does not have.
pub(super) fn tally(run: &Run, set: &TaskSet) -> Result<Vec<TaskTally>> {
    let mut all: Vec<TaskTally> = (0..).take(set.tasks().len()).map(TaskTally::new).collect();
    let horizon_ns = run.horizon().as_ns();
    for job in &run.jobs {
        let task = usize::try_from(job.task).ok().and_then(|task| all.get_mut(task)).ok_or_else(|| {
            Diagnostic::usage(format!(
                "run {} has a job of task {} but its task set `{}` has only {} tasks",
                run.id,
                job.task,
                set.name(),
                set.tasks().len()
            ))
            .hint("the jobs and the manifest do not belong together; use the ones written together")
        })?;
        task.add_job(job, horizon_ns);
    }
    let mut real_time: Vec<TaskTally> = Vec::new();
    let mut wanted = set.real_time().map(|(id, _)| id).peekable();
    for (id, mut task) in all.into_iter().enumerate() {
        if wanted.next_if_eq(&id).is_some() {
            task.responses.sort_unstable();
            real_time.push(task);
        }
    }
    Ok(real_time)
}
