//! Exact sums over jobs, one job at a time: the jobs need not be kept.
//!
//! A job costs O(1) and allocates nothing, but for the first few of a task ([`super::responses`]). Memory is
//! bounded by the number of tasks.

use super::classes::exact_of_task;
use super::responses::Responses;
use super::statistics::ratio;
use crate::{Counters, Job, JobOutcome, Run};
use laxity_model::{Diagnostic, Result, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// How many jobs there were and how they ended. `jobs = completed + unfinished + aborted = met + misses`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Jobs whose fate is known.
    pub jobs: u64,
    /// Jobs that completed, in time or late.
    pub completed: u64,
    /// Jobs that did not complete although their deadline passed while the run lasted.
    pub unfinished: u64,
    /// Jobs that were not done at their deadline and were stopped for it.
    #[serde(default)]
    pub aborted: u64,
    /// Released jobs that neither completed nor had to; they count nowhere else.
    pub undecided: u64,
    /// Releases that passed while an earlier job was late, and were not made up; they count nowhere else.
    #[serde(default)]
    pub skipped: u64,
    /// Jobs of tasks that were in the background by then; they count nowhere else.
    #[serde(default)]
    pub ordinary: u64,
    /// Jobs that completed by their deadline.
    pub met: u64,
    /// Jobs that completed late, and all unfinished and aborted ones.
    pub misses: u64,
}

impl Counts {
    /// Deadline satisfaction ratio (lindsay2012, 6.2.3): met / jobs. Nothing if there are no jobs.
    pub fn deadline_satisfaction(&self) -> Option<f64> {
        ratio(self.met.into(), self.jobs.into())
    }

    /// Whether all jobs were of a background task.
    pub fn are_ordinary(&self) -> bool {
        self.ordinary > 0 && self.jobs + self.undecided == 0
    }

    /// Jobs that missed their deadlines, and those to which nothing was promised any more.
    pub fn failed(&self) -> u64 {
        self.misses + self.ordinary
    }

    /// Jobs whose fate is known, and those to which nothing was promised any more.
    pub fn known(&self) -> u64 {
        self.jobs + self.ordinary
    }

    /// misses / jobs. Nothing if there are no jobs.
    pub fn miss_ratio(&self) -> Option<f64> {
        ratio(self.misses.into(), self.jobs.into())
    }
}

impl Add for Counts {
    type Output = Counts;
    fn add(self, other: Counts) -> Counts {
        Counts {
            jobs: self.jobs + other.jobs,
            completed: self.completed + other.completed,
            unfinished: self.unfinished + other.unfinished,
            aborted: self.aborted + other.aborted,
            undecided: self.undecided + other.undecided,
            skipped: self.skipped + other.skipped,
            ordinary: self.ordinary + other.ordinary,
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

/// What the metrics need of the jobs of a run, gathered job by job, in any order.
///
/// A producer that does not keep its jobs makes one per run, [adds](Tallies::add) every job when its fate is known,
/// and hands it to [`super::RunSummary::of_tallies`]. The same jobs give the same summary as those of a [`Run`] that
/// kept them: that goes through here as well.
///
/// Memory is bounded by tasks, not by jobs: response times are exact up to 1024 jobs of every task (more where there
/// are few tasks: 262144 over all tasks), and then counted in classes (see [`super::ResponseTimes::approximate`]).
#[derive(Debug, Clone)]
pub struct Tallies {
    horizon_ns: u64,
    tasks: Vec<TaskTally>,
}

/// A job of a task that the set does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownTask {
    /// The id that the job gives.
    pub task: u32,
    /// How many tasks there are.
    pub tasks: usize,
}

impl fmt::Display for UnknownTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a job of task {} but its task set has only {} tasks", self.task, self.tasks)
    }
}

impl std::error::Error for UnknownTask {}

impl Tallies {
    /// No jobs yet. `horizon_ns` is how much time the run is going to cover ([`Run::horizon`]): it decides whether
    /// an unfinished job is a miss.
    pub fn new(set: &TaskSet, horizon_ns: u64) -> Tallies {
        let tasks = set.tasks().len();
        let exact_max = exact_of_task(tasks);
        Tallies {
            horizon_ns,
            tasks: std::iter::repeat_with(|| TaskTally::new(exact_max)).take(tasks).collect(),
        }
    }

    /// How much time the run covers, in ns.
    pub fn horizon_ns(&self) -> u64 {
        self.horizon_ns
    }

    /// The run ended early, after `horizon_ns`. To be said before the first unfinished job is added, because those
    /// are judged at once.
    ///
    /// Panics if an unfinished job was added already.
    pub fn end_at(&mut self, horizon_ns: u64) {
        let judged = self.tasks.iter().any(|task| task.unfinished + task.undecided > 0);
        assert!(!judged, "unfinished jobs were judged by the horizon {} ns already", self.horizon_ns);
        self.horizon_ns = horizon_ns;
    }

    /// One more job. Jobs of background tasks may be added; they count nowhere.
    ///
    /// Errors: its task is not in the set.
    ///
    /// Panics if deadline and finish are 2^63 ns apart.
    #[inline(always)]
    pub fn add(&mut self, job: &Job) -> std::result::Result<(), UnknownTask> {
        let tasks = self.tasks.len();
        match self.tasks.get_mut(job.task as usize) {
            Some(task) => {
                match job.completed_ns() {
                    Some(finish) => task.add_completed(job, finish),
                    None => task.add_other(job, self.horizon_ns),
                }
                Ok(())
            }
            None => Err(UnknownTask { task: job.task, tasks }),
        }
    }

    /// Of the real-time tasks, in id order, with their ids.
    pub(super) fn real_time(&self, set: &TaskSet) -> Vec<(u32, &TaskTally)> {
        assert_eq!(self.tasks.len(), set.tasks().len(), "tallies of another task set");
        let ids = (0..).zip(&self.tasks).enumerate();
        let mut wanted = set.real_time().map(|(id, _)| id).peekable();
        ids.filter_map(|(index, task)| wanted.next_if_eq(&index).map(|_| task)).collect()
    }
}

/// A number that is known for some jobs only.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Events {
    sum: u64,
    unknown: u64,
}

impl Events {
    #[inline]
    fn add(&mut self, events: Option<u32>) {
        match events {
            // 2^32 jobs with 2^32 events each would be needed to reach the end.
            Some(events) => self.sum = self.sum.saturating_add(events.into()),
            None => self.unknown += 1,
        }
    }

    /// The sum, if no completed job lacks its part.
    pub(super) fn total(&self) -> Option<u64> {
        (self.unknown == 0).then_some(self.sum)
    }
}

/// CPU times of those completed jobs for which they are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct CpuTimes {
    sum: u128,
    known: u64,
    min: u64,
    max: u64,
}

impl CpuTimes {
    #[inline]
    fn add(&mut self, cpu_time: Option<u64>) {
        if let Some(cpu_time) = cpu_time {
            self.known += 1;
            self.sum += u128::from(cpu_time);
            self.min = self.min.min(cpu_time);
            self.max = self.max.max(cpu_time);
        }
    }

    /// The mean divided by `scale`.
    pub(super) fn mean_over(&self, scale: u64) -> Option<f64> {
        ratio(i128::try_from(self.sum).ok()?, i128::from(scale).checked_mul(self.known.into())?)
    }

    /// The shortest and the longest.
    pub(super) fn range(&self) -> Option<(u64, u64)> {
        (self.known > 0).then_some((self.min, self.max))
    }
}

/// CPU time, and what the work takes by itself ([`Job::work_ns`]), of those completed jobs for which both are known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    used_ns: u128,
    asked_ns: u128,
}

impl Work {
    #[inline]
    fn add(&mut self, used_ns: Option<u64>, asked_ns: Option<u64>) {
        if let (Some(used_ns), Some(asked_ns)) = (used_ns, asked_ns) {
            self.used_ns += u128::from(used_ns);
            self.asked_ns += u128::from(asked_ns);
        }
    }

    /// CPU time / what the work takes by itself; nothing if nothing was asked for.
    pub(super) fn inflation(&self) -> Option<f64> {
        ratio(i128::try_from(self.used_ns).ok()?, i128::try_from(self.asked_ns).ok()?)
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Work>>(all: I) -> Work {
        all.fold(Work::default(), |sum, one| Work {
            used_ns: sum.used_ns + one.used_ns,
            asked_ns: sum.asked_ns + one.asked_ns,
        })
    }
}

/// Misses per µs are summed in units of 10^-9: far finer than any clock, and exact to add.
const MISS_RATE_UNIT: i128 = 1_000_000_000;

/// Cache misses per µs of CPU time, of those jobs for which both are known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MissRate {
    sum: i128,
    known: u64,
}

impl MissRate {
    /// Only nonsense (2^64 misses in a nanosecond, job after job) can reach the end of an i128: it saturates.
    fn add(&mut self, misses: Option<u64>, cpu_time: Option<u64>) {
        let (Some(misses), Some(cpu_time)) = (misses, cpu_time.filter(|&ns| ns > 0)) else {
            return;
        };
        let cpu_time = i128::from(cpu_time);
        let rate = (i128::from(misses) * 1_000 * MISS_RATE_UNIT + cpu_time / 2) / cpu_time;
        self.sum = self.sum.saturating_add(rate);
        self.known += 1;
    }

    /// The mean over jobs, per µs.
    pub(super) fn mean(&self) -> Option<f64> {
        ratio(self.sum, MISS_RATE_UNIT.checked_mul(self.known.into())?)
    }
}

/// Apart from the rest: most producers count no cache misses.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CacheMisses {
    pub(super) l1d: MissRate,
    pub(super) l2: MissRate,
    pub(super) llc: MissRate,
}

/// Sums over the jobs of one task in one run.
#[derive(Debug, Clone)]
pub(super) struct TaskTally {
    /// Of completed jobs.
    pub(super) responses: Responses,
    /// Sums over completed jobs.
    laxity_ns: i128,
    laxity_ns_min: i64,
    pub(super) tardiness_ns: u128,
    pub(super) cpu_times: CpuTimes,
    pub(super) work: Work,
    met: u64,
    unfinished: u64,
    aborted: u64,
    undecided: u64,
    skipped: u64,
    ordinary: u64,
    /// Of completed jobs, and of others as far as they are known.
    pub(super) migrations: Events,
    pub(super) context_switches: Events,
    cache_misses: Option<Box<CacheMisses>>,
}

impl TaskTally {
    fn new(exact_responses_max: usize) -> Self {
        TaskTally {
            responses: Responses::new(exact_responses_max),
            laxity_ns: 0,
            laxity_ns_min: i64::MAX,
            tardiness_ns: 0,
            cpu_times: CpuTimes { sum: 0, known: 0, min: u64::MAX, max: 0 },
            work: Work::default(),
            met: 0,
            unfinished: 0,
            aborted: 0,
            undecided: 0,
            skipped: 0,
            ordinary: 0,
            migrations: Events::default(),
            context_switches: Events::default(),
            cache_misses: None,
        }
    }

    #[inline(always)]
    fn add_completed(&mut self, job: &Job, finish: u64) {
        let laxity = job.deadline_ns.checked_signed_diff(finish).expect("instants fit 63 bits");
        self.responses.add(finish.saturating_sub(job.release_ns));
        self.met += u64::from(laxity >= 0);
        self.laxity_ns += i128::from(laxity);
        self.laxity_ns_min = self.laxity_ns_min.min(laxity);
        self.tardiness_ns += u128::from(finish.saturating_sub(job.deadline_ns));
        self.cpu_times.add(job.cpu_time_ns);
        self.work.add(job.cpu_time_ns, job.work_ns());
        self.migrations.add(job.migrations);
        self.context_switches.add(job.context_switches);
        if job.counters != Counters::default() {
            self.add_cache_misses(&job.counters, job.cpu_time_ns);
        }
    }

    #[cold]
    fn add_cache_misses(&mut self, counters: &Counters, cpu_time: Option<u64>) {
        let sums = self.cache_misses.get_or_insert_default();
        sums.l1d.add(counters.l1d_misses, cpu_time);
        sums.l2.add(counters.l2_misses, cpu_time);
        sums.llc.add(counters.llc_misses, cpu_time);
    }

    /// A job that did not complete. Its events happened during the test, but need not be known.
    #[cold]
    fn add_other(&mut self, job: &Job, horizon_ns: u64) {
        if job.outcome == JobOutcome::Ordinary {
            self.ordinary += 1;
            return;
        }
        *match job.outcome {
            JobOutcome::Aborted => &mut self.aborted,
            JobOutcome::Skipped => &mut self.skipped,
            JobOutcome::Completed | JobOutcome::Unfinished | JobOutcome::Ordinary => {
                match job.deadline_ns <= horizon_ns {
                    true => &mut self.unfinished,
                    false => &mut self.undecided,
                }
            }
        } += 1;
        let known = |sum: &mut Events, events: Option<u32>| events.iter().for_each(|_| sum.add(events));
        known(&mut self.migrations, job.migrations);
        known(&mut self.context_switches, job.context_switches);
    }

    pub(super) fn counts(&self) -> Counts {
        let completed = self.responses.count();
        Counts {
            jobs: completed + self.unfinished + self.aborted,
            completed,
            unfinished: self.unfinished,
            aborted: self.aborted,
            undecided: self.undecided,
            skipped: self.skipped,
            ordinary: self.ordinary,
            met: self.met,
            misses: completed - self.met + self.unfinished + self.aborted,
        }
    }

    /// Mean laxity of the completed jobs, divided by `scale`.
    pub(super) fn laxity_mean_over(&self, scale: u64) -> Option<f64> {
        ratio(self.laxity_ns, i128::from(scale).checked_mul(self.responses.count().into())?)
    }

    /// The least laxity of a completed job, in ns.
    pub(super) fn laxity_ns_min(&self) -> Option<i64> {
        (self.responses.count() > 0).then_some(self.laxity_ns_min)
    }

    /// Mean tardiness of the completed jobs, in ns.
    pub(super) fn tardiness_mean(&self) -> Option<f64> {
        ratio(i128::try_from(self.tardiness_ns).ok()?, self.responses.count().into())
    }

    /// The longest tardiness of a completed job, in ns: that of the job with the least laxity.
    pub(super) fn tardiness_ns_max(&self) -> Option<u64> {
        self.laxity_ns_min().map(|laxity| laxity.min(0).unsigned_abs())
    }

    pub(super) fn cache_misses(&self) -> CacheMisses {
        self.cache_misses.as_deref().copied().unwrap_or_default()
    }
}

/// The tallies of the jobs that a run has kept.
///
/// Errors: a job of a task that the set does not have.
pub(super) fn tally(run: &Run, set: &TaskSet) -> Result<Tallies> {
    let mut tallies = Tallies::new(set, run.horizon().as_ns());
    run.jobs
        .iter()
        .try_for_each(|job| tallies.add(job))
        .map_err(|unknown| of_another_set(run, set, unknown))?;
    Ok(tallies)
}

/// A job of a run is of a task that its set does not have.
pub(crate) fn of_another_set(run: &Run, set: &TaskSet, unknown: UnknownTask) -> Diagnostic {
    Diagnostic::usage(format!(
        "run {} has a job of task {} but its task set `{}` has only {} tasks",
        run.id,
        unknown.task,
        set.name(),
        unknown.tasks
    ))
    .hint("the jobs and the manifest do not belong together; use the ones written together")
}
