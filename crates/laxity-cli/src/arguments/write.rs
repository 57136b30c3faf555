//! Where a task set with its places goes.

use crate::{output, within};
use clap::Args;
use laxity_model::{
    Diagnostic, Existing, Result, STANDARD, ShownPath as _, TaskSet, check_writable, write_file,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// `--write FILE`.
#[derive(Args)]
pub struct WriteArguments {
    /// Write the task set with the places of its tasks to this file; -: to standard output
    ///
    /// As `affinity`; `settings` also writes priorities. Other commands keep to them. Comments of the file are not kept.
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub write: Option<PathBuf>,
    /// Replace what is there already
    #[arg(help_heading = "Output", long)]
    pub force: bool,
}

impl WriteArguments {
    /// Whether the task set is all that goes to standard output.
    fn to_standard_output(&self) -> bool {
        self.write.as_deref() == Some(Path::new(STANDARD))
    }

    /// Writes an answer to standard output, as JSON or as text; not where the task set is all that goes there.
    pub fn answer(&self, json: bool, answer: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        if self.to_standard_output() { Ok(()) } else { output::answer(json, answer, text) }
    }

    /// Refuses what cannot be written before anything is worked out.
    pub fn check(&self, json: bool) -> Result<()> {
        let Some(path) = &self.write else { return Ok(()) };
        if json && self.to_standard_output() {
            return Err(Diagnostic::usage("--write - and --json both want standard output")
                .hint("write the task set to a file"));
        }
        if within::is_in_memory(path) {
            return Ok(());
        }
        check_writable(path, Existing::forced(self.force))
    }

    /// Writes the task set there, if it is asked for: as JSON where the file's name ends in .json.
    pub fn write(&self, set: impl FnOnce() -> Result<TaskSet>) -> Result<()> {
        let Some(path) = &self.write else { return Ok(()) };
        let json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let set = set()?;
        if within::is_in_memory(path) {
            within::takes_set(set);
            return Ok(());
        }
        let text = if json { set.to_json() } else { set.to_toml() };
        write_file(path, text.as_bytes(), Existing::forced(self.force))?;
        if !self.to_standard_output() {
            output::note(format_args!("wrote {}", path.shown()));
        }
        Ok(())
    }
}
