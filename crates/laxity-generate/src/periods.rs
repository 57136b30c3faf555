//! Distributions of periods on a grid.
//!
//! 1. A period is a multiple of the granularity g in `[min, max]`, both ends included; min and max are
//!    multiples of g themselves.
//! 2. Uniform: every multiple is equally likely (SchedCAT's `uniform_int` for g = 1 ms).
//! 3. Log-uniform: `T = floor(exp(x) / g) g` with x uniform in `[ln min, ln(max + g))`, clipped to the range
//!    (Emberson, Stafford and Davis, WATERS 2010, section 4.2; SchedCAT's `log_uniform_int`). The `+ g` gives
//!    the last multiple its share; rounding down is part of the definition.

use crate::stream::{Stream, floor_u64};
use laxity_model::{Diagnostic, Duration, Names, Result};
use std::fmt;
use std::str::FromStr;

/// The longest period that is generated, 10^6 s: a u64 of ns below 2^53, so that a double holds it exactly.
const PERIOD_MAX: Duration = Duration::from_secs(1_000_000);

/// The shape of a distribution of periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeriodShape {
    /// Every multiple of the granularity is equally likely.
    Uniform,
    /// The logarithm is uniformly distributed: each order of magnitude is equally likely.
    LogUniform,
}

/// A distribution of periods over `[min, max]`.
///
/// Written `uniform:3ms,33ms` or `log-uniform:10ms,100ms`, or by the name that ackelman2018 (4.2) and
/// LITMUS^RT studies use: `uni-short` (3-33 ms), `uni-moderate` (10-100 ms), `uni-long` (50-250 ms), and
/// `logunif-short`, `logunif-moderate`, `logunif-long`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Periods {
    /// Uniform or log-uniform.
    pub shape: PeriodShape,
    /// The shortest period.
    pub min: Duration,
    /// The longest period.
    pub max: Duration,
}

const fn ms(shape: PeriodShape, min: u64, max: u64) -> Periods {
    Periods { shape, min: Duration::from_ms(min), max: Duration::from_ms(max) }
}

impl Periods {
    /// The named distributions.
    pub const NAMED: &[(&'static str, Periods)] = &[
        ("uni-short", ms(PeriodShape::Uniform, 3, 33)),
        ("uni-moderate", ms(PeriodShape::Uniform, 10, 100)),
        ("uni-long", ms(PeriodShape::Uniform, 50, 250)),
        ("logunif-short", ms(PeriodShape::LogUniform, 3, 33)),
        ("logunif-moderate", ms(PeriodShape::LogUniform, 10, 100)),
        ("logunif-long", ms(PeriodShape::LogUniform, 50, 250)),
    ];

    /// Checks range and granularity and readies the drawing.
    pub(crate) fn sampler(&self, granularity: Duration) -> Result<PeriodSampler> {
        let bad =
            |why: String, hint: &str| Err(Diagnostic::usage(format!("periods `{self}`: {why}")).hint(hint));
        if granularity.is_zero() {
            return bad(
                "the granularity is 0; it must be positive".into(),
                "give a granularity such as \"1ms\"",
            );
        }
        if self.min.is_zero() || self.min > self.max || self.max > PERIOD_MAX {
            return bad(
                format!("the range {} to {} is not within 1ns to {PERIOD_MAX}", self.min, self.max),
                "write the shorter, positive period first, as in \"uniform:10ms,100ms\"",
            );
        }
        let (min, max, g) = (self.min.as_ns(), self.max.as_ns(), granularity.as_ns());
        if min % g != 0 || max % g != 0 {
            return bad(
                format!(
                    "{} and {} are not both multiples of the granularity {granularity}",
                    self.min, self.max
                ),
                "choose a granularity that divides both ends of the range",
            );
        }
        let ln_min = libm::log(min as f64);
        Ok(PeriodSampler {
            shape: self.shape,
            min,
            max,
            g,
            ln_min,
            ln_width: libm::log((max + g) as f64) - ln_min,
        })
    }
}

impl Default for Periods {
    /// Log-uniform in 10-100 ms, as in lelli2012 (5.3) and cerqueira2014 (IV).
    fn default() -> Self {
        ms(PeriodShape::LogUniform, 10, 100)
    }
}

/// A checked distribution of periods, ready to draw from.
#[derive(Debug, Clone)]
pub(crate) struct PeriodSampler {
    shape: PeriodShape,
    min: u64,
    max: u64,
    g: u64,
    ln_min: f64,
    ln_width: f64,
}

impl PeriodSampler {
    /// One period, in ns.
    pub(crate) fn draw(&self, stream: &mut Stream) -> u64 {
        match self.shape {
            PeriodShape::Uniform => self.min + self.g * stream.below((self.max - self.min) / self.g + 1),
            PeriodShape::LogUniform => {
                let x = libm::exp(self.ln_min + stream.unit() * self.ln_width);
                (floor_u64(x) / self.g * self.g).clamp(self.min, self.max)
            }
        }
    }
}

impl FromStr for Periods {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim();
        if let Some((_, named)) = Self::NAMED.iter().find(|(name, _)| *name == wanted) {
            return Ok(*named);
        }
        let bad = || {
            let names: Vec<&str> = Self::NAMED.iter().map(|(name, _)| *name).collect();
            Diagnostic::usage(format!("periods `{text}` are not a known distribution")).hint(format!(
                "{}, or write uniform:MIN,MAX or log-uniform:MIN,MAX, as in log-uniform:10ms,100ms",
                Names::of("periods", &names).hint(text)
            ))
        };
        let (shape, range) = wanted.split_once(':').ok_or_else(bad)?;
        let (min, max) = range.split_once(',').ok_or_else(bad)?;
        let shape = match shape {
            "uniform" => PeriodShape::Uniform,
            "log-uniform" => PeriodShape::LogUniform,
            _ => return Err(bad()),
        };
        Ok(Periods { shape, min: min.parse()?, max: max.parse()? })
    }
}

impl fmt::Display for Periods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = match self.shape {
            PeriodShape::Uniform => "uniform",
            PeriodShape::LogUniform => "log-uniform",
        };
        write!(f, "{shape}:{},{}", self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Purpose;

    fn draws(text: &str, granularity: Duration, count: usize) -> Vec<u64> {
        let sampler = text.parse::<Periods>().expect("periods").sampler(granularity).expect("valid");
        let mut stream = Stream::new(11, 0, Purpose::Periods);
        (0..count).map(|_| sampler.draw(&mut stream)).collect()
    }

    #[test]
    fn names_and_ranges_read_and_write() {
        for &(name, periods) in Periods::NAMED {
            assert_eq!(name.parse(), Ok(periods));
            assert_eq!(periods.to_string().parse(), Ok(periods));
        }
        assert_eq!("uni-long".parse::<Periods>().expect("named").to_string(), "uniform:50ms,250ms");
        for text in ["", "uniform", "uniform:1ms", "normal:1ms,2ms", "uniform:1,2"] {
            assert!(text.parse::<Periods>().is_err(), "{text}");
        }
    }

    #[test]
    fn refuses_ranges_off_the_grid() {
        let refused = |text: &str, granularity| {
            text.parse::<Periods>().expect("reads").sampler(granularity).expect_err("must be refused").message
        };
        let one_ms = Duration::from_ms(1);
        assert!(refused("uniform:0s,1ms", one_ms).contains("not within"));
        assert!(refused("uniform:2ms,1ms", one_ms).contains("not within"));
        assert!(refused("uniform:1ms,1000001s", one_ms).contains("not within"));
        assert!(refused("uniform:1ms,2ms", Duration::ZERO).contains("granularity is 0"));
        assert!(refused("uniform:1ms,2.5ms", one_ms).contains("multiples"));
    }

    /// Each multiple k g of the log-uniform grid has probability ln((k+1)/k) / ln((max+g)/min).
    #[test]
    fn log_uniform_periods_have_the_exact_probability_of_every_multiple() {
        let count = 400_000;
        let mut seen = [0u32; 101];
        for period in draws("log-uniform:10ms,100ms", Duration::from_ms(1), count) {
            assert_eq!(period % 1_000_000, 0);
            seen[usize::try_from(period / 1_000_000).expect("small")] += 1;
        }
        assert_eq!(seen[..10].iter().sum::<u32>(), 0);
        for (k, &seen) in seen.iter().enumerate().skip(10) {
            let p = ((k as f64 + 1.0) / k as f64).ln() / 10.1f64.ln();
            let sigma = (count as f64 * p * (1.0 - p)).sqrt();
            assert!((f64::from(seen) - count as f64 * p).abs() < 5.0 * sigma, "{k} ms: {seen}");
        }
    }

    /// Log-uniform on [10, 100] ms: E[1/T] = (1/10 - 1/100) / ln 10 per ms, 39.09 jobs/s.
    #[test]
    fn log_uniform_periods_give_39_09_jobs_per_second() {
        let count = 400_000;
        let rates: Vec<f64> = draws("log-uniform:10ms,100ms", Duration::from_us(1), count)
            .into_iter()
            .map(|period| 1e9 / period as f64)
            .collect();
        let mean = rates.iter().sum::<f64>() / count as f64;
        let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / count as f64;
        assert!((mean - 39.09).abs() < 0.005 + 5.0 * (variance / count as f64).sqrt(), "{mean}");
    }

    #[test]
    fn uniform_periods_reach_both_ends_equally() {
        let mut seen = [0u32; 34];
        draws("uni-short", Duration::from_ms(1), 310_000)
            .into_iter()
            .for_each(|period| seen[usize::try_from(period / 1_000_000).expect("small")] += 1);
        // binomial(310000, 1/31): sd 98.4
        assert!(seen[..3].iter().all(|&count| count == 0));
        assert!(seen[3..].iter().all(|&count| count.abs_diff(10_000) < 492), "{seen:?}");
    }
}
