//! The runs of some units of a study's work: one after the other, each on disk before the next one begins. A run that cannot be made
//! says why in its directory and does not end the others; those that are there are made again.

use super::Runnable;
use super::conditions::{Conditions, Slot, name_of_set};
use super::made::{State, refuse, reopen};
use crate::experiment::{Bench, measure_on};
use crate::observer::Caller;
use laxity_model::{Diagnostic, Failure, Result, TaskSet, plural};
use laxity_study::{Variable, WorkUnit};
use laxity_trace::RunSummary;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// How runs are numbered where these units are not all of the work.
#[derive(Debug, Clone, Copy)]
pub struct Numbering {
    /// Runs that come before these.
    pub before: usize,
    /// All runs.
    pub of: usize,
}

impl Numbering {
    /// These are all.
    pub fn of_all(units: &[WorkUnit]) -> Numbering {
        Numbering { before: 0, of: units.iter().map(runs_of).sum() }
    }
}

fn runs_of(unit: &WorkUnit) -> usize {
    unit.series.len() * usize::try_from(unit.sets.end.saturating_sub(unit.sets.start)).unwrap_or(usize::MAX)
}

/// Makes the runs of these units, the first of every set and curve; whether all were tried, or an interruption came first.
///
/// # Errors
///
/// The machine cannot be taken, or not probed; sets that cannot be drawn; what the file system refuses.
pub fn run_units(
    runnable: Runnable<'_>,
    conditions: &Conditions,
    (units, numbering): (&[WorkUnit], Numbering),
    directory: &Path,
    caller: &Caller,
    interrupt: &'static AtomicBool,
) -> Result<bool> {
    units.iter().try_for_each(|unit| runnable.study.check(unit))?;
    let silent = caller.without_progress();
    let (mut bench, mut number) = (None, numbering.before);
    for slot in units.iter().flat_map(slots_of) {
        if interrupt.load(SeqCst) {
            return Ok(false);
        }
        let folder = runnable.run_directory(slot, directory);
        reopen(&folder);
        let bench = match &mut bench {
            Some(bench) => bench,
            // Without it no run can be made.
            none => none.insert(Bench::set_up(conditions.overheads, &silent)?),
        };
        let set = set_of(runnable, slot, interrupt)?;
        let of_run = conditions.settings(runnable, slot, directory, silent.clone());
        let made = of_run.and_then(|settings| {
            let cases = settings.case(&set, interrupt)?;
            let finished = measure_on(bench, &cases, &settings.run)?;
            let run = finished.results.runs.first().expect("one was made");
            Ok(match State::of(&folder) {
                State::NotMeasured(_) => "not measured".to_owned(),
                State::Open => "interrupted".to_owned(),
                State::Measured => {
                    let counts = RunSummary::of(run, &set, cases.settings.platform().core_count())?.counts;
                    let checked = run.schedule.as_ref().map_or_else(String::new, |schedule| {
                        let verification = &schedule.verification;
                        format!(
                            ", {} checked, {}{}",
                            plural(verification.instants, "instant"),
                            plural(verification.violations_count(), "violation"),
                            if verification.is_excused() { ", too much excused for a verdict" } else { "" }
                        )
                    });
                    format!("{}, {}{checked}", plural(counts.jobs, "job"), plural(counts.misses, "miss"))
                }
            })
        });
        let outcome = match made {
            Ok(outcome) => outcome,
            Err(why) if why.failure == Failure::Interrupted => return Ok(false),
            Err(why) => {
                refuse(&folder, &hinted(why))?;
                "not measured".to_owned()
            }
        };
        number += 1;
        let words = words_of_run(runnable, slot, conditions.platform.core_count());
        caller.observer.note(&format!("[{number}/{}] {words} {outcome}", numbering.of));
    }
    Ok(!interrupt.load(SeqCst))
}

/// The runs of a unit, in the order in which they are made.
fn slots_of(unit: &WorkUnit) -> impl Iterator<Item = Slot> {
    let WorkUnit { point, series, sets } = unit.clone();
    series.flat_map(move |curve| sets.clone().map(move |index| Slot { point, index, curve, repetition: 0 }))
}

fn set_of(runnable: Runnable<'_>, slot: Slot, interrupt: &'static AtomicBool) -> Result<TaskSet> {
    let tasks = runnable.study.sampler(slot.point, interrupt)?.tasks(slot.index)?;
    TaskSet::new(name_of_set(runnable.outline, slot.point, slot.index), tasks)
}

/// A run in words.
fn words_of_run(runnable: Runnable<'_>, slot: Slot, cpus: usize) -> String {
    let curve = &runnable.simulations.curves[slot.curve].name;
    let axis = &runnable.outline.axis;
    let value = match axis.variable {
        Variable::Tasks => plural(slot.point.value, "task"),
        Variable::Utilization | Variable::Processors | Variable::Overrun | Variable::Server => {
            format!("{} {}", axis.variable.name(), axis.text(slot.point.value))
        }
    };
    format!("{curve:<10} {}, {value}:", plural(cpus, "CPU"))
}

/// What helps where a study is concerned: not the whole command in a virtual machine.
fn hinted(why: Diagnostic) -> Diagnostic {
    match &why.hint {
        Some(hint) if hint.contains("laxity vm") => why.hint("measure in virtual machines with --vm"),
        _ => why,
    }
}
