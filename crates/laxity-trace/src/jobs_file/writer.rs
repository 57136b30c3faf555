//! Writes `jobs.parquet`, a row group at a time.

use super::columns::{COLUMNS, Column, JOBS_VERSION, Row, RunColumns, Source, VERSION_KEY, schema};
use crate::Job;
use crate::column_writer::write_column;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use std::io::Write;
use std::sync::Arc;

/// Rows in a group: about 25 MB of values in memory, whatever the number of jobs.
const GROUP_ROWS: usize = 1 << 17;

/// The values of one column of the row group being gathered. Levels are 1 for a value and 0 for a null.
enum Values {
    Int32 { values: Vec<i32>, levels: Vec<i16> },
    Int64 { values: Vec<i64>, levels: Vec<i16> },
    Words { values: Vec<ByteArray>, levels: Vec<i16> },
}

impl Values {
    fn new(column: &Column) -> Values {
        match column.source {
            Source::Int32(_) | Source::OptionalInt32(_) => Values::Int32 { values: vec![], levels: vec![] },
            Source::Int64(_) | Source::OptionalInt64(_) | Source::OptionalSigned(_) => {
                Values::Int64 { values: vec![], levels: vec![] }
            }
            Source::Word(_) | Source::OptionalWord(_) => Values::Words { values: vec![], levels: vec![] },
        }
    }

    fn clear(&mut self) {
        match self {
            Values::Int32 { values, levels } => (values.clear(), levels.clear()),
            Values::Int64 { values, levels } => (values.clear(), levels.clear()),
            Values::Words { values, levels } => (values.clear(), levels.clear()),
        };
    }
}

/// Writes jobs of any number of runs, with memory for one row group.
pub struct JobsWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Values>,
    rows: usize,
}

impl<W: Write + Send> JobsWriter<W> {
    /// Starts the file. `metadata` goes into the file next to the version of the layout.
    pub fn new(sink: W, metadata: &[(&str, String)]) -> Result<Self> {
        let version = KeyValue::new(VERSION_KEY.to_owned(), JOBS_VERSION.to_string());
        let more = metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("laxity {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(std::iter::once(version).chain(more).collect()));
        for column in COLUMNS {
            let path = ColumnPath::from(column.name);
            properties = if column.is_word() {
                properties.set_column_dictionary_enabled(path, true)
            } else {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            };
        }
        Ok(JobsWriter {
            file: SerializedFileWriter::new(sink, schema()?, Arc::new(properties.build()))?,
            columns: COLUMNS.iter().map(Values::new).collect(),
            rows: 0,
        })
    }

    /// Appends a job of `run`.
    ///
    /// Errors: a number that does not fit its column (2^63 ns, 2^31 for ids and counts), and those of the sink.
    pub fn write(&mut self, run: &RunColumns, job: &Job) -> Result<()> {
        let row = Row { run, job };
        for (column, values) in COLUMNS.iter().zip(&mut self.columns) {
            push(column, values, &row)?;
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Writes what is left and the footer, and gives the sink back.
    pub fn finish(mut self) -> Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.file.into_inner()
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for (column, values) in COLUMNS.iter().zip(&mut self.columns) {
            let optional = column.is_optional();
            match values {
                Values::Int32 { values, levels } => {
                    write_column::<Int32Type>(&mut group, values, optional.then_some(levels))?;
                }
                Values::Int64 { values, levels } => {
                    write_column::<Int64Type>(&mut group, values, optional.then_some(levels))?;
                }
                Values::Words { values, levels } => {
                    write_column::<ByteArrayType>(&mut group, values, optional.then_some(levels))?;
                }
            }
            values.clear();
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

fn push(column: &Column, values: &mut Values, row: &Row) -> Result<()> {
    let too_large = |value: &dyn std::fmt::Display| {
        ParquetError::General(format!(
            "{} {value} of job {} of task {} does not fit the column",
            column.name, row.job.index, row.job.task
        ))
    };
    let int32 = |value: u32| i32::try_from(value).map_err(|_| too_large(&value));
    let int64 = |value: u64| i64::try_from(value).map_err(|_| too_large(&value));
    match (column.source, values) {
        (Source::Int32(get), Values::Int32 { values, .. }) => values.push(int32(get(row))?),
        (Source::Int64(get), Values::Int64 { values, .. }) => values.push(int64(get(row))?),
        (Source::OptionalInt32(get), Values::Int32 { values, levels }) => {
            push_optional(values, levels, get(row).map(int32).transpose()?);
        }
        (Source::OptionalInt64(get), Values::Int64 { values, levels }) => {
            push_optional(values, levels, get(row).map(int64).transpose()?);
        }
        (Source::OptionalSigned(get), Values::Int64 { values, levels }) => {
            push_optional(values, levels, get(row));
        }
        (Source::Word(get), Values::Words { values, .. }) => values.push(get(row)),
        (Source::OptionalWord(get), Values::Words { values, levels }) => {
            push_optional(values, levels, get(row));
        }
        _ => unreachable!("the values of a column are made from its source"),
    }
    Ok(())
}

fn push_optional<T>(values: &mut Vec<T>, levels: &mut Vec<i16>, value: Option<T>) {
    levels.push(i16::from(value.is_some()));
    values.extend(value);
}
