//! `laxity check`: what a file or a results directory is, and what is wrong with it.

use crate::arguments::ImportArguments;
use crate::output;
use clap::Args;
use laxity_lab::files::Found;
use laxity_model::{Diagnostic, Failure, Result, shown};
use std::path::PathBuf;
use std::process::ExitCode;

/// `laxity check`.
#[derive(Args)]
#[command(after_long_help = "\
Task sets (TOML, JSON, CSV, rt-app JSON, SimSo XML), platforms, costs and studies (TOML, JSON), overheads and cache-related \
delays (CSV), plans of what to set (deploy/plan.json), and results directories: what each is shows from its content. It is read as the commands read it, with \
the files that it names.

Exit codes: 0 all are right; 2 something is wrong, and what is said.

Examples:
  laxity init set.toml
  laxity check set.toml
  laxity list --as-platform > here.toml
  laxity check set.toml here.toml --json")]
pub struct CheckArguments {
    /// Files and results directories; - is a task set on standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// How files of other tools are read
    #[command(flatten)]
    pub import: ImportArguments,
    /// Print JSON instead of lines
    #[arg(long)]
    pub json: bool,
}

pub fn check(arguments: &CheckArguments) -> Result<ExitCode> {
    let answer = arguments.import.check(&arguments.files);
    if arguments.json {
        output::print_json(&answer)?;
    }
    if output::wants_text(arguments.json) {
        answer.files.iter().try_for_each(tell)?;
    }
    Ok(if answer.valid { ExitCode::SUCCESS } else { ExitCode::from(Failure::Usage.exit_code()) })
}

/// What is right to standard output, what is wrong to standard error.
fn tell(found: &Found) -> Result<()> {
    if let (Some(kind), Some(description)) = (found.kind, &found.description) {
        return output::print(&format!("{}: {kind}, valid: {}\n", shown(&found.file), shown(description)));
    }
    let error = Diagnostic::usage(found.error.clone().unwrap_or_default());
    output::answer_error(&Diagnostic { hint: found.hint.clone(), ..error });
    Ok(())
}
