//! Points on all cores: sets are judged in any order, and the results of a point do not depend on it.
//!
//! Set k of a point is a function of the point and k alone, and a point's tally is sums. Threads take sets a few at a time
//! ([`Shard::chunk`]), the points one after the other, so that points are finished about in their order and the last ones keep all
//! CPUs busy.

use crate::journal::Point;
use crate::sampler::Sampler;
use crate::shard::Shard;
use crate::tally::Tally;
use laxity_model::{Result, start_thread};
use std::ops::Range;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

/// How the work is done, and what others see of it.
pub struct Control<'a> {
    /// Threads, at least one.
    pub threads: usize,
    /// The sums of no sets, under all series.
    pub none: &'a Tally,
    /// Becomes true when no more is wanted.
    pub stop: &'a AtomicBool,
    /// Counts sets that were judged.
    pub judged: &'a AtomicU64,
}

/// One point while it is worked on.
struct Desk<S: Sampler> {
    /// Made by the first thread that comes, gone when the point is finished.
    sampler: Mutex<Option<Arc<S>>>,
    /// The sums so far, and of how many chunks.
    tally: Mutex<(u64, Option<Tally>)>,
}

/// Judges a shard of the sets of points, whose samplers `prepare` makes by their places in the list; each has `sets` sets, and some of
/// the shard. `finished` takes each as soon as all of the shard's sets are judged, on the thread that calls. False if it was stopped
/// before the end: then some points are not finished.
///
/// # Errors
///
/// The first of `prepare`, of a sampler or of `finished` that is noticed; it ends everything.
pub fn judge_points<S: Sampler>(
    points: &[Point],
    (shard, sets): (Shard, u64),
    control: &Control<'_>,
    prepare: impl Fn(usize) -> Result<S> + Sync,
    mut finished: impl FnMut(usize, Tally) -> Result<()>,
) -> Result<bool> {
    let desks: Vec<Desk<S>> =
        points.iter().map(|_| Desk { sampler: Mutex::new(None), tally: Mutex::new((0, None)) }).collect();
    // By place: the number of chunks of the point and those before it.
    let mut chunks = 0;
    let ends = points.iter().map(|&point| {
        chunks += shard.chunks(point, sets);
        chunks
    });
    let ends: Vec<u64> = ends.collect();
    let (next, broken) = (AtomicU64::new(0), AtomicBool::new(false));
    // A thread with a finished point waits until it is taken: what is stopped or killed has lost little.
    let (sender, receiver) = mpsc::sync_channel::<Result<(usize, Tally)>>(1);
    let work = |sender: mpsc::SyncSender<Result<(usize, Tally)>>| {
        while !control.stop.load(SeqCst) && !broken.load(SeqCst) {
            let chunk = next.fetch_add(1, Relaxed);
            if chunk >= chunks {
                return;
            }
            let at = ends.partition_point(|&end| end <= chunk);
            let before = at.checked_sub(1).map_or(0, |before| ends[before]);
            let range = shard.chunk(points[at], chunk - before, sets);
            let of_point = ends[at] - before;
            let message = match desks[at].judge(at, (range, of_point), control, &prepare) {
                Ok(Some(tally)) => Ok((at, tally)),
                Ok(None) => continue,
                Err(error) => {
                    broken.store(true, SeqCst);
                    Err(error)
                }
            };
            // The receiver has gone because of an error: `broken` says so.
            let _ = sender.send(message);
        }
    };
    let ended = std::thread::scope(|scope| {
        for started in 0..control.threads.max(1) {
            let sender = sender.clone();
            let work = &work;
            match start_thread(scope, move || work(sender)) {
                Err(error) if started == 0 => return Err(error),
                // Fewer take longer and come to the same.
                Err(_) => break,
                Ok(_) => {}
            }
        }
        drop(sender);
        let mut done = 0;
        for message in receiver {
            if let Err(error) = message.and_then(|(at, tally)| finished(at, tally)) {
                broken.store(true, SeqCst);
                return Err(error);
            }
            done += 1;
        }
        Ok(done)
    });
    ended.map(|done: usize| done == points.len())
}

impl<S: Sampler> Desk<S> {
    /// Judges some sets; the tally, if these were the last of so many chunks.
    fn judge(
        &self,
        point: usize,
        (sets, chunks): (Range<u64>, u64),
        control: &Control<'_>,
        prepare: impl Fn(usize) -> Result<S>,
    ) -> Result<Option<Tally>> {
        let sampler = self.sampler(point, prepare)?;
        let own = tally_of(&*sampler, control, 0..control.none.series.len(), sets)?;
        let Some(own) = own else { return Ok(None) };
        let mut tally = locked(&self.tally);
        tally.0 += 1;
        match &mut tally.1 {
            Some(whole) => whole.merge(&own),
            none => *none = Some(own),
        }
        if tally.0 < chunks {
            return Ok(None);
        }
        *locked(&self.sampler) = None;
        Ok(tally.1.take())
    }

    fn sampler(&self, point: usize, prepare: impl Fn(usize) -> Result<S>) -> Result<Arc<S>> {
        let mut sampler = locked(&self.sampler);
        if let Some(sampler) = &*sampler {
            return Ok(Arc::clone(sampler));
        }
        let made = Arc::new(prepare(point)?);
        *sampler = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// The sums of some sets under some series; nothing if it was stopped.
///
/// # Errors
///
/// There is no such set.
pub fn tally_of<S: Sampler>(
    sampler: &S,
    control: &Control<'_>,
    series: Range<usize>,
    sets: Range<u64>,
) -> Result<Option<Tally>> {
    let mut tally = control.none.clone();
    for index in sets {
        // A set can take long. What is begun is given up: its unit is judged again as a whole.
        if control.stop.load(SeqCst) {
            return Ok(None);
        }
        let set = sampler.judge(index, series.clone());
        // A sampler that looks at the flag itself may have given up in the middle of it, with whatever it says then.
        if control.stop.load(SeqCst) {
            return Ok(None);
        }
        tally.add(series.start, &set?);
        control.judged.fetch_add(1, Relaxed);
    }
    Ok(Some(tally))
}

/// A thread that panicked ends everything anyway.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proofs::{ACCEPTED, METRICS_OF_SCHEDULABILITY};
    use crate::tally::{Gaps, SeriesResult, SetResult, Value};
    use laxity_model::Diagnostic;
    use std::collections::BTreeMap;

    /// A set's utilization tells which it is.
    struct Numbered(u64);

    /// A set of one series that is accepted or not.
    fn judged_set(utilization_q32: u64, accepted: bool) -> SetResult {
        let values = vec![Value::Holds(accepted), Value::Holds(false), Value::Holds(false)];
        let series = vec![SeriesResult { values: Some(values), gaps: Gaps::default() }];
        SetResult { tasks: 1, utilization_q32, series }
    }

    fn numbered(points: usize) -> Vec<Point> {
        (0..points as u64).map(|value| Point { family: 0, value }).collect()
    }

    fn none() -> Tally {
        Tally::of_none(1, &METRICS_OF_SCHEDULABILITY.iter().collect::<Vec<_>>())
    }

    impl Sampler for Numbered {
        fn judge(&self, index: u64, _: Range<usize>) -> Result<SetResult> {
            if self.0 == 13 && index == 5 {
                return Err(Diagnostic::usage("the sixth set of point 13"));
            }
            Ok(judged_set(1 << index.min(40), (index + self.0).is_multiple_of(3)))
        }
    }

    fn judged(points: usize, sets: u64, threads: usize, stop_after: u64) -> (BTreeMap<usize, Tally>, bool) {
        let (stop, judged) = (AtomicBool::new(false), AtomicU64::new(0));
        let none = none();
        let control = Control { threads, none: &none, stop: &stop, judged: &judged };
        let mut found = BTreeMap::new();
        let ended = judge_points(
            &numbered(points),
            (Shard::WHOLE, sets),
            &control,
            |point| Ok(Numbered(point as u64)),
            |point, tally| {
                assert!(found.insert(point, tally).is_none(), "point {point} comes once");
                if found.len() as u64 >= stop_after {
                    stop.store(true, SeqCst);
                }
                Ok(())
            },
        );
        (found, ended.expect("no error"))
    }

    #[test]
    fn every_set_is_judged_once_whatever_the_threads() {
        for (points, sets) in [(0, 5), (1, 1), (3, 8), (5, 41), (12, 7)] {
            let one = judged(points, sets, 1, u64::MAX);
            assert_eq!((one.0.len(), one.1), (points, true));
            for (point, tally) in &one.0 {
                // The sum of 2^index: no set is missing or there twice.
                let own = &tally.series[0];
                assert_eq!((own.sets, own.utilization_q32), (sets, (1 << sets) - 1), "point {point}");
                let accepted = (0..sets).filter(|index| (index + *point as u64).is_multiple_of(3)).count();
                assert_eq!(own.count(ACCEPTED), accepted as u64);
            }
            for threads in [2, 3, 16] {
                assert_eq!(judged(points, sets, threads, u64::MAX), one);
            }
        }
    }

    #[test]
    fn what_is_stopped_has_whole_points_only() {
        for threads in [1, 2, 5] {
            let (found, all) = judged(200, 40, threads, 2);
            assert!(!all && found.len() >= 2, "{} points", found.len());
            assert!(found.values().all(|tally| tally.series[0].sets == 40));
        }
    }

    /// Is asked to stop in the middle of its last set, and gives that up.
    struct GivesUp<'a>(&'a AtomicBool);

    impl Sampler for GivesUp<'_> {
        fn judge(&self, index: u64, _: Range<usize>) -> Result<SetResult> {
            self.0.store(index == 4, SeqCst);
            Ok(judged_set(1, false))
        }
    }

    #[test]
    fn a_set_during_which_it_was_stopped_counts_nowhere() {
        let (stop, judged) = (AtomicBool::new(false), AtomicU64::new(0));
        let none = none();
        let control = Control { threads: 1, none: &none, stop: &stop, judged: &judged };
        let finished = |point, _| panic!("point {point} is not finished");
        let ended = judge_points(&numbered(1), (Shard::WHOLE, 5), &control, |_| Ok(GivesUp(&stop)), finished);
        assert_eq!((ended, judged.load(SeqCst)), (Ok(false), 4));
    }

    #[test]
    fn an_error_ends_it() {
        let (stop, judged) = (AtomicBool::new(false), AtomicU64::new(0));
        let none = none();
        let (many, forty) = (numbered(1_000), (Shard::WHOLE, 40));
        let control = Control { threads: 2, none: &none, stop: &stop, judged: &judged };
        let sampler = |point| Ok(Numbered(point as u64));
        let error = judge_points(&many, forty, &control, sampler, |_, _| Ok(())).expect_err("of a sampler");
        assert_eq!(error.message, "the sixth set of point 13");
        assert!(judged.load(SeqCst) < 2_000);
        let full = |_, _| Err(Diagnostic::environment("the disk is full"));
        assert!(judge_points(&many, forty, &control, sampler, full).is_err());
        let unprepared = |_| -> Result<Numbered> { Err(Diagnostic::usage("no table")) };
        assert!(judge_points(&many[..3], forty, &control, unprepared, |_, _| Ok(())).is_err());
    }
}
