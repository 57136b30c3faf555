//! Response-time bounds under global fixed priorities with at most m - 1 tasks that carry work in: Theorem 1
//! of Guan, Stigge, Yi and Yu (2009).
//!
//! Assumptions beyond those of all tests:
//! 1. Tasks are in the order of their priorities, the highest first.
//! 2. D <= T. (The paper goes on to D > T; that part is not here.)
//! 3. Time is discrete: jobs arrive, are released and complete at whole ns.
//! 4. A job that has arrived may be kept for up to J before it is released; D and R count from its arrival. The paper has J = 0;
//!    what follows with jitter is said below.
//!
//! In the order of priorities, R_k = J_k + x for the least x >= C_k with
//!
//! ```text
//! x = C_k + floor(Omega_k(x) / m)
//! Omega_k(x) = sum over i < k of I(NC_i) + the m - 1 largest of I(CI_i) - I(NC_i), I(W) = min(W, x - C_k + 1)
//! NC_i(x) = floor((x + J_i) / T_i) C_i + min(C_i, (x + J_i) mod T_i)
//! CI_i(x) = N C_i + (C_i if r >= R_i, else min(C_i - 1, r)), N = floor((x + R_i - C_i) / T_i), r = the remainder.
//! ```
//!
//! These are the paper's (5) to (9) and (12). It writes CI_i as floor((x - C_i) / T_i) C_i + C_i + min(C_i - 1, max(0, (x - C_i) mod T_i -
//! (T_i - R_i))) for x >= C_i, which is the same; below that the cap x - C_k + 1 decides.
//!
//! The window begins at the first instant from which on all processors execute tasks of higher priority until the job is
//! released. Just before it at most m - 1 of them executed, so no others had released work left, and each of these has executed
//! for 1 at least: hence m - 1 and C_i - 1. With jitter that holds of released jobs. A task that carries no released work in may
//! have a job that has arrived up to J_i before and is released in the window, so that NC_i is ahead by J_i. CI_i follows
//! from arrivals T_i apart and from completions at most R_i after them, whenever releases are. NC_i can then exceed CI_i by 1, and is
//! taken instead.
//!
//! Tasks that share a priority count as above each other, with R_i = D_i, which is no assumption: up to the first deadline that one
//! of them misses all others have met theirs, and so there is none. The window begins as before, as no processor executes
//! anything below while one of them waits.
//!
//! Where all processors stand still for some time until the deadline of a job ([`crate::Beside`]), that time counts as if the job needed
//! it itself, C_k being longer, and no others: stopped for s <= S of x, a job that has not completed has waited for others for at least
//! x - C_k - S + 1. The window then begins at the first instant from which on all processors execute tasks of higher priority or stand
//! still; just before it, none stood still.
//!
//! Sufficient. No bound exceeds that of the analysis of Bertogna and Cirinei, which this dominates: each W_i of theirs is at
//! least both.

use super::interference::{Periods, Runs, Term, constrained, least_window};
use crate::{
    Bounds, Citation, Exactness, Guarantee, Levels, Priorities, Source, SporadicTask, Test, TestInfo,
    Theorem, Verdict, Work,
};

/// The response-time bounds of Guan, Stigge, Yi and Yu for D <= T.
#[derive(Debug, Clone, Copy, Default)]
pub struct GlobalFixedPriorityGuan;

static INFO: TestInfo = TestInfo {
    name: "gfp-guan",
    source: Source::Papers(&[Citation {
        paper: "Guan, Stigge, Yi, Yu: New response time bounds for fixed priority multiprocessor \
            scheduling, RTSS 2009",
        theorem: Theorem::Numbered("Theorem 1 and equation 12 (D <= T)"),
    }]),
    priorities: Priorities::Fixed,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "pseudo-polynomial: n for every pass of every task; O(n^2) and more",
    assumptions: &["D <= T"],
};

impl Test for GlobalFixedPriorityGuan {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        let sizes = vec![1; tasks.len()];
        self.verdict_among_equals(tasks, Levels::new(&sizes), processors, work)
    }

    fn verdict_among_equals(
        &self,
        tasks: &[SporadicTask],
        levels: Levels<'_>,
        processors: u32,
        work: &mut Work,
    ) -> Result<Verdict, Verdict> {
        bounds(tasks, levels, processors, &|_| 0, work)
    }
}

impl GlobalFixedPriorityGuan {
    /// Judges tasks on processors that all stand still for up to `stopped` until the deadline of a task's job.
    pub(crate) fn judge_stopped(
        self,
        tasks: &[SporadicTask],
        levels: Option<Levels<'_>>,
        processors: u32,
        stopped: &dyn Fn(&SporadicTask) -> u64,
        work: &mut Work,
    ) -> Verdict {
        if let Some(verdict) = crate::test::settled(tasks, processors, INFO.guarantee) {
            return verdict;
        }
        let sizes = vec![1; tasks.len()];
        let levels = levels.unwrap_or_else(|| Levels::new(&sizes));
        bounds(tasks, levels, processors, stopped, work).unwrap_or_else(|early| early)
    }
}

fn bounds(
    tasks: &[SporadicTask],
    levels: Levels<'_>,
    processors: u32,
    stopped: &dyn Fn(&SporadicTask) -> u64,
    work: &mut Work,
) -> Result<Verdict, Verdict> {
    constrained(tasks)?;
    let mut higher = Higher { tasks: Vec::with_capacity(tasks.len()), carrying: Vec::new() };
    let mut bounds = Vec::with_capacity(tasks.len());
    let carriers = processors as usize - 1;
    for (begin, size) in levels.iter() {
        let level = begin..begin + size;
        for at in level.clone() {
            let (task, equals) = (&tasks[at], level.clone().filter(|&other| other != at));
            let longer = SporadicTask { wcet_ns: task.wcet_ns.saturating_add(stopped(task)), ..*task };
            higher
                .tasks
                .extend(equals.map(|other| Interfering::new(&tasks[other], tasks[other].deadline_rel_ns)));
            higher.tasks.iter_mut().for_each(Interfering::restart);
            let interference =
                |window, most, runs: &mut Runs| higher.interference(window, most, carriers, runs);
            let Some(window) = least_window(&longer, begin + size - 1, processors, work, interference)?
            else {
                return Ok(Verdict::fails_at(at));
            };
            higher.tasks.truncate(begin);
            bounds.push(window + task.jitter_ns);
        }
        higher.tasks.extend(level.map(|at| Interfering::new(&tasks[at], bounds[at])));
    }
    Ok(Verdict::Schedulable(Bounds::ResponseTimes(bounds)))
}

/// A task of higher priority.
struct Interfering {
    response_time_ns: u64,
    without_carry_in: Periods,
    with_carry_in: Periods,
}

impl Interfering {
    fn new(task: &SporadicTask, response_time: u64) -> Self {
        Interfering {
            response_time_ns: response_time,
            without_carry_in: Periods::new(task, task.jitter_ns),
            with_carry_in: Periods::new(task, response_time - task.wcet_ns),
        }
    }

    fn restart(&mut self) {
        self.without_carry_in.restart();
        self.with_carry_in.restart();
    }
}

/// A task that interferes more if it carries work in.
struct Carrying {
    /// How much more.
    extra: u64,
    run: u64,
    run_without: u64,
}

/// The tasks of higher priority.
struct Higher {
    tasks: Vec<Interfering>,
    carrying: Vec<Carrying>,
}

impl Higher {
    /// Omega, with `most` from a task and `carriers` that carry in. The carriers are chosen anew for every window,
    /// and the runs are those of the choice: another one can only be larger.
    fn interference(&mut self, window: u64, most: u64, carriers: usize, runs: &mut Runs) -> u64 {
        self.carrying.clear();
        let mut sum = 0;
        for task in &mut self.tasks {
            let without = task.without_carry_in.workload(window, most);
            let Term { work_ns: work, run } =
                task.with_carry_in.workload_carried_in(window, task.response_time_ns, most);
            sum += without.work_ns;
            if work > without.work_ns {
                let extra = work - without.work_ns;
                self.carrying.push(Carrying { extra, run, run_without: without.run });
            } else {
                runs.push(without.run);
            }
        }
        if (1..self.carrying.len()).contains(&carriers) {
            self.carrying.select_nth_unstable_by(carriers - 1, |one, other| other.extra.cmp(&one.extra));
        }
        for (at, task) in self.carrying.iter().enumerate() {
            if at < carriers {
                sum += task.extra;
                runs.push(task.run);
            } else {
                runs.push(task.run_without);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GlobalFixedPriorityRta;

    fn judge(tasks: &[SporadicTask], processors: u32) -> Verdict {
        GlobalFixedPriorityGuan.judge(tasks, processors, &mut Work::default())
    }

    #[test]
    fn the_third_task_on_two_processors() {
        // x = 2: NC 1, 1 (of at most 1): 3. x = 3: NC 2, 2; 4. x = 4: NC 2, 2 and no more carried in (r = 4 - 1): 4.
        let tasks =
            [SporadicTask::implicit(2, 4), SporadicTask::implicit(2, 4), SporadicTask::implicit(2, 9)];
        assert_eq!(judge(&tasks, 2), Verdict::Schedulable(Bounds::ResponseTimes(vec![2, 2, 4])));
    }

    #[test]
    fn only_one_of_two_carries_in_on_two_processors() {
        // The third and the fourth respond after more than C; only one of them carries in when the fifth waits.
        let mut tasks = vec![SporadicTask::implicit(3, 9); 4];
        tasks.push(SporadicTask::implicit(1, 20));
        let rta = GlobalFixedPriorityRta.judge(&tasks, 2, &mut Work::default());
        assert_eq!(rta, Verdict::Schedulable(Bounds::ResponseTimes(vec![3, 3, 6, 8, 13])));
        assert_eq!(judge(&tasks, 2), Verdict::Schedulable(Bounds::ResponseTimes(vec![3, 3, 6, 8, 8])));
    }

    #[test]
    fn a_set_that_only_this_bound_accepts() {
        let mut tasks = vec![SporadicTask::implicit(1, 4); 3];
        tasks.push(SporadicTask::implicit(3, 5));
        assert_eq!(judge(&tasks, 2), Verdict::Schedulable(Bounds::ResponseTimes(vec![1, 1, 2, 4])));
        assert_eq!(GlobalFixedPriorityRta.judge(&tasks, 2, &mut Work::default()), Verdict::fails_at(3));
    }

    #[test]
    fn the_workload_with_carry_in_is_what_can_be_carried_in() {
        // A job that executes before 0 has arrived before and ends by its bound; the others come T apart.
        let most = |wcet: u64, response_time: u64, period: u64, window: u64| {
            let from = |before: u64| {
                let carried = (wcet - 1).min(response_time - before).min(window);
                let later = (1..=window).map(|job| (window + before).saturating_sub(job * period).min(wcet));
                carried + later.sum::<u64>()
            };
            (1..response_time).map(from).max()
        };
        for period in 1..8 {
            for wcet in 1..=period {
                for response_time in wcet.max(2)..=period {
                    let task = SporadicTask::implicit(wcet, period);
                    let mut bound = Periods::new(&task, response_time - wcet);
                    for window in 1..25 {
                        let expected = most(wcet, response_time, period, window).unwrap_or(0);
                        let found = bound.workload_carried_in(window, response_time, window).work_ns;
                        assert!(
                            found >= expected,
                            "{wcet} {response_time} {period} {window}: {found} {expected}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn deadlines_after_the_period_are_not_judged() {
        let tasks = [SporadicTask::implicit(1, 2), SporadicTask::constrained(1, 3, 2)];
        assert_eq!(judge(&tasks, 2), Verdict::needs("D <= T", Some(1)));
    }
}
