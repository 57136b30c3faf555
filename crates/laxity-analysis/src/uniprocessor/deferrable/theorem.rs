//! Theorem 1 of calandrino2007: how late tasks are that were admitted as if the server were a periodic task.
//!
//! If the set is schedulable with the double hit left out, task i is late by at most
//!
//! ```text
//! max(0, (min t : t >= ceil(t / p_s) e_s + sum over k < i of ceil(t / p_k) e_k + (e_i + e_s)) - p_i).
//! ```
//!
//! Assumptions beyond those of the parent module:
//! 1. D <= T. The paper has D = T; with D for p_i at the end its proof is the same, for it needs only that the plain schedule has
//!    no two jobs of a task at a time.
//! 2. J = 0.
//!
//! Why it holds: the plain schedule has the budgets that become full within a busy period of level i as periodic jobs; what was
//! left of the one before, at most e_s, comes on top, once. So at any time at most e_s more is pending than in the plain schedule,
//! where no earlier job of the task is. The response times of e_i + e_s in the plain schedule bound that.
//!
//! Priorities need not be rate-monotonic for this; the order is the caller's. Sufficient: it can be as late, but counts a whole
//! second budget even where the window is too short for it.

use super::{DoubleHit, FIRST_IS_SERVER, as_task, first_as_server, response_times};
use crate::uniprocessor::alone;
use crate::uniprocessor::requests::Requests;
use crate::{
    Bounds, Citation, Exactness, Guarantee, OutOfWork, Priorities, Source, SporadicTask, Test, TestInfo,
    Theorem, Verdict, Work,
};
use laxity_model::DeferrableServer;

/// Later than every bound: with the load below 1 that the plain test has seen, windows end.
const NEVER: u64 = 1 << 58;

/// Judges the tasks below a server by Theorem 1. Bounds and tasks are numbered without it.
pub fn tardiness(server: DeferrableServer, tasks: &[SporadicTask], work: &mut Work) -> Verdict {
    let plain = response_times(server, tasks, DoubleHit::Ignored, work);
    if !plain.is_schedulable() {
        return plain;
    }
    bounds(server, tasks, work).unwrap_or_else(|early| early)
}

/// Of tasks that the plain test accepts.
fn bounds(server: DeferrableServer, tasks: &[SporadicTask], work: &mut Work) -> Result<Verdict, Verdict> {
    Verdict::unless("D <= T", tasks, |task| task.deadline_rel_ns <= task.period_ns)?;
    Verdict::unless("J = 0", tasks, |task| task.jitter_ns == 0)?;
    let mut higher = Requests::default();
    let first = as_task(server, DoubleHit::Ignored);
    // The window of the first task begins with one job of the server.
    first.iter().for_each(|server| higher.push(server, 1));
    let mut late = Vec::with_capacity(tasks.len());
    for task in tasks {
        let own = task.wcet_ns + first.map_or(0, |server| server.wcet_ns);
        let window = higher.least_window(own, NEVER, work)?.ok_or(OutOfWork)?;
        late.push(window.saturating_sub(task.deadline_rel_ns));
        higher.push(task, window);
    }
    Ok(Verdict::Schedulable(Bounds::Tardiness(late)))
}

/// How late tasks below a deferrable server, the first task, can be.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeferrableTardiness;

static INFO: TestInfo = TestInfo {
    name: "ds-tardiness",
    source: Source::Papers(&[Citation {
        paper: "Calandrino, Baumberger, Li, Hahn, Anderson: Soft real-time scheduling on performance \
            asymmetric multicore platforms, RTAS 2007",
        theorem: Theorem::Numbered("Theorem 1"),
    }]),
    priorities: Priorities::Fixed,
    guarantee: Guarantee::Soft,
    exactness: Exactness::Sufficient,
    complexity: "pseudo-polynomial: n for every pass; O(n^2) and more",
    assumptions: &["m = 1", FIRST_IS_SERVER, "D <= T", "J = 0"],
};

impl Test for DeferrableTardiness {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        alone(processors)?;
        let Some((server, rest)) = first_as_server(tasks) else {
            return Ok(Verdict::needs(FIRST_IS_SERVER, Some(0)));
        };
        Ok(match tardiness(server, rest, work) {
            Verdict::Schedulable(Bounds::Tardiness(late)) => {
                Verdict::Schedulable(Bounds::Tardiness([0].into_iter().chain(late).collect()))
            }
            other => other.with_numbers(|at| Some(at + 1)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::Duration;

    fn server(budget: u64, period: u64) -> DeferrableServer {
        DeferrableServer::new(Duration::from_ns(budget), Duration::from_ns(period)).expect("valid")
    }

    fn judge(server: DeferrableServer, tasks: &[SporadicTask]) -> Verdict {
        tardiness(server, tasks, &mut Work::default())
    }

    #[test]
    fn a_second_budget_makes_tasks_late_by_so_much() {
        // 2 + (1 + 2) = 5 against 4; then 2 * 2 + 3 * 1 + (1 + 2) = 10, against 10 and 4.
        let tasks = [SporadicTask::implicit(1, 4), SporadicTask::implicit(1, 10)];
        assert_eq!(judge(server(2, 6), &tasks), Verdict::Schedulable(Bounds::Tardiness(vec![1, 0])));
        assert_eq!(
            judge(DeferrableServer::NONE, &tasks),
            Verdict::Schedulable(Bounds::Tardiness(vec![0, 0]))
        );
        let shorter = [tasks[0], SporadicTask::constrained(1, 4, 10)];
        assert_eq!(judge(server(2, 6), &shorter), Verdict::Schedulable(Bounds::Tardiness(vec![1, 6])));
    }

    #[test]
    fn what_the_plain_test_refuses_has_no_bound() {
        let tasks = [SporadicTask::implicit(1, 4), SporadicTask::implicit(3, 8)];
        assert_eq!(judge(server(2, 6), &tasks), Verdict::fails_at(1));
        assert_eq!(judge(server(6, 6), &tasks), Verdict::FAILS);
    }

    #[test]
    fn other_deadlines_and_jitter_are_another_matter() {
        let late = SporadicTask::constrained(1, 6, 5);
        assert_eq!(judge(server(1, 5), &[late]), Verdict::needs("D <= T", Some(0)));
        let kept = SporadicTask { jitter_ns: 1, ..SporadicTask::implicit(1, 5) };
        assert_eq!(judge(server(1, 5), &[kept]), Verdict::needs("J = 0", Some(0)));
    }
}
