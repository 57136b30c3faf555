//! Late jobs that do not just run on ([`OnMiss`]).
//!
//! 1. A job that is to abort does so at its deadline if it has a CPU then and is not done, else at the instant at which it gets one
//!    next: its program looks at the time whenever it runs, and at no other time. It leaves its CPU as one that is done does.
//! 2. Releases that are skipped are known when the jobs that they passed by are done, which is before the scheduler
//!    learns of the task's next job: for it, the skipped ones never existed.

use super::{Engine, NONE};
use crate::observer::Observer;
use laxity_model::OnMiss;
use laxity_trace::JobOutcome;
use std::collections::VecDeque;

/// The rule for late jobs, and what passed while they were late.
pub(super) struct Late {
    rule: OnMiss,
    /// By task, where releases are skipped: deadline and end of jobs that ended after their deadline, while later releases may have
    /// passed between the two; no end for one that was late when the simulation ended. In the order of the jobs.
    jobs: Vec<VecDeque<(u64, Option<u64>)>>,
}

impl Late {
    pub fn new(rule: OnMiss, tasks: usize) -> Late {
        let tasks = if rule == OnMiss::Skip { tasks } else { 0 };
        Late { rule, jobs: vec![VecDeque::new(); tasks] }
    }

    /// How long a job with this deadline may run on from `now`, if it is not done, in ns.
    #[inline]
    pub fn lasts_at_most(&self, deadline_abs: u64, now: u64) -> u64 {
        self.rule.abort_ns(deadline_abs).map_or(u64::MAX, |at| at.saturating_sub(now))
    }

    /// Whether jobs stop at their deadlines.
    #[inline]
    pub fn aborts_jobs(&self) -> bool {
        self.rule.abort_ns(0).is_some()
    }

    /// A job is done.
    fn done(&mut self, task: usize, deadline_abs: u64, now: u64) {
        if self.rule == OnMiss::Skip && deadline_abs < now {
            self.jobs[task].push_back((deadline_abs, Some(now)));
        }
    }

    /// A job was not done when the simulation ended.
    pub fn never_done(&mut self, task: usize, deadline_abs: u64) {
        if self.rule == OnMiss::Skip {
            self.jobs[task].push_back((deadline_abs, None));
        }
    }

    /// Whether a release of the task passed while an earlier job was late. Releases are asked about in their order.
    fn skips(&mut self, task: usize, release: u64) -> bool {
        let Some(jobs) = self.jobs.get_mut(task) else { return false };
        while jobs.front().is_some_and(|&(_, done)| done.is_some_and(|done| done <= release)) {
            jobs.pop_front();
        }
        jobs.iter().any(|&(deadline_abs, done)| self.rule.skips(release, deadline_abs, done))
    }
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// Whether the job on `cpu`, whose clock has come, stops here without having done its work.
    #[inline(always)]
    pub(super) fn aborts(&mut self, cpu: u32) -> bool {
        if IDEAL {
            return false;
        }
        let task = self.cpus[cpu as usize].running;
        let state = &self.tasks[task as usize];
        let aborts = state.work_left_parts > 0 && self.late.lasts_at_most(state.deadline(), self.now_ns) == 0;
        if aborts {
            self.rests(cpu);
        }
        aborts
    }

    /// The present job of the task ends at `now`, or is taken as it is: its next job becomes the present one.
    /// Returns the release of that, or `NEVER`.
    #[inline]
    pub(super) fn next_job(&mut self, task: u32, now: u64) -> u64 {
        if IDEAL {
            return self.tasks[task as usize].advance();
        }
        let deadline_abs = self.tasks[task as usize].deadline();
        self.late.done(task as usize, deadline_abs, now);
        self.go_on_to_next(task, now)
    }

    /// The rest of [`Engine::next_job`].
    pub(super) fn go_on_to_next(&mut self, task: u32, until: u64) -> u64 {
        loop {
            let state = &mut self.tasks[task as usize];
            let release = state.advance();
            if release >= until || !self.late.skips(task as usize, release) {
                return release;
            }
            let mut job = state.record(task, None, |_| NONE);
            job.outcome = JobOutcome::Skipped;
            (job.cpu_time_ns, job.migrations, job.context_switches) = (None, None, None);
            self.observer.job(&job);
        }
    }
}
