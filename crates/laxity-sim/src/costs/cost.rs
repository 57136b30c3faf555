//! One cost: nothing, a constant, a function of the number of tasks, or a distribution.

use super::distribution::{Distribution, Sampler};
use super::{COST_MAX, checked};
use laxity_model::overheads::Monotone;
use laxity_model::{Diagnostic, Duration, Result};
use rand_pcg::Pcg64;
use std::str::FromStr;

/// A non-decreasing function from whole numbers to time, at most [`COST_MAX`].
pub type PiecewiseLinear = Monotone<{ COST_MAX.as_ns() }>;

/// What one operation costs.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Cost {
    /// Nothing.
    #[default]
    Zero,
    /// Always the same.
    Constant(Duration),
    /// A function of n, the number of tasks of the scheduler (of its cluster or CPU where it is one of several).
    PiecewiseLinear(PiecewiseLinear),
    /// Drawn for every operation.
    Distribution(Distribution),
}

impl Cost {
    /// A constant.
    ///
    /// # Errors
    ///
    /// More than [`COST_MAX`].
    pub fn constant(cost: Duration) -> Result<Cost> {
        Ok(if cost.is_zero() { Cost::Zero } else { Cost::Constant(checked(cost)?) })
    }

    /// Whether it never costs anything.
    pub fn is_zero(&self) -> bool {
        match self {
            Cost::Zero => true,
            Cost::Constant(cost) => cost.is_zero(),
            Cost::PiecewiseLinear(function) => function.is_zero(),
            Cost::Distribution(distribution) => distribution.is_zero(),
        }
    }

    /// For a scheduler of `n` tasks: looked up once, drawn often.
    pub fn prepare(&self, n: u32) -> Prepared {
        Prepared(match self {
            Cost::Zero => Kind::Constant(0),
            Cost::Constant(cost) => Kind::Constant(cost.as_ns()),
            Cost::PiecewiseLinear(function) => Kind::Constant(function.at(n.into())),
            Cost::Distribution(distribution) => Kind::Drawn(distribution.sampler()),
        })
    }

    /// The mean under a scheduler of `n` tasks, in ns (that of a normal distribution before it is clipped).
    pub fn mean_ns(&self, n: u32) -> u64 {
        match self {
            Cost::Distribution(distribution) => distribution.mean_ns(),
            Cost::Zero => 0,
            Cost::Constant(cost) => cost.as_ns(),
            Cost::PiecewiseLinear(function) => function.at(n.into()),
        }
    }
}

impl Cost {
    /// No draw under a scheduler of at most `n` tasks is above this, in ns; for distributions without a maximum of their
    /// own, because their generator's draws are bounded.
    pub fn max_ns(&self, n: u32) -> u64 {
        match self {
            Cost::Distribution(distribution) => distribution.max_ns(),
            // Functions of n are monotone.
            Cost::Zero | Cost::Constant(_) | Cost::PiecewiseLinear(_) => self.mean_ns(n),
        }
    }
}

impl FromStr for Cost {
    type Err = Diagnostic;

    /// Reads a time (`2us`) or a distribution (`uniform:1us,5us`; see [`Distribution`]).
    fn from_str(text: &str) -> Result<Cost> {
        if text.contains(':') {
            return Ok(Cost::Distribution(text.parse()?));
        }
        let cost = text.parse().map_err(|e: Diagnostic| {
            e.hint(
                "write a time with a unit such as \"2us\", or a distribution: \"uniform:1us,5us\", \"normal:2us,300ns\", \"exponential:2us\"",
            )
        })?;
        Cost::constant(cost)
    }
}

/// A cost under a scheduler of known size.
#[derive(Debug, Clone)]
pub struct Prepared(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Constant(u64),
    Drawn(Sampler),
}

impl Prepared {
    /// The cost of the next operation, in ns, at most [`COST_MAX`]. Only distributions draw from `rng`.
    #[inline]
    pub fn draw(&self, rng: &mut Pcg64) -> u64 {
        match &self.0 {
            Kind::Constant(ns) => *ns,
            Kind::Drawn(sampler) => sampler.draw(rng),
        }
    }

    /// The cost of every operation, in ns, if it is not drawn.
    pub fn constant_ns(&self) -> Option<u64> {
        match &self.0 {
            Kind::Constant(ns) => Some(*ns),
            Kind::Drawn(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::rand_core::SeedableRng;

    #[test]
    fn constants_and_functions_draw_nothing() {
        let mut rng = Pcg64::seed_from_u64(1);
        let untouched = rng.clone();
        let points = [(10, 1_000), (20, 3_000)];
        let function = Cost::PiecewiseLinear(PiecewiseLinear::through(points).expect("valid"));
        assert_eq!(Cost::Zero.prepare(3).draw(&mut rng), 0);
        assert_eq!(Cost::Constant(Duration::from_us(7)).prepare(3).draw(&mut rng), 7_000);
        assert_eq!(
            [10, 15, 20, 25].map(|n| function.prepare(n).draw(&mut rng)),
            [1_000, 2_000, 3_000, 4_000]
        );
        assert_eq!(rng, untouched);
        assert_eq!((function.mean_ns(15), Cost::Zero.mean_ns(1)), (2_000, 0));
    }

    #[test]
    fn reads_times_and_distributions() {
        assert_eq!("2us".parse(), Ok(Cost::Constant(Duration::from_us(2))));
        assert_eq!("0ns".parse(), Ok(Cost::Zero));
        let uniform = Distribution::uniform(Duration::from_us(1), Duration::from_us(5)).expect("valid");
        assert_eq!("uniform:1us, 5us".parse(), Ok(Cost::Distribution(uniform)));
        for (text, part) in [
            ("2", "no unit"),
            ("", "number"),
            ("1001s", "limit"),
            ("uniform:1us", "two times"),
            ("uniform:5us,1us", "LOW"),
            ("uniform:1us,2000s", "limit"),
            ("gauss:1us,2us", "gauss"),
            ("normal:1us", "MEAN,SD"),
            ("exponential:1us,2us,3us", "MEAN"),
            ("normal:2us,1us,1us", "MAX"),
        ] {
            let error = text.parse::<Cost>().expect_err(text);
            assert!(error.message.contains(part), "{text}: {error}");
            assert!(error.hint.is_some(), "{text}");
        }
    }
}
