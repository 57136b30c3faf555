//! RandFixedSum: n numbers in [0, 1] with a given sum, uniformly distributed over all such vectors.
//!
//! 1. Uniform with respect to volume on the simplex-like polytope {0 <= u_i <= 1, sum u_i = s}, 0 < s <= n.
//! 2. Positions are exchangeable: the vector is shuffled at the end.
//!
//! Source: R. Stafford, "Random vectors with fixed sum" (2006); P. Emberson, R. Stafford, R. I. Davis,
//! "Techniques for the synthesis of multiprocessor tasksets", WATERS 2010, section 3.
//!
//! Stafford's table holds volumes, which leave the range of a double in the corners from a few hundred
//! tasks on. The volumes are (up to a factor per row) the Irwin-Hall densities f_i(x) at x = frac(s) + c,
//! which obey `(i - 1) f_i(x) = x f_{i-1}(x) + (i - x) f_{i-1}(x - 1)`, and only ratios of neighbours are ever
//! needed. So this keeps the ratios q_i(c) = f_i(frac(s) + c) / f_i(frac(s) + c - 1): a recursion of positive
//! terms only, in which nothing cancels; a ratio too large for a double is infinite and decides alike.
//!
//! Complexity: the table O(n s) once, a vector O(n) with one `pow` a number. Beyond [`TABLE_MAX`] numbers there is no table, and
//! vectors of the same law are drawn in another way (`tilted`).

mod tilted;

use crate::stream::{Stream, floor_u64};
use tilted::Tilted;

/// The most numbers for which there is a table: it then takes at most 67 MB.
const TABLE_MAX: usize = 4_096;

/// The table for one (n, s), shared by all vectors drawn with it.
#[derive(Debug, Clone)]
pub(crate) struct FixedSum {
    count: usize,
    sum: f64,
    /// floor(s): the column of the table in which every walk starts.
    whole: usize,
    /// `step[row_start(i) + c]`: with i numbers still to draw and the rest of the sum in [c, c + 1), the
    /// probability that the walk moves to column c - 1.
    step: Vec<f64>,
    /// What draws instead.
    tilted: Option<Tilted>,
}

impl FixedSum {
    /// The table of `count` numbers with the given sum; `0 < sum <= count` and `count >= 1` must hold.
    pub(crate) fn new(count: usize, sum: f64) -> Self {
        let whole = usize::try_from(floor_u64(sum)).unwrap_or(count).min(count);
        let mut table = FixedSum { count, sum, whole, step: Vec::new(), tilted: None };
        match whole < count {
            true if count > TABLE_MAX => table.tilted = Some(Tilted::new(count, sum)),
            true => table.fill(),
            false => {}
        }
        table
    }

    /// Columns of the row for `left` numbers: 0 ..= min(whole, left - 1).
    fn width(&self, left: usize) -> usize {
        self.whole.min(left - 1) + 1
    }

    fn fill(&mut self) {
        let fraction = self.sum - self.whole as f64;
        // ratio[c] = f_{i-1}(fraction + c) / f_{i-1}(fraction + c - 1); f is 0 outside (0, i - 1), which
        // makes column 0 infinite and column i - 1 zero.
        let mut ratio = vec![0.0; self.whole + 1];
        ratio[0] = f64::INFINITY;
        for left in 2..=self.count {
            let width = self.width(left);
            self.step.push(0.0);
            for (c, &q) in ratio.iter().enumerate().take(width).skip(1) {
                let x = fraction + c as f64;
                let below = left as f64 - x;
                self.step.push(below / (x * q + below));
            }
            // Downwards, because column c needs column c - 1 of the row before.
            for c in (1..width).rev() {
                let x = fraction + c as f64;
                let below = left as f64 - x;
                ratio[c] = (ratio[c] * x + below) / ((x - 1.0) + (below + 1.0) / ratio[c - 1]);
            }
        }
    }

    /// One vector: `count` numbers in [0, 1]. Their sum is `sum` up to rounding, below count * 2^-52 * sum.
    pub(crate) fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        if self.whole == self.count {
            return vec![1.0; self.count];
        }
        if let Some(tilted) = &self.tilted {
            return tilted.draw(stream);
        }
        let mut numbers = Vec::with_capacity(self.count);
        let (mut rest, mut column, mut row_end) = (self.sum, self.whole, self.step.len());
        let (mut base, mut scale) = (0.0, 1.0);
        for left in (2..=self.count).rev() {
            let row = row_end - self.width(left);
            row_end = row;
            let stepped = stream.unit() < self.step[row + column];
            let shrink = root(stream.unit(), left - 1);
            base += (1.0 - shrink) * scale * rest / left as f64;
            scale *= shrink;
            if stepped {
                numbers.push((base + scale).clamp(0.0, 1.0));
                rest -= 1.0;
                column -= 1;
            } else {
                numbers.push(base.clamp(0.0, 1.0));
            }
        }
        numbers.push((base + scale * rest).clamp(0.0, 1.0));
        stream.shuffle(&mut numbers);
        numbers
    }
}

/// The `degree`-th root of a number in [0, 1].
pub(crate) fn root(number: f64, degree: usize) -> f64 {
    match degree {
        1 => number,
        2 => libm::sqrt(number),
        _ => libm::pow(number, 1.0 / degree as f64),
    }
}

#[cfg(test)]
mod exact_tests;
