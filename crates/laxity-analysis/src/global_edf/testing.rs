//! Random task sets for tests, the same on every machine.

use crate::SporadicTask;

/// A generator of numbers (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6a09_e667_f3bc_c908)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// In `[low, high]`.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }
}

/// Tasks of constrained deadlines and periods up to `period_max`; half of them implicit.
pub(super) fn random_tasks(random: &mut Random, count: u64, period_max: u64) -> Vec<SporadicTask> {
    let task = |_| {
        let period = random.between(1, period_max);
        let deadline = if random.between(0, 1) == 0 { period } else { random.between(1, period) };
        // Light tasks more often than heavy ones: the interesting sets have more tasks than processors.
        let most = random.between(1, deadline);
        SporadicTask::constrained(random.between(1, most), deadline, period)
    };
    (0..count).map(task).collect()
}
