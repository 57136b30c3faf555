//! A study from its beginning, or from where it was, to its end.

use crate::engine::{Control, Sampler, Sums, judge_points};
use crate::{Journal, Point, Points};
use laxity_model::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// How far a study is; others look at it while it goes on.
#[derive(Debug, Default)]
pub struct Progress {
    /// Sets that have been judged, those of earlier runs included.
    pub judged: AtomicU64,
    /// Sets that are to be judged, as far as that is known: where the axis is refined, more may come.
    pub planned: AtomicU64,
    /// Sets that earlier runs have judged.
    pub before: AtomicU64,
}

/// A study of any kind, as far as it takes to carry it out.
pub trait Planned: Sync {
    /// What is kept of a point.
    type Sums: Sums + Serialize + DeserializeOwned;
    /// What judges the sets of a point.
    type Sampler<'s>: Sampler<Sums = Self::Sums>
    where
        Self: 's;

    /// All that results depend on, and nothing else: two studies with the same description have the same points.
    fn description(&self) -> Value;

    /// Task sets at every point.
    fn sets(&self) -> u64;

    /// How many families of task sets there are.
    fn families(&self) -> usize;

    /// Whether this is what is kept of a finished point of this study.
    fn is_whole(&self, sums: &Self::Sums) -> bool;

    /// Where the axis is to be looked at next, for a family of which some values are known; ascending, and none once all is known.
    fn next_values<'t>(&self, known: impl Fn(u64) -> Option<&'t Self::Sums>) -> Vec<u64>
    where
        Self::Sums: 't;

    /// Readies what all sets of a point share.
    ///
    /// # Errors
    ///
    /// The generator refuses its parameters.
    fn sampler(&self, point: Point) -> Result<Self::Sampler<'_>>;
}

/// The points of a study, as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conducted<T> {
    /// The points that are finished.
    pub points: Points<T>,
    /// Whether these are all.
    pub complete: bool,
}

/// Carries a study out, keeping its points in a directory, and goes on with what is there. It depends on the study alone which
/// points there are in the end, and what they say: not on threads, time, or how often it was stopped.
///
/// # Errors
///
/// The directory of another study, or a damaged one; task sets that cannot be drawn; an error of the file system.
pub fn conduct<P: Planned>(
    study: &P,
    directory: &Path,
    threads: usize,
    stop: &'static AtomicBool,
    progress: &Progress,
) -> Result<Conducted<P::Sums>> {
    let sampler = |point| Ok(study.sampler(point)?.stopped_by(stop));
    conduct_with(study, directory, threads, stop, progress, sampler)
}

/// The same with other samplers.
pub(crate) fn conduct_with<P: Planned, S: Sampler<Sums = P::Sums>>(
    study: &P,
    directory: &Path,
    threads: usize,
    stop: &AtomicBool,
    progress: &Progress,
    sampler: impl Fn(Point) -> Result<S> + Sync,
) -> Result<Conducted<P::Sums>> {
    let (mut journal, mut points) =
        Journal::open(directory, &study.description(), |sums| study.is_whole(sums))?;
    let known = points.len() as u64 * study.sets();
    [&progress.judged, &progress.planned, &progress.before]
        .into_iter()
        .for_each(|count| count.store(known, SeqCst));
    loop {
        let round = next_round(study, &points);
        if round.is_empty() {
            return Ok(Conducted { points, complete: true });
        }
        progress.planned.store((points.len() + round.len()) as u64 * study.sets(), SeqCst);
        let control = Control { threads, sets: study.sets(), stop, judged: &progress.judged };
        let all = judge_points(
            round.len(),
            &control,
            |at| sampler(round[at]),
            |at, tally| {
                journal.add(round[at], &tally)?;
                points.insert(round[at], tally);
                Ok(())
            },
        )?;
        if !all {
            return Ok(Conducted { points, complete: false });
        }
    }
}

/// The points of all families that are to be looked at next.
fn next_round<P: Planned>(study: &P, points: &Points<P::Sums>) -> Vec<Point> {
    let of_family = |family: usize| {
        let values = study.next_values(|value| points.get(&Point { family, value }));
        values.into_iter().map(move |value| Point { family, value })
    };
    (0..study.families()).flat_map(of_family).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Judged, POINTS_FILE, SetOutcome, Study, Tally};

    const SETS: u64 = 9;

    fn study() -> Study {
        let text = r#"
            version = 1
            title = "synthetic"
            sets = 9
            [platform]
            processors = 4
            [axis]
            of = "tasks"
            from = 1
            to = 17
            step = 16
            refine = { depth = 2, precision = 0.01, refine_noise = true }
            [generator]
            name = "unc"
            [matrix]
            utilizations = ["uni-light", "uni-heavy"]
            [[curves]]
            scheduler = "g-edf"
            [[curves]]
            scheduler = "fpp"
        "#;
        Study::from_text(text, "synthetic", Path::new("")).expect("a study")
    }

    /// Accepts more sets the fewer tasks there are, and stops everything after some sets.
    struct Falling<'a> {
        point: Point,
        stop: &'a AtomicBool,
        left: &'a AtomicU64,
    }

    impl Sampler for Falling<'_> {
        type Sums = Tally;

        fn judge(&self, index: u64) -> Result<Judged> {
            if self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) == Ok(1) {
                self.stop.store(true, SeqCst);
            }
            let falls = |at: u64| {
                if self.point.value + index < at { SetOutcome::Accepted } else { SetOutcome::Rejected }
            };
            let outcomes = vec![falls(4), falls(13 + self.point.family as u64)];
            Ok(Judged { tasks: self.point.value, utilization_q32: index, outcomes })
        }
    }

    /// Until so many sets are judged.
    fn conducted(study: &Study, directory: &Path, threads: usize, sets: u64) -> (Conducted<Tally>, Progress) {
        let (stop, left, progress) = (AtomicBool::new(false), AtomicU64::new(sets), Progress::default());
        let sampler = |point| Ok(Falling { point, stop: &stop, left: &left });
        let done = conduct_with(study, directory, threads, &stop, &progress, sampler).expect("no error");
        (done, progress)
    }

    fn lines(directory: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(directory.join(POINTS_FILE)).expect("a journal");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    #[test]
    fn it_goes_on_wherever_it_was_stopped_and_comes_to_the_same() {
        let study = study();
        let whole = tempfile::tempdir().expect("a directory");
        let (reference, progress) = conducted(&study, whole.path(), 1, u64::MAX);
        assert!(reference.complete);
        let points = reference.points.len() as u64;
        assert!(points > 2 * 5, "{points}: the axis is refined");
        assert_eq!(progress.judged.load(SeqCst), points * SETS);
        for (threads, step) in [(1, 4), (3, 11)] {
            for sets in (1..points * SETS).step_by(step) {
                let directory = tempfile::tempdir().expect("a directory");
                let (first, _) = conducted(&study, directory.path(), threads, sets);
                let kept = first.points.len() as u64;
                assert!(kept * SETS <= sets + 8 * threads as u64 && (threads > 1 || !first.complete));
                let (second, progress) = conducted(&study, directory.path(), 2, u64::MAX);
                assert_eq!(second, reference, "stopped after {sets} sets with {threads} threads");
                let judged = progress.judged.load(SeqCst) - progress.before.load(SeqCst);
                assert_eq!(judged, (points - kept) * SETS, "nothing twice, nothing lost");
                assert_eq!(lines(directory.path()), lines(whole.path()));
            }
        }
        let (again, progress) = conducted(&study, whole.path(), 2, u64::MAX);
        assert_eq!((again, progress.before.load(SeqCst)), (reference, points * SETS));
    }

    #[test]
    fn the_axis_is_refined_in_each_family_where_its_curves_fall() {
        let study = study();
        let directory = tempfile::tempdir().expect("a directory");
        let (found, _) = conducted(&study, directory.path(), 2, u64::MAX);
        let values = |family: usize| -> Vec<u64> {
            found.points.keys().filter(|point| point.family == family).map(|point| point.value).collect()
        };
        for family in 0..2 {
            let all = values(family);
            // The first curve falls to none at 4, the second at 13 or 14, where sets of all numbers are rejected.
            assert!([1, 5, 9, 13, 17].iter().all(|value| all.contains(value)), "{all:?}");
            assert!([2, 3, 4, 11].iter().all(|value| all.contains(value)), "{all:?}");
        }
    }
}
