//! Means, standard deviations and percentiles.
//!
//! Sums are exact integers (i128); a value becomes a float last. The standard deviation is the sample one
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

/// Response times: finish minus nominal release, in ns. Percentiles are values that occurred (nearest rank).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseTimes {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// The longest.
    pub max: u64,
}

impl ResponseTimes {
    /// Of ascending response times; nothing if there are none.
    pub(super) fn of(sorted: &[u64]) -> Option<ResponseTimes> {
        let sum: i128 = sorted.iter().map(|&response| i128::from(response)).sum();
        let rank = |permille| nearest_rank(sorted, permille);
        Some(ResponseTimes {
            mean: ratio(sum, i128::try_from(sorted.len()).ok()?)?,
            p50: rank(500)?,
            p90: rank(900)?,
            p95: rank(950)?,
            p99: rank(990)?,
            p99_9: rank(999)?,
            max: rank(1000)?,
        })
    }
}

/// The smallest of the ascending values that at least `permille`/1000 of them do not exceed.
pub fn nearest_rank(sorted: &[u64], permille: u32) -> Option<u64> {
    let rank = (sorted.len() as u128 * u128::from(permille)).div_ceil(1000).max(1);
    sorted.get(usize::try_from(rank - 1).ok()?).copied()
}

/// Sample standard deviation of ascending values; nothing for fewer than two. The order is part of the
/// contract: floats are summed in it, so that the result does not depend on the order of the jobs.
pub(super) fn sd_of_sorted(sorted: &[u64]) -> Option<f64> {
    let sum: i128 = sorted.iter().map(|&value| i128::from(value)).sum();
    let n = i128::try_from(sorted.len()).ok()?;
    let mean = sum.checked_div(n)?;
    // Deviations from the truncated mean are small integers; the second term makes up for the truncation.
    let from_mean = |&value: &u64| ratio(i128::from(value) - mean, 1).unwrap_or_default();
    let squares: f64 = sorted.iter().map(from_mean).map(|deviation| deviation * deviation).sum();
    let rest = ratio(sum - mean * n, 1)?;
    let variance = (squares - rest * rest / count(sorted.len())) / count(sorted.len().checked_sub(1)?);
    (sorted.len() > 1).then(|| variance.max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_deviation_is_the_sample_one() {
        // Deviations from 5: -3 -1 -1 -1 0 0 2 4, squares 9 1 1 1 0 0 4 16 = 32; 32/7 under the root.
        let sample = Sample::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("values");
        assert_eq!(sample, Sample { mean: 5.0, sd: Some((32.0f64 / 7.0).sqrt()) });
        assert_eq!(sd_of_sorted(&[2, 4, 4, 4, 5, 5, 7, 9]), Some((32.0f64 / 7.0).sqrt()));
        assert_eq!(Sample::of(&[3.0]), Some(Sample { mean: 3.0, sd: None }));
        assert_eq!(Sample::of(&[]), None);
        assert_eq!((sd_of_sorted(&[]), sd_of_sorted(&[7])), (None, None));
        // Mean 1.5 is not an integer: deviations -0.5 and 0.5, variance 0.5.
        assert_eq!(sd_of_sorted(&[1, 2]), Some(0.5f64.sqrt()));
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let ten: Vec<u64> = (1..=10).map(|k| k * 10).collect();
        // ceil(0.5*10)=5th, ceil(0.9*10)=9th, ceil(0.95*10)=10th.
        let times = ResponseTimes::of(&ten).expect("values");
        assert_eq!((times.p50, times.p90, times.p95, times.p99, times.max), (50, 90, 100, 100, 100));
        let thousand: Vec<u64> = (1..=1000).collect();
        let times = ResponseTimes::of(&thousand).expect("values");
        assert_eq!((times.p99, times.p99_9, times.max, times.mean), (990, 999, 1000, 500.5));
        assert_eq!(ResponseTimes::of(&[7]).map(|t| (t.p50, t.p99_9, t.max)), Some((7, 7, 7)));
        assert_eq!(ResponseTimes::of(&[]), None);
    }
}
