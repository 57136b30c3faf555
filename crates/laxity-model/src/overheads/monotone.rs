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

use crate::{Diagnostic, Duration, Result};

/// A non-decreasing function from whole numbers to ns, nowhere above `MOST_NS`.
///
/// The most is part of the type, so that functions for one use, with the sums that fit there, are not taken for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Monotone<const MOST_NS: u64> {
    /// Ascending x, non-decreasing y; at least one.
    samples: Vec<(u64, u64)>,
}

impl<const MOST_NS: u64> Monotone<MOST_NS> {
    /// The largest value.
    pub const MOST: Duration = Duration::from_ns(MOST_NS);

    /// The same everywhere; at most [`Self::MOST`].
    pub fn constant(ns: u64) -> Self {
        Monotone { samples: vec![(0, ns.min(MOST_NS))] }
    }

    /// Through samples (x, ns), in any order, after they have been raised to the largest before them.
    ///
    /// # Errors
    ///
    /// There is no sample, an x is there twice, or a value exceeds [`Self::MOST`].
    pub fn through(samples: impl IntoIterator<Item = (u64, u64)>) -> Result<Self> {
        let mut samples: Vec<(u64, u64)> = samples.into_iter().collect();
        samples.sort_unstable();
        if samples.is_empty() {
            return Err(Diagnostic::usage("there are no points").hint("give at least one"));
        }
        if let Some(pair) = samples.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Diagnostic::usage(format!("there are two values at {}", pair[0].0))
                .hint("give one value per point, the largest that was measured"));
        }
        if let Some(&(x, ns)) = samples.iter().find(|&&(_, ns)| ns > MOST_NS) {
            let value = Duration::from_ns(ns);
            return Err(Diagnostic::usage(format!("{value} at {x} is more than {}, the limit", Self::MOST))
                .hint("overheads are nanoseconds to milliseconds"));
        }
        let mut largest = 0;
        for (_, ns) in &mut samples {
            largest = largest.max(*ns);
            *ns = largest;
        }
        Ok(Monotone { samples })
    }

    /// The value at `x` in ns, rounded up; at most [`Self::MOST`].
    pub fn at(&self, x: u64) -> u64 {
        let samples = self.samples.as_slice();
        let after = samples.partition_point(|&(known, _)| known < x);
        let (one, other) = match (after, samples.get(after)) {
            (0, _) | (1, None) => return samples[0].1,
            (_, Some(&(known, ns))) if known == x => return ns,
            (_, Some(&above)) => (samples[after - 1], above),
            (_, None) => (samples[after - 2], samples[after - 1]),
        };
        // 64 + 64 bits.
        let rise = u128::from(other.1 - one.1) * u128::from(x - one.0);
        let value = u128::from(one.1).saturating_add(rise.div_ceil(u128::from(other.0 - one.0)));
        u64::try_from(value).unwrap_or(u64::MAX).min(MOST_NS)
    }

    /// Whether nothing was measured at or beyond `x`: the value there is extrapolated. Constants hold everywhere.
    pub fn is_extrapolated(&self, x: u64) -> bool {
        self.samples.len() > 1 && x > self.last_x()
    }

    /// The largest x that has a sample.
    pub fn last_x(&self) -> u64 {
        self.samples.last().expect("at least one").0
    }

    /// The samples (x, ns) that make this function: ascending x, non-decreasing ns.
    pub fn samples(&self) -> &[(u64, u64)] {
        &self.samples
    }

    /// Whether it is zero everywhere.
    pub fn is_zero(&self) -> bool {
        self.samples.iter().all(|&(_, ns)| ns == 0)
    }
}

#[cfg(test)]
mod tests;
