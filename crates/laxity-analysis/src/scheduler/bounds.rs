//! From what is proven of inflated tasks to what is proven of the tasks as given.
//!
//! Let a be a job's arrival, and a' when the inflated task arrives: when the scheduler takes notice. C' contains all that delays the
//! job from then on, so a completion bound a' + R' of the inflated set holds for the real job.
//!
//! 1. Accounting by shorter parameters (T' = T - d, D' = D - d, J' = J): a' <= a + d, as d is the longest that a release goes
//!    unnoticed. So R = R' + d. With a job that is at most B' late after D', R' = D' + B', the tardiness is at most
//!    R - D = D' + B' + d - D = B': what was taken from D comes back.
//! 2. Quanta: T and D lose at least as much as a release goes unnoticed, and more by rounding down to quanta: d is T - T' also here.
//! 3. Fixed priorities on one processor: T and D stay, and the delay is release jitter, from which tests count already: d = 0.
//!
//! In all three d = T - T'.

use crate::overheads::Eaten;
use crate::{Bounds, SporadicTask};

/// When jobs have completed at the latest after their arrivals, from what a test says of them: by D if it says nothing.
pub(super) fn completions(tasks: &[SporadicTask], bounds: Bounds) -> Vec<u64> {
    match bounds {
        Bounds::None => tasks.iter().map(|task| task.deadline_rel_ns).collect(),
        Bounds::ResponseTimes(responses) => responses,
        Bounds::Tardiness(late) => {
            late.iter().zip(tasks).map(|(late, task)| task.deadline_rel_ns + late).collect()
        }
    }
}

/// R: after the arrival of a job of the task as given.
pub(super) fn response(completion: u64, eaten: &Eaten) -> u64 {
    completion + eaten.period_ns
}
