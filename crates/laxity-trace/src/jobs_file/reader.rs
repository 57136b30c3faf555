//! Reads `jobs.parquet`, a row group at a time.

use super::columns::{JOBS_VERSION, VERSION_KEY};
use crate::row_group::RowGroup;
use crate::whole_file::WholeFile;
use crate::{Counters, Job, Outcome};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;

/// Reads the jobs of a file and the runs that they belong to. Columns that it does not know are left alone.
pub struct JobsReader {
    file: Box<dyn FileReader>,
    columns: BTreeMap<String, usize>,
    metadata: BTreeMap<String, String>,
}

pub(crate) fn damaged(what: impl Into<String>) -> ParquetError {
    ParquetError::General(what.into())
}

/// The Parquet library answers some damaged files with a panic (an index out of bounds, an overflow). Nothing
/// that it was working on is used afterwards.
pub(crate) fn without_panic<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    let panicked = |_| Err(damaged("its content contradicts itself"));
    std::panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(panicked)
}

impl JobsReader {
    /// Opens a file and checks its version.
    ///
    /// Errors: a damaged file, one that laxity did not write, one of another version.
    pub fn new(source: impl ChunkReader + 'static) -> Result<Self> {
        let file = without_panic(|| SerializedFileReader::new(WholeFile(source)))?;
        let about = file.metadata().file_metadata();
        let pairs = about.key_value_metadata().into_iter().flatten();
        let metadata: BTreeMap<String, String> =
            pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect();
        let version = metadata.get(VERSION_KEY).and_then(|version| version.parse::<u32>().ok());
        match version {
            Some(JOBS_VERSION) => {}
            Some(other) => {
                return Err(damaged(format!(
                    "version {other} of the layout; this laxity reads version {JOBS_VERSION}"
                )));
            }
            None => {
                return Err(damaged(format!("no `{VERSION_KEY}` in its metadata; laxity did not write it")));
            }
        }
        let columns = about.schema_descr().columns().iter().enumerate();
        let columns = columns.map(|(index, column)| (column.name().to_owned(), index)).collect();
        Ok(JobsReader { file: Box::new(file), columns, metadata })
    }

    /// A value of the file's key-value metadata.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// Number of row groups.
    pub fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// Hands every job of one row group, with the number of its run, to `take`.
    ///
    /// Errors: a damaged group; some of its jobs may have been handed out by then.
    pub fn read_group(&self, group: usize, take: impl FnMut(u32, Job)) -> Result<()> {
        without_panic(|| self.read_columns(group, take))
    }

    fn read_columns(&self, group: usize, mut take: impl FnMut(u32, Job)) -> Result<()> {
        let group = RowGroup::open(self.file.as_ref(), &self.columns, group)?;
        let small = |name| group.integers::<u32>(name);
        let large = |name| group.integers::<u64>(name);
        let named = |word: &[u8]| Outcome::ALL.into_iter().find(|outcome| outcome.name().as_bytes() == word);
        let outcome = group.words("outcome", named)?;
        let (run, task, index) = (small("run")?, small("task")?, small("job")?);
        let (release_ns, deadline_ns) = (large("release_ns")?, large("deadline_ns")?);
        let (start_ns, finish_ns) = (large("start_ns")?, large("finish_ns")?);
        let (demand_ns, cpu_time_ns) = (large("demand_ns")?, large("cpu_time_ns")?);
        let (first_cpu, last_cpu) = (small("first_cpu")?, small("last_cpu")?);
        let (migrations, context_switches) = (small("migrations")?, small("context_switches")?);
        let (instructions, cycles) = (large("instructions")?, large("cycles")?);
        let l1d_misses = large("l1d_misses")?;
        let (l2_misses, llc_misses) = (large("l2_misses")?, large("llc_misses")?);
        // Files from before this column are read, too.
        let warm_ns = group.integers_if_there::<u64>("warm_ns")?;
        for row in 0..group.rows() {
            let null = || damaged(format!("row {row} lacks a value that every job has"));
            let job = Job {
                task: task[row].ok_or_else(null)?,
                index: index[row].ok_or_else(null)?,
                release_ns: release_ns[row].ok_or_else(null)?,
                deadline_ns: deadline_ns[row].ok_or_else(null)?,
                demand_ns: demand_ns[row],
                warm_ns: warm_ns.as_ref().and_then(|warm_ns| warm_ns[row]),
                outcome: outcome[row],
                start_ns: start_ns[row],
                finish_ns: finish_ns[row],
                cpu_time_ns: cpu_time_ns[row],
                first_cpu: first_cpu[row],
                last_cpu: last_cpu[row],
                migrations: migrations[row],
                context_switches: context_switches[row],
                counters: Counters {
                    instructions: instructions[row],
                    cycles: cycles[row],
                    l1d_misses: l1d_misses[row],
                    l2_misses: l2_misses[row],
                    llc_misses: llc_misses[row],
                },
            };
            take(run[row].ok_or_else(null)?, job);
        }
        Ok(())
    }

    /// All jobs by run, in the order of the file.
    pub fn read_all(&self) -> Result<BTreeMap<u32, Vec<Job>>> {
        let mut runs: BTreeMap<u32, Vec<Job>> = BTreeMap::new();
        for group in 0..self.groups() {
            self.read_group(group, |run, job| runs.entry(run).or_default().push(job))?;
        }
        Ok(runs)
    }
}
