//! Bins while they are being filled.

use crate::order::Item;
use crate::{Fit, Request, demand_bound};
use laxity_model::LoadSum;
use std::cmp::Ordering;

/// The bins of a request, partly filled.
#[derive(Debug)]
pub(crate) struct Filling<'a> {
    request: &'a Request<'a>,
    /// Load of every bin plus what it lacks to the largest capacity; the fullest has the least room.
    filled: Vec<LoadSum>,
    placed: Vec<Vec<Item<'a>>>,
}

impl<'a> Filling<'a> {
    pub fn new(request: &'a Request<'a>) -> Self {
        let bins = request.bins().len();
        let filled = (0..bins).map(|bin| request.capacities().empty(bin)).collect();
        Filling { request, filled, placed: vec![Vec::new(); bins] }
    }

    /// True if the task may go into the bin and still fits there.
    pub fn fits(&mut self, item: Item<'a>, bin: usize) -> bool {
        let request = self.request;
        if !request.permits(item, bin) {
            return false;
        }
        let (capacity, denominator) = request.capacities().largest();
        let filled = &mut self.filled[bin];
        filled.add(item.work, request.fit().window(item.task));
        let within = filled.cmp_ratio(capacity, denominator) != Ordering::Greater;
        filled.pop();
        within
            && (request.fit() != Fit::DemandBound
                || demand_bound::admits(&self.placed[bin], item, request.capacities().of(bin)))
            && self.accepted(&[item], bin)
    }

    fn accepted(&self, items: &[Item<'a>], bin: usize) -> bool {
        let Some(acceptance) = self.request.acceptance() else { return true };
        let together: Vec<usize> = self.placed[bin].iter().chain(items).map(|item| item.id).collect();
        acceptance.accepts(bin, &together)
    }

    /// True if tasks that may all go into the bin fit there together. `load` is the sum of their loads.
    pub fn fits_together(&self, items: &[Item<'a>], load: &LoadSum, bin: usize) -> bool {
        let request = self.request;
        let (capacity, denominator) = request.capacities().largest();
        if self.filled[bin].cmp_ratio_with(load, capacity, denominator) == Ordering::Greater {
            return false;
        }
        if request.fit() != Fit::DemandBound {
            return self.accepted(items, bin);
        }
        // One after the other: each addition checks all deadlines that it changes.
        let mut placed = self.placed[bin].clone();
        items.iter().all(|&item| {
            let admitted = demand_bound::admits(&placed, item, request.capacities().of(bin));
            placed.push(item);
            admitted
        }) && self.accepted(items, bin)
    }

    /// Puts the task into the bin, whether it fits or not.
    pub fn put(&mut self, item: Item<'a>, bin: usize) {
        self.filled[bin].add(item.work, self.request.fit().window(item.task));
        self.placed[bin].push(item);
    }

    /// All bins, the slowest first, of equals the first.
    pub fn slowest_first(&self) -> Vec<usize> {
        let bins = self.request.bins();
        let mut all: Vec<usize> = (0..bins.len()).collect();
        all.sort_by_key(|&bin| bins[bin].fastest());
        all
    }

    /// Less means: more room.
    pub fn compare_filled(&self, a: usize, b: usize) -> Ordering {
        self.filled[a].cmp_sum(&self.filled[b])
    }

    /// The bin with the lowest load relative to its capacity among those the task may go into (lindsay2012,
    /// 6.1.5); the first of equals. Nothing if there is none.
    pub fn least_loaded(&self, item: Item) -> Option<usize> {
        let bins = self.request.candidates(item);
        if self.request.capacities().equal() {
            return bins.into_iter().reduce(|best, bin| match self.compare_filled(bin, best) {
                Ordering::Less => bin,
                _ => best,
            });
        }
        bins.into_iter()
            .map(|bin| (bin, self.load(bin)))
            .reduce(|best, other| {
                let capacities = self.request.capacities();
                match capacities.compare_relative((other.0, &other.1), (best.0, &best.1)) {
                    Ordering::Less => other,
                    _ => best,
                }
            })
            .map(|(bin, _)| bin)
    }

    /// The sum of the loads in a bin.
    pub fn load(&self, bin: usize) -> LoadSum {
        let mut load = LoadSum::new();
        for item in &self.placed[bin] {
            load.add(item.work, self.request.fit().window(item.task));
        }
        load
    }

    /// The bin of every task, by task id.
    pub fn assignment(&self) -> Vec<Option<usize>> {
        let mut assignment = vec![None; self.request.set().tasks().len()];
        for (bin, items) in self.placed.iter().enumerate() {
            items.iter().for_each(|item| assignment[item.id] = Some(bin));
        }
        assignment
    }
}
