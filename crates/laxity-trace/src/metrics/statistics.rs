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
        let mean = mean(values.iter().copied())?;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let sd = (values.len() > 1).then(|| (squares / count(values.len() - 1)).sqrt());
        Some(Sample { mean, sd })
    }
}

/// The mean of the values, which are added in their order; nothing if there are none.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (number, sum) = values.into_iter().fold((0, 0.0), |(number, sum), value| (number + 1, sum + value));
    (number > 0).then(|| sum / count(number))
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

/// What mean and sample standard deviation need, in exact integers: the one place that computes them of what is added one by one,
/// whatever is counted. The order in which values are added or sums merged never matters.
///
/// Sums saturate, so that nothing panics however damaged the file is that they come from. Where the sum of squares does, the
/// standard deviation is unknown, which is `None`: four values of 2^63 (292 years in ns) reach that, 10^8 of 10^15 (11 days) do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moments {
    n: u64,
    #[serde(with = "decimal")]
    sum: i128,
    #[serde(with = "decimal")]
    squares: u128,
}

/// JSON has no integers of this size that all its readers agree on.
mod decimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::fmt::Display;
    use std::str::FromStr;

    pub fn serialize<N: Display, S: Serializer>(number: &N, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub fn deserialize<'de, N: FromStr<Err: Display>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<N, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Moments {
    /// One more value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.take(value.into(), value);
    }

    /// One more value, which may be below 0.
    pub fn add_signed(&mut self, value: i64) {
        self.take(value.into(), value.unsigned_abs());
    }

    #[inline]
    fn take(&mut self, value: i128, size: u64) {
        let size = u128::from(size);
        self.n = self.n.saturating_add(1);
        self.sum = self.sum.saturating_add(value);
        self.squares = self.squares.saturating_add(size * size);
    }

    /// The values of `other` as well.
    pub fn merge(&mut self, other: &Moments) {
        self.n = self.n.saturating_add(other.n);
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// How many values there are.
    #[inline]
    pub fn count(&self) -> u64 {
        self.n
    }

    /// The mean, in the unit of the values: the exact fraction, rounded once. Nothing if there are no values.
    pub fn mean(&self) -> Option<f64> {
        ratio(self.sum, self.n.into())
    }

    /// The mean, to the nearest integer, and from the middle between two upwards. Nothing if there are no values.
    pub fn mean_to_nearest(&self) -> Option<i128> {
        let n = i128::from(self.n);
        self.sum.checked_mul(2)?.checked_add(n)?.checked_div_euclid(2 * n)
    }

    /// The mean, rounded up to an integer. Nothing if there are no values.
    pub fn mean_rounded_up(&self) -> Option<i128> {
        let n = i128::from(self.n);
        let (quotient, rest) = (self.sum.checked_div_euclid(n)?, self.sum.checked_rem_euclid(n)?);
        Some(quotient + i128::from(rest > 0))
    }

    /// The sample standard deviation (n - 1), in the unit of the values. Nothing for fewer than two values.
    ///
    /// Integers up to the last divisions: with c the mean to the nearest and d = sum - n c, the squared deviations from the mean sum
    /// to squares - c (sum + d) - d^2/n. Nothing cancels, for |d| is at most n/2.
    #[expect(clippy::cast_precision_loss, reason = "exact sums become floats last")]
    pub fn sd(&self) -> Option<f64> {
        if self.n < 2 || self.squares == u128::MAX {
            return None;
        }
        let centre = self.mean_to_nearest()?;
        let deviation = self.sum - i128::from(self.n) * centre;
        // What is subtracted need not fit, and the difference does: it is not above the sum of squares, which does.
        let around = self.squares.wrapping_sub(centre.wrapping_mul(self.sum + deviation).cast_unsigned());
        let n = self.n as f64;
        let variance = (around as f64 - (deviation * deviation) as f64 / n) / (self.n - 1) as f64;
        Some(variance.max(0.0).sqrt())
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
        // Products of sums would not fit 128 bits long before that.
        let (mut wide, mut all) = (Moments::default(), Moments::default());
        wide.add(0);
        wide.add(1 << 40);
        for _ in 0..30 {
            all = wide;
            wide.merge(&all);
        }
        let n = all.count() as f64;
        assert_eq!(all.sd(), Some((2.0f64.powi(78) * n / (n - 1.0)).sqrt()));
        let below: Vec<i64> = near.iter().map(|&value| i64::try_from(value).expect("small") - 7).collect();
        let mut moments = Moments::default();
        below.iter().for_each(|&value| moments.add_signed(value));
        assert_eq!((moments.sd(), moments.mean()), (sd(&near), Some(-1.0)));
    }

    #[test]
    fn means_are_rounded_as_they_say() {
        let rounded = |values: &[i64]| {
            let mut moments = Moments::default();
            values.iter().for_each(|&value| moments.add_signed(value));
            (moments.mean_to_nearest(), moments.mean_rounded_up())
        };
        assert_eq!(rounded(&[]), (None, None));
        assert_eq!(rounded(&[1, 2]), (Some(2), Some(2)));
        assert_eq!(rounded(&[1, 1, 2]), (Some(1), Some(2)));
        assert_eq!(rounded(&[-1, -2]), (Some(-1), Some(-1)));
        assert_eq!(rounded(&[-1, -2, -2]), (Some(-2), Some(-1)));
        assert_eq!(rounded(&[i64::MIN, i64::MIN]), (Some(i64::MIN.into()), Some(i64::MIN.into())));
    }

    #[test]
    fn sums_of_nonsense_are_unknown_and_no_panic() {
        let most = i128::MAX.to_string();
        let text = format!(r#"{{"n":18446744073709551615,"sum":"{most}","squares":"5"}}"#);
        let mut moments: Moments = serde_json::from_str(&text).expect("numbers");
        moments.merge(&moments.clone());
        assert_eq!((moments.sd(), moments.mean_to_nearest()), (None, None));
    }

    laxity_seeds::properties! {
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
