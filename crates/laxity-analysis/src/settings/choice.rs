//! One reservation for each task, so that all are accepted together: the least bandwidth.

use super::Reservation;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A choice, by place in each list: first by its bandwidth in units of 2^-64, then by how far it is from the first of each.
type Choice = (u128, usize, Vec<usize>);

/// The choice of least bandwidth that is accepted, one from each list, which is in the order of bandwidth. Nothing if there is none
/// among the first `trials` choices.
pub fn choose(
    lists: &[Vec<Reservation>],
    trials: u64,
    mut accepts: impl FnMut(&[Reservation]) -> bool,
) -> Option<Vec<Reservation>> {
    if lists.iter().any(Vec::is_empty) {
        return None;
    }
    let chosen = |places: &[usize]| -> Vec<Reservation> {
        lists.iter().zip(places).map(|(list, &place)| list[place]).collect()
    };
    let of = |places: Vec<usize>| -> Choice {
        let bandwidth = |one: Reservation| (u128::from(one.runtime_ns) << 64) / u128::from(one.period_ns);
        let sum = chosen(&places).into_iter().map(bandwidth).sum();
        (sum, places.iter().sum(), places)
    };
    let mut open = BinaryHeap::from([Reverse(of(vec![0; lists.len()]))]);
    for _ in 0..trials {
        let Reverse((_, _, places)) = open.pop()?;
        let found = chosen(&places);
        if accepts(&found) {
            return Some(found);
        }
        // Each choice is reached once: only the last list that is not at its first, or one after it, goes on.
        let last = places.iter().rposition(|&place| place > 0).unwrap_or(0);
        for at in (last..lists.len()).filter(|&at| places[at] + 1 < lists[at].len()) {
            let mut next = places.clone();
            next[at] += 1;
            open.push(Reverse(of(next)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_is_accepted() {
        let list = |periods: &[u64]| -> Vec<Reservation> {
            periods
                .iter()
                .map(|&period| Reservation { runtime_ns: 1, deadline_rel_ns: period, period_ns: period })
                .collect()
        };
        let lists = [list(&[8, 4, 2]), list(&[9, 3]), list(&[10, 5, 2, 1])];
        // Every subset of what there is, by brute force.
        let all: Vec<[u64; 3]> = [8, 4, 2]
            .into_iter()
            .flat_map(|a| [9, 3].into_iter().flat_map(move |b| [10, 5, 2, 1].map(|c| [a, b, c])))
            .collect();
        let sum = |of: &[u64; 3]| of.iter().map(|period| 1_000_000_000 / period).sum::<u64>();
        for limit in 0..200 {
            let fits =
                |of: &[u64]| of.iter().sum::<u64>() % 17 == limit % 17 && of.iter().sum::<u64>() > limit / 17;
            let best = all.iter().filter(|&of| fits(of)).map(sum).min();
            let found =
                choose(&lists, 1_000, |of| fits(&of.iter().map(|one| one.period_ns).collect::<Vec<_>>()));
            let found = found.map(|of| sum(&[of[0].period_ns, of[1].period_ns, of[2].period_ns]));
            assert_eq!(found, best, "{limit}");
        }
        let mut asked = 0;
        let none = choose(&lists, 1_000, |_| {
            asked += 1;
            false
        });
        assert_eq!((none, asked), (None, 24), "each choice once");
    }
}
