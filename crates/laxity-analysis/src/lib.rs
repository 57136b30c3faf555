//! Schedulability tests: whether every job of a task set meets its deadline under a scheduler, or how late it can be.
//!
//! A [`Test`] judges sporadic tasks ([`SporadicTask`]) on `m` identical processors. Its answer is a [`Verdict`]: schedulable,
//! with the bounds that the test gives; not proven, with the task at which it failed; or not applicable, with the assumption
//! that does not hold. No answer says "not schedulable" unless the test is exact ([`Exactness`]).
//!
//! Assumptions of all tests:
//! 1. Tasks are independent and preemptible; their jobs are sequential and arrive at least a period apart, at any time.
//! 2. Migrations and preemptions cost nothing: overheads have been put into the parameters before.
//! 3. The processors are identical, and each task may run on all of them. Clusters and partitions are judged one by one.
//!
//! All verdicts are exact (integers and rationals). What could take too long is bounded by a number of steps ([`Work`]), the
//! same on every machine, and a verdict says when it ran out of them.
//!
//! Each test is a file, named after what its authors call it, with its source (the theorem or the equation),
//! its assumptions and its complexity.
//!
//! [`scheduler`] says what a *scheduler* guarantees, overheads included: it knows which accounting and which tests
//! apply to each name.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

pub mod admission;
mod beside;
pub mod catalogue;
mod equals;
mod global_edf;
mod global_fixed_priority;
mod global_soft;
pub mod overheads;
mod partitioned;
mod pfair;
mod priority_order;
mod remaining;
pub mod scheduler;
pub mod settings;
mod source;
mod sporadic;
mod test;
mod uniprocessor;
mod verdict;
mod work;

pub use beside::{Beside, Taken};
pub use equals::Levels;
pub use global_edf::{AnyGlobalEdf, Bak, Bar, Bcl, BclIterative, FfDbf, Gfb, La, Load, Rta, ZeroLaxity};
pub use global_fixed_priority::{GlobalFixedPriorityGuan, GlobalFixedPriorityRta};
pub use global_soft::{CompliantVector, DeviAnderson, PriorityPoints};
pub use partitioned::{AnalysedCell, judge_cells};
pub use pfair::Pfair;
pub use priority_order::PriorityOrder;
use source::papers;
pub use source::{Citation, Source, Theorem};
pub use sporadic::{SporadicTask, TIME_MAX};
pub use test::{Exactness, Guarantee, Priorities, Test, TestInfo};
pub use uniprocessor::deferrable::{self, DeferrableRta, DeferrableTardiness, DoubleHit};
pub use uniprocessor::{Density, FixedPriorityRta, FixedPriorityTardiness, Qpa, TimeDemand};
pub use verdict::{Bounds, NotApplicable, NotProven, Verdict};
pub use work::{OutOfWork, WORK_DEFAULT, Work};
