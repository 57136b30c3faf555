//! Points as a table: CSV and Parquet with the same columns.

use crate::family::Family;
use laxity_model::{Diagnostic, Result};
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::fmt::Write;
use std::sync::Arc;

/// The version of the layout of the tables.
pub const POINTS_VERSION: u32 = 1;

/// Key of the version among a Parquet file's metadata.
const VERSION_KEY: &str = "laxity.points.version";

/// A column's values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    Words(Vec<String>),
    Whole(Vec<i64>),
    Real(Vec<Option<f64>>),
}

/// The table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<(String, Values)>,
    rows: usize,
}

/// What the matrix chose for the family of each row: a column per parameter.
pub(crate) fn varied_columns(
    families: &[Family],
    rows: impl Iterator<Item = usize> + Clone,
) -> Vec<(String, Values)> {
    let parameters = families.first().into_iter().flat_map(|family| family.varied.keys());
    let column = |parameter: &String| {
        let values = rows.clone().map(|family| families[family].varied[parameter].clone());
        (parameter.clone(), Values::Words(values.collect()))
    };
    parameters.map(column).collect()
}

impl Table {
    /// Of columns of `rows` values each.
    pub(crate) fn of_columns(columns: Vec<(String, Values)>, rows: usize) -> Table {
        Table { columns, rows }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// As CSV with a header. Reals have the fewest digits that read as the same number; what there is not is empty.
    pub fn csv(&self) -> String {
        let header: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let mut text = header.join(",") + "\n";
        for row in 0..self.rows {
            for (at, (_, values)) in self.columns.iter().enumerate() {
                let comma = if at == 0 { "" } else { "," };
                let _ = match values {
                    Values::Words(words) => write!(text, "{comma}{}", quoted(&words[row])),
                    Values::Whole(numbers) => write!(text, "{comma}{}", numbers[row]),
                    Values::Real(numbers) => match numbers[row] {
                        Some(number) => write!(text, "{comma}{number}"),
                        None => write!(text, "{comma}"),
                    },
                };
            }
            text.push('\n');
        }
        text
    }

    /// As a Parquet file.
    ///
    /// # Errors
    ///
    /// The library could not write it.
    pub fn parquet(&self) -> Result<Vec<u8>> {
        self.try_parquet().map_err(|error| {
            Diagnostic::environment(format!("cannot make a Parquet file: {error}"))
                .hint("report this as a bug in laxity")
        })
    }

    fn try_parquet(&self) -> std::result::Result<Vec<u8>, ParquetError> {
        let fields: Vec<_> = self
            .columns
            .iter()
            .map(|(name, values)| field(name, values).map(Arc::new))
            .collect::<std::result::Result<_, _>>()?;
        let schema = Arc::new(Type::group_type_builder("points").with_fields(fields).build()?);
        let version = KeyValue::new(VERSION_KEY.to_owned(), POINTS_VERSION.to_string());
        let properties = WriterProperties::builder()
            .set_created_by(format!("laxity {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_key_value_metadata(Some(vec![version]));
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
        let mut group = file.next_row_group()?;
        for (_, values) in &self.columns {
            match values {
                Values::Words(words) => {
                    let words: Vec<ByteArray> = words.iter().map(|word| word.as_str().into()).collect();
                    write_column::<ByteArrayType>(&mut group, &words, None)?;
                }
                Values::Whole(numbers) => write_column::<Int64Type>(&mut group, numbers, None)?,
                Values::Real(numbers) => {
                    let levels: Vec<i16> = numbers.iter().map(|number| i16::from(number.is_some())).collect();
                    let numbers: Vec<f64> = numbers.iter().copied().flatten().collect();
                    write_column::<DoubleType>(&mut group, &numbers, Some(&levels))?;
                }
            }
        }
        group.close()?;
        file.into_inner()
    }
}

fn quoted(word: &str) -> String {
    if word.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", word.replace('"', "\"\""))
    } else {
        word.to_owned()
    }
}

fn field(name: &str, values: &Values) -> std::result::Result<Type, ParquetError> {
    let (physical, repetition) = match values {
        Values::Words(_) => (PhysicalType::BYTE_ARRAY, Repetition::REQUIRED),
        Values::Whole(_) => (PhysicalType::INT64, Repetition::REQUIRED),
        Values::Real(_) => (PhysicalType::DOUBLE, Repetition::OPTIONAL),
    };
    let field = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    match values {
        Values::Words(_) => field
            .with_converted_type(ConvertedType::UTF8)
            .with_logical_type(Some(LogicalType::String))
            .build(),
        Values::Whole(_) | Values::Real(_) => field.build(),
    }
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> std::result::Result<(), ParquetError> {
    let missing = || ParquetError::General("a column more than in the schema".to_owned());
    let mut writer = group.next_column()?.ok_or_else(missing)?;
    writer.typed::<T>().write_batch(values, levels, None)?;
    writer.close()
}
