//! `laxity study`.

mod overheads;
mod schedules;
mod sweep;

use clap::{Args, Subcommand};
use laxity_model::Result;
use std::process::ExitCode;

/// `laxity study`.
#[derive(Args)]
pub struct StudyArguments {
    /// Of what.
    #[command(subcommand)]
    pub study: Study,
}

/// The studies.
#[derive(Subcommand)]
pub enum Study {
    /// What scheduling costs in the kernel, against the numbers of tasks and CPUs.
    Overheads(Box<overheads::OverheadsArguments>),
    /// Whether the kernel's schedules are what their schedulers define, and what becomes of the jobs, against the numbers of tasks
    /// and CPUs.
    Schedules(Box<schedules::SchedulesArguments>),
}

pub fn study(arguments: &StudyArguments) -> Result<ExitCode> {
    match &arguments.study {
        Study::Overheads(arguments) => overheads::overheads(arguments),
        Study::Schedules(arguments) => schedules::schedules(arguments),
    }
}
