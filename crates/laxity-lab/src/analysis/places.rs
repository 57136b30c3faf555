//! Where the tasks of a set are judged: where `places` puts them, for every scheduler.

use super::Settings;
use super::answer::{SchedulerAnswer, VerdictName};
use crate::places::{ByLoad, Wanted};
use crate::placing::FitAnswer;
use crate::placing::{BelowServers, Placed, Placing};
use laxity_analysis::scheduler::Analysed;
use laxity_analysis::{DoubleHit, Guarantee};
use laxity_model::{Platform, Result, Scope, TaskSet};
use laxity_place::Fitting;

/// Where admission goes by bounds of tardiness.
const DOUBLE_HIT_IGNORED: &str = "admitted with the double hit ignored, as by a loaded amp-rm: --count-double-hit asks the hard test \
    of each task";

/// Places by load, or by admission.
pub struct Places {
    found: Result<Placed>,
    admitted: bool,
}

/// For every scheduler, in their order.
///
/// # Errors
///
/// A scheduler cannot have cells on this platform.
pub fn places(set: &TaskSet, settings: &Settings) -> Result<Vec<Places>> {
    let finder = settings.finder(&settings.platform);
    let mut by_load = ByLoad::of(set);
    let mut places = Vec::new();
    for &scheduler in &settings.schedulers {
        let dedicated = scheduler.dedicates_a_processor();
        // Whether there are cells at all is the command line's matter; whether tasks fit is the answer's.
        finder.placing.capacity(scheduler.scope(), dedicated).map_err(|error| error.context(scheduler))?;
        let admitted = by_admission(set, scheduler, &finder.placing, settings, &settings.below);
        places.push(match admitted {
            Some(found) => Places { found, admitted: true },
            None => {
                let scope = scope_of_cells(scheduler.scope(), &settings.platform);
                Places { found: by_load.places(&finder, scope, dedicated), admitted: false }
            }
        });
    }
    Ok(places)
}

/// Where admission puts the tasks of a scheduler that has one, or which it refuses; nothing for other schedulers, where there is
/// nothing to place and no promise to keep, and where tasks are to be placed by load.
pub fn by_admission(
    set: &TaskSet,
    scheduler: Analysed,
    placing: &Placing<'_>,
    settings: &Settings,
    below: &BelowServers,
) -> Option<Result<Placed>> {
    let one_cell = scope_of_cells(scheduler.scope(), placing.platform) == Scope::Global;
    let by_load = !settings.fit.is_test() || settings.amp_rm.may_solve();
    if !scheduler.has_servers() || by_load || (one_cell && !below.promises()) {
        return None;
    }
    let placing = Placing { method: settings.amp_rm, ..*placing };
    let placed = placing.place_below(set, below, None, (&[], false));
    Some(placed.map(|placed| Placed { fit: Some(FitAnswer::Admission), ..placed }))
}

impl Places {
    /// The places in which the set is to be judged.
    pub fn found(&self, wanted: Wanted<'_>, settings: &Settings) -> Result<Placed> {
        match self.admitted {
            true => self.found.clone(),
            false => settings.finder(&settings.platform).find(wanted, self.found.clone()),
        }
    }
}

/// A set under a scheduler, as it is to be placed on a platform.
pub fn wanted<'a>(set: &'a TaskSet, scheduler: Analysed, name: &'a str, platform: &Platform) -> Wanted<'a> {
    Wanted {
        set,
        name,
        scheduler: Some(scheduler),
        scope: scope_of_cells(scheduler.scope(), platform),
        dedicated: scheduler.dedicates_a_processor(),
    }
}

/// Where there is one cell, there is nothing to place.
pub fn scope_of_cells(scope: Scope, platform: &Platform) -> Scope {
    if platform.cells(scope).len() == 1 { Scope::Global } else { scope }
}

/// What the user should know of places by admission.
pub fn note(answer: &SchedulerAnswer, settings: &Settings) -> Option<String> {
    if settings.fit != Fitting::Test || answer.fit != Some(FitAnswer::Admission) {
        return None;
    }
    let hard = answer.verdict(Guarantee::Hard.into()).verdict == VerdictName::Schedulable;
    let ignored = settings.below.double_hit == DoubleHit::Ignored && !settings.below.servers.is_empty();
    (ignored && !hard).then(|| DOUBLE_HIT_IGNORED.to_owned())
}
