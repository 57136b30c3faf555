//! The encoded column of a row group in which all rows are the same.

use crate::column_writer::write_batch;
use bytes::Bytes;
use parquet::basic::Type;
use parquet::column::writer::{ColumnCloseResult, get_column_writer};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::io::Write;

/// What every row has.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Constant {
    Null,
    Number(i64),
    Word(ByteArray),
}

impl Constant {
    pub(super) fn number(number: Option<i64>) -> Constant {
        number.map_or(Constant::Null, Constant::Number)
    }

    pub(super) fn word(word: Option<&ByteArray>) -> Constant {
        word.map_or(Constant::Null, |word| Constant::Word(word.clone()))
    }
}

/// The bytes of such a column, which any group with as many rows can have.
pub(super) struct Chunk {
    constant: Constant,
    rows: usize,
    bytes: Bytes,
    close: ColumnCloseResult,
}

impl Chunk {
    pub(super) fn new(
        constant: &Constant,
        rows: usize,
        description: ColumnDescPtr,
        properties: &WriterPropertiesPtr,
    ) -> Result<Chunk> {
        let mut sink = TrackedWrite::new(Vec::new());
        let is_optional = description.max_def_level() > 0;
        let level = i16::from(*constant != Constant::Null);
        let levels = is_optional.then(|| vec![level; rows]);
        let physical = description.physical_type();
        let page_writer = Box::new(SerializedPageWriter::new(&mut sink));
        let mut writer = get_column_writer(description, properties.clone(), page_writer);
        let levels = levels.as_deref();
        match (constant, physical) {
            (Constant::Null, Type::INT32) => write_batch::<Int32Type>(&mut writer, &[], levels)?,
            (Constant::Null, Type::INT64) => write_batch::<Int64Type>(&mut writer, &[], levels)?,
            (Constant::Null, _) => write_batch::<ByteArrayType>(&mut writer, &[], levels)?,
            (Constant::Number(number), Type::INT32) => {
                let number = i32::try_from(*number).map_err(|error| ParquetError::External(error.into()))?;
                write_batch::<Int32Type>(&mut writer, &vec![number; rows], levels)?;
            }
            (Constant::Number(number), _) => {
                write_batch::<Int64Type>(&mut writer, &vec![*number; rows], levels)?;
            }
            (Constant::Word(word), _) => {
                write_batch::<ByteArrayType>(&mut writer, &vec![word.clone(); rows], levels)?;
            }
        }
        let close = writer.close()?;
        Ok(Chunk { constant: constant.clone(), rows, bytes: sink.into_inner()?.into(), close })
    }

    pub(super) fn is_of(&self, constant: &Constant, rows: usize) -> bool {
        self.rows == rows && self.constant == *constant
    }

    pub(super) fn append_to(
        &self,
        group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    ) -> Result<()> {
        group.append_column(&self.bytes, self.close.clone())
    }
}
