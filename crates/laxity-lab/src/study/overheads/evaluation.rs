//! What the trials of a study have given: statistics by scheduler, number of CPUs, tasks per CPU and kind of overhead.
//!
//! 1. Means are of all undisturbed samples. Maxima and percentiles grow with the number of samples, so they are of equally many
//!    from every point of one kind (cerqueira2014, IV-A; the method is Brandenburg's): as many as the point with the fewest has,
//!    of those that have [`EQUAL_LEAST`] at least. Points with fewer are shown with what they have, and say so.
//! 2. Task sets of one size are taken together.

use crate::overheads::{RunOverheads, class_of, read, samples_path};
use crate::study::real::State;
use crate::study::{Place, Trial};
use laxity_model::{Diagnostic, Duration, Result, ShownPath as _};
use laxity_overheads::{
    Class, Group, Groups, SampleKind, Statistics, Summary, read_samples, statistics_of_some,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// Points with fewer samples do not determine how many are drawn from the others.
pub const EQUAL_LEAST: u64 = 100;

/// All samples of one kind at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Of all of them.
    pub all: Statistics,
    /// Of equally many of each place.
    pub equal: Statistics,
    /// How many per second of its runs there were, disturbed ones among them.
    pub per_second: f64,
}

/// A place that was measured.
pub struct Measured {
    /// Points by kind.
    pub points: BTreeMap<SampleKind, Point>,
    /// Samples, for the costs files.
    pub groups: Groups,
    /// What a recording said; the first of several.
    pub summary: Summary,
    /// How many runs.
    pub runs: u32,
}

/// What was measured, and why the rest was not.
pub struct Evaluation {
    /// By place.
    pub places: BTreeMap<Place, Measured>,
    /// Trials that could not be measured, and why.
    pub refused: Vec<(Trial, String)>,
    /// Trials that have not been measured yet.
    pub open: usize,
}

impl Evaluation {
    /// Reads all trials, whose runs are of this duration.
    ///
    /// # Errors
    ///
    /// A file that is damaged.
    pub fn of(trials: &[Trial], schedulers: &[String], duration: Duration, seed: u64) -> Result<Evaluation> {
        let mut evaluation = Evaluation { places: BTreeMap::new(), refused: Vec::new(), open: 0 };
        for trial in trials {
            match (trial.state(), trial.folder()) {
                (State::NotMeasured(why), _) => evaluation.refused.push((trial.clone(), why)),
                (State::Measured, Some(folder)) => evaluation.take(trial, schedulers, folder, seed)?,
                (State::Open | State::Measured, _) => evaluation.open += 1,
            }
        }
        evaluation.draw_points(duration, seed);
        Ok(evaluation)
    }

    fn take(&mut self, trial: &Trial, schedulers: &[String], folder: &Path, seed: u64) -> Result<()> {
        let Some(run) = read(folder)?.into_iter().next() else {
            self.refused.push((trial.clone(), "its overheads could not be recorded".to_owned()));
            return Ok(());
        };
        let groups = samples_of(folder, &run, class_of(&trial.scheduler.scheduler.scheduler), seed)?;
        let place = trial.place(schedulers);
        match self.places.get_mut(&place) {
            Some(measured) => {
                measured.groups.merge(&groups);
                measured.runs += 1;
            }
            None => {
                let summary = run.recorded;
                let points = BTreeMap::new();
                self.places.insert(place, Measured { points, groups, summary, runs: 1 });
            }
        }
        Ok(())
    }

    pub(super) fn draw_points(&mut self, duration: Duration, seed: u64) {
        let mut fewest: BTreeMap<SampleKind, u64> = BTreeMap::new();
        for measured in self.places.values() {
            for (kind, _, group) in measured.groups.iter() {
                let number = u64::try_from(group.kept().len()).unwrap_or(u64::MAX);
                if number >= EQUAL_LEAST {
                    let least = fewest.entry(kind).or_insert(number);
                    *least = number.min(*least);
                }
            }
        }
        for measured in self.places.values_mut() {
            let seconds = duration.as_secs_f64() * f64::from(measured.runs);
            let point = |(kind, _, group): (SampleKind, Class, &Group)| {
                let some = fewest.get(&kind).copied().unwrap_or(u64::MAX);
                let (all, some) = (group.statistics(), usize::try_from(some).unwrap_or(usize::MAX));
                #[expect(clippy::cast_precision_loss, reason = "a number to be shown")]
                let per_second = (all.number + all.disturbed) as f64 / seconds;
                (kind, Point { all, equal: statistics_of_some(group, some, seed), per_second })
            };
            measured.points = measured.groups.iter().map(point).collect();
        }
    }
}

/// The samples of a run that are about its own class.
fn samples_of(folder: &Path, run: &RunOverheads, class: Class, seed: u64) -> Result<Groups> {
    let path = samples_path(folder, run.run);
    let unreadable = |error: &dyn std::fmt::Display| {
        Diagnostic::usage(format!("{} cannot be read: {error}", path.shown()))
            .hint("remove the directory of this run: it is then measured again")
    };
    let file = File::open(&path).map_err(|error| unreadable(&error))?;
    let mut groups = Groups::new(seed);
    let keep = |_, sample: laxity_overheads::Sample| {
        if sample.class == class {
            groups.add(&sample);
        }
    };
    read_samples(file, keep).map_err(|error| unreadable(&error))?;
    Ok(groups)
}
