//! All points of all curves as a table: CSV and Parquet with the same columns.
//!
//! A row per family, guarantee, curve and value of the axis, in this order. The matrix's parameters are columns of the same names.

use crate::axis::Variable;
use crate::curve::guarantee_name;
use crate::{Point, Points, Study, Tally};
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
enum Values {
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

/// One row, before it is taken apart.
struct Row<'a> {
    study: &'a Study,
    point: Point,
    series: usize,
    tally: &'a Tally,
}

impl Row<'_> {
    fn curve(&self) -> &crate::Curve {
        &self.study.curves[self.study.series[self.series].curve]
    }

    fn count(&self) -> &crate::Count {
        &self.tally.counts[self.series]
    }
}

type Word = fn(&Row<'_>) -> String;
type Whole = fn(&Row<'_>) -> u64;
type Real = fn(&Row<'_>) -> Option<f64>;

const WORDS: [(&str, Word); 4] = [
    ("guarantee", |row| guarantee_name(row.study.series[row.series].guarantee).to_owned()),
    ("curve", |row| row.curve().name.clone()),
    ("scheduler", |row| row.curve().scheduler.to_string()),
    ("axis", |row| row.study.axis.variable.name().to_owned()),
];

const WHOLE: [(&str, Whole); 4] = [
    ("sets", |row| row.tally.sets),
    ("accepted", |row| row.count().accepted),
    ("out_of_work", |row| row.count().out_of_work),
    ("not_applicable", |row| row.count().not_applicable),
];

const REAL: [(&str, Real); 4] = [
    ("acceptance", |row| Some(row.tally.acceptance(row.series))),
    ("mean_tasks", |row| Some(row.tally.mean_tasks())),
    ("mean_utilization", |row| Some(row.tally.mean_utilization())),
    ("weighted", |row| row.tally.weighted(row.series)),
];

impl Table {
    /// Of the points of a study.
    pub fn of(study: &Study, points: &Points) -> Table {
        let mut rows = Vec::new();
        for family in 0..study.families.len() {
            let own = || points.iter().filter(|(point, _)| point.family == family);
            for series in 0..study.series.len() {
                rows.extend(own().map(|(&point, tally)| Row { study, point, series, tally }));
            }
        }
        let mut columns: Vec<(String, Values)> = Vec::new();
        for parameter in study.families.first().into_iter().flat_map(|family| family.varied.keys()) {
            let value = |row: &Row<'_>| study.families[row.point.family].varied[parameter].clone();
            columns.push((parameter.clone(), Values::Words(rows.iter().map(value).collect())));
        }
        let add = |name: &str, values| (name.to_owned(), values);
        columns.extend(WORDS.map(|(name, of)| add(name, Values::Words(rows.iter().map(of).collect()))));
        let value = |row: &Row<'_>| Some(study.axis.position(row.point.value));
        columns.push(add("value", Values::Real(rows.iter().map(value).collect())));
        let whole = |number: u64| i64::try_from(number).expect("counts of at most a million sets");
        columns.extend(
            WHOLE.map(|(name, of)| add(name, Values::Whole(rows.iter().map(|row| whole(of(row))).collect()))),
        );
        columns.extend(REAL.map(|(name, of)| add(name, Values::Real(rows.iter().map(of).collect()))));
        Table { columns, rows: rows.len() }
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

impl Variable {
    /// Along an axis of figures.
    pub fn title(self) -> &'static str {
        match self {
            Variable::Tasks => "number of tasks n",
            Variable::Utilization => "total utilization U",
            Variable::Processors => "number of processors m",
        }
    }
}
