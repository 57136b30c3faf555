//! Where tasks are judged, other than where they run: one cell has nothing to place, and admission keeps promises.

use super::{CaseSettings, PlacementSettings};
use crate::places::Wanted;
use crate::placing::{FitAnswer, Placed};
use crate::schedulers::Scheduled;
use laxity_model::{Platform, Result, Scope, TaskSet};
use std::fmt::Display;
use std::sync::atomic::AtomicBool;

/// Refuses a scheduler that has no cells on the machine. Whether tasks fit into them is for the tests to say.
pub(super) fn check_cells(
    scheduler: &(impl Scheduled + Display),
    settings: &CaseSettings,
    interrupt: &AtomicBool,
) -> Result<()> {
    let placing = settings.placement.placing(interrupt);
    let capacity = placing.capacity(scheduler.scope(), scheduler.dedicates_a_core());
    capacity.map(drop).map_err(|error| error.context(scheduler))
}

/// Where admission puts the tasks of a scheduler that has one, or which it refuses: not where there is nothing to place and no promise
/// to keep, and not where tasks are to be placed by load.
pub fn by_admission(
    set: &TaskSet,
    scheduler: &impl Scheduled,
    placement: &PlacementSettings,
    interrupt: &AtomicBool,
) -> Option<Result<Placed>> {
    let one_cell = scope_of_cells(scheduler.scope(), &placement.platform) == Scope::Global;
    let admits = placement.fit.is_test()
        && !placement.amp_rm.may_solve()
        && scheduler.has_servers()
        && (!one_cell || placement.below.promises());
    if !admits {
        return None;
    }
    let placed = placement.admitted(set, scheduler, (&[], false), interrupt)?;
    Some(placed.map(|placed| Placed { fit: Some(FitAnswer::Admission), ..placed }))
}

/// A set under a scheduler of this name, as it is to be placed on a platform.
pub fn wanted<'a>(
    set: &'a TaskSet,
    scheduler: &impl Scheduled,
    name: &'a str,
    platform: &Platform,
) -> Wanted<'a> {
    Wanted { scope: scope_of_cells(scheduler.scope(), platform), ..Wanted::of(set, scheduler, name) }
}

/// Where there is one cell, there is nothing to place.
fn scope_of_cells(scope: Scope, platform: &Platform) -> Scope {
    if platform.cells(scope).len() == 1 { Scope::Global } else { scope }
}
