//! UUniFast-Discard: UUniFast, repeated until no task exceeds 1.
//!
//! 1. S = U; for i = 1 .. n-1: S' = S r^(1/(n-i)), u_i = S - S', S = S'; the last task takes S.
//! 2. A vector with some u_i > 1 is discarded and drawn again, so what is left is uniform on the same set as
//!    RandFixedSum's vectors, which the generator `emberson` draws without discarding.
//! 3. C as in `emberson`.
//!
//! Sources: E. Bini, G. Buttazzo, "Measuring the performance of schedulability tests", Real-Time Systems 30,
//! 2005; R. I. Davis, A. Burns, "Improved priority assignment for global fixed priority pre-emptive
//! scheduling in multiprocessor real-time systems", Real-Time Systems 47, 2011 (discard).

use crate::draft::{Draft, trim_to};
use crate::fixed_sum::root;
use crate::generator::{Description, Draw, Generator, Options};
use crate::parameter::{GRANULARITY, PERIODS, TASKS, UTILIZATION};
use crate::parameters::{Parametric, Reader};
use crate::periods::{PeriodSampler, Periods};
use crate::stream::{Purpose, Stream, floor_u64};
use crate::{Decimal, total};
use laxity_model::{Diagnostic, Duration, Result};

/// Sets that would be discarded more often than this are refused instead.
const ACCEPTANCE_MIN: f64 = 1e-4;

/// Attempts per expected attempt, after which drawing gives up: all fail with probability e^-40.
const PATIENCE: f64 = 40.0;

/// Options of the generator `uunifast`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UUniFast {
    /// Number of tasks n.
    pub tasks: u32,
    /// Total utilization U, `0 < U <= n`.
    pub utilization: Decimal,
    /// Distribution of the periods.
    pub periods: Periods,
    /// Periods are multiples of this.
    pub granularity: Duration,
}

impl UUniFast {
    /// `tasks` tasks of total `utilization`; periods log-uniform in 10-100 ms on a grid of 1 ms.
    pub fn new(tasks: u32, utilization: Decimal) -> Self {
        UUniFast { tasks, utilization, periods: Periods::default(), granularity: Duration::from_ms(1) }
    }
}

/// The probability that UUniFast's vector has no u_i > 1 and is kept:
/// `sum_k (-1)^k C(n,k) (1 - k/U)_+^(n-1)`.
///
/// Evaluated as `f_n(U) (n-1)! / U^(n-1)` with the Irwin-Hall density's recursion
/// `(i - 1) f_i(x) = x f_{i-1}(x) + (i - x) f_{i-1}(x - 1)`: all terms are positive and at most 1, whereas the
/// alternating sum cancels to nothing from about 50 tasks on. Relative error below n 2^-50 (0 where the
/// truth is below the smallest double). Complexity O(n U).
pub(crate) fn acceptance_probability(tasks: u32, utilization: Decimal) -> f64 {
    let total = utilization.to_f64();
    if total <= 1.0 {
        return 1.0;
    }
    if utilization > Decimal::whole(tasks) {
        return 0.0;
    }
    let whole = usize::try_from(floor_u64(total)).unwrap_or(usize::MAX);
    let fraction = total - whole as f64;
    // column c: f_i(fraction + c) (i - 1)! / U^(i - 1), from f_1 = 1 on [0, 1)
    let mut columns = vec![0.0; whole + 1];
    columns[0] = 1.0;
    for i in 2..=tasks {
        for c in (0..=whole).rev() {
            let x = fraction + c as f64;
            let before = if c == 0 { 0.0 } else { (f64::from(i) - x).max(0.0) * columns[c - 1] };
            columns[c] = (x * columns[c] + before) / total;
        }
    }
    columns[whole]
}

/// Checked options with the bound on attempts.
#[derive(Debug, Clone)]
pub(crate) struct PreparedUUniFast {
    options: UUniFast,
    periods: PeriodSampler,
    attempts_max: u64,
}

/// One vector, or nothing as soon as a number exceeds 1.
pub(crate) fn attempt(count: usize, total: f64, stream: &mut Stream) -> Option<Vec<f64>> {
    let mut rest = total;
    let mut numbers = Vec::with_capacity(count);
    for left in (1..count).rev() {
        let next = rest * root(stream.unit(), left);
        let number = rest - next;
        if number > 1.0 {
            return None;
        }
        numbers.push(number);
        rest = next;
    }
    numbers.push(rest);
    (rest <= 1.0).then_some(numbers)
}

/// What it is and takes.
pub(crate) const DESCRIPTION: Description = Description {
    name: "uunifast",
    summary: "n tasks of total utilization U by UUniFast, discarding sets with a task above 1",
    source: "Bini and Buttazzo 2005; Davis and Burns 2011",
    parameters: &[TASKS, UTILIZATION, PERIODS, GRANULARITY],
    makes: &[],
    example: "-n 8 -u 1.6 -o generated.toml",
    read: |reader| UUniFast::read(reader).map(Generator::from),
};

impl Parametric for UUniFast {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        Ok(UUniFast {
            tasks: reader.count("tasks")?,
            utilization: reader.value("utilization")?,
            periods: reader.value("periods")?,
            granularity: reader.value("granularity")?,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        vec![
            ("tasks", self.tasks.to_string()),
            ("utilization", self.utilization.to_string()),
            ("periods", self.periods.to_string()),
            ("granularity", self.granularity.to_string()),
        ]
    }
}

impl Options for UUniFast {
    type Prepared = PreparedUUniFast;

    const DESCRIPTION: &'static Description = &DESCRIPTION;

    fn prepare(&self) -> Result<PreparedUUniFast> {
        total::check(self.tasks, self.utilization)?;
        let periods = self.periods.sampler(self.granularity)?;
        let acceptance = acceptance_probability(self.tasks, self.utilization);
        if acceptance < ACCEPTANCE_MIN {
            return Err(Diagnostic::usage(format!(
                "uunifast with {} tasks and utilization {} accepts a set with probability {acceptance:.3e}, below {ACCEPTANCE_MIN:e}",
                self.tasks, self.utilization
            ))
            .hint("use `emberson`: it draws from the same distribution and discards nothing"));
        }
        Ok(PreparedUUniFast {
            options: self.clone(),
            periods,
            attempts_max: floor_u64(PATIENCE / acceptance),
        })
    }
}

impl Draw for PreparedUUniFast {
    fn draw(&self, seed: u64, index: u64) -> Result<Vec<Draft>> {
        let (count, total) = (self.options.tasks as usize, self.options.utilization.to_f64());
        let mut stream = Stream::new(seed, index, Purpose::Utilizations);
        let utilizations = (0..self.attempts_max).find_map(|_| attempt(count, total, &mut stream)).ok_or_else(|| {
            Diagnostic::usage(format!(
                "set {index} of seed {seed}: uunifast discarded {} sets in a row; it accepts one with probability {:.3e}",
                self.attempts_max,
                acceptance_probability(self.options.tasks, self.options.utilization)
            ))
            .hint("use `emberson`: it draws from the same distribution and discards nothing")
        })?;
        let mut stream = Stream::new(seed, index, Purpose::Periods);
        let tasks = utilizations.into_iter().enumerate();
        let mut drafts: Vec<Draft> =
            tasks.map(|(id, u)| Draft::with_utilization(id, u, self.periods.draw(&mut stream))).collect();
        trim_to(&mut drafts, self.options.utilization);
        Ok(drafts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use num_rational::BigRational;
    use num_traits::{One, ToPrimitive, Zero, pow};

    /// sum_k (-1)^k C(n,k) (1 - k/U)_+^(n-1), in exact rationals.
    fn exact(tasks: u32, utilization: Decimal) -> f64 {
        let total = BigRational::new(utilization.billionths().into(), 1_000_000_000.into());
        let mut sum = BigRational::zero();
        let mut binomial = BigInt::one();
        for k in 0..=tasks {
            let base = BigRational::one() - BigRational::from_integer(k.into()) / &total;
            if base <= BigRational::zero() {
                break;
            }
            let term = pow(base, tasks as usize - 1) * BigRational::from_integer(binomial.clone());
            sum = if k % 2 == 0 { sum + term } else { sum - term };
            binomial = binomial * BigInt::from(tasks - k) / BigInt::from(k + 1);
        }
        sum.to_f64().expect("finite")
    }

    fn decimal(text: &str) -> Decimal {
        text.parse().expect("decimal")
    }

    #[test]
    fn the_acceptance_probability_is_the_exact_one() {
        for (tasks, total) in [
            (2, "1.5"),
            (3, "2"),
            (5, "3.2"),
            (8, "3.2"),
            (20, "3.2"),
            (32, "12.8"),
            (40, "39.5"),
            (64, "51.2"),
            (320, "51.2"),
            (320, "1.000000001"),
            (7, "6"),
        ] {
            let (ours, exact) = (acceptance_probability(tasks, decimal(total)), exact(tasks, decimal(total)));
            assert!((ours / exact - 1.0).abs() < 1e-9, "n={tasks} U={total}: {ours} {exact}");
        }
        assert_eq!(acceptance_probability(5, decimal("0.3")), 1.0);
        assert_eq!(acceptance_probability(5, decimal("5.1")), 0.0);
    }

    /// The published figures at U = 0.8 m, three digits.
    #[test]
    fn the_acceptance_probability_has_its_known_values() {
        for (tasks, total, known) in [
            (5, "3.2", 0.081),
            (8, "3.2", 0.448),
            (20, "3.2", 0.984),
            (32, "12.8", 0.0141),
            (320, "51.2", 0.541),
        ] {
            let ours = acceptance_probability(tasks, decimal(total));
            assert!((ours / known - 1.0).abs() < 0.01, "n={tasks} U={total}: {ours}");
        }
    }

    #[test]
    fn attempts_are_accepted_as_often_as_the_formula_says() {
        for (tasks, total) in [(5u32, "3.2"), (8, "3.2"), (20, "3.2"), (32, "12.8"), (7, "6")] {
            let p = exact(tasks, decimal(total));
            let mut stream = Stream::new(5, u64::from(tasks), Purpose::Utilizations);
            let count = 100_000;
            let kept = (0..count)
                .filter(|_| attempt(tasks as usize, decimal(total).to_f64(), &mut stream).is_some())
                .count();
            let sigma = (f64::from(count) * p * (1.0 - p)).sqrt();
            assert!(
                (kept as f64 - f64::from(count) * p).abs() < 5.0 * sigma,
                "n={tasks} U={total}: {kept} p={p}"
            );
        }
    }

    /// What is kept has RandFixedSum's law: the same exact vectors, and the same mean at every position.
    #[test]
    fn kept_vectors_have_the_exact_moments() {
        for (tasks, total, square, max) in
            [(5usize, 2.0, 0.230303, 0.78303), (20, 3.2, 0.048181, 0.56685), (10, 6.0, 0.433925, 0.94901)]
        {
            let mut stream = Stream::new(8, tasks as u64, Purpose::Utilizations);
            let kept: Vec<Vec<f64>> = std::iter::repeat_with(|| attempt(tasks, total, &mut stream))
                .flatten()
                .take(20_000)
                .collect();
            let check = |sample: Vec<f64>, exact: f64, what: &str| {
                let mean = sample.iter().sum::<f64>() / 20_000.0;
                let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
                let error = (variance / 20_000.0).sqrt();
                assert!(
                    (mean - exact).abs() < 5.0 * error,
                    "n={tasks} U={total} {what}: {mean} is not {exact}"
                );
            };
            for position in 0..tasks {
                let numbers = kept.iter().map(|numbers| numbers[position]).collect();
                check(numbers, total / tasks as f64, &format!("mean at {position}"));
            }
            let mean_square = |numbers: &Vec<f64>| numbers.iter().map(|u| u * u).sum::<f64>() / tasks as f64;
            check(kept.iter().map(mean_square).collect(), square, "E[u^2]");
            let largest = |numbers: &Vec<f64>| numbers.iter().copied().fold(0.0, f64::max);
            check(kept.iter().map(largest).collect(), max, "E[max]");
        }
    }

    #[test]
    fn a_hopeless_set_is_refused_with_its_probability() {
        let error = UUniFast::new(64, decimal("51.2")).prepare().expect_err("hopeless");
        let exact = format!("{:.3e}", exact(64, decimal("51.2")));
        assert!(error.message.contains(&exact), "{} ({exact})", error.message);
        assert!(error.hint.expect("hint").contains("emberson"));
    }
}
