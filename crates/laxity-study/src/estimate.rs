//! How long a study takes, from a few of its sets.

use crate::compute::{Planned, next_round};
use crate::journal::{Point, Points};
use crate::sampler::Sampler;
use laxity_model::Result;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// About how long one CPU takes for the sets that are to be judged next where these points are known, from as many of them as it has
/// judged when `budget` is over: the first set of all points, of points that are far from each other first, then the second, and so
/// on. Nothing of none, or if it was stopped.
///
/// # Errors
///
/// The generator refuses its parameters; a set cannot be drawn.
pub fn time_estimate<P: Planned>(
    planned: &P,
    known: &Points,
    budget: Duration,
    stop: &'static AtomicBool,
) -> Result<Option<Duration>> {
    let (study, begun) = (planned.study(), Instant::now());
    let round = next_round(study, known);
    let mut samplers: BTreeMap<Point, P::Sampler<'_>> = BTreeMap::new();
    let (mut spent, mut judged) = (Duration::ZERO, 0_u32);
    let order = spread(round.len());
    let all = (0..study.outline.sets).flat_map(|index| order.iter().map(move |&at| (index, at)));
    for (index, at) in all.take_while(|_| begun.elapsed() < budget) {
        let sampler = match samplers.entry(round[at]) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => place.insert(planned.sampler(round[at], stop)?),
        };
        let before = Instant::now();
        let set = sampler.judge(index, 0..study.series());
        if stop.load(SeqCst) {
            return Ok(None);
        }
        set?;
        (spent, judged) = (spent + before.elapsed(), judged + 1);
    }
    let sets = round.len() as u64 * study.outline.sets;
    let seconds = |of_one: Duration| of_one.as_secs_f64() * as_f64(sets);
    Ok(spent.checked_div(judged).and_then(|of_one| Duration::try_from_secs_f64(seconds(of_one)).ok()))
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

/// All numbers below `count`, neighbours late: the middle first, then those of both halves, and so on.
fn spread(count: usize) -> Vec<usize> {
    let mut all = Vec::new();
    let mut parts = VecDeque::new();
    parts.push_back(0..count);
    while let Some(part) = parts.pop_front() {
        if part.is_empty() {
            continue;
        }
        let middle = part.start + part.len() / 2;
        all.push(middle);
        parts.extend([part.start..middle, middle + 1..part.end]);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_points_come_once_and_neighbours_late() {
        assert!(spread(0).is_empty());
        assert_eq!(spread(7), [3, 1, 5, 0, 2, 4, 6]);
        for count in 0..40 {
            let mut all = spread(count);
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }
}
