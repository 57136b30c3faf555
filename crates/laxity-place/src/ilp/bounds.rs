//! Bounds on the highest level of any placement, from an instance alone, besides those of [`crate::bound`].

use super::instance::{Instance, Level};

/// The larger of two bounds:
///
/// 1. *Lifting* (Haouari, Gharbi and Jemmali, "Tight bounds for the identical parallel machine scheduling problem", Int.
///    Trans. Oper. Res. 13(6), 2006): of the `k` heaviest tasks, the `l` bins with the most of them hold at least
///    `l floor(k / m) + min(l, k mod m)`, and these weigh at least as much as the lightest so many of the `k`. All bins
///    count as large as the largest. O(n m).
/// 2. *Confinement*: the tasks that may go only into some of the bins fill those, for the bins of every kind of tasks.
///    O(kinds^2 (n + m)).
pub(crate) fn level_at_least(instance: &Instance) -> Level {
    lifting(instance).max(confinement(instance))
}

fn lifting(instance: &Instance) -> Level {
    let bins = instance.capacities.len();
    let largest = instance.capacities.iter().copied().max().unwrap_or(1);
    let mut sums = vec![0u64];
    for weight in &instance.weights {
        sums.push(sums[sums.len() - 1] + weight);
    }
    let mut best = 0;
    for heaviest in 1..sums.len() {
        for some in 1..=bins {
            let held = some * (heaviest / bins) + some.min(heaviest % bins);
            let weight = sums[heaviest] - sums[heaviest - held];
            // The average of the bins, rounded up: one of them holds that in integers.
            best = best.max(weight.div_ceil(some as u64));
        }
    }
    instance.spread(best, largest)
}

fn confinement(instance: &Instance) -> Level {
    let within = |kind: &Vec<bool>| {
        let confined: Vec<bool> =
            instance.kinds.iter().map(|other| other.iter().zip(kind).all(|(o, k)| !o || *k)).collect();
        let positions = (0..instance.weights.len()).filter(|&position| confined[instance.kind_of[position]]);
        let weight = positions.map(|position| instance.weights[position]).sum();
        let capacity = (0..kind.len()).filter(|&bin| kind[bin]).map(|bin| instance.capacities[bin]).sum();
        instance.spread(weight, capacity)
    };
    instance.kinds.iter().map(within).max().unwrap_or(0)
}
