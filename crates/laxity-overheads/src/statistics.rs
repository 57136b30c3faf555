//! Mean, percentiles and maximum of samples, exactly where that is possible.
//!
//! 1. Disturbed samples are counted and enter nothing else (ackelman2018, 6.2: the first kind of outlier that Feather
//!    -Trace leaves is an interrupt between two time stamps). No statistical filter is applied (cerqueira2014, IV-A).
//! 2. Number, mean, standard deviation, minimum and maximum are exact, from integers. Percentiles are nearest ranks of
//!    the samples that are kept: all of them up to [`KEPT_MOST`], then as many drawn uniformly at random (algorithm R:
//!    Vitter, "Random sampling with a reservoir", 1985), so that memory is bounded.
//! 3. A maximum grows with the number of samples. To compare, draw equally many of each ([`equal_counts`]).

use laxity_kernel::rings::SampleKind;
use laxity_trace::Moments;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::sample::{Class, Sample};

/// Samples of one kind and class that are kept.
pub const KEPT_MOST: usize = 1 << 18;

/// Samples of one kind of overhead of one class.
#[derive(Debug, Clone)]
pub struct Group {
    kept: Vec<u64>,
    disturbed: u64,
    moments: Moments,
    min: u64,
    max: u64,
    random: Pcg64,
}

/// What is told of a group. Times in ns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    /// Samples that were not disturbed: those that the others are of.
    pub number: u64,
    /// Samples during which their CPU was interrupted; set apart.
    pub disturbed: u64,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Sample standard deviation; nothing for a single sample.
    pub sd: Option<f64>,
    /// The shortest.
    pub min: Option<u64>,
    /// Half of the samples are not longer.
    pub p50: Option<u64>,
    /// 90 % of them are not longer.
    pub p90: Option<u64>,
    /// 99 %.
    pub p99: Option<u64>,
    /// 99.9 %.
    pub p99_9: Option<u64>,
    /// The longest.
    pub max: Option<u64>,
}

impl Group {
    /// An empty one.
    pub fn new(seed: u64) -> Group {
        Group {
            kept: Vec::new(),
            disturbed: 0,
            moments: Moments::default(),
            min: u64::MAX,
            max: 0,
            random: Pcg64::seed_from_u64(seed),
        }
    }

    /// Adds a sample.
    pub fn add(&mut self, duration_ns: u64, disturbed: bool) {
        if disturbed {
            self.disturbed += 1;
            return;
        }
        self.moments.add(duration_ns);
        self.min = self.min.min(duration_ns);
        self.max = self.max.max(duration_ns);
        if self.kept.len() < KEPT_MOST {
            self.kept.push(duration_ns);
            return;
        }
        let place = below(&mut self.random, self.moments.count());
        if let Some(slot) = usize::try_from(place).ok().and_then(|place| self.kept.get_mut(place)) {
            *slot = duration_ns;
        }
    }

    /// Adds the samples of another group. Of too many, each side keeps its share.
    pub fn merge(&mut self, other: &Group) {
        let all = u128::from(self.moments.count()) + u128::from(other.moments.count());
        if self.kept.len() + other.kept.len() <= KEPT_MOST {
            self.kept.extend_from_slice(&other.kept);
        } else {
            let most = u128::try_from(KEPT_MOST).expect("small");
            let share =
                usize::try_from(most * u128::from(self.moments.count()) / all).expect("at most the most");
            self.kept = draw(&self.kept, share, &mut self.random);
            self.kept.extend(draw(&other.kept, KEPT_MOST - self.kept.len(), &mut self.random));
        }
        self.disturbed += other.disturbed;
        self.moments.merge(&other.moments);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The samples that are kept, in no particular order.
    pub fn kept(&self) -> &[u64] {
        &self.kept
    }

    /// Mean, rounded up to whole ns, and maximum; nothing without samples.
    pub fn mean_and_max_ns(&self) -> Option<(u64, u64)> {
        let mean = self.moments.mean_rounded_up()?;
        Some((u64::try_from(mean).expect("not above the maximum"), self.max))
    }

    /// What is told of it.
    pub fn statistics(&self) -> Statistics {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        let rank = |permille| laxity_trace::nearest_rank(&sorted, permille);
        Statistics {
            number: self.moments.count(),
            disturbed: self.disturbed,
            mean: self.moments.mean(),
            sd: self.moments.sd(),
            min: (self.moments.count() > 0).then_some(self.min),
            p50: rank(500),
            p90: rank(900),
            p99: rank(990),
            p99_9: rank(999),
            max: (self.moments.count() > 0).then_some(self.max),
        }
    }
}

/// Samples by kind and class.
#[derive(Debug, Clone)]
pub struct Groups {
    groups: BTreeMap<(SampleKind, Class), Group>,
    seed: u64,
}

impl Groups {
    /// None yet. The seed is that of what is drawn where there are too many to keep.
    pub fn new(seed: u64) -> Groups {
        Groups { groups: BTreeMap::new(), seed }
    }

    /// Adds a sample.
    pub fn add(&mut self, sample: &Sample) {
        let seed = self.seed;
        let group = self.groups.entry((sample.kind, sample.class)).or_insert_with(|| Group::new(seed));
        group.add(sample.duration_ns, sample.disturbing > 0);
    }

    /// Adds all samples of others.
    pub fn merge(&mut self, others: &Groups) {
        let seed = self.seed;
        for (&key, group) in &others.groups {
            self.groups.entry(key).or_insert_with(|| Group::new(seed)).merge(group);
        }
    }

    /// One of them.
    pub fn get(&self, kind: SampleKind, class: Class) -> Option<&Group> {
        self.groups.get(&(kind, class))
    }

    /// All of them, by kind and class.
    pub fn iter(&self) -> impl Iterator<Item = (SampleKind, Class, &Group)> {
        self.groups.iter().map(|(&(kind, class), group)| (kind, class, group))
    }
}

/// Draws equally many values of each list, as many as the shortest has: each list is shuffled (Fisher-Yates, from the
/// seed) and cut off. A maximum over more samples would be larger for that alone (cerqueira2014, IV-A; the method is
/// Brandenburg's). Lists that are empty stay empty and do not shorten the others.
pub fn equal_counts(lists: &[&[u64]], seed: u64) -> Vec<Vec<u64>> {
    let least = lists.iter().map(|list| list.len()).filter(|&length| length > 0).min().unwrap_or(0);
    let mut random = Pcg64::seed_from_u64(seed);
    lists.iter().map(|list| draw(list, least, &mut random)).collect()
}

/// As many of the values, drawn uniformly, or all if there are no more.
fn draw(values: &[u64], number: usize, random: &mut Pcg64) -> Vec<u64> {
    let mut values = values.to_vec();
    let wanted = number.min(values.len());
    for place in 0..wanted {
        let left = u64::try_from(values.len() - place).expect("64-bit addresses");
        let other = place + usize::try_from(below(random, left)).expect("below a length");
        values.swap(place, other);
    }
    values.truncate(wanted);
    values
}

/// Statistics of `number` of the samples that a group keeps, drawn from the seed, or of all if there are no more: what can be
/// compared with others of as many.
pub fn statistics_of_some(group: &Group, number: usize, seed: u64) -> Statistics {
    let mut some = Group::new(seed);
    draw(&group.kept, number, &mut Pcg64::seed_from_u64(seed))
        .iter()
        .for_each(|&value| some.add(value, false));
    some.disturbed = group.disturbed;
    some.statistics()
}

/// A uniform number in [0, limit): the high half of a product; values that would make it uneven are drawn again
/// (Lemire, "Fast random integer generation in an interval", 2019).
fn below(random: &mut Pcg64, limit: u64) -> u64 {
    assert!(limit > 0, "an empty range");
    loop {
        let product = u128::from(random.next_u64()) * u128::from(limit);
        #[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
        let low = product as u64;
        if low >= limit.wrapping_neg() % limit {
            return u64::try_from(product >> 64).expect("the high half");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn group(values: &[u64]) -> Group {
        let mut group = Group::new(1);
        values.iter().for_each(|&value| group.add(value, false));
        group
    }

    #[test]
    fn statistics_of_known_numbers() {
        let mut ten = group(&[4, 1, 3, 2, 10, 9, 8, 7, 6, 5]);
        ten.add(1_000, true);
        let told = ten.statistics();
        assert_eq!((told.number, told.disturbed), (10, 1));
        assert_eq!(
            (told.min, told.p50, told.p90, told.p99, told.max),
            (Some(1), Some(5), Some(9), Some(10), Some(10))
        );
        assert_eq!(told.mean, Some(5.5));
        assert!((told.sd.expect("ten of them") - 3.027_650_354_1).abs() < 1e-9, "{told:?}");
        assert_eq!(ten.mean_and_max_ns(), Some((6, 10)), "the mean is rounded up");
        let none = Group::new(1).statistics();
        assert_eq!((none.mean, none.sd, none.max), (None, None, None));
        assert_eq!((group(&[7]).statistics().sd, Group::new(1).mean_and_max_ns()), (None, None));
    }

    #[test]
    fn merged_groups_are_groups_of_all() {
        let (all, mut one, other) = (group(&[1, 2, 3, 10, 20]), group(&[1, 2, 3]), group(&[10, 20]));
        one.merge(&other);
        assert_eq!(one.statistics(), all.statistics());
        let some = statistics_of_some(&all, 2, 7);
        assert_eq!((some.number, some.disturbed), (2, 0));
        // Of far too many, each side keeps its share: a quarter and three.
        let range = |from: u64, to: u64| (from..to).collect::<Vec<u64>>();
        let most = KEPT_MOST as u64;
        let mut small = group(&range(0, most / 2));
        small.merge(&group(&range(most, 2 * most + most / 2)));
        assert_eq!((small.kept().len(), small.statistics().number), (KEPT_MOST, 2 * most));
        assert_eq!(small.kept().iter().filter(|&&value| value < most).count(), KEPT_MOST / 4);
    }

    #[test]
    fn keeps_a_fair_share_of_too_many() {
        let mut all = Group::new(7);
        let number = 4 * KEPT_MOST as u64;
        (0..number).for_each(|value| all.add(value, false));
        assert_eq!(all.kept().len(), KEPT_MOST);
        let told = all.statistics();
        assert_eq!((told.number, told.min, told.max), (number, Some(0), Some(number - 1)));
        // The median of 2^18 uniform draws from [0, 2^20) is off by 2^20 / 2 / 2^9 = 1024 at one standard deviation.
        assert!(told.p50.expect("samples").abs_diff(number / 2) < 8 * 1024, "{told:?}");
        // A quarter of each quarter, at sd 192 (hypergeometric).
        for quarter in 0..4 {
            let range = quarter * KEPT_MOST as u64..(quarter + 1) * KEPT_MOST as u64;
            let share = all.kept().iter().filter(|value| range.contains(value)).count();
            assert!(share.abs_diff(KEPT_MOST / 4) < 8 * 192, "quarter {quarter}: {share}");
        }
    }

    laxity_seeds::properties! {
        #[test]
        fn draws_equally_many_of_what_there_is(
            lists in proptest::collection::vec(proptest::collection::vec(0u64..50, 0..40), 1..6),
            seed in 0u64..1_000,
        ) {
            let views: Vec<&[u64]> = lists.iter().map(Vec::as_slice).collect();
            let drawn = equal_counts(&views, seed);
            prop_assert_eq!(&drawn, &equal_counts(&views, seed));
            let least = lists.iter().map(Vec::len).filter(|&length| length > 0).min().unwrap_or(0);
            for (list, drawn) in lists.iter().zip(&drawn) {
                prop_assert_eq!(drawn.len(), least.min(list.len()));
                let count = |values: &[u64], wanted| values.iter().filter(|&&v| v == wanted).count();
                prop_assert!(drawn.iter().all(|&value| count(drawn, value) <= count(list, value)));
            }
        }

        #[test]
        fn draws_stay_below_the_limit(seed: u64, limit in 1u64..) {
            let mut random = Pcg64::seed_from_u64(seed);
            prop_assert!((0..8).all(|_| below(&mut random, limit) < limit));
        }
    }

    #[test]
    fn every_value_is_drawn_alike() {
        let list: Vec<u64> = (0..8).collect();
        let mut times = [0u32; 8];
        for seed in 0..8_000 {
            for value in &equal_counts(&[&list, &[0, 0]], seed)[0] {
                times[usize::try_from(*value).expect("small")] += 1;
            }
        }
        // 2 of 8 in 8000 draws: 2000 each, sd 39.
        assert!(times.iter().all(|&times| times.abs_diff(2_000) < 8 * 39), "{times:?}");
    }
}
