//! Exact utilizations and densities: rationals that are compared without rounding.

use crate::Duration;
use num_bigint::{BigInt, BigUint};
use num_rational::{BigRational, Ratio};
use num_traits::{ToPrimitive, Zero};
use std::cmp::Ordering;
use std::fmt;

/// An exact share of a processor: C/T, C/min(D,T), a sum of such, or a capacity to compare them with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utilization(BigRational);

impl Utilization {
    /// No load.
    pub fn zero() -> Self {
        Utilization(BigRational::zero())
    }

    /// `count` whole processors.
    pub fn whole(count: u64) -> Self {
        Utilization(BigRational::from_integer(BigInt::from(count)))
    }

    /// `numerator / denominator`. Panics if the denominator is zero.
    pub fn ratio(numerator: u64, denominator: u64) -> Self {
        Utilization(Ratio::new(BigInt::from(numerator), BigInt::from(denominator)))
    }

    /// `work` per `window`. Panics if the window is zero.
    pub fn of(work: Duration, window: Duration) -> Self {
        Self::ratio(work.as_ns(), window.as_ns())
    }

    /// The exact sum.
    #[must_use]
    pub fn plus(&self, other: &Utilization) -> Self {
        Utilization(&self.0 + &other.0)
    }

    /// The exact product.
    #[must_use]
    pub fn times(&self, other: &Utilization) -> Self {
        Utilization(&self.0 * &other.0)
    }

    /// The exact quotient. Panics if `other` is zero.
    #[must_use]
    pub fn over(&self, other: &Utilization) -> Self {
        Utilization(&self.0 / &other.0)
    }

    /// The nearest float: for showing and plotting, never for a verdict.
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64().unwrap_or(f64::NAN)
    }

    /// The exact rational.
    pub fn as_rational(&self) -> &BigRational {
        &self.0
    }
}

impl From<BigRational> for Utilization {
    fn from(value: BigRational) -> Self {
        Utilization(value)
    }
}

impl fmt::Display for Utilization {
    /// Four decimals, honouring a precision (`{:.2}`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.*}", f.precision().unwrap_or(4), self.to_f64())
    }
}

/// A running sum of shares that is compared exactly but added in constant time.
///
/// Adding hundreds of rationals with unrelated denominators makes numbers of thousands of digits. Almost
/// every comparison is decided long before: the sum is kept as a 2^-64 fixed-point lower bound that is less
/// than `count` units below the truth, and only a comparison that falls inside that gap adds the rationals.
#[derive(Debug, Clone, Default)]
pub struct LoadSum {
    /// Sum of floor(share * 2^64).
    floor_q64: u128,
    shares: Vec<(u64, u64)>,
}

impl LoadSum {
    /// An empty sum.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `numerator / denominator`. Panics if the denominator is zero.
    pub fn add_ratio(&mut self, numerator: u64, denominator: u64) {
        self.floor_q64 += floor_q64(numerator, denominator);
        self.shares.push((numerator, denominator));
    }

    /// Adds `work` per `window`. Panics if the window is zero.
    pub fn add(&mut self, work: Duration, window: Duration) {
        self.add_ratio(work.as_ns(), window.as_ns());
    }

    /// Takes the most recently added share away again.
    pub fn pop(&mut self) {
        if let Some((numerator, denominator)) = self.shares.pop() {
            self.floor_q64 -= floor_q64(numerator, denominator);
        }
    }

    /// The number of shares added.
    pub fn count(&self) -> usize {
        self.shares.len()
    }

    /// What the sum is at least, in units of 2^-64: less than [`LoadSum::count`] units below it, and 0 for an empty sum. Sums whose
    /// bounds together exceed the bound of a single share exceed that share.
    pub fn at_least_q64(&self) -> u128 {
        self.floor_q64
    }

    /// Compares with `numerator / denominator`, exactly. Panics if the denominator is zero.
    pub fn cmp_ratio(&self, numerator: u64, denominator: u64) -> Ordering {
        let exact = || self.fraction();
        compare(self.floor_q64, self.gap_q64(), exact, (numerator, denominator))
    }

    /// It is more than so many CPUs of speed 1 can serve, exactly.
    pub fn exceeds(&self, cpus: u64) -> bool {
        self.cmp_ratio(cpus, 1).is_gt()
    }

    /// Compares with any share, exactly.
    pub fn cmp_to(&self, bound: &Utilization) -> Ordering {
        let (numerator, denominator) = (bound.0.numer(), bound.0.denom());
        // The bound is in [floor, floor + 1) units of 2^-64.
        let floor = (numerator << 64u32) / denominator;
        if BigInt::from(self.floor_q64) > floor {
            return Ordering::Greater;
        }
        if BigInt::from(self.floor_q64 + self.gap_q64()) <= floor {
            return Ordering::Less;
        }
        let sum = self.fraction();
        (BigInt::from(sum.numerator) * denominator).cmp(&(BigInt::from(sum.denominator) * numerator))
    }

    /// Compares this sum and another together with `numerator / denominator`, exactly. Panics if the denominator is zero.
    pub fn cmp_ratio_with(&self, other: &LoadSum, numerator: u64, denominator: u64) -> Ordering {
        let exact = || Fraction::sum(&[self.fraction(), other.fraction()]);
        let (floor, gap) = (self.floor_q64 + other.floor_q64, self.gap_q64() + other.gap_q64());
        compare(floor, gap, exact, (numerator, denominator))
    }

    /// Compares with another sum, exactly.
    pub fn cmp_sum(&self, other: &LoadSum) -> Ordering {
        if self.floor_q64 >= other.floor_q64 + other.gap_q64() {
            return Ordering::Greater;
        }
        if other.floor_q64 >= self.floor_q64 + self.gap_q64() {
            return Ordering::Less;
        }
        let (sum, other) = (self.fraction(), other.fraction());
        (sum.numerator * other.denominator).cmp(&(other.numerator * sum.denominator))
    }

    /// Compares `factor` times this sum with `other_factor` times another, exactly. Factors are above 0.
    pub fn cmp_times(&self, factor: u64, other: &LoadSum, other_factor: u64) -> Ordering {
        let bounds = |sum: &LoadSum, factor: u64| {
            let least = sum.floor_q64.checked_mul(factor.into())?;
            Some((least, (sum.floor_q64 + sum.gap_q64()).checked_mul(factor.into())?))
        };
        // The truth is at least the first and below the second.
        if let (Some(own), Some(others)) = (bounds(self, factor), bounds(other, other_factor)) {
            if own.0 >= others.1 {
                return Ordering::Greater;
            }
            if others.0 >= own.1 {
                return Ordering::Less;
            }
        }
        let (sum, other) = (self.fraction(), other.fraction());
        (sum.numerator * other.denominator * factor).cmp(&(other.numerator * sum.denominator * other_factor))
    }

    /// The truth is below `floor_q64` plus this. An empty sum is its own floor, so one unit is above it.
    fn gap_q64(&self) -> u128 {
        self.shares.len().max(1) as u128
    }

    /// The exact sum.
    pub fn exact(&self) -> Utilization {
        let mut level: Vec<BigRational> =
            self.shares.iter().map(|&(n, d)| Ratio::new(BigInt::from(n), BigInt::from(d))).collect();
        // Pairwise, so that the big denominators appear only in the last few additions.
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
        Utilization(level.pop().unwrap_or_else(BigRational::zero))
    }

    /// The exact sum, not in lowest terms: a comparison needs two products, where common divisors of hundreds of unrelated
    /// denominators would take a thousand times as long.
    fn fraction(&self) -> Fraction {
        let share = |&(n, d): &(u64, u64)| Fraction { numerator: n.into(), denominator: d.into() };
        let mut level: Vec<Fraction> = self.shares.iter().map(share).collect();
        // Pairwise, so that the big denominators appear only in the last few additions.
        while level.len() > 1 {
            level = level.chunks(2).map(Fraction::sum).collect();
        }
        level.pop().unwrap_or_else(|| share(&(0, 1)))
    }

    /// The float nearest to the exact sum, as [`Utilization::to_f64`] says it of [`LoadSum::exact`]: the bounds have the same one, or
    /// the fraction is added up.
    pub fn nearest_f64(&self) -> f64 {
        let least = to_f64_q64(self.floor_q64);
        if least.to_bits() == to_f64_q64(self.floor_q64 + self.gap_q64()).to_bits() {
            return least;
        }
        let sum = self.fraction();
        Ratio::new_raw(BigInt::from(sum.numerator), BigInt::from(sum.denominator))
            .to_f64()
            .unwrap_or(f64::NAN)
    }

    /// The sum as a float: for showing and plotting, never for a verdict.
    pub fn to_f64(&self) -> f64 {
        to_f64_q64(self.floor_q64)
    }
}

impl fmt::Display for LoadSum {
    /// As [`Utilization`] shows the exact sum.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.*}", f.precision().unwrap_or(4), self.nearest_f64())
    }
}

/// The float nearest to so many units of 2^-64.
#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
fn to_f64_q64(units: u128) -> f64 {
    units as f64 / 2f64.powi(64)
}

/// Compares a sum in `[floor, floor + gap)` units of 2^-64 with a ratio; asks for the fraction only if that does not tell.
fn compare(
    floor_sum: u128,
    gap: u128,
    exact: impl FnOnce() -> Fraction,
    (numerator, denominator): (u64, u64),
) -> Ordering {
    // The bound is in [bound, bound + 1).
    let bound = floor_q64(numerator, denominator);
    if floor_sum > bound {
        return Ordering::Greater;
    }
    if floor_sum + gap <= bound {
        return Ordering::Less;
    }
    let sum = exact();
    (sum.numerator * denominator).cmp(&(sum.denominator * numerator))
}

/// A rational that is not reduced.
#[derive(Debug, Clone)]
struct Fraction {
    numerator: BigUint,
    denominator: BigUint,
}

impl Fraction {
    /// Of one or two.
    fn sum(pair: &[Fraction]) -> Fraction {
        let [one, other] = pair else { return pair[0].clone() };
        if one.denominator == other.denominator {
            return Fraction {
                numerator: &one.numerator + &other.numerator,
                denominator: one.denominator.clone(),
            };
        }
        Fraction {
            numerator: &one.numerator * &other.denominator + &other.numerator * &one.denominator,
            denominator: &one.denominator * &other.denominator,
        }
    }
}

fn floor_q64(numerator: u64, denominator: u64) -> u128 {
    (u128::from(numerator) << 64) / u128::from(denominator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn four_tenths_and_eight_tenths_are_six_fifths() {
        let mut sum = LoadSum::new();
        sum.add_ratio(4, 10);
        sum.add_ratio(8, 10);
        assert_eq!(sum.cmp_ratio(6, 5), Ordering::Equal);
        assert_eq!(sum.exact(), Utilization::ratio(6, 5));
    }

    #[test]
    fn thirds_sum_to_exactly_one() {
        let mut sum = LoadSum::new();
        (0..3).for_each(|_| sum.add_ratio(1, 3));
        assert_eq!(sum.cmp_ratio(1, 1), Ordering::Equal);
        sum.pop();
        assert_eq!(sum.cmp_ratio(2, 3), Ordering::Equal);
    }

    #[test]
    fn an_empty_sum_equals_zero() {
        assert_eq!(LoadSum::new().cmp_ratio(0, 7), Ordering::Equal);
        assert_eq!(LoadSum::new().cmp_sum(&LoadSum::new()), Ordering::Equal);
        let mut one = LoadSum::new();
        one.add_ratio(1, u64::MAX);
        assert_eq!(LoadSum::new().cmp_sum(&one), Ordering::Less);
        assert_eq!(one.cmp_ratio(0, 1), Ordering::Greater);
    }

    #[test]
    fn sums_of_hundreds_of_unrelated_shares_are_exact() {
        // C / T for many T near 2^50, then (T - C) / T.
        let share = |place: u64| ((1 << 49) / (place + 1), (1 << 50) - 3 * place - 1);
        let mut sum = LoadSum::new();
        (0..500).map(share).for_each(|(work, window)| sum.add_ratio(work, window));
        (0..500).map(share).for_each(|(work, window)| sum.add_ratio(window - work, window));
        assert_eq!(sum.cmp_ratio(500, 1), Ordering::Equal);
        assert_eq!(sum.exact(), Utilization::whole(500));
        let mut thirds = sum.clone();
        thirds.add_ratio(1, 3);
        assert_eq!(thirds.nearest_f64().to_bits(), (500.0f64 + 1.0 / 3.0).to_bits());
        let mut whole = LoadSum::new();
        whole.add_ratio(500, 1);
        assert_eq!(sum.cmp_sum(&whole), Ordering::Equal);
        // 2^-63 is more than one unit of the fixed point, but far less than a thousand.
        sum.add_ratio(1, 1 << 63);
        assert_eq!(sum.cmp_ratio(500, 1), Ordering::Greater);
        assert_eq!(whole.cmp_sum(&sum), Ordering::Less);
    }

    fn shares() -> impl Strategy<Value = Vec<(u64, u64)>> {
        proptest::collection::vec((0u64..50, 1u64..50), 0..12)
    }

    fn sum_of(shares: &[(u64, u64)]) -> LoadSum {
        let mut sum = LoadSum::new();
        shares.iter().for_each(|&(n, d)| sum.add_ratio(n, d));
        sum
    }

    laxity_seeds::properties! {
        #[test]
        fn fast_comparisons_agree_with_rationals(a in shares(), b in shares(), n in 0u64..100, d in 1u64..50) {
            let (a, b) = (sum_of(&a), sum_of(&b));
            prop_assert_eq!(a.cmp_ratio(n, d), a.exact().cmp(&Utilization::ratio(n, d)));
            prop_assert_eq!(a.cmp_sum(&b), a.exact().cmp(&b.exact()));
            prop_assert_eq!(a.cmp_to(&b.exact()), a.exact().cmp(&b.exact()));
            prop_assert_eq!(a.cmp_to(&a.exact()), Ordering::Equal);
            prop_assert_eq!(a.to_string(), a.exact().to_string());
            prop_assert_eq!(a.nearest_f64().to_bits(), a.exact().to_f64().to_bits());
            let times = |sum: &LoadSum, factor: u64| sum.exact().times(&Utilization::whole(factor));
            for (factor, other) in [(d, n + 1), (n + 1, n + 1), (u64::MAX, u64::MAX - n), (u64::MAX, 1)] {
                prop_assert_eq!(a.cmp_times(factor, &b, other), times(&a, factor).cmp(&times(&b, other)));
            }
            prop_assert!(Utilization::from(BigRational::new(a.at_least_q64().into(), BigInt::from(1u128 << 64))) <= a.exact());
            prop_assert_eq!(a.cmp_ratio_with(&b, n, d), a.exact().plus(&b.exact()).cmp(&Utilization::ratio(n, d)));
            let both = a.exact().plus(&b.exact());
            let (n, d) = (both.as_rational().numer().to_u64(), both.as_rational().denom().to_u64());
            if let (Some(n), Some(d)) = (n, d) {
                prop_assert_eq!(a.cmp_ratio_with(&b, n, d), Ordering::Equal);
            }
        }
    }
}
