//! The CSV files that the field's tools exchange: SchedCAT's columns, and what laxity records (see `examples/costs`).
//!
//! - Overheads: `TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK, RELEASE-LATENCY`, for G-EDF-MP also `MAILBOX` and
//!   `DSP`, for push and pull `STEP`; times in µs.
//! - Cache-related delays: `WSS, MEM, L1, L2, L3`; the working set in KiB, delays in µs.
//! - Samples: one column, headed `ns` or `us`.
//!
//! Columns come in any order. Numbers are decimal and are rounded up to whole ns, never through a float; a number of tasks is
//! whole, if need be with zeros after the dot. Lines that begin with `#` are comments. Columns that the field's other analyses
//! use are skipped; an unknown one is refused, as a misspelt one would cost nothing.

use super::Monotone;
use super::decimal::{scaled_up, whole};
use super::table::{Number, Table};
use crate::{Diagnostic, Result};

const TASK_COUNT: &str = "TASK-COUNT";
const WORKING_SET: &str = "WSS";
const MEMORY: &str = "MEM";
const LEVELS: [&str; 4] = ["L1", "L2", "L3", "L4"];

/// Costs of locks and system calls (SchedCAT), and of a step of push and pull (laxity's simulator): not every reader
/// uses them.
const SKIPPED: [&str; 7] =
    ["LOCK", "UNLOCK", "READ-LOCK", "READ-UNLOCK", "SYSCALL-IN", "SYSCALL-OUT", "STEP"];

const NANOSECONDS: Number = |text| scaled_up(text, 1);
const MICROSECONDS: Number = |text| scaled_up(text, 1_000);
const KIBIBYTES: Number = |text| scaled_up(text, 1_024);

/// Overheads in ns as functions of the number of tasks: one for each of `columns` that the file has.
///
/// # Errors
///
/// A column is unknown, missing or there twice, a value is not a number or above `MOST_NS`, or there are two lines for one number
/// of tasks. The message has the line and the column.
pub fn overheads_from_csv<const MOST_NS: u64, const COLUMNS: usize>(
    text: &str,
    columns: [&str; COLUMNS],
) -> Result<[Option<Monotone<MOST_NS>>; COLUMNS]> {
    let table = Table::read(text)?;
    let known: Vec<&str> = [TASK_COUNT].into_iter().chain(columns).collect();
    table.check(&known, &SKIPPED)?;
    let counts = table.points(TASK_COUNT, whole)?;
    let counts = counts.ok_or_else(|| table.lacks(TASK_COUNT, "the number of tasks of each line"))?;
    let mut functions = [const { None }; COLUMNS];
    for (column, found) in columns.into_iter().zip(&mut functions) {
        *found = function(&table, column, &counts)?;
    }
    Ok(functions)
}

/// Cache-related delays in ns as functions of the working set's size in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheDelayFunctions<const MOST_NS: u64> {
    /// Where the processors share a cache: by its level, ascending, those that the file has.
    pub levels: Vec<(u32, Monotone<MOST_NS>)>,
    /// Where they share none.
    pub memory: Monotone<MOST_NS>,
}

/// Cache-related delays by the closest cache that processors have in common.
///
/// # Errors
///
/// A column is unknown, missing or there twice, a value is not a number or above `MOST_NS`, or there are two lines for one size.
/// The message has the line and the column.
pub fn cache_delays_from_csv<const MOST_NS: u64>(text: &str) -> Result<CacheDelayFunctions<MOST_NS>> {
    let table = Table::read(text)?;
    let known: Vec<&str> = [WORKING_SET, MEMORY].into_iter().chain(LEVELS).collect();
    table.check(&known, &[])?;
    let sizes = table.points(WORKING_SET, KIBIBYTES)?;
    let sizes = sizes.ok_or_else(|| table.lacks(WORKING_SET, "the working set of each line in KiB"))?;
    let memory = function(&table, MEMORY, &sizes)?;
    let memory = memory.ok_or_else(|| table.lacks(MEMORY, "the delays of migrations that share no cache"))?;
    let mut levels = Vec::new();
    for (level, name) in (1..).zip(LEVELS) {
        levels.extend(function(&table, name, &sizes)?.map(|delay| (level, delay)));
    }
    Ok(CacheDelayFunctions { levels, memory })
}

/// Samples of one cost, in ns.
///
/// # Errors
///
/// It is not one column with its unit for a header, or a value is not a number. The message has the line.
pub fn samples_from_csv(text: &str) -> Result<Vec<u64>> {
    let table = Table::read(text)?;
    let number = match table.columns() {
        [unit] if unit == "ns" => NANOSECONDS,
        [unit] if unit == "us" => MICROSECONDS,
        other => {
            return Err(Diagnostic::usage(format!("samples have the header `{}`", other.join(", ")))
                .hint("samples are one column with the header `ns` or `us`, its unit"));
        }
    };
    let samples = table.column(&table.columns()[0], number)?;
    Ok(samples.expect("the only column"))
}

/// A column of times in µs as a function of `points`.
fn function<const MOST_NS: u64>(
    table: &Table<'_>,
    name: &str,
    points: &[u64],
) -> Result<Option<Monotone<MOST_NS>>> {
    let limit = Monotone::<MOST_NS>::MOST.to_string();
    let Some(times) = table.limited(name, MICROSECONDS, MOST_NS, &limit)? else { return Ok(None) };
    Monotone::through(points.iter().copied().zip(times)).map(Some)
}

#[cfg(test)]
mod tests;
