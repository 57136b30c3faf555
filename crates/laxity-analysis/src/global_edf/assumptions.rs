//! What must hold beyond the assumptions of all tests, checked in one place.

use crate::{SporadicTask, Verdict, Work};

/// No job is kept from the scheduler once it has arrived.
pub(super) const NO_JITTER: &str = "J = 0";

/// A job's deadline comes no later than the task's next arrival can.
pub(super) const CONSTRAINED: &str = "D <= T";

/// Everything happens at whole ns: arrivals, scheduling decisions, completions.
pub(super) const INTEGER_TIME: &str = "arrivals, execution times and scheduling decisions are whole ns";

/// What every test here begins with: the first task that breaks `J = 0`, or a step of work for each.
pub(super) fn without_jitter(tasks: &[SporadicTask], work: &mut Work) -> Result<(), Verdict> {
    Verdict::unless(NO_JITTER, tasks, |task| task.jitter_ns == 0)?;
    Ok(work.take(tasks.len() as u64)?)
}

/// What tests for D <= T begin with: the first task that breaks `J = 0` or `D <= T`, or a step of work for each.
pub(super) fn constrained(tasks: &[SporadicTask], work: &mut Work) -> Result<(), Verdict> {
    Verdict::unless(NO_JITTER, tasks, |task| task.jitter_ns == 0)?;
    Verdict::unless(CONSTRAINED, tasks, |task| task.deadline_rel_ns <= task.period_ns)?;
    Ok(work.take(tasks.len() as u64)?)
}
