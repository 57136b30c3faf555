//! `laxity study`.

mod conclusion;
mod described;
mod overheads;
mod progress;
mod real;
mod schedules;
mod sweep;

use clap::{Args, Subcommand};
use laxity_model::Result;
use std::process::ExitCode;

/// `laxity study`.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "laxity study [OPTIONS] <FILE>\n       laxity study overheads|schedules [OPTIONS]",
    after_long_help = described::after()
)]
pub struct StudyArguments {
    #[command(flatten)]
    pub file: described::DescribedArguments,
    /// Of something else.
    #[command(subcommand)]
    pub study: Option<Study>,
}

/// The studies that no file describes.
#[derive(Subcommand)]
pub enum Study {
    /// What scheduling costs in the kernel, against the numbers of tasks and CPUs.
    Overheads(Box<overheads::OverheadsArguments>),
    /// Whether the kernel's schedules are what their schedulers define, and how their jobs end, against the numbers of
    /// tasks and CPUs.
    Schedules(Box<schedules::SchedulesArguments>),
}

pub fn study(arguments: &StudyArguments) -> Result<ExitCode> {
    match &arguments.study {
        None => described::described(&arguments.file),
        Some(Study::Overheads(arguments)) => overheads::overheads(arguments),
        Some(Study::Schedules(arguments)) => schedules::schedules(arguments),
    }
}
