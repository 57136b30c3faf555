//! One recording from beginning to end: what the command line calls.

use crate::recorder::{Recorder, Selection};
use crate::sample::{Class, Sample, Sampler};
use crate::samples_file::SamplesWriter;
use crate::statistics::Groups;
use crate::summary::Summary;
use crate::table_csv::{Row, Which, overheads_csv};
use laxity_kernel::rings::Record;
use laxity_model::{Diagnostic, Result};
use parquet::errors::ParquetError;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The samples of a results directory.
pub const OVERHEADS_FILE: &str = "overheads.parquet";
/// The summary of a recording.
pub const SUMMARY_FILE: &str = "overheads.json";
/// Means for soft real-time tests.
pub const MEAN_CSV: &str = "overheads-mean.csv";
/// Maxima for hard real-time tests.
pub const MAX_CSV: &str = "overheads-max.csv";

/// How to record.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is recorded.
    pub selection: Selection,
    /// Number of the run in the file of samples.
    pub run: u32,
    /// Whose overheads the CSV files have, and of how many tasks; nothing: no CSV files.
    pub csv: Option<(Class, u32)>,
    /// Of what is drawn where there are more samples than are kept.
    pub seed: u64,
    /// A directory for all files; nothing: none are written.
    pub out: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            selection: Selection { all_threads: false, run_times: true },
            run: 0,
            csv: None,
            seed: 1,
            out: None,
        }
    }
}

/// A recording: what is told of it, and the samples that are kept.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// What is told.
    pub summary: Summary,
    /// Samples by kind and class.
    pub groups: Groups,
}

/// Records until `stop`. `ready` is called once everything is attached and recording begins: attaching takes some 100 ms.
///
/// # Errors
///
/// Nothing can be attached (environment); a file cannot be written (usage).
pub fn record(options: &Options, stop: &AtomicBool, ready: impl FnOnce(&Recorder)) -> Result<Recorded> {
    record_with(options, Recorder::attach(options.selection)?, stop, ready, |_| ())
}

/// As [`record`], with a recorder that may share its rings with a policy's host ([`Recorder::attach_to`]); every record,
/// the host's events among them, is handed to `each` too.
///
/// # Errors
///
/// A file cannot be written (usage).
pub fn record_with(
    options: &Options,
    mut recorder: Recorder,
    stop: &AtomicBool,
    ready: impl FnOnce(&Recorder),
    mut each: impl FnMut(&Record),
) -> Result<Recorded> {
    let mut file = options.out.as_deref().map(samples_file).transpose()?;
    let empty = recorder.empty_samples();
    let mut groups = Groups::new(options.seed);
    let mut sampler = Sampler::default();
    let mut failed: Option<ParquetError> = None;
    let mut keep = |sample: Sample| {
        groups.add(&sample);
        if let Some(file) = file.as_mut().filter(|_| failed.is_none()) {
            failed = file.write(options.run, &sample).err();
        }
    };
    ready(&recorder);
    let begin = Instant::now();
    let recording = recorder.record(stop, |record| {
        sampler.take(record, &mut keep);
        each(record);
    });
    let duration_ns = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let summary = Summary::of(&groups, recording, recorder.missing(), &empty, duration_ns);
    if let (Some(out), Some(file)) = (&options.out, file) {
        let finished = failed.map_or_else(|| file.finish().map(drop), Err);
        finished.map_err(|error| cannot_write(&out.join(OVERHEADS_FILE), &error))?;
        write_texts(options, out, &summary, &groups)?;
    }
    Ok(Recorded { summary, groups })
}

fn samples_file(out: &Path) -> Result<SamplesWriter<BufWriter<File>>> {
    fs::create_dir_all(out).map_err(|error| cannot_write(out, &error))?;
    let path = out.join(OVERHEADS_FILE);
    let file = File::create(&path).map_err(|error| cannot_write(&path, &error))?;
    SamplesWriter::new(BufWriter::new(file)).map_err(|error| cannot_write(&path, &error))
}

fn write_texts(options: &Options, out: &Path, summary: &Summary, groups: &Groups) -> Result<()> {
    let write = |name: &str, text: String| {
        let path = out.join(name);
        fs::write(&path, text).map_err(|error| cannot_write(&path, &error))
    };
    write(SUMMARY_FILE, serde_json::to_string_pretty(summary).expect("serializes") + "\n")?;
    let Some((class, tasks)) = options.csv else { return Ok(()) };
    let csv = |row, which| overheads_csv(&[row], which, |kind| summary.absent(kind));
    write(MEAN_CSV, csv(Row::of(tasks, groups, class), Which::Mean))?;
    write(MAX_CSV, csv(Row::of(tasks, groups, class), Which::Max))
}

fn cannot_write(path: &Path, error: &impl std::fmt::Display) -> Diagnostic {
    Diagnostic::usage(format!("{} cannot be written: {error}", path.display()))
        .hint("choose a directory that can be written")
}
