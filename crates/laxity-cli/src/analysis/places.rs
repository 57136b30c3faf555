//! Where the tasks of a set go under a scheduler.
//!
//! 0. amp-rm's tasks go where its admission puts them, as in `place`, `simulate`, `run` and a loaded amp-rm.
//! 1. With one cell there is nothing to place: whether its tasks fit is for the tests to say.
//! 2. A heuristic that goes by the test is tried first (`admission`). Where it finds nothing, tasks go where their loads put them,
//!    so that it can be said what fails there.
//! 3. The integer program knows loads only: its places are of the least load, and judged afterwards. Where they are not proven, a
//!    note says whether a heuristic by the test has better ones.
//! 4. By load means by density where a deadline is below its period. A density that is too high proves nothing: where such a set
//!    is to be judged by tests, it is placed by utilization.

use super::Settings;
use super::admission::{Wanted, by_test};
use super::answer::{FitAnswer, SchedulerAnswer, VerdictName};
use crate::experiment::{Below, Placed, Placements, Placing};
use laxity_analysis::scheduler::Analysed;
use laxity_analysis::{DoubleHit, Guarantee};
use laxity_model::{Platform, Result, Scope, TaskSet};
use laxity_place::{Fit, Fitting, Method};

/// Heuristics that are tried for a note.
const OTHERS: [&str; 3] = ["ffd", "wfd", "bf-deadline"];

/// Where places by the test are not those by load.
const ELSEWHERE: &str =
    "placed by the test: run and simulate place by load, elsewhere; --fit utilization judges their places";

/// Where admission goes by bounds of tardiness.
const DOUBLE_HIT_IGNORED: &str = "admitted with the double hit ignored, as by a loaded amp-rm: --count-double-hit asks the hard test \
    of each task";

/// Places, and by what.
pub struct Places {
    found: Result<Placed>,
    fit: FitAnswer,
}

/// For every scheduler, in their order. Schedulers of a scope have the same places.
///
/// # Errors
///
/// A scheduler cannot have cells on this platform.
pub fn places(set: &TaskSet, settings: &Settings) -> Result<Vec<Places>> {
    let fits = fits(set, settings);
    let chosen = fits.first().copied().filter(|_| settings.fit != Fitting::Test);
    let placing = settings.placing(&settings.platform, chosen);
    let placements = |fit| {
        let placing = settings.placing(&settings.platform, Some(fit));
        (fit, Placements::new(set, placing))
    };
    let mut placements: Vec<(Fit, Placements)> = fits.into_iter().map(placements).collect();
    let mut places = Vec::new();
    for &scheduler in &settings.schedulers {
        let dedicated = scheduler.dedicates_a_processor();
        // Whether there are cells at all is the command line's matter; whether tasks fit is the answer's.
        placing.capacity(scheduler.scope(), dedicated).map_err(|error| error.context(scheduler))?;
        if let Some(found) = by_admission(set, scheduler, &placing, settings, &settings.below) {
            places.push(Places { found, fit: FitAnswer::Admission });
            continue;
        }
        let scope = scope_of_cells(scheduler.scope(), &settings.platform);
        let mut found = None;
        for (fit, placements) in &mut placements {
            let by_load = placements.of(scope, dedicated);
            if found.is_none() || by_load.is_ok() {
                found = Some(Places { found: by_load.clone(), fit: (*fit).into() });
            }
            if by_load.is_ok() {
                break;
            }
        }
        places.extend(found);
    }
    Ok(places)
}

/// What may be placed together by load, the first that finds places.
pub fn fits(set: &TaskSet, settings: &Settings) -> Vec<Fit> {
    match settings.fit {
        Fitting::Load(fit) => vec![fit],
        Fitting::Test => {
            let mut fits = vec![Fit::default_for(set), Fit::Utilization];
            fits.dedup();
            fits
        }
    }
}

/// Where admission puts the tasks of a scheduler that has one, or which it refuses; nothing for other schedulers, where there is
/// nothing to place and no promise to keep, and where tasks are to be placed by load.
pub fn by_admission(
    set: &TaskSet,
    scheduler: Analysed,
    placing: &Placing<'_>,
    settings: &Settings,
    below: &Below,
) -> Option<Result<Placed>> {
    let one_cell = scope_of_cells(scheduler.scope(), placing.platform) == Scope::Global;
    let by_load = settings.fit != Fitting::Test || settings.amp_rm.may_solve();
    if !scheduler.has_servers() || by_load || (one_cell && !below.promises()) {
        return None;
    }
    let placing = Placing { method: settings.amp_rm, ..*placing };
    Some(placing.place_below(set, below, None, (&[], false)))
}

impl Places {
    /// The places in which the set is to be judged, and what fits there; that by the test, if one is found.
    pub fn tested(&self, wanted: Wanted<'_>, settings: &Settings) -> (Result<Placed>, Option<FitAnswer>) {
        if self.fit == FitAnswer::Admission {
            return (self.found.clone(), Some(self.fit));
        }
        if wanted.scope == Scope::Global {
            return (self.found.clone(), None);
        }
        if settings.fit == Fitting::Test && !settings.placement.may_solve() {
            let placing = settings.placing(&settings.platform, None);
            for (guarantee, fit) in
                [(Guarantee::Hard, FitAnswer::HardTest), (Guarantee::Soft, FitAnswer::SoftTest)]
            {
                if let Some(mut placed) = by_test(wanted, settings.placement, &placing, settings, guarantee) {
                    placed.record.notes.extend(self.differs(&placed).then(|| ELSEWHERE.to_owned()));
                    return (Ok(placed), Some(fit));
                }
            }
        }
        (self.found.clone(), Some(self.fit))
    }
}

impl Places {
    fn differs(&self, placed: &Placed) -> bool {
        let tasks =
            |placed: &Placed| placed.record.bins.iter().map(|bin| bin.tasks.clone()).collect::<Vec<_>>();
        self.found.as_ref().map_or(true, |by_load| tasks(by_load) != tasks(placed))
    }
}

impl<'a> Wanted<'a> {
    /// On a platform.
    pub fn of(set: &'a TaskSet, scheduler: Analysed, platform: &Platform) -> Self {
        Wanted { set, scheduler, scope: scope_of_cells(scheduler.scope(), platform) }
    }
}

/// Where there is one cell, there is nothing to place.
pub fn scope_of_cells(scope: Scope, platform: &Platform) -> Scope {
    if platform.cells(scope).len() == 1 { Scope::Global } else { scope }
}

/// What the user should know of the places.
pub fn notes(wanted: Wanted<'_>, answer: &SchedulerAnswer, settings: &Settings) -> Option<String> {
    if wanted.scope == Scope::Global || settings.fit != Fitting::Test {
        return None;
    }
    let method = settings.placement;
    match answer.fit? {
        FitAnswer::Admission => {
            let hard = answer.verdict(Guarantee::Hard.into()).verdict == VerdictName::Schedulable;
            let ignored =
                settings.below.double_hit == DoubleHit::Ignored && !settings.below.servers.is_empty();
            (ignored && !hard).then(|| DOUBLE_HIT_IGNORED.to_owned())
        }
        _ if method.may_solve() => {
            let proven = answer.verdict(settings.guarantee.into()).verdict == VerdictName::Schedulable;
            if proven { None } else { better(wanted, settings) }
        }
        FitAnswer::HardTest => None,
        FitAnswer::SoftTest => Some(format!(
            "by {method} no placement passes the hard test of {}: these places are by the soft one",
            wanted.scheduler
        )),
        fit => Some(format!(
            "by {method} no placement passes the test of {}: these places are by {}",
            wanted.scheduler,
            word(fit)
        )),
    }
}

fn word(fit: FitAnswer) -> &'static str {
    match fit {
        FitAnswer::Admission => "admission",
        FitAnswer::HardTest => "the hard test",
        FitAnswer::SoftTest => "the soft test",
        FitAnswer::Utilization => "utilization",
        FitAnswer::Density => "density",
        FitAnswer::Dbf => "dbf",
    }
}

/// That a heuristic by the test has places in which the set is proven, where the least load is not the place to be.
fn better(wanted: Wanted<'_>, settings: &Settings) -> Option<String> {
    let placing = settings.placing(&settings.platform, None);
    let methods = OTHERS.iter().filter_map(|name| name.parse::<Method>().ok());
    let proves = |method: &Method| by_test(wanted, *method, &placing, settings, settings.guarantee).is_some();
    let found = methods.into_iter().find(proves)?;
    Some(format!(
        "these places are of the least load; --placement {found} asks the test of {} for each task and finds places in which it \
         is proven",
        wanted.scheduler
    ))
}
