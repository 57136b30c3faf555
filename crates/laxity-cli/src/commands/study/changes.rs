//! A study's file, with what the command line changes of it, and the directory of its results.

use crate::arguments::whole;
use crate::{shipped, within};
use clap::Args;
use laxity_model::{Diagnostic, Names, Result, STANDARD, ShownPath as _};
use laxity_study::{Changes, Study};
use std::path::{Path, PathBuf};

/// What is changed of a study's file.
#[derive(Args)]
pub struct ChangesArguments {
    /// Task sets at every point, instead of those that the file says
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u64>(1..=1_000_000))]
    pub sets: Option<u64>,
    /// Seed of everything random, instead of the file's
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: Option<u64>,
}

impl ChangesArguments {
    /// The study of a file, with these changes.
    pub fn read(&self, file: &Path) -> Result<Study> {
        read(file, Changes { sets: self.sets, seed: self.seed })
    }

    /// As they are given on the command line, each with a space before it.
    pub fn words(&self) -> String {
        let word = |name: &str, value: Option<u64>| value.map(|value| format!(" --{name} {value}"));
        word("sets", self.sets).into_iter().chain(word("seed", self.seed)).collect()
    }
}

/// The directory of a study.
pub fn directory_of(study: &Study, out: Option<&Path>) -> PathBuf {
    out.map_or_else(|| Path::new("laxity-results").join(&study.outline.name), Path::to_owned)
}

/// A word that is no file may be meant for another study.
fn read(file: &Path, changes: Changes) -> Result<Study> {
    let is_word = file.extension().is_none() && file.components().count() == 1;
    if is_word && !file.exists() && file != Path::new(STANDARD) {
        let word = file.to_string_lossy();
        let names = Names::of("study", &["merge", "overheads", "schedules"]);
        return Err(Diagnostic::usage(format!("{}: neither a file nor a study", file.shown()))
            .hint(format!("{}, or name a study's file", names.hint(&word))));
    }
    Study::read_with(&shipped::located(file), changes, &within::own())
}
