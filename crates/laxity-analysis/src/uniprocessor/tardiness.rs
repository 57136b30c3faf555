//! Tardiness under fixed priorities on one processor: the busy periods of Lehoczky (1990), the response times
//! w(q) of Tindell, Burns and Wellings (1994), and jitter by equations 5 and 6 of Audsley et al. (1993).
//!
//! Assumptions beyond those of all tests:
//! 1. m = 1, and tasks are in the order of their priorities, the highest first.
//! 2. Jobs of a task run in the order of their arrivals, and a late job is completed: none is dropped.
//! 3. A job that has arrived may be kept for up to J before it is released; D counts from its arrival.
//!
//! The response times of busy periods (`rta`) do not depend on deadlines, which only say when to stop. Without that, R_i is finite
//! if and only if the load of task i and of those above it is at most 1, and a job of task i is at most max(0, R_i - D_i) late.
//!
//! A response time of more than 2^58 ns (9 years) counts as none.
//!
//! Exact: a job exists that is as late.

use super::FixedPriorityRta;
use crate::{
    Bounds, Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem,
    Verdict, Work, papers,
};

/// How late jobs are by the response-time analysis with busy periods.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedPriorityTardiness;

static INFO: TestInfo = TestInfo {
    name: "fp-tardiness",
    source: Source::Papers(&[
        Citation {
            paper: papers::LEHOCZKY_1990,
            theorem: Theorem::Unnumbered("all jobs k = 1, 2, ... of a busy period"),
        },
        Citation {
            paper: papers::TINDELL_1994,
            theorem: Theorem::Unnumbered("w(q) for q = 0, 1, 2, ... (response times)"),
        },
        Citation {
            paper: papers::AUDSLEY_1993,
            theorem: Theorem::Numbered("equations 5 and 6 (release jitter)"),
        },
    ]),
    priorities: Priorities::Fixed,
    guarantee: Guarantee::Soft,
    exactness: Exactness::Exact,
    complexity: "pseudo-polynomial: n for every pass of every job of a busy period; O(n^2) and more",
    assumptions: &["m = 1"],
};

/// Later than any deadline, and so that windows of it stay within what response times are computed with.
const NEVER: u64 = 1 << 58;

impl Test for FixedPriorityTardiness {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        let endless: Vec<_> =
            tasks.iter().map(|task| SporadicTask { deadline_rel_ns: NEVER, ..*task }).collect();
        let verdict = FixedPriorityRta.verdict(&endless, processors, work)?;
        let Verdict::Schedulable(Bounds::ResponseTimes(responses)) = verdict else { return Ok(verdict) };
        let late = |(task, response): (&SporadicTask, u64)| response.saturating_sub(task.deadline_rel_ns);
        Ok(Verdict::Schedulable(Bounds::Tardiness(tasks.iter().zip(responses).map(late).collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(tasks: &[SporadicTask]) -> Verdict {
        FixedPriorityTardiness.judge(tasks, 1, &mut Work::default())
    }

    #[test]
    fn the_fifth_job_of_lehoczkys_example_is_late_most() {
        // Response times 114, 102, 116, 104, 118, 106, 94 (Lehoczky 1990) against D = 100.
        let tasks = [SporadicTask::implicit(26, 70), SporadicTask::implicit(62, 100)];
        assert_eq!(judge(&tasks), Verdict::Schedulable(Bounds::Tardiness(vec![0, 18])));
    }

    #[test]
    fn a_full_processor_has_bounds_and_an_overloaded_one_has_none() {
        // Two of every four are left: the first job of the second task has [2, 4) and [6, 7), the next ends at 12.
        let full = [SporadicTask::implicit(2, 4), SporadicTask::constrained(3, 4, 6)];
        assert_eq!(judge(&full), Verdict::Schedulable(Bounds::Tardiness(vec![0, 3])));
        assert_eq!(judge(&[full[0], SporadicTask::implicit(4, 6)]), Verdict::FAILS);
    }

    #[test]
    fn a_deadline_that_no_job_could_meet_is_missed_by_so_much() {
        let tasks = [SporadicTask { wcet_ns: 5, deadline_rel_ns: 2, period_ns: 10, jitter_ns: 3 }];
        assert_eq!(judge(&tasks), Verdict::Schedulable(Bounds::Tardiness(vec![6])));
    }
}
