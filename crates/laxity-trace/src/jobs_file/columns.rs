//! The columns, in the order of the file. The writer, the reader and the schema all follow this one table.

use crate::{Job, Run};
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
pub struct RunColumns {
    run: u32,
    set: u32,
    repetition: u32,
    scheduler: ByteArray,
    host: ByteArray,
    task_names: Vec<ByteArray>,
    outcomes: [(crate::JobOutcome, ByteArray); 5],
    causes: [(crate::MissCause, ByteArray); crate::MissCause::ALL.len()],
}

impl RunColumns {
    /// Of `run`, whose tasks have these names, in id order. A task without a name goes by its id.
    pub fn new(run: &Run, task_names: &[String]) -> Self {
        RunColumns {
            run: run.id,
            set: run.set,
            repetition: run.repetition,
            scheduler: run.scheduler.as_str().into(),
            host: run.host.name().into(),
            task_names: task_names.iter().map(|name| name.as_str().into()).collect(),
            outcomes: crate::JobOutcome::ALL.map(|outcome| (outcome, outcome.name().into())),
            causes: crate::MissCause::ALL.map(|cause| (cause, cause.name().into())),
        }
    }

    /// Number of the run.
    pub fn run(&self) -> u32 {
        self.run
    }

    fn task_name(&self, task: u32) -> ByteArray {
        let known = usize::try_from(task).ok().and_then(|task| self.task_names.get(task));
        known.cloned().unwrap_or_else(|| task.to_string().as_str().into())
    }

    fn outcome(&self, outcome: crate::JobOutcome) -> ByteArray {
        let word = self.outcomes.iter().find(|(known, _)| *known == outcome);
        word.expect("`ALL` has all of them").1.clone()
    }

    fn cause(&self, cause: crate::MissCause) -> ByteArray {
        let word = self.causes.iter().find(|(known, _)| *known == cause);
        word.expect("`ALL` has all of them").1.clone()
    }
}

/// One row, before it is taken apart.
pub(super) struct Row<'a> {
    pub(super) run: &'a RunColumns,
    pub(super) job: &'a Job,
}

/// What a column holds and where it comes from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// A 32-bit integer that every row has.
    Int32(fn(&Row) -> u32),
    /// A 32-bit integer that can be missing.
    OptionalInt32(fn(&Row) -> Option<u32>),
    /// A 64-bit integer that every row has.
    Int64(fn(&Row) -> u64),
    /// A 64-bit integer that can be missing.
    OptionalInt64(fn(&Row) -> Option<u64>),
    /// A signed 64-bit integer that can be missing.
    OptionalSigned(fn(&Row) -> Option<i64>),
    /// A word out of few, kept as a dictionary.
    Word(fn(&Row) -> ByteArray),
    /// The same where it can be missing.
    OptionalWord(fn(&Row) -> Option<ByteArray>),
}

/// A column of the file.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) source: Source,
}

const fn column(name: &'static str, source: Source) -> Column {
    Column { name, source }
}

/// All columns.
pub(super) const COLUMNS: &[Column] = &[
    column("run", Source::Int32(|row| row.run.run)),
    column("set", Source::Int32(|row| row.run.set)),
    column("scheduler", Source::Word(|row| row.run.scheduler.clone())),
    column("host", Source::Word(|row| row.run.host.clone())),
    column("repetition", Source::Int32(|row| row.run.repetition)),
    column("task", Source::Int32(|row| row.job.task)),
    column("task_name", Source::Word(|row| row.run.task_name(row.job.task))),
    column("job", Source::Int32(|row| row.job.index)),
    column("release_ns", Source::Int64(|row| row.job.release_ns)),
    column("deadline_ns", Source::Int64(|row| row.job.deadline_ns)),
    column("demand_ns", Source::OptionalInt64(|row| row.job.demand_ns)),
    column("outcome", Source::Word(|row| row.run.outcome(row.job.outcome))),
    column("start_ns", Source::OptionalInt64(|row| row.job.start_ns)),
    column("finish_ns", Source::OptionalInt64(|row| row.job.finish_ns)),
    column("response_ns", Source::OptionalInt64(|row| row.job.response_ns())),
    column("laxity_ns", Source::OptionalSigned(|row| row.job.laxity_ns())),
    column("tardiness_ns", Source::OptionalInt64(|row| row.job.tardiness_ns())),
    column("cpu_time_ns", Source::OptionalInt64(|row| row.job.cpu_time_ns)),
    column("first_cpu", Source::OptionalInt32(|row| row.job.first_cpu)),
    column("last_cpu", Source::OptionalInt32(|row| row.job.last_cpu)),
    column("migrations", Source::OptionalInt32(|row| row.job.migrations)),
    column("context_switches", Source::OptionalInt32(|row| row.job.context_switches)),
    column("instructions", Source::OptionalInt64(|row| row.job.counters.instructions)),
    column("cycles", Source::OptionalInt64(|row| row.job.counters.cycles)),
    column("l1d_misses", Source::OptionalInt64(|row| row.job.counters.l1d_misses)),
    column("l2_misses", Source::OptionalInt64(|row| row.job.counters.l2_misses)),
    column("llc_misses", Source::OptionalInt64(|row| row.job.counters.llc_misses)),
    column("warm_ns", Source::OptionalInt64(|row| row.job.warm_ns)),
    column("cause", Source::OptionalWord(|row| row.job.cause.map(|cause| row.run.cause(cause)))),
];

impl Column {
    pub(super) fn is_word(&self) -> bool {
        matches!(self.source, Source::Word(_) | Source::OptionalWord(_))
    }

    pub(super) fn is_optional(&self) -> bool {
        use Source::{OptionalInt32, OptionalInt64, OptionalSigned, OptionalWord};
        matches!(self.source, OptionalInt32(_) | OptionalInt64(_) | OptionalSigned(_) | OptionalWord(_))
    }

    fn field(&self) -> Result<Type, ParquetError> {
        let physical = match self.source {
            Source::Int32(_) | Source::OptionalInt32(_) => PhysicalType::INT32,
            Source::Int64(_) | Source::OptionalInt64(_) | Source::OptionalSigned(_) => PhysicalType::INT64,
            Source::Word(_) | Source::OptionalWord(_) => PhysicalType::BYTE_ARRAY,
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
