//! `laxity run`.

use super::{conclude, settings};
use crate::arguments::RunArguments;
use crate::interrupt;
use laxity_lab::experiment;
use laxity_lab::report::all_clean;
use laxity_model::Result;
use std::process::ExitCode;

pub fn run(arguments: &RunArguments) -> Result<ExitCode> {
    let running = &arguments.running;
    let sets = running.import.read_sets(&running.sets)?;
    let mut settings = settings(running, arguments.scheduler.clone(), ("run", 1))?;
    settings.overheads = arguments.overheads;
    let interrupt = interrupt::flag()?;
    let finished = experiment::measure(&sets, &settings, interrupt)?;
    conclude(&finished, running, |report| all_clean(report.summary()))
}
