//! The integer program in integers: loads and capacities on common scales.
//!
//! A load is `weight / scale`. If the loads have a common denominator and their sum on it stays below 2^60, the
//! weights are exact; if not, they are rounded down on a scale of a power of two that uses these 60 bits. Capacities
//! above 2^40 are rounded up. Both roundings make loads relative to capacity smaller, so a bound on the rounded
//! program bounds the true one; an answer is computed again from the tasks.
//!
//! Loads relative to capacity are *levels*, integers in units of 1/`steps`. `steps` is the least common multiple of the
//! capacities where that stays below 2^50, and then every level is exact.

use crate::Request;
use crate::order::Item;
use laxity_model::Utilization;
use num_rational::{BigRational, Ratio};
use num_traits::ToPrimitive;
use std::collections::BTreeMap;

/// The sum of all weights stays below 2 to the power of this.
const TOTAL_BITS: u32 = 60;
/// Capacities are at most 2 to the power of this.
const CAPACITY_BITS: u32 = 40;
/// Levels have at most this many steps per unit of load and capacity, as a power of two.
const STEPS_BITS: u32 = 50;

/// Half of what [`crate::Optimality`] promises, relative to capacity: a search stops this close to its bound.
const TOLERANCE: f64 = 5e-7;

/// A load relative to capacity, in units of 1/`steps`.
pub(crate) type Level = u128;

/// Tasks, by decreasing load, and bins.
#[derive(Debug)]
pub(crate) struct Instance {
    /// By position in the order of tasks.
    pub weights: Vec<u64>,
    /// By bin.
    pub capacities: Vec<u64>,
    /// By position: the index of the task's kind.
    pub kind_of: Vec<usize>,
    /// By kind, by bin: whether tasks of the kind may go there.
    pub kinds: Vec<Vec<bool>>,
    /// An answer this close to a bound is as good as optimal; 0 where levels are coarser than that.
    pub tolerance: Level,
    steps: u128,
    /// A level of 1/`steps` as a load relative to capacity.
    unit: BigRational,
}

impl Instance {
    /// `items` by decreasing load, at least one.
    pub fn new(request: &Request, items: &[Item]) -> Self {
        let (weights, scale) = weigh(request, items);
        let (capacities, per_capacity) = capacities(request);
        let (mut kinds, mut kind_of) = (BTreeMap::new(), Vec::new());
        for &item in items {
            let mut allowed = vec![false; capacities.len()];
            request.candidates(item).into_iter().for_each(|bin| allowed[bin] = true);
            let next = kinds.len();
            kind_of.push(*kinds.entry(allowed).or_insert(next));
        }
        let mut named: Vec<_> = kinds.into_iter().collect();
        named.sort_by_key(|(_, kind)| *kind);
        let steps = steps(&capacities);
        let unit = per_capacity / (scale * BigRational::from_integer(steps.into()));
        // One unit of load on one unit of capacity has so many levels.
        let whole = unit.recip().to_f64().unwrap_or(f64::MAX);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, saturates")]
        let tolerance = (whole * TOLERANCE) as u128;
        let kinds = named.into_iter().map(|(allowed, _)| allowed).collect();
        Instance { weights, capacities, kind_of, kinds, tolerance, steps, unit }
    }

    /// Whether the task at a position may go into a bin.
    pub fn allows(&self, position: usize, bin: usize) -> bool {
        self.kinds[self.kind_of[position]][bin]
    }

    /// True if every task may go into every bin, and these are equal.
    pub fn uniform(&self) -> bool {
        self.capacities.iter().all(|&capacity| capacity == self.capacities[0])
            && self.kinds.iter().all(|kind| kind.iter().all(|&allowed| allowed))
    }

    /// The level of a bin with this weight in it, rounded up.
    pub fn level(&self, bin: usize, weight: u64) -> Level {
        (u128::from(weight) * self.steps).div_ceil(self.capacities[bin].into())
    }

    /// The level that bins hold together, rounded down.
    pub fn spread(&self, weight: u64, capacity: u64) -> Level {
        u128::from(weight) * self.steps / u128::from(capacity)
    }

    /// The largest weight that keeps a bin at or below a level.
    pub fn limit(&self, bin: usize, level: Level) -> u64 {
        u64::try_from(level * u128::from(self.capacities[bin]) / self.steps).unwrap_or(u64::MAX)
    }

    /// The least level at which some bin holds more than at this level: no level between is reached by any placement.
    pub fn next_above(&self, level: Level) -> Level {
        let above = |bin| self.spread(self.limit(bin, level) + 1, self.capacities[bin]);
        (0..self.capacities.len()).map(above).min().unwrap_or(level)
    }

    /// A level as a load relative to capacity.
    pub fn load(&self, level: Level) -> Utilization {
        (BigRational::from_integer(level.into()) * &self.unit).into()
    }

    /// The level of a load relative to capacity, rounded down.
    pub fn level_of(&self, load: &Utilization) -> Level {
        (load.as_rational() / &self.unit).floor().to_integer().to_u128().unwrap_or(0)
    }

    /// The least difference of levels that a search asks for.
    pub fn least_step(&self) -> Level {
        self.tolerance.max(1)
    }

    /// The weight in every bin.
    pub fn filled(&self, bin_of: &[usize]) -> Vec<u64> {
        let mut filled = vec![0; self.capacities.len()];
        bin_of.iter().zip(&self.weights).for_each(|(&bin, weight)| filled[bin] += weight);
        filled
    }

    /// The bin with the highest level, the first of equals, and that level.
    pub fn heaviest(&self, filled: &[u64]) -> (usize, Level) {
        let level = |bin| self.level(bin, filled[bin]);
        let worse = |worst: (usize, Level), bin| if level(bin) > worst.1 { (bin, level(bin)) } else { worst };
        (1..filled.len()).fold((0, level(0)), worse)
    }
}

/// The weights, and what a load is multiplied by to make its weight.
fn weigh(request: &Request, items: &[Item]) -> (Vec<u64>, BigRational) {
    let window = |item: &Item| request.fit().window(item.task).as_ns();
    let share = |item: &Item| Ratio::new(item.work.as_ns(), window(item));
    let common = items.iter().try_fold(1u64, |lcm, item| {
        let denominator = *share(item).denom();
        lcm.checked_mul(*Ratio::new(lcm, denominator).denom())
    });
    let scaled = |by: u128| -> Option<Vec<u64>> {
        let weight = |item: &Item| {
            let product = u128::from(item.work.as_ns()).checked_mul(by)?;
            u64::try_from(product / u128::from(window(item))).ok()
        };
        let weights: Option<Vec<u64>> = items.iter().map(weight).collect();
        let total = weights.as_ref()?.iter().try_fold(0u64, |sum, &weight| sum.checked_add(weight))?;
        weights.filter(|_| total < 1 << TOTAL_BITS)
    };
    let exact = common.and_then(|common| Some((scaled(common.into())?, u128::from(common))));
    let rounded = || (0..=TOTAL_BITS).rev().find_map(|bits| Some((scaled(1 << bits)?, 1u128 << bits)));
    let (mut weights, scale) = exact.or_else(rounded).unwrap_or((vec![0; items.len()], 1));
    let divisor = weights.iter().fold(0, |divisor, &weight| common_divisor(divisor, weight)).max(1);
    weights.iter_mut().for_each(|weight| *weight /= divisor);
    (weights, BigRational::new(scale.into(), divisor.into()))
}

/// The capacities, and what a capacity is multiplied by to make its integer.
fn capacities(request: &Request) -> (Vec<u64>, BigRational) {
    let bins = request.bins().len();
    let numerators: Vec<u64> = (0..bins).map(|bin| request.capacities().of(bin).0).collect();
    let divisor = numerators.iter().fold(0, |divisor, &numerator| common_divisor(divisor, numerator)).max(1);
    let largest = numerators.iter().copied().max().unwrap_or(1) / divisor;
    let excess = (u64::BITS - largest.leading_zeros()).saturating_sub(CAPACITY_BITS);
    let rounded = numerators.iter().map(|&numerator| (numerator / divisor).div_ceil(1 << excess)).collect();
    let of_limit = BigRational::from_integer(request.capacities().of(0).1.into());
    let whole = of_limit * request.capacity_limit().as_rational();
    (rounded, whole / BigRational::from_integer((u128::from(divisor) << excess).into()))
}

fn steps(capacities: &[u64]) -> u128 {
    let common = capacities.iter().try_fold(1u64, |lcm, &capacity| {
        let multiple = lcm.checked_mul(capacity / common_divisor(lcm, capacity))?;
        (multiple < 1 << STEPS_BITS).then_some(multiple)
    });
    common.map_or(1 << STEPS_BITS, u128::from)
}

/// 0 divides nothing: the divisor of 0 and a number is the number.
fn common_divisor(a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 { a.max(b) } else { b / *Ratio::new(a, b).denom() }
}
