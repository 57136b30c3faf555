//! Monotone piecewise-linear functions of whole numbers: overheads of n, delays of working-set sizes.
//!
//! 1. From samples (x, y): y is raised to that of any smaller x (y_i <- max(y_{i-1}, y_i)), because more tasks or
//!    memory never cost less and a dip is noise.
//! 2. Between samples the function is linear, in exact integers, rounded up.
//! 3. Below the first sample it is the first value: safe, because the function is monotone.
//! 4. Beyond the last sample it goes on with the slope between the last two; a single sample is a constant. A constant
//!    would be optimistic there. Values never exceed [`COST_MAX`].

use super::COST_MAX;
use laxity_model::{Diagnostic, Duration, Result};

/// A non-decreasing function from whole numbers to time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PiecewiseLinear {
    /// Samples with ascending x and non-decreasing y.
    points: Vec<(u64, u64)>,
}

impl PiecewiseLinear {
    /// Through the upper envelope of samples, which may come in any order.
    ///
    /// # Errors
    ///
    /// No sample, an x that is there twice, or a time above [`COST_MAX`].
    pub fn new(samples: impl IntoIterator<Item = (u64, Duration)>) -> Result<Self> {
        let mut points: Vec<(u64, u64)> = Vec::new();
        for (x, y) in samples {
            points.push((x, super::cost::checked(y)?.as_ns()));
        }
        points.sort_by_key(|&(x, _)| x);
        if points.is_empty() {
            return Err(
                Diagnostic::usage("a piecewise-linear function has no points").hint("give at least one")
            );
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Diagnostic::usage(format!("there are two values at {}", pair[0].0))
                .hint("give one value per point, the largest that was measured"));
        }
        let mut highest = 0;
        for (_, y) in &mut points {
            highest = highest.max(*y);
            *y = highest;
        }
        Ok(PiecewiseLinear { points })
    }

    /// The value at `x`, in ns.
    pub fn at(&self, x: u64) -> u64 {
        let after = self.points.partition_point(|&(known, _)| known < x);
        let (below, above) = match (after, self.points.get(after)) {
            (_, Some(&(known, y))) if known == x => return y,
            (0, _) => return self.points[0].1,
            (_, Some(&above)) => (self.points[after - 1], above),
            (1, None) => return self.points[0].1,
            (_, None) => (self.points[after - 2], self.points[after - 1]),
        };
        let rise = u128::from(above.1 - below.1) * u128::from(x - below.0);
        let value = u128::from(below.1) + rise.div_ceil(u128::from(above.0 - below.0));
        u64::try_from(value).unwrap_or(u64::MAX).min(COST_MAX.as_ns())
    }

    /// Samples with ascending x and non-decreasing y, in ns, that make this function.
    pub(super) fn points(&self) -> &[(u64, u64)] {
        &self.points
    }

    /// The largest x that has a sample; beyond it the function is extrapolated.
    pub fn last_x(&self) -> u64 {
        self.points.last().expect("has a point").0
    }

    /// Zero everywhere.
    pub fn is_zero(&self) -> bool {
        self.points.iter().all(|&(_, y)| y == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn function(samples: &[(u64, u64)]) -> PiecewiseLinear {
        PiecewiseLinear::new(samples.iter().map(|&(x, y)| (x, Duration::from_ns(y)))).expect("valid")
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
        assert_eq!((function(&[(5, 7)]).at(0), function(&[(5, 7)]).at(500)), (7, 7));
    }

    #[test]
    fn is_the_upper_envelope_of_samples_in_any_order() {
        let f = function(&[(30, 500), (10, 900), (20, 100), (40, 1_000)]);
        assert_eq!([5, 10, 15, 20, 30, 35, 40].map(|x| f.at(x)), [900, 900, 900, 900, 900, 950, 1_000]);
    }

    #[test]
    fn never_exceeds_the_largest_cost() {
        let f = function(&[(0, 0), (1, COST_MAX.as_ns())]);
        assert_eq!((f.at(2), f.at(u64::MAX)), (COST_MAX.as_ns(), COST_MAX.as_ns()));
        let error = PiecewiseLinear::new([(0, COST_MAX + Duration::from_ns(1))]).expect_err("too long");
        assert!(error.message.contains("1000s"), "{error}");
    }

    #[test]
    fn refuses_no_points_and_two_values_at_one() {
        assert!(PiecewiseLinear::new([]).is_err());
        let twice = [(3, Duration::ZERO), (4, Duration::ZERO), (3, Duration::ZERO)];
        assert!(PiecewiseLinear::new(twice).expect_err("twice").message.contains("two values at 3"));
    }

    proptest! {
        #[test]
        fn monotone_above_every_sample_and_within_a_nanosecond_of_the_line(
            samples in proptest::collection::btree_map(0u64..1_000, 0u64..1_000_000, 1..12),
            xs in proptest::collection::vec(0u64..1_100, 2),
        ) {
            let samples: Vec<(u64, u64)> = samples.into_iter().collect();
            let f = function(&samples);
            prop_assert!(samples.iter().all(|&(x, y)| f.at(x) >= y));
            let (low, high) = (xs[0].min(xs[1]), xs[0].max(xs[1]));
            prop_assert!(f.at(low) <= f.at(high));
            // The line between the enveloped neighbours, in floats.
            let envelope = |x: u64| samples.iter().filter(|s| s.0 <= x).map(|s| s.1).max();
            let before = samples.iter().rev().find(|s| s.0 <= low).map(|s| s.0);
            let after = samples.iter().find(|s| s.0 > low).map(|s| s.0);
            if let (Some(before), Some(after)) = (before, after) {
                let (y0, y1) = (envelope(before).unwrap() as f64, envelope(after).unwrap() as f64);
                let exact = y0 + (y1 - y0) * (low - before) as f64 / (after - before) as f64;
                let found = f.at(low) as f64;
                prop_assert!(found >= exact - 1e-6 && found < exact + 1.0 + 1e-6, "{} is not {}", found, exact);
            }
        }
    }
}
