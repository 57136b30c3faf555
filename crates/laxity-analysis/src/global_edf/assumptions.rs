//! What must hold beyond the assumptions of all tests, checked in one place.

use crate::{SporadicTask, Verdict};

/// No job is kept from the scheduler once it has arrived.
pub(super) const NO_JITTER: &str = "J = 0";

/// A job's deadline comes no later than the task's next arrival can.
pub(super) const CONSTRAINED: &str = "D <= T";

/// Everything happens at whole ns: arrivals, scheduling decisions, completions.
pub(super) const INTEGER_TIME: &str = "arrivals, execution times and scheduling decisions are whole ns";

/// The first task that breaks `J = 0`, if one does.
pub(super) fn jitter(tasks: &[SporadicTask]) -> Option<Verdict> {
    let at = tasks.iter().position(|task| task.jitter > 0)?;
    Some(Verdict::needs(NO_JITTER, Some(at)))
}

/// The first task that breaks `J = 0` or `D <= T`, if one does.
pub(super) fn jitter_or_unconstrained(tasks: &[SporadicTask]) -> Option<Verdict> {
    let late = || tasks.iter().position(|task| task.deadline > task.period);
    jitter(tasks).or_else(|| Some(Verdict::needs(CONSTRAINED, Some(late()?))))
}
