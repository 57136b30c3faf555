//! What a load leaves of some processors, and how long it takes to do work there.

use crate::TIME_MAX;
use laxity_model::LoadSum;

/// `processors` less a load: c - S, where S is a sum of shares.
///
/// S is kept as a sum of floors in units of 2^-64, which is less than one unit per share below the truth. Rationals are
/// only added up where the answer falls into that gap.
#[derive(Debug, Clone)]
pub(crate) struct Remaining {
    processors: u32,
    shares: Vec<(u64, u64)>,
    floor_q64: u128,
}

impl Remaining {
    /// All of some processors.
    pub(crate) fn of(processors: u32) -> Self {
        Remaining { processors, shares: Vec::new(), floor_q64: 0 }
    }

    /// Takes `numerator / denominator` away, at most [`TIME_MAX`] / 1. Panics if the denominator is zero.
    pub(crate) fn take(&mut self, numerator: u64, denominator: u64) {
        debug_assert!(numerator <= TIME_MAX);
        // A share is below 2^51: millions of them stay below 2^128.
        self.floor_q64 += (u128::from(numerator) << 64) / u128::from(denominator);
        if numerator > 0 {
            self.shares.push((numerator, denominator));
        }
    }

    /// ceil(work / (c - S)); nothing if that is more than `longest`, or if the load leaves nothing.
    ///
    /// O(1) divisions, unless the answer depends on less than the resolution.
    pub(crate) fn time_for(&self, work: u64, longest: u64) -> Option<u64> {
        if work == 0 {
            return Some(0);
        }
        let all = u128::from(self.processors) << 64;
        let most_left = all.checked_sub(self.floor_q64).filter(|&left| left > 0)?;
        let least_left = most_left.saturating_sub(self.shares.len() as u128);
        let work_q64 = u128::from(work) << 64;
        let shortest = u64::try_from(work_q64.div_ceil(most_left)).ok().filter(|&k| k <= longest)?;
        // The truth is above least_left, so that floor + 1 is not below the true ceiling.
        let enough = work_q64.checked_div(least_left).and_then(|floor| u64::try_from(floor + 1).ok());
        match enough {
            Some(enough) if enough <= longest => Some(self.first_that_fits(work, shortest, enough)),
            _ => self.fits(work, longest).then(|| self.first_that_fits(work, shortest, longest)),
        }
    }

    /// The first time in which the work can be done: not before the first, and at the latest in the last.
    fn first_that_fits(&self, work: u64, mut first: u64, mut last: u64) -> u64 {
        while first < last {
            let middle = first + (last - first) / 2;
            if self.fits(work, middle) {
                last = middle;
            } else {
                first = middle + 1;
            }
        }
        first
    }

    /// work <= k (c - S), exactly: S + (1 - r/k) <= floor(p/k) + 1, where p = ck - work and r = p mod k.
    fn fits(&self, work: u64, k: u64) -> bool {
        // 32 + 64 bits
        let Some(rest) = (u128::from(self.processors) * u128::from(k)).checked_sub(work.into()) else {
            return false;
        };
        let (whole, part) = (rest / u128::from(k), rest % u128::from(k));
        let narrow = |value: u128| u64::try_from(value).expect("at most the processors, or below k");
        let mut load = LoadSum::new();
        self.shares.iter().for_each(|&(numerator, denominator)| load.add_ratio(numerator, denominator));
        load.add_ratio(k - narrow(part), k);
        load.cmp_ratio(narrow(whole) + 1, 1).is_le()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::Utilization;
    use proptest::prelude::*;

    fn remaining(processors: u32, shares: &[(u64, u64)]) -> Remaining {
        let mut remaining = Remaining::of(processors);
        shares.iter().for_each(|&(numerator, denominator)| remaining.take(numerator, denominator));
        remaining
    }

    #[test]
    fn what_divides_evenly_is_not_rounded_up() {
        // 7/10 of a processor: floors alone would say 101.
        assert_eq!(remaining(1, &[(1, 10), (1, 5)]).time_for(70, 1_000), Some(100));
        assert_eq!(remaining(1, &[(1, 10), (1, 5)]).time_for(71, 1_000), Some(102));
        assert_eq!(remaining(3, &[(1, 3), (1, 3), (1, 3)]).time_for(8, 1_000), Some(4));
    }

    #[test]
    fn what_takes_too_long_or_for_ever() {
        assert_eq!(remaining(1, &[(1, 10), (1, 5)]).time_for(70, 99), None);
        assert_eq!(remaining(1, &[(1, 3), (1, 3), (1, 3)]).time_for(1, u64::MAX), None);
        assert_eq!(remaining(1, &[(4, 3)]).time_for(1, u64::MAX), None);
        assert_eq!(remaining(0, &[]).time_for(1, u64::MAX), None);
        assert_eq!(remaining(0, &[]).time_for(0, 0), Some(0));
        assert_eq!(remaining(1, &[(TIME_MAX - 1, TIME_MAX)]).time_for(3, u64::MAX), Some(3 * TIME_MAX));
    }

    laxity_seeds::properties! {
        #[test]
        fn agrees_with_rationals(
            processors in 1u32..5,
            shares in proptest::collection::vec((0u64..40, 1u64..60), 0..5),
            work in 1u64..1_000,
        ) {
            let rational = |n: u64, d: u64| Utilization::ratio(n, d).as_rational().clone();
            let load = shares.iter().fold(rational(0, 1), |sum, &(n, d)| sum + rational(n, d));
            let left = rational(processors.into(), 1) - load;
            let wanted = (left > rational(0, 1)).then(|| Utilization::from((rational(work, 1) / left).ceil()));
            let found = remaining(processors, &shares).time_for(work, u64::MAX).map(Utilization::whole);
            prop_assert_eq!(found, wanted);
        }
    }
}
