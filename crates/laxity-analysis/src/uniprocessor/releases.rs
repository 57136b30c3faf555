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

/// The same as [`Releases::until`] of all tasks from the critical instant on. Where there are no more than `most`, they are sorted: faster
/// than to take them from a heap one by one.
pub(super) fn all_until<'a>(
    tasks: impl Iterator<Item = &'a SporadicTask> + Clone,
    end: u64,
    most: usize,
    mut show: impl FnMut(u64, u128),
) -> bool {
    let mut releases: Vec<(u64, u64)> = Vec::new();
    let mut requested = 0;
    for task in tasks.clone() {
        let at_once = task.jitter_ns / task.period_ns + 1;
        requested += u128::from(at_once) * u128::from(task.wcet_ns);
        let mut next = at_once * task.period_ns - task.jitter_ns;
        while next < end {
            if releases.len() == most {
                return Releases::of(tasks).until(end, most, show);
            }
            releases.push((next, task.wcet_ns));
            next = next.saturating_add(task.period_ns);
        }
    }
    // At one time none but the first shown is of use: there the least is requested.
    releases.sort_unstable_by_key(|&(at, _)| at);
    for (at, wcet) in releases {
        show(at, requested);
        requested += u128::from(wcet);
    }
    show(end, requested);
    true
}

/// W(t) of a task, t > 0.
pub(super) fn requested_by(task: &SporadicTask, time: u64) -> u128 {
    let jobs = (u128::from(time) + u128::from(task.jitter_ns)).div_ceil(u128::from(task.period_ns));
    jobs * u128::from(task.wcet_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_seeds::Random;

    #[test]
    fn sorted_or_from_a_heap_the_least_that_is_requested_is_the_same() {
        let (mut complete, mut cut) = (0, 0);
        for seed in laxity_seeds::seeds!(0..3_000) {
            let mut random = Random(seed);
            let tasks: Vec<SporadicTask> = (0..random.between(1, 6))
                .map(|_| {
                    let period = random.between(1, 12);
                    let jitter_ns = random.between(0, 2 * period) * random.between(0, 1);
                    SporadicTask { jitter_ns, ..SporadicTask::implicit(random.between(1, period), period) }
                })
                .collect();
            let (end, most) = (random.between(1, 60), usize::try_from(random.between(0, 60)).expect("small"));
            let shown = |all: bool| {
                let mut shown: Vec<(u64, u128)> = Vec::new();
                let keep = |at, requested| {
                    if shown.last().is_none_or(|&(before, _)| before < at) {
                        shown.push((at, requested));
                    }
                };
                let whole = if all {
                    all_until(tasks.iter(), end, most, keep)
                } else {
                    Releases::of(tasks.iter()).until(end, most, keep)
                };
                (whole, shown)
            };
            assert_eq!(shown(true), shown(false), "seed {seed}: {tasks:?} until {end}, at most {most}");
            if shown(true).0 { complete += 1 } else { cut += 1 }
        }
        laxity_seeds::assert_together!(complete > 500 && cut > 500, "{complete} and {cut}");
    }
}
