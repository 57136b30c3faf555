//! `laxity init`: a commented task set to start from.

use crate::output;
use clap::Args;
use laxity_model::{Diagnostic, Existing, Result, STANDARD, ShownPath as _, write_file};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The set, each field with its meaning.
const TASK_SET: &str = include_str!("task-set.toml");

/// `laxity init`.
#[derive(Args)]
#[command(after_long_help = "\
The file is valid as it is: five tasks, with the usual fields explained where they are used; `laxity schema task-set` has all of them. A file that is there \
already stays as it is unless --force is given.

Examples:
  laxity init set.toml
  laxity check set.toml
  laxity analyze set.toml --cpus 2
  # to standard output
  laxity init")]
pub struct InitArguments {
    /// The file to write, TOML; without it, or as `-`, standard output
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Replace the file if it is there already
    #[arg(long, requires = "file")]
    pub force: bool,
}

pub fn init(arguments: &InitArguments) -> Result<ExitCode> {
    let file = arguments.file.as_deref().filter(|file| *file != Path::new(STANDARD));
    let Some(file) = file else {
        output::print_data(TASK_SET)?;
        return Ok(ExitCode::SUCCESS);
    };
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or("toml");
    if ["json", "csv", "xml", "yaml", "yml"].contains(&extension) {
        return Err(Diagnostic::usage(format!("cannot write {}: what init writes is TOML", file.shown()))
            .hint(format!("name the file {}", file.with_extension("toml").shown())));
    }
    write_file(file, TASK_SET.as_bytes(), Existing::forced(arguments.force))?;
    let shown = file.shown();
    output::note(format_args!("wrote {shown}; `laxity check {shown}` and `laxity analyze {shown}` read it"));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::{Sharing, TaskSet};

    #[test]
    fn the_set_is_valid_and_names_every_field() {
        let set = TaskSet::from_toml(TASK_SET, "x").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(set.tasks().len(), 5);
        Sharing::of(&set).unwrap_or_else(|error| panic!("{error}"));
        let schema = laxity_model::task_set_schema();
        let fields = schema["$defs"]["task"]["properties"].as_object().expect("fields");
        // `leave` and `batching` are for simulated arrivals and releases, no first steps.
        for field in fields.keys().filter(|field| !["leave", "batching"].contains(&field.as_str())) {
            assert!(TASK_SET.contains(&format!("{field} = ")), "{field}");
        }
        assert!(TASK_SET.lines().all(|line| line.chars().count() <= 120));
    }

    #[test]
    fn what_is_commented_out_is_valid_too() {
        let field = |line: &str| line.starts_with("# ") && line.contains(" = ") || line == "# [[tasks]]";
        let all: String = TASK_SET
            .lines()
            .map(|line| if field(line) { line.replacen("# ", "", 1) } else { line.to_owned() } + "\n")
            .collect();
        let set = TaskSet::from_toml(&all, "x").unwrap_or_else(|error| panic!("{error}\n{all}"));
        assert_eq!(set.tasks().len(), 6);
    }
}
