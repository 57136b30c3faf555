use super::*;

/// (task, release, deadline, completed at)
fn jobs(all: &[(u32, u64, u64, Option<u64>)]) -> Vec<Job> {
    let job = |&(task, release_ns, deadline_ns, finish_ns): &(u32, u64, u64, Option<u64>)| Job {
        finish_ns,
        ..Job::new(
            (task, 0),
            (release_ns, deadline_ns),
            if finish_ns.is_some() { JobOutcome::Completed } else { JobOutcome::Unfinished },
        )
    };
    all.iter().map(job).collect()
}

#[test]
fn releases_behind_a_job_that_was_late_at_the_end_are_skipped() {
    let all = [
        (0, 0, 10, Some(5)),
        (0, 10, 20, None),
        (0, 20, 30, None),
        (0, 30, 40, None),
        // Under way at its next release, and not late then.
        (1, 0, 25, None),
        (1, 20, 45, None),
        (1, 40, 65, None),
    ];
    let outcomes = |on_miss| {
        let mut jobs = jobs(&all);
        skip_behind_unfinished(&mut jobs, on_miss);
        jobs.iter().map(|job| job.outcome).collect::<Vec<_>>()
    };
    use JobOutcome::{Completed, Skipped, Unfinished};
    assert_eq!(
        outcomes(OnMiss::Skip),
        [Completed, Unfinished, Skipped, Skipped, Unfinished, Unfinished, Skipped]
    );
    for on_miss in [OnMiss::Continue, OnMiss::Abort] {
        assert!(!outcomes(on_miss).contains(&Skipped));
    }
}
