//! Random numbers that are the same on every machine.
//!
//! 1. The generator is PCG64 (PCG XSL RR 128/64 LCG; O'Neill 2014), `rand_pcg::Pcg64`.
//! 2. Set k of a seed draws from streams that are functions of (seed, k, purpose) alone: state and increment
//!    (256 bits) come from SplitMix64 finalisers chained over the three words. Set k is therefore the same
//!    however many sets are asked for, and an option that draws something else (phases, say) leaves the
//!    utilizations and periods as they were.
//! 3. The steps from 64 random bits to a number are written here, so that no version of a library changes
//!    the bytes; transcendental functions come from `libm`, never from the platform.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// Name of the random number generator in a set's provenance.
pub const RNG_NAME: &str = "pcg64";

/// What a stream is drawn for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Utilizations = 1,
    Periods = 2,
    Deadlines = 3,
    Phases = 4,
    WorkingSets = 5,
    Runnables = 6,
    Members = 7,
}

/// A stream of random numbers.
pub(crate) struct Stream(Pcg64);

impl Stream {
    /// The stream of set `index` of `seed` for one purpose.
    pub(crate) fn new(seed: u64, index: u64, purpose: Purpose) -> Self {
        let lane = |lane: u64| u128::from(mixed(&[lane, seed, index, purpose as u64]));
        Stream(Pcg64::new(lane(1) << 64 | lane(2), lane(3) << 64 | lane(4)))
    }

    /// Uniform on the multiples of 2^-53 in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on `0 .. count`, without bias (Lemire 2019). `count` must be positive.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        let biased_below = count.wrapping_neg() % count;
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(count);
            let (high, low) = ((product >> 64) as u64, product & u128::from(u64::MAX));
            if low >= u128::from(biased_below) {
                return high;
            }
        }
    }

    /// Uniform on `low ..= high`, which must not be empty nor all of u64.
    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Exponentially distributed with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// A uniformly random order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = usize::try_from(self.below(last as u64 + 1)).expect("an index below a length");
            items.swap(chosen, last);
        }
    }
}

/// A seed for one point of a grid, from the seed of the grid and the point's coordinates.
pub fn seed_of(words: &[u64]) -> u64 {
    mixed(words)
}

/// SplitMix64's finaliser (Steele, Lea and Flood 2014), chained over the words.
fn mixed(words: &[u64]) -> u64 {
    words.iter().fold(0, |state, &word| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    })
}

/// `floor(x)` of a finite, non-negative double below 2^64.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast is the floor; it saturates"
)]
pub(crate) fn floor_u64(x: f64) -> u64 {
    x as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finaliser_is_splitmix64s() {
        // First output of the reference implementation for seed 0 and for seed 1234567.
        assert_eq!(mixed(&[0]), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mixed(&[1_234_567]), 6_457_827_717_110_365_317);
    }

    #[test]
    fn every_word_of_the_key_changes_the_stream() {
        let first = |seed, index, purpose| Stream::new(seed, index, purpose).0.next_u64();
        let reference = first(1, 2, Purpose::Periods);
        assert_eq!(reference, first(1, 2, Purpose::Periods));
        assert_ne!(reference, first(2, 2, Purpose::Periods));
        assert_ne!(reference, first(1, 3, Purpose::Periods));
        assert_ne!(reference, first(2, 1, Purpose::Periods));
        assert_ne!(reference, first(1, 2, Purpose::Phases));
    }

    #[test]
    fn neighbouring_streams_are_uncorrelated() {
        let draws = 100_000;
        let mut products = 0.0;
        for index in 0..draws {
            let [a, b] = [index, index + 1].map(|k| Stream::new(7, k, Purpose::Periods).unit() - 0.5);
            products += a * b;
        }
        // each product has mean 0 and variance 1/144
        let sigma = (1.0 / 144.0 / draws as f64).sqrt();
        assert!((products / draws as f64).abs() < 5.0 * sigma, "{products}");
    }

    #[test]
    fn bounded_numbers_are_uniform() {
        let mut stream = Stream::new(3, 0, Purpose::Periods);
        let mut counts = [0u32; 7];
        (0..70_000).for_each(|_| counts[usize::try_from(stream.below(7)).expect("small")] += 1);
        // binomial(70000, 1/7): sd 92.6
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 463), "{counts:?}");
        assert_eq!((0..100).map(|_| stream.within(5, 5)).max(), Some(5));
    }

    #[test]
    fn shuffled_orders_are_uniform() {
        let mut stream = Stream::new(4, 0, Purpose::Periods);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..60_000 {
            let mut order = [0, 1, 2];
            stream.shuffle(&mut order);
            *counts.entry(order).or_insert(0u32) += 1;
        }
        // binomial(60000, 1/6): sd 91.3
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|&count| count.abs_diff(10_000) < 457), "{counts:?}");
    }
}
