//! BAR: the interval before a missed deadline that begins where a processor was last idle, with at most m - 1
//! tasks that carry work into it: Theorem 2 (equation 8) of Baruah (2007).
//!
//! Assumptions beyond those of all tests:
//! 1. J = 0: a job that has arrived is not kept from the scheduler.
//! 2. D <= T.
//! 3. Time is integer: arrivals, execution times and scheduling decisions are whole ns.
//! 4. U < m.
//!
//! The condition, with its proof for integer time, is 5 in `busy_interval`; here D <= T, so that the backlog
//! of a task that misses is one job. The paper's condition has D_k - C_k where time is dense; in integer time
//! a job that misses has executed at most C_k - 1, so it is D_k - C_k + 1 here and the comparison is strict,
//! and a task that carries work in has executed before, so it carries at most C - 1 (the correction by one
//! that integer time permits).
//!
//! The paper tests the instants at which the demand changes; between them the work of tasks that carry some in can grow faster than m.
//! All integers are covered here.

use super::assumptions::{CONSTRAINED, INTEGER_TIME, NO_JITTER, constrained};
use super::busy_interval::BusyIntervals;
use crate::{
    Citation, Exactness, Guarantee, OutOfWork, Priorities, Source, SporadicTask, Test, TestInfo, Theorem,
    Verdict, Work, papers,
};

/// Baruah's test (2007).
#[derive(Debug, Clone, Copy, Default)]
pub struct Bar;

static INFO: TestInfo = TestInfo {
    name: "bar",
    source: Source::Papers(&[Citation {
        paper: papers::BARUAH_2007,
        theorem: Theorem::Numbered("section 5, Theorem 2 and equation 8"),
    }]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "pseudo-polynomial for U below a constant less than m; n steps for each interval that is evaluated",
    assumptions: &[NO_JITTER, CONSTRAINED, INTEGER_TIME, UTILIZATION],
};

const UTILIZATION: &str = "U < m";

impl Test for Bar {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        constrained(tasks, work)?;
        let Some(mut intervals) = BusyIntervals::of(tasks, processors) else {
            return Ok(Verdict::needs(UTILIZATION, None));
        };
        let mut open = open_tasks(&intervals, tasks)?;
        // Sets that fail, most often fail in a shortest interval.
        for &k in &open {
            if !intervals.holds_in_shortest(k, 1, work)? {
                return Ok(Verdict::fails_at(k));
            }
        }
        let Some(mut failing) = intervals.fails_together(&open, work)? else {
            return Ok(Verdict::SCHEDULABLE);
        };
        // The first that fails, in the order of the tasks, as far as there are steps to find it.
        loop {
            open.retain(|&other| other < failing);
            match intervals.fails_together(&open, work) {
                Ok(Some(before)) => failing = before,
                Ok(None) | Err(OutOfWork) => return Ok(Verdict::fails_at(failing)),
            }
        }
    }

    /// It looks at the shortest interval of every task that has one, before it can accept.
    fn can_accept(&self, tasks: &[SporadicTask], processors: u32, work: Work) -> bool {
        let Some(intervals) = BusyIntervals::of(tasks, processors) else { return false };
        let open = open_tasks(&intervals, tasks);
        open.is_ok_and(|open| work.requires(open.len(), tasks.len() as u64).is_ok())
    }
}

/// The tasks that can miss in an interval of some length.
fn open_tasks(intervals: &BusyIntervals<'_>, tasks: &[SporadicTask]) -> Result<Vec<usize>, OutOfWork> {
    let mut open = Vec::with_capacity(tasks.len());
    for (k, task) in tasks.iter().enumerate() {
        if intervals.longest(k, 1)? >= task.deadline_rel_ns {
            open.push(k);
        }
    }
    Ok(open)
}
