//! Where a curve is looked at more closely: adaptive sampling.
//!
//! ackelman2018, 6.3, chose further points "such that the density of sampling points is high where the curve changes rapidly",
//! with the algorithm for plots of the Yacas Book of Algorithms (Pinkus, Winitzki, Mazur: basic algorithms, "Adaptive function
//! plotting") and a depth of 10. It is carried out here in whole numbers, so that the same counts give the same points:
//!
//! 1. Each interval [a, c] of the grid is looked at in its quarters: a, a1, b, b1, c, with the values f of the curve there.
//! 2. At depth 0 nothing is added.
//! 3. If all three middle values are above both neighbours or below both, the curve zigzags: go to 5.
//! 4. With g = f less the smallest of the five values, two quadratures of the integral from b to b1 are compared:
//!    Q1 = (g(a) - 5 g(a1) + 19 g(b) + 9 g(b1)) / 24 and Q2 = (10 g(b) + 16 g(b1) - 2 g(c)) / 24, in units of a quarter.
//!    If |Q1 - Q2| <= precision * Q2, the curve is straight enough, and nothing is added. (The book has `<`, which would look at
//!    a constant for ever.)
//! 5. The halves [a, b] and [b, c] are looked at in the same way, with a depth less by one and twice the precision.
//!
//! Beyond the book:
//!
//! 6. Curves here are shares of N sets drawn at random. Differences of up to 3/sqrt(N) between five values are what chance does
//!    (each value's standard error is at most 0.5/sqrt(N)), and are not looked at more closely, unless `refine_noise` asks for
//!    the book's rule alone.
//! 7. All curves of a figure judge the same sets: an interval is refined where one of them asks for it.
//! 8. Values are whole numbers of units: quarters are rounded down, and intervals of less than 4 units stay as they are. Where
//!    that makes quarters unequal, the rule above is off by as much; it only says where to look.

use laxity_generate::Decimal;
use std::cmp::Ordering;

/// The deepest refinement: 2^16 points in each interval.
pub const DEPTH_MOST: u32 = 16;

/// How an axis is refined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refinement {
    /// How often an interval of the grid is halved, at most.
    pub depth: u32,
    /// The relative error of an integral over an interval of the grid that is of no account.
    pub precision: Decimal,
    /// Also look closely at what chance may have done.
    pub refine_noise: bool,
}

impl Refinement {
    /// The values that are to be looked at next: those that are missing of what `known` tells. None once the axis is refined.
    ///
    /// `grid` ascends. What is known of a value is how many of `sets` sets each curve accepts.
    pub fn missing(&self, grid: &[u64], sets: u64, known: impl Fn(u64) -> Option<Vec<u64>>) -> Vec<u64> {
        let mut search = Search { rule: self, sets, known: &known, missing: Vec::new() };
        for ends in grid.windows(2) {
            search.interval(ends[0], ends[1], 0);
        }
        search.missing.sort_unstable();
        search.missing.dedup();
        search.missing
    }

    /// Whether a curve with these values in quarters of an interval asks for more, after `level` halvings.
    fn bends(&self, values: [u64; 5], sets: u64, level: u32) -> bool {
        let values = values.map(i128::from);
        let least = values.into_iter().min().unwrap_or(0);
        let most = values.into_iter().max().unwrap_or(0);
        if !self.refine_noise && (most - least).pow(2) <= 9 * i128::from(sets) {
            return false;
        }
        zigzags(values) || !self.is_straight(values.map(|value| value - least), level)
    }

    /// |Q1 - Q2| <= 2^level precision Q2, times 24.
    fn is_straight(&self, [a, a1, b, b1, c]: [i128; 5], level: u32) -> bool {
        let first = a - 5 * a1 + 19 * b + 9 * b1;
        let second = 10 * b + 16 * b1 - 2 * c;
        let error = (first - second).abs() * i128::from(Decimal::ONE.billionths());
        error <= (i128::from(self.precision.billionths()) << level) * second
    }
}

/// All three middle values are turning points.
fn zigzags(values: [i128; 5]) -> bool {
    values.windows(3).all(|three| {
        let (left, right) = (three[1].cmp(&three[0]), three[1].cmp(&three[2]));
        left == right && left != Ordering::Equal
    })
}

struct Search<'r, K> {
    rule: &'r Refinement,
    sets: u64,
    known: &'r K,
    missing: Vec<u64>,
}

impl<K: Fn(u64) -> Option<Vec<u64>>> Search<'_, K> {
    fn interval(&mut self, a: u64, c: u64, level: u32) {
        let width = c - a;
        if width < 4 {
            return;
        }
        let places = [a, a + width / 4, a + width / 2, a + width / 4 + width / 2, c];
        let counts = places.map(|place| (self.known)(place));
        let [Some(f_a), Some(f_a1), Some(f_b), Some(f_b1), Some(f_c)] = &counts else {
            let unknown = places.iter().zip(&counts).filter(|(_, counts)| counts.is_none());
            self.missing.extend(unknown.map(|(&place, _)| place));
            return;
        };
        let counts = [f_a, f_a1, f_b, f_b1, f_c];
        let of_curve = |curve: usize| counts.map(|counts| counts[curve]);
        let asks = |curve: usize| self.rule.bends(of_curve(curve), self.sets, level);
        if level < self.rule.depth && (0..counts[0].len()).any(asks) {
            self.interval(a, places[2], level + 1);
            self.interval(places[2], c, level + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const SETS: u64 = 10_000;
    const UNIT: u64 = 1 << 14;

    fn rule(depth: u32, precision: &str) -> Refinement {
        Refinement { depth, precision: precision.parse().expect("a number"), refine_noise: true }
    }

    /// Every value at which the curves were looked at, in the end.
    fn sampled(rule: &Refinement, grid: &[u64], curves: &[&dyn Fn(u64) -> u64]) -> Vec<u64> {
        let look = |value: u64| curves.iter().map(|curve| curve(value)).collect::<Vec<u64>>();
        let mut known: BTreeMap<u64, Vec<u64>> = grid.iter().map(|&value| (value, look(value))).collect();
        for _ in 0..=rule.depth + 1 {
            let next = rule.missing(grid, SETS, |value| known.get(&value).cloned());
            assert!(next.iter().all(|value| !known.contains_key(value)), "what is known is not asked for");
            known.extend(next.iter().map(|&value| (value, look(value))));
        }
        assert!(rule.missing(grid, SETS, |value| known.get(&value).cloned()).is_empty());
        known.into_keys().collect()
    }

    /// The book's algorithm written down as it stands there, in floats: another way to the same values.
    fn by_the_book(f: &dyn Fn(u64) -> u64, a: u64, c: u64, depth: u32, epsilon: f64, found: &mut Vec<u64>) {
        if c - a < 4 {
            found.extend([a, c]);
            return;
        }
        let b = (a + c) / 2;
        let places = [a, (a + b) / 2, b, (b + c) / 2, c];
        found.extend(places);
        if depth == 0 {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let values = places.map(|place| f(place) as f64);
        let ones = (1..4)
            .filter(|&at| {
                let (left, middle, right) = (values[at - 1], values[at], values[at + 1]);
                (middle > left && middle > right) || (middle < left && middle < right)
            })
            .count();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let g = values.map(|value| value - least);
        let four = g[0] / 24.0 - g[1] * 5.0 / 24.0 + g[2] * 19.0 / 24.0 + g[3] * 3.0 / 8.0;
        let three = g[2] * 5.0 / 12.0 + g[3] * 2.0 / 3.0 - g[4] / 12.0;
        // Where both sides are equal but for rounding, the exact rule is content.
        let smooth = (four - three).abs() <= epsilon * three + 1e-9;
        if ones <= 2 && smooth {
            return;
        }
        by_the_book(f, a, b, depth - 1, 2.0 * epsilon, found);
        by_the_book(f, b, c, depth - 1, 2.0 * epsilon, found);
    }

    #[test]
    fn straight_lines_have_their_quarters_and_no_more() {
        let grid = [0, UNIT, 2 * UNIT];
        let quarters: Vec<u64> = (0..=8).map(|k| k * UNIT / 4).collect();
        for curve in [|_| 0, |_| SETS, |value: u64| value / 4, |value: u64| SETS - value / 4] {
            assert_eq!(sampled(&rule(10, "0.001"), &grid, &[&curve]), quarters);
        }
    }

    #[test]
    fn a_step_is_looked_at_closely_and_nothing_else_is() {
        let step = |at: u64| move |value: u64| if value < at { SETS } else { 0 };
        let at = UNIT / 3;
        let values = sampled(&rule(8, "0.002"), &[0, UNIT, 2 * UNIT], &[&step(at)]);
        // The finest: a quarter of UNIT / 2^8.
        let finest = UNIT >> 10;
        let before = values.iter().filter(|&&value| value < at).max().expect("before");
        let after = values.iter().find(|&&value| value >= at).expect("after");
        assert_eq!(after - before, finest);
        assert!(values.len() < 9 + 8 * 8, "{} values", values.len());
        assert_eq!(values.iter().filter(|&&value| value > UNIT).count(), 4, "the second interval is flat");
    }

    #[test]
    fn chance_is_not_looked_at() {
        // 3/sqrt(10000): 300 of 10000.
        let noisy =
            |height: u64| move |value: u64| if (value / (UNIT / 4)).is_multiple_of(2) { 0 } else { height };
        let grid = [0, UNIT];
        let careful = Refinement { refine_noise: false, ..rule(3, "0.001") };
        assert_eq!(sampled(&careful, &grid, &[&noisy(300)]).len(), 5);
        assert!(sampled(&careful, &grid, &[&noisy(301)]).len() > 5);
        assert!(sampled(&rule(3, "0.001"), &grid, &[&noisy(2)]).len() > 5, "unless it is asked for");
    }

    #[test]
    fn one_of_several_curves_is_enough_and_whole_numbers_end_it() {
        let flat = |_: u64| 7;
        let step = |value: u64| if value < 21 { SETS } else { 0 };
        let both = sampled(&rule(10, "0.001"), &[0, 64], &[&flat, &step]);
        assert_eq!(both, sampled(&rule(10, "0.001"), &[0, 64], &[&step]));
        assert!(
            both.contains(&20) && both.contains(&21) && !both.contains(&25) && !both.contains(&36),
            "{both:?}"
        );
        assert_eq!(sampled(&rule(10, "0.001"), &[1, 2, 3, 4], &[&step]), [1, 2, 3, 4]);
        assert_eq!(sampled(&rule(0, "0.001"), &[0, 64], &[&step]), [0, 16, 32, 48, 64]);
    }

    laxity_seeds::properties! {
        #[test]
        fn agrees_with_the_book(
            turns in proptest::collection::vec((0..=4 * UNIT, 0..=SETS), 1..6),
            depth in 0u32..7,
            precision in 1u32..200,
        ) {
            let mut turns = turns;
            turns.sort_unstable();
            // Constant between turns.
            let curve = |value: u64| {
                turns.iter().rev().find(|(at, _)| *at <= value).map_or(SETS / 2, |&(_, height)| height)
            };
            let grid = [0, UNIT, 2 * UNIT, 4 * UNIT];
            let exact = Refinement {
                depth, precision: Decimal::from_thousandths(precision), refine_noise: true,
            };
            let mut book = Vec::new();
            for ends in grid.windows(2) {
                by_the_book(&curve, ends[0], ends[1], depth, f64::from(precision) / 1e3, &mut book);
            }
            book.sort_unstable();
            book.dedup();
            prop_assert_eq!(sampled(&exact, &grid, &[&curve]), book);
        }
    }
}
