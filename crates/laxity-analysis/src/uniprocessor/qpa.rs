//! QPA: quick processor-demand analysis of EDF on one processor: the iteration of Zhang and Burns (2009),
//! from L (their equations 5 to 7) down.
//!
//! Assumptions beyond those of all tests:
//! 1. m = 1.
//! 2. Deadlines are arbitrary: D may exceed T.
//! 3. A job that has arrived may be kept for up to J before it is released; its deadline counts from its arrival. The greatest
//!    demand is that of a task with the deadline D - J and no jitter (Spuri 1996), which D stands for below.
//!
//! Tasks are schedulable if and only if h(t) <= t for all deadlines t < L, where
//!
//! ```text
//! h(t) = sum over D_i <= t of (floor((t - D_i) / T_i) + 1) C_i
//! L = min(L_a, L_b)
//! L_a = max(D_1 - T_1, ..., D_n - T_n, (sum of (T_i - D_i) U_i) / (1 - U)), for U < 1
//! L_b = the least w > 0 with sum of ceil(w / T_i) C_i = w, the synchronous busy period (Spuri's equation 1).
//! ```
//!
//! From the last deadline before L the test goes down: to h(t) if h(t) < t, because demand between them cannot exceed its time,
//! else to the last deadline before t, until h(t) <= D_min (schedulable) or h(t) > t (not).
//!
//! Three answers come before: D >= T for all tasks (U <= 1 has been checked), densities whose sum is at most 1, and no window
//! before L. Rounding: L_a is rounded up, which only adds points; densities are rounded up, which only misses a shortcut.
//!
//! Exact. The witness has the last deadline of a window with too much demand.

use super::requests::Requests;
use super::{WINDOW_MAX, window, windows_hold_jobs};
use crate::{
    Citation, Exactness, Guarantee, OutOfWork, Priorities, Source, SporadicTask, Test, TestInfo, Theorem,
    Verdict, Work,
};

/// The quick processor-demand analysis of Zhang and Burns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Qpa;

static INFO: TestInfo = TestInfo {
    name: "qpa",
    source: Source::Papers(&[
        Citation {
            paper: "Zhang, Burns: Schedulability analysis for real-time systems with EDF scheduling, \
                IEEE Transactions on Computers 58(9), 2009",
            theorem: Theorem::Numbered("equations 5 to 7 (L, where it begins) and the iteration from there"),
        },
        Citation {
            paper: "Spuri: Analysis of deadline scheduled real-time systems, INRIA RR-2772, 1996",
            theorem: Theorem::Numbered("equation 1 (the busy period), and D - J for D (jitter)"),
        },
    ]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Exact,
    complexity: "pseudo-polynomial: n for every pass of the busy period and every point",
    assumptions: &["m = 1"],
};

impl Test for Qpa {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        windows_hold_jobs(tasks, processors, work)?;
        if tasks.iter().all(|task| window(task) >= task.period_ns) || densities_fit(tasks) {
            return Ok(Verdict::SCHEDULABLE);
        }
        let Some(end) = last_point(tasks, work)? else { return Ok(Verdict::SCHEDULABLE) };
        Ok(Demand::until(tasks, end).go_down(work)?.map_or(Verdict::SCHEDULABLE, Verdict::fails_at))
    }
}

/// More than 2^64 a / b, by at most 1.
fn share_q64(numerator: u64, denominator: u64) -> u128 {
    (u128::from(numerator) << 64) / u128::from(denominator) + 1
}

/// Whether the densities' sum is at most 1, each rounded up to 2^-64.
fn densities_fit(tasks: &[SporadicTask]) -> bool {
    let density = |task: &SporadicTask| share_q64(task.wcet_ns, window(task).min(task.period_ns));
    tasks.iter().map(density).sum::<u128>() <= 1 << 64
}

/// The last t that could fail, less than L; nothing if none is as large as the least deadline.
fn last_point(tasks: &[SporadicTask], work: &mut Work) -> Result<Option<u64>, OutOfWork> {
    let least_deadline = tasks.iter().map(window).min().unwrap_or(0);
    let bound = load_bound(tasks);
    if bound.is_some_and(|bound| bound <= least_deadline) {
        return Ok(None);
    }
    // The busy period costs some passes: only for a bound that is no better than many periods.
    let longest_period = tasks.iter().map(|task| task.period_ns).max().unwrap_or(0);
    let end = match bound {
        Some(bound) if bound <= 4 * longest_period => bound,
        _ => {
            let limit = bound.unwrap_or(WINDOW_MAX);
            let mut requests = Requests::default();
            tasks.iter().for_each(|task| requests.push(&SporadicTask { jitter_ns: 0, ..*task }, 1));
            match (requests.least_window(0, limit, work)?, bound) {
                (Some(busy), _) => busy,
                (None, Some(bound)) => bound,
                (None, None) => return Err(OutOfWork),
            }
        }
    };
    Ok((end > least_deadline).then(|| end - 1))
}

/// At least L_a, or nothing if it exceeds the windows that are looked into.
///
/// For t >= D_i - T_i of all tasks, h(t) <= sum of (t + T_i - D_i) U_i = t U + sum of (T_i - D_i) U_i, so that h(t) > t needs a t
/// below the quotient.
fn load_bound(tasks: &[SporadicTask]) -> Option<u64> {
    let load = tasks.iter().map(|task| share_q64(task.wcet_ns, task.period_ns)).sum::<u128>();
    let free = (1_u128 << 64).checked_sub(load).filter(|&free| free > 0)?;
    // (T - D) U = C - D U, rounded up. D C / T is at most 2^50, because C <= T, and most products fit into 64 bits.
    let excess = |task: &SporadicTask| {
        let used = match window(task).checked_mul(task.wcet_ns) {
            Some(product) => i128::from(product / task.period_ns),
            None => i128::from(window(task)) * i128::from(task.wcet_ns) / i128::from(task.period_ns),
        };
        i128::from(task.wcet_ns) - used
    };
    let excess = tasks.iter().map(excess).sum::<i128>().max(0).unsigned_abs();
    let quotient = excess.checked_mul(1 << 64)?.div_ceil(free);
    let by_load = u64::try_from(quotient).ok().filter(|&bound| bound <= WINDOW_MAX)?;
    let latest = tasks.iter().map(|task| window(task).saturating_sub(task.period_ns)).max()?;
    Some(by_load.max(latest))
}

/// h(t), for a t that only decreases.
struct Demand {
    /// Tasks with a deadline at or before t.
    tasks: Vec<Due>,
    /// h(t) <= t U + sum of T_i U_i: far below 2^63.
    total: u64,
    /// The last deadline at or before t, of any task.
    latest: u64,
    least_deadline_rel_ns: u64,
}

#[derive(Clone, Copy)]
struct Due {
    /// Of the first job.
    deadline_ns: u64,
    period_ns: u64,
    wcet_ns: u64,
    /// The last deadline at or before t.
    last: u64,
    /// The work that is due by then.
    due: u64,
    number: usize,
}

impl Demand {
    fn until(tasks: &[SporadicTask], t: u64) -> Self {
        let due = |(number, task): (usize, &SporadicTask)| {
            let deadline = window(task);
            let before = t.checked_sub(deadline)? / task.period_ns;
            let (last, due) = (deadline + before * task.period_ns, (before + 1) * task.wcet_ns);
            Some(Due {
                deadline_ns: deadline,
                period_ns: task.period_ns,
                wcet_ns: task.wcet_ns,
                last,
                due,
                number,
            })
        };
        let least_deadline = tasks.iter().map(window).min().unwrap_or(0);
        let tasks: Vec<_> = tasks.iter().enumerate().filter_map(due).collect();
        let total = tasks.iter().map(|task| task.due).sum();
        let latest = tasks.iter().map(|task| task.last).max().unwrap_or(0);
        Demand { tasks, total, latest, least_deadline_rel_ns: least_deadline }
    }

    /// The first task with the last deadline of a window with too much demand, if there is one.
    fn go_down(mut self, work: &mut Work) -> Result<Option<usize>, OutOfWork> {
        loop {
            work.take(self.tasks.len() as u64 + 1)?;
            if self.total > self.latest {
                // In their order: tasks that are dropped leave the others in it.
                let due_last = self.tasks.iter().find(|task| task.last == self.latest);
                return Ok(due_last.map(|task| task.number));
            }
            if self.total <= self.least_deadline_rel_ns {
                return Ok(None);
            }
            self.decrease_to(self.total.min(self.latest - 1));
        }
    }

    fn decrease_to(&mut self, t: u64) {
        let (total, latest) = (&mut self.total, &mut self.latest);
        *latest = 0;
        self.tasks.retain_mut(|task| {
            if t < task.deadline_ns {
                *total -= task.due;
                return false;
            }
            if t < task.last {
                // Often it is one job: a comparison costs less than a division.
                let over = task.last - t;
                let jobs = if over <= task.period_ns { 1 } else { (over - 1) / task.period_ns + 1 };
                task.last -= jobs * task.period_ns;
                task.due -= jobs * task.wcet_ns;
                *total -= jobs * task.wcet_ns;
            }
            *latest = task.last.max(*latest);
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(tasks: &[SporadicTask]) -> Verdict {
        Qpa.judge(tasks, 1, &mut Work::default())
    }

    #[test]
    fn demand_that_just_fits() {
        // h(3) = 2, h(4) = 4, h(8) = 5 with 2/4 and 2/8 by 4; a tick less by 3 fails: h(3) = 4
        let at = |deadline| [SporadicTask::constrained(2, 3, 4), SporadicTask::constrained(2, deadline, 8)];
        assert!(judge(&at(4)).is_schedulable());
        assert_eq!(judge(&at(3)), Verdict::fails_at(0));
    }

    #[test]
    fn the_witness_has_the_deadline_by_which_demand_is_too_much() {
        // h(5) = 3 + 3 > 5
        let tasks = [SporadicTask::constrained(3, 4, 20), SporadicTask::constrained(3, 5, 20)];
        assert_eq!(judge(&tasks), Verdict::fails_at(1));
    }

    #[test]
    fn a_full_processor_is_judged_by_its_busy_period() {
        // U = 1: h(3) = 1, h(4) = 3, h(7) = 5, h(8) = 6 ...
        let tasks = [SporadicTask::constrained(1, 3, 4), SporadicTask::constrained(3, 4, 4)];
        assert!(judge(&tasks).is_schedulable());
        let earlier = [SporadicTask::constrained(1, 3, 4), SporadicTask::constrained(3, 3, 4)];
        assert_eq!(judge(&earlier), Verdict::fails_at(0));
    }

    #[test]
    fn deadlines_after_the_period_leave_room() {
        let at = |deadline| [SporadicTask::constrained(2, 2, 4), SporadicTask::constrained(4, deadline, 8)];
        assert!(judge(&at(12)).is_schedulable());
        assert!(judge(&at(8)).is_schedulable());
        // h(7) = 2 * 2 + 4
        assert_eq!(judge(&at(7)), Verdict::fails_at(1));
    }

    #[test]
    fn jitter_takes_from_the_deadline() {
        let kept = |jitter| {
            [
                SporadicTask { wcet_ns: 2, deadline_rel_ns: 4, period_ns: 4, jitter_ns: jitter },
                SporadicTask::constrained(2, 4, 8),
            ]
        };
        assert!(judge(&kept(0)).is_schedulable());
        assert!(judge(&kept(2)).is_schedulable());
        assert_eq!(judge(&kept(3)), Verdict::fails_at(0));
    }
}
