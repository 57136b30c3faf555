//! `laxity compare`.

use super::{conclude, of_cases, settings};
use crate::arguments::{CompareArguments, or_lelli2012};
use crate::{interrupt, shipped};
use laxity_lab::case::{Cases, Purpose};
use laxity_lab::charges::{Charges, Kernel};
use laxity_lab::experiment;
use laxity_lab::simulation::Mechanics;
use laxity_model::{Duration, Result, TaskSet};
use std::process::ExitCode;

pub fn compare(arguments: &CompareArguments) -> Result<ExitCode> {
    let interrupt = interrupt::flag()?;
    let running = &arguments.running;
    let sets = running.import.read_sets(&running.sets)?;
    let (schedulers, mut of_cases) = of_cases(running, &or_lelli2012(&arguments.schedulers))?;
    let mut settings = settings(running, ("compare", 3));
    settings.simulate = mechanics(arguments, &sets)?;
    let kernel = Kernel::running(&of_cases.platform().cpus(), arguments.assume_no_background);
    of_cases.charges = Charges::of_costs(arguments.costs.as_deref(), shipped::located)?.beside_kernel(kernel);
    settings.analyse = true;
    settings.alone = Some(arguments.alone).filter(|span| !Duration::is_zero(*span));
    let cases = Cases::of(&sets, &schedulers, &of_cases, Purpose::Run, interrupt)?;
    let finished = experiment::measure(&cases, &settings)?;
    conclude(&finished, running, |report| report.recommendation().misses_nothing)
}

/// What simulations beside the measurements cost; nothing if there are to be none.
///
/// Errors: a costs file that is wrong, or too much for one of the sets: before anything is measured.
fn mechanics(arguments: &CompareArguments, sets: &[TaskSet]) -> Result<Option<Mechanics>> {
    if arguments.no_simulation {
        return Ok(None);
    }
    let costs = shipped::costs(arguments.costs.as_deref())?;
    for set in sets {
        let tasks = u32::try_from(set.real_time().count()).unwrap_or(u32::MAX);
        costs.check(tasks).map_err(|error| error.context(format!("task set `{}`", set.name())))?;
    }
    let policy = &arguments.running.policy;
    Ok(Some(Mechanics {
        costs,
        costs_file: arguments.costs.clone(),
        budget_mode: policy.budget,
        on_miss: arguments.running.on_miss,
        batching: policy.batching,
        retries_max: policy.retries,
        busy: arguments.running.busy as usize,
        ..Mechanics::default()
    }))
}
