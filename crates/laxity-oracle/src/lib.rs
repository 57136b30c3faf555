//! Is this schedule what its scheduler's definition says?
//!
//! A [`Definition`] says what a schedule claims to be: a task set, clusters, a priority rule, budgets. [`Verification`]
//! takes the events of a trace one by one and hands them to the [`Oracle`]s; its [`Verdict`] names what should not have
//! happened. None of it knows a policy: the oracles see the definition and the trace, nothing else.
//!
//! ```
//! use laxity_model::{Demand, Duration, Platform, PriorityRule, Task, TaskSet};
//! use laxity_oracle::{Definition, Oracle, reference, verify};
//!
//! let task = |name: &str, wcet, period| Task::periodic(name, Duration::from_ms(wcet), Duration::from_ms(period));
//! let set = TaskSet::new("pair", vec![task("a", 2, 5), task("b", 4, 8)])?;
//! let duration = Duration::from_ms(40);
//! let definition =
//!     Definition::global(set, &Platform::symmetric(1)?, PriorityRule::EarliestDeadlineFirst, duration)?
//!         .with_jobs(1, Demand::Wcet);
//! let mut schedule = reference(&definition, &definition.jobs(), duration.as_ns())?;
//! assert!(verify(&definition, &schedule.events, duration.as_ns()).clean);
//!
//! // The first job of `a` has arrived, and starts 1 ms too late.
//! let start = schedule.events.iter_mut().find(|event| event.kind.begins_running()).expect("it runs");
//! start.time_ns = 1_000_000;
//! assert_eq!(verify(&definition, &schedule.events, duration.as_ns()).count(Oracle::WorkConservation), 1);
//! # Ok::<(), laxity_model::Diagnostic>(())
//! ```
//!
//! The [`reference()`] scheduler makes the schedule that a definition describes, slowly and obviously, and a
//! [`Timeline`] compares it with any other. [`tiny`] enumerates task sets that are small enough to try them all.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod activity;
mod causes;
mod definition;
mod names;
mod reference;
mod schema;
mod server_account;
pub mod tiny;
mod transitions;
mod verdict;
mod verification;

pub use activity::{About, Activity, Cause};
pub use causes::{Causes, Evidence, causes};
pub use definition::{BudgetRule, Cluster, Definition, JobSource};
pub use laxity_trace::{ExcuseExtent, ExcuseLimits, LongestExcuse, VerdictState};
pub use names::JobName;
pub use reference::{
    ActiveJob, Decisions, Difference, Schedule, Textbook, Timeline, TimelineBuilder, first_difference,
    reference, scheduled_by,
};
pub use schema::verdict_schema;
pub use server_account::ServerAccount;
pub use transitions::{KernelWindows, Transitions};
pub use verdict::{
    Excuse, Finding, Oracle, Overruns, Tolerated, VERDICT_VERSION, VIOLATIONS_KEPT, Verdict, Violation,
};
pub use verification::{Verification, verify, verify_measured};
