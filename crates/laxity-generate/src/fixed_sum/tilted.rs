//! The same law without a table, for many numbers.
//!
//! n - 1 numbers are drawn independently from [0, 1] with a density in proportion to e^(-r u), and the last is what is missing to s. The
//! vector is kept with the probability e^(-r u_n) if u_n is in [0, 1], and drawn again otherwise. Each vector that is kept has the
//! density e^(-r u_1) ... e^(-r u_n) = e^(-r s), the same for all: they are uniform on {0 <= u_i <= 1, sum u_i = s}, whatever r is.
//! (Exponential tilting, as in importance sampling of rare sums.)
//!
//! With the r that makes s / n the mean, a vector is kept in about 2.5 sigma sqrt(n) / p trials, sigma being the deviation of
//! a number and p the mean of e^(-r u_n): O(n^1.5) in all, and O(n) memory. Above a mean of 1/2 the numbers are 1 - u.

use crate::stream::Stream;

/// Numbers with a given sum, each drawn by itself.
#[derive(Debug, Clone)]
pub(super) struct Tilted {
    count: usize,
    /// Of the numbers, or of what they lack to 1.
    sum: f64,
    lacking: bool,
    rate: f64,
    /// 1 - e^(-r).
    mass: f64,
}

/// The mean of a density in proportion to e^(-r u) on [0, 1].
fn mean(rate: f64) -> f64 {
    // Near 0 the difference cancels: 1/2 - r/12.
    if rate < 1e-4 { 0.5 - rate / 12.0 } else { 1.0 / rate - 1.0 / libm::expm1(rate) }
}

impl Tilted {
    /// `0 < sum < count`.
    pub(super) fn new(count: usize, sum: f64) -> Self {
        let whole = count as f64;
        let lacking = sum > whole / 2.0;
        let sum = if lacking { whole - sum } else { sum };
        // The mean falls with the rate, and is below 1/r.
        let (wanted, mut low, mut high) = (sum / whole, 0.0, whole / sum);
        // Halved until neighbours among doubles; any rate is right, this one is kept most often.
        for _ in 0..64 {
            let middle = (low + high) / 2.0;
            if mean(middle) > wanted { low = middle } else { high = middle }
        }
        Tilted { count, sum, lacking, rate: low, mass: -libm::expm1(-low) }
    }

    /// One vector; its sum is right up to rounding.
    pub(super) fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        let mut numbers = vec![0.0; self.count];
        let Some((last, others)) = numbers.split_last_mut() else { return numbers };
        loop {
            others.iter_mut().for_each(|number| *number = self.number(stream));
            *last = self.sum - others.iter().sum::<f64>();
            if (0.0..=1.0).contains(last) && stream.unit() < libm::exp(-self.rate * *last) {
                break;
            }
        }
        if self.lacking {
            numbers.iter_mut().for_each(|number| *number = 1.0 - *number);
        }
        numbers
    }

    fn number(&self, stream: &mut Stream) -> f64 {
        let unit = stream.unit();
        // The limit for r = 0 is uniform.
        if self.mass == 0.0 {
            return unit;
        }
        (-libm::log1p(-unit * self.mass) / self.rate).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::FixedSum;
    use super::*;
    use crate::stream::Purpose;

    /// Of vectors: the mean of u^2, of the largest, and of the first number with their squares' deviations.
    fn moments(mut draw: impl FnMut(&mut Stream) -> Vec<f64>, stream: &mut Stream) -> [(f64, f64); 3] {
        const VECTORS: f64 = 2000.0;
        let mut sums = [(0.0, 0.0); 3];
        for _ in 0..2000 {
            let numbers = draw(stream);
            let square = numbers.iter().map(|u| u * u).sum::<f64>() / numbers.len() as f64;
            let largest = numbers.iter().copied().fold(0.0, f64::max);
            for (sum, value) in sums.iter_mut().zip([square, largest, numbers[0]]) {
                *sum = (sum.0 + value, sum.1 + value * value);
            }
        }
        sums.map(|(sum, squares)| {
            let mean = sum / VECTORS;
            (mean, (squares / VECTORS - mean * mean) / VECTORS)
        })
    }

    /// RandFixedSum's own law has been held against the exact one.
    #[test]
    fn vectors_have_the_moments_of_those_from_the_table() {
        for (count, sum) in [(2, 1.5), (3, 0.4), (8, 4.0), (50, 8.0), (50, 42.0), (200, 3.2)] {
            let mut stream = Stream::new(11, count as u64, Purpose::Utilizations);
            let (table, tilted) = (FixedSum::new(count, sum), Tilted::new(count, sum));
            let from_table = moments(|stream| table.draw(stream), &mut stream);
            let own = moments(|stream| tilted.draw(stream), &mut stream);
            for ((one, one_variance), (other, other_variance)) in from_table.into_iter().zip(own) {
                let error = (one_variance + other_variance).sqrt();
                assert!(
                    (one - other).abs() < 5.0 * error + 1e-9,
                    "n={count} s={sum}: {one} and {other}, +-{error}"
                );
            }
        }
    }

    #[test]
    fn vectors_have_their_sum_and_range() {
        for (count, sum) in [(5000, 3.0), (5000, 2500.0), (5000, 4990.0), (20_000, 3200.0)] {
            let mut stream = Stream::new(3, 0, Purpose::Utilizations);
            let numbers = Tilted::new(count, sum).draw(&mut stream);
            assert_eq!(numbers.len(), count);
            assert!(numbers.iter().all(|number| (0.0..=1.0).contains(number)));
            assert!((numbers.iter().sum::<f64>() - sum).abs() < 1e-9 * count as f64);
        }
    }
}
