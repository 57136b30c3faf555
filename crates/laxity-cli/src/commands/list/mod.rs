//! `laxity list`: what there is by name, and what this machine can run.

mod text;

use crate::arguments::value;
use crate::output;
use clap::Args;
use laxity_lab::catalogue::{Answer, Part, answer};
use laxity_model::{Platform, Result};
use std::process::ExitCode;

/// `laxity list`.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  laxity list
  laxity list schedulers
  laxity list tests --json
  # this machine, for --platform elsewhere
  laxity list --as-platform > server.toml")]
pub struct ListArguments {
    /// schedulers, tests, generators, placements, platforms, overheads, metrics or machine; without it, an overview
    #[arg(value_name = "WHAT", conflicts_with = "as_platform", value_parser = value::<Part>)]
    pub what: Option<Part>,
    /// Write this machine's platform as TOML instead
    #[arg(long)]
    pub as_platform: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
}

pub fn list(arguments: &ListArguments) -> Result<ExitCode> {
    let platform = Platform::this_machine()?;
    if arguments.as_platform {
        let text = if arguments.json { platform.to_json() } else { platform.to_toml() };
        output::print_data(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let answer = answer(&platform);
    if arguments.json {
        output::print_json(&chosen(&answer, arguments.what)?)?;
    }
    if output::wants_text(arguments.json) {
        let text = text::Text { answer: &answer, width: output::columns() };
        output::print(&match arguments.what {
            None => text.overview(),
            Some(part) => text.part(part),
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The answer, or the keys of a part of it.
fn chosen(answer: &Answer, part: Option<Part>) -> Result<serde_json::Value> {
    let mut all = serde_json::to_value(answer).map_err(|error| output::no_json(&error))?;
    if let (Some(part), Some(entries)) = (part, all.as_object_mut()) {
        entries.retain(|key, _| key == "version" || part.keys().contains(&key.as_str()));
    }
    Ok(all)
}
