//! Turns rows into row groups of a Parquet file.

use super::columns::{COLUMNS, EVENTS_VERSION, Optional, RUN_KEY, Rows, VERSION_KEY, schema};
use crate::EventKind;
use crate::column_writer::write_column;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnPath;
use std::io::Write;
use std::sync::Arc;

/// Writes the row groups of one run.
pub(super) struct Encoder<W: Write + Send> {
    file: SerializedFileWriter<W>,
    run: i32,
    /// The name of each kind, at its code.
    names: Vec<ByteArray>,
    /// The column `run` of a group, and the one of names: as long as the longest group so far.
    runs: Vec<i32>,
    kinds: Vec<ByteArray>,
}

impl<W: Write + Send> Encoder<W> {
    pub(super) fn new(sink: W, run: u32) -> Result<Self> {
        let number = i32::try_from(run)
            .map_err(|_| ParquetError::General(format!("run {run} does not fit the column")))?;
        let metadata = vec![
            KeyValue::new(VERSION_KEY.to_owned(), EVENTS_VERSION.to_string()),
            KeyValue::new(RUN_KEY.to_owned(), run.to_string()),
        ];
        Ok(Encoder {
            file: SerializedFileWriter::new(sink, schema()?, Arc::new(properties(metadata)?))?,
            run: number,
            names: EventKind::ALL.iter().map(|kind| ByteArray::from(kind.name())).collect(),
            runs: Vec::new(),
            kinds: Vec::new(),
        })
    }

    /// Appends one row group.
    pub(super) fn write(&mut self, rows: &Rows) -> Result<()> {
        self.runs.clear();
        self.runs.resize(rows.len(), self.run);
        self.kinds.clear();
        self.kinds.extend(rows.kind.iter().map(|code| self.names[usize::from(*code)].clone()));
        let mut group = self.file.next_row_group()?;
        write_column::<Int32Type>(&mut group, &self.runs, None)?;
        write_column::<Int64Type>(&mut group, &rows.time_ns, None)?;
        write_optional::<Int32Type>(&mut group, &rows.cpu)?;
        write_column::<ByteArrayType>(&mut group, &self.kinds, None)?;
        write_optional::<Int32Type>(&mut group, &rows.task)?;
        write_optional::<Int32Type>(&mut group, &rows.job)?;
        write_optional::<Int64Type>(&mut group, &rows.argument)?;
        group.close()?;
        Ok(())
    }

    /// Writes the footer and gives the sink back.
    pub(super) fn finish(self) -> Result<W> {
        self.file.into_inner()
    }
}

fn properties(metadata: Vec<KeyValue>) -> Result<WriterProperties> {
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("laxity {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        // The one column by which readers skip row groups.
        .set_column_statistics_enabled(ColumnPath::from("time_ns"), EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(metadata));
    for &(name, ..) in COLUMNS {
        let path = ColumnPath::from(name);
        properties = match name {
            "kind" => properties.set_column_dictionary_enabled(path, true),
            _ => properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
        };
    }
    Ok(properties.build())
}

fn write_optional<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    column: &Optional<T::T>,
) -> Result<()> {
    write_column::<T>(group, &column.values, Some(&column.levels))
}
