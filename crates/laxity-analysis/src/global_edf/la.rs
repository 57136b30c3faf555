//! LA: the interval before a missed deadline that begins where a processor was last idle, for arbitrary
//! deadlines.
//!
//! Assumptions beyond those of all tests:
//! 1. J = 0: a job that has arrived is not kept from the scheduler.
//! 2. Time is integer: arrivals, execution times and scheduling decisions are whole ns.
//! 3. U < m.
//! 4. U + (m - 1) C / T < m for every task with D > T: else backlogs need not end.
//!
//! The paper's test is for tasks that suspend themselves; this is what is left of it for tasks that do not:
//! at most m - 1 tasks carry work into the interval, whatever their deadlines. It is condition 5 in
//! `busy_interval`, with its proof. It was derived for this crate, not copied from the paper: where D > T a
//! task can carry in several jobs, and a job can wait for its predecessors, so the condition must hold for a
//! backlog of any number of jobs.
//!
//! For D <= T it is the condition of BAR: Theorem 2 (equation 8) of Baruah (2007).

use super::assumptions::{INTEGER_TIME, NO_JITTER, without_jitter};
use super::busy_interval::BusyIntervals;
use super::share;
use crate::{
    Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem, Verdict, Work,
    papers,
};

/// The test of Liu and Anderson (2013), for tasks that do not suspend themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct La;

static INFO: TestInfo = TestInfo {
    name: "la",
    source: Source::Proof {
        file: "busy_interval.rs",
        what: "condition 5",
        after: &[
            Citation {
                paper: papers::BARUAH_2007,
                theorem: Theorem::Numbered("Theorem 2 and equation 8 (D <= T)"),
            },
            Citation {
                paper: "Liu, Anderson: Suspension-aware analysis for hard real-time multiprocessor scheduling, ECRTS 2013",
                theorem: Theorem::Unnumbered(
                    "that at most m - 1 tasks carry work in; here for tasks that do not suspend themselves",
                ),
            },
        ],
    },
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "pseudo-polynomial for U below a constant less than m; n steps for each interval that is evaluated",
    assumptions: &[NO_JITTER, INTEGER_TIME, UTILIZATION, BACKLOG],
};

const UTILIZATION: &str = "U < m";
const BACKLOG: &str = "U + (m - 1) C / T < m where D > T";

impl Test for La {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        without_jitter(tasks, work)?;
        let Some(mut intervals) = BusyIntervals::of(tasks, processors) else {
            return Ok(Verdict::needs(UTILIZATION, None));
        };
        if let Some(at) = tasks.iter().position(|task| endless(tasks, task, processors)) {
            return Ok(Verdict::needs(BACKLOG, Some(at)));
        }
        for k in 0..tasks.len() {
            if intervals.longest(k, 1)? >= intervals.shortest(k, 1)
                && !intervals.holds_in_shortest(k, 1, work)?
            {
                return Ok(Verdict::fails_at(k));
            }
        }
        for (k, task) in tasks.iter().enumerate() {
            let mut jobs = 1;
            while intervals.longest(k, jobs)? >= intervals.shortest(k, jobs) {
                if !intervals.holds(k, jobs, work)? {
                    return Ok(Verdict::fails_at(k));
                }
                // On one processor one job shows all: where the condition fails for more, the demand of all tasks exceeds t.
                if task.deadline_rel_ns <= task.period_ns || processors == 1 {
                    break;
                }
                jobs += 1;
            }
        }
        Ok(Verdict::SCHEDULABLE)
    }
}

/// Whether longer and longer backlogs of the task stay possible: the longest interval grows by (m - 1) C / (m - U) with each job, the
/// shortest by T.
fn endless(tasks: &[SporadicTask], task: &SporadicTask, processors: u32) -> bool {
    let own = (share::floor(task.wcet_ns, task.period_ns) + 1) * u128::from(processors - 1);
    task.deadline_rel_ns > task.period_ns
        && share::total_ceil(tasks) + own >= u128::from(processors) << share::BITS
}
