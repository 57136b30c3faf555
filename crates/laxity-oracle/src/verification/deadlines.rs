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

/// How a job ends.
pub(super) struct End {
    pub deadline_abs_ns: u64,
    /// Its miss was recorded.
    pub missed: bool,
    pub aborted: bool,
    /// The deadline that the trace gives.
    pub said_ns: Option<u64>,
}

pub(super) struct Deadlines {
    bound_ns: u64,
}

impl Deadlines {
    pub fn new(definition: &Definition) -> Self {
        Deadlines { bound_ns: definition.transitions().bound.as_ns() }
    }

    /// The trace gives another deadline than the right one.
    #[cold]
    pub fn is_not(name: JobName, right: u64, given: Option<u64>, now: u64, report: &mut Report) {
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

    /// The trace is over, or what a job was at: whether its miss was recorded.
    pub fn over(&self, name: JobName, deadline_abs: u64, missed: bool, now: u64, report: &mut Report) {
        report.checks(Oracle::Deadlines);
        if self.lacks_miss(deadline_abs, missed, now) {
            Self::has_missed(name, deadline_abs, report);
        }
    }

    fn lacks_miss(&self, deadline_abs: u64, missed: bool, now: u64) -> bool {
        !missed && now.saturating_sub(deadline_abs) > self.bound_ns
    }

    fn has_missed(name: JobName, deadline_abs: u64, report: &mut Report) {
        report.violation(Sighting::at(Oracle::Deadlines, deadline_abs).of(name), |names| {
            format!("{name} missed its deadline, and no miss is recorded", name = names.job(name))
        });
    }

    /// A job ends: its deadline, and whether its miss was recorded if and only if it has missed it.
    #[inline(never)]
    pub fn check_end(&self, name: JobName, end: &End, now: u64, report: &mut Report) {
        let &End { deadline_abs_ns: deadline_abs, missed, aborted, said_ns } = end;
        if said_ns != Some(deadline_abs) {
            Self::is_not(name, deadline_abs, said_ns, now, report);
        }
        if self.lacks_miss(deadline_abs, missed, now) {
            Self::has_missed(name, deadline_abs, report);
        }
        if aborted {
            self.aborts(name, deadline_abs, missed, report);
        } else {
            Self::met(name, deadline_abs, missed, now, report);
        }
    }

    /// A job aborts, which it does because it has missed its deadline.
    fn aborts(&self, name: JobName, deadline_abs: u64, missed: bool, report: &mut Report) {
        if !missed && self.bound_ns == 0 {
            report.violation(Sighting::at(Oracle::Deadlines, deadline_abs).of(name), |names| {
                format!("{name} aborts, and no miss is recorded", name = names.job(name))
            });
        }
    }

    /// A job completes at its deadline, of all instants: that is no miss, although it was not yet complete when the miss
    /// was recorded.
    fn met(name: JobName, deadline_abs: u64, missed: bool, now: u64, report: &mut Report) {
        if missed && now == deadline_abs {
            report.violation(Sighting::at(Oracle::Deadlines, now).of(name), |names| {
                format!("{name} completes at its deadline, and a miss is recorded", name = names.job(name))
            });
        }
    }
}
