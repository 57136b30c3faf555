//! What a real kernel was at while a recorded run was made: `activities/run-N.parquet`, one row per interval, in the order of
//! their beginnings.

use crate::column_writer::write_column;
use crate::damage::without_panic;
use crate::whole_file::WholeFile;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

/// One interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelActivity {
    /// From when, in ns since the synchronous release.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// On which CPU, or on the way to which.
    pub cpu: u32,
    /// What, in kebab case.
    pub cause: String,
    /// Of a release: the instants, both included, at which the jobs became ready that it is about.
    pub released: Option<(u64, u64)>,
    /// Of a decision: the task that it took from wherever it waited.
    pub task: Option<u32>,
}

/// Name, type and whether it can be null, in the order of the file.
const COLUMNS: &[(&str, Physical, Repetition)] = &[
    ("run", Physical::INT32, Repetition::REQUIRED),
    ("from_ns", Physical::INT64, Repetition::REQUIRED),
    ("to_ns", Physical::INT64, Repetition::REQUIRED),
    ("cpu", Physical::INT32, Repetition::REQUIRED),
    ("cause", Physical::BYTE_ARRAY, Repetition::REQUIRED),
    ("released_from_ns", Physical::INT64, Repetition::OPTIONAL),
    ("released_to_ns", Physical::INT64, Repetition::OPTIONAL),
    ("task", Physical::INT32, Repetition::OPTIONAL),
];

fn schema() -> Result<Type> {
    let field = |(name, physical, repetition)| {
        let field = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        match physical {
            Physical::BYTE_ARRAY => field
                .with_converted_type(ConvertedType::UTF8)
                .with_logical_type(Some(LogicalType::String))
                .build(),
            _ => field.build(),
        }
    };
    let fields = COLUMNS.iter().copied().map(|column| field(column).map(Arc::new)).collect::<Result<_>>()?;
    Type::group_type_builder("activities").with_fields(fields).build()
}

fn long(value: u64) -> Result<i64> {
    i64::try_from(value).map_err(|_| ParquetError::General(format!("{value} ns does not fit its column")))
}

fn short(value: u32) -> Result<i32> {
    i32::try_from(value).map_err(|_| ParquetError::General(format!("{value} does not fit its column")))
}

/// Writes the activities of the run of this number.
pub(crate) fn write<W: Write + Send>(sink: W, run: u32, activities: &[KernelActivity]) -> Result<W> {
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?)).build();
    let mut file = SerializedFileWriter::new(sink, Arc::new(schema()?), Arc::new(properties))?;
    let longs = |of: fn(&KernelActivity) -> u64| {
        activities.iter().map(|one| long(of(one))).collect::<Result<Vec<_>>>()
    };
    let released = |of: fn((u64, u64)) -> u64| {
        activities
            .iter()
            .filter_map(|one| one.released)
            .map(|span| long(of(span)))
            .collect::<Result<Vec<_>>>()
    };
    let levels: Vec<i16> = activities.iter().map(|one| i16::from(one.released.is_some())).collect();
    let cpus = activities.iter().map(|one| short(one.cpu)).collect::<Result<Vec<_>>>()?;
    let causes: Vec<ByteArray> = activities.iter().map(|one| ByteArray::from(one.cause.as_str())).collect();
    let mut group = file.next_row_group()?;
    write_column::<Int32Type>(&mut group, &vec![short(run)?; activities.len()], None)?;
    write_column::<Int64Type>(&mut group, &longs(|one| one.from_ns)?, None)?;
    write_column::<Int64Type>(&mut group, &longs(|one| one.to_ns)?, None)?;
    write_column::<Int32Type>(&mut group, &cpus, None)?;
    write_column::<ByteArrayType>(&mut group, &causes, None)?;
    write_column::<Int64Type>(&mut group, &released(|(from, _)| from)?, Some(&levels))?;
    write_column::<Int64Type>(&mut group, &released(|(_, to)| to)?, Some(&levels))?;
    let tasks = activities.iter().filter_map(|one| one.task).map(short).collect::<Result<Vec<_>>>()?;
    let levels: Vec<i16> = activities.iter().map(|one| i16::from(one.task.is_some())).collect();
    write_column::<Int32Type>(&mut group, &tasks, Some(&levels))?;
    group.close()?;
    file.into_inner()
}

/// Reads a file of activities: the runs that it is of, and the activities.
pub(crate) fn read(source: impl ChunkReader + 'static) -> Result<(BTreeSet<u32>, Vec<KernelActivity>)> {
    without_panic(|| {
        let file = SerializedFileReader::new(WholeFile(source))?;
        let (mut runs, mut activities) = (BTreeSet::new(), Vec::new());
        for row in file.get_row_iter(None)? {
            let (run, activity) = activity(&row?)?;
            runs.insert(run);
            activities.push(activity);
        }
        Ok((runs, activities))
    })
}

/// The activity of a row, with the number of its run.
fn activity(row: &Row) -> Result<(u32, KernelActivity)> {
    let field =
        |name: &str| row.get_column_iter().find(|(column, _)| *column == name).map(|(_, field)| field);
    let missing = |name: &str| ParquetError::General(format!("a row has no `{name}`"));
    let number = |name: &str| match field(name) {
        Some(Field::Long(value)) => u64::try_from(*value).map_err(|_| missing(name)),
        Some(Field::Int(value)) => u64::try_from(*value).map_err(|_| missing(name)),
        _ => Err(missing(name)),
    };
    let cause = match field("cause") {
        Some(Field::Str(cause)) => cause.clone(),
        _ => return Err(missing("cause")),
    };
    let small = |name: &str| number(name).and_then(|value| u32::try_from(value).map_err(|_| missing(name)));
    let (run, cpu) = (small("run")?, small("cpu")?);
    let released = number("released_from_ns").ok().zip(number("released_to_ns").ok());
    let task = number("task").ok().and_then(|task| u32::try_from(task).ok());
    let activity =
        KernelActivity { from_ns: number("from_ns")?, to_ns: number("to_ns")?, cpu, cause, released, task };
    Ok((run, activity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn what_is_written_comes_back() {
        let one = |from_ns: u64, released| KernelActivity {
            from_ns,
            to_ns: from_ns + 7,
            cpu: 3,
            cause: "release-latency".into(),
            released,
            task: Some(4).filter(|_| from_ns == 5),
        };
        for activities in [vec![], vec![one(1, None), one(5, Some((1, 9))), one(1 << 40, None)]] {
            let bytes = write(Vec::new(), 12, &activities).expect("written");
            let runs = activities.iter().map(|_| 12).collect();
            assert_eq!(read(Bytes::from(bytes.clone())).expect("read"), (runs, activities));
            assert!(read(Bytes::from(bytes[..bytes.len() - 9].to_vec())).is_err(), "the end is missing");
        }
        assert!(write(Vec::new(), 0, &[one(u64::MAX - 7, None)]).is_err(), "it does not fit");
    }
}
