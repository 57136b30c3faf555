//! `laxity compare`.

use super::{conclude, read_sets, settings};
use crate::arguments::CompareArguments;
use crate::{experiment, interrupt};
use laxity_model::{Result, Scheduler};
use std::process::ExitCode;

pub fn compare(arguments: &CompareArguments) -> Result<ExitCode> {
    let running = &arguments.running;
    let sets = read_sets(&running.sets)?;
    let asked = &arguments.schedulers;
    let schedulers = if asked.is_empty() { Scheduler::ALL.to_vec() } else { asked.clone() };
    let mut settings = settings(running, schedulers, "compare")?;
    settings.simulate = !arguments.no_simulation;
    settings.alone = Some(arguments.alone).filter(|span| !span.is_zero());
    let interrupt = interrupt::flag()?;
    let finished = experiment::conduct(&sets, &settings, &interrupt)?;
    conclude(&finished, running, |verdict| verdict.recommended_is_clean)
}
