//! The interval before a missed deadline that begins where a processor was last idle: what BAR and LA have in common.
//!
//! Let a job of task k be the first to miss, at t_d, and let `jobs` jobs of task k, this one the last, be the backlog of task k
//! at t_d, from t_b on. Where D_k <= T_k this is the job alone. Let t_0 <= t_b be the last instant before which a processor was idle,
//! jobs with deadlines after t_d not counted, and t = t_d - t_0.
//!
//! 1. Time is integer: in [t_b, t_d) task k executes at most jobs C_k - 1. So with x = t - jobs C_k + 1 there are x units of
//!    time in [t_0, t_d), among them all of [t_0, t_b), in which all processors execute other work: m x of it, at most x of any task,
//!    and of task k at most t - D_k - (jobs - 1) T_k, before t_b.
//! 2. At t_0 - 1 at most m - 1 tasks executed, and none waited: at most m - 1 tasks have jobs at t_0 that arrived earlier.
//! 3. A task without such jobs executes at most its demand bound dbf(t) in the interval.
//! 4. A task with such jobs executes at most floor(t / T) C + min(c, t mod T), where c = C - 1 if D <= T, since the job has
//!    executed at t_0 - 1, and c = C otherwise, since an earlier one may have. (The first deadline y after t_0 leaves at most
//!    min(c, y) to that job and floor((t - y) / T) jobs to follow.)
//!
//! So task k meets its deadlines if for all jobs >= 1 and t >= D_k + (jobs - 1) T_k
//!
//! `sum over i of min(dbf_i(t), x) + sum of the m - 1 largest of (min(max(dbf_i(t), carry_i(t)), x) - min(dbf_i(t), x)) < m x`,
//!
//! with jobs C_k taken off both workloads of task k and its cap as in 1.
//!
//! The left side L grows with t, so one evaluation at t settles all t' <= t of which m x' > L(t): going down from the longest
//! t that can fail, every integer is covered, and no list of test points is needed.

use super::by_period::useful;
use super::{share, workload};
use crate::{OutOfWork, SporadicTask, Work};

/// The conditions of all tasks of a set.
pub(super) struct BusyIntervals<'a> {
    tasks: &'a [SporadicTask],
    processors: u64,
    /// At least sum of u max(0, T - D), plus the m - 1 largest differences that carry-in can make, in ns.
    constant: u128,
    /// At most m - U, in units of 2^-60.
    idle: u128,
    /// Of one evaluation: what carry-in adds, by task.
    added: Vec<u64>,
}

impl<'a> BusyIntervals<'a> {
    /// Nothing if U is so near to m (or above) that intervals of any length matter.
    pub(super) fn of(tasks: &'a [SporadicTask], processors: u32) -> Option<Self> {
        let processors = useful(processors, tasks);
        let all = u128::from(processors) << share::BITS;
        let idle = all.checked_sub(share::total_ceil(tasks)).filter(|&idle| idle > 0)?;
        // floor(t / T) exceeds floor((t - D) / T) by at most ceil(D / T).
        let mut carried: Vec<u64> =
            tasks.iter().map(|task| task.wcet * task.deadline.div_ceil(task.period)).collect();
        let constant = share::excess_ceil(tasks) + largest(&mut carried, processors - 1);
        Some(BusyIntervals { tasks, processors, constant, idle, added: carried })
    }

    /// The longest interval in which task k with a backlog of `jobs` jobs can miss; 0 if there is none.
    ///
    /// L <= U t + constant - jobs C_k, and m x = m (t - jobs C_k + 1).
    pub(super) fn longest(&self, k: usize, jobs: u64) -> Result<u64, OutOfWork> {
        let processors = u128::from(self.processors);
        let backlog = u128::from(jobs) * u128::from(self.tasks[k].wcet);
        let constant = (self.constant + (processors - 1) * backlog).saturating_sub(processors);
        share::horizon(constant, self.idle).ok_or(OutOfWork)
    }

    /// The shortest interval for a backlog of `jobs` jobs of task k.
    pub(super) fn shortest(&self, k: usize, jobs: u64) -> u64 {
        self.tasks[k].deadline + (jobs - 1) * self.tasks[k].period
    }

    /// Whether the condition holds in the shortest interval.
    pub(super) fn holds_in_shortest(
        &mut self,
        k: usize,
        jobs: u64,
        work: &mut Work,
    ) -> Result<bool, OutOfWork> {
        work.take(self.tasks.len() as u64)?;
        let shortest = self.shortest(k, jobs);
        Ok(self.settled(k, jobs, shortest).is_some())
    }

    /// Whether the condition holds in all intervals.
    pub(super) fn holds(&mut self, k: usize, jobs: u64, work: &mut Work) -> Result<bool, OutOfWork> {
        let shortest = self.shortest(k, jobs);
        let mut length = self.longest(k, jobs)?;
        while length >= shortest {
            work.take(self.tasks.len() as u64)?;
            match self.settled(k, jobs, length) {
                None => return Ok(false),
                Some(shorter) => length = shorter,
            }
        }
        Ok(true)
    }

    /// If the condition holds in the interval of this length, the longest shorter one in which that is not yet clear.
    fn settled(&mut self, k: usize, jobs: u64, length: u64) -> Option<u64> {
        let backlog = jobs * self.tasks[k].wcet;
        let cap = length + 1 - backlog;
        let sum = self.workload(k, jobs, length, cap);
        if sum >= u128::from(self.processors) * u128::from(cap) {
            return None;
        }
        // From the cap floor(sum / m) + 1 on, the condition holds; sum / m < cap, so the quotient fits.
        let quotient = u64::try_from(sum / u128::from(self.processors)).ok()?;
        Some(quotient + backlog - 1)
    }

    /// The left side of the condition. Lengths are below 2^60, and no task's workload exceeds the length by more than 2^52.
    fn workload(&mut self, k: usize, jobs: u64, length: u64, cap: u64) -> u128 {
        let mut sum = 0u128;
        let before = length - self.shortest(k, jobs);
        let backlog = jobs * self.tasks[k].wcet;
        self.added.clear();
        for (i, task) in self.tasks.iter().enumerate() {
            let plain = workload::demand(task, length);
            let carry = carried(task, length).max(plain);
            let (own, cap) = if i == k { (backlog, before) } else { (0, cap) };
            let (plain, carry) = ((plain - own).min(cap), (carry - own).min(cap));
            sum += u128::from(plain);
            self.added.push(carry - plain);
        }
        sum + largest(&mut self.added, self.processors - 1)
    }
}

/// floor(t / T) C + min(c, t mod T)
fn carried(task: &SporadicTask, length: u64) -> u64 {
    let left = if task.deadline <= task.period { task.wcet - 1 } else { task.wcet };
    if length < task.period {
        return left.min(length);
    }
    length / task.period * task.wcet + left.min(length % task.period)
}

/// The sum of the `count` largest values, fewer than there are; their order changes.
fn largest(values: &mut [u64], count: u64) -> u128 {
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(values.len());
    if 0 < count && count < values.len() {
        values.select_nth_unstable_by(count - 1, |a, b| b.cmp(a));
    }
    values[..count].iter().map(|&value| u128::from(value)).sum()
}
