//! Where every task goes.

use crate::{Bin, Fit, Method, Request};
use laxity_model::{Diagnostic, LoadSum, Utilization};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How good the ILP's answer is known to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimality {
    /// No placement has a smaller maximum load. Where a search proved it, it is that or at most 10^-6 of the capacity less.
    pub lower_bound: Utilization,
    /// (maximum load - lower bound) / maximum load.
    pub gap: f64,
    /// True if no placement is better by more than 10^-6 of the capacity.
    pub optimal: bool,
}

/// A placement of a task set.
#[derive(Debug, Clone)]
pub struct Placement {
    /// How it was found.
    pub method: Method,
    /// The admission test it was made with.
    pub fit: Fit,
    /// The bins.
    pub bins: Vec<Bin>,
    /// By task id: the index of the task's bin; nothing for background tasks.
    pub assignment: Vec<Option<usize>>,
    /// By bin: the sum of its tasks' loads as the admission test counts them.
    pub loads: Vec<LoadSum>,
    /// How good the ILP's answer is; nothing for heuristics.
    pub optimality: Option<Optimality>,
    /// An interruption ended the ILP's search: this is the best it had found.
    pub interrupted: bool,
    /// Ids of tasks placed although they did not fit, ascending.
    pub overloaded: Vec<usize>,
    /// Tasks that fit nowhere and have no bin, by their ids, and why, in the order in which they were considered: only where a request
    /// leaves such tasks out. Hints are missing.
    pub left_out: Vec<(usize, Diagnostic)>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl Placement {
    pub(crate) fn new(
        request: &Request,
        method: Method,
        assignment: Vec<Option<usize>>,
        mut overloaded: Vec<usize>,
    ) -> Self {
        overloaded.sort_unstable();
        let mut notes = Vec::new();
        if !overloaded.is_empty() {
            let names: Vec<&str> =
                overloaded.iter().map(|&id| request.set().tasks()[id].name.as_str()).collect();
            notes.push(format!(
                "overload: {} of {} tasks did not fit and were placed all the same: {}",
                names.len(),
                request.items().len(),
                names.join(", ")
            ));
        }
        Placement {
            method,
            fit: request.fit(),
            bins: request.bins().to_vec(),
            loads: loads(request, &assignment),
            assignment,
            optimality: None,
            interrupted: false,
            overloaded,
            left_out: Vec::new(),
            notes,
        }
    }

    /// Ids of the tasks in a bin, ascending.
    pub fn tasks_of(&self, bin: usize) -> Vec<usize> {
        (0..self.assignment.len()).filter(|&id| self.assignment[id] == Some(bin)).collect()
    }

    /// The bin of a task; nothing for background tasks.
    pub fn bin_of(&self, task: usize) -> Option<&Bin> {
        self.assignment.get(task).copied().flatten().map(|bin| &self.bins[bin])
    }

    /// The bins that some tasks are in, ascending.
    pub fn bins_of(&self, tasks: &[usize]) -> Vec<usize> {
        let mut bins: Vec<usize> = tasks.iter().filter_map(|&task| self.assignment[task]).collect();
        bins.sort_unstable();
        bins.dedup();
        bins
    }

    /// The ids of the tasks in every bin, ascending.
    pub fn tasks_by_bin(&self) -> Vec<Vec<usize>> {
        let mut tasks = vec![Vec::new(); self.bins.len()];
        for (id, bin) in self.assignment.iter().enumerate() {
            if let Some(bin) = *bin {
                tasks[bin].push(id);
            }
        }
        tasks
    }

    /// The exact load of a bin, not divided by its capacity.
    pub fn load(&self, bin: usize) -> Utilization {
        self.loads[bin].exact()
    }

    /// The exact load of a bin divided by its capacity.
    pub fn relative_load(&self, bin: usize) -> Utilization {
        self.load(bin).over(self.bins[bin].capacity())
    }

    /// The largest load relative to capacity, exactly.
    pub fn max_load(&self) -> Utilization {
        // Of bins with one capacity the one with the largest load, which takes no rational to find.
        let mut fullest: BTreeMap<&Utilization, usize> = BTreeMap::new();
        for (bin, load) in self.loads.iter().enumerate() {
            let other = fullest.entry(self.bins[bin].capacity()).or_insert(bin);
            if load.cmp_sum(&self.loads[*other]) == Ordering::Greater {
                *other = bin;
            }
        }
        let relative = fullest.into_values().map(|bin| self.relative_load(bin));
        relative.max().unwrap_or_else(Utilization::zero)
    }
}

/// The load of every bin under an assignment.
pub(crate) fn loads(request: &Request, assignment: &[Option<usize>]) -> Vec<LoadSum> {
    let mut loads = vec![LoadSum::new(); request.bins().len()];
    for item in request.items() {
        if let Some(bin) = assignment[item.id] {
            loads[bin].add(item.work, request.fit().window(item.task));
        }
    }
    loads
}
