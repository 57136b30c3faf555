//! Where a scheduler's tasks go: one placement per set and scope, the same for EDF and RM (lelli2012, 5.4).

use super::Settings;
use laxity_model::{CpuList, Duration, Platform, Result, Scope, TaskSet, Utilization};
use laxity_place::{Bin, Placement, Request};
use laxity_run::Cell;
use laxity_trace::{PlacedBin, PlacementRecord};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// Tasks by cell, and the same for the results.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Cells for the runner.
    pub cells: Vec<Cell>,
    /// For the results.
    pub record: PlacementRecord,
}

/// Places a set for one scope. An error names the task that fits nowhere.
///
/// `limit` is the share of each core that may be filled; none: all of it. An interruption ends the search for the
/// optimum, and the best placement found by then is the answer.
pub fn place(
    set: &TaskSet,
    scope: Scope,
    settings: &Settings,
    limit: Option<Utilization>,
    interrupt: &AtomicBool,
) -> Result<Placed> {
    if scope == Scope::Global {
        return Ok(one_queue(set, &settings.platform));
    }
    let bins = Bin::of_platform(&settings.platform, scope)?;
    let request = Request::new(set, bins)?
        .with_capacity_limit(limit.unwrap_or_else(|| Utilization::whole(1)))?
        .with_overload(settings.overload)
        .with_ilp_time_limit(settings.ilp_time_limit);
    let placement = request.place_watched(settings.placement, &mut |_| {
        if interrupt.load(SeqCst) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let cells = (0..placement.bins.len())
        .map(|bin| cell(&placement, bin, &settings.platform))
        .filter(|cell| !cell.tasks.is_empty())
        .collect();
    Ok(Placed { cells, record: record(set, &placement) })
}

/// Global scheduling places nothing: all tasks share all cores, each within its own affinity.
fn one_queue(set: &TaskSet, platform: &Platform) -> Placed {
    let cpus = platform.cpus();
    let bin = PlacedBin {
        cpus: cpus.clone(),
        tasks: set.real_time().map(|(_, task)| task.name.clone()).collect(),
        load: set.utilization().to_string(),
    };
    let tasks = set.real_time().map(|(id, _)| id).collect();
    let record = PlacementRecord { method: "one queue for all cores".into(), bins: vec![bin], notes: vec![] };
    Placed { cells: vec![Cell { cpus, tasks, memory_nodes: CpuList::default() }], record }
}

fn cell(placement: &Placement, bin: usize, platform: &Platform) -> Cell {
    let cpus = placement.bins[bin].cpus().clone();
    let near = platform.numa_nodes().iter().filter(|node| !node.cpus.intersection(&cpus).is_empty());
    // Memory is bound where there is a choice and the cell leaves something out.
    let bound = platform.numa_nodes().len() > 1 && cpus.len() < platform.core_count();
    let memory_nodes = if bound { near.map(|node| node.id).collect() } else { CpuList::default() };
    Cell { cpus, tasks: placement.tasks_of(bin), memory_nodes }
}

/// What the results keep of a placement.
fn record(set: &TaskSet, placement: &Placement) -> PlacementRecord {
    let bin = |bin: usize| PlacedBin {
        cpus: placement.bins[bin].cpus().clone(),
        tasks: placement.tasks_of(bin).into_iter().map(|id| set.tasks()[id].name.clone()).collect(),
        load: placement.load(bin).to_string(),
    };
    PlacementRecord {
        method: placement.method.to_string(),
        bins: (0..placement.bins.len()).map(bin).collect(),
        notes: placement.notes.clone(),
    }
}

/// The default time limit of the ILP within a comparison: enough for what a report waits for.
pub const ILP_TIME_LIMIT: Duration = Duration::from_secs(10);
