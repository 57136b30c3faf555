//! The conditions of one job of each of many tasks, looked at together.
//!
//! For an interval of one length the workloads of all tasks are the same in each condition, but for that of task k itself, and for
//! the caps, which matter in short intervals only. So one sum over all tasks does for all k: task k's own workload is exchanged in it,
//! and among the m - 1 largest additions. One descent covers all intervals of all tasks: each length settles some for every task, and
//! the longest that is left is the next.

use super::{BusyIntervals, PROBES_FROM, SHORT_STEP, WITHOUT_RAMPS, carried, workload};
use crate::{OutOfWork, Work};

/// A task, and the longest interval that is not settled yet.
#[derive(Debug, Clone, Copy)]
struct Open {
    k: usize,
    length: u64,
}

/// The longest interval that is not settled for all.
fn longest(open: &[Open]) -> u64 {
    open.iter().map(|one| one.length).max().unwrap_or(0)
}

/// The workloads of all tasks in an interval, uncapped.
#[derive(Debug, Default)]
struct Workloads {
    /// By task: without carry-in, and what that adds.
    plain: Vec<u64>,
    added: Vec<u64>,
    plain_sum: u128,
    /// The sum of the m - 1 largest additions, the least of them, and the next.
    largest_sum: u128,
    least: u64,
    next: u64,
    /// The largest workload.
    most: u64,
    sorted: Vec<u64>,
}

impl Workloads {
    /// `carriers` tasks carry work in, at most as many as there are.
    fn look(&mut self, intervals: &BusyIntervals<'_>, length: u64, carriers: usize) {
        *self = Workloads {
            plain: std::mem::take(&mut self.plain),
            added: std::mem::take(&mut self.added),
            sorted: std::mem::take(&mut self.sorted),
            ..Workloads::default()
        };
        self.plain.clear();
        self.added.clear();
        for task in intervals.tasks {
            let plain = workload::demand(task, length);
            let carry = carried(task, length).max(plain);
            self.most = self.most.max(carry);
            self.plain_sum += u128::from(plain);
            self.plain.push(plain);
            self.added.push(carry - plain);
        }
        self.sorted.clone_from(&self.added);
        if carriers == 0 {
            return;
        }
        if carriers < self.sorted.len() {
            self.sorted.select_nth_unstable_by(carriers, |a, b| b.cmp(a));
            self.next = self.sorted[carriers];
        }
        let carrying = &self.sorted[..carriers];
        self.least = carrying.iter().copied().min().unwrap_or(0);
        self.largest_sum = carrying.iter().map(|&value| u128::from(value)).sum();
    }

    /// The left side of the condition of task k, with one job of C taken off, and at most `before` of it. No cap may matter to others.
    fn sum(&self, k: usize, wcet: u64, before: u64, carriers: usize) -> u128 {
        let (plain, added) = (self.plain[k], self.added[k]);
        let own = (plain - wcet).min(before);
        let own_added = (plain + added - wcet).min(before) - own;
        let largest = if carriers == 0 {
            0
        } else {
            // Those of the others, and the least of them.
            let (others, least) = match added >= self.least {
                true => (self.largest_sum - u128::from(added) + u128::from(self.next), self.next),
                false => (self.largest_sum, self.least),
            };
            others + u128::from(own_added.max(least) - least)
        };
        self.plain_sum - u128::from(plain) + u128::from(own) + largest
    }
}

impl BusyIntervals<'_> {
    /// A task of these whose condition for one job does not hold in some interval; nothing if they all hold in all.
    pub fn fails_together(&mut self, tasks: &[usize], work: &mut Work) -> Result<Option<usize>, OutOfWork> {
        let mut open = Vec::with_capacity(tasks.len());
        for &k in tasks {
            open.push(Open { k, length: self.longest(k, 1)? });
        }
        let mut workloads = Workloads::default();
        let (mut evaluated, mut without_ramps) = (0u64, 0);
        let mut probed = tasks.iter().map(|&k| self.shortest(k, 1)).min().unwrap_or(0);
        loop {
            open.retain(|one| one.length >= self.shortest(one.k, 1));
            if open.is_empty() {
                return Ok(None);
            }
            let length = longest(&open);
            if let Some(k) = self.settle(&mut open, length, &mut workloads, work)? {
                return Ok(Some(k));
            }
            let near = length - (length >> SHORT_STEP);
            if without_ramps > 0 {
                without_ramps -= 1;
            } else if open.iter().any(|one| one.length >= near.max(self.shortest(one.k, 1))) {
                let step = length - longest(&open);
                for one in open.iter_mut().filter(|one| one.length >= near) {
                    work.take(self.tasks.len() as u64)?;
                    one.length = one.length.min(self.settled_along_ramps(one.k, 1, length));
                }
                without_ramps = if length - longest(&open) < 2 * step { WITHOUT_RAMPS } else { 0 };
            }
            evaluated += 1;
            if evaluated >= PROBES_FROM && evaluated.is_power_of_two() {
                let until = longest(&open);
                for _ in 0..evaluated / 16 {
                    probed = self.next_deadline(probed);
                    if probed >= until {
                        break;
                    }
                    if let Some(k) = self.settle(&mut open, probed, &mut workloads, work)? {
                        return Ok(Some(k));
                    }
                }
            }
        }
    }

    /// Looks at the interval of this length for all tasks for which it is long enough; one whose condition does not hold in it. What
    /// is settled below the longest interval of a task is taken off.
    fn settle(
        &mut self,
        open: &mut [Open],
        length: u64,
        workloads: &mut Workloads,
        work: &mut Work,
    ) -> Result<Option<usize>, OutOfWork> {
        let terms = self.tasks.len() as u64;
        work.take(terms)?;
        let carriers = usize::try_from(self.processors - 1).unwrap_or(usize::MAX).min(self.tasks.len());
        workloads.look(self, length, carriers);
        for one in open.iter_mut() {
            let (k, shortest) = (one.k, self.shortest(one.k, 1));
            if length < shortest {
                continue;
            }
            let wcet = self.tasks[k].wcet_ns;
            let cap = length + 1 - wcet;
            let shorter = if workloads.most > cap {
                work.take(terms)?;
                self.settled(k, 1, length)
            } else {
                let sum = workloads.sum(k, wcet, length - shortest, carriers);
                let holds = sum < u128::from(self.processors) * u128::from(cap);
                holds.then(|| self.longest_open(sum, wcet))
            };
            let Some(shorter) = shorter else { return Ok(Some(k)) };
            // What is settled reaches up to this length only.
            if one.length <= length {
                one.length = one.length.min(shorter);
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SporadicTask;
    use laxity_seeds::{Random, seeds};

    #[test]
    fn together_they_fail_where_one_by_one_they_fail() {
        let (mut failing, mut holding) = (0, 0);
        for seed in seeds!(0..3000) {
            let mut random = Random(seed);
            let processors = u32::try_from(random.between(1, 5)).expect("small");
            let count = random.between(2, 5 * u64::from(processors));
            // From a few ns, where caps matter, to where intervals are long.
            let scale = [1, 30, 100_000][usize::try_from(seed % 3).expect("small")];
            let weight = random.between(40, 110);
            let tasks: Vec<SporadicTask> = (0..count)
                .map(|_| {
                    let period = scale * random.between(3, 40) + random.between(0, scale - 1);
                    let share = weight * u64::from(processors) * 2 / count;
                    let wcet = (period * random.between(1, share.max(1)) / 100).clamp(1, period);
                    let deadline = if seed % 2 == 0 { period } else { random.between(wcet, period) };
                    SporadicTask::constrained(wcet, deadline, period)
                })
                .collect();
            let Some(mut intervals) = BusyIntervals::of(&tasks, processors) else { continue };
            let all: Vec<usize> = (0..tasks.len()).collect();
            let mut work = Work::steps(1 << 24);
            let Ok(alone) = all
                .iter()
                .map(|&k| intervals.holds(k, 1, &mut work).map(|holds| (k, holds)))
                .collect::<Result<Vec<_>, _>>()
            else {
                continue;
            };
            let mut work = Work::steps(1 << 24);
            let together = intervals.fails_together(&all, &mut work).expect("no more steps than alone");
            match together {
                Some(k) => assert!(!alone[k].1, "seed {seed}: task {k} of {tasks:?} on {processors}"),
                None => assert!(
                    alone.iter().all(|one| one.1),
                    "seed {seed}: {alone:?} of {tasks:?} on {processors}"
                ),
            }
            let failed = usize::from(together.is_some());
            (failing, holding) = (failing + failed, holding + 1 - failed);
        }
        assert!(failing > 300 && holding > 300, "{failing} fail, {holding} hold");
    }
}
