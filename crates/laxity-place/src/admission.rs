//! Bins while they are being filled.

use crate::line::Line;
use crate::order::Item;
use crate::ranking::Ranking;
use crate::{Fit, Refuses, Request, demand_bound};
use laxity_model::LoadSum;
use std::cell::{OnceCell, RefCell};
use std::cmp::Ordering;
use std::ops::Range;

/// In which order bins are searched for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search {
    /// As they are numbered.
    Numbered,
    /// The slowest first, by its fastest CPU.
    Slowest,
    /// That with the most room first.
    Emptiest,
    /// That with the least room first.
    Fullest,
}

/// The bins of a request, partly filled. Of bins that are equal, the first comes first.
#[derive(Debug)]
pub(crate) struct Filling<'a> {
    request: &'a Request<'a>,
    /// Load of every bin plus what it lacks to the largest capacity; the fullest has the least room.
    filled: Vec<LoadSum>,
    placed: Vec<Vec<Item<'a>>>,
    /// Bins with tasks that do not fit.
    overfull: Vec<bool>,
    /// What each bin refuses as it is now, known once it has refused a task.
    refuses: Vec<OnceCell<Option<Refuses<'a>>>>,
    /// The bins of which it has become known since a task was placed.
    refusing: RefCell<Vec<usize>>,
    index: Index,
    /// By load relative to capacity; made when it is first needed.
    relative: Option<Relative>,
}

/// The bins in the order of a search.
#[derive(Debug)]
enum Index {
    Row(Line),
    ByRoom(Search, Ranking),
}

/// The lowest load relative to capacity first.
#[derive(Debug)]
struct Relative {
    loads: Vec<LoadSum>,
    ranking: Ranking,
}

/// By how much bins are filled.
fn by_room(search: Search, filled: &[LoadSum]) -> impl Fn(usize, usize) -> Ordering + '_ {
    move |a, b| {
        let order = filled[a].cmp_sum(&filled[b]);
        let order = if search == Search::Fullest { order.reverse() } else { order };
        order.then(a.cmp(&b))
    }
}

impl<'a> Filling<'a> {
    pub fn new(request: &'a Request<'a>, search: Search) -> Self {
        let bins = request.bins();
        let filled: Vec<LoadSum> = (0..bins.len()).map(|bin| request.capacities().empty(bin)).collect();
        let mut row: Vec<usize> = (0..bins.len()).collect();
        let index = match search {
            Search::Numbered => Index::Row(Line::new(row, &filled)),
            Search::Slowest => {
                row.sort_by_key(|&bin| bins[bin].fastest());
                Index::Row(Line::new(row, &filled))
            }
            Search::Emptiest | Search::Fullest => {
                Index::ByRoom(search, Ranking::new(bins.len(), by_room(search, &filled)))
            }
        };
        let (placed, overfull) = (vec![Vec::new(); bins.len()], vec![false; bins.len()]);
        let refuses = bins.iter().map(|_| OnceCell::new()).collect();
        Filling {
            request,
            filled,
            placed,
            overfull,
            refuses,
            refusing: RefCell::default(),
            index,
            relative: None,
        }
    }

    /// The number of bins.
    pub fn bins(&self) -> usize {
        self.filled.len()
    }

    /// What a task puts on a bin.
    pub fn load_of(&self, item: Item) -> LoadSum {
        let mut load = LoadSum::new();
        load.add(item.work, self.request.fit().window(item.task));
        load
    }

    /// The first bin in the order of the search that takes the task, `load` being what it puts on a bin; of a row, among these
    /// positions.
    pub fn first(&self, item: Item<'a>, load: &LoadSum, positions: Range<usize>) -> Option<usize> {
        match &self.index {
            Index::Row(_) => self.roomy(positions, load).find(|&bin| self.takes(item, load, bin)),
            Index::ByRoom(search, ranking) => {
                let order = ranking.bins();
                let roomy = match search {
                    Search::Fullest => &order[order.partition_point(|&bin| !self.has_room(load, bin))..],
                    _ => &order[..order.partition_point(|&bin| self.has_room(load, bin))],
                };
                roomy.iter().copied().find(|&bin| self.takes(item, load, bin))
            }
        }
    }

    /// The bins at these positions of the row that may have room for a load, and all that have. Nothing after an interruption.
    pub fn roomy(&self, positions: Range<usize>, load: &LoadSum) -> impl Iterator<Item = usize> + '_ {
        let most_q64 = self.request.capacities().largest_q64().checked_sub(load.at_least_q64());
        let mut from = positions.start;
        std::iter::from_fn(move || {
            let Index::Row(line) = &self.index else { return None };
            if self.request.is_interrupted() {
                return None;
            }
            let position = line.first(from..positions.end, most_q64?)?;
            from = position + 1;
            Some(line.bin(position))
        })
    }

    /// True if the task may go into the bin and still fits there, `load` being what it puts on it.
    pub fn takes(&self, item: Item<'a>, load: &LoadSum, bin: usize) -> bool {
        self.request.permits(item, bin) && self.take_together(&[item], load, bin)
    }

    /// True if tasks that may all go into the bin fit there together. `load` is the sum of their loads.
    pub fn take_together(&self, items: &[Item<'a>], load: &LoadSum, bin: usize) -> bool {
        self.has_room(load, bin) && self.within_demand(items, bin) && self.accepted(items, bin)
    }

    fn has_room(&self, load: &LoadSum, bin: usize) -> bool {
        let (capacity, denominator) = self.request.capacities().largest();
        self.filled[bin].cmp_ratio_with(load, capacity, denominator) != Ordering::Greater
    }

    fn within_demand(&self, items: &[Item<'a>], bin: usize) -> bool {
        let request = self.request;
        if request.fit() != Fit::DemandBound {
            return true;
        }
        let capacity = request.capacities().of(bin);
        // In an overfull bin, the demand may be too much at deadlines that an addition does not change.
        let every = self.overfull[bin];
        let admits = |placed: &[Item<'a>], item| {
            demand_bound::admits(placed, item, (capacity, every), || request.is_interrupted())
        };
        if let [item] = items {
            return admits(&self.placed[bin], *item);
        }
        // One after the other: each addition checks all deadlines that it changes.
        let mut placed = self.placed[bin].clone();
        items.iter().all(|&item| {
            let admitted = admits(&placed, item);
            placed.push(item);
            admitted
        })
    }

    fn accepted(&self, items: &[Item<'a>], bin: usize) -> bool {
        let Some(acceptance) = self.request.acceptance() else { return true };
        let known = &self.refuses[bin];
        if let ([item], Some(Some(refuses))) = (items, known.get())
            && (refuses.task)(item.id)
        {
            return false;
        }
        let together: Vec<usize> = self.placed[bin].iter().chain(items).map(|item| item.id).collect();
        let accepted = !self.request.is_interrupted() && acceptance.accepts(bin, &together);
        if !accepted && known.get().is_none() {
            let before = &together[..self.placed[bin].len()];
            known.get_or_init(|| acceptance.refuses(bin, before));
            self.refusing.borrow_mut().push(bin);
        }
        accepted
    }

    /// Puts a task into a bin in which it does not fit.
    pub fn put_over(&mut self, item: Item<'a>, bin: usize) {
        self.overfull[bin] = true;
        self.put(item, bin);
    }

    /// Puts a task into a bin in which it fits.
    pub fn put(&mut self, item: Item<'a>, bin: usize) {
        let (work, window) = (item.work, self.request.fit().window(item.task));
        self.filled[bin].add(work, window);
        self.placed[bin].push(item);
        self.leave_out();
        self.refuses[bin].take();
        match &mut self.index {
            Index::Row(line) => line.fill(bin, &self.filled[bin]),
            Index::ByRoom(search, ranking) => ranking.change(bin, by_room(*search, &self.filled)),
        }
        if let Some(Relative { loads, ranking }) = &mut self.relative {
            loads[bin].add(work, window);
            ranking.change(bin, self.request.capacities().by_relative(loads));
        }
    }

    /// Bins that refuse every larger load are not looked at for one, until they have another task.
    fn leave_out(&mut self) {
        let Index::Row(line) = &mut self.index else { return };
        let largest_q64 = self.request.capacities().largest_q64();
        for bin in self.refusing.get_mut().drain(..) {
            if let Some(Some(Refuses { above_q64: Some(above), .. })) = self.refuses[bin].get() {
                line.fill_to(bin, largest_q64.saturating_sub(*above));
            }
        }
    }

    /// The bin with the lowest load relative to its capacity among those the task may go into (lindsay2012,
    /// 6.1.5); the first of equals. Nothing if there is none.
    pub fn least_loaded(&mut self, item: Item) -> Option<usize> {
        let request = self.request;
        if self.relative.is_none() {
            let loads: Vec<LoadSum> = (0..self.placed.len()).map(|bin| self.load(bin)).collect();
            let ranking = Ranking::new(loads.len(), request.capacities().by_relative(&loads));
            self.relative = Some(Relative { loads, ranking });
        }
        let Relative { ranking, .. } = self.relative.as_ref()?;
        request.first_candidate(item, ranking.bins())
    }

    /// The sum of the loads in a bin.
    pub fn load(&self, bin: usize) -> LoadSum {
        let mut load = LoadSum::new();
        for item in &self.placed[bin] {
            load.add(item.work, self.request.fit().window(item.task));
        }
        load
    }

    /// The tasks in a bin, by their ids, as they came.
    pub fn tasks_in(&self, bin: usize) -> Vec<usize> {
        self.placed[bin].iter().map(|item| item.id).collect()
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
