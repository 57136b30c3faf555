//! How many jobs were how late (lindsay2012, Figure 6.27).

use crate::Job;

const MS: u64 = 1_000_000;

/// Upper ends of the classes of tardiness, in ns, each included; the last class has no end.
const ENDS: [u64; 13] = [
    0,
    MS,
    2 * MS,
    5 * MS,
    10 * MS,
    20 * MS,
    50 * MS,
    100 * MS,
    200 * MS,
    500 * MS,
    1_000 * MS,
    2_000 * MS,
    5_000 * MS,
];

/// Jobs by tardiness. A job that meets its deadline has none; one that did not complete although its deadline passed is counted
/// apart. A job that neither completed nor had to is not counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TardinessHistogram {
    classes: [u64; ENDS.len() + 1],
    unfinished: u64,
    /// Tardiness of all completed jobs, in ns.
    total_ns: u128,
}

impl TardinessHistogram {
    /// The classes, ascending: above which tardiness and up to which, in ns. The first is none at all, the last has no end.
    pub fn classes() -> impl Iterator<Item = (Option<u64>, Option<u64>)> {
        let above = std::iter::once(None).chain(ENDS.into_iter().map(Some));
        above.zip(ENDS.into_iter().map(Some).chain([None]))
    }

    /// One more job of a run that covers `horizon_ns`.
    pub fn add(&mut self, job: &Job, horizon_ns: u64) {
        match job.tardiness_ns() {
            Some(tardiness) => {
                self.classes[ENDS.partition_point(|&end| end < tardiness)] += 1;
                self.total_ns += u128::from(tardiness);
            }
            None => self.unfinished += u64::from(job.missed(horizon_ns)),
        }
    }

    /// The mean tardiness of the jobs that completed late, in ns; nothing if none did.
    #[expect(clippy::cast_precision_loss, reason = "a number to show")]
    pub fn mean_of_late_ns(&self) -> Option<f64> {
        let late: u64 = self.classes[1..].iter().sum();
        (late > 0).then(|| self.total_ns as f64 / late as f64)
    }

    /// Completed jobs by class.
    pub fn completed(&self) -> &[u64] {
        &self.classes
    }

    /// Jobs that did not complete although their deadline passed.
    pub fn unfinished(&self) -> u64 {
        self.unfinished
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobOutcome;

    fn job(deadline_ns: u64, finish_ns: Option<u64>) -> Job {
        Job {
            demand_ns: Some(1),
            finish_ns,
            ..Job::new(
                (0, 0),
                (0, deadline_ns),
                if finish_ns.is_some() { JobOutcome::Completed } else { JobOutcome::Unfinished },
            )
        }
    }

    #[test]
    fn ends_belong_to_the_class_below() {
        let deadline = 10 * MS;
        let mut found = TardinessHistogram::default();
        for late in [0, 1, MS, MS + 1, 2 * MS, 5_000 * MS, 5_000 * MS + 1, u64::MAX / 2] {
            found.add(&job(deadline, Some(deadline + late)), u64::MAX);
        }
        found.add(&job(deadline, Some(3)), u64::MAX);
        assert_eq!(found.completed(), [2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
        for horizon in [deadline - 1, deadline] {
            found.add(&job(deadline, None), horizon);
        }
        assert_eq!(found.unfinished(), 1, "one could still have been in time");
        found.add(&Job { outcome: JobOutcome::Skipped, ..job(deadline, None) }, deadline);
        assert_eq!(found.unfinished(), 1, "a release that was skipped is no job");
        found.add(&Job { outcome: JobOutcome::Aborted, ..job(deadline, Some(deadline)) }, deadline);
        assert_eq!((found.unfinished(), found.completed()[0]), (2, 2), "an aborted job did not complete");
        let classes: Vec<_> = TardinessHistogram::classes().collect();
        assert_eq!(classes.len(), found.completed().len());
        assert_eq!((classes[0], classes[13]), ((None, Some(0)), (Some(5_000 * MS), None)));
        assert!(classes.windows(2).all(|pair| pair[0].1 == pair[1].0));
    }
}
