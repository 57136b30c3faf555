//! Schedulers by their names: which accounting and which tests say what of each, decided here once and for all.
//!
//! ```
//! use laxity_analysis::scheduler::{Analysed, Asked, Placed};
//! use laxity_analysis::{Bounds, AnalysedCell, Guarantee, SporadicTask, Verdict};
//!
//! let tasks = [SporadicTask::implicit(26, 70), SporadicTask::implicit(62, 100)];
//! let cells = [AnalysedCell { processors: 1, tasks: vec![0, 1] }];
//! let (working_sets, given_priorities, servers) = (&[], &[], &[]);
//! let placed = Placed { tasks: &tasks, working_sets, given_priorities, cells: &cells, servers, overheads: None };
//! let scheduler: Analysed = "p-rm".parse().expect("a scheduler");
//! let hard = scheduler.judge(&placed, Asked::of(Guarantee::Hard));
//! assert_eq!(hard.verdict, Verdict::fails_at(1));
//! let soft = scheduler.judge(&placed, Asked::of(Guarantee::Soft));
//! assert_eq!(soft.verdict, Verdict::Schedulable(Bounds::Tardiness(vec![0, 18])));
//! assert_eq!(soft.proven_by, ["fp-tardiness"]);
//! ```
//!
//! 1. A set is judged cell by cell ([`AnalysedCell`]): one cell for all processors under global scheduling, one per cluster or
//!    processor otherwise. Which tasks are where is decided before.
//! 2. A policy that dedicates a processor leaves one less for tasks ([`Analysed::running`]).
//! 3. Overheads of a cell are those for as many tasks as it has (`accounting`). None given: scheduling costs nothing.
//! 4. Tests (`tests`) see the inflated parameters. What they prove is said of the tasks as given (`bounds`).
//! 5. A cell of one processor may have a deferrable server, which goes before its tasks whatever its period. Scheduling costs nothing
//!    there: a background task can preempt at any time, any number of times, and no accounting has a term for that.
//! 6. Priorities are those of the tasks as given: overheads change no T and no D by which a scheduler orders tasks. Ties: the task
//!    that comes first. Only under SCHED_FIFO tasks can share a priority: those with equal given ones, or where a cell has more than
//!    there are ([`laxity_model::FIFO_LEVELS`]). Each then waits for all its equals ([`crate::Levels`]).

mod accounting;
mod bounds;
mod judgement;
mod name;
mod quanta;
mod reclaiming;
mod tested_cells;
mod tests;

pub use judgement::{Asked, Judgement, Placed};
pub use name::{Analysed, Unproven};
pub use quanta::Quanta;
pub use tested_cells::{EmptyCell, RefusesAtOnce, TestedCells};

#[cfg(doc)]
use crate::AnalysedCell;
