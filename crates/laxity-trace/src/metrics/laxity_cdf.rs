//! Distributions of normalized laxity (lelli2012, Figures 3 to 5).

use super::statistics::ratio;
use crate::Run;
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

/// The normalized laxities (D - R)/T of the completed jobs of the selected tasks, ascending.
///
/// Jobs of tasks that the set does not have are left out ([`super::RunSummary::of`] refuses them).
pub fn normalized_laxities(run: &Run, set: &TaskSet, selection: TaskSelection) -> Vec<f64> {
    let selected = selection.tasks(set);
    let laxity = |job: &crate::Job| {
        let id = usize::try_from(job.task).ok().filter(|id| selected.contains(id))?;
        ratio(job.laxity_ns()?.into(), set.tasks()[id].period().as_ns().into())
    };
    let mut laxities: Vec<f64> = run.jobs.iter().filter_map(laxity).collect();
    laxities.sort_unstable_by(f64::total_cmp);
    laxities
}

/// A point of an empirical distribution function: `share` of the values are at most `value`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CdfPoint {
    /// The value.
    pub value: f64,
    /// The share of values that do not exceed it, in (0, 1].
    pub share: f64,
}

/// At most about `points_max` points of the distribution function of ascending `values`, for plots.
///
/// Every point is one of the exact function: none is interpolated. The ends are kept, and so are the last
/// negative and the first non-negative value, so that the share of missed deadlines can be read off exactly
/// (that can make two points more than `points_max`). Elsewhere the ranks are evenly spaced, so that neighbours
/// are at most `1/(points_max - 1)` of the values, rounded up, apart. The two ends are always kept.
pub fn thin_cdf(values: &[f64], points_max: usize) -> Vec<CdfPoint> {
    let Some(last) = values.len().checked_sub(1) else {
        return Vec::new();
    };
    let steps = points_max.saturating_sub(1).clamp(1, last.max(1));
    let mut ranks: BTreeSet<usize> = (0..=steps).map(|step| evenly(step, steps, last)).collect();
    let negative = values.partition_point(|&value| value < 0.0);
    ranks.extend(negative.checked_sub(1));
    ranks.insert(negative.min(last));
    let point = |rank: usize| CdfPoint { value: values[rank], share: share(rank, values) };
    ranks.into_iter().map(point).collect()
}

/// The rank `step / steps` of the way from 0 to `last`, rounded down.
fn evenly(step: usize, steps: usize, last: usize) -> usize {
    let rank = step as u128 * last as u128 / steps as u128;
    usize::try_from(rank).expect("at most `last`")
}

/// Equal values have one share: that of the last of them.
#[expect(clippy::cast_precision_loss, reason = "numbers of jobs are far below 2^53")]
fn share(rank: usize, values: &[f64]) -> f64 {
    let equal = values[rank..].partition_point(|&value| value <= values[rank]);
    (rank + equal) as f64 / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(values: &[f64], max: usize) -> Vec<(f64, f64)> {
        thin_cdf(values, max).into_iter().map(|point| (point.value, point.share)).collect()
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
            let thinned = thin_cdf(&floats, points_max);
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
