//! What the rows of a run and its record say about each other.

use super::MANIFEST_FILE;
use crate::{Job, Run};

/// Each job of a run is there once, and as many as its record says; else what is wrong.
pub(super) fn check(run: &Run, jobs: &[Job]) -> Result<(), String> {
    if let Some((task, job)) = twice(jobs) {
        return Err(format!("job {job} of task {task} of run {} is there twice", run.id));
    }
    let there = jobs.len() as u64;
    match run.job_count {
        Some(count) if count != there => Err(format!(
            "there are {there} jobs of run {}, and {count} by its record in {MANIFEST_FILE}",
            run.id
        )),
        _ => Ok(()),
    }
}

/// Task and index of a job that is there more than once. Producers write jobs in order: others take memory for 8 bytes a job.
fn twice(jobs: &[Job]) -> Option<(u32, u32)> {
    let key = |job: &Job| (job.task, job.index);
    if jobs.is_sorted_by(|one, next| key(one) < key(next)) {
        return None;
    }
    let mut keys: Vec<(u32, u32)> = jobs.iter().map(key).collect();
    keys.sort_unstable();
    keys.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobOutcome;

    fn job((task, index): (u32, u32)) -> Job {
        Job::new((task, index), (0, 1), JobOutcome::Unfinished)
    }

    #[test]
    fn a_job_that_is_there_twice_is_found_in_any_order() {
        let jobs = |keys: &[(u32, u32)]| keys.iter().map(|key| job(*key)).collect::<Vec<_>>();
        for once in [&[][..], &[(0, 0)], &[(0, 0), (0, 1), (1, 0)], &[(1, 0), (0, 1), (0, 0)]] {
            assert_eq!(twice(&jobs(once)), None, "{once:?}");
        }
        for (keys, again) in [
            (&[(0, 1), (0, 1)][..], (0, 1)),
            (&[(1, 0), (0, 0), (1, 0)], (1, 0)),
            (&[(0, 0), (2, 0), (2, 0)], (2, 0)),
        ] {
            assert_eq!(twice(&jobs(keys)), Some(again), "{keys:?}");
        }
    }
}
