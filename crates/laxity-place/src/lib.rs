//! Placement of tasks onto CPUs and clusters, before anything runs.
//!
//! A [`Request`] says which tasks go into which [`Bin`]s, what *fits* means ([`Fit`], or a test from outside:
//! [`Acceptance`]) and what to do with a task that fits nowhere ([`Overload`]); a [`Method`] says how: a bin-packing
//! heuristic ([`Packing`]), LWFG, which keeps tasks together that share memory, or the integer program that minimises the
//! maximum load. The answer is a [`Placement`], or a diagnostic that names
//! the task that failed, why, and a way out.
//!
//! Assumptions:
//! 1. A bin is a CPU (partitioned), a cluster (clustered) or the machine (global). Its capacity is the sum of
//!    its CPUs' speeds; a task's work is given for speed 1.
//! 2. Jobs are sequential: a task whose density exceeds the speed of a bin's fastest CPU does not fit there.
//! 3. A task may be placed only into a bin that lies within its affinity.
//! 4. Background tasks are not placed.
//!
//! All verdicts are exact (integers and rationals); where the ILP's search has to round loads, its answer is computed
//! again from the tasks. Ties are total: between tasks the lower id first, between bins the first.
//! With two exceptions every method gives the same answer everywhere and always: an ILP that runs into a time
//! limit, or is interrupted ([`Request::with_interrupt`]), keeps what it has found by then.
//!
//! Sources: lelli2012, 5.4 (the ILP); lindsay2012, 5.2, 5.3 and 6.1.5 (heuristics, LWFG, overload); Baruah and Fisher,
//! "The partitioned multiprocessor scheduling of sporadic task systems", RTSS 2005 (`bf-deadline`, `dbf`).

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod acceptance;
mod admission;
mod bin;
mod bound;
mod capacity;
mod demand_bound;
mod fit;
mod ilp;
mod line;
mod lwfg;
mod method;
mod order;
mod packed;
mod packing;
mod place;
mod placement;
mod ranking;
mod reason;
mod refusal;
mod request;

pub use acceptance::{Acceptance, Others, Refuses};
pub use bin::Bin;
pub use fit::{Fit, Fitting};
pub use ilp::{ILP_TIME_LIMIT_DEFAULT, ILP_VARIABLES_MAX};
pub use method::{Fallback, Listed, Method, Packing, Rule};
pub use order::{Direction, Key, Order};
pub use placement::{Optimality, Placement};
pub use request::{Overload, Request};
