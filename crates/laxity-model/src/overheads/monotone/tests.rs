use super::*;
use num_rational::Ratio;
use proptest::prelude::*;

const MOST: u64 = 1 << 50;

type Function = Monotone<MOST>;

fn function(samples: &[(u64, u64)]) -> Function {
    Monotone::through(samples.iter().copied()).expect("valid")
}

#[test]
fn dips_are_filled_and_gaps_are_linear() {
    // ackelman2018, 6.3: g(x) = max(f(x), g(x - 1)), then linear.
    let f = function(&[(10, 10), (20, 20), (30, 15), (40, 17), (50, 40)]);
    let at: Vec<u64> = [10, 11, 15, 20, 25, 30, 40, 45, 50].map(|x| f.at(x)).into();
    assert_eq!(at, [10, 11, 15, 20, 20, 20, 20, 30, 40]);
    assert_eq!(function(&[(0, 0), (3, 1)]).at(1), 1, "1/3, rounded up");
    assert_eq!(function(&[(0, 0), (3, 7)]).at(2), 5, "14/3, rounded up");
}

#[test]
fn interpolates_exactly_and_rounds_up() {
    let f = function(&[(10, 1_000), (13, 2_000), (20, 2_000), (30, 2_001)]);
    for (x, wanted) in [
        (0, 1_000),
        (9, 1_000),
        (10, 1_000),
        (11, 1_334), // 1333.33
        (12, 1_667), // 1666.67
        (13, 2_000),
        (19, 2_000),
        (20, 2_000),
        (21, 2_001), // 2000.1
        (30, 2_001),
        (31, 2_002), // 2001.1
        (40, 2_002),
        (41, 2_003),
    ] {
        assert_eq!(f.at(x), wanted, "{x}");
    }
    assert_eq!(f.last_x(), 30);
}

#[test]
fn is_the_upper_envelope_of_samples_in_any_order() {
    let f = function(&[(30, 500), (10, 900), (20, 100), (40, 1_000)]);
    assert_eq!([5, 10, 15, 20, 30, 35, 40].map(|x| f.at(x)), [900, 900, 900, 900, 900, 950, 1_000]);
    assert_eq!(f.samples(), [(10, 900), (20, 900), (30, 900), (40, 1_000)]);
}

#[test]
fn before_the_first_sample_it_is_constant_and_beyond_the_last_it_goes_on() {
    let f = function(&[(10, 10), (20, 14), (30, 16)]);
    assert_eq!([0, 9, 31, 40, 50].map(|x| f.at(x)), [10, 10, 17, 18, 20]);
    assert_eq!([9, 30, 31].map(|x| f.is_extrapolated(x)), [false, false, true]);
    assert_eq!(function(&[(10, 10), (20, 14), (30, 3)]).at(90), 14, "the last slope is flat");
    let one = function(&[(7, 3)]);
    assert_eq!(([0, 7, 99].map(|x| one.at(x)), one.is_extrapolated(99)), ([3; 3], false));
}

#[test]
fn nowhere_above_the_most() {
    assert_eq!(function(&[(0, 0), (1, MOST)]).at(u64::MAX), MOST);
    assert_eq!(Function::constant(u64::MAX).at(5), MOST);
    let small = Monotone::<7>::through([(0, 0), (1, 4), (2, 7)]).expect("valid");
    assert_eq!([1, 2, 3, u64::MAX].map(|x| small.at(x)), [4, 7, 7, 7]);
    // The largest products that there are.
    let steep = Monotone::<{ u64::MAX }>::through([(0, 1), (1, u64::MAX)]).expect("valid");
    assert_eq!([0, 1, 2, u64::MAX].map(|x| steep.at(x)), [1, u64::MAX, u64::MAX, u64::MAX]);
}

#[test]
fn zero_is_zero_everywhere() {
    assert!(function(&[(1, 0), (9, 0)]).is_zero() && Function::constant(0).is_zero());
    assert!(!function(&[(1, 0), (9, 1)]).is_zero());
}

#[test]
fn refuses_what_is_no_function() {
    for (samples, part) in [
        (vec![], "no points"),
        (vec![(1, 2), (3, 4), (1, 2)], "two values at 1"),
        (vec![(3, 5), (1, MOST + 1)], "1125899906842.625us at 1 is more than"),
    ] {
        let error = Function::through(samples).expect_err(part);
        assert!(error.message.contains(part) && error.hint.is_some(), "{error}");
    }
    assert!(Monotone::<1_000>::through([(0, 1_001)]).expect_err("too long").message.contains("than 1us"));
}

laxity_seeds::properties! {
    #[test]
    fn never_falls_and_is_the_line_between_enveloped_samples_rounded_up(
        samples in proptest::collection::btree_map(0u64..1_000, 0u64..1_000_000, 1..12),
        xs in proptest::collection::vec(0u64..1_100, 2),
    ) {
        let samples: Vec<(u64, u64)> = samples.into_iter().collect();
        let f = function(&samples);
        prop_assert!(samples.iter().all(|&(x, y)| f.at(x) >= y));
        let (low, high) = (xs[0].min(xs[1]), xs[0].max(xs[1]));
        prop_assert!(f.at(low) <= f.at(high));
        let envelope = |x: u64| {
            let until = samples.iter().filter(|sample| sample.0 <= x).map(|sample| sample.1);
            Ratio::from_integer(i128::from(until.max().expect("a sample")))
        };
        let before = samples.iter().rev().find(|sample| sample.0 <= low).map(|sample| sample.0);
        let after = samples.iter().find(|sample| sample.0 > low).map(|sample| sample.0);
        if let (Some(before), Some(after)) = (before, after) {
            let part = Ratio::new(i128::from(low - before), i128::from(after - before));
            let exact = envelope(before) + (envelope(after) - envelope(before)) * part;
            prop_assert_eq!(i128::from(f.at(low)), exact.ceil().to_integer());
        }
    }
}
