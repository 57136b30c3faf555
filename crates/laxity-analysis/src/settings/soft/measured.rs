//! From measured execution times to a distribution that is, with a given confidence, nowhere below the true one.
//!
//! Of n independent times with j longer than x, the probability q of a longer one is below b with confidence 1 - exp(-n KL(j/n || b)),
//! KL(a || b) = a ln(a/b) + (1 - a) ln((1 - a)/(1 - b)) (Hoeffding: Probability inequalities for sums of bounded random variables, JASA 58,
//! 1963, Theorem 1; the exact bound of Clopper and Pearson, 1934, is a little less). It is used at a number of order statistics that is
//! fixed by n alone, and the error that is allowed is shared out among them. What may be longer than all that was measured counts as WCET.

use super::CERTAIN;
use super::law::{DemandLaw, fixed};

/// Fewer measured times say nothing.
pub const LEAST_SAMPLES: usize = 30;

/// Neighbouring order statistics are this part of the distance to the nearer end apart.
const SPACING: usize = 8;
/// Steps of the search for a bound.
const STEPS: u32 = 60;
/// Logarithms and sums are wrong by less.
const ERROR: f64 = 1e-9;

/// Why there is no distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotMeasured {
    /// So many times, fewer than [`LEAST_SAMPLES`].
    TooFew(usize),
    /// So many jobs ran longer than the WCET, and the longest of them, in ns.
    AboveWcet(usize, u64),
}

impl DemandLaw {
    /// A law that is nowhere below that of the times, in ns, each at least 1, with a probability of at least 1 - `error`. No time is
    /// longer than the WCET.
    ///
    /// # Errors
    ///
    /// Too few, or longer ones.
    pub fn measured(mut times: Vec<u64>, wcet: u64, error: f64) -> Result<Self, NotMeasured> {
        if times.len() < LEAST_SAMPLES {
            return Err(NotMeasured::TooFew(times.len()));
        }
        times.sort_unstable();
        let above = times.len() - times.partition_point(|&time| time <= wcet);
        if above > 0 {
            return Err(NotMeasured::AboveWcet(above, times[times.len() - 1]));
        }
        let levels = levels(times.len());
        let tolerated = tolerated(levels.len(), error);
        let mut steps = Vec::with_capacity(levels.len() + 1);
        let mut probability = CERTAIN;
        // From most longer ones to none: at least the value, so longer than the one before.
        for longer in levels {
            steps.push((times[times.len() - 1 - longer].max(1), probability));
            probability = probability.min(fixed(above_at_most(times.len(), longer, tolerated)));
        }
        steps.push((wcet, probability));
        steps.dedup_by(|next, kept| {
            // Of equal values the first is of all of them.
            next.0 == kept.0
        });
        Ok(DemandLaw::of_steps(steps))
    }

    /// How many times it takes until the longest of them bounds the probability of longer ones by this.
    pub fn samples_for(probability: f64, error: f64) -> u64 {
        let mut samples = LEAST_SAMPLES as u64;
        loop {
            let count = usize::try_from(samples).unwrap_or(usize::MAX);
            if samples > 1 << 40
                || above_at_most(count, 0, tolerated(levels(count).len(), error)) <= probability
            {
                return samples;
            }
            samples += samples / 8;
        }
    }
}

/// At how many longer times a bound is taken, descending.
fn levels(samples: usize) -> Vec<usize> {
    let mut all = vec![0];
    let mut at = 0;
    loop {
        at += 1 + at.min(samples.saturating_sub(at)) / SPACING;
        if at >= samples {
            break;
        }
        all.push(at);
    }
    all.reverse();
    all
}

/// ln(levels/error).
fn tolerated(levels: usize, error: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let levels = levels as f64;
    libm::log(levels / error) + ERROR
}

/// The least b above j/n with n KL(j/n || b) >= tolerated.
fn above_at_most(samples: usize, longer: usize, tolerated: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    let [n, j] = [samples, longer].map(|count| count as f64);
    let share = j / n;
    let part = |a: f64, b: f64| if a > 0.0 { a * libm::log(a / b) } else { 0.0 };
    let divergence = |b: f64| n * (part(share, b) + part(1.0 - share, 1.0 - b));
    let (mut less, mut enough) = (share, 1.0);
    for _ in 0..STEPS {
        let middle = f64::midpoint(less, enough);
        if divergence(middle) >= tolerated + ERROR * n { enough = middle } else { less = middle }
    }
    enough
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_of_all_parts_of_the_distribution() {
        let all = levels(1_000);
        assert_eq!((all[all.len() - 1], all[0]), (0, 999));
        assert!(all.windows(2).all(|pair| pair[0] > pair[1]) && all.len() < 100, "{}", all.len());
    }

    #[test]
    fn none_longer_is_a_logarithm_over_n() {
        // (1 - b)^n = exp(-7): b = 1 - exp(-7/1000).
        let bound = above_at_most(1_000, 0, 7.0);
        assert!((bound - 0.006_975_6).abs() < 1e-5, "{bound}");
        assert!(above_at_most(1_000, 100, 7.0) > 0.1);
        let needed = DemandLaw::samples_for(0.001, 0.05);
        assert!((6_000..16_000).contains(&needed), "{needed}");
    }

    #[test]
    fn what_says_nothing_is_refused() {
        assert_eq!(DemandLaw::measured(vec![1; 29], 9, 0.05), Err(NotMeasured::TooFew(29)));
        let mut times = vec![5; 100];
        times[7] = 10;
        times[9] = 12;
        assert_eq!(DemandLaw::measured(times, 9, 0.05), Err(NotMeasured::AboveWcet(2, 12)));
    }

    #[test]
    fn the_law_is_above_the_true_one_as_often_as_it_says() {
        // Uniform on 1 to 100, of which the true law is known; 400 experiments, each wrong with 1/5 at most.
        let mut random: u64 = 7;
        let mut wrong = 0;
        for _ in 0..400 {
            let mut draw = || {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) % 100 + 1
            };
            let times: Vec<u64> = (0..500).map(|_| draw()).collect();
            let law = DemandLaw::measured(times, 200, 0.2).expect("enough");
            let holds = (1..=100).all(|time| law.at_least(time) >= CERTAIN / 100 * (101 - time));
            wrong += u32::from(!holds);
            assert!(law.at_least(50) < CERTAIN / 100 * 70, "near the true one");
        }
        assert!(wrong <= 80, "{wrong} of 400");
    }
}
