//! A study from its beginning, or from where it was, to its end.

use crate::engine::{Control, judge_points};
use crate::journal::{Journal, Point, Points};
use crate::sampler::Sampler;
use crate::shard::{Shard, described_shard, shard_directory};
use crate::study::{PointSampler, Study};
use laxity_model::Result;
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

/// A study and what judges its sets.
pub trait Planned: Sync {
    /// What judges the sets of a point.
    type Sampler<'s>: Sampler
    where
        Self: 's;

    /// The study.
    fn study(&self) -> &Study;

    /// All that results depend on, and nothing else: two studies with the same description have the same points.
    fn description(&self) -> Value {
        self.study().description()
    }

    /// Readies what all sets of a point share; a set is given up once `stop` is true.
    ///
    /// # Errors
    ///
    /// The generator refuses its parameters.
    fn sampler(&self, point: Point, stop: &'static AtomicBool) -> Result<Self::Sampler<'_>>;
}

impl Planned for Study {
    type Sampler<'s> = PointSampler<'s>;

    fn study(&self) -> &Study {
        self
    }

    fn sampler(&self, point: Point, stop: &'static AtomicBool) -> Result<PointSampler<'_>> {
        Study::sampler(self, point, stop)
    }
}

/// The points of a study, as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComputedPoints {
    /// The points that are finished.
    pub points: Points,
    /// Whether these are all.
    pub complete: bool,
}

/// Carries a study out, keeping its points in a directory, and goes on with what is there. It depends on the study alone which
/// points there are in the end, and what they say: not on threads, time, or how often it was stopped.
///
/// # Errors
///
/// The directory of another study, or a damaged one; task sets that cannot be drawn; an error of the file system.
pub fn compute<P: Planned>(
    planned: &P,
    directory: &Path,
    threads: usize,
    stop: &'static AtomicBool,
    progress: &Progress,
) -> Result<ComputedPoints> {
    let (study, description) = (planned.study(), planned.description());
    conduct_with((study, &description), directory, threads, stop, progress, |point| {
        planned.sampler(point, stop)
    })
}

/// The same with any samplers.
fn conduct_with<S: Sampler>(
    (study, description): (&Study, &Value),
    directory: &Path,
    threads: usize,
    stop: &AtomicBool,
    progress: &Progress,
    sampler: impl Fn(Point) -> Result<S> + Sync,
) -> Result<ComputedPoints> {
    let (sets, none) = (study.outline.sets, study.tally_of_none());
    let (mut journal, mut points) = Journal::open(directory, description, |_, tally| study.is_whole(tally))?;
    let known = points.len() as u64 * sets;
    [&progress.judged, &progress.planned, &progress.before]
        .into_iter()
        .for_each(|count| count.store(known, SeqCst));
    loop {
        let round = next_round(study, &points);
        if round.is_empty() {
            return Ok(ComputedPoints { points, complete: true });
        }
        progress.planned.store((points.len() + round.len()) as u64 * sets, SeqCst);
        let control = Control { threads, none: &none, stop, judged: &progress.judged };
        let all = judge_points(
            &round,
            (Shard::WHOLE, sets),
            &control,
            |at| sampler(round[at]),
            |at, tally| {
                journal.add(round[at], &tally)?;
                points.insert(round[at], tally);
                Ok(())
            },
        )?;
        if !all {
            return Ok(ComputedPoints { points, complete: false });
        }
    }
}

/// Judges a shard of the sets of all points that are to be looked at next, which follow from the points that the study's directory has,
/// and keeps what they come to in the shard's own directory beneath it ([`shard_directory`]); it goes on with what is there. [`merge`]
/// adds the shards up, if they are of one laxity: `version`. Gives what the shard has of those points, and whether these are all that it
/// has to judge by now.
///
/// # Errors
///
/// As [`compute`].
///
/// [`shard_directory`]: crate::shard_directory
/// [`merge`]: crate::merge
pub fn compute_shard<P: Planned>(
    planned: &P,
    (shard, version): (Shard, &str),
    directory: &Path,
    threads: usize,
    stop: &'static AtomicBool,
    progress: &Progress,
) -> Result<ComputedPoints> {
    let described = (planned.study(), &planned.description());
    shard_with(described, (shard, version), directory, (threads, stop, progress), |point| {
        planned.sampler(point, stop)
    })
}

/// The same with any samplers.
fn shard_with<S: Sampler>(
    (study, description): (&Study, &Value),
    (shard, version): (Shard, &str),
    directory: &Path,
    (threads, stop, progress): (usize, &AtomicBool, &Progress),
    sampler: impl Fn(Point) -> Result<S> + Sync,
) -> Result<ComputedPoints> {
    let (sets, none) = (study.outline.sets, study.tally_of_none());
    Journal::begin(directory, description)?;
    let known = Journal::points(directory, description, |_, tally| study.is_whole(tally))?;
    let (mut journal, mut kept) = Journal::open(
        &shard_directory(directory, shard),
        &described_shard(description, (shard, version)),
        |point, tally| study.is_of(tally, shard.sets(point, sets)),
    )?;
    let round = next_round(study, &known).into_iter().filter(|&point| shard.sets(point, sets) > 0);
    let (made, open): (Vec<Point>, Vec<Point>) = round.partition(|point| kept.contains_key(point));
    let sets_of = |points: &[Point]| points.iter().map(|&point| shard.sets(point, sets)).sum::<u64>();
    let before = sets_of(&made);
    [&progress.judged, &progress.before].into_iter().for_each(|count| count.store(before, SeqCst));
    progress.planned.store(before + sets_of(&open), SeqCst);
    let mut points: Points = made.iter().filter_map(|point| kept.remove_entry(point)).collect();
    let control = Control { threads, none: &none, stop, judged: &progress.judged };
    let complete = judge_points(
        &open,
        (shard, sets),
        &control,
        |at| sampler(open[at]),
        |at, tally| {
            journal.add(open[at], &tally)?;
            points.insert(open[at], tally);
            Ok(())
        },
    )?;
    Ok(ComputedPoints { points, complete })
}

/// The points of all families that are to be looked at next.
pub fn next_round(study: &Study, points: &Points) -> Vec<Point> {
    let of_family = |family: usize| {
        let values = study.next_values(|value| points.get(&Point { family, value }));
        values.into_iter().map(move |value| Point { family, value })
    };
    (0..study.outline.families.len()).flat_map(of_family).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::POINTS_FILE;
    use crate::tally::{Gaps, SeriesResult, SetResult, Value};
    use std::ops::Range;

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
        fn judge(&self, index: u64, _: Range<usize>) -> Result<SetResult> {
            if self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) == Ok(1) {
                self.stop.store(true, SeqCst);
            }
            let falls = |at: u64| {
                let accepted = Value::Holds(self.point.value + index < at);
                let values = vec![accepted, Value::Holds(false), Value::Holds(false)];
                SeriesResult { values: Some(values), gaps: Gaps::default() }
            };
            let series = vec![falls(4), falls(13 + self.point.family as u64)];
            Ok(SetResult { tasks: self.point.value, utilization_q32: index, series })
        }
    }

    /// Until so many sets are judged.
    fn computed(study: &Study, directory: &Path, threads: usize, sets: u64) -> (ComputedPoints, Progress) {
        let (stop, left, progress) = (AtomicBool::new(false), AtomicU64::new(sets), Progress::default());
        let sampler = |point| Ok(Falling { point, stop: &stop, left: &left });
        let description = study.description();
        let done = conduct_with((study, &description), directory, threads, &stop, &progress, sampler);
        let done = done.expect("no error");
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
        let (reference, progress) = computed(&study, whole.path(), 1, u64::MAX);
        assert!(reference.complete);
        let points = reference.points.len() as u64;
        assert!(points > 2 * 5, "{points}: the axis is refined");
        assert_eq!(progress.judged.load(SeqCst), points * SETS);
        for (threads, step) in [(1, 4), (3, 11)] {
            for sets in (1..points * SETS).step_by(step) {
                let directory = tempfile::tempdir().expect("a directory");
                let (first, _) = computed(&study, directory.path(), threads, sets);
                let kept = first.points.len() as u64;
                assert!(kept * SETS <= sets + 8 * threads as u64 && (threads > 1 || !first.complete));
                let (second, progress) = computed(&study, directory.path(), 2, u64::MAX);
                assert_eq!(second, reference, "stopped after {sets} sets with {threads} threads");
                let judged = progress.judged.load(SeqCst) - progress.before.load(SeqCst);
                assert_eq!(judged, (points - kept) * SETS, "nothing twice, nothing lost");
                assert_eq!(lines(directory.path()), lines(whole.path()));
            }
        }
        let (again, progress) = computed(&study, whole.path(), 2, u64::MAX);
        assert_eq!((again, progress.before.load(SeqCst)), (reference, points * SETS));
    }

    #[test]
    fn the_axis_is_refined_in_each_family_where_its_curves_fall() {
        let study = study();
        let directory = tempfile::tempdir().expect("a directory");
        let (found, _) = computed(&study, directory.path(), 2, u64::MAX);
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
