//! One processor: earliest deadline first and fixed priorities, for which exact tests exist.
//!
//! A partitioned scheduler is one of these per processor: `partitioned` puts their verdicts together.

mod ceiling;
pub mod deferrable;
mod density;
mod growing;
mod qpa;
mod releases;
mod requests;
mod rta;
mod tardiness;
mod time_demand;

pub use ceiling::{Ceiling, Rank};
pub use density::Density;
pub(crate) use growing::Growing;
pub use qpa::Qpa;
pub use rta::FixedPriorityRta;
pub use tardiness::FixedPriorityTardiness;
pub use time_demand::TimeDemand;

use crate::{SporadicTask, Verdict, Work};

/// Longer windows (ns; 36 years) are not looked into: a test that needs one is out of work. So 64 bits are enough: what tasks
/// request is compared with a window, or with a limit of this size, whenever jobs of one task have been added, and these are at
/// most (w + J + T) U, below 2^61.
const WINDOW_MAX: u64 = 1 << 60;

/// What a test for one processor begins with: what it says of several.
fn alone(processors: u32) -> Result<(), Verdict> {
    if processors == 1 { Ok(()) } else { Err(Verdict::needs("m = 1", None)) }
}

/// What tests for EDF begin with: one processor, a step of work for each task, and a window of at least C after each arrival.
fn windows_hold_jobs(tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<(), Verdict> {
    alone(processors)?;
    work.take(tasks.len() as u64)?;
    let short = tasks.iter().position(|task| window(task) < task.wcet_ns);
    short.map_or(Ok(()), |at| Err(Verdict::fails_at(at)))
}

/// D - J, in which a job that is released as late as it can be must run; 0 where there is no such time.
fn window(task: &SporadicTask) -> u64 {
    task.deadline_rel_ns.saturating_sub(task.jitter_ns)
}

/// How many jobs the last task has in the hyperperiod, the least common multiple of all periods.
///
/// This many jobs of a busy period are enough under fixed priorities, even if it never ends because U = 1: let w(q) be the
/// least t > 0 with (q + 1) C + hp(t) <= t, and H the hyperperiod. Then hp(t + H) = hp(t) + H U_hp, so w(q + H/T) <= w(q) + H if
/// U <= 1, and the response time of job q + H/T is at most that of job q.
fn jobs_in_hyperperiod(tasks: &[SporadicTask]) -> u64 {
    let Some(last) = tasks.last() else { return 0 };
    let hyperperiod = tasks.iter().try_fold(1_u64, |hyperperiod, task| {
        (hyperperiod / laxity_model::gcd(hyperperiod, task.period_ns)).checked_mul(task.period_ns)
    });
    // One that does not fit into 64 bits is longer than every window.
    hyperperiod.map_or(u64::MAX, |hyperperiod| hyperperiod / last.period_ns)
}
