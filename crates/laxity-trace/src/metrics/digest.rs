//! What a report needs of the jobs of a run.

use super::laxity_cdf::Laxities;
use super::tally::{Tallies, UnknownTask, of_another_set};
use crate::{Job, Run};
use laxity_model::{Result, TaskSet};

/// What a report needs of the jobs of a run: their number and order do not matter, and they need not be kept.
#[derive(Debug, Clone)]
pub struct RunDigest {
    /// The sums behind the run's metrics.
    pub tallies: Tallies,
    /// The distributions of laxity.
    pub laxities: Laxities,
}

impl RunDigest {
    /// No jobs yet, of a run of `set` that is going to cover `horizon_ns` ([`Run::horizon`]).
    pub fn new(set: &TaskSet, horizon_ns: u64) -> RunDigest {
        RunDigest { tallies: Tallies::new(set, horizon_ns), laxities: Laxities::new(set.tasks().len()) }
    }

    /// One more job.
    ///
    /// Errors: its task is not in the set.
    #[inline]
    pub fn add(&mut self, job: &Job) -> std::result::Result<(), UnknownTask> {
        self.laxities.add(job);
        self.tallies.add(job)
    }

    /// Of the jobs that a run has kept.
    ///
    /// Errors: a job of a task that the set does not have.
    pub fn of(run: &Run, set: &TaskSet) -> Result<RunDigest> {
        let mut digest = RunDigest::new(set, run.horizon().as_ns());
        run.jobs
            .iter()
            .try_for_each(|job| digest.add(job).map_err(|unknown| of_another_set(run, set, unknown)))?;
        Ok(digest)
    }
}
