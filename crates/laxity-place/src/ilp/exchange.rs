//! Local search before the solver starts: take a task out of the heaviest bin, or exchange it for a smaller one,
//! as long as that lowers the heavier of the two bins.
//!
//! Large programs hardly leave their root within a few seconds, and their best heuristic is usually a few such
//! exchanges away from balance. Loads are floats here: like the solver's, the result is only a proposal.
//! Complexity: O(k n) per exchange for k tasks in the heaviest bin; stops after a fixed number of comparisons.

use crate::Request;
use crate::order::Item;

/// Comparisons spent at most; about a second.
const COMPARISONS_MAX: usize = 100_000_000;

/// Least improvement of the two bins' maximum that counts.
const IMPROVEMENT_MIN: f64 = 1e-9;

/// Everything by position in the order of tasks.
struct Exchange {
    loads: Vec<f64>,
    allowed: Vec<Vec<bool>>,
    capacities: Vec<f64>,
    bin_of: Vec<usize>,
    filled: Vec<f64>,
}

/// The task at the first position goes to the bin; the one at the second, if any, comes back for it.
struct Step {
    out: usize,
    to: usize,
    back: Option<usize>,
}

/// A placement (by task id) whose heaviest bin cannot be relieved by one move or exchange.
pub(crate) fn improve(request: &Request, items: &[Item], start: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut exchange = Exchange::new(request, items, start);
    let mut comparisons = 0;
    while comparisons < COMPARISONS_MAX {
        let heaviest = exchange.heaviest();
        comparisons += exchange.tasks_in(heaviest).len() * (items.len() + exchange.filled.len());
        let Some(step) = exchange.best_step(heaviest) else { break };
        exchange.take(&step);
    }
    let mut assignment = start.to_vec();
    items.iter().zip(&exchange.bin_of).for_each(|(item, &bin)| assignment[item.id] = Some(bin));
    assignment
}

impl Exchange {
    fn new(request: &Request, items: &[Item], start: &[Option<usize>]) -> Self {
        let bins = request.bins().len();
        let allowed = |&item: &Item| {
            let mut allowed = vec![false; bins];
            request.candidates(item).into_iter().for_each(|bin| allowed[bin] = true);
            allowed
        };
        let mut exchange = Exchange {
            loads: items.iter().map(|&item| request.load(item).to_f64()).collect(),
            allowed: items.iter().map(allowed).collect(),
            capacities: request.bins().iter().map(|bin| bin.capacity().to_f64()).collect(),
            bin_of: items.iter().filter_map(|item| start[item.id]).collect(),
            filled: vec![0.0; bins],
        };
        for (position, &bin) in exchange.bin_of.iter().enumerate() {
            exchange.filled[bin] += exchange.loads[position];
        }
        exchange
    }

    fn heaviest(&self) -> usize {
        let relative = |bin: usize| self.filled[bin] / self.capacities[bin];
        (1..self.filled.len()).fold(0, |worst, bin| if relative(bin) > relative(worst) { bin } else { worst })
    }

    fn tasks_in(&self, bin: usize) -> Vec<usize> {
        (0..self.bin_of.len()).filter(|&position| self.bin_of[position] == bin).collect()
    }

    /// The step out of bin `from` that leaves the heavier of the two bins lightest; the first of equals.
    fn best_step(&self, from: usize) -> Option<Step> {
        let mut best: Option<Step> = None;
        let mut bar = self.filled[from] / self.capacities[from] - IMPROVEMENT_MIN;
        let mut consider = |out: usize, to: usize, back: Option<usize>| {
            let moved = self.loads[out] - back.map_or(0.0, |position| self.loads[position]);
            let left = (self.filled[from] - moved) / self.capacities[from];
            let heavier_after = left.max((self.filled[to] + moved) / self.capacities[to]);
            if heavier_after < bar {
                bar = heavier_after;
                best = Some(Step { out, to, back });
            }
        };
        for out in self.tasks_in(from) {
            for to in (0..self.filled.len()).filter(|&to| to != from && self.allowed[out][to]) {
                consider(out, to, None);
            }
            for (position, &to) in self.bin_of.iter().enumerate() {
                if to != from && self.allowed[out][to] && self.allowed[position][from] {
                    consider(out, to, Some(position));
                }
            }
        }
        best
    }

    fn take(&mut self, step: &Step) {
        let from = self.bin_of[step.out];
        self.bin_of[step.out] = step.to;
        if let Some(back) = step.back {
            self.bin_of[back] = from;
        }
        // Summed anew, so that rounding does not pile up over many steps.
        for bin in [from, step.to] {
            self.filled[bin] = self.tasks_in(bin).into_iter().map(|position| self.loads[position]).sum();
        }
    }
}
