//! Overheads in a results directory.

use laxity_model::{Diagnostic, OutputDirectory, Result, ShownPath as _, json_in_plain_words};
use laxity_overheads::{Class, Groups, Row, SamplesFile, Summary, Which, overheads_csv};
use laxity_trace::Kept;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Where overheads are in a results directory.
pub const OVERHEADS_DIRECTORY: &str = "overheads";

/// The overheads of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunOverheads {
    /// Number of the run.
    pub run: u32,
    /// Its scheduler.
    pub scheduler: String,
    /// Name of the task set.
    pub set: String,
    /// Its real-time tasks.
    pub tasks: u32,
    /// CPUs that it could use.
    pub cpus: u32,
    /// The class of its threads: `deadline`, `fixed-priority` or `ext`.
    pub class: String,
    /// What was recorded, of all classes.
    pub recorded: Summary,
}

/// The file of samples of a run.
pub fn samples_path(directory: &Path, run: u32) -> PathBuf {
    directory.join(OVERHEADS_DIRECTORY).join(samples_name(run))
}

fn samples_name(run: u32) -> String {
    format!("run-{run}.parquet")
}

/// The same, to be written.
///
/// # Errors
///
/// Those of [`OutputDirectory::subdirectory`].
pub fn samples_file(directory: &Path, run: u32) -> Result<SamplesFile> {
    let directory = OutputDirectory::open(directory)?.subdirectory(OVERHEADS_DIRECTORY)?;
    Ok(SamplesFile { directory, name: samples_name(run) })
}

/// Writes what was recorded of a run; its samples are written already.
pub fn keep(directory: &Path, overheads: &RunOverheads) -> Result<()> {
    let text = serde_json::to_string_pretty(overheads).expect("serializes") + "\n";
    let folder = OutputDirectory::open(directory)?.subdirectory(OVERHEADS_DIRECTORY)?;
    folder.write(&format!("run-{}.json", overheads.run), text.as_bytes())
}

/// Overheads of all runs in a results directory, by number of the run.
pub fn read(directory: &Path) -> Result<Vec<RunOverheads>> {
    let kept = Kept::of(directory)?;
    let mut all = Vec::new();
    for path in files(&directory.join(OVERHEADS_DIRECTORY))? {
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let Some(name) = path.file_name().and_then(OsStr::to_str) else { continue };
        let Some(text) = kept.read(&format!("{OVERHEADS_DIRECTORY}/{name}"))? else { continue };
        let unreadable = |error: &serde_json::Error| {
            Diagnostic::usage(format!("{}: {}", path.shown(), json_in_plain_words(error)))
                .hint("is it a file that laxity has written?")
        };
        let overheads: RunOverheads = serde_json::from_slice(&text).map_err(|error| unreadable(&error))?;
        all.push(overheads);
    }
    all.sort_by_key(|overheads| overheads.run);
    Ok(all)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(laxity_model::cannot_write(folder, &error)),
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// Writes the CSV files of one scheduler, a row per number of tasks: what `--costs` takes. `summary` says what could not be
/// measured.
pub fn write_costs(
    folder: &OutputDirectory,
    scheduler: &str,
    class: Class,
    by_tasks: &[(u32, &Groups)],
    summary: &Summary,
) -> Result<()> {
    let rows: Vec<Row> = by_tasks.iter().map(|(tasks, groups)| Row::of(*tasks, groups, class)).collect();
    let stem = scheduler.replace([':', '/'], "-");
    for (which, ending) in [(Which::Mean, "mean"), (Which::Max, "max")] {
        let text = overheads_csv(&rows, which, |kind| summary.absent(kind));
        folder.write(&format!("{stem}-{ending}.csv"), text.as_bytes())?;
    }
    Ok(())
}

/// The files of a results directory that `--costs` takes.
pub fn costs_files(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory.join(OVERHEADS_DIRECTORY)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|e| e == "csv")).collect();
    files.sort();
    files
}
