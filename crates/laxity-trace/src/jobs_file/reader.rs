//! Reads `jobs.parquet`, a row group at a time.

use super::columns::{JOBS_VERSION, VERSION_KEY};
use crate::damage::{damaged, without_panic};
use crate::row_group::RowGroup;
use crate::whole_file::WholeFile;
use crate::{Counters, Job, JobOutcome, MissCause};
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::fmt::Display;

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
        let named =
            |word: &[u8]| JobOutcome::ALL.into_iter().find(|outcome| outcome.name().as_bytes() == word);
        let cause = |word: &[u8]| MissCause::ALL.into_iter().find(|cause| cause.name().as_bytes() == word);
        Ok(JobColumns {
            rows: group.rows(),
            cause: group.words_if_there("cause", cause)?,
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
            // Files of others may lack what follows from the rest.
            response_ns: group.integers_if_there("response_ns")?,
            laxity_ns: group.integers_if_there("laxity_ns")?,
            tardiness_ns: group.integers_if_there("tardiness_ns")?,
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
    cause: Option<Column<MissCause>>,
    outcome: Vec<JobOutcome>,
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
    response_ns: Option<Column<u64>>,
    laxity_ns: Option<Column<i64>>,
    tardiness_ns: Option<Column<u64>>,
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
            cause: self.cause.as_ref().and_then(|cause| cause[row]),
        };
        let run = self.run[row].ok_or_else(null)?;
        match job.contradiction().or_else(|| self.contradiction(row, &job)) {
            None => Ok((run, job)),
            Some(why) => Err(damaged(format!("job {} of task {} of run {run}: {why}", job.index, job.task))),
        }
    }

    /// What the columns that follow from others say against those.
    fn contradiction(&self, row: usize, job: &Job) -> Option<String> {
        follows("response_ns", &self.response_ns, row, job.response_ns())
            .or_else(|| follows("laxity_ns", &self.laxity_ns, row, job.laxity_ns()))
            .or_else(|| follows("tardiness_ns", &self.tardiness_ns, row, job.tardiness_ns()))
    }
}

/// What is wrong with a value of a column, if it is there and is not what follows from the others.
fn follows<T: PartialEq + Copy + Display>(
    name: &str,
    column: &Option<Column<T>>,
    row: usize,
    expected: Option<T>,
) -> Option<String> {
    let there = column.as_ref()?[row];
    let word = |value: Option<T>| value.map_or_else(|| "empty".to_owned(), |value| value.to_string());
    (there != expected)
        .then(|| format!("its {name} is {}, and {} by its other columns", word(there), word(expected)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs_file::{JobsWriter, RunColumns};
    use crate::{Host, Run, RunStatus};
    use bytes::Bytes;
    use laxity_model::Duration;

    fn job(outcome: JobOutcome, start_ns: Option<u64>, finish_ns: Option<u64>) -> Job {
        Job { start_ns, finish_ns, ..Job::new((1, 2), (10, 20), outcome) }
    }

    fn file_of(job: &Job) -> JobsReader {
        let run =
            Run { id: 3, ..Run::new("g-edf", Host::Simulator, Duration::from_ms(1), RunStatus::Completed) };
        let mut writer = JobsWriter::new(Vec::new(), &[]).expect("starts");
        writer.write(&RunColumns::new(&run, &[]), job).expect("fits");
        JobsReader::new(Bytes::from(writer.finish().expect("finishes"))).expect("opens")
    }

    #[test]
    fn times_that_contradict_each_other_are_refused_with_the_job() {
        let read = |job: &Job| file_of(job).read_all();
        for good in [
            job(JobOutcome::Completed, Some(12), Some(12)),
            job(JobOutcome::Completed, None, Some(25)),
            job(JobOutcome::Ordinary, Some(12), None),
            job(JobOutcome::Unfinished, Some(12), None),
            job(JobOutcome::Aborted, Some(12), Some(21)),
            job(JobOutcome::Skipped, None, None),
        ] {
            assert_eq!(read(&good).expect("no contradiction")[&3], [good]);
        }
        for (wrong, why) in [
            (job(JobOutcome::Completed, Some(13), Some(12)), "finish, 12 ns, is before its start, 13 ns"),
            (job(JobOutcome::Completed, Some(13), None), "it is completed but has no finish"),
            (job(JobOutcome::Aborted, None, None), "it is aborted but has no finish"),
            (
                Job { release_ns: 21, ..job(JobOutcome::Unfinished, None, None) },
                "deadline, 20 ns, is before its release",
            ),
        ] {
            let error = read(&wrong).expect_err("a contradiction").to_string();
            assert!(error.contains(why) && error.contains("job 2 of task 1 of run 3"), "{error}");
        }
    }

    #[test]
    fn columns_that_do_not_follow_from_the_others_are_refused() {
        let reader = file_of(&job(JobOutcome::Completed, Some(12), Some(25)));
        let columns = || reader.read_columns(0).expect("reads");
        let refused = |columns: JobColumns| columns.job(0).expect_err("a contradiction").to_string();
        assert!(columns().job(0).is_ok());
        let late = refused(JobColumns { response_ns: Some(vec![Some(16)]), ..columns() });
        assert!(late.contains("response_ns is 16, and 15 by its other columns"), "{late}");
        let early = refused(JobColumns { laxity_ns: Some(vec![Some(5)]), ..columns() });
        assert!(early.contains("laxity_ns is 5, and -5"), "{early}");
        let none = refused(JobColumns { tardiness_ns: Some(vec![None]), ..columns() });
        assert!(none.contains("tardiness_ns is empty, and 5"), "{none}");
        // A file without these columns has nothing to contradict.
        let fewer = JobColumns { response_ns: None, laxity_ns: None, tardiness_ns: None, ..columns() };
        assert!(fewer.job(0).is_ok());
    }
}
