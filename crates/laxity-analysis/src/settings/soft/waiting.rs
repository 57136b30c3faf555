//! How much work a job finds before it: an upper bound on a stationary distribution, in whole granules and fixed point.
//!
//! W' = max(0, W + U - c) with independent U of one distribution and `E[U] < c` (Lindley's recursion). For every function G that is at
//! least P(W >= x) of the stationary W, so is x -> sum over u of P(U = u) G(x + c - u), with G = 1 at 0 and below. So one begins with a
//! bound and improves it as often as one likes; all roundings go up. It begins with Kingman's, z^-x for a z > 1 with `E[z^(U - c)] <= 1`
//! (Kingman: A martingale inequality in the theory of queues, Proc. Cambridge Phil. Soc. 60, 1964).

use super::CERTAIN;
use super::law::fixed;

/// Upper bounds on P(W >= x), for x from 0 on.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// P(U = u) of those u that occur.
    weights: Vec<(usize, u64)>,
    drift: usize,
    /// For x from 0 on; improved up to `improved`, and Kingman's bound beyond.
    tail: Vec<u64>,
    improved: usize,
}

/// A bound is kept for at most so many granules.
const LENGTH_MAX: usize = 1 << 14;
/// Steps of the search for z.
const STEPS: u32 = 60;
/// Powers and sums are wrong by less than this part of themselves.
const POWERS_ERROR: f64 = 1e-11;

impl Waiting {
    /// Kingman's bound, kept to where it is at most `negligible`, in units of 2^-62. Nothing if `E[U] >= c`, or so little below it that the
    /// bound is longer than what is kept.
    pub fn new(weights: &[u64], drift: usize, negligible: u64) -> Option<Self> {
        let weights: Vec<(usize, u64)> = weights.iter().copied().enumerate().filter(|it| it.1 > 0).collect();
        let longest = weights.last()?.0;
        if longest <= drift {
            return Some(Waiting { weights, drift, tail: vec![CERTAIN], improved: 0 });
        }
        let z = decay(&weights, drift)?;
        let mut tail = vec![CERTAIN];
        let mut power = 1.0;
        let mut improved = 0;
        while tail.len() <= improved + drift || improved == 0 {
            if tail.len() > LENGTH_MAX {
                return None;
            }
            power *= (1.0 + POWERS_ERROR) / z;
            let bound = (fixed(power) + 1).min(CERTAIN);
            if improved == 0 && bound <= negligible.max(2) {
                improved = tail.len();
            }
            tail.push(bound);
        }
        Some(Waiting { weights, drift, tail, improved })
    }

    /// Improves all bounds once.
    pub fn improve(&mut self) {
        for x in 1..=self.improved {
            let better = self.sum(x + self.drift);
            if better < self.tail[x] {
                self.tail[x] = better;
            }
        }
    }

    /// An upper bound on the probability that W + U is above the threshold.
    pub fn above(&self, threshold: usize) -> u64 {
        self.sum(threshold + 1)
    }

    /// The sum over u of P(U = u) P(W >= x - u), rounded up.
    fn sum(&self, x: usize) -> u64 {
        let last = self.tail.len() - 1;
        let no_waiting = last == 0;
        let of = |&(u, weight): &(usize, u64)| {
            let waits = match x.checked_sub(u) {
                None | Some(0) => CERTAIN,
                Some(_) if no_waiting => 0,
                Some(left) => self.tail[left.min(last)],
            };
            u128::from(weight) * u128::from(waits)
        };
        let sum: u128 = self.weights.iter().map(of).sum();
        u64::try_from(sum.div_ceil(u128::from(CERTAIN))).unwrap_or(CERTAIN).min(CERTAIN)
    }
}

/// A z > 1 with `E[z^(U - c)] <= 1`, nearly the greatest.
fn decay(weights: &[(usize, u64)], drift: usize) -> Option<f64> {
    let is_above = |&(u, _): &(usize, u64)| u > drift;
    if !weights.iter().any(is_above) {
        return None;
    }
    let mean: u128 = weights.iter().map(|&(u, weight)| u as u128 * u128::from(weight)).sum();
    if mean >= drift as u128 * u128::from(CERTAIN) {
        return None;
    }
    let (mut holds, mut fails) = (1.0, 2.0);
    while is_below_one(weights, drift, fails) && fails < 1e18 {
        (holds, fails) = (fails, fails * 2.0);
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(holds, fails);
        if is_below_one(weights, drift, middle) { holds = middle } else { fails = middle }
    }
    (holds > 1.0).then_some(holds)
}

/// Whether `E[z^(U - c)] <= 1`, with certainty.
fn is_below_one(weights: &[(usize, u64)], drift: usize, z: f64) -> bool {
    let longest = weights.last().map_or(0, |last| last.0);
    let mut powers = vec![1.0; longest.max(drift) + 1];
    for at in 1..powers.len() {
        powers[at] = powers[at - 1] * z;
    }
    #[expect(clippy::cast_precision_loss, reason = "within the error that is allowed for")]
    let of = |&(u, weight): &(usize, u64)| {
        let share = weight as f64 / CERTAIN as f64;
        share * if u >= drift { powers[u - drift] } else { 1.0 / powers[drift - u] }
    };
    weights.iter().map(of).sum::<f64>() * (1.0 + POWERS_ERROR) <= 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of twice as many halves as there are.
    fn weights(of: &[u64]) -> Vec<u64> {
        let all: u64 = of.iter().sum();
        of.iter().map(|&one| CERTAIN / all * one).collect()
    }

    #[test]
    fn a_walk_of_single_steps_is_geometric() {
        // Up by 1 with 1/4, else down by 1: P(W >= x) = (1/3)^x.
        let mut waiting = Waiting::new(&weights(&[3, 0, 1]), 1, 1 << 10).expect("a bound");
        for x in 1..20 {
            let exact = CERTAIN / 3u64.pow(u32::try_from(x).expect("small"));
            let bound = waiting.tail[x];
            assert!(bound >= exact && bound - exact <= exact / 1_000_000 + 4, "{x}: {bound} of {exact}");
        }
        waiting.improve();
        assert!(waiting.tail[5] >= CERTAIN / 3u64.pow(5));
    }

    #[test]
    fn improving_comes_to_the_stationary_distribution() {
        // By the recursion from 0, whose limit from below it is.
        for (of, drift) in [(vec![1, 2, 3, 2, 1], 3), (vec![0, 5, 0, 0, 0, 1], 2), (vec![0, 1, 1, 1, 1], 3)] {
            let of = weights(&of);
            let mut waiting = Waiting::new(&of, drift, 1 << 20).expect("a bound");
            (0..400).for_each(|_| waiting.improve());
            let mut exact = vec![0.0; 400];
            exact[0] = 1.0;
            for _ in 0..3_000 {
                let mut next = vec![0.0; 400];
                for (w, chance) in exact.iter().enumerate() {
                    for (u, &weight) in of.iter().enumerate() {
                        #[expect(clippy::cast_precision_loss, reason = "to 9 digits")]
                        let share = weight as f64 / CERTAIN as f64;
                        next[(w + u).saturating_sub(drift).min(399)] += chance * share;
                    }
                }
                exact = next;
            }
            for x in 1..8 {
                let share: f64 = exact[x..].iter().sum();
                #[expect(clippy::cast_precision_loss, reason = "to 9 digits")]
                let bound = waiting.tail[x] as f64 / CERTAIN as f64;
                assert!(bound >= share - 1e-12 && bound <= share + 1e-8, "{drift}, {x}: {bound} of {share}");
            }
        }
    }

    #[test]
    fn no_bound_where_work_piles_up() {
        assert!(Waiting::new(&weights(&[1, 0, 1]), 1, 1 << 20).is_none(), "as much as there is room for");
        assert!(Waiting::new(&weights(&[1, 0, 2]), 1, 1 << 20).is_none());
        let never = Waiting::new(&weights(&[0, 1, 1]), 2, 1 << 20).expect("no waiting");
        assert_eq!([0, 1, 2].map(|threshold| never.above(threshold)), [CERTAIN, CERTAIN / 2, 0]);
    }
}
