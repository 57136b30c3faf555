//! A bound on the interference of all tasks at once, in logarithmic time: most tasks of most sets need no more to be accepted.
//!
//! In a window of length L, under EDF and without slack, a task of a period above L does at most C, any other at most
//! u L + C (1 - u): the line through the ends of the ramps of [`super::workload::under_edf`]. With tasks sorted by period, two
//! prefix sums give the sum over all of them.

use crate::SporadicTask;

/// Fractional bits of the shares: C << 13 fits 64 bits for C <= 2^50.
const BITS: u32 = 13;

/// Prefix sums over tasks in the order of their periods.
struct Headroom {
    periods_ns: Vec<u64>,
    /// Of the first j tasks: sum of ceil(u 2^13), of C (1 - u) rounded up, and of C.
    prefixes: Vec<Prefix>,
}

#[derive(Clone, Copy, Default)]
struct Prefix {
    share: u128,
    ramp: u128,
    wcet_ns: u128,
}

impl Prefix {
    fn of(task: &SporadicTask) -> Self {
        let share = (task.wcet_ns << BITS).div_ceil(task.period_ns);
        let executed =
            (u128::from((task.wcet_ns << BITS) / task.period_ns) * u128::from(task.wcet_ns)) >> BITS;
        Prefix {
            share: share.into(),
            ramp: u128::from(task.wcet_ns) - executed,
            wcet_ns: task.wcet_ns.into(),
        }
    }

    fn plus(self, other: Prefix) -> Prefix {
        Prefix {
            share: self.share + other.share,
            ramp: self.ramp + other.ramp,
            wcet_ns: self.wcet_ns + other.wcet_ns,
        }
    }
}

impl Headroom {
    /// Of tasks that are sorted by period.
    fn new(tasks: &[SporadicTask]) -> Self {
        let mut prefixes = Vec::with_capacity(tasks.len() + 1);
        let mut sum = Prefix::default();
        prefixes.push(sum);
        prefixes.extend(tasks.iter().map(|task| {
            sum = sum.plus(Prefix::of(task));
            sum
        }));
        Headroom { periods_ns: tasks.iter().map(|task| task.period_ns).collect(), prefixes }
    }

    /// At least what all tasks but `task` can interfere with it in a window of length `task.deadline`.
    fn interference(&self, task: &SporadicTask) -> u128 {
        let within = self.periods_ns.partition_point(|&period| period <= task.deadline_rel_ns);
        let (short, all) = (self.prefixes[within], self.prefixes[self.periods_ns.len()]);
        let own = Prefix::of(task);
        let long_wcet = all.wcet_ns - short.wcet_ns;
        let (share, constant) = if task.period_ns <= task.deadline_rel_ns {
            (short.share - own.share, short.ramp - own.ramp + long_wcet)
        } else {
            (short.share, short.ramp + long_wcet - own.wcet_ns)
        };
        // share <= n 2^13 and D <= 2^50: far from 128 bits.
        ((share * u128::from(task.deadline_rel_ns)) >> BITS) + 1 + constant
    }
}

/// What the bound leaves open, if `task` meets its deadline as long as the interference is below m (D - C + `spare`).
pub(super) struct Rooms {
    /// The tasks that may not meet it, the one with the least room first, the others in their order.
    pub(super) suspects: Vec<usize>,
    /// The slack that the bound proves of each task, x - floor(interference / m), 0 of suspects.
    pub(super) slacks_ns: Vec<u64>,
}

impl Rooms {
    /// Of tasks that are sorted by period.
    pub(super) fn of(tasks: &[SporadicTask], processors: u64, spare: u64) -> Self {
        let headroom = Headroom::new(tasks);
        let processors = u128::from(processors);
        let mut rooms = Rooms { suspects: Vec::new(), slacks_ns: Vec::with_capacity(tasks.len()) };
        let mut least = (0, 0);
        for (k, task) in tasks.iter().enumerate() {
            let interference = headroom.interference(task);
            let laxity = task.deadline_rel_ns - task.wcet_ns;
            let room = processors * u128::from(laxity + spare);
            if interference < room {
                let late = u64::try_from(interference / processors).unwrap_or(laxity);
                rooms.slacks_ns.push(laxity.saturating_sub(late));
                continue;
            }
            rooms.slacks_ns.push(0);
            if rooms.suspects.is_empty() || interference - room > least.1 {
                least = (rooms.suspects.len(), interference - room);
            }
            rooms.suspects.push(k);
        }
        if !rooms.suspects.is_empty() {
            rooms.suspects[..=least.0].rotate_right(1);
        }
        rooms
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_period::ByPeriod;
    use super::super::testing::{random_of, random_tasks};
    use super::super::workload;
    use super::*;

    #[test]
    fn never_less_than_the_sum_itself() {
        for seed in laxity_seeds::seeds!(0..3000) {
            let mut random = random_of(seed);
            let count = random.between(1, 12);
            // In units of up to days: shares have 13 bits.
            let unit = 1 << random.between(0, 44);
            let scaled = |task: &SporadicTask| {
                SporadicTask::constrained(
                    task.wcet_ns * unit,
                    task.deadline_rel_ns * unit,
                    task.period_ns * unit,
                )
            };
            let tasks: Vec<_> = random_tasks(&mut random, count, 40).iter().map(scaled).collect();
            let tasks = ByPeriod::of(&tasks, 1).tasks;
            let headroom = Headroom::new(&tasks);
            for (k, task) in tasks.iter().enumerate() {
                let others = tasks.iter().enumerate().filter(|&(i, _)| i != k);
                let sum: u64 =
                    others.map(|(_, other)| workload::under_edf(other, task.deadline_rel_ns, 0)).sum();
                assert!(headroom.interference(task) >= sum.into(), "seed {seed}, task {k} of {tasks:?}");
            }
        }
    }
}
