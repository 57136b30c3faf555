//! Utilizations in fixed point, with the direction of rounding in the name.

use crate::SporadicTask;

/// Fractional bits. A share of at most 1 fits 64 bits; times a time below 2^63, summed over thousands, it fits 128.
pub(super) const BITS: u32 = 60;

/// floor(a / b 2^60), for a <= b <= 2^50.
pub(super) fn floor(numerator: u64, denominator: u64) -> u128 {
    (u128::from(numerator) << BITS) / u128::from(denominator)
}

/// At least the total utilization, by less than n units.
pub(super) fn total_ceil(tasks: &[SporadicTask]) -> u128 {
    tasks.iter().map(|task| floor(task.wcet_ns, task.period_ns) + 1).sum()
}

/// At least the sum of u max(0, T - D), in ns: by how much the demand can exceed U t.
pub(super) fn excess_ceil(tasks: &[SporadicTask]) -> u128 {
    let excess = |task: &SporadicTask| {
        let early = task.period_ns.saturating_sub(task.deadline_rel_ns);
        (u128::from(task.wcet_ns) * u128::from(early)).div_ceil(u128::from(task.period_ns))
    };
    tasks.iter().filter(|task| task.deadline_rel_ns < task.period_ns).map(excess).sum()
}

/// The longest t, in whole ns, for which `constant` >= `rate` t; `constant` in ns, `rate` in units of 2^-60. Nothing from 2^60 ns
/// (36 years) on: no number of steps would do.
pub(super) fn horizon(constant: u128, rate: u128) -> Option<u64> {
    // 2^67 ns is more than thousands of parameters sum to.
    let longest = (constant.checked_mul(1 << BITS)?).checked_div(rate)?;
    u64::try_from(longest).ok().filter(|&longest| longest < 1 << 60)
}

/// The least common multiple of the periods, if it is below 2^60 ns: the demand of sets that use up all that there is has to be
/// followed until it repeats.
pub(super) fn hyperperiod(tasks: &[SporadicTask]) -> Option<u64> {
    let mut common = 1u64;
    for task in tasks {
        let (mut a, mut b) = (common, task.period_ns);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        common = (common / a).checked_mul(task.period_ns).filter(|&common| common < 1 << 60)?;
    }
    Some(common)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{random_of, random_tasks};
    use super::*;
    use laxity_model::Utilization;

    #[test]
    fn three_thirds_are_a_whole() {
        let third = SporadicTask::implicit(1, 3);
        let whole = 1 << BITS;
        assert_eq!(floor(1, 3), (whole - 1) / 3);
        // One unit less would be below 3/3, and so for one of them.
        assert!(total_ceil(&[third; 3]) >= whole);
        assert_eq!(total_ceil(&[third]), (whole - 1) / 3 + 1);
    }

    #[test]
    fn totals_are_not_below_the_truth_and_nearly_there() {
        for seed in laxity_seeds::seeds!(0..2_000) {
            let mut random = random_of(seed);
            let count = random.between(1, 9);
            let tasks = random_tasks(&mut random, count, 50);
            let sum = |value: fn(&SporadicTask) -> Utilization| {
                tasks.iter().map(value).fold(Utilization::whole(0), |sum, each| sum.plus(&each))
            };
            let load = sum(|task| Utilization::ratio(task.wcet_ns << 50, task.period_ns));
            // In units of 2^-50: the sum, rounded down, is not above the one that is rounded up.
            let total = u64::try_from(total_ceil(&tasks).div_ceil(1 << (BITS - 50))).expect("few tasks");
            assert!(load <= Utilization::whole(total), "seed {seed}: {tasks:?}");
            assert!(Utilization::whole(total - 2) < load, "seed {seed}: {tasks:?}");
            let excess = sum(|task| {
                Utilization::ratio(task.wcet_ns * (task.period_ns - task.deadline_rel_ns), task.period_ns)
            });
            let ceil = Utilization::whole(u64::try_from(excess_ceil(&tasks)).expect("small"));
            assert!(excess <= ceil, "seed {seed}: {tasks:?}");
            assert!(ceil <= excess.plus(&Utilization::whole(count)), "seed {seed}: {tasks:?}");
        }
    }

    #[test]
    fn the_last_time_is_the_last() {
        // 7 >= 2^-59 t, at t = 7 2^59, and 7 >= 3 t / 2.
        assert_eq!(horizon(7, 3 << (BITS - 1)), Some(4));
        assert_eq!(horizon(7, 7 << BITS), Some(1));
        assert_eq!(horizon(1, 1), None);
        assert_eq!(horizon(1, 2), Some(1 << 59));
        assert_eq!(horizon(1, 0), None);
    }
}
