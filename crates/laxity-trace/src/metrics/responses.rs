//! Response times as they come, in memory that does not grow with time.
//!
//! 1. A few response times are kept as they are; their percentiles are exact (nearest rank).
//! 2. More are counted in classes: every power of two is split into 128 of equal width, so that a class is
//!    at most 1/128 as wide as the values in it (the log-linear histogram of HdrHistogram). Below 256 ns a class is
//!    a single value. A percentile is then the upper end of the class with the nearest rank, but never more than
//!    the maximum: it is at most 1/128 above the exact one, and never below it.
//! 3. Count, sum, sum of squares and maximum are exact integers in both cases, and with them mean and standard
//!    deviation.
//! 4. The order of the values never matters, and neither does the order in which tasks are merged.
//!
//! Complexity: O(1) per value; percentiles are O(values kept or classes). Memory: 8 bytes per value kept, 1 KiB
//! per power of two between the shortest and the longest value counted.

use super::classes::Classes;
use super::statistics::{Moments, nearest_rank_index};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Response times: finish minus nominal release, in ns.
///
/// Percentiles are values that occurred (nearest rank), unless `approximate` says otherwise.
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
    /// There were too many jobs to keep every response time: the percentiles (not mean and max) are rounded up by
    /// at most 1/128.
    #[serde(default)]
    pub approximate: bool,
}

const PERMILLES: [u32; 5] = [500, 900, 950, 990, 999];

/// Response times of one task, or of several.
#[derive(Debug, Clone)]
pub(super) struct Responses {
    moments: Moments,
    max: u64,
    /// Up to this many are kept as they are.
    exact_max: usize,
    kept: Kept,
}

#[derive(Debug, Clone)]
enum Kept {
    /// In the order in which they came.
    Exact(Vec<u64>),
    Classes(Classes),
}

impl Responses {
    /// None yet; up to `exact_max` will be kept as they are.
    pub(super) fn new(exact_max: usize) -> Self {
        Responses { moments: Moments::default(), max: 0, exact_max, kept: Kept::Exact(Vec::new()) }
    }

    /// One more, in ns.
    #[inline(always)]
    pub(super) fn add(&mut self, response: u64) {
        self.moments.add(response);
        self.max = self.max.max(response);
        match &mut self.kept {
            Kept::Classes(classes) => classes.add(response, 1),
            Kept::Exact(values) if values.len() < self.exact_max => values.push(response),
            Kept::Exact(_) => self.classes().add(response, 1),
        }
    }

    /// All of `other` as well.
    pub(super) fn merge(&mut self, other: &Responses) {
        self.moments.merge(&other.moments);
        self.max = self.max.max(other.max);
        match (&mut self.kept, &other.kept) {
            (Kept::Exact(values), Kept::Exact(more)) if values.len() + more.len() <= self.exact_max => {
                values.extend_from_slice(more);
            }
            (_, Kept::Exact(more)) => {
                let classes = self.classes();
                more.iter().for_each(|&response| classes.add(response, 1));
            }
            (_, Kept::Classes(more)) => self.classes().merge(more),
        }
    }

    /// The classes, from now on.
    #[cold]
    fn classes(&mut self) -> &mut Classes {
        if let Kept::Exact(values) = &mut self.kept {
            let mut classes = Classes::default();
            values.iter().for_each(|&response| classes.add(response, 1));
            self.kept = Kept::Classes(classes);
        }
        match &mut self.kept {
            Kept::Classes(classes) => classes,
            Kept::Exact(_) => unreachable!("replaced above"),
        }
    }

    /// How many there are.
    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.moments.count()
    }

    /// Sample standard deviation in ns; nothing for fewer than two.
    pub(super) fn sd(&self) -> Option<f64> {
        self.moments.sd()
    }

    /// Percentiles, mean and maximum; nothing if there are none.
    pub(super) fn summary(&self) -> Option<ResponseTimes> {
        let (percentiles, approximate) = match &self.kept {
            Kept::Exact(values) => (percentiles_of(&mut values.clone())?, false),
            Kept::Classes(classes) => (percentiles_of_classes(classes, self.count(), self.max), true),
        };
        let [p50, p90, p95, p99, p99_9] = percentiles;
        Some(ResponseTimes {
            mean: self.moments.mean()?,
            p50,
            p90,
            p95,
            p99,
            p99_9,
            max: self.max,
            approximate,
        })
    }
}

/// The nearest ranks of values in any order, by selection: each search goes on above the one before.
fn percentiles_of(values: &mut [u64]) -> Option<[u64; 5]> {
    let count = u64::try_from(values.len()).ok().filter(|&count| count > 0)?;
    let mut below = 0;
    let mut rest = values;
    Some(PERMILLES.map(|permille| {
        let rank = usize::try_from(nearest_rank_index(count, permille)).expect("less than the length");
        let all = std::mem::take(&mut rest);
        let (_, &mut value, _) = all.select_nth_unstable(rank - below);
        rest = &mut all[rank - below..];
        below = rank;
        value
    }))
}

/// The same of `count` values in classes, of which `max` is the longest: upper ends of classes.
fn percentiles_of_classes(classes: &Classes, count: u64, max: u64) -> [u64; 5] {
    let mut classes = classes.ends();
    let (mut up_to, mut end) = (0, 0);
    PERMILLES.map(|permille| {
        let rank = nearest_rank_index(count, permille);
        while up_to <= rank {
            let (ends, in_class) = classes.next().expect("ranks are below the number of values");
            (up_to, end) = (up_to + in_class, *ends.end());
        }
        end.min(max)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn responses(values: &[u64], exact_max: usize) -> Responses {
        let mut responses = Responses::new(exact_max);
        values.iter().for_each(|&value| responses.add(value));
        responses
    }

    fn of(values: &[u64]) -> Option<ResponseTimes> {
        responses(values, usize::MAX).summary()
    }

    fn all(times: ResponseTimes) -> [u64; 6] {
        [times.p50, times.p90, times.p95, times.p99, times.p99_9, times.max]
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let ten: Vec<u64> = (1..=10).rev().map(|k| k * 10).collect();
        // ceil(0.5*10)=5th, ceil(0.9*10)=9th, ceil(0.95*10)=10th.
        let times = of(&ten).expect("values");
        assert_eq!((times.p50, times.p90, times.p95, times.p99, times.max), (50, 90, 100, 100, 100));
        let thousand: Vec<u64> = (1..=1000).collect();
        let times = of(&thousand).expect("values");
        assert_eq!((times.p99, times.p99_9, times.max, times.mean), (990, 999, 1000, 500.5));
        assert!(!times.approximate);
        assert_eq!(of(&[7]).map(all), Some([7; 6]));
        assert_eq!(of(&[]), None);
        assert_eq!(responses(&[], 0).summary(), None);
    }

    #[test]
    fn memory_is_bounded_by_powers_of_two() {
        let mut responses = Responses::new(4);
        (0..100_000u64).for_each(|k| responses.add(1_000_000 + k * 37 % 5_000_000));
        let Kept::Classes(classes) = &responses.kept else { panic!("100000 are not kept") };
        assert!(classes.ends().count() <= 4 * 128, "{}", classes.ends().count());
        assert_eq!(classes.ends().map(|(_, count)| count).sum::<u64>(), 100_000);
    }

    /// Values of every magnitude.
    fn any_values(most: usize) -> impl Strategy<Value = Vec<u64>> {
        proptest::collection::vec((any::<u64>(), 1u32..64).prop_map(|(value, shift)| value >> shift), 1..most)
    }

    laxity_seeds::properties! {
        #[test]
        fn classes_are_at_most_a_128th_above_the_exact_percentiles(values in any_values(400)) {
            let (exact, classes) = (of(&values).expect("values"), responses(&values, 0).summary().expect("values"));
            prop_assert_eq!((exact.approximate, classes.approximate), (false, true));
            prop_assert_eq!((exact.mean, exact.max), (classes.mean, classes.max));
            for (exact, rounded) in all(exact).into_iter().zip(all(classes)) {
                prop_assert!((exact..=classes.max).contains(&rounded), "{} of {}", rounded, exact);
                prop_assert!(u128::from(rounded - exact) * 128 <= u128::from(exact), "{} of {}", rounded, exact);
            }
        }

        #[test]
        fn selection_agrees_with_sorting(values in any_values(300)) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let wanted = PERMILLES.map(|permille| super::super::nearest_rank(&sorted, permille));
            let times = of(&values).expect("values");
            let found = [times.p50, times.p90, times.p95, times.p99, times.p99_9];
            prop_assert_eq!(found.map(Some), wanted);
        }

        #[test]
        fn merging_is_adding(
            parts in proptest::collection::vec(any_values(40), 1..6),
            exact_max in 0usize..60,
            merged_max in 0usize..200,
        ) {
            let whole: Vec<u64> = parts.concat();
            let tasks: Vec<Responses> = parts.iter().map(|part| responses(part, exact_max)).collect();
            let merged = |tasks: &mut dyn Iterator<Item = &Responses>| {
                let mut all = Responses::new(merged_max);
                tasks.for_each(|task| all.merge(task));
                all
            };
            let forward = merged(&mut tasks.iter());
            let backward = merged(&mut tasks.iter().rev());
            prop_assert_eq!((forward.summary(), forward.sd()), (backward.summary(), backward.sd()));
            let kept = parts.iter().all(|part| part.len() <= exact_max) && whole.len() <= merged_max;
            let wanted = responses(&whole, if kept { usize::MAX } else { 0 });
            prop_assert_eq!((forward.summary(), forward.sd()), (wanted.summary(), wanted.sd()));
        }
    }
}
