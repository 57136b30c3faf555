//! Whether tasks go into bins with given limits, exactly: one bin after the other is filled with a set of tasks.
//!
//! What a bin leaves free below its limit is wasted, and all bins together can waste only the sum of their limits
//! less the weight of all tasks: the *slack*. A bin is therefore filled with sets from a window below its limit, and the
//! narrower the window, the fewer there are. That is the search of Schreiber and Korf, "Cached iterative weakening for
//! optimal multi-way number partitioning" (AAAI 2014): the sets of the window are listed once ([`super::subsets`]) and
//! filtered in every node. Here bins may differ in limit and in the tasks that may go there.
//!
//! What is left out, because another solution takes its place:
//!
//! 1. *Order*: of equal bins, the first holds the heaviest task (bins of one class by their heaviest tasks).
//! 2. *Maximality*: a bin into which a remaining task would still fit (Martello and Toth, *Knapsack Problems*, 8.5):
//!    the task can be moved here, to an earlier bin.
//! 3. *Twins*: of tasks of equal weight that may go into the same bins, a later one before an earlier one.
//! 4. *Known failures*: the same tasks left for the same bins.
//!
//! Complexity: exponential; every set looked at is work. Assumes at most [`TASKS_MAX`] tasks, by decreasing weight.

use super::subsets::{Halves, Set, TASKS_MAX, Weighed};
use super::work::Work;
use std::collections::HashSet;

/// Failures remembered at most: 8 MiB or so.
const FAILURES_MAX: usize = 1 << 17;

/// Tasks and bins. The limits are given to each search.
#[derive(Debug)]
pub(crate) struct Completion {
    weights: Vec<u64>,
    /// By bin: the tasks that may go there.
    eligible: Vec<Set>,
    /// By bin: the index of its halves.
    halves_of: Vec<usize>,
    halves: Vec<Halves>,
    /// Tasks whose predecessor is a twin.
    twins: Set,
}

/// How many sets are listed at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Of half of the tasks.
    pub entries: usize,
    /// Of a window.
    pub window: usize,
}

/// What a search found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The tasks of every bin.
    Fits(Vec<Set>),
    /// There is no such placement.
    Impossible,
    /// The work or the memory did not suffice.
    Unknown,
}

impl Completion {
    /// `tops`: by bin, the largest limit that will be asked for. Nothing if there are too many tasks or sets.
    pub fn new(weights: Vec<u64>, eligible: Vec<Set>, tops: &[u64], size: Size) -> Option<Self> {
        if weights.len() > TASKS_MAX {
            return None;
        }
        let mut masks: Vec<(Set, u64)> = Vec::new();
        let mut halves_of = Vec::new();
        for (&mask, &top) in eligible.iter().zip(tops) {
            let known = masks.iter().position(|known| known.0 == mask);
            let index = known.unwrap_or_else(|| {
                masks.push((mask, top));
                masks.len() - 1
            });
            masks[index].1 = masks[index].1.max(top);
            halves_of.push(index);
        }
        let halves = masks.iter().map(|&(mask, top)| Halves::new(&weights, mask, top, size.entries));
        let halves = halves.collect::<Option<Vec<_>>>()?;
        let bins_of = |task: usize| eligible.iter().map(move |mask| mask >> task & 1);
        let twin = |task: &usize| weights[*task] == weights[task - 1] && bins_of(*task).eq(bins_of(task - 1));
        let twins = (1..weights.len()).filter(twin).fold(0, |twins, task| twins | 1 << task);
        Some(Completion { weights, eligible, halves_of, halves, twins })
    }

    /// How much work it was to list the sets.
    pub fn entries(&self) -> usize {
        self.halves.iter().map(Halves::entries).sum()
    }

    /// Looks for a placement that keeps every bin within its limit.
    pub fn search(&self, limits: &[u64], size: Size, work: &mut Work) -> Verdict {
        let room: u64 = limits.iter().sum();
        let Some(slack) = room.checked_sub(self.weights.iter().sum()) else { return Verdict::Impossible };
        let order = self.order(limits);
        let Some(classes) = self.classes(&order, limits, slack, size, work) else { return Verdict::Unknown };
        let all = if self.weights.is_empty() { 0 } else { Set::MAX >> (TASKS_MAX - self.weights.len()) };
        let mut descent = Descent {
            weights: &self.weights,
            twins: self.twins,
            steps: self.steps(&order, limits),
            classes: &classes,
            failures: HashSet::new(),
            chosen: vec![0; order.len()],
            work,
        };
        match descent.fill(0, all, slack, None) {
            None => Verdict::Unknown,
            Some(false) => Verdict::Impossible,
            Some(true) => {
                let mut sets = vec![0; order.len()];
                order.iter().zip(&descent.chosen).for_each(|(&bin, &set)| sets[bin] = set);
                Verdict::Fits(sets)
            }
        }
    }

    /// The bins, those of a class together: the choosiest first, since fewest sets suit them, and the smallest.
    fn order(&self, limits: &[u64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..limits.len()).collect();
        order.sort_by_key(|&bin| (self.eligible[bin].count_ones(), self.eligible[bin], limits[bin], bin));
        order
    }

    /// By class, by heaviest task: the sets of the window, the heaviest set first. A class of the last bin alone needs
    /// none: it takes what is left.
    fn classes(
        &self,
        order: &[usize],
        limits: &[u64],
        slack: u64,
        size: Size,
        work: &mut Work,
    ) -> Option<Vec<Vec<Vec<Weighed>>>> {
        let mut classes = Vec::new();
        for (position, &bin) in order.iter().enumerate() {
            if position > 0 && self.equal(order[position - 1], bin, limits) {
                continue;
            }
            let mut by_heaviest = vec![Vec::new(); self.weights.len()];
            if position + 1 < order.len() {
                let halves = &self.halves[self.halves_of[bin]];
                let lightest = limits[bin].saturating_sub(slack);
                let mut sets = halves.within(lightest, limits[bin], size.window)?;
                if !work.spend((halves.entries() + 8 * sets.len()) as u64) {
                    return None;
                }
                sets.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
                let full = sets.into_iter().filter(|set| set.1 != 0);
                full.for_each(|set| by_heaviest[set.1.trailing_zeros() as usize].push(set));
            }
            classes.push(by_heaviest);
        }
        Some(classes)
    }

    fn equal(&self, a: usize, b: usize, limits: &[u64]) -> bool {
        self.eligible[a] == self.eligible[b] && limits[a] == limits[b]
    }

    fn steps(&self, order: &[usize], limits: &[u64]) -> Vec<Step> {
        let mut class = 0;
        let mut steps: Vec<Step> = Vec::new();
        for (position, &bin) in order.iter().enumerate() {
            let opens = position > 0 && !self.equal(order[position - 1], bin, limits);
            class += usize::from(opens);
            let later = order[position + 1..].iter().fold(0, |later, &bin| later | self.eligible[bin]);
            let eligible = self.eligible[bin];
            steps.push(Step { limit: limits[bin], eligible, class, final_chance: eligible & !later, last_class: false });
        }
        steps.iter_mut().for_each(|step| step.last_class = step.class == class);
        steps
    }
}

/// A bin in the order of filling.
struct Step {
    limit: u64,
    eligible: Set,
    class: usize,
    /// Tasks that may go into no later bin.
    final_chance: Set,
    /// All bins from here on are equal.
    last_class: bool,
}

struct Descent<'a, 'w> {
    weights: &'a [u64],
    twins: Set,
    steps: Vec<Step>,
    classes: &'a [Vec<Vec<Weighed>>],
    /// Step, the heaviest task of the bin before (where that matters), and the tasks left.
    failures: HashSet<(usize, Option<u32>, Set)>,
    chosen: Vec<Set>,
    work: &'a mut Work<'w>,
}

impl Descent<'_, '_> {
    /// Fills the bins from `at` on with the tasks left; `after` is the heaviest task of the equal bin before. Nothing
    /// if the work did not suffice.
    fn fill(&mut self, at: usize, left: Set, slack: u64, after: Option<u32>) -> Option<bool> {
        let step = &self.steps[at];
        if at + 1 == self.steps.len() {
            // The slack says that the weight is within the limit.
            self.chosen[at] = left;
            return Some(left & !step.eligible == 0);
        }
        if left == 0 {
            self.chosen[at..].fill(0);
            return Some(true);
        }
        let after = after.filter(|_| !step.last_class);
        if self.failures.contains(&(at, after, left)) {
            return Some(false);
        }
        let last_class = step.last_class;
        let must = left & step.final_chance;
        let suited = left & step.eligible;
        let mut heaviest = suited;
        if last_class {
            heaviest &= left & left.wrapping_neg(); // the heaviest of all
        } else {
            if must != 0 {
                heaviest &= (must & must.wrapping_neg()) | ((must & must.wrapping_neg()) - 1);
            }
            if let Some(after) = after {
                heaviest &= !(Set::MAX >> (127 - after));
            }
        }
        while heaviest != 0 {
            let first = heaviest.trailing_zeros();
            heaviest &= heaviest - 1;
            if self.with_heaviest(at, (left, must, suited), slack, first)? {
                return Some(true);
            }
        }
        if !last_class && self.empty(at, (left, must, suited), slack)? {
            return Some(true);
        }
        if self.failures.len() < FAILURES_MAX {
            self.failures.insert((at, after, left));
        }
        Some(false)
    }

    /// Fills the bin with the sets whose heaviest task is `first`.
    fn with_heaviest(
        &mut self,
        at: usize,
        (left, must, suited): (Set, Set, Set),
        slack: u64,
        first: u32,
    ) -> Option<bool> {
        let (limit, class) = (self.steps[at].limit, self.steps[at].class);
        let next_is_equal = self.steps[at + 1].class == class;
        let sets = &self.classes[class][first as usize];
        let lightest = limit.saturating_sub(slack);
        let mut seen = 0;
        for &(weight, set) in sets.iter().take_while(|set| set.0 >= lightest) {
            seen += 1;
            if set & !left != 0 || must & !set != 0 {
                continue;
            }
            let rest = suited & !set;
            let skips_a_twin = ((set & self.twins) >> 1) & rest != 0;
            if skips_a_twin || !self.maximal(rest, limit - weight) {
                continue;
            }
            self.chosen[at] = set;
            if !self.work.spend(std::mem::take(&mut seen) + 8) {
                return None;
            }
            let wasted = limit - weight;
            if self.fill(at + 1, left & !set, slack - wasted, next_is_equal.then_some(first))? {
                return Some(true);
            }
        }
        self.work.spend(seen + 1).then_some(false)
    }

    /// Leaves the bin empty, and with it the equal ones after it.
    fn empty(&mut self, at: usize, (left, must, suited): (Set, Set, Set), slack: u64) -> Option<bool> {
        let (limit, class) = (self.steps[at].limit, self.steps[at].class);
        if must != 0 || !self.maximal(suited, limit) {
            return Some(false);
        }
        let next = (at..self.steps.len()).find(|&next| self.steps[next].class != class);
        let Some(next) = next else { return Some(false) };
        let wasted = limit * (next - at) as u64;
        let Some(slack) = slack.checked_sub(wasted) else { return Some(false) };
        self.chosen[at..next].fill(0);
        self.fill(next, left, slack, None)
    }

    /// True if none of the tasks fits into this much room.
    fn maximal(&self, rest: Set, room: u64) -> bool {
        rest == 0 || self.weights[(Set::BITS - 1 - rest.leading_zeros()) as usize] > room
    }
}

#[cfg(test)]
mod tests;
