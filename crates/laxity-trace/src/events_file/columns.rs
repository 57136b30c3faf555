//! The columns, in the order of the file, and the rows of a group before they are encoded.

use crate::Event;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// The version of the layout of an events file.
pub const EVENTS_VERSION: u32 = 1;

/// Key of the version among the file's metadata.
pub(super) const VERSION_KEY: &str = "laxity.events.version";
/// Key of the number of the run among the file's metadata.
pub(super) const RUN_KEY: &str = "laxity.events.run";

/// Name, type and whether it can be null, in the order of the file.
pub(super) const COLUMNS: &[(&str, PhysicalType, Repetition)] = &[
    ("run", PhysicalType::INT32, Repetition::REQUIRED),
    ("time_ns", PhysicalType::INT64, Repetition::REQUIRED),
    ("cpu", PhysicalType::INT32, Repetition::OPTIONAL),
    ("kind", PhysicalType::BYTE_ARRAY, Repetition::REQUIRED),
    ("task", PhysicalType::INT32, Repetition::OPTIONAL),
    ("job", PhysicalType::INT32, Repetition::OPTIONAL),
    ("argument", PhysicalType::INT64, Repetition::OPTIONAL),
];

/// The schema of the file.
pub(super) fn schema() -> Result<TypePtr, ParquetError> {
    let field = |(name, physical, repetition)| {
        let field = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        if physical == PhysicalType::BYTE_ARRAY {
            return field
                .with_converted_type(ConvertedType::UTF8)
                .with_logical_type(Some(LogicalType::String))
                .build();
        }
        field.build()
    };
    let fields =
        COLUMNS.iter().copied().map(|column| field(column).map(Arc::new)).collect::<Result<_, _>>()?;
    Ok(Arc::new(Type::group_type_builder("events").with_fields(fields).build()?))
}

/// A column that can be null: one level per row (1 for a value, 0 for a null), and the values that are there.
#[derive(Default)]
pub(super) struct Optional<T> {
    pub(super) levels: Vec<i16>,
    pub(super) values: Vec<T>,
}

impl<T> Optional<T> {
    #[inline]
    fn push(&mut self, value: Option<T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn clear(&mut self) {
        self.levels.clear();
        self.values.clear();
    }
}

/// Rows on their way to the file, by column.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) time_ns: Vec<i64>,
    pub(super) kind: Vec<u8>,
    pub(super) cpu: Optional<i32>,
    pub(super) task: Optional<i32>,
    pub(super) job: Optional<i32>,
    pub(super) argument: Optional<i64>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.time_ns.len()
    }

    pub(super) fn clear(&mut self) {
        self.time_ns.clear();
        self.kind.clear();
        self.cpu.clear();
        self.task.clear();
        self.job.clear();
        self.argument.clear();
    }

    /// Appends an event, or nothing if one of its numbers does not fit its column.
    #[inline]
    pub(super) fn push(&mut self, event: &Event) -> Result<(), ParquetError> {
        let Some(row) = fitting(event) else { return Err(does_not_fit(event)) };
        self.time_ns.push(row.time_ns);
        self.kind.push(event.kind.code());
        self.cpu.push(row.cpu);
        self.task.push(row.task);
        self.job.push(row.job);
        self.argument.push(row.argument);
        Ok(())
    }
}

/// The numbers of an event as the signed integers that Parquet has.
struct Row {
    time_ns: i64,
    cpu: Option<i32>,
    task: Option<i32>,
    job: Option<i32>,
    argument: Option<i64>,
}

#[inline]
fn fitting(event: &Event) -> Option<Row> {
    let small = |value: Option<u32>| value.map(|value| i32::try_from(value).ok());
    let argument = event.argument.map(|value| i64::try_from(value).ok());
    // `Some(None)` is a value that does not fit.
    let checked = |value: Option<Option<i32>>| if value == Some(None) { None } else { Some(value.flatten()) };
    Some(Row {
        time_ns: i64::try_from(event.time_ns).ok()?,
        cpu: checked(small(event.cpu))?,
        task: checked(small(event.task))?,
        job: checked(small(event.job))?,
        argument: if argument == Some(None) { return None } else { argument.flatten() },
    })
}

#[cold]
fn does_not_fit(event: &Event) -> ParquetError {
    let small = |value: Option<u32>| value.filter(|value| i32::try_from(*value).is_err()).map(u64::from);
    let large = |value: Option<u64>| value.filter(|value| i64::try_from(*value).is_err());
    let numbers = [
        ("time_ns", large(Some(event.time_ns))),
        ("cpu", small(event.cpu)),
        ("task", small(event.task)),
        ("job", small(event.job)),
        ("argument", large(event.argument)),
    ];
    let (name, value) =
        numbers.into_iter().find_map(|(name, value)| Some((name, value?))).unwrap_or_default();
    ParquetError::General(format!(
        "{name} {value} of a {} event at {} ns does not fit the column",
        event.kind.name(),
        event.time_ns
    ))
}
