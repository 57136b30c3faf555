//! What there is to run, and the machine made ready for it: which sets can be placed and planned, and how fast their working sets are
//! walked alone.

use super::Runnable;
use super::conditions::{Conditions, Slot, calibration_file, name_of_set};
use crate::experiment::{Bench, Calibration, check_prospect_on};
use crate::observer::Caller;
use laxity_model::{Diagnostic, Failure, Result, TaskSet, plural};
use laxity_study::{Journal, Point};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// As many reasons are told where nothing can be run.
const REASONS: usize = 3;

/// A set under a curve.
type SetUnderCurve = (Point, u64, usize);

/// The machine and what is known before anything is run.
pub struct Ready {
    bench: Mutex<Bench>,
    refused: BTreeMap<SetUnderCurve, String>,
    /// How fast each working set is walked alone.
    pub calibration: Calibration,
}

impl Ready {
    /// Takes the machine, places and plans all sets of these points, and calibrates the working sets of those that can be run.
    /// Nothing if it was interrupted.
    ///
    /// # Errors
    ///
    /// Another run holds the machine; sets that cannot be drawn; nothing can be run, and nothing was before; files of
    /// something else in the directory.
    pub fn of(
        runnable: Runnable<'_>,
        conditions: &Conditions,
        directory: &Path,
        (open, nothing_yet): (&[Point], bool),
        caller: &Caller,
        interrupt: &'static AtomicBool,
    ) -> Result<Option<Ready>> {
        let outline = runnable.outline;
        let bench = Bench::set_up(conditions.overheads, &caller.without_progress())?;
        let mut prospects = Prospects::default();
        for &point in open {
            let sampler = runnable.study.sampler(point, interrupt)?;
            for index in 0..outline.sets {
                if interrupt.load(SeqCst) {
                    return Ok(None);
                }
                let tasks = sampler.tasks(index)?;
                if tasks.is_empty() {
                    continue;
                }
                let set = TaskSet::new(name_of_set(outline, point, index), tasks)?;
                prospects.look_at(runnable.study.curves(), &set, (point, index), |slot| {
                    let settings =
                        conditions.settings(runnable, slot, directory, caller.without_progress())?;
                    check_prospect_on(&bench, &settings.case(&set, interrupt)?, &settings.run)
                });
            }
        }
        // What was said of the last set may be the interruption.
        if interrupt.load(SeqCst) {
            return Ok(None);
        }
        if prospects.sets.is_empty() && nothing_yet && !prospects.refused.is_empty() {
            return Err(prospects.nothing());
        }
        prospects.announce(runnable, conditions, caller);
        Journal::begin(directory, &conditions.description(runnable))?;
        let Some(calibration) = calibrated(&prospects.sets, outline.seed, directory, interrupt)? else {
            return Ok(None);
        };
        let refused = prospects.refused.into_iter().map(|(case, why)| (case, why.message)).collect();
        Ok(Some(Ready { bench: Mutex::new(bench), refused, calibration }))
    }

    /// The machine.
    pub fn bench(&self) -> MutexGuard<'_, Bench> {
        // A run that panicked has ended everything.
        self.bench.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a set cannot be run under a curve.
    pub fn refusal(&self, point: Point, index: u64, curve: usize) -> Option<&str> {
        self.refused.get(&(point, index, curve)).map(String::as_str)
    }
}

/// Which sets can be run.
#[derive(Default)]
struct Prospects {
    /// Under at least one curve.
    sets: Vec<TaskSet>,
    /// How many sets can be run, under how many curves each, added up.
    cases: u64,
    refused: BTreeMap<SetUnderCurve, Diagnostic>,
}

impl Prospects {
    fn look_at(
        &mut self,
        curves: usize,
        set: &TaskSet,
        (point, index): (Point, u64),
        prospect: impl Fn(Slot) -> Result<()>,
    ) {
        let before = self.cases;
        for curve in 0..curves {
            match prospect(Slot { point, index, curve, repetition: 0 }) {
                Ok(()) => self.cases += 1,
                Err(why) => _ = self.refused.insert((point, index, curve), why),
            }
        }
        if self.cases > before {
            self.sets.push(set.clone());
        }
    }

    /// Nothing can be run: why.
    fn nothing(&self) -> Diagnostic {
        let mut reasons: Vec<&str> = Vec::new();
        for why in self.refused.values() {
            if !reasons.contains(&why.message.as_str()) {
                reasons.push(&why.message);
            }
        }
        let more = reasons.len().saturating_sub(REASONS);
        let mut words = reasons[..reasons.len() - more].join("; ");
        if more > 0 {
            words += &format!("; and {}", plural(more, "more reason"));
        }
        let what = format!("nothing of the study can be run on this machine: {words}");
        match self.refused.values().any(|why| why.failure == Failure::Environment) {
            true => Diagnostic::environment(what).hint(format!("{}. Without --real the study is simulated", crate::experiment::what_runs_here())),
            false => Diagnostic::usage(what).hint(
                "let it have loads that fit these CPUs, as studies/lindsay2012-two-cores.toml does for two; without --real it is \
                 simulated on its own machine",
            ),
        }
    }

    fn announce(&self, runnable: Runnable<'_>, conditions: &Conditions, caller: &Caller) {
        let duration = runnable.simulations.duration;
        let runs = self.cases * u64::from(conditions.repeat);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        // Starting, stopping and the last jobs take longer.
        let minutes = runs as f64 * (duration.as_secs_f64() + 0.5) / 60.0;
        caller.observer.note(&format!(
            "{} under {}: {} of {}, {minutes:.1} min or more; what is there already is not run again",
            plural(self.sets.len(), "task set"),
            plural(runnable.study.curves(), "curve"),
            plural(runs, "run"),
            duration
        ));
        if !self.refused.is_empty() {
            caller.observer.note(&format!(
                "{} a set cannot be run under a curve: the report says why",
                plural(self.refused.len(), "time")
            ));
        }
    }
}

/// How fast the working sets of all sets are walked alone: measured now, but for those that the study's directory has. Nothing if it was
/// interrupted.
fn calibrated(
    sets: &[TaskSet],
    seed: u64,
    directory: &Path,
    interrupt: &'static AtomicBool,
) -> Result<Option<Calibration>> {
    let file = calibration_file(directory);
    for set in sets {
        if interrupt.load(SeqCst) {
            return Ok(None);
        }
        Calibration::of(std::slice::from_ref(set), seed, Some(&file))?;
    }
    Calibration::of(sets, seed, Some(&file)).map(Some)
}
