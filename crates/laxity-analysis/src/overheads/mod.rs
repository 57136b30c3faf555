//! Overhead accounting: what scheduling costs is put into the parameters of tasks, so that tests which know no costs apply.
//!
//! Times are whole ns: overheads are rounded up, then C' up and T' and D' down, each of which makes tasks harder only.
//! Everything is exact, and an inflated parameter never gets easier when an overhead grows.
//!
//! Overheads are what is *observed* of a running system, with what an operation waits for in it: a decision for locks, an
//! interrupt for the kernel's other work on its CPU, handlers on a dedicated CPU for each other (Brandenburg 2011, chapter 3;
//! `laxity run --record-overheads` records them so). No formula has a term for such waiting. The costs of `laxity-sim` are without it: it
//! happens there. Numbers that are accepted here may therefore miss when they are simulated as costs. What is observed under given
//! costs, at most, is derived in `laxity-sim/tests/accounting/observed.rs`, where each formula is held against the simulator.

mod csv;
mod fixed_priority;
mod inflated;
mod jlfp;
mod message_passing;
mod model;
mod preemption;
mod push_pull;
mod quantum;
#[cfg(test)]
mod tests;

pub use fixed_priority::FixedPriority;
pub use inflated::{Eaten, Inflated, Rejected, RejectedWhy};
pub use jlfp::JobLevel;
pub use message_passing::MessagePassing;
pub use model::{CacheDelays, Costs, Displacements, Monotone, Overhead, Overheads, TICK_PERIOD_DEFAULT};
pub use push_pull::{Order, PushPull};
pub use quantum::QuantumBased;

use crate::SporadicTask;
use laxity_model::TaskSet;

/// A way of accounting, for one kind of scheduler.
pub trait Accounting {
    /// The tasks of one cluster, with the overheads in their parameters. `working_sets` has the bytes that each task walks;
    /// overheads are those for as many tasks as there are.
    ///
    /// Panics unless there is a working set for each task.
    ///
    /// # Errors
    ///
    /// Overheads leave no room for a task, or for any: then the tasks are not schedulable by any test.
    fn inflate(
        &self,
        overheads: &Overheads,
        tasks: &[SporadicTask],
        working_sets: &[u64],
    ) -> Result<Inflated, Rejected>;

    /// Authors, title and section.
    fn source(&self) -> &'static str;
}

/// Which processor handles release interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interrupts {
    /// Any: they take time from the tasks.
    Shared,
    /// One that runs no tasks. It is not among those on which the tasks are tested: the caller tests on one less.
    Dedicated,
}

/// The bytes that the real-time tasks of a set walk, in the order of [`SporadicTask::of_set`].
pub fn working_sets_of(set: &TaskSet) -> Vec<u64> {
    set.real_time().map(|(_, task)| task.working_set.size_bytes).collect()
}
