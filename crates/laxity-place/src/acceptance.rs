//! The scheduler of the bins says what fits.
//!
//! A schedulability test knows more of a bin than its load: priorities, deadlines, and what scheduling costs among so many
//! tasks. It is none of this crate's business which test that is, or where a cell's other processors are: it answers by bin
//! and tasks.
//!
//! 1. A task goes into a bin only if the bin's tasks and the task together are accepted. So whatever is in a bin was accepted
//!    together when the last of them came, and the placement needs no judgement afterwards.
//! 2. U at most the capacity is asked for before: what exceeds it is schedulable in no sense. C may be all of T, for a
//!    deadline that may be missed limits nothing; what D demands is the test's to say.
//! 3. A test need not be monotonic in the tasks. Packing is greedy all the same: what a bin has refused is not tried there again.

use laxity_model::Diagnostic;
use std::fmt;

/// What a bin refuses of further tasks without asking its test.
pub struct Refuses<'a> {
    /// Every task that puts more on the bin than this, if that is known: work per period on a CPU of speed 1, in units of 2^-64.
    pub above_q64: Option<u128>,
    /// Whether it refuses a task, by id. That takes a moment.
    pub task: Box<dyn Fn(usize) -> bool + 'a>,
}

/// Where the tasks are that have places, when another has none.
pub struct Others<'a> {
    /// The tasks in a bin, by their ids.
    pub tasks_in: &'a dyn Fn(usize) -> Vec<usize>,
    /// Every bin has been asked, and has refused the task. And the message is all that is read, not the way out.
    pub refused_by_all: bool,
}

/// A test of the tasks in a bin.
pub trait Acceptance {
    /// What it is called in messages, such as `the test of p-rm`.
    fn name(&self) -> String;

    /// True if the bin (its number in the request) is schedulable with exactly these tasks, by id. Those that are to come are the
    /// last ones: one, or several where a method places groups.
    fn accepts(&self, bin: usize, tasks: &[usize]) -> bool;

    /// What a bin with exactly these tasks, by id, refuses of further ones: only what [`Acceptance::accepts`] would refuse with them.
    /// Nothing if that is not known. Asked of a bin that has refused a task.
    fn refuses(&self, _bin: usize, _tasks: &[usize]) -> Option<Refuses<'_>> {
        None
    }

    /// Why a task, by id, goes nowhere while others are where they are. Nothing if the test has no more to say than that it does not
    /// accept it.
    fn refusal(&self, _task: usize, _others: &Others<'_>) -> Option<Diagnostic> {
        None
    }
}

impl fmt::Debug for Refuses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refuses").field("above_q64", &self.above_q64).finish_non_exhaustive()
    }
}

impl fmt::Debug for Others<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Others").field("refused_by_all", &self.refused_by_all).finish_non_exhaustive()
    }
}

impl fmt::Debug for dyn Acceptance + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}
