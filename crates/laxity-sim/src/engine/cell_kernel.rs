//! What kernel work costs in a cell, and its locks.

use super::{CellState, index_u32};
use crate::costs::{Costs, Prepared};
use laxity_policy::Locks;

/// The costs of a cell, at its number of tasks, and its locks.
pub(super) struct CellKernel {
    pub(super) release: Prepared,
    pub(super) scheduling: Prepared,
    pub(super) context_switch: Prepared,
    pub(super) ipi: Prepared,
    pub(super) tick: Prepared,
    pub(super) release_latency: Prepared,
    pub(super) mailbox: Prepared,
    pub(super) dsp: Prepared,
    pub(super) step: Prepared,
    /// When each lock is free.
    free_at: Vec<u64>,
}

impl CellKernel {
    pub(super) fn of(costs: &Costs, cell: &CellState) -> CellKernel {
        let n = index_u32(cell.tasks.len());
        CellKernel {
            release: costs.release.prepare(n),
            scheduling: costs.scheduling.prepare(n),
            context_switch: costs.context_switch.prepare(n),
            ipi: costs.ipi.prepare(n),
            tick: costs.tick.prepare(n),
            release_latency: costs.release_latency.prepare(n),
            mailbox: costs.mailbox.prepare(n),
            dsp: costs.dsp.prepare(n),
            step: costs.step.prepare(n),
            free_at: vec![0; cell.cpus.len()],
        }
    }

    /// Takes the locks in order, as soon as each is free, and holds them for `cost`; when it has them all.
    pub(super) fn acquire(&mut self, locks: Locks, now: u64, cost: u64) -> u64 {
        let mut begins = now;
        for lock in locks.iter() {
            begins = begins.max(self.free_at[lock as usize]);
        }
        for lock in locks.iter() {
            self.free_at[lock as usize] = begins + cost;
        }
        begins
    }
}
