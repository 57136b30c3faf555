//! One recording from beginning to end.

use crate::recorder::Recorder;
use crate::sample::{Sample, Sampler};
use crate::samples_file::SamplesWriter;
use crate::statistics::Groups;
use crate::summary::Summary;
use laxity_kernel::rings::Record;
use laxity_model::{Diagnostic, Result};
use parquet::errors::ParquetError;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// How to record.
#[derive(Debug, Clone)]
pub struct Options {
    /// Number of the run in the file of samples.
    pub run: u32,
    /// Of what is drawn where there are more samples than are kept.
    pub seed: u64,
    /// A file for all samples; nothing: they are not written.
    pub samples: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options { run: 0, seed: 1, samples: None }
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

/// Records until `stop`. `ready` is called once recording begins; every record is handed to `each` too, events of a policy's
/// host among them where the recorder shares its rings ([`Recorder::attach_to`]).
///
/// # Errors
///
/// A file cannot be written (usage).
pub fn record(
    options: &Options,
    recorder: &mut Recorder,
    stop: &AtomicBool,
    ready: impl FnOnce(),
    mut each: impl FnMut(&Record),
) -> Result<Recorded> {
    let mut file = options.samples.as_deref().map(samples_file).transpose()?;
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
    ready();
    let begin = Instant::now();
    let recording = recorder.record(stop, |record| {
        sampler.take(record, &mut keep);
        each(record);
    });
    let duration_ns = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let missing = [recorder.missing(), &recording.missing].concat();
    let summary = Summary::of(&groups, recording, missing, &empty, duration_ns);
    if let (Some(path), Some(file)) = (&options.samples, file) {
        let finished = failed.map_or_else(|| file.finish().map(drop), Err);
        finished.map_err(|error| cannot_write(path, &error))?;
    }
    Ok(Recorded { summary, groups })
}

fn samples_file(path: &Path) -> Result<SamplesWriter<BufWriter<File>>> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    }
    let file = File::create(path).map_err(|error| cannot_write(path, &error))?;
    SamplesWriter::new(BufWriter::new(file)).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &impl std::fmt::Display) -> Diagnostic {
    Diagnostic::usage(format!("{} cannot be written: {error}", path.display()))
        .hint("choose a directory that can be written")
}
