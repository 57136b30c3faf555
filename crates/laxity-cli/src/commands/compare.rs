//! `laxity compare`.

use super::{conclude, read_sets, settings};
use crate::arguments::CompareArguments;
use crate::simulation::{Mechanics, NamedScheduler};
use crate::{experiment, interrupt};
use laxity_model::{Diagnostic, Duration, Result, Scheduler, TaskSet};
use laxity_sim::costs::{Costs, read_costs};
use std::process::ExitCode;

pub fn compare(arguments: &CompareArguments) -> Result<ExitCode> {
    let running = &arguments.running;
    let sets = read_sets(&running.sets)?;
    let schedulers = schedulers(arguments)?;
    let mut settings = settings(running, schedulers, "compare")?;
    settings.simulate = mechanics(arguments, &sets)?;
    settings.alone = Some(arguments.alone).filter(|span| !Duration::is_zero(*span));
    let interrupt = interrupt::flag()?;
    let finished = experiment::conduct(&sets, &settings, &interrupt)?;
    conclude(&sets, &finished, running, |verdict| verdict.recommended_is_clean)
}

/// Linux's schedulers, and any others to be simulated beside them.
fn schedulers(arguments: &CompareArguments) -> Result<Vec<NamedScheduler>> {
    let asked = &arguments.schedulers;
    if asked.is_empty() {
        return Ok(Scheduler::ALL.into_iter().map(NamedScheduler::from).collect());
    }
    let own: Vec<&str> =
        asked.iter().filter(|one| one.linux().is_none()).map(|one| one.name.as_str()).collect();
    if own.len() == asked.len() {
        return Err(Diagnostic::usage(format!(
            "--schedulers {}: nothing of it can be run for real, so there is nothing to measure",
            own.join(",")
        ))
        .hint(
            "add one of Linux's schedulers (g-edf, p-rm ...; see `laxity list`), or use `laxity simulate`",
        ));
    }
    if arguments.no_simulation && !own.is_empty() {
        return Err(Diagnostic::usage(format!(
            "--no-simulation leaves nothing to do for {}",
            own.join(", ")
        ))
        .hint("these can only be simulated: leave one of the two out"));
    }
    Ok(asked.clone())
}

/// What simulations beside the measurements cost; nothing if there are to be none.
///
/// Errors: a costs file that is wrong, or too much for one of the sets: before anything is measured.
fn mechanics(arguments: &CompareArguments, sets: &[TaskSet]) -> Result<Option<Mechanics>> {
    if arguments.no_simulation {
        return Ok(None);
    }
    let costs = match &arguments.costs {
        Some(file) => read_costs(file)?,
        None => Costs::default(),
    };
    for set in sets {
        let tasks = u32::try_from(set.real_time().count()).unwrap_or(u32::MAX);
        costs.check(tasks).map_err(|error| error.context(format!("task set `{}`", set.name())))?;
    }
    Ok(Some(Mechanics { costs, costs_file: arguments.costs.clone(), ..Mechanics::default() }))
}
