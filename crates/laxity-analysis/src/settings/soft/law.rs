//! How long jobs run: a distribution, by the probability that a job asks for at least so much.

use super::CERTAIN;
use laxity_model::Demand;
use std::collections::BTreeMap;

/// The distribution of the demand of a task's jobs, in ns, or one that is nowhere less (stochastically larger).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemandLaw(Law);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Law {
    /// Shares of a WCET, rounded up to whole ns.
    Shares { wcet: u64, demand: Demand },
    /// Values, ascending, and the probability of at least each.
    Steps(Vec<(u64, u64)>),
}

const PPM: u32 = 1_000_000;
/// The largest share of a normal distribution, in ppm: it is clipped there.
const NORMAL_MAX: u32 = 2 * PPM;
/// Added to probabilities of the normal distribution: its error function and the jobs' generator have 53 bits.
const NORMAL_ERROR: u64 = 1 << 20;

impl DemandLaw {
    /// What jobs are drawn from in simulations and runs (`laxity_generate::jobs_of`).
    pub fn of_shares(wcet: u64, demand: Demand) -> Self {
        DemandLaw(Law::Shares { wcet, demand })
    }

    /// Demands in ns, each at least 1, and how many jobs have each; at least one job, and fewer than 2^62.
    pub fn of_counts(counts: &BTreeMap<u64, u64>) -> Self {
        let all: u64 = counts.values().sum();
        let mut left = all;
        let step = |(&value, &count): (&u64, &u64)| {
            let at_least = portion(left, all);
            left -= count;
            (value.max(1), at_least)
        };
        DemandLaw::of_steps(counts.iter().filter(|one| *one.1 > 0).map(step).collect())
    }

    /// Values with the probability of at least each, in units of 2^-62: both strictly monotone, the first probability is 1.
    pub(super) fn of_steps(steps: Vec<(u64, u64)>) -> Self {
        debug_assert!(steps.first().is_some_and(|first| first.1 == CERTAIN));
        debug_assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 >= pair[1].1));
        DemandLaw(Law::Steps(steps))
    }

    /// The probability that a job asks for `demand` ns or more, rounded up.
    pub fn at_least(&self, demand: u64) -> u64 {
        match &self.0 {
            Law::Shares { .. } if demand <= 1 => CERTAIN,
            Law::Shares { wcet, demand: shares } => {
                // The least share whose part of the WCET, rounded up, is that long.
                let share = (u128::from(demand) - 1) * u128::from(PPM) / u128::from((*wcet).max(1)) + 1;
                u32::try_from(share).map_or(0, |share| share_at_least(*shares, share))
            }
            Law::Steps(steps) => {
                let from = steps.partition_point(|&(value, _)| value < demand);
                steps.get(from).map_or(0, |&(_, probability)| probability)
            }
        }
    }

    /// No job asks for more, in ns.
    pub fn most(&self) -> u64 {
        match &self.0 {
            Law::Shares { wcet, demand } => {
                let share = match *demand {
                    Demand::Wcet => PPM,
                    Demand::Fraction(share) | Demand::Uniform(_, share) => share,
                    Demand::Bimodal(low, high, probability) => match probability {
                        0 => low,
                        PPM => high,
                        _ => low.max(high),
                    },
                    Demand::Normal(mean, 0) => mean.clamp(1, NORMAL_MAX),
                    Demand::Normal(..) => NORMAL_MAX,
                };
                let longest = (u128::from(*wcet) * u128::from(share)).div_ceil(PPM.into());
                u64::try_from(longest).unwrap_or(u64::MAX).max(1)
            }
            Law::Steps(steps) => steps.last().map_or(1, |last| last.0),
        }
    }

    /// The probability that a job asks for (i - 1) to i granules, the first excluded, for i from 0 on.
    pub fn in_granules(&self, granule: u64) -> Vec<u64> {
        let count = self.most().div_ceil(granule);
        let above = |granules: u64| self.at_least((granules * granule).saturating_add(1));
        let mut weights = vec![0];
        let mut before = CERTAIN;
        for granules in 1..=count {
            let after = if granules == count { 0 } else { above(granules).min(before) };
            weights.push(before - after);
            before = after;
        }
        weights
    }
}

/// The probability of a share of `least` ppm or more.
fn share_at_least(demand: Demand, least: u32) -> u64 {
    let certainly = |is: bool| if is { CERTAIN } else { 0 };
    match demand {
        Demand::Wcet => certainly(least <= PPM),
        Demand::Fraction(share) => certainly(least <= share),
        Demand::Uniform(low, high) => {
            let count = u64::from(high) + 1;
            portion(count.saturating_sub(least.max(low).into()), count - u64::from(low))
        }
        Demand::Bimodal(low, high, probability) => {
            let of_low = if least <= low { PPM - probability } else { 0 };
            let of_high = if least <= high { probability } else { 0 };
            portion((of_low + of_high).into(), PPM.into())
        }
        Demand::Normal(mean, 0) => certainly(least <= mean.clamp(1, NORMAL_MAX)),
        Demand::Normal(..) if least <= 1 => CERTAIN,
        Demand::Normal(..) if least > NORMAL_MAX => 0,
        Demand::Normal(mean, sd) => {
            // Shares are rounded to whole ppm.
            let distance = (f64::from(least) - 0.5 - f64::from(mean)) / f64::from(sd);
            let probability = libm::erfc(distance * std::f64::consts::FRAC_1_SQRT_2) / 2.0;
            (fixed(probability) + NORMAL_ERROR).min(CERTAIN)
        }
    }
}

/// count/all, rounded up.
fn portion(count: u64, all: u64) -> u64 {
    let units = (u128::from(count) * u128::from(CERTAIN)).div_ceil(u128::from(all));
    u64::try_from(units).unwrap_or(CERTAIN).min(CERTAIN)
}

/// A probability in units of 2^-62, rounded up.
pub(super) fn fixed(probability: f64) -> u64 {
    #[expect(clippy::cast_precision_loss, reason = "a power of two")]
    let scaled = probability.clamp(0.0, 1.0) * CERTAIN as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^62")]
    let units = libm::ceil(scaled) as u64;
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(wcet: u64, demand: &str) -> DemandLaw {
        DemandLaw::of_shares(wcet, demand.parse().expect("a demand"))
    }

    /// Of all shares that a job may draw, as its generator does.
    fn counted(wcet: u64, shares: impl Iterator<Item = u64>, demand: u64) -> u64 {
        let (mut all, mut these) = (0, 0);
        for share in shares {
            all += 1;
            these += u64::from((wcet * share).div_ceil(1_000_000).max(1) >= demand);
        }
        portion(these, all)
    }

    #[test]
    fn shares_are_those_of_the_generator() {
        for wcet in [1, 7, 999, 12_345] {
            let uniform = law(wcet, "uniform:0.1234,0.4321");
            for demand in (0..=wcet + 1).step_by(1 + usize::try_from(wcet / 64).expect("small")) {
                assert_eq!(
                    uniform.at_least(demand),
                    counted(wcet, 123_400..=432_100, demand),
                    "{wcet} {demand}"
                );
            }
        }
        let bimodal = law(10, "bimodal:0.5,1.2,0.25");
        let all: Vec<u64> = (4..=13).map(|demand| bimodal.at_least(demand)).collect();
        let quarter = CERTAIN / 4;
        assert_eq!(all, [CERTAIN, CERTAIN, quarter, quarter, quarter, quarter, quarter, quarter, quarter, 0]);
        assert_eq!((bimodal.most(), law(10, "wcet").most(), law(10, "0.25").most()), (12, 10, 3));
    }

    #[test]
    fn a_normal_law_is_clipped_and_symmetric() {
        let normal = law(1_000_000, "normal:0.8,0.1");
        let half = normal.at_least(800_000);
        assert!(half.abs_diff(CERTAIN / 2) < CERTAIN / 100_000, "{half}");
        assert_eq!((normal.at_least(1), normal.at_least(2_000_001), normal.most()), (CERTAIN, 0, 2_000_000));
        // One standard deviation: 0.1586553.
        let one = normal.at_least(900_001);
        #[expect(clippy::cast_precision_loss, reason = "a check to 6 digits")]
        let share = one as f64 / CERTAIN as f64;
        assert!((share - 0.158_655).abs() < 1e-5, "{share}");
    }

    #[test]
    fn granules_round_up_and_have_all_jobs() {
        for (granule, expected) in [(1, 10), (3, 4), (10, 1), (99, 1)] {
            let weights = law(10, "uniform:0.1,1").in_granules(granule);
            assert_eq!((weights.len(), weights.iter().sum::<u64>()), (expected + 1, CERTAIN), "{granule}");
        }
        let weights = law(10, "bimodal:0.3,1,0.5").in_granules(2);
        assert_eq!(weights, [0, 0, CERTAIN / 2, 0, 0, CERTAIN / 2]);
    }
}
