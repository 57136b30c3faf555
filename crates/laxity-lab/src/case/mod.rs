//! A case: a task set under a scheduler on a platform, in its places. It is made once; `analysis` proves it, `simulation` simulates it,
//! and `experiment` runs it. Besides: what all of these are told, what is refused before, what manifests say, and reasons in words.

mod checks;
mod placement;
mod runs;
mod same;

pub use checks::{BYTES_PER_JOB, check_priorities, check_prospects, check_real_time, expected_jobs, reason};
pub use placement::PlacementSettings;
pub use runs::RunSettings;
pub use same::{Same, drop_same, same_option};

use crate::placing::Placed;
use laxity_model::{Result, TaskSet};

/// A task set under a scheduler, in its places.
#[derive(Clone)]
pub struct Case<'a, S> {
    /// Index of the set among those that were asked for.
    pub index: usize,
    /// The set.
    pub set: &'a TaskSet,
    /// The scheduler.
    pub scheduler: &'a S,
    /// Where its tasks go, or why they go nowhere.
    pub placed: Result<Placed>,
}

impl<'a, S> Case<'a, S> {
    /// Of every set under every scheduler, set by set. `place` says where the tasks of a set go under each of them.
    ///
    /// # Errors
    ///
    /// What `place` refuses for all.
    pub fn each(
        sets: &'a [TaskSet],
        schedulers: &'a [S],
        mut place: impl FnMut(&'a TaskSet) -> Result<Vec<Result<Placed>>>,
    ) -> Result<Vec<Self>> {
        let mut cases = Vec::with_capacity(sets.len() * schedulers.len());
        for (index, set) in sets.iter().enumerate() {
            let of = schedulers.iter().zip(place(set)?);
            cases.extend(of.map(|(scheduler, placed)| Case { index, set, scheduler, placed }));
        }
        Ok(cases)
    }
}
