//! Where the tasks of a set are judged: where `places` puts them, for every scheduler.

use super::Settings;
use super::answer::{SchedulerAnswer, VerdictName};
use crate::case::{Case, PlacementSettings};
use crate::places::{ByLoad, Wanted};
use crate::placing::{FitAnswer, Placed};
use laxity_analysis::scheduler::Analysed;
use laxity_analysis::{DoubleHit, Guarantee};
use laxity_model::{Platform, Result, Scope, TaskSet};
use laxity_place::Fitting;

/// Where admission goes by bounds of tardiness.
const DOUBLE_HIT_IGNORED: &str = "admitted with the double hit ignored, as by a loaded amp-rm: --count-double-hit asks the hard test \
    of each task";

/// Where tasks go under each scheduler by load, or where it admits them itself; before a test is asked.
///
/// # Errors
///
/// A scheduler cannot have cells on this platform.
pub fn places(set: &TaskSet, settings: &Settings) -> Result<Vec<Result<Placed>>> {
    let placement = &settings.placement;
    placement.platform.check_affinities(set)?;
    let mut by_load = ByLoad::of(set);
    let mut places = Vec::new();
    for &scheduler in &settings.schedulers {
        let finder = settings.finder(placement, scheduler);
        let wanted = wanted(set, scheduler, "", &placement.platform);
        // Whether there are cells at all is the command line's matter; whether tasks fit is the answer's.
        let capacity = finder.placing.capacity(scheduler.scope(), wanted.dedicated);
        capacity.map_err(|error| error.context(scheduler))?;
        places.push(
            by_admission(set, scheduler, placement, settings)
                .unwrap_or_else(|| by_load.places(&finder, wanted.scope, wanted.dedicated)),
        );
    }
    Ok(places)
}

/// Where tests put the tasks of a case, given its places by load.
pub fn tested(case: &Case<'_, Analysed>, settings: &Settings) -> Result<Placed> {
    let (placement, &scheduler) = (&settings.placement, case.scheduler);
    if admits(scheduler, placement) {
        return case.placed.clone();
    }
    let name = scheduler.to_string();
    let wanted = wanted(case.set, scheduler, &name, &placement.platform);
    settings.finder(placement, scheduler).find(wanted, case.placed.clone())
}

/// Whether a scheduler's own admission puts tasks in their places: not where there is nothing to place and no promise to keep, and
/// not where tasks are to be placed by load.
fn admits(scheduler: Analysed, placement: &PlacementSettings) -> bool {
    let one_cell = scope_of_cells(scheduler.scope(), &placement.platform) == Scope::Global;
    placement.fit.is_test()
        && !placement.amp_rm.may_solve()
        && scheduler.has_servers()
        && (!one_cell || placement.below.promises())
}

/// Where admission puts the tasks of a scheduler that has one, or which it refuses.
pub fn by_admission(
    set: &TaskSet,
    scheduler: Analysed,
    placement: &PlacementSettings,
    settings: &Settings,
) -> Option<Result<Placed>> {
    if !admits(scheduler, placement) {
        return None;
    }
    let placed = placement.admitted(set, &scheduler, (&[], false), settings.interrupt)?;
    Some(placed.map(|placed| Placed { fit: Some(FitAnswer::Admission), ..placed }))
}

/// A set under a scheduler, as it is to be placed on a platform.
pub fn wanted<'a>(set: &'a TaskSet, scheduler: Analysed, name: &'a str, platform: &Platform) -> Wanted<'a> {
    Wanted { scope: scope_of_cells(scheduler.scope(), platform), ..Wanted::of(set, &scheduler, name) }
}

/// Where there is one cell, there is nothing to place.
pub fn scope_of_cells(scope: Scope, platform: &Platform) -> Scope {
    if platform.cells(scope).len() == 1 { Scope::Global } else { scope }
}

/// What the user should know of places by admission.
pub fn note(answer: &SchedulerAnswer, settings: &Settings) -> Option<String> {
    if settings.placement.fit != Fitting::Test || answer.fit != Some(FitAnswer::Admission) {
        return None;
    }
    let hard = answer.verdict(Guarantee::Hard.into()).verdict == VerdictName::Schedulable;
    let below = &settings.placement.below;
    let ignored = below.double_hit == DoubleHit::Ignored && !below.servers.is_empty();
    (ignored && !hard).then(|| DOUBLE_HIT_IGNORED.to_owned())
}
