//! The columns, in the order of the file. The writer, the reader and the schema all follow this one table.

use super::values::{Numbers, Unfit, Words};
use crate::{Job, JobOutcome, MissCause, Run};
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// The version of the layout of `jobs.parquet`.
pub const JOBS_VERSION: u32 = 1;

/// Key of the version among the file's metadata.
pub(super) const VERSION_KEY: &str = "laxity.jobs.version";

/// What all jobs of one run have in common in the file.
#[derive(Debug, Clone)]
pub struct RunColumns(Arc<OfRun>);

#[derive(Debug)]
struct OfRun {
    run: u32,
    set: u32,
    repetition: u32,
    scheduler: ByteArray,
    host: ByteArray,
    task_names: Vec<ByteArray>,
    outcomes: [(JobOutcome, ByteArray); 5],
    causes: [(MissCause, ByteArray); MissCause::ALL.len()],
}

impl RunColumns {
    /// Of `run`, whose tasks have these names, in id order. A task without a name goes by its id.
    pub fn new(run: &Run, task_names: &[String]) -> Self {
        RunColumns(Arc::new(OfRun {
            run: run.id,
            set: run.set,
            repetition: run.repetition,
            scheduler: run.scheduler.as_str().into(),
            host: run.host.name().into(),
            task_names: task_names.iter().map(|name| name.as_str().into()).collect(),
            outcomes: JobOutcome::ALL.map(|outcome| (outcome, outcome.name().into())),
            causes: MissCause::ALL.map(|cause| (cause, cause.name().into())),
        }))
    }

    /// Number of the run.
    pub fn run(&self) -> u32 {
        self.0.run
    }

    /// Whether these are the same value, not only equal ones.
    pub(super) fn is(&self, other: &RunColumns) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn task_name(&self, task: u32) -> ByteArray {
        let known = usize::try_from(task).ok().and_then(|task| self.0.task_names.get(task));
        known.cloned().unwrap_or_else(|| task.to_string().as_str().into())
    }

    fn outcome(&self, outcome: JobOutcome) -> ByteArray {
        let word = self.0.outcomes.iter().find(|(known, _)| *known == outcome);
        word.expect("`ALL` has all of them").1.clone()
    }

    fn cause(&self, cause: MissCause) -> ByteArray {
        let word = self.0.causes.iter().find(|(known, _)| *known == cause);
        word.expect("`ALL` has all of them").1.clone()
    }
}

/// What a column holds and where it comes from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// A 32-bit integer that all jobs of a run share.
    OfRun(fn(&RunColumns) -> u32),
    /// A word that all jobs of a run share, kept as a dictionary.
    WordOfRun(fn(&RunColumns) -> ByteArray),
    /// A 32-bit integer that every job has.
    Int32(fn(&[Job], &mut Numbers<i32>) -> Result<(), Unfit>),
    /// A 32-bit integer that can be missing.
    OptionalInt32(fn(&[Job], &mut Numbers<i32>) -> Result<(), Unfit>),
    /// A 64-bit integer that every job has.
    Int64(fn(&[Job], &mut Numbers<i64>) -> Result<(), Unfit>),
    /// A 64-bit integer that can be missing.
    OptionalInt64(fn(&[Job], &mut Numbers<i64>) -> Result<(), Unfit>),
    /// A word out of few, kept as a dictionary.
    Word(fn(&RunColumns, &[Job], &mut Words)),
    /// The same where it can be missing.
    OptionalWord(fn(&RunColumns, &[Job], &mut Words)),
}

/// A column of the file.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) source: Source,
}

const fn column(name: &'static str, source: Source) -> Column {
    Column { name, source }
}

/// A source of a number of every job: one loop over jobs for each column, in which nothing is called.
macro_rules! each {
    ($kind:ident, $get:expr) => {
        Source::$kind(|jobs, numbers| numbers.extend(jobs, $get))
    };
}

/// The same of a number that can be missing.
macro_rules! each_known {
    ($kind:ident, $get:expr) => {
        Source::$kind(|jobs, numbers| numbers.extend_known(jobs, $get))
    };
}

/// All columns.
pub(super) const COLUMNS: &[Column] = &[
    column("run", Source::OfRun(|run| run.0.run)),
    column("set", Source::OfRun(|run| run.0.set)),
    column("scheduler", Source::WordOfRun(|run| run.0.scheduler.clone())),
    column("host", Source::WordOfRun(|run| run.0.host.clone())),
    column("repetition", Source::OfRun(|run| run.0.repetition)),
    column("task", each!(Int32, |job| job.task)),
    column(
        "task_name",
        Source::Word(|run, jobs, words| words.extend(jobs, |job| job.task, |task| run.task_name(task))),
    ),
    column("job", each!(Int32, |job| job.index)),
    column("release_ns", each!(Int64, |job| job.release_ns)),
    column("deadline_ns", each!(Int64, |job| job.deadline_ns)),
    column("demand_ns", each_known!(OptionalInt64, |job| job.demand_ns)),
    column(
        "outcome",
        Source::Word(|run, jobs, words| {
            words.extend(jobs, |job| job.outcome, |outcome| run.outcome(outcome));
        }),
    ),
    column("start_ns", each_known!(OptionalInt64, |job| job.start_ns)),
    column("finish_ns", each_known!(OptionalInt64, |job| job.finish_ns)),
    column("response_ns", each_known!(OptionalInt64, Job::response_ns)),
    column(
        "laxity_ns",
        Source::OptionalInt64(|jobs, numbers| {
            numbers.extend_signed(jobs, Job::laxity_ns);
            Ok(())
        }),
    ),
    column("tardiness_ns", each_known!(OptionalInt64, Job::tardiness_ns)),
    column("cpu_time_ns", each_known!(OptionalInt64, |job| job.cpu_time_ns)),
    column("first_cpu", each_known!(OptionalInt32, |job| job.first_cpu)),
    column("last_cpu", each_known!(OptionalInt32, |job| job.last_cpu)),
    column("migrations", each_known!(OptionalInt32, |job| job.migrations)),
    column("context_switches", each_known!(OptionalInt32, |job| job.context_switches)),
    column("instructions", each_known!(OptionalInt64, |job| job.counters.instructions)),
    column("cycles", each_known!(OptionalInt64, |job| job.counters.cycles)),
    column("l1d_misses", each_known!(OptionalInt64, |job| job.counters.l1d_misses)),
    column("l2_misses", each_known!(OptionalInt64, |job| job.counters.l2_misses)),
    column("llc_misses", each_known!(OptionalInt64, |job| job.counters.llc_misses)),
    column("warm_ns", each_known!(OptionalInt64, |job| job.warm_ns)),
    column(
        "cause",
        Source::OptionalWord(|run, jobs, words| {
            words.extend_known(jobs, |job| job.cause, |cause| run.cause(cause));
        }),
    ),
];

impl Column {
    pub(super) fn is_word(&self) -> bool {
        matches!(self.source, Source::WordOfRun(_) | Source::Word(_) | Source::OptionalWord(_))
    }

    pub(super) fn is_word_of_jobs(&self) -> bool {
        matches!(self.source, Source::Word(_) | Source::OptionalWord(_))
    }

    pub(super) fn is_optional(&self) -> bool {
        use Source::{OptionalInt32, OptionalInt64, OptionalWord};
        matches!(self.source, OptionalInt32(_) | OptionalInt64(_) | OptionalWord(_))
    }

    fn field(&self) -> Result<Type, ParquetError> {
        let physical = match self.source {
            Source::OfRun(_) | Source::Int32(_) | Source::OptionalInt32(_) => PhysicalType::INT32,
            Source::Int64(_) | Source::OptionalInt64(_) => PhysicalType::INT64,
            Source::WordOfRun(_) | Source::Word(_) | Source::OptionalWord(_) => PhysicalType::BYTE_ARRAY,
        };
        let repetition = if self.is_optional() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(self.name, physical).with_repetition(repetition);
        if self.is_word() {
            return field
                .with_converted_type(ConvertedType::UTF8)
                .with_logical_type(Some(LogicalType::String))
                .build();
        }
        field.build()
    }
}

/// The schema of the file.
pub(super) fn schema() -> Result<TypePtr, ParquetError> {
    let fields = COLUMNS.iter().map(|column| column.field().map(Arc::new)).collect::<Result<_, _>>()?;
    Ok(Arc::new(Type::group_type_builder("jobs").with_fields(fields).build()?))
}
