//! Fixed priorities on one CPU, below a deferrable server for background tasks that goes before all of them,
//! whatever its period.
//!
//! Assumptions beyond those of all tests:
//! 1. m = 1, and tasks are in the order of their priorities, the highest first.
//! 2. Background work arrives at any time, without bound. While the budget is positive it goes first, and uses the
//!    budget up; the budget is full again once in every period, from any time on. Without budget it runs only when no
//!    task is pending.
//! 3. Jobs of a task run in the order of their arrivals, and a late one is completed.
//!
//! With a full budget that is used at the end of a period and again at the beginning of the next (the double hit) a server requests
//! more than a periodic task of the same size: in a window of length t
//!
//! ```text
//! e_s (1 + ceil((t - e_s) / p_s))    for t > e_s
//! e_s                                for 0 < t <= e_s
//! ```
//!
//! (Strosnider, Lehoczky, Sha 1995, section 4). Both are e_s ceil((t + p_s - e_s) / p_s): what a task with C = e_s,
//! T = p_s and the release jitter J = p_s - e_s requests (Bernat, Burns: New results on fixed priority aperiodic
//! servers, RTSS 1999). With e_s = p_s there is no jitter, and no time left. So the analyses of tasks with jitter are
//! those of tasks below a server, and stay exact: jobs come at the critical instant, e_s before the budget is full
//! again, and background work from then on. That nothing is synchronous (tasks enter at any time) changes no worst
//! case.
//!
//! calandrino2007 leaves the double hit out ([`DoubleHit::Ignored`]): its tasks may be late, by no more than Theorem 1 says
//! ([`tardiness`]).

mod hard;
mod theorem;

pub use hard::{DeferrableRta, response_times};
pub use theorem::{DeferrableTardiness, tardiness};

use crate::{SporadicTask, Test};
use laxity_model::DeferrableServer;

/// Whether an analysis knows that a server can use up two budgets in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DoubleHit {
    /// As if the server were a periodic task: necessary, and what Theorem 1 asks for.
    Ignored,
    /// As it is: exact.
    Counted,
}

/// The server as analyses of periodic tasks see it, the first of all; nothing if it reserves nothing.
pub(crate) fn as_task(server: DeferrableServer, double_hit: DoubleHit) -> Option<SporadicTask> {
    let (budget, period) = (server.budget().as_ns(), server.period().as_ns());
    let jitter = match double_hit {
        DoubleHit::Ignored => 0,
        DoubleHit::Counted => period - budget,
    };
    (!server.is_none()).then_some(SporadicTask {
        wcet_ns: budget,
        deadline_rel_ns: period,
        period_ns: period,
        jitter_ns: jitter,
    })
}

/// The server before the tasks.
fn below(server: DeferrableServer, double_hit: DoubleHit, tasks: &[SporadicTask]) -> Vec<SporadicTask> {
    as_task(server, double_hit).into_iter().chain(tasks.iter().copied()).collect()
}

/// Tests by name take the server as the first task. Nothing if it is none.
fn first_as_server(tasks: &[SporadicTask]) -> Option<(DeferrableServer, &[SporadicTask])> {
    use laxity_model::Duration;
    let (first, rest) = tasks.split_first()?;
    let is_server = first.deadline_rel_ns == first.period_ns && first.jitter_ns == 0;
    let server =
        DeferrableServer::new(Duration::from_ns(first.wcet_ns), Duration::from_ns(first.period_ns)).ok()?;
    is_server.then_some((server, rest))
}

/// Whether a test takes the first task for a server, with the double hit that it can make.
pub(crate) fn takes_server(test: &dyn Test) -> bool {
    test.info().assumptions.contains(&FIRST_IS_SERVER)
}

/// What the tests by name say of a first task that cannot be a server.
const FIRST_IS_SERVER: &str = "the first task is the server: D = T and J = 0";
