//! Time-demand analysis under fixed priorities on one processor: the criteria L_i <= 1 of Lehoczky, Sha and
//! Ding (1989) and W_i(k, (k - 1) T_i + D_i) <= 1 of Lehoczky (1990).
//!
//! Assumptions beyond those of all tests:
//! 1. m = 1, and tasks are in the order of their priorities, the highest first.
//! 2. Jobs of a task run in the order of their arrivals. Deadlines are arbitrary: D may exceed T.
//! 3. A job that has arrived may be kept for up to J before it is released; D counts from its arrival.
//!
//! Job k = 1, 2, ... of the level-i busy period meets its deadline if and only if there is a t <= (k - 1) T_i + D_i with
//!
//! ```text
//! W_i(k, t) = k C_i + sum over j < i of ceil(t / T_j) C_j <= t.
//! ```
//!
//! Only the points at which a job is released and the deadline itself need to be looked at, because W_i is
//! constant between them. The last job is the first for which there is such a t <= k T_i, so with D <= T the
//! first (1989) is enough. With jitter the busy period begins with releases that have been kept for all of
//! it, and t is J_j later for task j (Audsley et al. 1993, equations 5 and 6).
//!
//! Points are visited in order, each once, whatever the number of jobs: what is requested is a running sum. This shares nothing
//! with the response-time analysis, with which it must agree.
//!
//! Exact.

use super::{WINDOW_MAX, alone, jobs_in_hyperperiod};
use crate::{
    Citation, Exactness, Guarantee, OutOfWork, Priorities, Source, SporadicTask, Test, TestInfo, Theorem,
    Verdict, Work, papers,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The time-demand analysis of Lehoczky, Sha and Ding.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeDemand;

static INFO: TestInfo = TestInfo {
    name: "fp-tda",
    source: Source::Papers(&[
        Citation {
            paper: "Lehoczky, Sha, Ding: The rate monotonic scheduling algorithm: exact characterization \
                and average case behavior, RTSS 1989",
            theorem: Theorem::Unnumbered("L_i = min W_i(t) / t <= 1 (D <= T)"),
        },
        Citation {
            paper: papers::LEHOCZKY_1990,
            theorem: Theorem::Unnumbered("W_i(k, (k - 1) T_i + D_i) <= 1 for all jobs k of a busy period"),
        },
        Citation {
            paper: papers::AUDSLEY_1993,
            theorem: Theorem::Numbered("equations 5 and 6 (release jitter)"),
        },
    ]),
    priorities: Priorities::Fixed,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Exact,
    complexity: "pseudo-polynomial: log n for every release in the longest busy period of every task",
    assumptions: &["m = 1"],
};

impl Test for TimeDemand {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        alone(processors)?;
        for at in 0..tasks.len() {
            // Only the load of all tasks can be 1: the busy periods of the others end.
            let jobs_max = if at + 1 == tasks.len() { jobs_in_hyperperiod(tasks) } else { u64::MAX };
            if !meets_deadlines(&tasks[..=at], jobs_max, work)? {
                return Ok(Verdict::fails_at(at));
            }
        }
        Ok(Verdict::SCHEDULABLE)
    }
}

/// Whether the last of the tasks meets its deadlines, as far as its first `jobs_max` jobs go.
fn meets_deadlines(tasks: &[SporadicTask], jobs_max: u64, work: &mut Work) -> Result<bool, OutOfWork> {
    let Some((task, higher)) = tasks.split_last() else { return Ok(true) };
    let mut points = Points::of(task, higher);
    work.take(tasks.len() as u64)?;
    // Of job k: its work with that of the jobs before, and by when it must complete.
    let mut job = 1;
    let mut own = task.wcet_ns;
    let Some(mut deadline) = task.deadline_rel_ns.checked_sub(task.jitter_ns) else { return Ok(false) };
    loop {
        let point = points.next.peek().map_or(deadline, |&Reverse((at, _))| at.min(deadline));
        if point >= WINDOW_MAX {
            return Err(OutOfWork);
        }
        work.take(1)?;
        while own + points.requested <= point {
            // Before the next job is released. It was not before this one: (k - 1) T < point + J.
            if point + task.jitter_ns <= job * task.period_ns || job == jobs_max {
                return Ok(true);
            }
            // With a large jitter many jobs can end at one point.
            work.take(1)?;
            job += 1;
            own += task.wcet_ns;
            deadline += task.period_ns;
        }
        if point == deadline {
            return Ok(false);
        }
        points.pass(point);
    }
}

/// When the first job is released after the beginning of a busy period.
fn first_after_start(task: &SporadicTask) -> u64 {
    (task.jitter_ns / task.period_ns + 1) * task.period_ns - task.jitter_ns
}

/// The releases of a busy period in their order.
struct Points<'a> {
    /// When tasks release their next jobs; the last number is that of the task itself, whose jobs are not requested here.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    /// What tasks of higher priority have requested before.
    requested: u64,
    task: &'a SporadicTask,
    higher: &'a [SporadicTask],
}

impl<'a> Points<'a> {
    fn of(task: &'a SporadicTask, higher: &'a [SporadicTask]) -> Self {
        let next = higher.iter().chain([task]).enumerate();
        let next = next.map(|(number, task)| Reverse((first_after_start(task), number))).collect();
        // At most 2^51, whatever their number: work of their jitter and one job more of each, and U <= 1.
        let requested = higher.iter().map(|task| (task.jitter_ns / task.period_ns + 1) * task.wcet_ns).sum();
        Points { next, requested, task, higher }
    }

    /// Counts the jobs that are released at a point.
    fn pass(&mut self, point: u64) {
        while let Some(mut first) = self.next.peek_mut() {
            let Reverse((at, number)) = *first;
            if at > point {
                break;
            }
            let (wcet, period) = match self.higher.get(number) {
                Some(task) => (task.wcet_ns, task.period_ns),
                None => (0, self.task.period_ns),
            };
            *first = Reverse((at + period, number));
            drop(first);
            self.requested += wcet;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(tasks: &[SporadicTask]) -> bool {
        TimeDemand.judge(tasks, 1, &mut Work::default()).is_schedulable()
    }

    #[test]
    fn a_point_before_the_deadline_can_be_the_only_one() {
        // 40 * 3 + 40 * 2 + 100 = 300 at 300, while at 350 it is 380.
        let tasks =
            [(40, 100), (40, 150), (100, 350)].map(|(wcet, period)| SporadicTask::implicit(wcet, period));
        assert!(accepts(&tasks));
        let longer = [tasks[0], tasks[1], SporadicTask::implicit(101, 350)];
        assert_eq!(TimeDemand.judge(&longer, 1, &mut Work::default()), Verdict::fails_at(2));
    }

    #[test]
    fn the_fifth_job_of_lehoczkys_example_decides() {
        let with_deadline =
            |deadline| [SporadicTask::constrained(26, 70, 70), SporadicTask::constrained(62, deadline, 100)];
        assert!(accepts(&with_deadline(118)));
        assert!(!accepts(&with_deadline(117)));
    }

    #[test]
    fn a_busy_period_that_never_ends_is_cut_at_the_hyperperiod() {
        let always =
            |deadline| SporadicTask { wcet_ns: 1, deadline_rel_ns: deadline, period_ns: 1, jitter_ns: 1 };
        assert!(accepts(&[always(2)]));
        assert!(!accepts(&[always(1)]));
    }
}
