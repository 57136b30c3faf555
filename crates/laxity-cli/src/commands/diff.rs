//! `laxity diff`: two results directories, compared with the noise of their runs.

use super::report;
use crate::output;
use clap::Args;
use laxity_model::Result;
use laxity_report::Difference;
use std::path::PathBuf;
use std::process::ExitCode;

/// `laxity diff`.
#[derive(Args)]
#[command(after_long_help = "\
Compares what both have: the same task sets under the same schedulers, run by run of the same jobs. Misses, tardiness and \
laxity differ where Student's t says so at 1 % for all comparisons together, and where the difference matters (misses: 0.1 % of \
the jobs, normalized laxity: 0.05). A configuration's noise is what its own repetitions vary by: make both with --repeat 3 or \
more, on a quiet machine.

Exit codes: 0 nothing is worse in the second; 1 something is; 2 there is nothing to compare.

Examples:
  laxity simulate set.toml --schedulers g-edf,p-rm --out before
  laxity simulate set.toml --schedulers g-edf,p-rm --out after
  # what changed, and whether it is worse
  laxity diff before after
  # the same for programs
  laxity diff before after --json > difference.json")]
pub struct DiffArguments {
    /// The results directory to compare with
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The results directory that is judged
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

pub fn diff(arguments: &DiffArguments) -> Result<ExitCode> {
    let [before, after] = [&arguments.before, &arguments.after].map(laxity_trace::load_digested);
    let (before, after) = (before?, after?);
    let both = [(&before.results, before.digests), (&after.results, after.digests)];
    let difference = Difference::of_digests(both)?;
    if arguments.json {
        output::print_json(&difference)?;
    }
    if output::wants_text(arguments.json) {
        report::print_styled(|style| difference.text(style))?;
    }
    Ok(output::verdict(!difference.worse))
}

/// The JSON Schema of [`Difference`]; published as `schemas/difference.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Difference>(
        "difference",
        "laxity difference",
        laxity_report::DIFFERENCE_VERSION,
    )
}
