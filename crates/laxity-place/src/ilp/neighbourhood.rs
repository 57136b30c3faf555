//! Local search: the heaviest bin and a few others are filled anew, by an exact search among their tasks.
//!
//! Two bins at once cover every exchange of any number of tasks between them. Where no other bin can relieve the
//! heaviest one, groups of three and more are drawn, whose tasks have far more placements. A bin of many tasks puts only
//! some of them up, drawn as well. Every draw comes from one generator with a fixed seed.
//!
//! Source: large neighbourhood search (Shaw, "Using constraint programming and local search methods to solve vehicle
//! routing problems", CP 1998), with [`super::completion`] as its exact search.

use super::completion::{Completion, Size, Verdict};
use super::instance::{Instance, Level};
use super::subsets::Set;
use super::work::Work;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// Bins in a group at most.
const GROUP_MAX: usize = 5;
/// Tasks put up by a group at most.
const TASKS_MAX: usize = 24;
/// Work on one group at one target.
const GROUP_WORK: u64 = 20_000;
/// What looking at a group costs besides.
const GROUP_FIXED_WORK: u64 = 500;
const SIZE: Size = Size { entries: 1 << 12, window: 1 << 14 };

/// A placement that is being improved.
pub(crate) struct Neighbourhood<'i> {
    instance: &'i Instance,
    /// By position: the bin.
    pub bin_of: Vec<usize>,
    filled: Vec<u64>,
    draw: Pcg64Mcg,
}

/// Some of a group's tasks, by position, and what its bins hold besides.
struct Group {
    bins: Vec<usize>,
    positions: Vec<usize>,
    fixed: Vec<u64>,
}

impl<'i> Neighbourhood<'i> {
    /// Starts from a placement.
    pub fn new(instance: &'i Instance, bin_of: Vec<usize>) -> Self {
        let filled = instance.filled(&bin_of);
        Neighbourhood { instance, bin_of, filled, draw: Pcg64Mcg::new(0) }
    }

    /// The highest level.
    pub fn level(&self) -> Level {
        self.instance.heaviest(&self.filled).1
    }

    /// Takes another placement.
    pub fn set(&mut self, bin_of: Vec<usize>) {
        self.filled = self.instance.filled(&bin_of);
        self.bin_of = bin_of;
    }

    /// Improves until the level is within the tolerance of the bound, the work is spent, or so many of the largest groups
    /// fail per bin.
    pub fn improve(&mut self, lower: Level, patience: usize, work: &mut Work) {
        let bins = self.filled.len();
        // All bins at once are the exact search's.
        let largest = GROUP_MAX.min(bins - 1);
        let (mut size, mut misses) = (2, 0);
        while bins > 1 && work.left() {
            let (heaviest, level) = self.instance.heaviest(&self.filled);
            if level <= lower + self.instance.tolerance {
                break;
            }
            let group = if size == 2 { self.pair(heaviest, misses) } else { self.some(heaviest, size) };
            if self.rearrange(group, (lower, level), work) {
                (size, misses) = ((size - 1).max(2), 0);
                continue;
            }
            misses += 1;
            let enough = if size == 2 { bins - 1 } else { patience.saturating_mul(bins) };
            if misses >= enough {
                if size >= largest {
                    break;
                }
                (size, misses) = (size + 1, 0);
            }
        }
    }

    /// The heaviest bin and the one that is this far from the lowest.
    fn pair(&self, heaviest: usize, rank: usize) -> Vec<usize> {
        let mut others: Vec<usize> = (0..self.filled.len()).filter(|&bin| bin != heaviest).collect();
        others.sort_by_cached_key(|&bin| self.instance.level(bin, self.filled[bin]));
        vec![heaviest, others[rank.min(others.len() - 1)]]
    }

    /// The heaviest bin and others at random.
    fn some(&mut self, heaviest: usize, size: usize) -> Vec<usize> {
        let mut others: Vec<usize> = (0..self.filled.len()).filter(|&bin| bin != heaviest).collect();
        self.keep(&mut others, size - 1);
        others.insert(0, heaviest);
        others
    }

    /// Keeps so many of these, at random.
    fn keep(&mut self, from: &mut Vec<usize>, count: usize) {
        let count = count.min(from.len());
        for index in 0..count {
            let rest = (from.len() - index) as u64;
            let other = index + usize::try_from(self.draw.next_u64() % rest).expect("less than a length");
            from.swap(index, other);
        }
        from.truncate(count);
    }

    /// Which tasks of these bins are put up.
    fn group(&mut self, bins: Vec<usize>) -> Group {
        let share = TASKS_MAX / bins.len();
        let (mut positions, mut fixed) = (Vec::new(), Vec::new());
        for &bin in &bins {
            let mut tasks: Vec<usize> =
                (0..self.bin_of.len()).filter(|&task| self.bin_of[task] == bin).collect();
            if tasks.len() > share {
                self.keep(&mut tasks, share);
            }
            fixed.push(self.filled[bin] - tasks.iter().map(|&task| self.instance.weights[task]).sum::<u64>());
            positions.extend(tasks);
        }
        positions.sort_unstable();
        Group { bins, positions, fixed }
    }

    /// True if the bins' highest level could be lowered.
    fn rearrange(&mut self, bins: Vec<usize>, (lower, level): (Level, Level), work: &mut Work) -> bool {
        let instance = self.instance;
        let group = self.group(bins);
        let weight = group.bins.iter().map(|&bin| self.filled[bin]).sum();
        let capacity = group.bins.iter().map(|&bin| instance.capacities[bin]).sum();
        let least = lower.max(instance.spread(weight, capacity));
        // Looking through the tasks is work as well.
        if !work.spend(GROUP_FIXED_WORK + self.bin_of.len() as u64) || level <= least + instance.tolerance {
            return false;
        }
        let Some(tops) = group.limits(instance, level) else { return false };
        let weights = group.positions.iter().map(|&position| instance.weights[position]).collect();
        let Some(completion) = Completion::new(weights, group.eligible(instance), &tops, SIZE) else {
            return false;
        };
        work.spend(completion.entries() as u64);
        // Near the even spread there are few placements to look through; if there is none, any improvement will do.
        for target in [least + (level - least) / 8, level - ((level - least) / 8).max(instance.least_step())]
        {
            let Some(limits) = group.limits(instance, target) else { continue };
            if let Verdict::Fits(sets) =
                work.within(GROUP_WORK, |work| completion.search(&limits, SIZE, work))
            {
                self.take(&group, &sets);
                return true;
            }
        }
        false
    }

    fn take(&mut self, group: &Group, sets: &[Set]) {
        for ((&bin, &set), &fixed) in group.bins.iter().zip(sets).zip(&group.fixed) {
            self.filled[bin] = fixed;
            let taken = |index: &usize| set >> index & 1 == 1;
            for position in (0..group.positions.len()).filter(taken).map(|index| group.positions[index]) {
                self.bin_of[position] = bin;
                self.filled[bin] += self.instance.weights[position];
            }
        }
    }
}

impl Group {
    /// What the bins may take of the tasks put up; nothing if one holds too much without them.
    fn limits(&self, instance: &Instance, level: Level) -> Option<Vec<u64>> {
        let limit = |(&bin, fixed): (&usize, &u64)| instance.limit(bin, level).checked_sub(*fixed);
        self.bins.iter().zip(&self.fixed).map(limit).collect()
    }

    fn eligible(&self, instance: &Instance) -> Vec<Set> {
        let tasks = |&bin: &usize| {
            let may = |&index: &usize| instance.allows(self.positions[index], bin);
            (0..self.positions.len()).filter(may).fold(0, |set, index| set | 1 << index)
        };
        self.bins.iter().map(tasks).collect()
    }
}
