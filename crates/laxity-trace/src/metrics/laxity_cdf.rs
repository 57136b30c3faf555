//! Distributions of normalized laxity (lelli2012, Figures 3 to 5).

use super::classes::{Classes, exact_of_task};
use super::statistics::ratio;
use crate::Job;
use laxity_model::{Duration, TaskSet};
use std::collections::BTreeSet;

/// Whose jobs a distribution shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskSelection {
    /// All real-time tasks (Figure 3).
    All,
    /// The real-time tasks with the shortest period of their set (Figure 4, top).
    ShortestPeriod,
    /// The real-time tasks with the longest period of their set (Figure 4, bottom).
    LongestPeriod,
}

impl TaskSelection {
    /// Ids of the selected tasks of a set.
    pub fn tasks(self, set: &TaskSet) -> BTreeSet<usize> {
        let periods = || set.real_time().map(|(_, task)| task.period());
        let wanted: Option<Duration> = match self {
            TaskSelection::All => None,
            TaskSelection::ShortestPeriod => periods().min(),
            TaskSelection::LongestPeriod => periods().max(),
        };
        let selected =
            set.real_time().filter(|(_, task)| wanted.is_none_or(|period| task.period() == period));
        selected.map(|(id, _)| id).collect()
    }
}

/// The laxities of the completed jobs of a run, task by task, in memory that is bounded by the tasks.
///
/// Those of few jobs are kept as they are. More are counted in classes, which are at most 1/128 as wide as the values in them and
/// have one sign: a task's share of laxities up to the upper end of a class is exact, and so is the share of missed deadlines.
#[derive(Debug, Clone)]
pub struct Laxities {
    tasks: Vec<OfTask>,
    exact_max: usize,
}

#[derive(Debug, Clone)]
enum OfTask {
    /// In ns, in the order in which they came.
    Exact(Vec<i64>),
    /// Amounts below and above 0.
    Classes(Box<[Classes; 2]>),
}

impl Laxities {
    /// None yet, of a set with so many tasks.
    pub fn new(tasks: usize) -> Laxities {
        Laxities { tasks: vec![OfTask::Exact(Vec::new()); tasks], exact_max: exact_of_task(tasks) }
    }

    /// One more job. A job that did not complete has no laxity; one of a task that the set does not have is left out
    /// ([`super::Tallies::add`] refuses it).
    #[inline]
    pub fn add(&mut self, job: &Job) {
        let Some(laxity) = job.laxity_ns() else { return };
        let Some(task) = self.tasks.get_mut(job.task as usize) else { return };
        match task {
            OfTask::Exact(values) if values.len() < self.exact_max => values.push(laxity),
            OfTask::Exact(values) => {
                let mut classes = Box::<[Classes; 2]>::default();
                values.iter().chain([&laxity]).for_each(|value| count(&mut classes, *value));
                *task = OfTask::Classes(classes);
            }
            OfTask::Classes(classes) => count(classes, laxity),
        }
    }

    /// The normalized laxities (D - R)/T of the selected tasks of `set`, which is that of the run, ascending, with how many jobs have
    /// each.
    pub fn normalized(&self, set: &TaskSet, selection: TaskSelection) -> Vec<(f64, u64)> {
        let mut all = Vec::new();
        for id in selection.tasks(set) {
            let period = set.tasks()[id].period().as_ns();
            let of = |laxity: i64| ratio(laxity.into(), period.into()).expect("periods are above 0");
            match self.tasks.get(id) {
                None => {}
                Some(OfTask::Exact(values)) => all.extend(values.iter().map(|value| (of(*value), 1))),
                Some(OfTask::Classes(classes)) => {
                    let [negative, positive] = &**classes;
                    let below = |amount: u64| i64::try_from(amount).map_or(i64::MIN, |amount| -amount);
                    let above = |amount: u64| i64::try_from(amount).unwrap_or(i64::MAX);
                    all.extend(negative.ends().map(|(ends, jobs)| (of(below(*ends.start())), jobs)));
                    all.extend(positive.ends().map(|(ends, jobs)| (of(above(*ends.end())), jobs)));
                }
            }
        }
        all.sort_unstable_by(|(one, _), (other, _)| one.total_cmp(other));
        all
    }
}

fn count(classes: &mut [Classes; 2], laxity: i64) {
    classes[usize::from(laxity >= 0)].add(laxity.unsigned_abs(), 1);
}

/// A point of an empirical distribution function: `share` of the values are at most `value`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CdfPoint {
    /// The value.
    pub value: f64,
    /// The share of values that do not exceed it, in (0, 1].
    pub share: f64,
}

/// At most about `points_max` points of the distribution function of ascending `values`, with how many jobs have each, for plots.
///
/// Every point is one of the exact function: none is interpolated. The ends are kept, and so are the last
/// negative and the first non-negative value, so that the share of missed deadlines can be read off exactly
/// (that can make two points more than `points_max`). Elsewhere the ranks are evenly spaced, so that neighbours
/// are at most `1/(points_max - 1)` of the jobs, rounded up, apart. The two ends are always kept.
pub fn thin_cdf(values: &[(f64, u64)], points_max: usize) -> Vec<CdfPoint> {
    let jobs: u64 = values.iter().map(|(_, jobs)| jobs).sum();
    let Some(last) = jobs.checked_sub(1) else {
        return Vec::new();
    };
    let steps = u64::try_from(points_max).unwrap_or(u64::MAX).saturating_sub(1).clamp(1, last.max(1));
    let mut ranks: BTreeSet<u64> = (0..=steps).map(|step| evenly(step, steps, last)).collect();
    let negative: u64 = values.iter().take_while(|(value, _)| *value < 0.0).map(|(_, jobs)| jobs).sum();
    ranks.extend(negative.checked_sub(1));
    ranks.insert(negative.min(last));
    let mut equal = values.chunk_by(|(one, _), (next, _)| one == next);
    let (mut up_to, mut value) = (0, 0.0);
    let mut point = |rank: u64| {
        // Equal values have one share: that of the last of them.
        while up_to <= rank {
            let same = equal.next().expect("ranks are below the number of jobs");
            value = same[0].0;
            up_to += same.iter().map(|(_, jobs)| jobs).sum::<u64>();
        }
        CdfPoint { value, share: share(up_to, jobs) }
    };
    ranks.into_iter().map(&mut point).collect()
}

/// The rank `step / steps` of the way from 0 to `last`, rounded down.
fn evenly(step: u64, steps: u64, last: u64) -> u64 {
    let rank = u128::from(step) * u128::from(last) / u128::from(steps);
    u64::try_from(rank).expect("at most `last`")
}

#[expect(clippy::cast_precision_loss, reason = "numbers of jobs are far below 2^53")]
fn share(part: u64, jobs: u64) -> f64 {
    part as f64 / jobs as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(values: &[f64], max: usize) -> Vec<(f64, f64)> {
        let values: Vec<(f64, u64)> = values.iter().map(|value| (*value, 1)).collect();
        thin_cdf(&values, max).into_iter().map(|point| (point.value, point.share)).collect()
    }

    #[test]
    fn keeps_the_ends_and_the_crossing_of_zero() {
        assert_eq!(points(&[], 10), []);
        assert_eq!(points(&[0.5], 10), [(0.5, 1.0)]);
        assert_eq!(points(&[-1.0, 0.0, 0.25, 0.5], 10), [(-1.0, 0.25), (0.0, 0.5), (0.25, 0.75), (0.5, 1.0)]);
        let values = [-3.0, -2.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        // Two of ten are negative: the share of missed deadlines is read off at -2.
        assert_eq!(points(&values, 2), [(-3.0, 0.1), (-2.0, 0.2), (1.0, 0.3), (8.0, 1.0)]);
        // Equal values: both have the share of the last.
        assert_eq!(points(&[1.0, 1.0], 5), [(1.0, 1.0), (1.0, 1.0)]);
    }

    laxity_seeds::properties! {
        #[test]
        fn thinned_points_are_of_the_exact_function(
            mut values in proptest::collection::vec(-100i32..100, 1..300),
            points_max in 0usize..50,
        ) {
            values.sort_unstable();
            let floats: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
            let counted: Vec<(f64, u64)> =
                floats.chunk_by(|one, next| one == next).map(|same| (same[0], same.len() as u64)).collect();
            let thinned = thin_cdf(&counted, points_max);
            let apart: Vec<(f64, u64)> = floats.iter().map(|value| (*value, 1)).collect();
            prop_assert_eq!(&thinned, &thin_cdf(&apart, points_max));
            prop_assert!(thinned.len() <= points_max.max(2) + 2);
            prop_assert_eq!(thinned[0].value, floats[0]);
            prop_assert_eq!(thinned[thinned.len() - 1].value, floats[floats.len() - 1]);
            for point in &thinned {
                let exact = floats.iter().filter(|&&v| v <= point.value).count();
                prop_assert_eq!(point.share, exact as f64 / floats.len() as f64);
            }
            let missed = floats.iter().filter(|&&v| v < 0.0).count() as f64 / floats.len() as f64;
            let read_off = thinned.iter().filter(|p| p.value < 0.0).map(|p| p.share).fold(0.0, f64::max);
            prop_assert_eq!(read_off, missed);
        }
    }
}
