//! One recording from beginning to end.

use crate::recorder::Recorder;
use crate::sample::{Sample, Sampler};
use crate::samples_file::SamplesWriter;
use crate::statistics::Groups;
use crate::summary::Summary;
use laxity_kernel::rings::Record;
use laxity_model::{Draft, OutputDirectory, Result, cannot_write};
use parquet::errors::ParquetError;
use std::io::{self, BufWriter};
use std::path::PathBuf;
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
    pub samples: Option<SamplesFile>,
}

impl Default for Options {
    fn default() -> Self {
        Options { run: 0, seed: 1, samples: None }
    }
}

/// Where samples are written.
#[derive(Debug, Clone)]
pub struct SamplesFile {
    /// The directory.
    pub directory: OutputDirectory,
    /// The file in it.
    pub name: String,
}

impl SamplesFile {
    fn path(&self) -> PathBuf {
        self.directory.path().join(&self.name)
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
    let mut file = options.samples.as_ref().map(samples_file).transpose()?;
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
    if let (Some(samples), Some(file)) = (&options.samples, file) {
        let finished = failed.map_or_else(|| publish(file), |error| Err(io::Error::other(error)));
        finished.map_err(|error| cannot_write(&samples.path(), &error))?;
    }
    Ok(Recorded { summary, groups })
}

fn samples_file(samples: &SamplesFile) -> Result<SamplesWriter<BufWriter<Draft>>> {
    let draft =
        samples.directory.draft(&samples.name).map_err(|error| cannot_write(&samples.path(), &error))?;
    SamplesWriter::new(BufWriter::new(draft))
        .map_err(|error| cannot_write(&samples.path(), &io::Error::other(error)))
}

fn publish(file: SamplesWriter<BufWriter<Draft>>) -> io::Result<()> {
    file.finish().map_err(io::Error::other)?.into_inner()?.publish(false)
}
