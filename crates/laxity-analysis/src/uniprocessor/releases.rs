//! What tasks request from the critical instant on: W(t) = sum of ceil((t + J_j) / T_j) C_j, release by release.
//!
//! Between releases W is constant, so that t - W(t) is largest just before them.

use crate::SporadicTask;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The releases after the critical instant, in the order of time.
pub(super) struct Releases {
    /// The next of each task, its period, and C.
    next: BinaryHeap<Reverse<(u64, u64, u64)>>,
    /// W up to the next release.
    requested: u128,
}

impl Releases {
    /// The critical instant: every task has a job that was kept for its whole jitter.
    pub fn of<'a>(tasks: impl Iterator<Item = &'a SporadicTask>) -> Self {
        let mut releases = Releases { next: BinaryHeap::new(), requested: 0 };
        for task in tasks {
            let at_once = task.jitter_ns / task.period_ns + 1;
            releases.requested += u128::from(at_once) * u128::from(task.wcet_ns);
            let next = at_once * task.period_ns - task.jitter_ns;
            releases.next.push(Reverse((next, task.period_ns, task.wcet_ns)));
        }
        releases
    }

    /// Shows t and W(t) for every release in (0, end), before it, and for the end; the next call goes on from there. False if there are
    /// more than `most`: then not all were shown.
    pub fn until(&mut self, end: u64, most: usize, mut show: impl FnMut(u64, u128)) -> bool {
        for _ in 0..=most {
            let next = self.next.peek().map(|Reverse(next)| *next).filter(|&(at, ..)| at < end);
            let Some((at, period, wcet)) = next else {
                show(end, self.requested);
                return true;
            };
            show(at, self.requested);
            self.next.pop();
            self.next.push(Reverse((at.saturating_add(period), period, wcet)));
            self.requested += u128::from(wcet);
        }
        false
    }
}

/// W(t) of a task, t > 0.
pub(super) fn requested_by(task: &SporadicTask, time: u64) -> u128 {
    let jobs = (u128::from(time) + u128::from(task.jitter_ns)).div_ceil(u128::from(task.period_ns));
    jobs * u128::from(task.wcet_ns)
}
