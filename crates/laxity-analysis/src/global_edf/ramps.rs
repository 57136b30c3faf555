//! How fast what can fill an interval falls as the interval gets shorter: where the condition of `busy_interval` holds by little, its
//! workload often falls as fast as the room for it, and one evaluation settles all of that ramp.
//!
//! Each value is a [`Ramp`]: linear for all intervals that are shorter by at most `lasts`, falling by 1 per ns or not at all. Values
//! never grow as the interval gets shorter.

use super::workload;
use crate::SporadicTask;
use std::cmp::Reverse;

/// A value for an interval of some length, and for shorter ones: value - falls d for d ns less, as long as d <= lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ramp {
    pub(super) value: u64,
    pub(super) falls: bool,
    pub(super) lasts: u64,
}

impl Ramp {
    fn flat(value: u64, lasts: u64) -> Self {
        Ramp { value, falls: false, lasts }
    }

    /// The demand bound.
    pub(super) fn demand(task: &SporadicTask, length: u64) -> Self {
        let lasts = length.checked_sub(task.deadline_rel_ns).map_or(u64::MAX, |rest| rest % task.period_ns);
        Ramp::flat(workload::demand(task, length), lasts)
    }

    /// floor(t / T) C + min(`left`, t mod T)
    pub(super) fn carried(task: &SporadicTask, left: u64, length: u64) -> Self {
        let (complete, rest) = (length / task.period_ns * task.wcet_ns, length % task.period_ns);
        if rest <= left {
            Ramp { value: complete + rest, falls: true, lasts: rest }
        } else {
            Ramp::flat(complete + left, rest - left)
        }
    }

    /// The larger of two, of which one is flat.
    pub(super) fn or_flat(self, flat: Ramp) -> Self {
        if flat.value >= self.value {
            return flat;
        }
        let lasts = if self.falls { self.lasts.min(self.value - flat.value) } else { self.lasts };
        Ramp { lasts, ..self }
    }

    pub(super) fn less(self, constant: u64) -> Self {
        Ramp { value: self.value - constant, ..self }
    }

    /// What it exceeds another by that is flat, or falls only where both do.
    pub(super) fn above(self, other: Ramp) -> Self {
        Ramp {
            value: self.value - other.value,
            falls: self.falls && !other.falls,
            lasts: self.lasts.min(other.lasts),
        }
    }

    /// The smaller of it and a cap that falls.
    pub(super) fn capped(self, cap: u64) -> Self {
        if self.value >= cap {
            return Ramp { value: cap, falls: true, lasts: self.lasts };
        }
        let lasts = if self.falls { self.lasts } else { self.lasts.min(cap - self.value) };
        Ramp { lasts, ..self }
    }
}

/// A sum of such values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slope {
    pub(super) value: u128,
    /// By how much it falls per ns,
    pub(super) falls: u64,
    /// for at least so long.
    pub(super) lasts: u64,
}

impl Slope {
    pub(super) fn lasting(lasts: u64) -> Self {
        Slope { value: 0, falls: 0, lasts }
    }

    pub(super) fn add(&mut self, ramp: Ramp) {
        self.value += u128::from(ramp.value);
        self.falls += u64::from(ramp.falls);
        self.lasts = self.lasts.min(ramp.lasts);
    }

    /// Adds the `count` largest of these; their order changes.
    pub(super) fn add_largest(&mut self, ramps: &mut [Ramp], count: usize) {
        if count == 0 || count >= ramps.len() {
            ramps.iter().take(count).for_each(|ramp| self.add(*ramp));
            return;
        }
        // Among equals those that do not fall: 1 ns before, those are larger.
        ramps.select_nth_unstable_by_key(count - 1, |ramp| (Reverse(ramp.value), ramp.falls));
        let (chosen, others) = ramps.split_at(count);
        chosen.iter().for_each(|ramp| self.add(*ramp));
        // The others never grow as long as they last.
        self.lasts = others.iter().map(|ramp| ramp.lasts).fold(self.lasts, u64::min);
        // One that falls stays among the largest until it meets one that does not.
        let next = others.iter().filter(|other| !other.falls).map(|other| other.value).max();
        for ramp in chosen.iter().filter(|ramp| ramp.falls) {
            self.lasts = self.lasts.min(next.map_or(u64::MAX, |next| ramp.value - next));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{random_of, random_tasks};
    use super::*;
    use laxity_seeds::Random;

    fn carried(task: &SporadicTask, left: u64, length: u64) -> u64 {
        length / task.period_ns * task.wcet_ns + left.min(length % task.period_ns)
    }

    /// min(max(carried, demand), cap), and by how much it is above min(demand, cap).
    fn values(task: &SporadicTask, left: u64, length: u64, cap: u64) -> (u64, u64) {
        let plain = workload::demand(task, length);
        let carry = carried(task, left, length).max(plain).min(cap);
        (carry, carry - plain.min(cap))
    }

    fn ramps(task: &SporadicTask, left: u64, length: u64, cap: u64) -> (Ramp, Ramp) {
        let plain = Ramp::demand(task, length);
        let carry = Ramp::carried(task, left, length).or_flat(plain).capped(cap);
        (carry, carry.above(plain.capped(cap)))
    }

    fn at(ramp: Ramp, less: u64) -> u64 {
        if ramp.falls { ramp.value - less } else { ramp.value }
    }

    #[test]
    fn ramps_are_the_workload_as_long_as_they_last() {
        let mut longest = 0;
        for seed in laxity_seeds::seeds!(0..4_000) {
            let mut random = random_of(seed);
            let mut task = random_tasks(&mut random, 1, 12)[0];
            task.deadline_rel_ns += random.between(0, 1) * random.between(0, 2 * task.period_ns);
            let left = task.wcet_ns - random.between(0, 1);
            let length = random.between(1, 60);
            let cap = random.between(1, length);
            let (carry, above) = ramps(&task, left, length, cap);
            for less in 0..=carry.lasts.min(above.lasts).min(cap - 1) {
                let expected = values(&task, left, length - less, cap - less);
                let found = (at(carry, less), at(above, less));
                assert_eq!(
                    found, expected,
                    "seed {seed}: {task:?}, {left} left, {length} - {less}, cap {cap}"
                );
                longest = longest.max(less);
            }
        }
        laxity_seeds::assert_together!(longest > 10, "{longest}");
    }

    #[test]
    fn sums_of_the_largest_as_long_as_they_last() {
        let mut longest = 0;
        for seed in laxity_seeds::seeds!(0..4_000) {
            let mut random = random_of(seed);
            let ramp = |random: &mut Random| {
                let value = random.between(0, 12);
                Ramp { value, falls: random.between(0, 1) == 0, lasts: random.between(0, value) }
            };
            let mut all: Vec<Ramp> = (0..random.between(1, 7)).map(|_| ramp(&mut random)).collect();
            let count = usize::try_from(random.between(0, 7)).expect("small");
            let before = all.clone();
            let mut slope = Slope::lasting(20);
            slope.add_largest(&mut all, count);
            for less in 0..=slope.lasts {
                let mut values: Vec<u64> = before
                    .iter()
                    .filter(|ramp| less <= ramp.lasts || count == 0)
                    .map(|ramp| at(*ramp, less.min(ramp.value)))
                    .collect();
                values.sort_unstable_by(|a, b| b.cmp(a));
                let expected: u64 = values.iter().take(count).sum();
                let found = slope.value - u128::from(slope.falls * less);
                assert_eq!(found, expected.into(), "seed {seed}: {before:?}, {count} of them, {less} less");
                longest = longest.max(if count == 0 { 0 } else { less });
            }
        }
        laxity_seeds::assert_together!(longest > 5, "{longest}");
    }
}
