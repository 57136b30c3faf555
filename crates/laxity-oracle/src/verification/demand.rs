//! Demand: a job completes exactly when it has done the work it was asked to do, and aborts (`late.rs`) only before.
//!
//! 1. What a job was asked to do is known from the definition's [`crate::JobSource`]; without one nothing is checked.
//! 2. A job progresses while it is on a CPU, at the CPU's speed, except during kernel work on that CPU. Recorded cache
//!    delays come on top of its work, in ns of the CPU on which they are recorded.
//! 3. A job completes at the first whole ns at which it has done its work. Where CPUs
//!    have different speeds that may be less than a ns late, and every piece of its execution may add to that.
//!
//! Complexity: O(1) per event. Exact where all CPUs have speed 1.

use super::trace_state::{Progress, TraceState};
use crate::Oracle;
use crate::verdict::{Report, Sighting};
use laxity_model::Duration;
use laxity_trace::EventKind;

/// How a job leaves its CPU.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    /// It is not over.
    Stopped,
    Complete,
    Aborted,
}

impl Leaves {
    /// How a job is over with this event; nothing if it is not.
    pub fn of(kind: EventKind) -> Option<Leaves> {
        match kind {
            EventKind::Complete => Some(Leaves::Complete),
            EventKind::Abort => Some(Leaves::Aborted),
            _ => None,
        }
    }
}

/// The work of a task's first incomplete job.
#[derive(Clone, Copy, Default)]
struct Work {
    done_parts: u128,
    /// The part of it that was cold caches.
    delay_parts: u128,
    /// By how much that may be wrong.
    rounding_parts: u128,
    reported: bool,
}

pub(super) struct Demand {
    tasks: Vec<Work>,
}

impl Demand {
    pub fn new(tasks: usize) -> Self {
        Demand { tasks: vec![Work::default(); tasks] }
    }

    /// The task's first job is another one.
    pub fn begins_anew(&mut self, task: u32) {
        self.tasks[task as usize] = Work::default();
    }

    /// What the task's first job has done.
    pub fn done(&self, task: u32) -> u128 {
        self.tasks[task as usize].done_parts
    }

    /// The task's first job got this far.
    pub fn progresses(&mut self, task: u32, progress: Progress) {
        let work = &mut self.tasks[task as usize];
        work.done_parts = work.done_parts.saturating_add(progress.net);
        work.rounding_parts = work.rounding_parts.saturating_add(progress.rate.rounding());
    }

    /// A cache delay of the task's first job, as work.
    pub fn cache_delay(&mut self, task: u32, delay: u128) {
        let work = &mut self.tasks[task as usize];
        work.delay_parts = work.delay_parts.saturating_add(delay);
    }

    /// Checks a job that stops running, or is over.
    pub fn check(
        &mut self,
        trace: &TraceState,
        (task, job): (u32, u32),
        cpu: Option<u32>,
        leaves: Leaves,
        now: u64,
        report: &mut Report,
    ) {
        let demand = trace.tasks[task as usize].pending.front().and_then(|first| first.demand_ns);
        let Some(demand) = demand else {
            if leaves != Leaves::Stopped {
                self.begins_anew(task);
            }
            return;
        };
        let complete = leaves == Leaves::Complete;
        let work = &mut self.tasks[task as usize];
        let scale = trace.tasks[task as usize].scale;
        let asked = u128::from(demand) * scale;
        let short = complete
            && work.done_parts.saturating_add(work.rounding_parts) < asked.saturating_add(work.delay_parts);
        let long =
            work.done_parts > asked.saturating_add(work.delay_parts).saturating_add(work.rounding_parts);
        let needless = leaves == Leaves::Aborted && work.done_parts >= asked.saturating_add(work.delay_parts);
        if leaves != Leaves::Stopped {
            report.checks(Oracle::Demand);
        }
        if (short || long || needless) && !work.reported {
            work.reported = true;
            let done = work.done_parts.saturating_sub(work.delay_parts) / scale;
            let done = Duration::from_ns(u64::try_from(done).unwrap_or(u64::MAX));
            let name = trace.name(task, job);
            report.violation(Sighting::at(Oracle::Demand, now).on(cpu).of(name), |names| {
                let verb = match leaves {
                    Leaves::Stopped => "stopped",
                    Leaves::Complete => "completed",
                    Leaves::Aborted => "aborted",
                };
                format!(
                    "{verb} {name} after {done} of work; it was asked for {}",
                    Duration::from_ns(demand),
                    name = names.job(name)
                )
            });
        }
        if leaves != Leaves::Stopped {
            *work = Work::default();
        }
    }
}
