//! What the rows of a run and its record say about each other.

use super::MANIFEST_FILE;
use crate::{Job, Run};
use laxity_model::TASKS_MAX;
use std::collections::BTreeMap;

/// The rows of a run that have been seen: so many, and of each task which. Producers write the jobs of a task in their order, which
/// takes memory for the task; each job out of order takes some, too.
#[derive(Debug, Default)]
pub(super) struct Rows {
    count: u64,
    /// By task.
    numbers: Vec<Numbers>,
    /// The first job that was there already.
    twice: Option<(u32, u32)>,
}

/// Numbers of jobs, as intervals without neighbours: the first of each and the one behind its last.
#[derive(Debug, Clone, Default)]
struct Numbers {
    /// The last interval to which a job was added.
    last: (u64, u64),
    /// The others.
    others: BTreeMap<u64, u64>,
}

impl Rows {
    /// One more row.
    #[inline]
    pub(super) fn add(&mut self, job: &Job) {
        self.count += 1;
        let task = job.task as usize;
        if task >= self.numbers.len() {
            // No set has so many tasks: its jobs are refused, and only counted here.
            if task >= TASKS_MAX {
                return;
            }
            self.numbers.resize(task + 1, Numbers::default());
        }
        if !self.numbers[task].insert(job.index.into()) && self.twice.is_none() {
            self.twice = Some((job.task, job.index));
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        usize::try_from(self.count).unwrap_or(usize::MAX)
    }

    /// Each job of the run is there once, and as many as its record says; else what is wrong.
    pub(super) fn check(&self, run: &Run) -> Result<(), String> {
        if let Some((task, job)) = self.twice {
            return Err(format!("job {job} of task {task} of run {} is there twice", run.id));
        }
        match run.job_count {
            Some(count) if count != self.count => Err(format!(
                "there are {} jobs of run {}, and {count} by its record in {MANIFEST_FILE}",
                self.count, run.id
            )),
            _ => Ok(()),
        }
    }
}

impl Numbers {
    /// Whether the number was not there yet.
    #[inline]
    fn insert(&mut self, number: u64) -> bool {
        if number == self.last.1 && !self.others.contains_key(&number) {
            self.last.1 += 1;
            return true;
        }
        self.insert_elsewhere(number)
    }

    #[cold]
    fn insert_elsewhere(&mut self, number: u64) -> bool {
        if self.last.0 < self.last.1 {
            self.others.insert(self.last.0, self.last.1);
        }
        let mut one = (number, number + 1);
        if let Some((&from, &to)) = self.others.range(..=number).next_back() {
            if number < to {
                self.last = (from, to);
                self.others.remove(&from);
                return false;
            }
            if to == number {
                self.others.remove(&from);
                one.0 = from;
            }
        }
        if let Some(to) = self.others.remove(&one.1) {
            one.1 = to;
        }
        self.last = one;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobOutcome;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn twice(keys: &[(u32, u32)]) -> Option<(u32, u32)> {
        let mut rows = Rows::default();
        keys.iter().for_each(|key| rows.add(&Job::new(*key, (0, 1), JobOutcome::Unfinished)));
        rows.twice
    }

    #[test]
    fn a_job_that_is_there_twice_is_found_in_any_order() {
        for once in [&[][..], &[(0, 0)], &[(0, 0), (0, 1), (1, 0)], &[(1, 0), (0, 1), (0, 0)]] {
            assert_eq!(twice(once), None, "{once:?}");
        }
        for (keys, again) in [
            (&[(0, 1), (0, 1)][..], (0, 1)),
            (&[(1, 0), (0, 0), (1, 0)], (1, 0)),
            (&[(0, 0), (2, 0), (2, 0)], (2, 0)),
        ] {
            assert_eq!(twice(keys), Some(again), "{keys:?}");
        }
    }

    laxity_seeds::properties! {
        #[test]
        fn intervals_are_sets(keys in proptest::collection::vec((0u32..2, 0u32..12), 0..40)) {
            let mut seen = BTreeSet::new();
            let again = keys.iter().find(|key| !seen.insert(**key));
            prop_assert_eq!(twice(&keys), again.copied());
        }
    }

    #[test]
    fn jobs_in_order_take_memory_for_the_task() {
        let mut numbers = Numbers::default();
        assert!((0..100_000).all(|number| numbers.insert(number)));
        assert!(numbers.others.is_empty());
    }
}
