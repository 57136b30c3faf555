//! Monotone piecewise-linear functions: overheads of the number of tasks, delays of working-set sizes.
//!
//! 1. Samples are raised to the largest before them, y_i <- max(y_(i-1), y_i): more tasks or memory never cost less, and a
//!    dip is noise (ackelman2018, 6.3).
//! 2. Between samples the function is linear, exact, and rounded up to whole ns.
//! 3. Before the first sample it has the first one's value: safe, as it is monotone. (SchedCAT goes on with the first
//!    slope, below anything measured.)
//! 4. Beyond the last sample it goes on with the slope between the last two, as SchedCAT does; a single sample is a
//!    constant. The papers do not say. A constant would be optimistic there; that it is extrapolated can be asked.
//!
//! O(log samples).

use crate::TIME_MAX;
use laxity_model::{Diagnostic, Result};

/// A non-decreasing function from whole numbers to ns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Monotone {
    /// Ascending x, non-decreasing y; at least one.
    samples: Vec<(u64, u64)>,
}

impl Monotone {
    /// The same everywhere; at most [`TIME_MAX`], which no task survives.
    pub fn constant(ns: u64) -> Self {
        Monotone { samples: vec![(0, ns.min(TIME_MAX))] }
    }

    /// Through samples (x, ns), in any order, after they have been raised to the largest before them.
    ///
    /// # Errors
    ///
    /// There is no sample, an x is there twice, or a value exceeds [`TIME_MAX`].
    pub fn through(samples: impl IntoIterator<Item = (u64, u64)>) -> Result<Self> {
        let mut samples: Vec<(u64, u64)> = samples.into_iter().collect();
        samples.sort_unstable();
        if samples.is_empty() {
            return Err(Diagnostic::usage("there are no samples").hint("give at least one"));
        }
        if let Some(pair) = samples.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Diagnostic::usage(format!("there are two values at {}", pair[0].0))
                .hint("give one value per point, the largest that was measured"));
        }
        if let Some((x, ns)) = samples.iter().find(|(_, ns)| *ns > TIME_MAX) {
            return Err(Diagnostic::usage(format!("{ns} ns at {x} is more than 2^50 ns (13 days)"))
                .hint("give overheads in microseconds"));
        }
        let mut largest = 0;
        for (_, ns) in &mut samples {
            largest = largest.max(*ns);
            *ns = largest;
        }
        Ok(Monotone { samples })
    }

    /// The value at `x` in ns, rounded up; at most [`TIME_MAX`], which no task survives.
    pub fn at(&self, x: u64) -> u64 {
        let samples = self.samples.as_slice();
        let after = samples.partition_point(|&(known, _)| known < x);
        let (one, other) = match (after, samples.get(after)) {
            (0, _) | (1, None) => return samples[0].1,
            (_, Some(&(known, ns))) if known == x => return ns,
            (_, Some(&above)) => (samples[after - 1], above),
            (_, None) => (samples[after - 2], samples[after - 1]),
        };
        // 50 + 64 bits
        let rise = u128::from(other.1 - one.1) * u128::from(x - one.0);
        let value = u128::from(one.1) + rise.div_ceil(u128::from(other.0 - one.0));
        u64::try_from(value).unwrap_or(u64::MAX).min(TIME_MAX)
    }

    /// Whether nothing was measured at or beyond `x`: the value there is extrapolated. Constants hold everywhere.
    pub fn is_extrapolated(&self, x: u64) -> bool {
        self.samples.len() > 1 && self.samples.last().is_some_and(|&(last, _)| x > last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn function(samples: &[(u64, u64)]) -> Monotone {
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
    fn before_the_first_sample_it_is_constant_and_beyond_the_last_it_goes_on() {
        let f = function(&[(10, 10), (20, 14), (30, 16)]);
        assert_eq!([0, 9, 31, 40, 50].map(|x| f.at(x)), [10, 10, 17, 18, 20]);
        assert_eq!([9, 30, 31].map(|x| f.is_extrapolated(x)), [false, false, true]);
        assert_eq!(function(&[(10, 10), (20, 14), (30, 3)]).at(90), 14, "the last slope is flat");
        let one = function(&[(7, 3)]);
        assert_eq!(([0, 7, 99].map(|x| one.at(x)), one.is_extrapolated(99)), ([3; 3], false));
        assert_eq!(function(&[(0, 0), (1, TIME_MAX)]).at(u64::MAX), TIME_MAX);
        assert_eq!(Monotone::constant(u64::MAX).at(5), TIME_MAX);
    }

    #[test]
    fn refuses_what_is_no_function() {
        for (samples, part) in [
            (vec![], "no samples"),
            (vec![(1, 2), (3, 4), (1, 2)], "two values at 1"),
            (vec![(1, TIME_MAX + 1)], "2^50"),
        ] {
            let error = Monotone::through(samples).expect_err(part);
            assert!(error.message.contains(part) && error.hint.is_some(), "{error}");
        }
    }

    proptest! {
        #[test]
        fn it_never_falls_and_never_is_below_a_sample(
            samples in proptest::collection::btree_map(0u64..200, 0u64..1_000, 1..8),
            xs in proptest::collection::vec(0u64..300, 2),
        ) {
            let f = Monotone::through(samples.clone()).expect("valid");
            prop_assert!(f.at(xs[0].min(xs[1])) <= f.at(xs[0].max(xs[1])));
            prop_assert!(samples.iter().all(|(&x, &ns)| f.at(x) >= ns));
        }
    }
}
