//! `overheads.parquet`: every sample, disturbed or not.
//!
//! Columns: `run`, `kind`, `class`, `cpu`, `time_ns` (CLOCK_MONOTONIC), `duration_ns`, `disturbing` (interrupts meanwhile),
//! and, where they are known, `thread`, `task` and `job`. Rows are in the order in which they were read, which is that of
//! writing on each CPU. The writer's memory is bounded by a row group.

use crate::sample::{Class, Sample};
use laxity_kernel::rings::SampleKind;
use laxity_trace::without_panic;
use parquet::basic::{
    Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as PhysicalType, ZstdLevel,
};
use parquet::column::reader::ColumnReaderImpl;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::io::Write;
use std::sync::Arc;

/// The version of the layout of `overheads.parquet`.
pub const OVERHEADS_VERSION: u32 = 1;

const VERSION_KEY: &str = "laxity.overheads.version";

/// Rows in a group: about 10 MB in memory.
const GROUP_ROWS: usize = 1 << 17;

const COLUMNS: &[(&str, PhysicalType, Repetition)] = &[
    ("run", PhysicalType::INT32, Repetition::REQUIRED),
    ("kind", PhysicalType::BYTE_ARRAY, Repetition::REQUIRED),
    ("class", PhysicalType::BYTE_ARRAY, Repetition::REQUIRED),
    ("cpu", PhysicalType::INT32, Repetition::REQUIRED),
    ("time_ns", PhysicalType::INT64, Repetition::REQUIRED),
    ("duration_ns", PhysicalType::INT64, Repetition::REQUIRED),
    ("disturbing", PhysicalType::INT32, Repetition::REQUIRED),
    ("thread", PhysicalType::INT32, Repetition::OPTIONAL),
    ("task", PhysicalType::INT32, Repetition::OPTIONAL),
    ("job", PhysicalType::INT32, Repetition::OPTIONAL),
];

/// Writes the samples of some runs.
pub struct SamplesWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    rows: Vec<(u32, Sample)>,
}

impl<W: Write + Send> SamplesWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn new(sink: W) -> Result<Self> {
        Ok(SamplesWriter {
            file: SerializedFileWriter::new(sink, Arc::new(schema()?), Arc::new(properties()?))?,
            rows: Vec::new(),
        })
    }

    /// Appends a sample of the run of this number.
    ///
    /// # Errors
    ///
    /// Those of the sink; a number that does not fit its column (2^63 ns, 2^31 for the others).
    pub fn write(&mut self, run: u32, sample: &Sample) -> Result<()> {
        self.rows.push((run, *sample));
        if self.rows.len() < GROUP_ROWS { Ok(()) } else { self.write_group() }
    }

    /// Writes what is left and the footer, and gives the sink back.
    ///
    /// # Errors
    ///
    /// As [`SamplesWriter::write`].
    pub fn finish(mut self) -> Result<W> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        self.file.into_inner()
    }

    fn write_group(&mut self) -> Result<()> {
        let rows = &self.rows;
        let mut group = self.file.next_row_group()?;
        small(&mut group, rows.iter().map(|(run, _)| *run))?;
        words(&mut group, rows.iter().map(|(_, sample)| sample.kind.name()))?;
        words(&mut group, rows.iter().map(|(_, sample)| sample.class.name()))?;
        small(&mut group, rows.iter().map(|(_, sample)| sample.cpu))?;
        large(&mut group, rows.iter().map(|(_, sample)| sample.time_ns))?;
        large(&mut group, rows.iter().map(|(_, sample)| sample.duration_ns))?;
        small(&mut group, rows.iter().map(|(_, sample)| sample.disturbing))?;
        optional(&mut group, rows.iter().map(|(_, sample)| sample.thread))?;
        optional(&mut group, rows.iter().map(|(_, sample)| sample.task))?;
        optional(&mut group, rows.iter().map(|(_, sample)| sample.job))?;
        group.close()?;
        self.rows.clear();
        Ok(())
    }
}

fn schema() -> Result<Type> {
    let field = |(name, physical, repetition)| {
        let field = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        let field = match physical {
            PhysicalType::BYTE_ARRAY => {
                field.with_converted_type(ConvertedType::UTF8).with_logical_type(Some(LogicalType::String))
            }
            _ => field,
        };
        field.build().map(Arc::new)
    };
    let fields = COLUMNS.iter().copied().map(field).collect::<Result<_>>()?;
    Type::group_type_builder("overheads").with_fields(fields).build()
}

fn properties() -> Result<WriterProperties> {
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("laxity {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(vec![KeyValue::new(
            VERSION_KEY.to_owned(),
            OVERHEADS_VERSION.to_string(),
        )]));
    for &(name, physical, _) in COLUMNS {
        let path = ColumnPath::from(name);
        properties = match physical {
            PhysicalType::BYTE_ARRAY => properties.set_column_dictionary_enabled(path, true),
            _ => properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
        };
    }
    Ok(properties.build())
}

type Group<'a, W> = SerializedRowGroupWriter<'a, W>;

fn column<T: DataType, W: Write + Send>(
    group: &mut Group<'_, W>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<()> {
    let missing = || ParquetError::General("fewer columns in the schema than in a row".to_owned());
    let mut writer = group.next_column()?.ok_or_else(missing)?;
    writer.typed::<T>().write_batch(values, levels, None)?;
    writer.close()
}

fn fitting<T: TryFrom<V>, V: Copy + std::fmt::Display>(value: V) -> Result<T> {
    T::try_from(value).map_err(|_| ParquetError::General(format!("{value} does not fit its column")))
}

fn small<W: Write + Send>(group: &mut Group<'_, W>, values: impl Iterator<Item = u32>) -> Result<()> {
    column::<Int32Type, W>(group, &values.map(fitting).collect::<Result<Vec<i32>>>()?, None)
}

fn large<W: Write + Send>(group: &mut Group<'_, W>, values: impl Iterator<Item = u64>) -> Result<()> {
    column::<Int64Type, W>(group, &values.map(fitting).collect::<Result<Vec<i64>>>()?, None)
}

fn words<'a, W: Write + Send>(group: &mut Group<'_, W>, values: impl Iterator<Item = &'a str>) -> Result<()> {
    column::<ByteArrayType, W>(group, &values.map(ByteArray::from).collect::<Vec<_>>(), None)
}

fn optional<W: Write + Send>(
    group: &mut Group<'_, W>,
    values: impl Iterator<Item = Option<u32>> + Clone,
) -> Result<()> {
    let levels: Vec<i16> = values.clone().map(|value| i16::from(value.is_some())).collect();
    let known = values.flatten().map(fitting).collect::<Result<Vec<i32>>>()?;
    column::<Int32Type, W>(group, &known, Some(&levels))
}

/// Reads `overheads.parquet`, and hands every sample with the number of its run to `each`.
///
/// # Errors
///
/// A damaged file, one that laxity did not write, one of another version.
pub fn read_samples(source: impl ChunkReader + 'static, mut each: impl FnMut(u32, Sample)) -> Result<()> {
    let file = without_panic(|| {
        let file = SerializedFileReader::new(source)?;
        check(&file).map(|()| file)
    })?;
    (0..file.num_row_groups()).try_for_each(|group| {
        let samples = without_panic(|| read_group(&file, group))?;
        samples.into_iter().for_each(|(run, sample)| each(run, sample));
        Ok(())
    })
}

fn read_group(file: &impl FileReader, group: usize) -> Result<Vec<(u32, Sample)>> {
    let reader = file.get_row_group(group)?;
    let reader = reader.as_ref();
    let (run, cpu, disturbing) = (numbers(reader, 0)?, numbers(reader, 3)?, numbers(reader, 6)?);
    let kind = named(reader, 1, SampleKind::named)?;
    let class = named(reader, 2, Class::named)?;
    let (time_ns, duration_ns) = (times(reader, 4)?, times(reader, 5)?);
    let [thread, task, job] = [7, 8, 9].map(|index| numbers(reader, index));
    let (thread, task, job) = (thread?, task?, job?);
    let there = |value: Option<u32>| value.ok_or_else(|| damaged("a row lacks a value"));
    let sample = |row: usize| {
        let sample = Sample {
            kind: kind[row],
            class: class[row],
            time_ns: time_ns[row],
            duration_ns: duration_ns[row],
            cpu: there(cpu[row])?,
            thread: thread[row],
            task: task[row],
            job: job[row],
            disturbing: there(disturbing[row])?,
        };
        Ok((there(run[row])?, sample))
    };
    (0..kind.len()).map(sample).collect()
}

fn damaged(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

fn check(file: &impl FileReader) -> Result<()> {
    let about = file.metadata().file_metadata();
    let mut pairs = about.key_value_metadata().into_iter().flatten();
    let version = pairs.find(|pair| pair.key == VERSION_KEY).and_then(|pair| pair.value.clone());
    match version {
        None => return Err(damaged("laxity did not write it as overheads")),
        Some(version) if version != OVERHEADS_VERSION.to_string() => {
            return Err(ParquetError::General(format!(
                "version {version} of the layout; this laxity reads version {OVERHEADS_VERSION}"
            )));
        }
        Some(_) => (),
    }
    let found = about.schema_descr().columns().iter();
    let found: Vec<(&str, PhysicalType)> = found.map(|c| (c.name(), c.physical_type())).collect();
    if !found.iter().copied().eq(COLUMNS.iter().map(|&(name, physical, _)| (name, physical))) {
        return Err(damaged("it has other columns than its version says"));
    }
    Ok(())
}

fn values<T: DataType>(reader: &dyn RowGroupReader, index: usize) -> Result<Vec<Option<T::T>>> {
    let rows = usize::try_from(reader.metadata().num_rows()).map_err(|_| damaged("negative row count"))?;
    let mut column: ColumnReaderImpl<T> = get_typed_column_reader(reader.get_column_reader(index)?);
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut read = 0;
    while read < rows {
        match column.read_records(rows - read, Some(&mut levels), None, &mut values)?.0 {
            0 => return Err(damaged("it ends where more should follow")),
            more => read += more,
        }
    }
    let mut values = values.into_iter();
    let all: Vec<Option<T::T>> = match COLUMNS[index].2 {
        Repetition::OPTIONAL => {
            levels.into_iter().map(|level| if level > 0 { values.next() } else { None }).collect()
        }
        _ => values.map(Some).collect(),
    };
    if all.len() != rows {
        return Err(damaged("a column has fewer values than the file has rows"));
    }
    Ok(all)
}

fn numbers(reader: &dyn RowGroupReader, index: usize) -> Result<Vec<Option<u32>>> {
    values::<Int32Type>(reader, index)?.into_iter().map(|value| value.map(fitting).transpose()).collect()
}

fn times(reader: &dyn RowGroupReader, index: usize) -> Result<Vec<u64>> {
    let there = |value: Option<i64>| value.ok_or_else(|| damaged("a row lacks a time")).and_then(fitting);
    values::<Int64Type>(reader, index)?.into_iter().map(there).collect()
}

fn named<T>(reader: &dyn RowGroupReader, index: usize, of: impl Fn(&str) -> Option<T>) -> Result<Vec<T>> {
    let known = |word: Option<ByteArray>| {
        let word = word.ok_or_else(|| damaged("a row lacks a word"))?;
        std::str::from_utf8(word.data()).ok().and_then(&of).ok_or_else(|| {
            ParquetError::General(format!("unknown: {:?}", String::from_utf8_lossy(word.data())))
        })
    };
    values::<ByteArrayType>(reader, index)?.into_iter().map(known).collect()
}
