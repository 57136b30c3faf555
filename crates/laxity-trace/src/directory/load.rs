//! Reads a results directory, finished or not.

use super::atomic_file::diagnostic;
use super::kept::Kept;
use super::part_sums::PartSums;
use super::rows::Rows;
use super::{BACKGROUND_KEY, JOBS_FILE, MANIFEST_FILE, PARTS, RUN_KEY, part_name, part_number};
use crate::damage::damaged;
use crate::metrics::of_another_set;
use crate::{
    BackgroundRecord, Job, JobsReader, Manifest, RESULTS_VERSION, Results, Run, RunDigest, RunStatus,
    UnknownTask,
};
use laxity_model::{Diagnostic, Result, ShownPath as _, TaskSet, json_in_plain_words};
use parquet::errors::ParquetError;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What the metadata of a part says.
pub(super) struct Record {
    run: Run,
    background: Option<BackgroundRecord>,
}

/// A run that is not merged yet: its record without jobs, or why its part cannot be read.
pub(super) struct Part {
    pub(super) id: u32,
    pub(super) path: PathBuf,
    pub(super) run: std::result::Result<Record, String>,
}

impl Part {
    fn open(id: u32, path: PathBuf, sums: &PartSums) -> Part {
        let record = || -> parquet::errors::Result<Record> {
            let reader = JobsReader::new(sums.open(&path, &part_name(id))?)?;
            let missing = || ParquetError::General(format!("no `{RUN_KEY}` in its metadata"));
            let record = reader.metadata(RUN_KEY).ok_or_else(missing)?;
            let external = |error: serde_json::Error| ParquetError::External(error.into());
            let run: Run = serde_json::from_str(record).map_err(external)?;
            if run.id != id {
                return Err(ParquetError::General(format!("it holds run {}", run.id)));
            }
            let background =
                reader.metadata(BACKGROUND_KEY).map(serde_json::from_str).transpose().map_err(external)?;
            Ok(Record { run, background })
        };
        let run = record().map_err(|error| lost(&path, &error));
        Part { id, path, run }
    }

    /// Gathers the jobs of the run. If they cannot be read, the part counts as damaged from now on.
    fn gather(&mut self, of_run: &mut OfRun) -> Result<()> {
        let Ok(Record { run, .. }) = &self.run else { return Ok(()) };
        let mut refused = Ok(());
        let mut read = || -> parquet::errors::Result<()> {
            let reader = JobsReader::new(File::open(&self.path)?)?;
            let mut other = None;
            for group in 0..reader.groups() {
                reader.read_group(group, |run, job| match run == self.id {
                    true if refused.is_ok() => refused = of_run.add(job),
                    true => {}
                    false => other = other.or(Some(run)),
                })?;
            }
            match other {
                Some(other) => Err(damaged(format!("it has jobs of run {other}"))),
                None => of_run.rows.check(run).map_err(damaged),
            }
        };
        if let Err(error) = read() {
            self.run = Err(lost(&self.path, &error));
        }
        refused.map_err(|unknown| match (&self.run, &of_run.digest) {
            (Ok(Record { run, .. }), Some((set, _))) => of_another_set(run, set, unknown),
            _ => Diagnostic::usage(format!("{}: {unknown}", self.path.shown())),
        })
    }

    /// Puts the run into the manifest, in the place of its plan. A damaged part leaves the plan and says why
    /// there are no jobs.
    pub(super) fn place(&self, manifest: &mut Manifest) {
        match &self.run {
            Ok(Record { run, background }) => place(manifest, run.clone(), *background),
            Err(reason) => {
                if let Some(planned) = manifest.runs.iter_mut().find(|planned| planned.id == self.id) {
                    planned.status = RunStatus::NotRun { reason: reason.clone() };
                }
            }
        }
    }
}

fn lost(path: &Path, error: &ParquetError) -> String {
    format!("its jobs are lost: {} is damaged ({error})", path.shown())
}

/// Puts a run into the manifest, in the place of its plan or at the end, with how its background tasks fared.
pub(super) fn place(manifest: &mut Manifest, run: Run, background: Option<BackgroundRecord>) {
    manifest.background.retain(|record| record.run != run.id);
    manifest.background.extend(background);
    manifest.background.sort_by_key(|record| record.run);
    match manifest.runs.iter_mut().find(|planned| planned.id == run.id) {
        Some(planned) => *planned = run,
        None => manifest.runs.push(run),
    }
}

/// The parts that are there, in run order; none if the results are finished.
pub(super) fn parts_of(directory: &Path) -> Result<Vec<Part>> {
    let path = directory.join(PARTS);
    let unreadable = |error: io::Error| diagnostic("read", &path, &error, "");
    let entries = match fs::read_dir(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut found = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        let number = path.file_name().and_then(|name| part_number(name.to_str()?));
        found.extend(number.map(|id| (id, path.clone())));
    }
    let sums = PartSums::of(directory).map_err(unreadable)?;
    Ok(found.into_iter().map(|(id, path)| Part::open(id, path, &sums)).collect())
}

/// Reads the manifest and checks its version.
pub(super) fn read_manifest(kept: &Kept) -> Result<Manifest> {
    let directory = kept.directory();
    let path = kept.path(MANIFEST_FILE);
    let none = || {
        let why = match directory.exists() {
            true => format!("is not a results directory: it has no {MANIFEST_FILE}"),
            false => "is not a results directory: it does not exist".to_owned(),
        };
        Diagnostic::usage(format!("{} {why}", directory.shown()))
        .hint(
            "name a directory that `laxity run`, `laxity compare` or `laxity simulate --out DIR` wrote; schedules to \
             verify or to look at are kept by `laxity simulate SET --events --out DIR`",
        )
    };
    let text = if directory.is_file() { None } else { kept.read(MANIFEST_FILE)? };
    let text = text.ok_or_else(none)?;
    let bad = |why: String| {
        Diagnostic::usage(format!("{} {why}", path.shown()))
            .hint("use a manifest as laxity wrote it; run the command again if there is none")
    };
    let document: Value = serde_json::from_slice(&text)
        .map_err(|error| bad(format!("is not JSON: {}", json_in_plain_words(&error))))?;
    if let Some(kind) = document.get("kind").and_then(Value::as_str) {
        return Err(of_a_study(directory, kind));
    }
    match document.get("version").and_then(Value::as_u64) {
        Some(version) if version == u64::from(RESULTS_VERSION) => {}
        Some(version) => {
            return Err(bad(format!("has version {version}; this laxity reads version {RESULTS_VERSION}")));
        }
        None => return Err(bad("has no version".to_owned())),
    }
    serde_json::from_value(document)
        .map_err(|error| bad(format!("is not a manifest of results: {}", json_in_plain_words(&error))))
}

/// Studies have manifests of their own, which say what kind of study it is.
fn of_a_study(directory: &Path, kind: &str) -> Diagnostic {
    let shown = directory.shown();
    Diagnostic::usage(format!("{shown} is the directory of a study ({kind}), not of results")).hint(format!(
        "`laxity study FILE --out {shown}` with the study's file makes its tables and its page again, from the points that it \
         keeps; `laxity report` takes the directory of one experiment",
    ))
}

/// What a results directory amounts to, whatever the number of its jobs.
#[derive(Debug)]
pub struct Digested {
    /// The manifest. Its runs carry their jobs if any was measured.
    pub results: Results,
    /// What there is of the jobs, by number of the run.
    pub digests: BTreeMap<u32, RunDigest>,
    /// How many jobs all runs have.
    pub jobs: usize,
}

/// Reads a results directory, whether its writer finished it or was stopped at any point.
///
/// Runs that were not made, or whose part is damaged, come back as [`RunStatus::NotRun`] with the reason.
///
/// Errors: no manifest, or one of another version; a file that differs from its sum or is damaged otherwise; jobs that
/// contradict themselves or the manifest.
pub fn load(path: impl AsRef<Path>) -> Result<Results> {
    read(path.as_ref(), |_| Ok(Wanted { jobs: true, sets: None })).map(|digested| digested.results)
}

/// The same with what a report needs of the jobs. Where nothing was measured, memory does not grow with the jobs.
///
/// Errors: as [`load`]; a task set of the manifest that is not valid; a run of a set, or a job of a task, that is not there.
pub fn load_digested(path: impl AsRef<Path>) -> Result<Digested> {
    read(path.as_ref(), |manifest| {
        Ok(Wanted { jobs: !manifest.is_simulated(), sets: Some(manifest.sets()?) })
    })
}

/// What is to be known of the jobs.
struct Wanted {
    jobs: bool,
    /// The task sets by which digests are made, if they are.
    sets: Option<Vec<TaskSet>>,
}

impl Wanted {
    fn of(&self, run: &Run) -> OfRun<'_> {
        let set = || self.sets.as_ref()?.get(usize::try_from(run.set).ok()?);
        OfRun {
            jobs: self.jobs.then(Vec::new),
            digest: set().map(|set| (set, RunDigest::new(set, run.horizon().as_ns()))),
            rows: Rows::default(),
        }
    }
}

/// What is gathered of a run.
struct OfRun<'a> {
    jobs: Option<Vec<Job>>,
    digest: Option<(&'a TaskSet, RunDigest)>,
    rows: Rows,
}

impl OfRun<'_> {
    fn add(&mut self, job: Job) -> std::result::Result<(), UnknownTask> {
        self.rows.add(&job);
        if let Some((_, digest)) = &mut self.digest {
            digest.add(&job)?;
        }
        if let Some(jobs) = &mut self.jobs {
            jobs.push(job);
        }
        Ok(())
    }
}

fn read(directory: &Path, wanted: impl Fn(&Manifest) -> Result<Wanted>) -> Result<Digested> {
    let kept = Kept::of(directory)?;
    let mut results = read_manifest(&kept)?;
    let wanted = wanted(&results)?;
    let mut gathered = BTreeMap::new();
    let mut parts = parts_of(directory)?;
    for part in &mut parts {
        let Ok(Record { run, .. }) = &part.run else { continue };
        let mut of_run = wanted.of(run);
        part.gather(&mut of_run)?;
        if part.run.is_ok() {
            gathered.insert(part.id, of_run);
        }
    }
    let made = results.runs.iter().any(|run| !matches!(run.status, RunStatus::NotRun { .. }));
    parts.iter().for_each(|part| part.place(&mut results));
    merged_jobs(&kept, made, &results, &wanted, &mut gathered)?;
    let (mut digests, mut jobs) = (BTreeMap::new(), 0);
    for run in &mut results.runs {
        let of_run = gathered.remove(&run.id).unwrap_or_else(|| wanted.of(run));
        of_run.rows.check(run).map_err(|why| {
            Diagnostic::usage(format!("{} is damaged: {why}", kept.path(JOBS_FILE).shown()))
                .hint("use the file that was written together with the manifest, or make the runs again")
        })?;
        // From here on the jobs say it.
        run.job_count = None;
        jobs += of_run.rows.count();
        run.jobs = of_run.jobs.unwrap_or_default();
        digests.extend(of_run.digest.map(|(_, digest)| (run.id, digest)));
    }
    Ok(Digested { results, digests, jobs })
}

/// Reads the manifest of a results directory with the state of its runs, without their jobs.
///
/// Errors: no manifest, one of another version, or one that differs from its sum.
pub fn load_manifest(path: impl AsRef<Path>) -> Result<Manifest> {
    let directory = path.as_ref();
    let mut manifest = read_manifest(&Kept::of(directory)?)?;
    parts_of(directory)?.iter().for_each(|part| part.place(&mut manifest));
    Ok(manifest)
}

/// Gathers the jobs in `jobs.parquet`, but for those of runs that are there already. The file may be missing only where the manifest has
/// no run that was `made`.
fn merged_jobs<'a>(
    kept: &Kept,
    made: bool,
    manifest: &Manifest,
    wanted: &'a Wanted,
    gathered: &mut BTreeMap<u32, OfRun<'a>>,
) -> Result<()> {
    let path = kept.path(JOBS_FILE);
    let Some(file) = kept.open(JOBS_FILE)? else {
        return match made {
            false => Ok(()),
            true => Err(Diagnostic::usage(format!("{} is missing", path.shown()))
                .hint(format!("put it back next to {MANIFEST_FILE}, or make the runs again"))),
        };
    };
    let of_parts: BTreeSet<u32> = gathered.keys().copied().collect();
    let runs: BTreeMap<u32, &Run> = manifest.runs.iter().map(|run| (run.id, run)).collect();
    let mut refused = Ok(());
    let mut gather = |id: u32, job: Job| {
        if refused.is_err() || of_parts.contains(&id) {
            return;
        }
        refused = match runs.get(&id) {
            None => Err(Diagnostic::usage(format!(
                "{} has jobs of run {id}, which {MANIFEST_FILE} does not list",
                path.shown()
            ))
            .hint("the two files do not belong together; use the ones written together")),
            Some(run) => {
                let of_run = gathered.entry(id).or_insert_with(|| wanted.of(run));
                of_run.add(job).map_err(|unknown| {
                    let set = of_run.digest.as_ref().expect("only a digest refuses jobs").0;
                    of_another_set(run, set, unknown)
                })
            }
        };
    };
    let read = || -> parquet::errors::Result<()> {
        let reader = JobsReader::new(file)?;
        (0..reader.groups()).try_for_each(|group| reader.read_group(group, &mut gather))
    };
    read().map_err(|error| {
        Diagnostic::usage(format!("{} cannot be read: {error}", path.shown()))
            .hint("the file is damaged or was not written by this version of laxity; make the runs again")
    })?;
    refused
}
