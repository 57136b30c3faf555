//! RandFixedSum against its exact law, computed in rationals.

use super::FixedSum;
use crate::stream::{Purpose, Stream};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero, pow};
use proptest::prelude::*;

/// `sum_k (-1)^k C(n,k) (x-k)_+^power / power!`, exactly: the Irwin-Hall density f_n(x) for power n - 1, the
/// distribution function F_n(x) for power n.
fn irwin_hall(count: u32, power: u32, x: &BigRational) -> BigRational {
    let mut sum = BigRational::zero();
    let mut binomial = BigInt::one();
    for k in 0..=count {
        let beyond = x - whole(k);
        if beyond <= BigRational::zero() {
            break;
        }
        let term = pow(beyond, power as usize) * BigRational::from_integer(binomial.clone());
        sum = if k % 2 == 0 { sum + term } else { sum - term };
        binomial = binomial * BigInt::from(count - k) / BigInt::from(k + 1);
    }
    (1..=power).fold(sum, |sum, k| sum / whole(k))
}

fn density(count: u32, x: &BigRational) -> BigRational {
    irwin_hall(count, count - 1, x)
}

fn whole(number: u32) -> BigRational {
    BigRational::from_integer(number.into())
}

fn tenths(number: u32) -> BigRational {
    BigRational::new(number.into(), 10.into())
}

/// The exact law of n numbers in [0, 1] with sum U.
struct Law {
    count: u32,
    sum: BigRational,
    density: BigRational,
}

impl Law {
    fn new(count: u32, sum_tenths: u32) -> Self {
        let sum = tenths(sum_tenths);
        Law { count, density: density(count, &sum), sum }
    }

    /// P(u <= a) = (F_{n-1}(U) - F_{n-1}(U-a)) / f_n(U).
    fn one_at_most(&self, a: &BigRational) -> f64 {
        let n = self.count - 1;
        let below = irwin_hall(n, n, &self.sum) - irwin_hall(n, n, &(&self.sum - a));
        (below / &self.density).to_f64().expect("finite")
    }

    /// P(max <= c) = c^(n-1) f_n(U/c) / f_n(U).
    fn all_at_most(&self, c: &BigRational) -> f64 {
        let scaled = density(self.count, &(&self.sum / c));
        (pow(c.clone(), self.count as usize - 1) * scaled / &self.density).to_f64().expect("finite")
    }

    /// P(min >= c) = P(max <= 1-c) of the complements 1 - u, whose sum is n - U.
    fn all_at_least(&self, c: &BigRational) -> f64 {
        let complement = whole(self.count) - &self.sum;
        let law = Law { count: self.count, density: density(self.count, &complement), sum: complement };
        law.all_at_most(&(BigRational::one() - c))
    }
}

fn draws(count: u32, sum_tenths: u32, sets: u32) -> impl Iterator<Item = Vec<f64>> {
    let table = FixedSum::new(count as usize, f64::from(sum_tenths) / 10.0);
    let mut stream = Stream::new(2010, u64::from(count), Purpose::Utilizations);
    (0..sets).map(move |_| table.draw(&mut stream))
}

/// Counts of an event within 5 standard deviations of its exact probability.
fn assert_frequency(seen: u32, of: u32, p: f64, what: &str) {
    let sigma = (f64::from(of) * p * (1.0 - p)).sqrt();
    let distance = (f64::from(seen) - f64::from(of) * p).abs();
    assert!(
        distance <= 5.0 * sigma + 1e-6,
        "{what}: {seen} of {of}, exactly {p:.6} ({:.1} sigma)",
        distance / sigma
    );
}

/// A sample's mean within 5 standard errors (and half the last digit) of a published value.
fn assert_mean(sample: &[f64], published: f64, half_digit: f64, what: &str) {
    let mean = sample.iter().sum::<f64>() / sample.len() as f64;
    let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / sample.len() as f64;
    let error = (variance / sample.len() as f64).sqrt();
    assert!((mean - published).abs() <= 5.0 * error + half_digit, "{what}: {mean} is not {published}");
}

const SETS: u32 = 200_000;

/// n, U in tenths, mean, sd, E[u^2], E[max]: the exact vectors.
const VECTORS: [(u32, u32, f64, f64, f64, f64); 4] = [
    (5, 20, 0.4, 0.26515, 0.230303, 0.78303),
    (20, 32, 0.16, 0.15027, 0.048181, 0.56685),
    (10, 60, 0.6, 0.27189, 0.433925, 0.94901),
    (20, 160, 0.8, 0.18246, 0.673291, 0.98981),
];

#[test]
fn moments_are_the_exact_ones() {
    for (count, sum_tenths, mean, sd, square, max) in VECTORS {
        let (mut firsts, mut squares, mut maxima) = (Vec::new(), Vec::new(), Vec::new());
        for numbers in draws(count, sum_tenths, SETS) {
            firsts.push(numbers[0]);
            squares.push(numbers.iter().map(|u| u * u).sum::<f64>() / f64::from(count));
            maxima.push(numbers.iter().copied().fold(0.0, f64::max));
        }
        let what = |name: &str| format!("{name} at n={count}, U={}", f64::from(sum_tenths) / 10.0);
        assert_mean(&firsts, mean, 0.0, &what("mean of the first"));
        assert_mean(&squares, square, 5e-7, &what("E[u^2]"));
        assert_mean(&maxima, max, 5e-6, &what("E[max]"));
        let deviations: Vec<f64> = firsts.iter().map(|u| (u - mean).powi(2)).collect();
        assert_mean(&deviations, sd * sd, 1e-5 * sd, &what("variance of the first"));
    }
}

/// Each position has the exact marginal distribution: a vector that is not shuffled has not.
#[test]
fn every_position_has_the_exact_marginal_distribution() {
    for (count, sum_tenths, ..) in VECTORS {
        let law = Law::new(count, sum_tenths);
        let positions = [0, count as usize / 2, count as usize - 1];
        let mut seen = [[0u32; 10]; 3];
        for numbers in draws(count, sum_tenths, SETS) {
            for (seen, position) in seen.iter_mut().zip(positions) {
                (1..10).filter(|&a| numbers[position] <= a as f64 / 10.0).for_each(|a| seen[a] += 1);
            }
        }
        for (a, tenth) in (1..10).zip(1u32..) {
            let p = law.one_at_most(&tenths(tenth));
            for (seen, position) in seen.iter().zip(positions) {
                let what = format!("n={count} U={sum_tenths}/10 P(u_{position} <= {tenth}/10)");
                assert_frequency(seen[a], SETS, p, &what);
            }
        }
    }
}

/// Two events about the whole vector, which the marginals do not decide.
#[test]
fn largest_and_smallest_have_their_exact_distribution() {
    for (count, sum_tenths, ..) in VECTORS {
        let law = Law::new(count, sum_tenths);
        let (mut all_below, mut all_above) = ([0u32; 20], [0u32; 20]);
        let twentieth = |c: usize| c as f64 / 20.0;
        for numbers in draws(count, sum_tenths, SETS) {
            let [min, max] =
                [f64::min, f64::max].map(|pick| numbers.iter().copied().reduce(pick).expect("numbers"));
            (1..20).filter(|&c| max <= twentieth(c)).for_each(|c| all_below[c] += 1);
            (1..20).filter(|&c| min >= twentieth(c)).for_each(|c| all_above[c] += 1);
        }
        for (c, exact) in (1..20).zip(1u32..).map(|(c, k)| (c, BigRational::new(k.into(), 20.into()))) {
            assert_frequency(
                all_below[c],
                SETS,
                law.all_at_most(&exact),
                &format!("n={count} P(max <= {exact})"),
            );
            assert_frequency(
                all_above[c],
                SETS,
                law.all_at_least(&exact),
                &format!("n={count} P(min >= {exact})"),
            );
        }
    }
}

/// The published probabilities, which check the formulas above as well.
#[test]
fn the_formulas_give_the_published_probabilities() {
    assert!((Law::new(20, 32).all_at_most(&tenths(5)) - 0.36011).abs() < 5e-6);
    assert!((Law::new(5, 20).one_at_most(&tenths(5)) - 0.65341).abs() < 5e-6);
}

/// Where Stafford's volumes leave the range of a double. For U <= 1 the law is P(u <= a) = 1 - (1 - a/U)^(n-1),
/// and for U = n - 1/2 that of the complements.
#[test]
fn the_corners_of_large_sets_have_the_exact_marginal_distribution() {
    let count = 1000;
    for ten_thousandths in [1, 5, 10] {
        let a = f64::from(ten_thousandths) / 1e4;
        let p = 1.0 - (1.0 - a / 0.5).powi(999);
        let share = |numbers: Vec<f64>, low: f64, high: f64| {
            numbers.iter().filter(|&&u| (low..=high).contains(&u)).count() as f64 / f64::from(count)
        };
        let near_zero: Vec<f64> = draws(count, 5, 300).map(|numbers| share(numbers, 0.0, a)).collect();
        let near_one: Vec<f64> =
            draws(count, 9_995, 300).map(|numbers| share(numbers, 1.0 - a, 1.0)).collect();
        assert_mean(&near_zero, p, 0.0, &format!("n=1000 U=0.5 P(u <= {a})"));
        assert_mean(&near_one, p, 0.0, &format!("n=1000 U=999.5 P(u >= 1 - {a})"));
    }
}

/// The size at which speed is promised.
#[test]
fn sets_of_320_have_the_exact_marginal_distribution() {
    let law = Law::new(320, 512);
    let numbers: Vec<Vec<f64>> = draws(320, 512, 1_000).collect();
    for tenth in [1, 4] {
        let limit = f64::from(tenth) / 10.0;
        let share = |numbers: &Vec<f64>| numbers.iter().filter(|&&u| u <= limit).count() as f64 / 320.0;
        let shares: Vec<f64> = numbers.iter().map(share).collect();
        assert_mean(&shares, law.one_at_most(&tenths(tenth)), 0.0, &format!("n=320 P(u <= {limit})"));
    }
}

/// Step probabilities against the Irwin-Hall densities they stand for, in exact rationals.
#[test]
fn the_table_is_the_exact_one() {
    for (count, sum_tenths) in [(2, 5), (5, 20), (9, 33), (20, 32), (20, 160), (24, 235), (40, 7)] {
        let sum = tenths(sum_tenths);
        let table = FixedSum::new(count, f64::from(sum_tenths) / 10.0);
        let mut at = 0;
        for left in 2..=count {
            for c in 0..table.width(left) {
                let x = &sum - BigRational::from_integer(table.whole.into())
                    + BigRational::from_integer(c.into());
                let one_fewer = u32::try_from(left - 1).expect("small");
                // f_1 is 1 on [0, 1): the general formula has 0^0 at x = 0
                let f = |x: &BigRational| match one_fewer {
                    1 if *x >= BigRational::zero() && *x < BigRational::one() => BigRational::one(),
                    1 => BigRational::zero(),
                    n => density(n, x),
                };
                let up = (BigRational::from_integer(left.into()) - &x) * f(&(&x - BigRational::one()));
                let stay = &x * f(&x);
                let all = &up + &stay;
                if !all.is_zero() {
                    let exact = (up / all).to_f64().expect("finite");
                    assert!(
                        (table.step[at] - exact).abs() < 1e-12,
                        "n={count} s={sum} row {left} column {c}"
                    );
                }
                at += 1;
            }
        }
        assert_eq!(at, table.step.len());
    }
}

#[test]
fn degenerate_sums_have_one_vector() {
    let mut stream = Stream::new(1, 0, Purpose::Utilizations);
    assert_eq!(FixedSum::new(4, 4.0).draw(&mut stream), [1.0; 4]);
    assert_eq!(FixedSum::new(1, 0.25).draw(&mut stream), [0.25]);
}

laxity_seeds::properties! {
    #[test]
    fn sums_hold_and_numbers_stay_in_range(seed: u64, count in 1usize..700, share in 1u32..=1000) {
        let sum = count as f64 * f64::from(share) / 1000.0;
        let numbers = FixedSum::new(count, sum).draw(&mut Stream::new(seed, 0, Purpose::Utilizations));
        prop_assert_eq!(numbers.len(), count);
        prop_assert!(numbers.iter().all(|u| (0.0..=1.0).contains(u)));
        let total: f64 = numbers.iter().sum();
        prop_assert!((total - sum).abs() < 1e-11 * sum.max(1.0), "{} {}", total, sum);
    }
}
