//! The interval before a missed deadline that begins where a processor was last idle: what BAR and LA have in common.
//!
//! Let a job of task k be the first to miss, at t_d, and let `jobs` jobs of task k, this one the last, be the backlog of task k
//! at t_d, from t_b on. Where D_k <= T_k this is the job alone. Let t_0 <= t_b be the last instant before which a processor was idle,
//! jobs with deadlines after t_d not counted, and t = t_d - t_0.
//!
//! 1. Time is integer: in [t_b, t_d) task k executes at most jobs C_k - 1. So with x = t - jobs C_k + 1 there are x
//!    units of time in [t_0, t_d), among them all of [t_0, t_b), in which all processors execute other tasks: m x of
//!    it, at most x of any task, and of task k at most t - D_k - (jobs - 1) T_k, before t_b.
//! 2. At t_0 - 1 at most m - 1 tasks executed, and none waited: at most m - 1 tasks have jobs at t_0 that arrived earlier.
//! 3. A task without such jobs executes at most its demand bound dbf(t) in the interval.
//! 4. A task with such jobs executes at most floor(t / T) C + min(c, t mod T), where c = C - 1 if D <= T, since the job has
//!    executed at t_0 - 1, and c = C otherwise, since an earlier one may have. (The first deadline y after t_0 leaves at most
//!    min(c, y) to that job and floor((t - y) / T) jobs to follow.)
//! 5. So task k meets its deadlines if for all jobs >= 1 and t >= D_k + (jobs - 1) T_k
//!
//! `sum over i of min(dbf_i(t), x) + sum of the m - 1 largest of (min(max(dbf_i(t), carry_i(t)), x) - min(dbf_i(t), x)) < m x`,
//!
//! with jobs C_k taken off both workloads of task k and its cap as in 1.
//!
//! The left side L grows with t, so one evaluation at t settles all t' <= t of which m x' > L(t): going down from the longest
//! t that can fail, every integer is covered, and no list of test points is needed. Where the condition holds by so little that this
//! settles next to nothing, L is looked at more closely (`ramps`): between two of its steps it is linear. Where U is near m and the
//! longest t far away, short ones are looked at in between: most sets that fail, fail there as well, and it takes one to fail.
//! Where one job of each task is looked at, all tasks go down together (`together`): their conditions differ in one term.

use super::by_period::useful;
use super::ramps::{Ramp, Slope};
use super::{share, workload};
use crate::{OutOfWork, SporadicTask, Work};
use std::ops::Range;

mod together;

/// An interval that becomes shorter by less than 2^-12 of its length is looked at more closely.
const SHORT_STEP: u32 = 12;

/// So many times it is not, after it has not helped.
const WITHOUT_RAMPS: u32 = 15;

/// After so many evaluations that have not settled all, short intervals are looked at as well: a sixteenth as many.
const PROBES_FROM: u64 = 64;

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
    ramps: Vec<Ramp>,
}

impl<'a> BusyIntervals<'a> {
    /// Nothing if U is so near to m (or above) that intervals of any length matter.
    pub(super) fn of(tasks: &'a [SporadicTask], processors: u32) -> Option<Self> {
        let processors = useful(processors, tasks);
        let all = u128::from(processors) << share::BITS;
        let idle = all.checked_sub(share::total_ceil(tasks)).filter(|&idle| idle > 0)?;
        // floor(t / T) exceeds floor((t - D) / T) by at most ceil(D / T).
        let mut carried: Vec<u64> =
            tasks.iter().map(|task| task.wcet_ns * task.deadline_rel_ns.div_ceil(task.period_ns)).collect();
        let constant = share::excess_ceil(tasks) + largest(&mut carried, processors - 1);
        Some(BusyIntervals { tasks, processors, constant, idle, added: carried, ramps: Vec::new() })
    }

    /// The longest interval in which task k with a backlog of `jobs` jobs can miss; 0 if there is none.
    ///
    /// L <= U t + constant - jobs C_k, and m x = m (t - jobs C_k + 1).
    pub(super) fn longest(&self, k: usize, jobs: u64) -> Result<u64, OutOfWork> {
        let processors = u128::from(self.processors);
        let backlog = u128::from(jobs) * u128::from(self.tasks[k].wcet_ns);
        let constant = (self.constant + (processors - 1) * backlog).saturating_sub(processors);
        share::horizon(constant, self.idle).ok_or(OutOfWork)
    }

    /// The shortest interval for a backlog of `jobs` jobs of task k.
    pub(super) fn shortest(&self, k: usize, jobs: u64) -> u64 {
        self.tasks[k].deadline_rel_ns + (jobs - 1) * self.tasks[k].period_ns
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
        let (mut evaluated, mut probed, mut without_ramps) = (0u64, shortest, 0);
        while length >= shortest {
            work.take(self.tasks.len() as u64)?;
            let Some(mut shorter) = self.settled(k, jobs, length) else { return Ok(false) };
            let step = length.saturating_sub(shorter);
            if shorter < shortest || step > length >> SHORT_STEP {
                // Most often.
            } else if without_ramps > 0 {
                without_ramps -= 1;
            } else {
                work.take(self.tasks.len() as u64)?;
                shorter = shorter.min(self.settled_along_ramps(k, jobs, length));
                without_ramps = if length - shorter < 2 * step { WITHOUT_RAMPS } else { 0 };
            }
            length = shorter;
            evaluated += 1;
            if evaluated >= PROBES_FROM && evaluated.is_power_of_two() {
                let lengths = probed..length;
                match self.probe(k, jobs, lengths, evaluated / 16, work)? {
                    None => return Ok(false),
                    Some(last) => probed = last,
                }
            }
        }
        Ok(true)
    }

    /// Looks at so many more of the intervals at whose end a deadline is, from the short end on, as that is where most sets fail that
    /// fail at all. The last one, or nothing if the condition does not hold in it.
    fn probe(
        &mut self,
        k: usize,
        jobs: u64,
        lengths: Range<u64>,
        count: u64,
        work: &mut Work,
    ) -> Result<Option<u64>, OutOfWork> {
        let mut length = lengths.start;
        for _ in 0..count {
            length = self.next_deadline(length);
            if length >= lengths.end {
                break;
            }
            work.take(2 * self.tasks.len() as u64)?;
            if self.settled(k, jobs, length).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(length))
    }

    /// The shortest interval longer than this one at which the demand of a task grows.
    fn next_deadline(&self, length: u64) -> u64 {
        let next = |task: &SporadicTask| match length.checked_sub(task.deadline_rel_ns) {
            None => task.deadline_rel_ns,
            Some(rest) => length - rest % task.period_ns + task.period_ns,
        };
        self.tasks.iter().map(next).min().unwrap_or(u64::MAX)
    }

    /// If the condition holds in the interval of this length, the longest shorter one in which that is not yet clear.
    fn settled(&mut self, k: usize, jobs: u64, length: u64) -> Option<u64> {
        let backlog = jobs * self.tasks[k].wcet_ns;
        let cap = length + 1 - backlog;
        let sum = self.workload(k, jobs, length, cap);
        if sum >= u128::from(self.processors) * u128::from(cap) {
            return None;
        }
        Some(self.longest_open(sum, backlog))
    }

    /// The longest interval in which the condition does not hold with this sum: from the cap floor(sum / m) + 1 on it does.
    fn longest_open(&self, sum: u128, backlog: u64) -> u64 {
        let quotient = u64::try_from(sum / u128::from(self.processors)).unwrap_or(u64::MAX);
        quotient.saturating_add(backlog) - 1
    }

    /// The same as [`Self::settled`], of an interval in which the condition holds, with how the workload falls.
    ///
    /// With d ns less, m x is less by m d. If the workload is less by `falls` d, for d <= `lasts`, the condition holds still as long as
    /// (m - falls) d is below what it holds by.
    fn settled_along_ramps(&mut self, k: usize, jobs: u64, length: u64) -> u64 {
        let backlog = jobs * self.tasks[k].wcet_ns;
        let slope = self.slope(k, jobs, length);
        let room = u128::from(self.processors) * u128::from(length + 1 - backlog);
        let holds_by = room.saturating_sub(slope.value);
        if slope.falls < self.processors {
            let most = (holds_by.saturating_sub(1)) / u128::from(self.processors - slope.falls);
            if most < u128::from(slope.lasts) {
                return length - u64::try_from(most).unwrap_or(0) - 1;
            }
        }
        // All of the ramp, and from its foot on as if the workload fell no more.
        let foot = slope.value - u128::from(slope.falls) * u128::from(slope.lasts);
        (length - slope.lasts).saturating_sub(1).min(self.longest_open(foot, backlog))
    }

    /// The left side of the condition, and how it falls with the length.
    fn slope(&mut self, k: usize, jobs: u64, length: u64) -> Slope {
        let before = length - self.shortest(k, jobs);
        let backlog = jobs * self.tasks[k].wcet_ns;
        let cap = length + 1 - backlog;
        let mut slope = Slope::lasting(before);
        self.ramps.clear();
        for (i, task) in self.tasks.iter().enumerate() {
            let (own, cap) = if i == k { (backlog, before) } else { (0, cap) };
            let plain = Ramp::demand(task, length);
            let carry = Ramp::carried(task, left(task), length).or_flat(plain);
            let (plain, carry) = (plain.less(own).capped(cap), carry.less(own).capped(cap));
            slope.add(plain);
            self.ramps.push(carry.above(plain));
        }
        slope.add_largest(&mut self.ramps, usize::try_from(self.processors - 1).unwrap_or(usize::MAX));
        slope
    }

    /// The left side of the condition. Lengths are below 2^60, and no task's workload exceeds the length by more than 2^52.
    fn workload(&mut self, k: usize, jobs: u64, length: u64, cap: u64) -> u128 {
        let mut sum = 0u128;
        let before = length - self.shortest(k, jobs);
        let backlog = jobs * self.tasks[k].wcet_ns;
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
    let left = left(task);
    if length < task.period_ns {
        return left.min(length);
    }
    length / task.period_ns * task.wcet_ns + left.min(length % task.period_ns)
}

/// What a job can have left at an interval's beginning.
fn left(task: &SporadicTask) -> u64 {
    if task.deadline_rel_ns <= task.period_ns { task.wcet_ns - 1 } else { task.wcet_ns }
}

/// The sum of the `count` largest values, fewer than there are; their order changes.
fn largest(values: &mut [u64], count: u64) -> u128 {
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(values.len());
    if 0 < count && count < values.len() {
        values.select_nth_unstable_by(count - 1, |a, b| b.cmp(a));
    }
    values[..count].iter().map(|&value| u128::from(value)).sum()
}
