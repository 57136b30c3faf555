//! What must hold beyond the assumptions of all tests, checked in one place.

use crate::{OutOfWork, SporadicTask, Verdict, Work};

/// No job is kept from the scheduler once it has arrived.
pub(super) const NO_JITTER: &str = "J = 0";

/// A job's deadline comes no later than the task's next arrival can.
pub(super) const CONSTRAINED: &str = "D <= T";

/// Everything happens at whole ns: arrivals, scheduling decisions, completions.
pub(super) const INTEGER_TIME: &str = "arrivals, execution times and scheduling decisions are whole ns";

/// What every test here begins with: the first task that breaks `J = 0`, or a step of work for each.
pub(super) fn without_jitter(tasks: &[SporadicTask], work: &mut Work) -> Result<Option<Verdict>, OutOfWork> {
    begin(tasks, work, jitter(tasks))
}

/// What tests for D <= T begin with: the first task that breaks `J = 0` or `D <= T`, or a step of work for each.
pub(super) fn constrained(tasks: &[SporadicTask], work: &mut Work) -> Result<Option<Verdict>, OutOfWork> {
    let late = || tasks.iter().position(|task| task.deadline_rel_ns > task.period_ns);
    begin(tasks, work, jitter(tasks).or_else(|| Some(Verdict::needs(CONSTRAINED, Some(late()?)))))
}

fn jitter(tasks: &[SporadicTask]) -> Option<Verdict> {
    let at = tasks.iter().position(|task| task.jitter_ns > 0)?;
    Some(Verdict::needs(NO_JITTER, Some(at)))
}

fn begin(
    tasks: &[SporadicTask],
    work: &mut Work,
    broken: Option<Verdict>,
) -> Result<Option<Verdict>, OutOfWork> {
    if broken.is_none() {
        work.take(tasks.len() as u64)?;
    }
    Ok(broken)
}
