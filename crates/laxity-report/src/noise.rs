//! Whether configurations differ by more than the noise of their runs.
//!
//! A *block* is one task set in one repetition. All configurations see the same jobs in it, one right after the other,
//! so whatever a block does to all of them is no difference between them. A *group* is a configuration, or several that
//! are the same thing on this machine; the differences within a group are noise by construction (an A/A check).
//!
//! The model is, within each task set, the two-way layout without interaction: an observation is the mean, the effect
//! of its group, the effect of its block, and noise of one variance, the same for all sets (Scheffé, The Analysis of
//! Variance, 1959, chapter 4). The sets are given, not drawn: that groups differ on one set and not on another is no
//! noise. Two groups differ where Student's t of their means says so at [`LEVEL`] for *all* pairs of groups together
//! (Bonferroni), and where the difference is larger than any within a group.
//!
//! Between two directories nothing took turns, and configurations differ in their noise by factors of a hundred: there each
//! configuration has the noise of its own repetitions ([`Layout::of_repetitions`]).

use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};
use std::collections::BTreeSet;

/// The probability that any two of several groups that are equal are told apart.
pub(crate) const LEVEL: f64 = 0.01;

/// Confidence of intervals.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// What is known of the noise before anything is measured, in units of the observations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prior {
    /// The standard deviation is at least this: a few runs can look more alike than they are.
    pub(crate) sd_least: f64,
    /// The standard deviation that is assumed where there are too few runs to measure it.
    pub(crate) sd_assumed: f64,
}

/// How the observations of several groups lie.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    groups: Vec<Group>,
    sd: f64,
    /// Degrees of freedom of `sd`; nothing where it is assumed.
    freedom: Option<usize>,
    /// The largest difference between the means of two members of one group.
    within: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Group {
    mean: f64,
    observations: usize,
}

impl Layout {
    /// `observations[group][member][block]`: every group has a member, and all members have the same blocks, at least one;
    /// `sets[block]` is the task set of a block, or whatever else differences between are given.
    pub(crate) fn of<S: Ord + Copy>(observations: &[Vec<Vec<f64>>], sets: &[S], prior: Prior) -> Layout {
        let members = observations.iter().flatten();
        assert!(
            !sets.is_empty() && members.clone().all(|member| member.len() == sets.len()),
            "blocks of all"
        );
        let groups: Vec<Group> = observations
            .iter()
            .map(|group| Group {
                mean: mean(group.iter().flatten().copied()),
                observations: group.len() * sets.len(),
            })
            .collect();
        let of_sets = sets.iter().copied().collect::<BTreeSet<S>>().into_iter();
        let residuals: Vec<Residuals> = of_sets
            .map(|set| {
                let blocks: Vec<usize> = (0..sets.len()).filter(|&block| sets[block] == set).collect();
                Residuals::of(observations, &blocks)
            })
            .collect();
        let freedom: usize = residuals.iter().map(|of_set| of_set.freedom).sum();
        let squares: f64 = residuals.iter().map(|of_set| of_set.squares).sum();
        let within = observations.iter().map(|group| spread(group)).fold(0.0, f64::max);
        Layout { within, groups, ..Layout::with_noise(squares, freedom, prior) }
    }

    /// Groups whose runs did not take turns: noise is what the observations of one group in one set vary by.
    ///
    /// `observations[group][run]`: every group has the same runs, at least one; `sets[run]` is the task set of a run.
    pub(crate) fn of_repetitions<S: Ord + Copy>(
        observations: &[Vec<f64>],
        sets: &[S],
        prior: Prior,
    ) -> Layout {
        let (mut squares, mut freedom) = (0.0, 0);
        for set in sets.iter().copied().collect::<BTreeSet<S>>() {
            for group in observations {
                let of_set: Vec<f64> =
                    group.iter().zip(sets).filter(|(_, of)| **of == set).map(|(value, _)| *value).collect();
                let middle = mean(of_set.iter().copied());
                squares += of_set.iter().map(|value| (value - middle) * (value - middle)).sum::<f64>();
                freedom += of_set.len() - 1;
            }
        }
        let groups = observations
            .iter()
            .map(|group| Group { mean: mean(group.iter().copied()), observations: group.len() });
        Layout { within: 0.0, groups: groups.collect(), ..Layout::with_noise(squares, freedom, prior) }
    }

    /// Of no group yet.
    fn with_noise(squares: f64, freedom: usize, prior: Prior) -> Layout {
        let measured = (freedom > 0).then(|| (squares / real(freedom)).sqrt());
        Layout {
            groups: Vec::new(),
            sd: measured.map_or(prior.sd_assumed, |sd| sd.max(prior.sd_least)),
            freedom: measured.map(|_| freedom),
            within: 0.0,
        }
    }

    /// Mean of the observations of a group.
    pub(crate) fn mean(&self, group: usize) -> f64 {
        self.groups[group].mean
    }

    /// Whether the noise is measured, not assumed.
    pub(crate) fn is_measured(&self) -> bool {
        self.freedom.is_some()
    }

    /// Two groups differ by more than noise.
    pub(crate) fn differ(&self, a: usize, b: usize) -> bool {
        (self.mean(a) - self.mean(b)).abs() >= self.least_difference(a, b)
    }

    /// The least difference of means at which two groups are told apart.
    pub(crate) fn least_difference(&self, a: usize, b: usize) -> f64 {
        let pairs = self.groups.len() * self.groups.len().saturating_sub(1) / 2;
        let observations = [a, b].map(|group| self.groups[group].observations);
        self.least_difference_of(observations, pairs).max(self.within)
    }

    /// The least difference of means of so many observations each that is more than this noise, where all of so many
    /// comparisons together are to be right.
    pub(crate) fn least_difference_of(&self, observations: [usize; 2], comparisons: usize) -> f64 {
        let quantile = self.quantile(LEVEL / real(comparisons.max(1)));
        let [a, b] = observations.map(|count| 1.0 / real(count.max(1)));
        quantile * self.sd * (a + b).sqrt()
    }

    /// Lower and upper end of the confidence interval of the mean of a group, over blocks like these.
    pub(crate) fn interval(&self, group: usize) -> [f64; 2] {
        let Group { mean, observations } = self.groups[group];
        let half = self.quantile(1.0 - CONFIDENCE) * self.sd / real(observations).sqrt();
        [mean - half, mean + half]
    }

    /// What a value exceeds in size with this probability, in standard deviations.
    fn quantile(&self, two_sided: f64) -> f64 {
        let below = 1.0 - two_sided / 2.0;
        match self.freedom {
            Some(freedom) => StudentsT::new(0.0, 1.0, real(freedom)).map(|t| t.inverse_cdf(below)),
            None => Ok(Normal::standard().inverse_cdf(below)),
        }
        .expect("one degree of freedom or more")
    }
}

/// What the effects of groups and blocks leave of the observations of one set.
struct Residuals {
    squares: f64,
    freedom: usize,
}

impl Residuals {
    fn of(observations: &[Vec<Vec<f64>>], blocks: &[usize]) -> Residuals {
        let members: Vec<&Vec<f64>> = observations.iter().flatten().collect();
        let over = |of: &[&Vec<f64>]| mean(of.iter().flat_map(|one| blocks.iter().map(|&block| one[block])));
        let grand = over(&members);
        let mut squares = 0.0;
        for group in observations {
            let group: Vec<&Vec<f64>> = group.iter().collect();
            let of_group = over(&group);
            for &block in blocks {
                let of_block = mean(members.iter().map(|one| one[block])) - grand;
                let residual = |one: &&Vec<f64>| one[block] - of_group - of_block;
                squares += group.iter().map(residual).map(|residual| residual * residual).sum::<f64>();
            }
        }
        // All observations, less a mean per group and the effects of blocks around the grand mean. Twins in one block say
        // nothing yet: both can be far from what they are on average.
        let freedom = (members.len() * blocks.len() + 1).saturating_sub(observations.len() + blocks.len());
        Residuals { squares, freedom: if blocks.len() > 1 { freedom } else { 0 } }
    }
}

/// The largest difference between the means of two members.
fn spread(group: &[Vec<f64>]) -> f64 {
    let means: Vec<f64> = group.iter().map(|member| mean(member.iter().copied())).collect();
    let [least, most] = [f64::min, f64::max].map(|of| means.iter().copied().reduce(of).unwrap_or(0.0));
    most - least
}

/// Of one value or more; of none it is no number.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    laxity_trace::mean(values).unwrap_or(f64::NAN)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of runs are far below 2^53")]
fn real(count: usize) -> f64 {
    count as f64
}

/// A count on a scale on which counts that vary as Poisson's law says have a standard deviation of 1, whatever their
/// mean (Anscombe, The transformation of Poisson, binomial and negative-binomial data, 1948).
pub(crate) fn of_count(count: f64) -> f64 {
    2.0 * (count + 0.375).sqrt()
}

/// The count at a place of that scale.
pub(crate) fn to_count(scaled: f64) -> f64 {
    let root = scaled.max(0.0) / 2.0;
    (root * root - 0.375).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_pcg::Pcg64;

    const PRIOR: Prior = Prior { sd_least: 0.0, sd_assumed: 4.0 };

    /// Normal values, by Box and Muller.
    struct Noise(Pcg64);

    impl Noise {
        fn new(seed: u64) -> Self {
            Noise(Pcg64::new(seed.into(), 0))
        }

        fn uniform(&mut self) -> f64 {
            self.0.random()
        }

        fn normal(&mut self) -> f64 {
            let (a, b) = (self.uniform().max(1e-9), self.uniform());
            (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
        }
    }

    #[test]
    fn a_textbook_layout_comes_out_as_by_hand() {
        // Three groups in four blocks; group means 2, 4, 9, block means 4, 5, 6, 5 (grand mean 5).
        let rows: [[f64; 4]; 3] = [[1.0, 2.0, 3.0, 2.0], [3.0, 4.0, 5.0, 4.0], [8.0, 9.0, 10.0, 9.0]];
        let additive: Vec<_> = rows.iter().map(|row| vec![row.to_vec()]).collect();
        let layout = Layout::of(&additive, &[0; 4], PRIOR);
        assert_eq!((layout.sd, layout.freedom), (0.0, Some(6)), "an additive table has no residuals");
        // Residuals +1 -1 -1 +1 in a square of two groups and two blocks leave all means as they are.
        let mut noisy = additive;
        for (group, block, residual) in [(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)] {
            noisy[group][0][block] += residual;
        }
        let layout = Layout::of(&noisy, &[0; 4], PRIOR);
        assert_eq!(layout.mean(2), 9.0);
        assert!((layout.sd - (4.0f64 / 6.0).sqrt()).abs() < 1e-12, "{layout:?}");
        // t(6) at 1 - .01/3/2 (Bonferroni, three pairs), times sd, times the root of 2/4.
        let wanted = 4.698 * (4.0f64 / 6.0).sqrt() * 0.5f64.sqrt();
        assert!(
            (layout.least_difference(0, 1) / wanted - 1.0).abs() < 0.04,
            "{}",
            layout.least_difference(0, 1)
        );
        assert!(!layout.differ(0, 1) && layout.differ(0, 2));
        let [low, high] = layout.interval(0);
        // t(6) at .975: 2.4469.
        let half = 2.4469 * (4.0f64 / 6.0).sqrt() / 2.0;
        assert!((low - (2.0 - half)).abs() < 1e-3 && (high - (2.0 + half)).abs() < 1e-3, "{low} {high}");
    }

    #[test]
    fn equal_groups_are_told_apart_as_seldom_as_promised() {
        let mut noise = Noise::new(7);
        let trials = 2000;
        let mut alarms = 0;
        for _ in 0..trials {
            let blocks: Vec<f64> = (0..3).map(|_| 5.0 * noise.normal()).collect();
            let mut member = || blocks.iter().map(|block| block + noise.normal()).collect::<Vec<f64>>();
            let groups: Vec<Vec<Vec<f64>>> = (0..6).map(|_| vec![member()]).collect();
            let layout = Layout::of(&groups, &[0; 3], PRIOR);
            let pairs = (0..6).flat_map(|a| (0..a).map(move |b| (a, b)));
            alarms += u32::from(pairs.into_iter().any(|(a, b)| layout.differ(a, b)));
        }
        // 1 % promised: 20 of 2000, with a standard deviation of 4.5.
        assert!(alarms <= 36, "{alarms} of {trials}");
    }

    #[test]
    fn a_difference_far_beyond_noise_is_seen() {
        let mut noise = Noise::new(9);
        let mut row = |mean: f64| vec![(0..3).map(|_| mean + noise.normal()).collect::<Vec<f64>>()];
        let layout = Layout::of(&[row(0.0), row(0.0), row(0.0), row(20.0)], &[0; 3], PRIOR);
        assert!(layout.differ(0, 3) && layout.differ(3, 2) && !layout.differ(0, 1), "{layout:?}");
    }

    #[test]
    fn with_one_block_the_noise_is_assumed() {
        let layout = Layout::of(&[vec![vec![0.0]], vec![vec![10.0]], vec![vec![40.0]]], &[0], PRIOR);
        assert!(!layout.is_measured());
        assert!(!layout.differ(0, 1) && layout.differ(0, 2), "{layout:?}");
    }

    #[test]
    fn repetitions_vary_as_by_hand() {
        // In set 0: 1, 2, 3 and 11, 12, 13, each with squares of 2 and a freedom of 2; in set 1: 50, 54 and 60, 60, with 8 and 0.
        let [before, after] = [vec![1.0, 2.0, 3.0, 50.0, 54.0], vec![11.0, 12.0, 13.0, 60.0, 60.0]];
        let layout = Layout::of_repetitions(&[before, after], &[0, 0, 0, 1, 1], PRIOR);
        assert_eq!(layout.freedom, Some(6));
        assert!((layout.sd - 2.0f64.sqrt()).abs() < 1e-12, "{layout:?}");
        assert_eq!((layout.mean(0), layout.mean(1)), (22.0, 31.2));
        assert!(!Layout::of_repetitions(&[vec![1.0, 2.0], vec![3.0, 4.0]], &[0, 1], PRIOR).is_measured());
    }

    /// One configuration is a hundred times as noisy as the others, as g-edf is beside g-rm on a loaded machine.
    #[test]
    fn noise_of_one_configuration_is_no_difference_of_it() {
        let mut noise = Noise::new(11);
        let (trials, configurations) = (2000, 6);
        let mut alarms = 0;
        for _ in 0..trials {
            let mut differs = |sd: f64| {
                let mut side = || (0..3).map(|_| sd * noise.normal()).collect::<Vec<f64>>();
                let sides = [side(), side()];
                let layout = Layout::of_repetitions(&sides, &[0; 3], PRIOR);
                let least = layout.least_difference_of([3; 2], configurations);
                (layout.mean(0) - layout.mean(1)).abs() >= least
            };
            let noisy = differs(100.0);
            alarms += u32::from((1..configurations).fold(noisy, |any, _| differs(1.0) || any));
        }
        // 1 % promised: 20 of 2000, with a standard deviation of 4.5.
        assert!(alarms <= 36, "{alarms} of {trials}");
    }

    #[test]
    fn differences_between_sets_are_no_noise() {
        // One group is better on the first set, the other on the second; repetitions are alike.
        let groups = [vec![vec![0.0, 0.0, 30.0, 30.0]], vec![vec![10.0, 10.0, 2.0, 2.0]]];
        let as_sets = Layout::of(&groups, &[0, 0, 1, 1], PRIOR);
        assert_eq!((as_sets.sd, as_sets.freedom), (0.0, Some(2)));
        let as_repetitions = Layout::of(&groups, &[0; 4], PRIOR);
        assert!(as_repetitions.sd > 10.0 && as_repetitions.freedom == Some(3), "{as_repetitions:?}");
        // One repetition of each set: not measured.
        assert!(!Layout::of(&groups, &[0, 1, 2, 3], PRIOR).is_measured());
    }

    #[test]
    fn what_differs_within_a_group_is_noise_between_groups() {
        let quiet = |mean: f64| vec![mean, mean, mean];
        let apart = |mean| Layout::of(&[vec![quiet(0.0), quiet(8.0)], vec![quiet(mean)]], &[0; 3], PRIOR);
        assert!(!apart(11.9).differ(0, 1), "4 and 7.9 from the two, which are 8 apart");
        assert_eq!(apart(0.0).within, 8.0);
    }

    laxity_seeds::properties! {
        #[test]
        fn what_a_block_does_to_all_changes_nothing(
            rows in prop::collection::vec(prop::collection::vec(-50i32..50, 4), 2..6),
            shift in -1000i32..1000
        ) {
            let with = |shift: i32| -> Vec<Vec<Vec<f64>>> {
                let shifted = |(block, value): (usize, &i32)| f64::from(value + if block == 2 { shift } else { 0 });
                rows.iter().map(|row| vec![row.iter().enumerate().map(shifted).collect()]).collect()
            };
            let [plain, shifted] = [0, shift].map(|shift| Layout::of(&with(shift), &[0; 4], PRIOR));
            prop_assert!((plain.sd - shifted.sd).abs() < 1e-6);
            prop_assert!((plain.mean(1) - plain.mean(0) - shifted.mean(1) + shifted.mean(0)).abs() < 1e-6);
        }

        #[test]
        fn counts_come_back_from_their_scale(count in 0u32..1_000_000) {
            prop_assert!((to_count(of_count(f64::from(count))) - f64::from(count)).abs() < 1e-3);
        }
    }

    #[test]
    fn counts_have_a_standard_deviation_of_one_on_their_scale() {
        // Sums of many rare events are nearly Poisson's.
        let mut noise = Noise::new(3);
        for mean_count in [4.0, 25.0] {
            let values: Vec<f64> = (0..400)
                .map(|_| {
                    of_count(f64::from(
                        (0..500).map(|_| u32::from(noise.uniform() * 500.0 < mean_count)).sum::<u32>(),
                    ))
                })
                .collect();
            let middle = mean(values.iter().copied());
            let sd = (values.iter().map(|v| (v - middle) * (v - middle)).sum::<f64>() / 399.0).sqrt();
            assert!((0.85..1.15).contains(&sd), "{sd} at {mean_count}");
        }
    }
}
