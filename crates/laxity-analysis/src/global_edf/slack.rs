//! The iteration on slacks that BCL-iterative and RTA share.
//!
//! The slack of a task is how long before its deadline each of its jobs completes at least. More slack of others is less
//! interference, so a bound on response times gets no larger as slacks grow: the slacks that can be proven have a greatest
//! element, which repeated improvement reaches from 0 in any order. The verdict is that of the papers' rounds.
//!
//! Three things save rounds:
//!
//! 1. A task that meets its deadline without the slack of others need not be looked at again, except to learn its
//!    slack for others.
//! 2. The slacks to begin with are those that a bound on the interference of all tasks at once proves ([`Rooms`]).
//! 3. Slacks are bounded from above as well: first by D - C, then by what responses give if all others have their upper bounds. A
//!    task that fails even then fails for good.

use super::headroom::Rooms;
use crate::{OutOfWork, SporadicTask};

/// Bounds on response times, given slacks.
pub(super) trait Responses {
    /// A bound on the response time of task k if tasks have these slacks; nothing if it exceeds the deadline.
    fn response(&mut self, k: usize, slacks: &[u64]) -> Result<Option<u64>, OutOfWork>;

    /// An error if so many responses take more steps than are left, whatever they are.
    fn require(&self, responses: usize) -> Result<(), OutOfWork>;
}

/// Slacks with which all tasks meet their deadlines, or a task that does not meet its own.
pub(super) fn converge(
    tasks: &[SporadicTask],
    rooms: Rooms,
    responses: &mut impl Responses,
) -> Result<Result<Vec<u64>, usize>, OutOfWork> {
    let Rooms { suspects, slacks_ns: mut proven } = rooms;
    let mut possible: Vec<u64> = tasks.iter().map(|task| task.deadline_rel_ns - task.wcet_ns).collect();
    // The first suspect is the worst.
    if let Some(k) = fails_for_good(&suspects[..suspects.len().min(1)], &possible, responses)? {
        return Ok(Err(k));
    }
    let mut failing = failing_of(suspects, tasks, &mut proven, responses)?.failing;
    if let Some(k) = fails_for_good(&failing, &possible, responses)? {
        return Ok(Err(k));
    }
    while let Some(&first) = failing.first() {
        for k in 0..tasks.len() {
            let Some(response) = responses.response(k, &possible)? else { return Ok(Err(k)) };
            possible[k] = tasks[k].deadline_rel_ns - response;
        }
        if let Some(k) = fails_for_good(&failing, &possible, responses)? {
            return Ok(Err(k));
        }
        let all = failing_of((0..tasks.len()).collect(), tasks, &mut proven, responses)?;
        // What has met its deadline once always does.
        let again = failing_of(failing, tasks, &mut proven, responses)?;
        failing = again.failing;
        if !failing.is_empty() && !all.improved && !again.improved {
            return Ok(Err(first));
        }
    }
    Ok(Ok(proven))
}

/// The first of these tasks that misses its deadline even with all the slack that others could have.
fn fails_for_good(
    suspects: &[usize],
    possible: &[u64],
    responses: &mut impl Responses,
) -> Result<Option<usize>, OutOfWork> {
    for &k in suspects {
        if responses.response(k, possible)?.is_none() {
            return Ok(Some(k));
        }
    }
    Ok(None)
}

/// The outcome of a round of improvements.
struct Round {
    /// Those that may miss their deadlines still.
    failing: Vec<usize>,
    /// The slack of one has grown.
    improved: bool,
}

/// Improves the slacks of these tasks.
fn failing_of(
    mut these: Vec<usize>,
    tasks: &[SporadicTask],
    proven: &mut [u64],
    responses: &mut impl Responses,
) -> Result<Round, OutOfWork> {
    // Most of the time of sets of 10^4 tasks and more would go into a round that cannot come to its end.
    responses.require(these.len())?;
    let mut improved = false;
    let mut failing = 0;
    for at in 0..these.len() {
        let k = these[at];
        match responses.response(k, proven)? {
            None => {
                these[failing] = k;
                failing += 1;
            }
            Some(response) => {
                let slack = tasks[k].deadline_rel_ns - response;
                improved |= slack > proven[k];
                proven[k] = proven[k].max(slack);
            }
        }
    }
    these.truncate(failing);
    Ok(Round { failing: these, improved })
}
