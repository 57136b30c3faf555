//! Where the search starts: tasks by decreasing weight to the bin that stays lowest, and differencing.
//!
//! Sources: Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17(2), 1969 (longest processing
//! time first); Karmarkar and Karp, "The differencing method of set partitioning", UCB/CSD 82/113, 1982, for many bins
//! as in Korf, "Multi-way number partitioning", IJCAI 2009: the two partial placements that are most uneven are joined,
//! the fullest bin of one with the emptiest of the other, until one placement of all tasks is left.
//!
//! Complexity: O(n m) and O(n m log m). Differencing needs equal bins that every task may go into.

use super::instance::Instance;
use std::collections::BinaryHeap;

/// By position: each task, heaviest first, to the bin whose level it raises least high.
pub(crate) fn lowest_first(instance: &Instance) -> Vec<usize> {
    let mut filled = vec![0; instance.capacities.len()];
    let place = |(position, weight): (usize, &u64)| {
        let level = |bin: usize| instance.level(bin, filled[bin] + weight);
        let allowed = (0..filled.len()).filter(|&bin| instance.allows(position, bin));
        let lowest = allowed.min_by_key(|&bin| level(bin)).expect("every task has a bin within its affinity");
        filled[lowest] += weight;
        lowest
    };
    instance.weights.iter().enumerate().map(place).collect()
}

/// A placement of some tasks: weight and positions of every bin that is not empty, the fullest first.
#[derive(PartialEq, Eq)]
struct Partial {
    /// Weight of the fullest less that of the emptiest.
    spread: u64,
    /// Earlier ones first among equals.
    age: usize,
    bins: Vec<(u64, Vec<usize>)>,
}

impl Ord for Partial {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.spread.cmp(&other.spread).then(other.age.cmp(&self.age))
    }
}

impl PartialOrd for Partial {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// By position: the bin, by differencing. Nothing if bins differ.
pub(crate) fn differencing(instance: &Instance) -> Option<Vec<usize>> {
    if !instance.uniform() {
        return None;
    }
    let count = instance.capacities.len();
    let single = |(position, &weight)| Partial {
        spread: weight,
        age: position,
        bins: vec![(weight, vec![position])],
    };
    let mut heap: BinaryHeap<Partial> = instance.weights.iter().enumerate().map(single).collect();
    let mut age = heap.len();
    while heap.len() > 1 {
        let (Some(a), Some(b)) = (heap.pop(), heap.pop()) else { break };
        heap.push(join(a, b, count, age));
        age += 1;
    }
    let mut bin_of = vec![0; instance.weights.len()];
    for (bin, (_, positions)) in heap.pop()?.bins.into_iter().enumerate() {
        positions.into_iter().for_each(|position| bin_of[position] = bin);
    }
    Some(bin_of)
}

fn join(mut a: Partial, b: Partial, count: usize, age: usize) -> Partial {
    a.bins.resize_with(count, || (0, Vec::new()));
    for (fullest, emptiest) in b.bins.into_iter().zip((0..count).rev()) {
        let bin = &mut a.bins[emptiest];
        bin.0 += fullest.0;
        bin.1.extend(fullest.1);
    }
    a.bins.sort_by(|x, y| y.0.cmp(&x.0));
    let spread = a.bins[0].0 - a.bins[count - 1].0;
    a.bins.retain(|(_, positions)| !positions.is_empty());
    Partial { spread, age, bins: a.bins }
}
