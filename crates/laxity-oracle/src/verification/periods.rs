//! Periods: jobs are released when the parameters of their task say.
//!
//! 1. Job k of a periodic task is released at phase + k T, exactly. A sporadic task's jobs are released at least T apart,
//!    the first not before the phase; where the definition has a [`crate::JobSource`], exactly when that says. Jobs that
//!    arrive when they will ([`crate::Definition::with_free_arrivals`]) do so at any time.
//! 2. Jobs are released in `[0, duration)` and before their task leaves: all that are due, and no other. They are numbered
//!    from 0 without gaps. No job is released before a recorded `enter` or after a recorded `leave` of its task, which may leave
//!    before it enters: then it does not.
//! 3. No job runs before its release.
//! 4. Whose task becomes a real-time task when it should have been released already is released then, and those behind it are as much
//!    later (`changes.rs`).
//!
//! Complexity: O(1) per release.

use super::trace_state::{NONE, TraceState};
use crate::verdict::{Report, Sighting};
use crate::{Definition, JobName, Oracle};
use laxity_generate::{JobSpec, Jobs, jobs_of};
use laxity_model::{Arrival, Duration, Task};

/// What is known of a task's next release.
struct Next {
    /// Where the definition says everything.
    jobs: Option<Jobs>,
    /// All of them, for a task that begins anew at an earlier one.
    all: Option<Jobs>,
    peeked: Option<JobSpec>,
    /// Number of the next job, and by how much it and those behind it are later than they would be.
    number: u32,
    delay_ns: u64,
    /// The next release, or the earliest it may be.
    at: Option<u64>,
    exact: bool,
    period_ns: u64,
    end_ns: u64,
    entered: bool,
    left: bool,
}

impl Next {
    fn new(definition: &Definition, id: usize, task: &Task) -> Self {
        let source = definition.job_source();
        let jobs = source.map(|source| jobs_of(task, id, source.seed, source.demand));
        let free = definition.arrives_freely(crate::definition::task_id(id));
        let end = task.leave.map_or(definition.duration(), |leave| leave.min(definition.duration()));
        let mut next = Next {
            exact: source.is_some() || !free && matches!(task.arrival, Arrival::Periodic { .. }),
            all: jobs.clone(),
            jobs,
            peeked: None,
            number: 0,
            delay_ns: 0,
            at: Some(if free { 0 } else { task.phase.as_ns() }),
            period_ns: if free { 0 } else { task.period().as_ns() },
            end_ns: end.as_ns(),
            entered: false,
            left: false,
        };
        next.look_ahead();
        next
    }

    #[inline(always)]
    fn look_ahead(&mut self) {
        if let Some(jobs) = &mut self.jobs {
            self.peeked = jobs.next();
            self.at = self.peeked.map(|job| job.release.as_ns());
        }
    }

    /// Moves on to the next release; what this job asks for.
    #[inline(always)]
    fn advance(&mut self, released: u64) -> Option<JobSpec> {
        let job = self.peeked;
        self.number = self.number.saturating_add(1);
        if self.jobs.is_some() {
            self.look_ahead();
            return job;
        }
        self.at = match self.exact {
            true => self.at.and_then(|at| at.checked_add(self.period_ns)),
            false => released.checked_add(self.period_ns),
        };
        job
    }
}

impl Next {
    /// When the next job is released, at the earliest.
    #[inline]
    fn due(&self) -> Option<u64> {
        self.at.filter(|&at| at < self.end_ns)
    }

    #[cold]
    fn is_not_due(&self, name: JobName, now: u64, report: &mut Report) {
        report.violation(Sighting::at(Oracle::Periods, now).of(name), |names| {
            let name = names.job(name);
            match self.due() {
                Some(_) if self.left => format!("released {name} after its task left"),
                Some(at) if self.exact => format!("released {name}, due at {}", Duration::from_ns(at)),
                Some(at) => format!("released {name}, not due before {}", Duration::from_ns(at)),
                None => format!("released {name}, but no more jobs of its task are due"),
            }
        });
    }

    /// The job of this number is the next one, and is not released before `now`: those behind it are as much later.
    fn begins_anew(&mut self, number: u32, now: u64) {
        if number < self.number
            && let Some(all) = &self.all
        {
            self.jobs = Some(all.clone().delayed(Duration::from_ns(self.delay_ns)));
            self.number = 0;
            self.look_ahead();
        } else if number < self.number {
            let back = u64::from(self.number - number).saturating_mul(self.period_ns);
            self.at = self.at.map(|at| at.saturating_sub(back));
            self.number = number;
        }
        while self.number < number && self.at.is_some() {
            let at = self.at.unwrap_or_default();
            self.advance(at);
        }
        let Some(at) = self.at.filter(|&at| at < now) else { return };
        let late = now - at;
        self.delay_ns = self.delay_ns.saturating_add(late);
        self.at = Some(now);
        self.jobs = self.jobs.take().map(|jobs| jobs.delayed(Duration::from_ns(late)));
    }
}

pub(super) struct Periods {
    tasks: Vec<Next>,
}

impl Periods {
    pub fn new(definition: &Definition) -> Self {
        let tasks = definition.set().tasks().iter().enumerate();
        Periods { tasks: tasks.map(|(id, task)| Next::new(definition, id, task)).collect() }
    }

    /// As in a real kernel: a task may wake up so late for a job, in ns, whose release nothing else tells of.
    pub fn may_be_late(&mut self, late: u64) {
        for next in self.tasks.iter_mut().filter(|next| !next.exact) {
            next.end_ns = next.end_ns.saturating_add(late);
        }
    }

    /// The task's next job is released now, or skipped, as the trace says: goes on to the one after it. What this job was asked to do, if
    /// that is known.
    #[inline(always)]
    pub fn released(
        &mut self,
        task: u32,
        name: impl FnOnce() -> JobName,
        now: u64,
        report: &mut Report,
    ) -> Option<u64> {
        let next = &mut self.tasks[task as usize];
        let right = next.due().is_some_and(|at| match next.exact {
            true => now == at,
            false => now >= at && now < next.end_ns,
        });
        if !right || next.left {
            next.is_not_due(name(), now, report);
        }
        next.advance(now).map(|job| job.demand.as_ns())
    }

    /// The same without a look at whether it is due.
    pub fn advance(&mut self, task: u32, now: u64) -> Option<u64> {
        self.tasks[task as usize].advance(now).map(|job| job.demand.as_ns())
    }

    /// The task is a real-time task from `now` on, from the job of this number on (`changes.rs`).
    pub fn begins_anew(&mut self, task: u32, number: u32, now: u64) {
        self.tasks[task as usize].begins_anew(number, now);
    }

    /// The release of the task's next job, if that is certain.
    pub fn due(&self, task: u32) -> Option<u64> {
        let next = &self.tasks[task as usize];
        next.due().filter(|_| next.exact && !next.left)
    }

    /// The task enters.
    pub fn enters(&mut self, trace: &TraceState, task: u32, now: u64, report: &mut Report) {
        report.checks(Oracle::Periods);
        let next = &mut self.tasks[task as usize];
        if next.entered || next.left || trace.tasks[task as usize].released > 0 {
            let why = match (next.left, next.entered) {
                (true, _) => "after it has left",
                (false, true) => "a second time",
                (false, false) => "after its first job",
            };
            report.violation(Sighting::at(Oracle::Periods, now), |names| {
                format!("{} enters {why}", names.task(task))
            });
        }
        next.entered = true;
    }

    /// The task leaves.
    pub fn leaves(&mut self, task: u32, now: u64, report: &mut Report) {
        report.checks(Oracle::Periods);
        let next = &mut self.tasks[task as usize];
        if next.left {
            report.violation(Sighting::at(Oracle::Periods, now), |names| {
                format!("{} leaves a second time", names.task(task))
            });
        }
        next.left = true;
    }

    /// The trace is over: jobs that should have been released.
    pub fn finish(&self, trace: &TraceState, end: u64, report: &mut Report) {
        for (task, of) in (0..).zip(&trace.tasks) {
            if let Some(at) = self.due(task).filter(|&at| of.cluster != NONE && at < end) {
                let sighting = Sighting { from_ns: at, ..Sighting::at(Oracle::Periods, end) };
                report.violation(sighting, |names| {
                    format!("{} was never released", names.plain(task, of.released))
                });
            }
        }
    }
}
