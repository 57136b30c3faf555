//! Capacities of bins on one denominator, so that loads are compared with them in integers.

use crate::Bin;
use laxity_model::{Diagnostic, LoadSum, Result, Utilization};
use num_rational::{BigRational, Ratio};
use num_traits::ToPrimitive;
use std::cmp::Ordering;

/// The usable capacity of every bin: its capacity times the limit (SCHED_DEADLINE's 95 %).
#[derive(Debug, Clone)]
pub(crate) struct Capacities {
    numerators: Vec<u64>,
    denominator: u64,
    largest: u64,
    largest_q64: u128,
}

impl Capacities {
    /// An error if the capacities have no common denominator below 2^64.
    pub fn new(bins: &[Bin], limit: &Utilization) -> Result<Self> {
        let usable: Vec<BigRational> =
            bins.iter().map(|bin| bin.capacity().times(limit).as_rational().clone()).collect();
        let one = BigRational::from_integer(1.into()).numer().clone();
        // lcm(a, b) = a * (b / gcd(a, b)), and b / gcd(a, b) is the denominator of the reduced a/b
        let common = usable.iter().fold(one, |lcm, share| {
            let reduced = Ratio::new(lcm.clone(), share.denom().clone());
            lcm * reduced.denom()
        });
        let numerator = |share: &BigRational| (share.numer() * (&common / share.denom())).to_u64();
        let numerators: Option<Vec<u64>> = usable.iter().map(numerator).collect();
        match (numerators, common.to_u64()) {
            (Some(numerators), Some(denominator)) => {
                let largest = numerators.iter().copied().max().unwrap_or(0);
                let mut whole = LoadSum::new();
                whole.add_ratio(largest, denominator);
                Ok(Capacities { numerators, denominator, largest, largest_q64: whole.at_least_q64() })
            }
            _ => Err(Diagnostic::usage(
                "the speeds of the CPUs and the capacity limit have no common denominator below 2^64",
            )
            .hint("round the speeds, for instance to multiples of 1/1024")),
        }
    }

    /// True if every bin has the same capacity.
    pub fn equal(&self) -> bool {
        self.numerators.iter().all(|&capacity| capacity == self.largest)
    }

    /// The usable capacity of a bin as numerator and denominator.
    pub fn of(&self, bin: usize) -> (u64, u64) {
        (self.numerators[bin], self.denominator)
    }

    /// The largest usable capacity as numerator and denominator.
    pub fn largest(&self) -> (u64, u64) {
        (self.largest, self.denominator)
    }

    /// The same as [`LoadSum::at_least_q64`] says it.
    pub fn largest_q64(&self) -> u128 {
        self.largest_q64
    }

    /// An empty bin. A bin smaller than the largest starts filled by the difference, so that all bins are
    /// compared with one capacity and the fullest is the one with the least room.
    pub fn empty(&self, bin: usize) -> LoadSum {
        let mut filled = LoadSum::new();
        let missing = self.largest - self.numerators[bin];
        if missing > 0 {
            filled.add_ratio(missing, self.denominator);
        }
        filled
    }

    /// The sum of all usable capacities.
    pub fn total(&self) -> Utilization {
        let whole = |capacity: &u64| Utilization::ratio(*capacity, self.denominator);
        self.numerators.iter().map(whole).fold(Utilization::zero(), |sum, share| sum.plus(&share))
    }

    /// Compares two loads relative to the capacities of their bins, exactly.
    pub fn compare_relative(&self, a: (usize, &LoadSum), b: (usize, &LoadSum)) -> Ordering {
        if self.numerators[a.0] == self.numerators[b.0] {
            return a.1.cmp_sum(b.1);
        }
        // load_a / cap_a against load_b / cap_b
        a.1.cmp_times(self.numerators[b.0], b.1, self.numerators[a.0])
    }

    /// Bins by their loads relative to their capacities, the lowest first; of equals the first.
    pub fn by_relative<'l>(&'l self, loads: &'l [LoadSum]) -> impl Fn(usize, usize) -> Ordering + 'l {
        |a, b| self.compare_relative((a, &loads[a]), (b, &loads[b])).then(a.cmp(&b))
    }

    /// The bin with the largest load relative to its capacity; the first of equals.
    pub fn heaviest(&self, loads: &[LoadSum]) -> usize {
        (1..loads.len()).fold(0, |worst, bin| {
            match self.compare_relative((bin, &loads[bin]), (worst, &loads[worst])) {
                Ordering::Greater => bin,
                _ => worst,
            }
        })
    }
}
