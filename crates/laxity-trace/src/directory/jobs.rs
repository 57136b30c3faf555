//! The jobs of one run while it is made, `jobs.parts/run-N.parquet`: written as they end, so that they need not be kept.
//!
//! Jobs are in the file by task, then number, within each row group; so those of a run of one group are in that order as a whole.

use super::atomic_file::{cannot_keep, io_error, publish, temporary_name};
use super::part_path;
use super::sums::{Sum, Summing};
use crate::jobs_file::GROUP_ROWS;
use crate::{Job, JobsWriter, Run, RunColumns};
use laxity_model::Result;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// What is kept here.
const WHAT: &str = "jobs";

/// The jobs of a run being written. They appear in the results when the run is appended; a file that is dropped before leaves
/// nothing.
pub struct JobsFile {
    path: PathBuf,
    temporary: PathBuf,
    columns: RunColumns,
    /// Until the file is published.
    writer: Option<JobsWriter<Summing<BufWriter<File>>>>,
    /// Jobs of the next row group, in the order in which they came.
    group: Vec<Job>,
    count: u64,
}

/// Starts the jobs of a run of a results directory, whose tasks have these names, in id order. Several runs can be written at the same
/// time.
///
/// Errors: whatever the file system refuses.
pub fn create_jobs(results: impl AsRef<Path>, run: &Run, task_names: &[String]) -> Result<JobsFile> {
    let path = part_path(results.as_ref(), run.id);
    JobsFile::begin(path.clone(), run, task_names).map_err(|error| cannot_keep(&path, &error, WHAT))
}

impl JobsFile {
    /// One more job. Those of one task come in their order.
    ///
    /// Errors: a number that does not fit its column (2^63 ns, 2^31 for ids and counts); whatever the file system refuses. Either may
    /// come later than the job that caused it.
    #[inline]
    pub fn write(&mut self, job: &Job) -> Result<()> {
        self.add(job).map_err(|error| cannot_keep(&self.path, &error, WHAT))
    }

    /// Writes what is left, so that no memory is needed until the run is appended.
    ///
    /// Errors: as [`JobsFile::write`].
    pub fn end(self) -> Result<EndedJobsFile> {
        let path = self.path.clone();
        self.settle().map_err(|error| cannot_keep(&path, &error, WHAT))
    }

    pub(super) fn begin(path: PathBuf, run: &Run, task_names: &[String]) -> io::Result<JobsFile> {
        let temporary = temporary_name(&path)?;
        let sink = Summing::new(BufWriter::new(File::create(&temporary)?));
        let writer = Some(JobsWriter::new(sink, &[]).map_err(io_error)?);
        let columns = RunColumns::new(run, task_names);
        Ok(JobsFile { path, temporary, columns, writer, group: Vec::new(), count: 0 })
    }

    #[inline]
    pub(super) fn add(&mut self, job: &Job) -> io::Result<()> {
        self.group.push(job.clone());
        self.count += 1;
        if self.group.len() == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    pub(super) fn settle(mut self) -> io::Result<EndedJobsFile> {
        self.write_group()?;
        self.group = Vec::new();
        self.writer.as_mut().map_or(Ok(()), JobsWriter::end).map_err(io_error)?;
        Ok(EndedJobsFile(self))
    }

    #[cold]
    fn write_group(&mut self) -> io::Result<()> {
        let writer = self.writer.as_mut().expect("only publishing takes it, with the file");
        let group = std::mem::take(&mut self.group);
        let written = if group.is_sorted_by_key(|job| (job.task, job.index)) {
            group.iter().try_for_each(|job| writer.write(&self.columns, job))
        } else {
            let places = group.iter().zip(0..).map(|(job, place)| (job.task, job.index, place));
            let mut order: Vec<(u32, u32, usize)> = places.collect();
            order.sort_unstable();
            order.iter().try_for_each(|&(_, _, place)| writer.write(&self.columns, &group[place]))
        };
        written.map_err(io_error)?;
        self.group = group;
        self.group.clear();
        Ok(())
    }
}

/// The jobs of a run that has been made.
pub struct EndedJobsFile(JobsFile);

impl EndedJobsFile {
    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.0.count
    }

    pub(super) fn path(&self) -> &Path {
        &self.0.path
    }

    /// Gives the file its name, durably, with these metadata. Before that, `sum` is called with its sum.
    pub(super) fn publish(
        mut self,
        metadata: Vec<(&str, String)>,
        sum: impl FnOnce(Sum) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut writer = self.0.writer.take().expect("only publishing takes it, with the file");
        metadata.into_iter().for_each(|(key, value)| writer.add_metadata(key, value));
        let (of_file, sink) = writer.finish().map_err(io_error)?.finish()?;
        let file = sink.into_inner().map_err(io::IntoInnerError::into_error)?;
        sum(of_file)?;
        publish(&file, &self.0.temporary, &self.0.path)
    }
}

impl Drop for JobsFile {
    fn drop(&mut self) {
        // After `publish` there is no such file any more.
        let _ = fs::remove_file(&self.temporary);
    }
}
