//! Bins in a row: the first from some position on that may have room.
//!
//! A tournament: every inner node knows the least that any bin below it is filled. Fillings are lower bounds
//! ([`LoadSum::at_least_q64`]), so that integers decide. What they rule out has no room; what they leave is asked exactly.
//!
//! Complexity: O(log m) for a search and for a change, O(m) to build.

use laxity_model::LoadSum;
use std::ops::Range;

/// Bins in a row.
#[derive(Debug)]
pub(crate) struct Line {
    /// By position: the bin.
    bins: Vec<usize>,
    /// By bin: its position.
    positions: Vec<usize>,
    /// The children of node `i` are `2 i` and `2 i + 1`, and position `p` is node `width + p`.
    least_q64: Vec<u128>,
    width: usize,
}

impl Line {
    /// `bins` in their row: each of `0 .. filled.len()` once. `filled` by bin.
    pub fn new(bins: Vec<usize>, filled: &[LoadSum]) -> Self {
        let width = bins.len().next_power_of_two();
        let mut positions = vec![0; bins.len()];
        // Nothing fits behind the last bin.
        let mut least_q64 = vec![u128::MAX; 2 * width];
        for (position, &bin) in bins.iter().enumerate() {
            positions[bin] = position;
            least_q64[width + position] = filled[bin].at_least_q64();
        }
        for node in (1..width).rev() {
            least_q64[node] = least_q64[2 * node].min(least_q64[2 * node + 1]);
        }
        Line { bins, positions, least_q64, width }
    }

    /// The bin at a position.
    pub fn bin(&self, position: usize) -> usize {
        self.bins[position]
    }

    /// The bin is filled so far now.
    pub fn fill(&mut self, bin: usize, filled: &LoadSum) {
        self.fill_to(bin, filled.at_least_q64());
    }

    /// The bin is to be found as one that is filled so far.
    pub fn fill_to(&mut self, bin: usize, filled_q64: u128) {
        let mut node = self.width + self.positions[bin];
        self.least_q64[node] = filled_q64;
        while node > 1 {
            node /= 2;
            self.least_q64[node] = self.least_q64[2 * node].min(self.least_q64[2 * node + 1]);
        }
    }

    /// The first of these positions whose bin is filled to at most `most_q64`.
    pub fn first(&self, positions: Range<usize>, most_q64: u128) -> Option<usize> {
        if positions.start >= self.bins.len() {
            return None;
        }
        let mut node = self.width + positions.start;
        while self.least_q64[node] > most_q64 {
            // To the next subtree on the right.
            while node % 2 == 1 {
                node /= 2;
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < self.width {
            node *= 2;
            if self.least_q64[node] > most_q64 {
                node += 1;
            }
        }
        Some(node - self.width).filter(|position| positions.contains(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(tenths: &[u64]) -> Vec<LoadSum> {
        let sum = |&tenths: &u64| {
            let mut sum = LoadSum::new();
            sum.add_ratio(tenths, 10);
            sum
        };
        tenths.iter().map(sum).collect()
    }

    laxity_seeds::properties! {
        #[test]
        fn it_finds_what_a_scan_finds(
            row in prop::collection::vec((0u64..8, any::<prop::sample::Index>()), 1..20),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0u64..8), 0..8),
            start in 0usize..22, end in 0usize..22, most in 0u64..8,
        ) {
            let mut tenths: Vec<u64> = row.iter().map(|(tenths, _)| *tenths).collect();
            let mut bins: Vec<usize> = (0..row.len()).collect();
            row.iter().enumerate().for_each(|(at, (_, other))| bins.swap(at, other.index(row.len())));
            let mut line = Line::new(bins.clone(), &filled(&tenths));
            for (bin, now) in changes {
                let bin = bin.index(row.len());
                tenths[bin] = now;
                line.fill(bin, &filled(&[now])[0]);
            }
            let end = end.min(row.len());
            let most_q64 = filled(&[most])[0].at_least_q64();
            let scanned = (start..end).find(|&position| tenths[bins[position]] <= most);
            prop_assert_eq!(line.first(start..end, most_q64), scanned);
        }
    }
}
