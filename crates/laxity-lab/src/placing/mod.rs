//! Tasks in places, as they are run and simulated. Which places, `places` decides.

mod capacity;
mod fit_answer;
mod served_cpus;

pub use capacity::check_capacity;
pub use fit_answer::FitAnswer;
pub use served_cpus::{BelowServers, SLOWEST_FIT, ServedCpus};

use laxity_model::{Cell, CpuList, Diagnostic, Duration, Platform, Result, Scope, TaskSet, Utilization};
use laxity_place::{Bin, Fit, Fitting, Method, Overload, Placement, Request};
use laxity_trace::{PlacedBin, PlacementRecord};
use std::sync::atomic::AtomicBool;

/// Tasks by cell, and the same for the results.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Cells for the runner.
    pub cells: Vec<Cell>,
    /// For the results.
    pub record: PlacementRecord,
    /// Tasks that were refused, and run in the background.
    pub ordinary: Vec<usize>,
    /// What was placed together; nothing where nothing was placed.
    pub fit: Option<FitAnswer>,
    /// The placement behind it, if there is one.
    pub placement: Option<Placement>,
}

/// How tasks are placed, and onto what.
#[derive(Clone, Copy)]
pub struct Placing<'a> {
    /// The CPUs, and their clusters.
    pub platform: &'a Platform,
    /// By which method.
    pub method: Method,
    /// What fits; [`Fit::default_for`] each set if nothing is said.
    pub fit: Option<Fit>,
    /// What to do with a task that fits nowhere.
    pub overload: Overload,
    /// How long the ILP may look for the optimum; without a limit it answers after a fixed amount of work.
    pub ilp_time_limit: Option<Duration>,
    /// Ends the placing: the best placement of the ILP by then is the answer, if it has any, else an error.
    pub interrupt: &'a AtomicBool,
}

impl Placing<'_> {
    /// Places a set for one scope. An error names the task that fits nowhere.
    ///
    /// `limit` is the share of each CPU that may be filled; none: all of it. Where `dedicated`, the last CPU of every
    /// cell belongs to it but runs no task.
    pub fn place(
        &self,
        set: &TaskSet,
        scope: Scope,
        dedicated: bool,
        limit: Option<Utilization>,
    ) -> Result<Placed> {
        if scope == Scope::Global {
            return Ok(one_queue(set, self.platform));
        }
        let (wholes, bins) = self.bins(scope, dedicated)?;
        let request = Request::new(set, bins)?
            .with_fit(self.fit.unwrap_or_else(|| Fit::default_for(set)))?
            .with_capacity_limit(limit.unwrap_or_else(|| Utilization::whole(1)))?
            .with_overload(self.overload)
            .with_ilp_time_limit(self.ilp_time_limit)
            .with_interrupt(self.interrupt);
        let placement = request.place(self.method)?;
        Ok(self.placed(set, placement, &wholes))
    }

    /// The cells of a placement into bins that are parts of such wholes.
    pub fn placed(&self, set: &TaskSet, placement: Placement, wholes: &[CpuList]) -> Placed {
        let cells = placement.tasks_by_bin().into_iter().zip(wholes).filter(|(tasks, _)| !tasks.is_empty());
        let cells = cells.map(|(tasks, cpus)| cell(tasks, cpus.clone(), self.platform)).collect();
        Placed {
            cells,
            record: record(set, &placement, wholes),
            ordinary: Vec::new(),
            fit: None,
            placement: Some(placement),
        }
    }

    /// The CPUs of every cell, and those of them that run tasks.
    pub fn bins(&self, scope: Scope, dedicated: bool) -> Result<(Vec<CpuList>, Vec<Bin>)> {
        let (mut wholes, mut bins) = (Vec::new(), Vec::new());
        for whole in Bin::of_platform(self.platform, scope)? {
            let last = whole.cpus().iter().last().filter(|_| dedicated);
            let working = whole.cpus().difference(&last.into_iter().collect());
            if !working.is_empty() {
                bins.push(Bin::new(self.platform, working)?);
                wholes.push(whole.cpus().clone());
            }
        }
        if bins.is_empty() {
            return Err(Diagnostic::usage(format!(
                "a scheduler that dedicates the last CPU of every cell needs cells of two CPUs or more, but with {} \
                 on platform `{}` every cell has one",
                scope.description(),
                self.platform.name()
            ))
            .hint("use it globally, or name larger --clusters"));
        }
        Ok((wholes, bins))
    }

    /// What the CPUs that run tasks can do, in CPUs of speed 1.
    pub fn capacity(&self, scope: Scope, dedicated: bool) -> Result<Utilization> {
        let (_, bins) = self.bins(scope, dedicated)?;
        Ok(bins.iter().fold(Utilization::zero(), |sum, bin| sum.plus(bin.capacity())))
    }
}

/// Global scheduling places nothing: all tasks share all CPUs, each within its own affinity.
fn one_queue(set: &TaskSet, platform: &Platform) -> Placed {
    let cpus = platform.cpus();
    let bin = PlacedBin {
        cpus: cpus.clone(),
        tasks: set.real_time().map(|(_, task)| task.name.clone()).collect(),
        load: set.load().to_string(),
    };
    let tasks = set.real_time().map(|(id, _)| id).collect();
    let record = PlacementRecord {
        method: "one queue for all CPUs".into(),
        bins: vec![bin],
        ordinary: vec![],
        notes: vec![],
    };
    Placed { cells: vec![Cell::new(cpus, tasks)], record, ordinary: Vec::new(), fit: None, placement: None }
}

fn cell(tasks: Vec<usize>, cpus: CpuList, platform: &Platform) -> Cell {
    let near = platform.numa_nodes().iter().filter(|node| !node.cpus.intersection(&cpus).is_empty());
    // Memory is bound where there is a choice and the cell leaves something out.
    let bound = platform.numa_nodes().len() > 1 && cpus.len() < platform.core_count();
    let memory_nodes = if bound { near.map(|node| node.id).collect() } else { CpuList::default() };
    Cell { cpus, tasks, memory_nodes }
}

/// What the results keep of a placement.
fn record(set: &TaskSet, placement: &Placement, wholes: &[CpuList]) -> PlacementRecord {
    let bin = |(bin, tasks): (usize, Vec<usize>)| PlacedBin {
        cpus: wholes[bin].clone(),
        tasks: tasks.into_iter().map(|id| set.tasks()[id].name.clone()).collect(),
        load: format!("{:.4}", placement.loads[bin].nearest_f64()),
    };
    PlacementRecord {
        method: placement.method.to_string(),
        bins: placement.tasks_by_bin().into_iter().enumerate().map(bin).collect(),
        ordinary: vec![],
        notes: placement.notes.clone(),
    }
}

/// The load that was named.
pub fn named_load(fit: Fitting) -> Option<Fit> {
    match fit {
        Fitting::Load(fit) => fit,
        Fitting::Test => None,
    }
}
