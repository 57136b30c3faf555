//! Deadlines: absolute deadlines are the release plus D, and a miss is recorded exactly where a deadline passes.
//!
//! 1. A job meets its deadline if it is complete at that instant. The deadline is that of the task's parameters: what
//!    budgets do to the deadline by which a job is scheduled does not matter.
//! 2. A miss is recorded at the deadline, once, for every job that is not complete then and whose deadline lies before the
//!    end of the trace; at the end itself it may be. With tolerated transitions it may be recorded later by their bound.
//!
//! Complexity: O(1) per event: a missing record is noticed when the job completes, or at the end of the trace.

use super::trace_state::TraceState;
use crate::verdict::{Report, Sighting};
use crate::{Definition, JobName, Oracle};
use laxity_model::Duration;

pub(super) struct Deadlines {
    deadline_rel_ns: Vec<u64>,
    bound_ns: u64,
}

impl Deadlines {
    pub fn new(definition: &Definition) -> Self {
        Deadlines {
            deadline_rel_ns: definition.set().tasks().iter().map(|task| task.deadline_rel.as_ns()).collect(),
            bound_ns: definition.transitions().bound.as_ns(),
        }
    }

    /// The absolute deadline of a job of the task.
    pub fn of(&self, task: u32, release: u64) -> u64 {
        release.saturating_add(self.deadline_rel_ns[task as usize])
    }

    /// Checks a deadline that the trace gives.
    pub fn check(&self, name: JobName, right: u64, given: Option<u64>, now: u64, report: &mut Report) {
        report.checks(Oracle::Deadlines);
        if given == Some(right) {
            return;
        }
        report.violation(Sighting::at(Oracle::Deadlines, now).of(name), |names| {
            let given = given
                .map_or("no deadline".to_owned(), |ns| format!("the deadline {}", Duration::from_ns(ns)));
            let name = names.plain(name.task, name.job);
            format!("{name} has {given} instead of {}", Duration::from_ns(right))
        });
    }

    /// The trace says that a job missed its deadline.
    pub fn miss_event(&self, trace: &mut TraceState, (task, job): (u32, u32), now: u64, report: &mut Report) {
        report.checks(Oracle::Deadlines);
        let bound = self.bound_ns;
        let on_time = |deadline_abs: u64| now >= deadline_abs && now - deadline_abs <= bound;
        let right = match trace.pending(task, job) {
            Some(pending) => {
                let first = !std::mem::replace(&mut pending.missed, true);
                !pending.complete && first && on_time(pending.deadline_abs_ns)
            }
            None => trace.task(task).finished.as_mut().is_some_and(|finished| {
                let late = finished.job == job && finished.at_ns > finished.deadline_abs_ns;
                late && !std::mem::replace(&mut finished.missed, true) && on_time(finished.deadline_abs_ns)
            }),
        };
        if !right {
            let name = trace.name(task, job);
            report.violation(Sighting::at(Oracle::Deadlines, now).of(name), |names| {
                format!(
                    "records that {name} missed its deadline, which it did not, or not now",
                    name = names.job(name)
                )
            });
        }
    }

    /// A job is over, or the trace is: whether its miss was recorded.
    pub fn over(&self, name: JobName, deadline_abs: u64, missed: bool, now: u64, report: &mut Report) {
        report.checks(Oracle::Deadlines);
        if !missed && now.saturating_sub(deadline_abs) > self.bound_ns {
            report.violation(Sighting::at(Oracle::Deadlines, deadline_abs).of(name), |names| {
                format!("{name} missed its deadline, and no miss is recorded", name = names.job(name))
            });
        }
    }

    /// A job aborts, which it does because it has missed its deadline.
    pub fn aborts(&self, name: JobName, deadline_abs: u64, missed: bool, report: &mut Report) {
        if !missed && self.bound_ns == 0 {
            report.violation(Sighting::at(Oracle::Deadlines, deadline_abs).of(name), |names| {
                format!("{name} aborts, and no miss is recorded", name = names.job(name))
            });
        }
    }

    /// A job completes at its deadline, of all instants: that is no miss, although it was not yet complete when the miss
    /// was recorded.
    pub fn met(&self, name: JobName, deadline_abs: u64, missed: bool, now: u64, report: &mut Report) {
        if missed && now == deadline_abs {
            report.violation(Sighting::at(Oracle::Deadlines, now).of(name), |names| {
                format!("{name} completes at its deadline, and a miss is recorded", name = names.job(name))
            });
        }
    }
}
