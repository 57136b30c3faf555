//! Writes the columns of a row group one after the other.

use parquet::column::writer::{ColumnWriter, get_typed_column_writer_mut};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedRowGroupWriter;
use std::io::Write;

/// Writes the next column: its values, and if it can be null a 1 for each row that has one and a 0 for each other.
pub(crate) fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<()> {
    let missing = || ParquetError::General("fewer columns in the schema than in a row".to_owned());
    let mut writer = group.next_column()?.ok_or_else(missing)?;
    writer.typed::<T>().write_batch(values, levels, None)?;
    writer.close()
}

/// The same into a column that is in no group yet.
pub(crate) fn write_batch<T: DataType>(
    writer: &mut ColumnWriter<'_>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<()> {
    get_typed_column_writer_mut::<T>(writer).write_batch(values, levels, None).map(drop)
}
