//! What a report needs of the jobs of a run.

use super::laxity_cdf::Laxities;
use super::tally::{Tallies, UnknownTask};
use crate::{Job, Run};
use laxity_model::{Diagnostic, Result, TaskSet};

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

/// A job of a run is of a task that its set does not have.
pub(crate) fn of_another_set(run: &Run, set: &TaskSet, unknown: UnknownTask) -> Diagnostic {
    Diagnostic::usage(format!(
        "run {} has a job of task {} but its task set `{}` has only {} tasks",
        run.id,
        unknown.task,
        set.name(),
        unknown.tasks
    ))
    .hint("the jobs and the manifest do not belong together; use the ones written together")
}
