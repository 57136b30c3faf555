//! `laxity study FILE --slurm`: the study as jobs of Slurm.

use super::changes::ChangesArguments;
use crate::commands::vm::own_file;
use crate::{interrupt, output, shipped};
use laxity_lab::study::PAGE_FILE;
use laxity_model::{Diagnostic, OutputDirectory, Result, STANDARD, ShownPath as _, plural, shell_word};
use laxity_study::{Journal, Points, Study, next_round, time_estimate};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The folder of the script and of what its jobs say, in the study's directory.
const FOLDER: &str = "slurm";
/// How many shards there are.
const SHARDS: &str = "shards";
/// The script.
const SCRIPT: &str = "submit";
/// How long sets are judged for the estimate.
const LOOK: Duration = Duration::from_secs(5);
/// Elements of an array: what Slurm takes where its administrator has not said otherwise (MaxArraySize 1001).
const ELEMENTS_MOST: u32 = 1_000;
/// An element may take so many times as long as it is estimated to take, before Slurm ends it; what it has is kept.
const PATIENCE: u64 = 6;

/// The version of this format (`schemas/study-slurm.schema.json`).
const VERSION: u32 = 1;

/// What `laxity study FILE --slurm --json` prints.
#[derive(Serialize, JsonSchema)]
pub struct JobAnswer {
    /// Version of this format.
    version: u32,
    /// The script: `sh SCRIPT` submits the jobs.
    script: String,
    /// Elements of its array, which are the study's shards.
    shards: u32,
    /// How long one CPU takes for all shards, as estimated from a few sets, in s; null if it takes none.
    estimated_cpu_s: Option<f64>,
}

/// Writes the script.
pub fn write_job(
    study: &Study,
    (file, changes, directory): (&Path, &ChangesArguments, &Path),
    minutes: u64,
    json: bool,
) -> Result<ExitCode> {
    if file == Path::new(STANDARD) {
        return Err(Diagnostic::usage("a study from standard input cannot be read again by jobs")
            .hint("write it to a file that all nodes see, and name that"));
    }
    Journal::begin(directory, &study.description())?;
    let known = Journal::points(directory, &study.description(), |_, tally| study.is_whole(tally))?;
    let interrupt = interrupt::flag()?;
    let time = time_estimate(study, &known, LOOK, interrupt)?;
    let shards = elements(study, &known, time, minutes);
    let folder = OutputDirectory::create(&directory.join(FOLDER))?;
    let jobs = Jobs {
        program: absolute(&own_file()?)?,
        file: absolute(&shipped::located(file))?,
        directory: absolute(directory)?,
        changes: changes.words(),
        name: &study.outline.name,
        minutes,
    };
    let script = directory.join(FOLDER).join(SCRIPT);
    folder.write(SHARDS, format!("{shards}\n").as_bytes())?;
    // Lines that its cluster wants may be in it.
    if !script.exists() {
        folder.write(SCRIPT, jobs.script().as_bytes())?;
    }
    if json {
        let script = script.to_string_lossy().into_owned();
        let estimated_cpu_s = time.map(|time| time.as_secs_f64());
        output::print_json(&JobAnswer { version: VERSION, script, shards, estimated_cpu_s })?;
        return Ok(ExitCode::SUCCESS);
    }
    let estimated = time.map_or_else(String::new, |time| {
        format!(
            ", about {:.1} min of one CPU in all, estimated here from a few sets",
            time.as_secs_f64() / 60.0
        )
    });
    output::print(&format!("{}: {}{estimated}\n", script.shown(), plural(shards, "shard")))?;
    output::note(format_args!("on the cluster, where this path is the same: sh {}", script.shown()));
    Ok(ExitCode::SUCCESS)
}

/// How many elements take about so many minutes each.
fn elements(study: &Study, known: &Points, time: Option<Duration>, minutes: u64) -> u32 {
    let sets = next_round(study, known).len() as u64 * study.outline.sets;
    let wanted = time.map_or(1, |time| time.as_secs().div_ceil(minutes * 60));
    let most = sets.min(u64::from(ELEMENTS_MOST));
    u32::try_from(wanted.min(most).max(1)).unwrap_or(ELEMENTS_MOST)
}

fn absolute(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|error| Diagnostic::usage(format!("{}: {error}", path.shown())))
}

/// What the script says.
struct Jobs<'a> {
    program: PathBuf,
    file: PathBuf,
    directory: PathBuf,
    /// Of the study's file, as options.
    changes: String,
    name: &'a str,
    minutes: u64,
}

impl Jobs<'_> {
    fn script(&self) -> String {
        let word = |path: &Path| shell_word(&path.to_string_lossy()).into_owned();
        let fields = [
            ("@VERSION@", shipped::VERSION.to_owned()),
            ("@NAME@", plain(self.name)),
            ("@MINUTES@", self.minutes.to_string()),
            ("@LIMIT@", (self.minutes * PATIENCE).to_string()),
            ("@PROGRAM@", word(&self.program)),
            ("@FILE@", word(&self.file)),
            ("@OUT@", word(&self.directory)),
            ("@CHANGES@", self.changes.clone()),
            ("@PAGE@", PAGE_FILE.to_owned()),
        ];
        let template = include_str!("submit.sh").to_owned();
        fields.into_iter().fold(template, |text, (field, value)| text.replace(field, &value))
    }
}

/// A name without what Slurm gives a meaning in names of files.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}

/// The JSON Schema of [`JobAnswer`]; published as `schemas/study-slurm.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<JobAnswer>("study-slurm", "laxity study as jobs of Slurm", VERSION)
}
