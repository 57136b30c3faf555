//! Studies by simulation that are really run (`laxity study FILE --real`): the file's sets, drawn by the file's seeds, placed onto the
//! CPUs of this machine and run under every curve, one curve after the other for each set.
//!
//! Every run is a results directory below `runs/`, made by the code behind `laxity run`, with its guards. Finished points are in the
//! study's journal as those of simulations are; a point that was interrupted takes the runs that it has from there.

mod conditions;
mod made;
mod ready;
mod sampler;
mod units;
mod words;

pub use conditions::{Conditions, Slot};
pub use made::{State, refuse, reopen};
pub use units::{Numbering, run_units};
pub use words::RealResults;

use crate::observer::Caller;
use laxity_model::{Result, is_begun};
use laxity_study::{
    ComputedPoints, DESCRIPTION_FILE, Journal, Outline, Points, Progress, Simulations, Study, compute,
    next_round,
};
use ready::Ready;
use sampler::RealStudy;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A study whose sets can be run ([`Study::for_real`]).
#[derive(Clone, Copy)]
pub struct Runnable<'a> {
    /// The study.
    pub study: &'a Study,
    /// Which sets, and what varies.
    pub outline: &'a Outline,
    /// How they are placed.
    pub simulations: &'a Simulations,
}

impl<'a> Runnable<'a> {
    /// Nothing if it is not by simulation.
    pub fn of(study: &'a Study) -> Option<Runnable<'a>> {
        let simulations = study.simulations()?;
        Some(Runnable { study, outline: &study.outline, simulations })
    }
}

/// Runs what is left of a study in `directory`, and goes on with what is there.
///
/// # Errors
///
/// Another study's directory; nothing of the study can be run here, and why; what the file system refuses.
pub fn run_study(
    runnable: Runnable<'_>,
    conditions: &Conditions,
    directory: &Path,
    caller: &Caller,
    interrupt: &'static AtomicBool,
    progress: &Progress,
) -> Result<ComputedPoints> {
    let points = known(runnable, conditions, directory)?;
    let open = next_round(runnable.study, &points);
    if open.is_empty() {
        return Ok(ComputedPoints { points, complete: true });
    }
    let nothing_yet = points.is_empty();
    let ready = Ready::of(runnable, conditions, directory, (&open, nothing_yet), caller, interrupt)?;
    let Some(ready) = ready else { return Ok(ComputedPoints { points, complete: false }) };
    let real = RealStudy { runnable, conditions, directory, ready, caller, interrupt };
    // One thread: nothing else is to run beside a measurement.
    compute(&real, directory, 1, interrupt, progress)
}

/// What a directory's journal has, if there is one.
fn known(runnable: Runnable<'_>, conditions: &Conditions, directory: &Path) -> Result<Points> {
    if !is_begun(directory, DESCRIPTION_FILE, "study")? {
        return Ok(Points::new());
    }
    let description = conditions.description(runnable);
    Journal::open(directory, &description, |_, tally| runnable.study.is_whole(tally))
        .map(|(_, points)| points)
}
