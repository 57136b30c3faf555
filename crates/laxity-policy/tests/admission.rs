//! Admission (`policy/admission.h`): whatever is admitted fits exactly, and what does not fit is refused.

mod random;

use laxity_policy::{Admission, Refused, TaskParameters, bandwidth};
use random::next_random;

const ONE: u64 = 1 << 20;

fn task(budget_ns: u64, deadline_rel_ns: u64, period_ns: u64) -> TaskParameters {
    TaskParameters { deadline_rel_ns, period_ns, budget_ns, priority: 0, batching: true }
}

#[test]
fn bandwidths_are_rounded_up() {
    assert_eq!(bandwidth(1, 2), ONE / 2);
    assert_eq!(bandwidth(7, 7), ONE);
    // 2^20 / 3 = 349525.33
    assert_eq!(bandwidth(1_000_000, 3_000_000), 349_526);
    assert_eq!(bandwidth(1, 1 << 42), 1);
    assert_eq!(bandwidth(1 << 42, 1 << 42), ONE);
    assert_eq!(bandwidth((1 << 42) - 1, 1 << 42), ONE);
}

#[test]
fn parameters_are_those_of_a_task() {
    const LONGEST: u64 = 1 << 42;
    let cases = [
        (task(1024, 1024, 1024), Ok(ONE)),
        (task(1023, 1024, 1024), Err(Refused::Parameters)),
        (task(0, 1_000_000, 1_000_000), Err(Refused::Parameters)),
        (task(3000, 2000, 4000), Err(Refused::Parameters)),
        (task(2000, 5000, 4000), Err(Refused::Parameters)),
        (task(2000, 0, 4000), Err(Refused::Parameters)),
        (task(2000, 2000, 0), Err(Refused::Parameters)),
        (task(1024, 1024, LONGEST), Ok(1)),
        (task(LONGEST, LONGEST, LONGEST), Ok(ONE)),
        (task(1024, 1024, LONGEST + 1), Err(Refused::Parameters)),
        (task(u64::MAX, u64::MAX, u64::MAX), Err(Refused::Parameters)),
    ];
    for (task, expected) in cases {
        assert_eq!(Admission::new(ONE, 1).admit(0, &task), expected, "{task:?}");
    }
}

#[test]
fn the_sum_is_limited() {
    let half = task(5_000_000, 10_000_000, 10_000_000);
    let mut admission = Admission::new(ONE * 95 / 100, 2);
    for _ in 0..3 {
        assert_eq!(admission.admit(0, &half), Ok(ONE / 2));
    }
    // 1.5 of 1.9 are taken.
    assert_eq!(admission.admit(0, &half), Err(Refused::Bandwidth));
    assert_eq!(admission.admit(0, &task(4_000_000, 10_000_000, 10_000_000)), Err(Refused::Bandwidth));
    assert_eq!(admission.total(), 3 * ONE / 2);
    // The same task with other parameters; 0.9 would be 1.9 altogether, but for the rounding.
    assert_eq!(admission.admit(ONE / 2, &task(9_000_000, 10_000_000, 10_000_000)), Err(Refused::Bandwidth));
    assert_eq!(admission.admit(ONE / 2, &task(8_999_900, 10_000_000, 10_000_000)), Ok(943_708));
    admission.leave(943_708);
    assert_eq!(admission.total(), ONE);
    assert_eq!(admission.admit(0, &half), Ok(ONE / 2));
}

/// The utilization C/T of every task is at most its bandwidth, and less than a unit below it; so the sum of those admitted is
/// at most the limit, and a task is refused only if it does not fit with every utilization rounded up.
#[test]
fn what_is_admitted_fits() {
    let mut refused = 0;
    for seed in laxity_seeds::seeds!(0..3000_u64) {
        let state = &mut (seed << 1 | 1);
        let cpus = 1 + u32::try_from(next_random(state) % 8).expect("few");
        let limit = next_random(state) % (ONE + 1);
        let mut admission = Admission::new(limit, cpus);
        let room = limit * u64::from(cpus);
        let mut there: Vec<u64> = Vec::new();
        for _ in 0..40 {
            if next_random(state).is_multiple_of(4) && !there.is_empty() {
                admission.leave(there.swap_remove(0));
            }
            let period = 1024 + (next_random(state) >> (22 + next_random(state) % 32)) % ((1 << 42) - 1023);
            let budget = 1024 + next_random(state) % (period - 1023);
            let exact = u128::from(budget) << 20;
            let rounded = u64::try_from(exact.div_ceil(period.into())).expect("at most one");
            let fits = there.iter().sum::<u64>() + rounded <= room;
            let admitted = admission.admit(0, &task(budget, period, period));
            assert_eq!(admitted, if fits { Ok(rounded) } else { Err(Refused::Bandwidth) }, "seed {seed}");
            if fits {
                assert!(u128::from(rounded) * u128::from(period) >= exact);
                there.push(rounded);
            } else {
                refused += 1;
            }
            assert_eq!(admission.total(), there.iter().sum::<u64>());
            assert!(admission.total() <= room);
        }
    }
    laxity_seeds::assert_together!(refused > 10_000);
}
