//! `laxity study`.

mod changes;
mod conclusion;
mod described;
mod engine;
mod overheads;
mod progress;
mod real;
mod schedules;
mod shards;
mod slurm;
mod sweep;

pub use shards::schema as shard_schema;
pub use slurm::schema as slurm_schema;

use clap::{Args, Subcommand};
use laxity_model::Result;
use std::process::ExitCode;

/// `laxity study`.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "laxity study [OPTIONS] <FILE>\n       laxity study merge|overheads|schedules [OPTIONS]",
    after_long_help = described::after()
)]
pub struct StudyArguments {
    #[command(flatten)]
    pub file: described::DescribedArguments,
    /// Of something else.
    #[command(subcommand)]
    pub study: Option<Study>,
}

/// The studies that no file describes, and what is done to shards of one.
#[derive(Subcommand)]
pub enum Study {
    /// Add up the shards of a study that a file describes, which `laxity study FILE --shard I/N` has judged.
    Merge(shards::MergeArguments),
    /// What scheduling costs in the kernel, against the numbers of tasks and CPUs.
    Overheads(Box<overheads::OverheadsArguments>),
    /// Whether the kernel's schedules are what their schedulers define, and how their jobs end, against the numbers of
    /// tasks and CPUs.
    Schedules(Box<schedules::SchedulesArguments>),
}

pub fn study(arguments: &StudyArguments) -> Result<ExitCode> {
    match &arguments.study {
        None => described::described(&arguments.file),
        Some(Study::Merge(arguments)) => shards::merged(arguments),
        Some(Study::Overheads(arguments)) => overheads::overheads(arguments),
        Some(Study::Schedules(arguments)) => schedules::schedules(arguments),
    }
}
