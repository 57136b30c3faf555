//! What a preemption costs under preemption-centric interrupt accounting (Brandenburg 2011, 3.4.5), shared by job-level fixed
//! priorities and by message passing.
//!
//! 1. u = the share of time that interrupts take, s = 1 - u. Each of two preemptions that a job causes or suffers is
//!    delayed by interrupts by c_pre = (tck + N rel + ev u) / s.
//! 2. A part A of the inflated cost that interrupts slow down therefore takes A/s + 2 c_pre. Over one denominator that is
//!    (A + 2 (tck + N rel) + 2 ev u) / (1 - u) = B / (1 - u) - 2 ev, where B = A + 2 (tck + N rel + ev):
//!    one division, rounded up once.
//!
//! 3. Kernel threads that go first, for C in each window of T ([`Overheads::with_kernel_threads`]), are interrupts as well: they add C/T to
//!    u, and as two of their budgets can follow each other, 2 C where a tick has tck. (Not in Brandenburg's accounting, but of the same
//!    kind: the job stays on its processor and waits. In a time t they take (2 + t/T) C at most.)
//!
//! Grows with ev, as 1 / (1 - u) >= 1.

use super::{Costs, Overheads, Rejected, RejectedWhy};
use crate::remaining::Remaining;
use crate::{SporadicTask, TIME_MAX};

/// Interrupts of a processor that runs tasks.
pub(super) struct InterruptedTime {
    left: Remaining,
    /// 2 (tck + 2 C + N rel + ev)
    delay_ns: u128,
    release_latency_ns: u64,
}

impl InterruptedTime {
    /// By ticks, kernel threads, and by the releases of some tasks.
    pub(super) fn new(
        overheads: &Overheads,
        costs: &Costs,
        released: &[SporadicTask],
    ) -> Result<Self, Rejected> {
        let mut left = Remaining::of(1);
        left.take(costs.tick, overheads.tick_period());
        let threads = overheads.kernel_threads();
        if let Some(threads) = threads {
            left.take(threads.runtime_ns, threads.period_ns);
        }
        if costs.release > 0 {
            released.iter().for_each(|task| left.take(costs.release, task.period_ns));
        }
        // A unit of work takes finite time unless nothing is left.
        if left.time_for(1, u64::MAX).is_none() {
            return Err(Rejected::all(RejectedWhy::InterruptOverload));
        }
        let releases = u128::from(costs.release) * released.len() as u128;
        let budgets = 2 * u128::from(threads.map_or(0, |threads| threads.runtime_ns));
        let delay = 2 * (u128::from(costs.tick) + budgets + releases + u128::from(costs.release_latency));
        Ok(InterruptedTime { left, delay_ns: delay, release_latency_ns: costs.release_latency })
    }

    /// A/s + 2 c_pre, rounded up; nothing if it exceeds every period.
    pub(super) fn inflated(&self, work: u128) -> Option<u64> {
        // Twice ev of at most 2^50 is subtracted from what is at least B: above 2^52, more than 2^51 remain.
        const LONGEST: u64 = 4 * TIME_MAX;
        let work = u64::try_from(work + self.delay_ns).ok().filter(|&work| work <= LONGEST)?;
        Some(self.left.time_for(work, LONGEST)? - 2 * self.release_latency_ns)
    }
}

/// cpd_i: a preempted job may have to load again what the largest working set of another task has displaced.
pub(super) struct Displaced {
    delay_ns: u64,
    /// The task with the largest working set, and the delay by the next.
    largest: Option<(usize, u64)>,
}

impl Displaced {
    /// O(n)
    pub(super) fn new(overheads: &Overheads, working_sets: &[u64]) -> Self {
        let largest = working_sets.iter().enumerate().max_by_key(|&(_, bytes)| bytes).map(|(place, _)| place);
        let Some(largest) = largest else { return Displaced { delay_ns: 0, largest: None } };
        let others = working_sets[..largest].iter().chain(&working_sets[largest + 1..]).max();
        // Alone, a task is preempted by none.
        let next = others.map_or(0, |&bytes| overheads.cache_delay(bytes));
        Displaced { delay_ns: overheads.cache_delay(working_sets[largest]), largest: Some((largest, next)) }
    }

    /// D(max over j != i of WSS_j).
    pub(super) fn by_others_than(&self, task: usize) -> u64 {
        match self.largest {
            Some((largest, next)) if largest == task => next,
            _ => self.delay_ns,
        }
    }
}

/// T' = T - ev and D' = D - ev: a release may be noticed that late, and the next one at once.
pub(super) fn shortened(
    task: &SporadicTask,
    wcet: u64,
    release_latency: u64,
) -> Result<SporadicTask, RejectedWhy> {
    if release_latency >= task.density_window() {
        return Err(RejectedWhy::NoWindow);
    }
    let (deadline, period) = (task.deadline_rel_ns - release_latency, task.period_ns - release_latency);
    Ok(SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, period_ns: period, ..*task })
}
