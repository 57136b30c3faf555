//! Costs that are drawn.
//!
//! 1. Draws come from PCG64 through steps written here, by integers and `libm`: a seed gives the same costs on every
//!    machine, whatever the versions of libraries.
//! 2. Every draw is a whole number of ns in `[0, COST_MAX]`, rounded to nearest; normal and exponential ones are also
//!    clipped to their own maximum, where one is given.
//! 3. Draws are independent of each other and of n.

use super::{COST_MAX, checked};
use laxity_model::{Diagnostic, Duration, Names, Result};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use std::str::FromStr;
use std::sync::Arc;

/// How a cost is distributed.
///
/// Written `uniform:LOW,HIGH` (both included), `normal:MEAN,SD` or `normal:MEAN,SD,MAX`, `exponential:MEAN` or
/// `exponential:MEAN,MAX`, each a time with a unit. What was measured (`empirical`) is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution(Form);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    Uniform { low: Duration, high: Duration },
    Normal { mean: Duration, sd: Duration, max: Duration },
    Exponential { mean: Duration, max: Duration },
    Empirical(Arc<[u64]>),
}

const HINT: &str = "write \"uniform:LOW,HIGH\", \"normal:MEAN,SD[,MAX]\" or \"exponential:MEAN[,MAX]\" with times such as \"2us\"";

fn refused(message: impl Into<String>) -> Diagnostic {
    Diagnostic::usage(message).hint(HINT)
}

impl Distribution {
    /// Uniform on the whole ns from `low` to `high`, both included.
    ///
    /// # Errors
    ///
    /// `low` above `high`, or `high` above [`COST_MAX`].
    pub fn uniform(low: Duration, high: Duration) -> Result<Self> {
        if low > high {
            return Err(refused(format!("uniform: LOW ({low}) is above HIGH ({high})")));
        }
        Ok(Distribution(Form::Uniform { low, high: checked(high)? }))
    }

    /// Normal, clipped to 0 ... `max`: a draw beyond is the bound itself.
    ///
    /// # Errors
    ///
    /// `mean` above `max`, or one of them above [`COST_MAX`].
    pub fn normal(mean: Duration, sd: Duration, max: Duration) -> Result<Self> {
        if mean > max {
            return Err(refused(format!("normal: MEAN ({mean}) is above MAX ({max})")));
        }
        Ok(Distribution(Form::Normal { mean, sd: checked(sd)?, max: checked(max)? }))
    }

    /// Exponential, clipped to `max`.
    ///
    /// # Errors
    ///
    /// `mean` above `max`, or `max` above [`COST_MAX`].
    pub fn exponential(mean: Duration, max: Duration) -> Result<Self> {
        if mean > max {
            return Err(refused(format!("exponential: MEAN ({mean}) is above MAX ({max})")));
        }
        Ok(Distribution(Form::Exponential { mean, max: checked(max)? }))
    }

    /// Each of the measured values with the same probability.
    ///
    /// # Errors
    ///
    /// No values, or one above [`COST_MAX`].
    pub fn empirical(samples: impl IntoIterator<Item = Duration>) -> Result<Self> {
        let samples: Vec<u64> =
            samples.into_iter().map(|sample| Ok(checked(sample)?.as_ns())).collect::<Result<_>>()?;
        if samples.is_empty() {
            return Err(
                Diagnostic::usage("an empirical distribution has no samples").hint("give at least one")
            );
        }
        Ok(Distribution(Form::Empirical(samples.into())))
    }

    /// As it is read from text, or what was measured, in ns.
    pub(super) fn written(&self) -> std::result::Result<String, &[u64]> {
        match &self.0 {
            Form::Uniform { low, high } => Ok(format!("uniform:{low},{high}")),
            Form::Normal { mean, sd, max } => Ok(format!("normal:{mean},{sd},{max}")),
            Form::Exponential { mean, max } => Ok(format!("exponential:{mean},{max}")),
            Form::Empirical(samples) => Err(samples),
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        match &self.0 {
            Form::Uniform { high: max, .. } | Form::Normal { max, .. } | Form::Exponential { max, .. } => {
                max.is_zero()
            }
            Form::Empirical(samples) => samples.iter().all(|&sample| sample == 0),
        }
    }

    /// The mean before clipping, rounded down.
    pub(super) fn mean_ns(&self) -> u64 {
        match &self.0 {
            Form::Uniform { low, high } => (low.as_ns() + high.as_ns()) / 2,
            Form::Normal { mean, .. } | Form::Exponential { mean, .. } => mean.as_ns(),
            Form::Empirical(samples) => {
                let sum: u128 = samples.iter().map(|&sample| u128::from(sample)).sum();
                u64::try_from(sum / samples.len() as u128).expect("a mean of u64")
            }
        }
    }

    /// No draw is above this, rounded up: a standard normal draw is at most 8.58, an exponential one at most 36.74 means,
    /// since both are functions of a multiple of 2^-53 below 1.
    pub(super) fn max_ns(&self) -> u64 {
        let (most, max) = match &self.0 {
            Form::Uniform { high, .. } => (high.as_ns(), high),
            Form::Normal { mean, sd, max } => (mean.as_ns() + (sd.as_ns() * 858).div_ceil(100) + 1, max),
            Form::Exponential { mean, max } => ((mean.as_ns() * 3674).div_ceil(100) + 1, max),
            Form::Empirical(samples) => return samples.iter().copied().max().unwrap_or(0),
        };
        most.min(max.as_ns())
    }

    pub(super) fn sampler(&self) -> Sampler {
        match &self.0 {
            Form::Uniform { low, high } => {
                Sampler::Uniform { low: low.as_ns(), count: high.as_ns() - low.as_ns() + 1 }
            }
            Form::Normal { mean, sd, max } => {
                Sampler::Normal { mean: float(*mean), sd: float(*sd), max: float(*max) }
            }
            Form::Exponential { mean, max } => Sampler::Exponential { mean: float(*mean), max: float(*max) },
            Form::Empirical(samples) => Sampler::Empirical(Arc::clone(samples)),
        }
    }
}

/// Exact: costs are below 2^53 ns.
#[expect(clippy::cast_precision_loss, reason = "COST_MAX is below 2^53 ns")]
fn float(cost: Duration) -> f64 {
    cost.as_ns() as f64
}

impl FromStr for Distribution {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let (name, arguments) = text.split_once(':').unwrap_or((text, ""));
        let times: Vec<Duration> = arguments
            .split(',')
            .map(|time| time.parse().map_err(|e: Diagnostic| e.context(format!("distribution `{text}`"))))
            .collect::<Result<_>>()?;
        match (name.trim(), times.as_slice()) {
            ("uniform", &[low, high]) => Distribution::uniform(low, high),
            ("normal", &[mean, sd]) => Distribution::normal(mean, sd, COST_MAX),
            ("normal", &[mean, sd, max]) => Distribution::normal(mean, sd, max),
            ("exponential", &[mean]) => Distribution::exponential(mean, COST_MAX),
            ("exponential", &[mean, max]) => Distribution::exponential(mean, max),
            ("uniform", _) => Err(refused(format!("`{text}`: uniform takes two times, LOW,HIGH"))),
            ("normal", _) => Err(refused(format!("`{text}`: normal takes MEAN,SD or MEAN,SD,MAX"))),
            ("exponential", _) => Err(refused(format!("`{text}`: exponential takes MEAN or MEAN,MAX"))),
            (other, _) => {
                Err(Names::of("distribution", &["uniform", "normal", "exponential"]).unknown(other))
            }
        }
    }
}

/// A distribution ready to draw from.
#[derive(Debug, Clone)]
pub(super) enum Sampler {
    Uniform { low: u64, count: u64 },
    Normal { mean: f64, sd: f64, max: f64 },
    Exponential { mean: f64, max: f64 },
    Empirical(Arc<[u64]>),
}

impl Sampler {
    pub(super) fn draw(&self, rng: &mut Pcg64) -> u64 {
        match self {
            Sampler::Uniform { low, count } => low + below(rng, *count),
            Sampler::Normal { mean, sd, max } => rounded((mean + sd * standard_normal(rng)).clamp(0.0, *max)),
            Sampler::Exponential { mean, max } => rounded((-libm::log(1.0 - unit(rng)) * mean).min(*max)),
            Sampler::Empirical(samples) => {
                let chosen = below(rng, samples.len() as u64);
                samples[usize::try_from(chosen).expect("an index of the samples")]
            }
        }
    }
}

/// Of a float in `[0, COST_MAX]`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clipped to 0 ... COST_MAX before"
)]
fn rounded(ns: f64) -> u64 {
    libm::round(ns) as u64
}

/// Uniform on the multiples of 2^-53 in [0, 1).
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
fn unit(rng: &mut Pcg64) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Uniform on `0 .. count`, without bias (Lemire 2019). `count` is positive.
#[expect(clippy::cast_possible_truncation, reason = "the low half of the product")]
fn below(rng: &mut Pcg64, count: u64) -> u64 {
    let draw = |rng: &mut Pcg64| u128::from(rng.next_u64()) * u128::from(count);
    let mut product = draw(rng);
    if (product as u64) < count {
        // Divisions are slow, and this is rare.
        let biased_below = count.wrapping_neg() % count;
        while (product as u64) < biased_below {
            product = draw(rng);
        }
    }
    (product >> 64) as u64
}

/// Box and Muller (1958), one of the pair: a draw leaves no state behind. |z| is at most 8.6.
fn standard_normal(rng: &mut Pcg64) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - unit(rng)));
    radius * libm::cos(2.0 * std::f64::consts::PI * unit(rng))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::rand_core::SeedableRng;

    const DRAWS: usize = 200_000;

    fn draws(text: &str, count: usize) -> Vec<u64> {
        let sampler = text.parse::<Distribution>().expect(text).sampler();
        let mut rng = Pcg64::seed_from_u64(42);
        (0..count).map(|_| sampler.draw(&mut rng)).collect()
    }

    fn moments(draws: &[u64]) -> (f64, f64) {
        let n = draws.len() as f64;
        let mean = draws.iter().map(|&x| x as f64).sum::<f64>() / n;
        let variance = draws.iter().map(|&x| (x as f64 - mean).powi(2)).sum::<f64>() / n;
        (mean, variance.sqrt())
    }

    /// Within five standard errors of the mean and 2 % of the standard deviation (seed 42).
    fn has_moments(text: &str, mean: f64, sd: f64) {
        let (found_mean, found_sd) = moments(&draws(text, DRAWS));
        let error = 5.0 * sd / (DRAWS as f64).sqrt();
        assert!((found_mean - mean).abs() < error, "{text}: mean {found_mean}, not {mean}");
        assert!((found_sd - sd).abs() < 0.02 * sd, "{text}: sd {found_sd}, not {sd}");
    }

    #[test]
    fn means_and_standard_deviations_are_those_asked_for() {
        has_moments("uniform:1us,5us", 3_000.0, 4_001.0 / 12f64.sqrt());
        has_moments("normal:20us,2us", 20_000.0, 2_000.0);
        has_moments("exponential:3us", 3_000.0, 3_000.0);
        // Clipped at 0, half of the draws of N(0, s) are 0: mean s/sqrt(2 pi), variance s^2 (1/2 - 1/(2 pi)).
        let pi = std::f64::consts::PI;
        has_moments("normal:0us,10us", 1e4 / (2.0 * pi).sqrt(), 1e4 * (0.5 - 0.5 / pi).sqrt());
        // E[min(X, m)] = mean (1 - exp(-m/mean)); with m = mean, E[.^2] = 2 mean^2 (1 - 2/e).
        let e = std::f64::consts::E;
        let mean = 1.0 - 1.0 / e;
        has_moments("exponential:1ms,1ms", 1e6 * mean, 1e6 * (2.0 * (1.0 - 2.0 / e) - mean * mean).sqrt());
    }

    #[test]
    fn draws_stay_within_their_bounds() {
        let of = |text| {
            let draws = draws(text, DRAWS);
            (draws.iter().min().copied().unwrap(), draws.iter().max().copied().unwrap())
        };
        assert_eq!(of("uniform:10ns,17ns"), (10, 17));
        assert_eq!(of("uniform:5us,5us"), (5_000, 5_000));
        assert_eq!(of("normal:10us,9us,12us"), (0, 12_000));
        assert!(of("normal:10us,0ns") == (10_000, 10_000));
        assert_eq!(of("exponential:10us,11us").1, 11_000);
        assert!(of("exponential:1000s").1 == COST_MAX.as_ns());
    }

    /// The generator's extremes, and many draws.
    #[test]
    fn no_draw_is_above_the_maximum() {
        let longest = -libm::log(1.0 / (1u64 << 53) as f64);
        assert!(longest < 36.74 && libm::sqrt(2.0 * longest) < 8.58);
        for (text, most) in [
            ("uniform:10ns,17ns", 17),
            ("normal:10us,1us", 18_581),
            ("normal:10us,9us,12us", 12_000),
            ("exponential:10us", 367_401),
            ("exponential:10us,11us", 11_000),
            ("normal:10us,0ns", 10_001),
        ] {
            let distribution: Distribution = text.parse().expect(text);
            assert_eq!(distribution.max_ns(), most, "{text}");
            assert!(draws(text, DRAWS).iter().all(|&draw| draw <= most), "{text}");
        }
        assert_eq!(Distribution::empirical([7, 3].map(Duration::from_ns)).expect("samples").max_ns(), 7);
    }

    #[test]
    fn uniform_draws_are_uniform_and_unbiased() {
        let mut counts = [0u32; 7];
        for draw in draws("uniform:3ns,9ns", 70_000) {
            counts[usize::try_from(draw - 3).unwrap()] += 1;
        }
        // binomial(70000, 1/7): sd 92.6
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 463), "{counts:?}");
    }

    #[test]
    fn empirical_draws_are_the_samples_in_their_proportions() {
        let samples = [5, 5, 5, 9].map(Duration::from_ns);
        let distribution = Distribution::empirical(samples).expect("samples");
        assert_eq!((distribution.mean_ns(), distribution.is_zero()), (6, false));
        let sampler = distribution.sampler();
        let mut rng = Pcg64::seed_from_u64(7);
        let drawn: Vec<u64> = (0..40_000).map(|_| sampler.draw(&mut rng)).collect();
        let nines = drawn.iter().filter(|&&draw| draw == 9).count();
        // binomial(40000, 1/4): sd 86.6
        assert!(nines.abs_diff(10_000) < 433 && drawn.iter().all(|draw| [5, 9].contains(draw)), "{nines}");
        assert!(Distribution::empirical([]).is_err());
    }

    #[test]
    fn a_seed_gives_the_same_costs_everywhere() {
        // From another implementation of PCG64 and of the steps above, with the platform's logarithm and cosine.
        assert_eq!(draws("uniform:1us,5us", 4), [1_906, 1_956, 4_044, 3_111]);
        assert_eq!(draws("normal:20us,2us", 4), [20_098, 16_669, 16_235, 18_725]);
        assert_eq!(draws("exponential:3us", 4), [771, 820, 4_292, 2_251]);
    }
}
