//! `laxity run`.

use super::{conclude, of_cases, settings};
use crate::arguments::RunArguments;
use crate::interrupt;
use laxity_lab::case::{Cases, Purpose};
use laxity_lab::experiment;
use laxity_lab::report::all_clean;
use laxity_model::Result;
use std::process::ExitCode;

pub fn run(arguments: &RunArguments) -> Result<ExitCode> {
    let running = &arguments.running;
    let sets = running.import.read_sets(&running.sets)?;
    let (schedulers, of_cases) = of_cases(running, &arguments.scheduler)?;
    let mut settings = settings(running, ("run", 1));
    settings.overheads = arguments.overheads;
    let cases = Cases::of(&sets, &schedulers, &of_cases, Purpose::Run, interrupt::flag()?)?;
    let finished = experiment::measure(&cases, &settings)?;
    conclude(&finished, running, |report| all_clean(report.summary()))
}
