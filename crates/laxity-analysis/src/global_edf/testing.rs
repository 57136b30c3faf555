//! Random task sets for tests, the same on every machine.

use crate::SporadicTask;
use laxity_seeds::Random;

/// The numbers of a seed, other than those of its neighbours.
pub(super) fn random_of(seed: u64) -> Random {
    Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6a09_e667_f3bc_c908)
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
