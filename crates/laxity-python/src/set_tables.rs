//! Task sets as tables: a row for each task, in the columns of laxity's CSV, the set's name or number before them.

use crate::tables::{Source, Table, text};
use arrow_array::builder::{BooleanBuilder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use laxity_model::{Arrival, Diagnostic, Result, Task, TaskRow, TaskSet, closest};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The column by whose values tasks are grouped.
const SET: &str = "set";
/// The column that says whether a period is the least time between arrivals.
const SPORADIC: &str = "sporadic";

impl Source {
    /// The sets: all rows are one of this name where there is no column `set`.
    pub fn sets(&self, name: &str) -> Result<Vec<TaskSet>> {
        self.check_columns()?;
        let mut sets: Vec<(String, Vec<Task>)> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut row_before = 0;
        for batch in &self.batches {
            let columns = Columns::of(batch);
            for row in 0..batch.num_rows() {
                let context = |error: Diagnostic| error.context(format!("row {}", row_before + row));
                let set = columns.set(row).map_err(context)?.unwrap_or_else(|| name.to_owned());
                // Rows of one set usually follow each other.
                let at = match sets.last() {
                    Some((last, _)) if *last == set => sets.len() - 1,
                    _ => *known.entry(set).or_insert_with_key(|set| {
                        sets.push((set.clone(), Vec::new()));
                        sets.len() - 1
                    }),
                };
                let tasks = &mut sets[at].1;
                let task = columns.task(row, tasks.len()).map_err(context)?;
                tasks.push(task);
            }
            row_before += batch.num_rows();
        }
        let made = sets.into_iter().map(|(name, tasks)| {
            let set = TaskSet::new(name.clone(), tasks);
            set.map_err(|error| error.context(format!("set `{name}`")))
        });
        made.collect()
    }

    /// Refuses columns that are not known, or lack.
    fn check_columns(&self) -> Result<()> {
        let known: Vec<&str> = [SET].into_iter().chain(TaskRow::COLUMNS).chain([SPORADIC]).collect();
        let rule = format!("the columns are {} (wcet_ns and period_ns are needed)", known.join(", "));
        let mut seen = HashSet::new();
        for field in self.schema.fields() {
            if !seen.insert(field.name()) {
                return Err(Diagnostic::usage(format!("the table has two columns `{}`", field.name()))
                    .hint("leave one of them out"));
            }
            // pandas adds its index where rows were sorted or put together.
            let is_index = field.name().starts_with("__index_level_");
            if !is_index && !known.contains(&field.name().as_str()) {
                let with_unit = known.iter().find(|known| known.starts_with(&format!("{}_", field.name())));
                let hint = match with_unit.copied().or_else(|| closest(field.name(), &known)) {
                    Some(near) => format!("did you mean `{near}`? Else leave it out; {rule}"),
                    None => format!("leave it out; {rule}"),
                };
                return Err(Diagnostic::usage(format!(
                    "the table has the unknown column `{}`",
                    field.name()
                ))
                .hint(hint));
            }
        }
        for needed in ["wcet_ns", "period_ns"] {
            if self.schema.index_of(needed).is_err() {
                return Err(
                    Diagnostic::usage(format!("the table lacks the column `{needed}`")).hint(rule.clone())
                );
            }
        }
        Ok(())
    }
}

/// The columns of a batch that there are.
struct Columns<'a> {
    set: Option<&'a dyn Array>,
    name: Option<&'a dyn Array>,
    numbers: [Option<&'a dyn Array>; 5],
    sporadic: Option<&'a dyn Array>,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch) -> Self {
        let there = |column: &&dyn Array| column.data_type() != &DataType::Null;
        let column = |name: &str| batch.column_by_name(name).map(|column| &**column).filter(there);
        let [name, numbers @ ..] = TaskRow::COLUMNS.map(column);
        Columns { set: column(SET), name, numbers, sporadic: column(SPORADIC) }
    }

    fn set(&self, row: usize) -> Result<Option<String>> {
        let Some(column) = self.set else { return Ok(None) };
        if column.is_null(row) {
            return Err(Diagnostic::usage(format!("{SET}: nothing is there"))
                .hint("name the set of every row, or leave the column out: then all rows are one set"));
        }
        match text(column, row) {
            Some(text) => Ok(Some(text.to_owned())),
            None => {
                let hint = |error: Diagnostic| error.hint("name sets by texts, or by whole numbers");
                Ok(number(column, row, SET).map_err(hint)?.map(|number| number.to_string()))
            }
        }
    }

    fn task(&self, row: usize, id: usize) -> Result<Task> {
        let mut values = [None; 5];
        for ((value, column), name) in values.iter_mut().zip(self.numbers).zip(&TaskRow::COLUMNS[1..]) {
            if let Some(column) = column {
                *value = number(column, row, name)?;
            }
        }
        let name = match self.name.filter(|column| column.is_valid(row)) {
            None => None,
            Some(column) => Some(text(column, row).ok_or_else(|| {
                Diagnostic::usage(format!("name: {} is no text", column.data_type()))
                    .hint("give texts, or leave it out")
            })?),
        };
        let task = TaskRow { name, values }.task(id)?;
        match self.sporadic.filter(|column| column.is_valid(row)) {
            None => Ok(task),
            Some(column) => match column.as_boolean_opt() {
                Some(column) if column.value(row) => {
                    let min_interarrival = task.period();
                    Ok(Task { arrival: Arrival::Sporadic { min_interarrival }, ..task })
                }
                Some(_) => Ok(task),
                None => Err(Diagnostic::usage(format!("sporadic: {} is no boolean", column.data_type()))
                    .hint("give true or false")),
            },
        }
    }
}

/// A whole number of at least 0; nothing where there is none.
fn number(column: &dyn Array, row: usize, name: &str) -> Result<Option<u64>> {
    macro_rules! whole {
        ($kind:ty) => {{
            let value = column.as_primitive::<$kind>().value(row);
            u64::try_from(value).map_err(|_| refused(name, value))
        }};
    }
    if column.is_null(row) || column.data_type() == &DataType::Null {
        return Ok(None);
    }
    let value = match column.data_type() {
        DataType::Int8 => whole!(Int8Type)?,
        DataType::Int16 => whole!(Int16Type)?,
        DataType::Int32 => whole!(Int32Type)?,
        DataType::Int64 => whole!(Int64Type)?,
        DataType::UInt8 => whole!(UInt8Type)?,
        DataType::UInt16 => whole!(UInt16Type)?,
        DataType::UInt32 => whole!(UInt32Type)?,
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row),
        // pandas makes floats of whole numbers where some are missing.
        DataType::Float32 => return of_float(column.as_primitive::<Float32Type>().value(row).into(), name),
        DataType::Float64 => return of_float(column.as_primitive::<Float64Type>().value(row), name),
        // Databases add up whole numbers as decimals.
        DataType::Decimal128(_, scale) => {
            of_decimal(column.as_primitive::<Decimal128Type>().value(row), *scale, name)?
        }
        DataType::Decimal32(_, scale) => {
            of_decimal(column.as_primitive::<Decimal32Type>().value(row).into(), *scale, name)?
        }
        DataType::Decimal64(_, scale) => {
            of_decimal(column.as_primitive::<Decimal64Type>().value(row).into(), *scale, name)?
        }
        DataType::Decimal256(_, scale) => {
            let units = column.as_primitive::<Decimal256Type>().value(row);
            let shown = || refused(name, shown_decimal(&units.to_string(), *scale));
            of_decimal(units.to_i128().ok_or_else(shown)?, *scale, name)?
        }
        other => {
            return Err(Diagnostic::usage(format!("{name}: {other} is no number"))
                .hint("give whole numbers: times in nanoseconds, sizes in bytes"));
        }
    };
    Ok(Some(value))
}

/// Whole numbers that floats have exactly.
const EXACT_BELOW: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "looked at before")]
fn of_float(value: f64, name: &str) -> Result<Option<u64>> {
    match value {
        value if value.is_nan() => Ok(None),
        value if value.fract() == 0.0 && (0.0..EXACT_BELOW).contains(&value) => Ok(Some(value as u64)),
        value if value >= EXACT_BELOW && value.is_finite() => Err(Diagnostic::usage(format!(
            "{name}: {value} is a float from 2^53 on, where floats are not exact"
        ))
        .hint("give whole numbers")),
        value => Err(refused(name, value)),
    }
}

/// A decimal of so many units of 10^-scale.
fn of_decimal(units: i128, scale: i8, name: &str) -> Result<u64> {
    let power = 10_i128.checked_pow(scale.unsigned_abs().into());
    let whole = power.and_then(|power| match scale {
        0.. => (units % power == 0).then_some(units / power),
        _ => units.checked_mul(power),
    });
    whole
        .and_then(|whole| u64::try_from(whole).ok())
        .ok_or_else(|| refused(name, shown_decimal(&units.to_string(), scale)))
}

/// A decimal of so many units of 10^-scale, as it is written.
fn shown_decimal(units: &str, scale: i8) -> String {
    let (sign, digits) = units.strip_prefix('-').map_or(("", units), |digits| ("-", digits));
    let decimals = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        return format!("{sign}{digits}{}", "0".repeat(decimals));
    }
    let digits = format!("{digits:0>width$}", width = decimals + 1);
    let (whole, rest) = digits.split_at(digits.len() - decimals);
    format!("{sign}{whole}.{rest}")
}

fn refused(name: &str, value: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::usage(format!("{name}: {value} is not a whole number from 0 on"))
        .hint("times are whole nanoseconds and sizes whole bytes")
}

/// Refuses a task of which a table has no more than a part.
fn carried(set: &TaskSet, task: &Task) -> Result<()> {
    let back = TaskRow::of(task).task(0)?;
    if (Task { arrival: task.arrival, ..back }) == *task {
        return Ok(());
    }
    let what = format!("task `{}` of `{}` has what no column of a table is for", task.name, set.name());
    Err(Diagnostic::usage(format!("{what}: a priority, an affinity, a kind, a demand, a group or the like"))
        .hint("give the task sets themselves instead of a table"))
}

impl Table {
    /// A row for each task.
    pub fn of_sets<'a>(sets: impl Iterator<Item = &'a TaskSet>) -> Result<Table> {
        let (mut names, mut tasks) = (StringBuilder::new(), StringBuilder::new());
        let mut numbers: [UInt64Builder; 5] = Default::default();
        let mut sporadic = BooleanBuilder::new();
        let mut known = HashSet::new();
        for set in sets {
            if !known.insert(set.name()) {
                return Err(Diagnostic::usage(format!(
                    "two sets are named `{}`: a table tells sets by their names",
                    set.name()
                ))
                .hint("give each a name, as in laxity.TaskSet(tasks, name=...)"));
            }
            for task in set.tasks() {
                carried(set, task)?;
                names.append_value(set.name());
                tasks.append_value(&task.name);
                let row = TaskRow::of(task);
                numbers.iter_mut().zip(row.values).for_each(|(column, value)| column.append_option(value));
                sporadic.append_value(matches!(task.arrival, Arrival::Sporadic { .. }));
            }
        }
        let [name, columns @ ..] = TaskRow::COLUMNS;
        let mut all = vec![(SET, Arc::new(names.finish()) as _), (name, Arc::new(tasks.finish()) as _)];
        for (name, mut column) in columns.into_iter().zip(numbers) {
            all.push((name, Arc::new(column.finish()) as _));
        }
        all.push((SPORADIC, Arc::new(sporadic.finish()) as _));
        Table::of(all)
    }
}
