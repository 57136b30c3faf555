//! The results directory: `manifest.json`, the jobs of all runs in `jobs.parquet`, and the events of those runs that
//! recorded them in `events/`
//! (what a real kernel was at meanwhile in `activities/`).
//!
//! A Parquet file cannot be appended to, so while runs are being made each finished run is one file of its own,
//! `jobs.parts/run-N.parquet`, which also carries the run's record of the manifest. [`ResultsDirectory::finish`]
//! merges them into `jobs.parquet`.
//!
//! 1. When [`ResultsDirectory::append_run`] returns, the run survives a kill, a crash and a full disk.
//! 2. Every file appears whole or not at all. [`load`] reads the directory in every state that a crash can
//!    leave: a part, where there is one, has the last word over `jobs.parquet` and the manifest.
//! 3. Nothing but laxity's own files is ever removed.
//! 4. What is finished has a sum (`kept.rs`), and so has each part (`part_sums.rs`): what is not as it was written is refused.
//! 5. One process at a time writes to a directory. Results that replace others do so as a whole (`replacement.rs`).

mod activities;
mod atomic_file;
mod events;
mod jobs;
mod kept;
mod load;
mod part_sums;
mod replacement;
mod rows;
mod sums;

pub use activities::write_activities;
pub use events::{EventsFile, create_events, events_path, open_events, runs_with_events};
pub use jobs::{EndedJobsFile, JobsFile, create_jobs};
pub use kept::{Kept, SUMS_FILE};
pub use load::{Digested, load, load_digested, load_manifest};

use crate::{
    BackgroundRecord, JobsReader, JobsWriter, Manifest, RESULTS_VERSION, Run, RunColumns, RunStatus,
};
use atomic_file::{io_error, remove_half_written, sync_directory, write_atomically};
use laxity_model::{
    Diagnostic, DirectoryLock, Existing, OutputDirectory, Result, ShownPath as _, cannot_write, is_begun,
};
use load::{Part, parts_of, place};
use parquet::errors::ParquetError;
use part_sums::PartSums;
use replacement::Replacement;
pub use replacement::{DEPLOY_ENDINGS, DEPLOY_FOLDERS};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use sums::Sum;

/// Name of the manifest.
pub const MANIFEST_FILE: &str = "manifest.json";
/// Name of the table of jobs.
pub const JOBS_FILE: &str = "jobs.parquet";
/// Name of the directory of events.
pub const EVENTS_DIRECTORY: &str = "events";
/// Name of the directory of activities.
pub const ACTIVITIES_DIRECTORY: &str = "activities";
/// Name of the directory of runs that are not merged yet.
const PARTS: &str = "jobs.parts";
/// Key of the run's record among the metadata of its part.
const RUN_KEY: &str = "laxity.run";
/// Key of how the run's background tasks fared, if it had some.
const BACKGROUND_KEY: &str = "laxity.background";
/// Why a run that is still to come has no jobs.
const PENDING: &str = "laxity stopped before this run was made";

/// A results directory being written.
#[derive(Debug)]
pub struct ResultsDirectory {
    path: PathBuf,
    /// Where it goes in the end, if that is the place of earlier results.
    replacement: Option<Replacement>,
    lock: DirectoryLock,
    manifest: Manifest,
    written: usize,
}

/// Results that are complete. As long as this is there, no other process writes to their directory.
#[derive(Debug)]
pub struct FinishedResults {
    path: PathBuf,
    _lock: DirectoryLock,
}

impl FinishedResults {
    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl ResultsDirectory {
    /// Creates the directory and writes the manifest, with every planned run marked as not made. Earlier results that are to
    /// be replaced stay where they are until [`ResultsDirectory::finish`]; until then the new ones grow beside them.
    ///
    /// Errors: a file, or a directory that is not empty (with [`Existing::Replace`]: that is not empty and holds
    /// no results); another laxity writes there; whatever the file system refuses.
    pub fn create(path: impl Into<PathBuf>, mut manifest: Manifest, existing: Existing) -> Result<Self> {
        let path = path.into();
        let cannot = |error: &io::Error| {
            cannot_write(&path, error)
                .of_environment()
                .hint("choose a directory that you may write to, on a disk with space, with `--out DIR`")
        };
        let has_results = has_results(&path, existing)?;
        fs::create_dir_all(&path).map_err(|error| cannot(&error))?;
        let (output, replacement) = match has_results {
            true => Replacement::begin(&path).map(|(draft, replacement)| (draft, Some(replacement)))?,
            false => (OutputDirectory::open(&path)?, None),
        };
        let lock = output.lock()?;
        let path = output.path().to_owned();
        for run in &mut manifest.runs {
            run.status = RunStatus::NotRun { reason: PENDING.to_owned() };
            run.jobs = Vec::new();
            run.job_count = None;
        }
        manifest.background.clear();
        manifest.version = RESULTS_VERSION;
        let directory = ResultsDirectory { path: path.clone(), replacement, lock, manifest, written: 0 };
        directory.write_manifest().map_err(|error| cannot(&error))?;
        fs::create_dir(path.join(PARTS)).map_err(|error| cannot(&error))?;
        sync_directory(&path).map_err(|error| cannot(&error))?;
        Ok(directory)
    }

    /// Opens a directory whose writer did not get to [`ResultsDirectory::finish`], to finish it or to add runs.
    /// That writer must be gone.
    ///
    /// Errors: a directory without results, or one that is already finished.
    pub fn reopen(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let kept = Kept::of(&path)?;
        let mut manifest = load::read_manifest(&kept)?;
        let lock = OutputDirectory::open(&path)?.lock()?;
        if !path.join(PARTS).is_dir() {
            return Err(Diagnostic::usage(format!("the results in {} are finished", path.shown()))
                .hint("give new runs a directory of their own with `--out DIR`"));
        }
        // What was merged is merged again: it must be what it was. From here on the sums are of files that change.
        drop(kept.open(JOBS_FILE)?);
        remove_half_written(&path, |name| [MANIFEST_FILE, JOBS_FILE, SUMS_FILE].contains(&name))
            .and_then(|()| remove_half_written(&path.join(PARTS), |name| part_number(name).is_some()))
            .and_then(|()| match path.join(EVENTS_DIRECTORY) {
                events if events.is_dir() => remove_half_written(&events, |name| part_number(name).is_some()),
                _ => Ok(()),
            })
            .and_then(|()| remove_sums(&path))
            .map_err(|error| cannot_write(&path, &error).of_environment())?;
        let parts = parts_of(&path)?;
        add_missing_sums(&path, &parts).map_err(|error| cannot_write(&path, &error).of_environment())?;
        let written = parts.len();
        parts.iter().for_each(|part| part.place(&mut manifest));
        Ok(ResultsDirectory { path, replacement: None, lock, manifest, written })
    }

    /// Where it is for now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The manifest with the runs written so far, without their jobs.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Makes a run and its jobs durable. A run of the same number is replaced, one that was not planned added.
    ///
    /// Errors: whatever the file system refuses (the runs before are kept); a number too large for its column.
    pub fn append_run(&mut self, run: &Run) -> Result<()> {
        let path = part_path(&self.path, run.id);
        let write = || {
            let mut jobs = JobsFile::begin(path.clone(), run, &task_names(&self.manifest, run.set))?;
            run.jobs.iter().try_for_each(|job| jobs.add(job))?;
            jobs.settle()
        };
        let jobs = write().map_err(|error| self.refused(&path, &error))?;
        self.append_written(run, jobs, None)
    }

    /// Makes a run durable whose jobs have been written already ([`create_jobs`]); it carries none itself. With how its background tasks
    /// fared, if it had some: their record has its number.
    ///
    /// Errors: as [`ResultsDirectory::append_run`].
    pub fn append_written(
        &mut self,
        run: &Run,
        jobs: EndedJobsFile,
        background: Option<&BackgroundRecord>,
    ) -> Result<()> {
        let record = Run { jobs: Vec::new(), job_count: Some(jobs.count()), ..run.clone() };
        let records = || -> serde_json::Result<Vec<(&str, String)>> {
            let mut records = vec![(RUN_KEY, serde_json::to_string(&record)?)];
            if let Some(background) = background {
                records.push((BACKGROUND_KEY, serde_json::to_string(background)?));
            }
            Ok(records)
        };
        let path = jobs.path().to_owned();
        let written = records().map_err(io::Error::from).and_then(|records| {
            // The sum comes before the name: a part is never without.
            jobs.publish(records, |sum| part_sums::append(&self.path, &part_name(run.id), sum))
        });
        written.map_err(|error| self.refused(&path, &error))?;
        place(&mut self.manifest, record, background.copied());
        self.written += 1;
        Ok(())
    }

    /// Merges the runs into `jobs.parquet`, writes the final manifest and the sums of what is kept, and puts the directory into the place
    /// of earlier results. Memory does not grow with the jobs. Gives where the results are, which are this process's to write to
    /// as long as it keeps that.
    ///
    /// Errors: whatever the file system refuses. Nothing is lost then: [`load`] reads the directory as it is,
    /// and [`ResultsDirectory::reopen`] and `finish` can be tried again.
    pub fn finish(self) -> Result<FinishedResults> {
        let parts = parts_of(&self.path)?;
        let jobs = self.path.join(JOBS_FILE);
        write_atomically(&jobs, |file| self.merge(&parts, file).map_err(io_error)?.flush())
            .map_err(|error| self.refused(&jobs, &error))?;
        self.write_manifest().map_err(|error| self.refused(&self.path.join(MANIFEST_FILE), &error))?;
        kept::write(&self.path).map_err(|error| self.refused(&self.path.join(SUMS_FILE), &error))?;
        let (merged, damaged): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(|part| part.run.is_ok());
        merged
            .iter()
            .try_for_each(|part| fs::remove_file(&part.path))
            .and_then(|()| match damaged.is_empty() {
                true => part_sums::remove(&self.path),
                // A damaged part stays to be looked at, and its sum says that it is damaged.
                false => Ok(()),
            })
            .and_then(|()| match fs::remove_dir(self.path.join(PARTS)) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
                other => other,
            })
            .map_err(|error| self.refused(&self.path.join(PARTS), &error))?;
        let path = match self.replacement {
            Some(replacement) => replacement.finish()?,
            None => self.path,
        };
        Ok(FinishedResults { path, _lock: self.lock })
    }

    /// The rows of an earlier `jobs.parquet` that no part replaces, then those of the parts, in run order.
    fn merge<'a>(
        &self,
        parts: &[Part],
        file: &'a mut File,
    ) -> parquet::errors::Result<BufWriter<&'a mut File>> {
        let runs = self.manifest.runs.iter();
        let columns = runs.map(|run| (run.id, RunColumns::new(run, &task_names(&self.manifest, run.set))));
        let columns: BTreeMap<u32, RunColumns> = columns.collect();
        let whole = || parts.iter().filter(|part| part.run.is_ok());
        let replaced: BTreeSet<u32> = whole().map(|part| part.id).collect();
        let mut writer = JobsWriter::new(BufWriter::new(file), &[])?;
        let none = BTreeSet::new();
        let mut copy = |source: &Path, left_out: &BTreeSet<u32>| {
            let source = File::open(source)?;
            if left_out.is_empty() && writer.copy(&source)? {
                return Ok(());
            }
            let reader = JobsReader::new(source)?;
            for group in 0..reader.groups() {
                let mut rows = Vec::new();
                reader.read_group(group, |run, job| rows.push((run, job)))?;
                for (run, job) in rows.iter().filter(|(run, _)| !left_out.contains(run)) {
                    if let Some(columns) = columns.get(run) {
                        writer.write(columns, job)?;
                    }
                }
            }
            Ok::<(), ParquetError>(())
        };
        let earlier = self.path.join(JOBS_FILE);
        if earlier.exists() {
            copy(&earlier, &replaced)?;
        }
        whole().try_for_each(|part| copy(&part.path, &none))?;
        writer.finish()
    }

    fn write_manifest(&self) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(&self.manifest)?;
        text.push(b'\n');
        write_atomically(&self.path.join(MANIFEST_FILE), |file| file.write_all(&text))
    }

    fn refused(&self, path: &Path, error: &io::Error) -> Diagnostic {
        let kept = match self.written {
            0 => "no run was finished before".to_owned(),
            1 => format!("the run finished before is kept in {}", self.path.shown()),
            n => format!("the {n} runs finished before are kept in {}", self.path.shown()),
        };
        let remedy = if error.raw_os_error().is_some() { "make room or give the permission; " } else { "" };
        let otherwise = match self.written {
            0 => "`--out DIR` chooses another place".to_owned(),
            _ => format!("`laxity report {}` shows what was kept", self.path.shown()),
        };
        let mut refused = cannot_write(path, error).of_environment().hint(format!("{remedy}{otherwise}"));
        refused.message = format!("{}; {kept}", refused.message);
        refused
    }
}

fn part_path(directory: &Path, run: u32) -> PathBuf {
    directory.join(PARTS).join(part_name(run))
}

/// The name of a run's file among those of other runs.
fn part_name(run: u32) -> String {
    format!("run-{run}.parquet")
}

/// Removes the sums of results that are to change.
fn remove_sums(directory: &Path) -> io::Result<()> {
    match fs::remove_file(directory.join(SUMS_FILE)) {
        Ok(()) => sync_directory(directory),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Parts of an earlier version have no sums; they get some before others are written beside them.
fn add_missing_sums(directory: &Path, parts: &[Part]) -> io::Result<()> {
    if !PartSums::of(directory)?.are_missing() {
        return Ok(());
    }
    parts.iter().try_for_each(|part| {
        let sum = Sum::of(&mut File::open(&part.path)?)?;
        part_sums::append(directory, &part_name(part.id), sum)
    })
}

/// The run whose part has this file name.
fn part_number(name: &str) -> Option<u32> {
    let run = name.strip_prefix("run-")?.strip_suffix(".parquet")?.parse().ok()?;
    // One name for each run: not `run-007`.
    (part_name(run) == name).then_some(run)
}

/// The names of the tasks of a set, read from its JSON.
fn task_names(manifest: &Manifest, set: u32) -> Vec<String> {
    let set = usize::try_from(set).ok().and_then(|set| manifest.task_sets.get(set));
    let tasks = set.and_then(|set| set.get("tasks")).and_then(Value::as_array);
    let name = |(id, task): (usize, &Value)| match task.get("name").and_then(Value::as_str) {
        Some(name) => name.to_owned(),
        None => format!("T{}", id + 1),
    };
    tasks.map(|tasks| tasks.iter().enumerate().map(name).collect()).unwrap_or_default()
}

/// Whether there are results that are to be replaced; refuses what may not be written to.
fn has_results(path: &Path, existing: Existing) -> Result<bool> {
    match is_begun(path, MANIFEST_FILE, "results")? {
        true if existing != Existing::Replace => {
            Err(Diagnostic::usage(format!("the directory {} already holds results", path.shown()))
                .hint("choose another directory with `--out DIR`, or replace them with `--force`"))
        }
        has_results => Ok(has_results),
    }
}
