//! The iteration on slacks that BCL-iterative and RTA share.
//!
//! The slack of a task is how long before its deadline each of its jobs completes at least. More slack of others is less
//! interference, so a bound on response times gets no larger as slacks grow: the slacks that can be proven have a greatest
//! element, which repeated improvement reaches from 0 in any order. The verdict is that of the papers' rounds.
//!
//! Three things save rounds:
//!
//! 1. A task that meets its deadline without anyone's slack need not be looked at again, except to learn its slack for others.
//! 2. The slacks to begin with are those that a bound on the interference of all tasks at once proves ([`Rooms`]).
//! 3. Slacks are bounded from above as well: first by D - C, then by what responses give if all others have their upper bounds. A
//!    task that fails even then fails for good.

use super::headroom::Rooms;
use crate::{OutOfWork, SporadicTask};

/// Bounds on response times, given slacks.
pub(super) trait Responses {
    /// A bound on the response time of task k if tasks have these slacks; nothing if it exceeds the deadline.
    fn response(&mut self, k: usize, slacks: &[u64]) -> Result<Option<u64>, OutOfWork>;
}

/// Slacks with which all tasks meet their deadlines, or a task that does not meet its own.
pub(super) fn converge(
    tasks: &[SporadicTask],
    rooms: Rooms,
    responses: &mut impl Responses,
) -> Result<Result<Vec<u64>, usize>, OutOfWork> {
    let Rooms { suspects, slacks: mut proven } = rooms;
    let mut failing = Vec::new();
    for k in suspects {
        if !improve(tasks, k, &mut proven, responses)?.1 {
            failing.push(k);
        }
    }
    let mut possible: Vec<u64> = tasks.iter().map(|task| task.deadline - task.wcet).collect();
    while let Some(&first) = failing.first() {
        for &k in &failing {
            if responses.response(k, &possible)?.is_none() {
                return Ok(Err(k));
            }
        }
            for k in 0..tasks.len() {
                let Some(response) = responses.response(k, &possible)? else { return Ok(Err(k)) };
                possible[k] = tasks[k].deadline - response;
            }
            for &k in &failing {
                if responses.response(k, &possible)?.is_none() {
                    return Ok(Err(k));
                }
            }
        let mut improved = false;
        for k in 0..tasks.len() {
            improved |= improve(tasks, k, &mut proven, responses)?.0;
        }
        let mut still_failing = Vec::new();
        for &k in &failing {
            let (more, meets) = improve(tasks, k, &mut proven, responses)?;
            improved |= more;
            if !meets {
                still_failing.push(k);
            }
        }
        // A task that meets its deadline with a slack of 0 has improved nothing.
        if !still_failing.is_empty() && !improved {
            return Ok(Err(first));
        }
        failing = still_failing;
    }
    Ok(Ok(proven))
}

/// Whether the slack of task k has grown, and whether the task meets its deadline.
fn improve(
    tasks: &[SporadicTask],
    k: usize,
    proven: &mut [u64],
    responses: &mut impl Responses,
) -> Result<(bool, bool), OutOfWork> {
    let Some(response) = responses.response(k, proven)? else { return Ok((false, false)) };
    let slack = tasks[k].deadline - response;
    let grown = slack > proven[k];
    proven[k] = proven[k].max(slack);
    Ok((grown, true))
}
