//! All partitions of few tasks onto the cells, whatever test says what a cell may have.

use laxity_analysis::settings::{Partition, partition};
use laxity_model::{CpuList, Speed, TaskSet};

/// All partitions of so many tasks are looked at.
pub const TASKS_MAX: usize = 16;

/// Looks for cells for the real-time tasks of a set, each within its affinity. `cost` says what a cell costs with exactly these tasks, by
/// id; nothing if it cannot have them. As [`partition`]: the least cost, or the first that is no more than `enough`, or the best within
/// so many questions. Cells come with their CPUs, and their speed.
///
/// # Errors
///
/// There is none ([`Partition::None`]), or none was found.
pub fn search(
    set: &TaskSet,
    cells: &[(CpuList, Option<Speed>)],
    (trials, enough): (u64, u128),
    cost: impl Fn(usize, &[usize]) -> Option<u128>,
) -> Result<Vec<Vec<usize>>, Partition> {
    let tasks = set.tasks();
    let mut ids: Vec<usize> = set.real_time().map(|(id, _)| id).collect();
    // The densest first: what cannot be is found early.
    ids.sort_by(|&one, &other| tasks[other].density().cmp(&tasks[one].density()).then(one.cmp(&other)));
    let free = ids.iter().all(|&id| tasks[id].affinity.is_none());
    let alike = |cell: usize| {
        let like =
            |other: &usize| cells[*other].1 == cells[cell].1 && cells[*other].0.len() == cells[cell].0.len();
        (0..cell).find(like).filter(|_| free).unwrap_or(cell)
    };
    let alike: Vec<usize> = (0..cells.len()).map(alike).collect();
    let allowed =
        |cell: usize, id: usize| tasks[id].affinity.as_ref().is_none_or(|own| cells[cell].0.is_subset(own));
    let asked = |cell: usize, of: &[usize]| {
        if of.iter().all(|&id| allowed(cell, id)) { cost(cell, of) } else { None }
    };
    match partition(&ids, &alike, trials, enough, asked) {
        Partition::Found(places) => {
            let mut of_cells = vec![Vec::new(); cells.len()];
            ids.iter().zip(places).for_each(|(&id, cell)| of_cells[cell].push(id));
            of_cells.iter_mut().for_each(|of| of.sort_unstable());
            Ok(of_cells)
        }
        none => Err(none),
    }
}
