//! Response-time analysis under global fixed priorities: Theorems 3 and 4 of Bertogna and Cirinei (2007).
//!
//! Assumptions beyond those of all tests:
//! 1. Tasks are in the order of their priorities, the highest first.
//! 2. D <= T.
//! 3. Time is discrete: jobs arrive, are released and complete at whole ns.
//! 4. A job that has arrived may be kept for up to J before it is released; D and R count from its arrival. The paper has J = 0;
//!    R_i in W_i already covers jobs that come late in their windows (proven with jitter by Cerqueira, Stutz and Brandenburg,
//!    PROSA: a case for readable mechanized schedulability analysis, ECRTS 2016).
//!
//! In the order of priorities, R_k = J_k + x for the least x >= C_k with
//!
//! ```text
//! x = C_k + floor((sum over i < k of min(W_i(x), x - C_k + 1)) / m)
//! W_i(x) = N_i(x) C_i + min(C_i, x + R_i - C_i - N_i(x) T_i), N_i(x) = floor((x + R_i - C_i) / T_i)
//! ```
//!
//! W_i is the paper's (8), with R_i for D_i less the slack.
//!
//! Sufficient. Each bound is the response time of no job in general.

use super::interference::{Periods, Runs, constrained, least_window};
use crate::{
    Bounds, Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem,
    Verdict, Work, papers,
};

/// The response-time analysis of Bertogna and Cirinei for fixed priorities.
#[derive(Debug, Clone, Copy, Default)]
pub struct GlobalFixedPriorityRta;

static INFO: TestInfo = TestInfo {
    name: "gfp-rta",
    source: Source::Papers(&[Citation {
        paper: papers::BERTOGNA_2007,
        theorem: Theorem::Numbered("Theorem 3 (R), Theorem 4 and equation 8 (W; fixed priorities)"),
    }]),
    priorities: Priorities::Fixed,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "pseudo-polynomial: n for every pass of every task; O(n^2) and more",
    assumptions: &["D <= T"],
};

impl Test for GlobalFixedPriorityRta {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        constrained(tasks)?;
        let mut higher: Vec<Periods> = Vec::with_capacity(tasks.len());
        let mut bounds = Vec::with_capacity(tasks.len());
        for (at, task) in tasks.iter().enumerate() {
            higher.iter_mut().for_each(Periods::restart);
            let interference = |window, most, runs: &mut Runs| {
                let work = higher.iter_mut().map(|other| {
                    let term = other.workload(window, most);
                    runs.push(term.run);
                    term.work_ns
                });
                work.sum()
            };
            let Some(window) = least_window(task, at, processors, work, interference)? else {
                return Ok(Verdict::fails_at(at));
            };
            let response_time = window + task.jitter_ns;
            higher.push(Periods::new(task, response_time - task.wcet_ns));
            bounds.push(response_time);
        }
        Ok(Verdict::Schedulable(Bounds::ResponseTimes(bounds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(tasks: &[SporadicTask], processors: u32) -> Verdict {
        GlobalFixedPriorityRta.judge(tasks, processors, &mut Work::default())
    }

    #[test]
    fn as_many_tasks_as_processors_do_not_wait() {
        let tasks = [
            SporadicTask::implicit(5, 6),
            SporadicTask { wcet_ns: 3, deadline_rel_ns: 9, period_ns: 9, jitter_ns: 4 },
        ];
        assert_eq!(judge(&tasks, 2), Verdict::Schedulable(Bounds::ResponseTimes(vec![5, 7])));
    }

    #[test]
    fn the_third_task_on_two_processors() {
        // x = 2: (1 + 1) / 2 = 1, x = 3: (2 + 2) / 2 = 2, x = 4: W = 2 (rest 4) and 3, capped at 3: 5 / 2 = 2, so 4
        let tasks =
            [SporadicTask::implicit(2, 6), SporadicTask::implicit(3, 8), SporadicTask::implicit(2, 10)];
        assert_eq!(judge(&tasks, 2), Verdict::Schedulable(Bounds::ResponseTimes(vec![2, 3, 4])));
        let earlier = [tasks[0], tasks[1], SporadicTask::constrained(2, 3, 10)];
        assert_eq!(judge(&earlier, 2), Verdict::fails_at(2));
    }

    #[test]
    fn deadlines_after_the_period_are_not_judged() {
        let tasks = [SporadicTask::implicit(1, 2), SporadicTask::constrained(1, 3, 2)];
        assert_eq!(judge(&tasks, 2), Verdict::needs("D <= T", Some(1)));
    }
}
