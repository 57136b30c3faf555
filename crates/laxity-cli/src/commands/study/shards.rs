//! Shards of a study that a file describes: what one comes to, and `laxity study merge`.

use super::changes::{ChangesArguments, directory_of};
use super::conclusion::conclude;
use crate::{output, shipped};
use clap::Args;
use laxity_lab::study::PAGE_FILE;
use laxity_lab::study::described::StudyOutputs;
use laxity_model::{Result, ShownPath as _, plural};
use laxity_study::{ComputedPoints, Shard, merge, next_round, shard_directory};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit code of `merge` where the axis is to be looked at more closely: shards have further sets to judge.
const FURTHER: u8 = 1;

/// `laxity study merge`.
#[derive(Args)]
#[command(after_long_help = "\
Shards are those in the study's directory, in shards/, unless their directories are named: those that were judged elsewhere, and copied \
here. Each of a cut (1/3, 2/3, 3/3) has to be there once, finished, of the same study and the same version of laxity. The points are then \
those that one process comes to, byte for byte, whatever the number of shards.

Where a study's axis is refined, it is looked at more closely where curves bend, and that is known only when the shards have been added \
up: then `merge` says so, and the same calls of the shards, or those of another cut, judge what is left, until `merge` says that the study is complete.

Exit codes: 0 the study is complete; 1 shards have further sets to judge; 2 usage or input, such as a shard that is missing.

Examples:
  # of the shards in fig8a/shards/
  laxity study merge studies/cerqueira2014-fig8a.toml -o fig8a
  # of shards that were judged elsewhere
  laxity study merge my.toml one/shards/1-of-2 two/shards/2-of-2 -o all")]
pub struct MergeArguments {
    /// The study: TOML or JSON; - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Directories of its shards; default: those in the study's directory
    #[arg(value_name = "SHARD")]
    pub shards: Vec<PathBuf>,
    #[command(flatten)]
    pub changes: ChangesArguments,
    /// The study's directory; default: laxity-results/ and the study's name
    #[arg(help_heading = "Output", short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(help_heading = "Output", long)]
    pub json: bool,
}

/// The version of this format (`schemas/study-shard.schema.json`).
const VERSION: u32 = 1;

/// What `laxity study FILE --shard I/N --json` prints.
#[derive(Serialize, JsonSchema)]
pub struct ShardAnswer {
    /// Version of this format.
    version: u32,
    /// Which one: I/N.
    shard: String,
    /// The directory in which it is kept.
    directory: String,
    /// Points of which it has its sets.
    points: usize,
    /// Whether it has all that it has to judge by now.
    complete: bool,
}

/// Says what a shard has come to.
pub fn judged(
    shard: Shard,
    computed: &ComputedPoints,
    (file, changes, directory): (&Path, &ChangesArguments, &Path),
    json: bool,
) -> Result<ExitCode> {
    let points = computed.points.len();
    let own = shard_directory(directory, shard);
    if json {
        let directory = own.to_string_lossy().into_owned();
        let (shard, complete) = (shard.to_string(), computed.complete);
        output::print_json(&ShardAnswer { version: VERSION, shard, directory, points, complete })?;
    } else if computed.complete {
        output::print(&format!(
            "shard {shard} is finished: {} in {}\n",
            plural(points, "point"),
            own.shown()
        ))?;
        let command =
            format!("laxity study merge {}{} -o {}", file.shown(), changes.words(), directory.shown());
        output::note(format_args!("when all {} shards are: {command}", shard.of()));
    }
    if computed.complete {
        return Ok(ExitCode::SUCCESS);
    }
    let kept = plural(points, "point");
    Ok(output::interrupted(format_args!(
        ": {kept} of shard {shard} are finished and kept; the same command goes on"
    )))
}

/// `laxity study merge`.
pub fn merged(arguments: &MergeArguments) -> Result<ExitCode> {
    let study = arguments.changes.read(&arguments.file)?;
    let directory = directory_of(&study, arguments.out.as_deref());
    let computed = merge(&study, &directory, &arguments.shards, shipped::VERSION)?;
    let answer = || study.answer(&computed, None);
    conclude(&StudyOutputs::of(&study, &computed, None), &directory, arguments.json, answer)?;
    output::note_page(&directory.join(PAGE_FILE));
    if computed.complete {
        return Ok(ExitCode::SUCCESS);
    }
    let further = plural(next_round(&study, &computed.points).len(), "further point");
    output::say(format_args!(
        "the study is not complete: curves bend, and shards have {further} to judge; call them again, then merge"
    ));
    Ok(ExitCode::from(FURTHER))
}

/// The JSON Schema of [`ShardAnswer`]; published as `schemas/study-shard.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<ShardAnswer>("study-shard", "laxity shard of a study", VERSION)
}
