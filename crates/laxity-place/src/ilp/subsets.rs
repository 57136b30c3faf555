//! All sets of tasks whose weight lies within a window.
//!
//! The tasks are split in two halves. The sets of each half are listed by ascending weight, and for each set of the
//! first half the matching sets of the second lie next to each other: O(2^(n/2) + sets found) where all sets are light
//! enough, fewer where the largest weight leaves some out (Horowitz and Sahni, "Computing partitions with applications
//! to the knapsack problem", JACM 21(2), 1974).

/// Tasks as bits: the lowest bit is the heaviest task.
pub(crate) type Set = u128;

/// At most this many tasks can be searched for sets.
pub(crate) const TASKS_MAX: usize = Set::BITS as usize;

/// A set and its weight.
pub(crate) type Weighed = (u64, Set);

/// The sets of both halves of some tasks, by ascending weight.
#[derive(Debug)]
pub(crate) struct Halves {
    first: Vec<Weighed>,
    second: Vec<Weighed>,
}

impl Halves {
    /// Of the `eligible` tasks, up to this weight. Nothing if either half has more than `entries` sets.
    pub fn new(weights: &[u64], eligible: Set, heaviest: u64, entries: usize) -> Option<Self> {
        let tasks: Vec<usize> = (0..weights.len()).filter(|task| eligible >> task & 1 == 1).collect();
        // Every other task, so that both halves have about as many sets.
        let half = |start: usize| {
            let mut sets = vec![(0, 0)];
            for &task in tasks.iter().skip(start).step_by(2) {
                sets = with(&sets, (weights[task], 1 << task), heaviest);
                if sets.len() > entries {
                    return None;
                }
            }
            Some(sets)
        };
        Some(Halves { first: half(0)?, second: half(1)? })
    }

    /// How many sets both halves have.
    pub fn entries(&self) -> usize {
        self.first.len() + self.second.len()
    }

    /// The sets of `lightest..=heaviest`, in no particular order. Nothing if there are more than `most`.
    pub fn within(&self, lightest: u64, heaviest: u64, most: usize) -> Option<Vec<Weighed>> {
        let mut found = Vec::new();
        // Of the second half, those from `from` on are heavy enough, and those below `to` are light enough.
        let (mut from, mut to) = (self.second.len(), self.second.len());
        for &(weight, set) in &self.first {
            while to > 0 && weight + self.second[to - 1].0 > heaviest {
                to -= 1;
            }
            while from > 0 && weight + self.second[from - 1].0 >= lightest {
                from -= 1;
            }
            if to == 0 {
                break;
            }
            found.extend(self.second[from.min(to)..to].iter().map(|other| (weight + other.0, set | other.1)));
            if found.len() > most {
                return None;
            }
        }
        Some(found)
    }
}

/// These sets, and each with one more task, by ascending weight.
fn with(sets: &[Weighed], task: Weighed, heaviest: u64) -> Vec<Weighed> {
    let mut merged = Vec::with_capacity(2 * sets.len());
    let mut more = sets.iter().map(|set| (set.0 + task.0, set.1 | task.1)).take_while(|set| set.0 <= heaviest);
    let mut next = more.next();
    for &set in sets {
        while let Some(lighter) = next.filter(|lighter| lighter.0 < set.0) {
            merged.push(lighter);
            next = more.next();
        }
        merged.push(set);
    }
    merged.extend(next);
    merged.extend(more);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_the_window_is_found_once() {
        let weights = [23u64, 19, 17, 11, 11, 7, 5, 3, 2, 1, 1];
        let eligible: Set = 0b110_1111_1011;
        for (lightest, heaviest) in [(0, 0), (0, 7), (12, 12), (20, 31), (0, 200), (90, 100), (300, 400)] {
            let weight = |set: Set| (0..11).filter(|task| set >> task & 1 == 1).map(|task| weights[task]).sum();
            let wanted = |&(weight, set): &Weighed| {
                set & !eligible == 0 && (lightest..=heaviest).contains(&weight)
            };
            let all = (0..1 << 11).map(|set| (weight(set), set));
            let mut expected: Vec<Weighed> = all.filter(wanted).collect();
            let halves = Halves::new(&weights, eligible, heaviest, 1 << 10).expect("few sets");
            let mut found = halves.within(lightest, heaviest, 1 << 12).expect("few sets");
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{lightest} to {heaviest}");
        }
    }

    #[test]
    fn too_many_sets_are_not_listed() {
        let weights = [1u64; 20];
        assert!(Halves::new(&weights, (1 << 20) - 1, 20, 1023).is_none());
        let halves = Halves::new(&weights, (1 << 20) - 1, 20, 1024).expect("2^10 sets each");
        assert!(halves.within(10, 10, 184_755).is_none());
        assert_eq!(halves.within(10, 10, 184_756).expect("20 over 10").len(), 184_756);
    }
}
