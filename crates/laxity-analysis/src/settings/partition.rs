//! Tasks onto CPUs, whatever test says what fits: a search through all partitions of small sets, for the least bandwidth.

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Partition {
    /// The bin of each task, in the order in which they were given.
    Found(Vec<usize>),
    /// There is none.
    None,
    /// None was found within the questions that were allowed.
    OutOfTrials,
}

/// Looks for bins for tasks, which are placed in the order given. `cost` says what a bin costs with exactly these tasks; nothing if it
/// cannot have them: then it cannot have more, either, and more tasks never cost less. `alike` says of each bin which it is like: of
/// those, empty ones are tried once.
///
/// The partition that costs the least of all, or the first that costs no more than `enough`, or the best within `trials` questions.
pub fn partition(
    tasks: &[usize],
    alike: &[usize],
    trials: u64,
    enough: u128,
    mut cost: impl FnMut(usize, &[usize]) -> Option<u128>,
) -> Partition {
    let bins = vec![(Vec::new(), 0); alike.len()];
    let mut search =
        Search { tasks, alike, trials, enough, bins, places: Vec::new(), best: None, cost: &mut cost };
    let all = search.go_on().is_some();
    match search.best {
        Some((_, places)) => Partition::Found(places),
        None if all => Partition::None,
        None => Partition::OutOfTrials,
    }
}

struct Search<'a> {
    tasks: &'a [usize],
    alike: &'a [usize],
    trials: u64,
    enough: u128,
    /// The tasks of each, and what they cost.
    bins: Vec<(Vec<usize>, u128)>,
    places: Vec<usize>,
    best: Option<(u128, Vec<usize>)>,
    cost: &'a mut dyn FnMut(usize, &[usize]) -> Option<u128>,
}

impl Search<'_> {
    /// Nothing if the search is to end.
    fn go_on(&mut self) -> Option<()> {
        let total: u128 = self.bins.iter().map(|bin| bin.1).sum();
        if self.best.as_ref().is_some_and(|(best, _)| total >= *best) {
            return Some(());
        }
        let Some(&task) = self.tasks.get(self.places.len()) else {
            self.best = Some((total, self.places.clone()));
            return (total > self.enough).then_some(());
        };
        for bin in 0..self.bins.len() {
            let tried = |other: usize| self.bins[other].0.is_empty() && self.alike[other] == self.alike[bin];
            if self.bins[bin].0.is_empty() && (0..bin).any(tried) {
                continue;
            }
            self.trials = self.trials.checked_sub(1)?;
            self.bins[bin].0.push(task);
            self.places.push(bin);
            let before = self.bins[bin].1;
            if let Some(cost) = (self.cost)(bin, &self.bins[bin].0) {
                self.bins[bin].1 = cost;
                self.go_on()?;
            }
            self.bins[bin].1 = before;
            self.places.pop();
            self.bins[bin].0.pop();
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u64; 5] = [5, 4, 3, 3, 3];
    const TASKS: [usize; 5] = [0, 1, 2, 3, 4];

    fn fits(limit: u64) -> impl FnMut(usize, &[usize]) -> Option<u128> {
        move |_, tasks| (tasks.iter().map(|&at| SIZES[at]).sum::<u64>() <= limit).then_some(0)
    }

    #[test]
    fn finds_what_there_is_and_asks_for_alike_bins_once() {
        assert_eq!(partition(&TASKS, &[0, 0], 1_000, 0, fits(9)), Partition::Found(vec![0, 0, 1, 1, 1]));
        assert_eq!(partition(&TASKS, &[0, 0], 1_000, 0, fits(8)), Partition::None);
        assert_eq!(partition(&TASKS, &[0, 0, 0], 1_000, 0, fits(7)), Partition::Found(vec![0, 1, 1, 2, 2]));
        assert_eq!(partition(&TASKS, &[0, 0], 3, 0, fits(9)), Partition::OutOfTrials);
        let mut first = 0;
        let none = partition(&TASKS, &[0, 0], 1_000, 0, |_, of| {
            first += u64::from(of == [0]);
            None
        });
        assert_eq!((none, first), (Partition::None, 1));
    }

    #[test]
    fn the_least_cost_of_all() {
        // Squares of loads: the most even one, 9 and 9.
        let even = |_: usize, tasks: &[usize]| {
            Some(u128::from(tasks.iter().map(|&at| SIZES[at]).sum::<u64>().pow(2)))
        };
        assert_eq!(partition(&TASKS, &[0, 0], 1_000, 0, even), Partition::Found(vec![0, 0, 1, 1, 1]));
    }
}
