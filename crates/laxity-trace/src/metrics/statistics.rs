//! Means, standard deviations and ranks.
//!
//! Sums are exact integers; a value becomes a float last. The standard deviation is the sample one
//! (n - 1 in the denominator), because the runs and task sets measured are a sample of those that could have
//! been; of a single value it is unknown, which is `None` and not zero.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Mean and sample standard deviation of a few values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n - 1); nothing for a single value.
    pub sd: Option<f64>,
}

impl Sample {
    /// Of these values; nothing if there are none.
    pub fn of(values: &[f64]) -> Option<Sample> {
        let mean = mean(values)?;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let sd = (values.len() > 1).then(|| (squares / count(values.len() - 1)).sqrt());
        Some(Sample { mean, sd })
    }
}

/// The mean of the values; nothing if there are none.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values.len()))
}

/// The exact fraction, rounded once. Nothing if `denominator` is 0.
#[expect(clippy::cast_precision_loss, reason = "the one place where exact sums become floats")]
pub(super) fn ratio(numerator: i128, denominator: i128) -> Option<f64> {
    (denominator != 0).then(|| numerator as f64 / denominator as f64)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of values are far below 2^53")]
fn count(values: usize) -> f64 {
    values as f64
}

/// The smallest of the ascending values that at least `permille`/1000 of them do not exceed.
pub fn nearest_rank(sorted: &[u64], permille: u32) -> Option<u64> {
    let count = u64::try_from(sorted.len()).ok()?;
    sorted.get(usize::try_from(nearest_rank_index(count, permille)).ok()?).copied()
}

/// The place, from 0, of the nearest rank among `count` ascending values: ceil(count * permille/1000) - 1, at
/// least 0. `permille` is at most 1000.
pub(super) fn nearest_rank_index(count: u64, permille: u32) -> u64 {
    let rank = (u128::from(count) * u128::from(permille)).div_ceil(1000).max(1);
    u64::try_from(rank - 1).expect("at most the number of values")
}

/// What mean and standard deviation need, in exact integers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moments {
    pub(super) count: u64,
    sum: u128,
    /// Saturates: from then on the standard deviation is unknown. Four values of 292 years each reach it.
    squares: u128,
}

impl Moments {
    /// One more value.
    #[inline]
    pub(super) fn add(&mut self, value: u64) {
        let value = u128::from(value);
        self.count += 1;
        self.sum += value;
        self.squares = self.squares.saturating_add(value * value);
    }

    /// The values of `other` as well.
    pub(super) fn merge(&mut self, other: &Moments) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// The mean; nothing if there are no values.
    pub(super) fn mean(&self) -> Option<f64> {
        ratio(i128::try_from(self.sum).ok()?, self.count.into())
    }

    /// Sample standard deviation; nothing for fewer than two values. Exact up to the last division: with
    /// sum = q n + r, the squared deviations from the mean sum to squares - q (sum + r) - r^2/n.
    #[expect(clippy::cast_precision_loss, reason = "exact sums become floats last")]
    pub(super) fn sd(&self) -> Option<f64> {
        let n = u128::from(self.count);
        if n < 2 || self.squares == u128::MAX {
            return None;
        }
        let (q, r) = (self.sum / n, self.sum % n);
        // q * sum <= sum^2/n <= squares, and q * r <= sum: nothing here leaves 128 bits.
        let around_q = self.squares - q * self.sum - q * r;
        let (whole, rest) = (r * r / n, r * r % n);
        let deviations = (around_q - whole) as f64 - rest as f64 / n as f64;
        Some((deviations.max(0.0) / (n - 1) as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sd(values: &[u64]) -> Option<f64> {
        let mut moments = Moments::default();
        values.iter().for_each(|&value| moments.add(value));
        moments.sd()
    }

    #[test]
    fn standard_deviation_is_the_sample_one() {
        // Deviations from 5: -3 -1 -1 -1 0 0 2 4, squares 9 1 1 1 0 0 4 16 = 32; 32/7 under the root.
        let sample = Sample::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("values");
        assert_eq!(sample, Sample { mean: 5.0, sd: Some((32.0f64 / 7.0).sqrt()) });
        assert_eq!(sd(&[2, 4, 4, 4, 5, 5, 7, 9]), Some((32.0f64 / 7.0).sqrt()));
        assert_eq!(Sample::of(&[3.0]), Some(Sample { mean: 3.0, sd: None }));
        assert_eq!(Sample::of(&[]), None);
        assert_eq!((sd(&[]), sd(&[7])), (None, None));
        // Mean 1.5 is not an integer: deviations -0.5 and 0.5, variance 0.5.
        assert_eq!(sd(&[1, 2]), Some(0.5f64.sqrt()));
    }

    #[test]
    fn standard_deviation_is_exact_up_to_the_last_division() {
        // A constant added to values changes nothing, however large it is.
        let near = [0, 1, 3, 10, 10, 12];
        let far: Vec<u64> = near.iter().map(|value| value + (1 << 62)).collect();
        assert_eq!(sd(&far[..3]), sd(&near[..3]));
        assert_eq!(sd(&[u64::MAX >> 1; 3]), Some(0.0));
        // The sum of squares does not fit 128 bits: unknown, and no panic.
        assert_eq!(sd(&[u64::MAX; 3]), None);
    }

    proptest! {
        #[test]
        fn standard_deviation_agrees_with_the_one_in_two_passes(
            values in proptest::collection::vec(0u64..1 << 40, 2..200)
        ) {
            let n = values.len() as f64;
            let mean = values.iter().map(|&v| v as f64).sum::<f64>() / n;
            let squares: f64 = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum();
            let wanted = (squares / (n - 1.0)).sqrt();
            let found = sd(&values).expect("two or more");
            prop_assert!((found - wanted).abs() <= 1e-9 * wanted.max(1.0), "{} is not {}", found, wanted);
        }
    }
}
