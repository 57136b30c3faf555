//! Writes `jobs.parquet`, a row group at a time.

use super::chunk::{Chunk, Constant};
use super::columns::{COLUMNS, Column, JOBS_VERSION, RunColumns, Source, VERSION_KEY, schema};
use super::values::{Numbers, Unfit, Words};
use crate::Job;
use crate::column_writer::write_column;
use crate::damage::{damaged, without_panic};
use crate::whole_file::WholeFile;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{ByteArrayType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

/// Rows in a group: about 12 MB of values in memory, whatever the number of jobs.
pub(crate) const GROUP_ROWS: usize = 1 << 16;
/// Jobs that are taken apart together, column by column: so many stay in a core's cache. Groups are whole numbers of these.
const BLOCK_ROWS: usize = 256;

/// The values of one column of the row group being gathered.
enum Values {
    Int32(Numbers<i32>),
    Int64(Numbers<i64>),
    Words(Words),
}

impl Values {
    fn new(column: &Column) -> Values {
        match column.source {
            Source::OfRun(_) | Source::Int32(_) | Source::OptionalInt32(_) => {
                Values::Int32(Numbers::default())
            }
            Source::Int64(_) | Source::OptionalInt64(_) => Values::Int64(Numbers::default()),
            Source::WordOfRun(_) | Source::Word(_) | Source::OptionalWord(_) => {
                Values::Words(Words::default())
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Values::Int32(numbers) => numbers.clear(),
            Values::Int64(numbers) => numbers.clear(),
            Values::Words(words) => words.stretches.clear(),
        }
    }

    /// What all of `rows` rows have, if they all have the same.
    fn constant(&self, rows: usize) -> Option<Constant> {
        match self {
            Values::Int32(numbers) => numbers.constant(rows).map(|one| Constant::number(one.map(i64::from))),
            Values::Int64(numbers) => numbers.constant(rows).map(Constant::number),
            Values::Words(words) => words.constant().map(Constant::word),
        }
    }
}

/// Writes jobs of any number of runs, with memory for one row group.
///
/// A column whose rows are all the same in a group, such as a counter that the machine lacks, is encoded once for all such groups.
pub struct JobsWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Values>,
    rows: usize,
    /// Jobs that have yet to be taken apart, all of the same run.
    block: Vec<Job>,
    run: Option<RunColumns>,
    /// The last group's chunk of each column whose rows were all the same there.
    chunks: Vec<Option<Chunk>>,
}

impl<W: Write + Send> JobsWriter<W> {
    /// Starts the file. `metadata` goes into the file next to the version of the layout.
    pub fn new(sink: W, metadata: &[(&str, String)]) -> Result<Self> {
        let version = KeyValue::new(VERSION_KEY.to_owned(), JOBS_VERSION.to_string());
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("laxity {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            // Groups that are copied have none.
            .set_offset_index_disabled(true)
            .set_key_value_metadata(Some(vec![version]));
        for column in COLUMNS {
            let path = ColumnPath::from(column.name);
            properties = if column.is_word_of_jobs() {
                // Their statistics would cost more than all the rest of them, and nothing is looked up by them.
                properties
                    .set_column_dictionary_enabled(path.clone(), true)
                    .set_column_statistics_enabled(path, EnabledStatistics::None)
            } else if column.is_word() {
                properties.set_column_dictionary_enabled(path, true)
            } else {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            };
        }
        let mut writer = JobsWriter {
            file: SerializedFileWriter::new(sink, schema()?, Arc::new(properties.build()))?,
            columns: COLUMNS.iter().map(Values::new).collect(),
            rows: 0,
            block: Vec::with_capacity(BLOCK_ROWS),
            run: None,
            chunks: COLUMNS.iter().map(|_| None).collect(),
        };
        metadata.iter().for_each(|(key, value)| writer.add_metadata(key, value.clone()));
        Ok(writer)
    }

    /// Adds what becomes known while jobs are written to the metadata.
    pub fn add_metadata(&mut self, key: &str, value: String) {
        self.file.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
    }

    /// Appends a job of `run`.
    ///
    /// Errors: a number that does not fit its column (2^63 ns, 2^31 for ids and counts), and those of the sink. Either may come with
    /// a later job, or at the end.
    pub fn write(&mut self, run: &RunColumns, job: &Job) -> Result<()> {
        if !self.run.as_ref().is_some_and(|last| last.is(run)) {
            self.take_apart()?;
            self.run = Some(run.clone());
        }
        self.block.push(job.clone());
        if self.block.len() == BLOCK_ROWS || self.rows + self.block.len() == GROUP_ROWS {
            self.take_apart()?;
        }
        if self.rows == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Appends all jobs of another file as they are, without reading them, in row groups of their own: if its columns are those of this
    /// version and it begins with a full group, so that groups stay large. Whether it has done so.
    ///
    /// Errors: those of the source and the sink.
    pub fn copy(&mut self, from: &File) -> Result<bool> {
        let source = without_panic(|| SerializedFileReader::new(WholeFile(from.try_clone()?)))?;
        let metadata = source.metadata();
        let same =
            metadata.file_metadata().schema_descr().root_schema() == self.file.schema_descr().root_schema();
        let groups = metadata.row_groups();
        let is_full = |rows: i64| usize::try_from(rows).is_ok_and(|rows| rows >= GROUP_ROWS);
        if !same || !groups.first().is_some_and(|first| is_full(first.num_rows())) {
            return Ok(false);
        }
        self.flush()?;
        for group in groups {
            let rows = u64::try_from(group.num_rows()).map_err(|_| damaged("negative row count"))?;
            let mut to = self.file.next_row_group()?;
            for column in group.columns() {
                let close = ColumnCloseResult {
                    bytes_written: u64::try_from(column.compressed_size())
                        .map_err(|_| damaged("a column of a negative size"))?,
                    rows_written: rows,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                to.append_column(from, close)?;
            }
            to.close()?;
        }
        Ok(true)
    }

    /// Writes what is left and the footer, and gives the sink back.
    pub fn finish(mut self) -> Result<W> {
        self.flush()?;
        self.file.into_inner()
    }

    /// Writes what is left and gives the memory back. The footer is still to come.
    ///
    /// Errors: as [`JobsWriter::write`].
    pub fn end(&mut self) -> Result<()> {
        self.flush()?;
        self.columns = COLUMNS.iter().map(Values::new).collect();
        self.chunks = COLUMNS.iter().map(|_| None).collect();
        self.block = Vec::new();
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.take_apart()?;
        if self.rows > 0 { self.write_group() } else { Ok(()) }
    }

    /// Distributes the jobs of the block to the columns.
    fn take_apart(&mut self) -> Result<()> {
        let Some(run) = self.run.as_ref().filter(|_| !self.block.is_empty()) else { return Ok(()) };
        for (column, values) in COLUMNS.iter().zip(&mut self.columns) {
            extend(column, values, run, &self.block).map_err(|Unfit { job, value }| {
                let Job { index, task, .. } = self.block[job];
                ParquetError::General(format!(
                    "{} {value} of job {index} of task {task} does not fit the column",
                    column.name
                ))
            })?;
        }
        self.rows += self.block.len();
        self.block.clear();
        Ok(())
    }

    fn write_group(&mut self) -> Result<()> {
        let description = self.file.schema_descr().columns().to_vec();
        let properties = self.file.properties().clone();
        let mut group = self.file.next_row_group()?;
        let columns = self.columns.iter_mut().zip(&mut self.chunks).zip(COLUMNS).zip(description);
        for (((values, kept), column), description) in columns {
            match values.constant(self.rows) {
                None => write_values(&mut group, values, column.is_optional())?,
                Some(constant) => {
                    if !kept.as_ref().is_some_and(|chunk| chunk.is_of(&constant, self.rows)) {
                        *kept = Some(Chunk::new(&constant, self.rows, description, &properties)?);
                    }
                    kept.as_ref().expect("made above").append_to(&mut group)?;
                }
            }
            values.clear();
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

fn extend(
    column: &Column,
    values: &mut Values,
    run: &RunColumns,
    jobs: &[Job],
) -> std::result::Result<(), Unfit> {
    match (column.source, values) {
        (Source::OfRun(get), Values::Int32(numbers)) => {
            let value = get(run);
            let fits = i32::try_from(value).map_err(|_| Unfit { job: 0, value: value.into() });
            fits.map(|value| numbers.values.resize(numbers.values.len() + jobs.len(), value))
        }
        (Source::WordOfRun(get), Values::Words(words)) => {
            words.repeat(Some(get(run)), jobs.len());
            Ok(())
        }
        (Source::Int32(get) | Source::OptionalInt32(get), Values::Int32(numbers)) => get(jobs, numbers),
        (Source::Int64(get) | Source::OptionalInt64(get), Values::Int64(numbers)) => get(jobs, numbers),
        (Source::Word(get) | Source::OptionalWord(get), Values::Words(words)) => {
            get(run, jobs, words);
            Ok(())
        }
        _ => unreachable!("the values of a column are made from its source"),
    }
}

/// Writes the next column of the group.
fn write_values(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: &Values,
    is_optional: bool,
) -> Result<()> {
    match values {
        Values::Int32(Numbers { values, levels }) => {
            write_column::<Int32Type>(group, values, is_optional.then_some(levels))
        }
        Values::Int64(Numbers { values, levels }) => {
            write_column::<Int64Type>(group, values, is_optional.then_some(levels))
        }
        Values::Words(words) => {
            let (words, levels) = words.spread();
            write_column::<ByteArrayType>(group, &words, is_optional.then_some(&levels))
        }
    }
}
