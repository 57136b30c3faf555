//! What `place` does: the tasks of a set onto CPUs or clusters, for a scheduler or by load.

mod answer;

pub use answer::{Answer, BelowAnswer, BinAnswer, GroupAnswer, schema};

use crate::case::{CaseSettings, Cases, PlacementSettings, Purpose, check_real_time};
use crate::placing::{SLOWEST_FIT, ServedCpus, named_load};
use crate::schedulers::{Configuration, Scheduled as _};
use laxity_model::{Diagnostic, Result, Scope, Sharing, TaskSet, Utilization, scheduler_of};
use laxity_place::{Bin, Fit, Request};
use std::sync::atomic::AtomicBool;

/// Everything the user chose.
pub struct Settings {
    /// For which scheduler: its own test says what fits. Nothing: loads do.
    pub scheduler: Option<Configuration>,
    /// Onto what; nothing: onto what the scheduler has, or CPUs.
    pub onto: Option<Scope>,
    /// How, and what a test counts besides the tasks.
    pub of_case: CaseSettings,
    /// Ends the work; the best placement by then is the answer.
    pub interrupt: &'static AtomicBool,
}

/// Places a set; whether it was ended before there was nothing better to find.
///
/// # Errors
///
/// A task that fits nowhere; a scheduler that places nothing, or onto something else.
pub fn place(set: &TaskSet, settings: &Settings) -> Result<(Answer, bool)> {
    check_real_time(set)?;
    settings.of_case.platform().check_affinities(set)?;
    let scope = scope(settings)?;
    let by_test = settings.scheduler.as_ref().filter(|one| !one.has_servers());
    let (mut answer, interrupted) = match by_test {
        Some(scheduler) => for_scheduler(set, scheduler, settings)?,
        None => by_load_or_servers(set, scope, settings)?,
    };
    if let Some(share) =
        settings.of_case.placement.limit.as_ref().filter(|share| **share != Utilization::whole(1))
    {
        answer
            .notes
            .push(format!("each CPU is filled up to {share:.4} of its capacity at the most (--limit)"));
    }
    Ok((answer, interrupted))
}

/// What tasks are placed onto.
fn scope(settings: &Settings) -> Result<Scope> {
    let Some(scheduler) = &settings.scheduler else {
        return Ok(settings.onto.unwrap_or(Scope::Partitioned));
    };
    let scope = scheduler.scope();
    match settings.onto {
        _ if scope == Scope::Global => {
            Err(Diagnostic::usage(format!("--scheduler {scheduler}: it is global: nothing is placed"))
                .hint("name a partitioned or clustered one, such as p-rm or c-edf"))
        }
        Some(onto) if onto != scope => Err(Diagnostic::usage(format!(
            "--onto {}: under {scheduler} tasks go onto {}",
            bins(onto),
            bins(scope)
        ))
        .hint("leave out --onto")),
        _ => Ok(scope),
    }
}

fn bins(scope: Scope) -> &'static str {
    match scope {
        Scope::Partitioned => "CPUs",
        Scope::Clustered => "clusters",
        Scope::Global => "the machine",
    }
}

/// Where `run`, `simulate` and `analyze` put them, up to the kernel's own admission.
fn for_scheduler(set: &TaskSet, scheduler: &Configuration, settings: &Settings) -> Result<(Answer, bool)> {
    let PlacementSettings { below, .. } = &settings.of_case.placement;
    if below.any() {
        return Err(Diagnostic::usage(format!("{}: {scheduler} has no deferrable servers", below.words()))
            .hint("they are amp-rm's: --scheduler amp-rm"));
    }
    let (sets, schedulers) = (std::slice::from_ref(set), std::slice::from_ref(scheduler));
    let cases = Cases::of(sets, schedulers, &settings.of_case, Purpose::Places, settings.interrupt)?;
    let placed = cases.case(0).placed?;
    let placement = placed.placement.as_ref().expect("tasks of cells are placed");
    let own = Answer::of(set, placement, &Sharing::of(set)?, None);
    let fit = placed.fit.map_or(own.fit, |fit| fit.name().to_owned());
    let scheduler = Some(scheduler_of(&scheduler.name).0.to_owned());
    let record = &placed.record;
    let (method, notes) = (record.method.clone(), record.notes.clone());
    Ok((Answer { scheduler, method, fit, notes, ..own }, placement.interrupted))
}

fn by_load_or_servers(set: &TaskSet, scope: Scope, settings: &Settings) -> Result<(Answer, bool)> {
    let placement = &settings.of_case.placement;
    let PlacementSettings { platform, choice, below, limit, .. } = placement;
    let bins = Bin::of_platform(platform, scope)?;
    let fit = named_load(placement.fit);
    let method = match choice.named() {
        None if below.any() || settings.scheduler.is_some() => SLOWEST_FIT,
        _ => choice.method_by(placement.fit),
    };
    let served = ServedCpus::of((method, fit, below), set, platform, &bins)?;
    let request = Request::new(set, bins)?
        .with_fit(fit.unwrap_or_else(|| Fit::default_for(set)))?
        .with_capacity_limit(limit.clone().unwrap_or_else(|| Utilization::whole(1)))?
        .with_overload(placement.overload)
        .with_ilp_time_limit(placement.ilp_time_limit)
        .with_interrupt(settings.interrupt);
    let request = match &served {
        Some(served) => request.with_acceptance(served),
        None => request,
    };
    let placed = request.place(method)?;
    let scheduler = settings.scheduler.as_ref().map(|one| scheduler_of(&one.name).0.to_owned());
    let answer = Answer::of(set, &placed, &Sharing::of(set)?, served.as_ref());
    Ok((Answer { scheduler, ..answer }, placed.interrupted))
}
