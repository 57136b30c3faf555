//! Sets from a seed.

use laxity_analysis::SporadicTask;

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678))
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// Up to four tasks with T <= 6, D <= 8 below, at and above T.
pub fn small_set(random: &mut Random, cores: u64) -> Vec<SporadicTask> {
    let count = 1 + random.below(3) + (cores - 1);
    let task = |random: &mut Random| {
        let period = 2 + random.below(5);
        let longer = u64::from(random.below(4) == 0);
        let wcet = (1 + random.below(2.min(period - 1) + longer)).min(period);
        let deadline = match random.below(3) {
            0 => period,
            1 => wcet + random.below(period - wcet + 1),
            _ => period + random.below(9 - period),
        };
        SporadicTask::constrained(wcet, deadline, period)
    };
    (0..count.min(4)).map(|_| task(random)).collect()
}

/// Tasks of some hundred steps: D below, at or above T.
pub fn larger_set(random: &mut Random) -> Vec<SporadicTask> {
    let count = 2 + random.below(4);
    let task = |random: &mut Random| {
        let period = 10 + random.below(90);
        let wcet = 1 + random.below((period / count).max(1));
        let deadline = match random.below(3) {
            0 => period,
            1 => wcet + (period - wcet) / 2 + random.below((period - wcet) / 2 + 1),
            _ => period + random.below(2 * period),
        };
        SporadicTask::constrained(wcet, deadline, period)
    };
    (0..count).map(|_| task(random)).collect()
}

/// Nearly as much as a CPU can do, with deadlines about T and far beyond.
pub fn tight_set(random: &mut Random) -> Vec<SporadicTask> {
    let count = 2 + random.below(3);
    let task = |random: &mut Random| {
        let period = 10 + random.below(40);
        let wcet = (period * (70 + random.below(50)) / 100 / count).max(1);
        let deadline = (period * (70 + random.below(130)) / 100).max(wcet);
        SporadicTask::constrained(wcet, deadline, period)
    };
    (0..count).map(|_| task(random)).collect()
}
