//! Interchangeable bins. Swapping them gives the same placement again, so the solver would search each one
//! factorially often: only the representative in which bins open in the order of their largest task is kept.

use crate::Request;
use crate::order::Item;
use std::collections::BTreeMap;

/// Bins of equal capacity that the same tasks may go into, by ascending index.
pub(crate) struct Classes {
    classes: Vec<Vec<usize>>,
    /// By position in the order of tasks: the bins the task may go into, before symmetry is broken.
    candidates: Vec<Vec<usize>>,
}

impl Classes {
    /// `items` by decreasing load.
    pub fn new(request: &Request, items: &[Item]) -> Self {
        let candidates: Vec<Vec<usize>> = items.iter().map(|&item| request.candidates(item)).collect();
        let mut permitted = vec![vec![false; items.len()]; request.bins().len()];
        for (position, bins) in candidates.iter().enumerate() {
            bins.iter().for_each(|&bin| permitted[bin][position] = true);
        }
        let mut classes: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (bin, tasks) in permitted.into_iter().enumerate() {
            classes.entry((request.capacities().of(bin), tasks)).or_default().push(bin);
        }
        Classes { classes: classes.into_values().collect(), candidates }
    }

    /// By position: the bins the task may go into. The k-th task of a class (from 0) may open only its bins
    /// 0 to k.
    pub fn allowed(&self) -> Vec<Vec<usize>> {
        let mut allowed = self.candidates.clone();
        for class in &self.classes {
            let mut seen = 0;
            for bins in &mut allowed {
                if bins.contains(&class[0]) {
                    let closed = &class[class.len().min(seen + 1)..];
                    bins.retain(|bin| !closed.contains(bin));
                    seen += 1;
                }
            }
        }
        allowed
    }

    /// The same placement with bins renamed within their classes so that it is the allowed representative.
    /// `chosen` holds the bin of every task by position.
    pub fn representative(&self, chosen: &[usize]) -> Vec<usize> {
        let mut renamed: BTreeMap<usize, usize> = BTreeMap::new();
        for class in &self.classes {
            let mut free = class.iter().copied();
            for bin in chosen.iter().filter(|bin| class.contains(bin)) {
                if !renamed.contains_key(bin) {
                    renamed.insert(*bin, free.next().expect("a class has as many names as bins"));
                }
            }
        }
        chosen.iter().map(|bin| renamed[bin]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bin;
    use laxity_model::{CpuList, Duration, Platform, Scope, Task, TaskSet};

    /// Three equal cores; the second task may use only cores 0 and 1.
    fn classes(check: impl Fn(&Classes)) {
        let task = |id: u64| Task::periodic(format!("t{id}"), Duration::from_ms(1), Duration::from_ms(10));
        let mut tasks: Vec<Task> = (0..4).map(task).collect();
        tasks[1].affinity = Some(CpuList::first(2));
        let set = TaskSet::new("set", tasks).expect("valid");
        let platform = Platform::symmetric(3).expect("valid");
        let bins = Bin::of_platform(&platform, Scope::Partitioned).expect("valid");
        let request = Request::new(&set, bins).expect("valid");
        check(&Classes::new(&request, &request.items()));
    }

    #[test]
    fn bins_open_one_after_the_other_within_their_class() {
        classes(|classes| {
            assert_eq!(classes.allowed(), [vec![0, 2], vec![0, 1], vec![0, 1, 2], vec![0, 1, 2]])
        });
    }

    #[test]
    fn every_placement_has_an_allowed_representative() {
        classes(|classes| {
            let allowed = classes.allowed();
            let bins = |digits: usize| [digits / 27, digits / 9 % 3, digits / 3 % 3, digits % 3];
            for chosen in (0..81).map(bins).filter(|chosen| chosen[1] < 2) {
                let renamed = classes.representative(&chosen);
                assert!(renamed.iter().zip(&allowed).all(|(bin, bins)| bins.contains(bin)), "{chosen:?}");
                let together = |bins: &[usize], a: usize, b: usize| bins[a] == bins[b];
                for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
                    assert_eq!(together(&chosen, a, b), together(&renamed, a, b), "{chosen:?} {renamed:?}");
                }
            }
        });
    }
}
