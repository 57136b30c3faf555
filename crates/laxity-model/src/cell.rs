//! CPUs and the tasks that stay on them.

use crate::CpuList;
use serde::{Deserialize, Serialize};

/// A set of CPUs between which its tasks migrate, and out of which they do not: a CPU under partitioned scheduling, a cluster
/// under clustered, all CPUs under global.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The CPUs.
    pub cpus: CpuList,
    /// Ids of the tasks; in simulations ascending.
    pub tasks: Vec<usize>,
    /// The memory nodes from which its tasks allocate; empty: all.
    pub memory_nodes: CpuList,
}

impl Cell {
    /// Its tasks allocate from all memory nodes.
    pub fn new(cpus: CpuList, tasks: Vec<usize>) -> Self {
        Cell { cpus, tasks, memory_nodes: CpuList::default() }
    }
}
