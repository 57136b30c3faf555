//! Reads `jobs.parquet`, a row group at a time.

use super::columns::{JOBS_VERSION, VERSION_KEY};
use crate::damage::{damaged, without_panic};
use crate::row_group::RowGroup;
use crate::whole_file::WholeFile;
use crate::{Counters, Job, Outcome};
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use std::collections::BTreeMap;

/// Reads the jobs of a file and the runs that they belong to. Columns that it does not know are left alone.
pub struct JobsReader {
    file: Box<dyn FileReader>,
    columns: BTreeMap<String, usize>,
    metadata: BTreeMap<String, String>,
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
    pub fn read_group(&self, group: usize, mut take: impl FnMut(u32, Job)) -> Result<()> {
        let columns = without_panic(|| self.read_columns(group))?;
        (0..columns.rows).try_for_each(|row| {
            let (run, job) = columns.job(row)?;
            take(run, job);
            Ok(())
        })
    }

    fn read_columns(&self, group: usize) -> Result<JobColumns> {
        let group = RowGroup::open(self.file.as_ref(), &self.columns, group)?;
        let small = |name| group.integers::<u32>(name);
        let large = |name| group.integers::<u64>(name);
        let named = |word: &[u8]| Outcome::ALL.into_iter().find(|outcome| outcome.name().as_bytes() == word);
        Ok(JobColumns {
            rows: group.rows(),
            outcome: group.words("outcome", named)?,
            run: small("run")?,
            task: small("task")?,
            index: small("job")?,
            release_ns: large("release_ns")?,
            deadline_ns: large("deadline_ns")?,
            start_ns: large("start_ns")?,
            finish_ns: large("finish_ns")?,
            demand_ns: large("demand_ns")?,
            // Files from before this column are read, too.
            warm_ns: group.integers_if_there::<u64>("warm_ns")?,
            cpu_time_ns: large("cpu_time_ns")?,
            first_cpu: small("first_cpu")?,
            last_cpu: small("last_cpu")?,
            migrations: small("migrations")?,
            context_switches: small("context_switches")?,
            instructions: large("instructions")?,
            cycles: large("cycles")?,
            l1d_misses: large("l1d_misses")?,
            l2_misses: large("l2_misses")?,
            llc_misses: large("llc_misses")?,
        })
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

type Column<T> = Vec<Option<T>>;

/// The columns of a row group, a value in each for every row.
struct JobColumns {
    rows: usize,
    outcome: Vec<Outcome>,
    run: Column<u32>,
    task: Column<u32>,
    index: Column<u32>,
    release_ns: Column<u64>,
    deadline_ns: Column<u64>,
    start_ns: Column<u64>,
    finish_ns: Column<u64>,
    demand_ns: Column<u64>,
    warm_ns: Option<Column<u64>>,
    cpu_time_ns: Column<u64>,
    first_cpu: Column<u32>,
    last_cpu: Column<u32>,
    migrations: Column<u32>,
    context_switches: Column<u32>,
    instructions: Column<u64>,
    cycles: Column<u64>,
    l1d_misses: Column<u64>,
    l2_misses: Column<u64>,
    llc_misses: Column<u64>,
}

impl JobColumns {
    /// The job of a row, with the number of its run.
    fn job(&self, row: usize) -> Result<(u32, Job)> {
        let null = || damaged(format!("row {row} lacks a value that every job has"));
        let job = Job {
            task: self.task[row].ok_or_else(null)?,
            index: self.index[row].ok_or_else(null)?,
            release_ns: self.release_ns[row].ok_or_else(null)?,
            deadline_ns: self.deadline_ns[row].ok_or_else(null)?,
            demand_ns: self.demand_ns[row],
            warm_ns: self.warm_ns.as_ref().and_then(|warm_ns| warm_ns[row]),
            outcome: self.outcome[row],
            start_ns: self.start_ns[row],
            finish_ns: self.finish_ns[row],
            cpu_time_ns: self.cpu_time_ns[row],
            first_cpu: self.first_cpu[row],
            last_cpu: self.last_cpu[row],
            migrations: self.migrations[row],
            context_switches: self.context_switches[row],
            counters: Counters {
                instructions: self.instructions[row],
                cycles: self.cycles[row],
                l1d_misses: self.l1d_misses[row],
                l2_misses: self.l2_misses[row],
                llc_misses: self.llc_misses[row],
            },
        };
        Ok((self.run[row].ok_or_else(null)?, job))
    }
}
