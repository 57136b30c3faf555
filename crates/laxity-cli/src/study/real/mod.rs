//! Studies by simulation that are really run (`laxity study FILE --real`): the file's sets, drawn by the file's seeds, placed onto the
//! CPUs of this machine and run under every curve, one curve after the other for each set.
//!
//! Every run is a results directory below `runs/`, made by the code behind `laxity run`, with its guards. Finished points are in the
//! study's journal as those of simulations are; a point that was interrupted takes the runs that it has from there.

mod conditions;
mod ready;
mod sampler;
mod words;

pub use conditions::Conditions;
pub use words::RealResults;

use crate::study::watching;
use laxity_model::{Result, is_begun};
use laxity_study::{
    Conducted, DESCRIPTION_FILE, Journal, Planned, Point, Points, Progress, RunTally, SimulationStudy,
    conduct,
};
use ready::Ready;
use sampler::RealStudy;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Runs what is left of a study in `directory`, and goes on with what is there.
///
/// # Errors
///
/// Another study's directory; nothing of the study can be run here, and why; what the file system refuses.
pub fn run_study(
    study: &SimulationStudy,
    conditions: &Conditions,
    directory: &Path,
    quiet: bool,
    interrupt: &'static AtomicBool,
) -> Result<Conducted<RunTally>> {
    let points = known(study, conditions, directory)?;
    let open = open_points(study, &points);
    if open.is_empty() {
        return Ok(Conducted { points, complete: true });
    }
    let nothing_yet = points.is_empty();
    let Some(ready) = Ready::of(study, conditions, directory, &open, nothing_yet, quiet, interrupt)? else {
        return Ok(Conducted { points, complete: false });
    };
    let real = RealStudy { study, conditions, directory, ready, interrupt };
    let progress = Progress::default();
    // One thread: nothing else is to run beside a measurement.
    watching(&progress, quiet, || conduct(&real, directory, 1, interrupt, &progress))
}

/// What a directory's journal has, if there is one.
fn known(study: &SimulationStudy, conditions: &Conditions, directory: &Path) -> Result<Points<RunTally>> {
    if !is_begun(directory, DESCRIPTION_FILE, "study")? {
        return Ok(Points::new());
    }
    let description = conditions.description(study);
    Journal::open(directory, &description, |tally| is_whole(study, tally)).map(|(_, points)| points)
}

fn open_points(study: &SimulationStudy, points: &Points<RunTally>) -> Vec<Point> {
    let of_family = |family: usize| {
        let known = |value| points.get(&Point { family, value }).map(|tally| &tally.sums);
        study.next_values(known).into_iter().map(move |value| Point { family, value })
    };
    (0..study.families.len()).flat_map(of_family).collect()
}

/// Whether this is what is kept of a finished point.
fn is_whole(study: &SimulationStudy, tally: &RunTally) -> bool {
    study.is_whole(&tally.sums) && tally.gaps.len() == study.curves.len()
}
