//! Response-time analysis under fixed priorities on one processor: equations 5 and 6 of Audsley et al.
//! (1993), for all jobs of a busy period (Tindell, Burns and Wellings 1994).
//!
//! Assumptions beyond those of all tests:
//! 1. m = 1, and tasks are in the order of their priorities, the highest first.
//! 2. Jobs of a task run in the order of their arrivals. Deadlines are arbitrary: D may exceed T.
//! 3. A job that has arrived may be kept for up to J before it is released; D counts from its arrival.
//!
//! Job q = 0, 1, ... of the level-i busy period, which begins with a release of every task that has been kept for its whole
//! jitter, completes at the least
//!
//! ```text
//! w(q) = (q + 1) C_i + sum over j < i of ceil((w(q) + J_j) / T_j) C_j
//! ```
//!
//! and R_i = max over q of w(q) + J_i - q T_i, up to the q at which the busy period ends: w(q) + J_i <= (q + 1) T_i. With
//! D <= T that is the first.
//!
//! w(0) of a task exceeds that of the one before it, so that the search begins there, and with what had been counted by then
//! (Sjödin and Hansson, Improved response-time analysis calculations, RTSS 1998).
//!
//! Exact. Response times are those of a job that exists, in the worst case.

use super::requests::Requests;
use super::{WINDOW_MAX, alone, jobs_in_hyperperiod};
use crate::{
    Bounds, Citation, Exactness, Guarantee, OutOfWork, Priorities, Source, SporadicTask, Test, TestInfo,
    Theorem, Verdict, Work, papers,
};

/// The response-time analysis of Audsley et al. with the busy periods of Lehoczky and of Tindell et al.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedPriorityRta;

static INFO: TestInfo = TestInfo {
    name: "fp-rta",
    source: Source::Papers(&[
        Citation {
            paper: papers::AUDSLEY_1993,
            theorem: Theorem::Numbered("equations 5 and 6 (release jitter)"),
        },
        Citation {
            paper: papers::TINDELL_1994,
            theorem: Theorem::Unnumbered("w(q) for q = 0, 1, 2, ... (arbitrary deadlines)"),
        },
    ]),
    priorities: Priorities::Fixed,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Exact,
    complexity: "pseudo-polynomial: n for every pass of every job of a busy period; O(n^2) and more",
    assumptions: &["m = 1"],
};

impl Test for FixedPriorityRta {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        alone(processors)?;
        let mut analysis = Analysis::default();
        let mut bounds = Vec::with_capacity(tasks.len());
        for (at, task) in tasks.iter().enumerate() {
            let is_last = at + 1 == tasks.len();
            // Only the load of all tasks can be 1: the busy periods of the others end.
            let jobs_max = || if is_last { jobs_in_hyperperiod(tasks) } else { u64::MAX };
            match analysis.response_time(task, jobs_max, work)? {
                Some(response_time) => bounds.push(response_time),
                None => return Ok(Verdict::fails_at(at)),
            }
        }
        Ok(Verdict::Schedulable(Bounds::ResponseTimes(bounds)))
    }
}

/// The tasks of higher priority, and what they request in the last task's w(0).
#[derive(Debug, Default)]
struct Analysis {
    higher: Requests,
    /// The same in the windows of later jobs.
    later: Requests,
}

impl Analysis {
    /// The response time of the next task in the order of priorities, or nothing if it exceeds D.
    fn response_time(
        &mut self,
        task: &SporadicTask,
        jobs_max: impl Fn() -> u64,
        work: &mut Work,
    ) -> Result<Option<u64>, OutOfWork> {
        let Some(limit) = task.deadline_rel_ns.checked_sub(task.jitter_ns) else { return Ok(None) };
        let Some(window) = self.higher.least_window(task.wcet_ns, limit, work)? else { return Ok(None) };
        let mut longest = window + task.jitter_ns;
        if longest > task.period_ns {
            self.later.copy(&self.higher);
            let jobs_max = jobs_max();
            for job in 1..jobs_max {
                let before =
                    job.checked_mul(task.period_ns).filter(|&it| it < WINDOW_MAX / 2).ok_or(OutOfWork)?;
                let own = (job + 1) * task.wcet_ns;
                let Some(window) = self.later.least_window(own, limit + before, work)? else {
                    return Ok(None);
                };
                // Positive: the job before had not completed when this one was released.
                let response_time = window + task.jitter_ns - before;
                longest = longest.max(response_time);
                if response_time <= task.period_ns {
                    break;
                }
            }
        }
        self.higher.push(task, window);
        Ok(Some(longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response_times(tasks: &[SporadicTask]) -> Option<Vec<u64>> {
        match FixedPriorityRta.judge(tasks, 1, &mut Work::default()) {
            Verdict::Schedulable(Bounds::ResponseTimes(bounds)) => Some(bounds),
            Verdict::NotProven(_) => None,
            verdict => panic!("{verdict:?}"),
        }
    }

    #[test]
    fn constrained_deadlines() {
        // 100 + 3 * 40 + 2 * 40 = 300
        let tasks =
            [(40, 100), (40, 150), (100, 350)].map(|(wcet, period)| SporadicTask::implicit(wcet, period));
        assert_eq!(response_times(&tasks), Some(vec![40, 80, 300]));
    }

    #[test]
    fn the_fifth_job_of_lehoczkys_example_responds_last() {
        // Lehoczky 1990: jobs of the second task respond after 114, 102, 116, 104, 118, 106, 94.
        let with_deadline =
            |deadline| [SporadicTask::constrained(26, 70, 70), SporadicTask::constrained(62, deadline, 100)];
        assert_eq!(response_times(&with_deadline(118)), Some(vec![26, 118]));
        assert_eq!(response_times(&with_deadline(117)), None);
    }

    #[test]
    fn jitter_of_one_task_delays_it_and_squeezes_its_jobs_for_others() {
        // The first task's jobs come at 0 and 10 - 5: 4 + 3 = 7 > 5, so both are in the window: 4 + 3 + 3 = 10.
        let first = SporadicTask { wcet_ns: 3, deadline_rel_ns: 8, period_ns: 10, jitter_ns: 5 };
        assert_eq!(response_times(&[first, SporadicTask::constrained(4, 10, 40)]), Some(vec![8, 10]));
        assert_eq!(response_times(&[first, SporadicTask::constrained(4, 9, 40)]), None);
        // 2 jobs fit before the second comes
        assert_eq!(response_times(&[first, SporadicTask::constrained(2, 9, 40)]), Some(vec![8, 5]));
    }

    #[test]
    fn a_busy_period_that_never_ends_is_cut_at_the_hyperperiod() {
        let always =
            |deadline| SporadicTask { wcet_ns: 1, deadline_rel_ns: deadline, period_ns: 1, jitter_ns: 1 };
        assert_eq!(response_times(&[always(2)]), Some(vec![2]));
        assert_eq!(response_times(&[always(1)]), None);
    }

    #[test]
    fn several_processors_are_another_matter() {
        let verdict = FixedPriorityRta.judge(&[SporadicTask::implicit(1, 2)], 2, &mut Work::default());
        assert_eq!(verdict, Verdict::needs("m = 1", None));
    }

    #[test]
    fn steps_end() {
        let tasks = [SporadicTask::implicit(1, 2), SporadicTask::implicit(1, 4)];
        assert_eq!(FixedPriorityRta.judge(&tasks, 1, &mut Work::steps(2)), Verdict::OUT_OF_WORK);
    }
}
