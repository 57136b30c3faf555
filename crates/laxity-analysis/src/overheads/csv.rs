//! The CSV files of overheads that the field's tools exchange: SchedCAT's columns, and what laxity records.
//!
//! - Overheads: `TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK, RELEASE-LATENCY`, for G-EDF-MP also `MAILBOX` and
//!   `DSP`; times in µs.
//! - Cache-related delays: `WSS, MEM, L1, L2, L3`; the working set in KiB, delays in µs.
//!
//! Columns come in any order. Numbers are decimal and are rounded up to whole ns, never through a float. Lines that begin
//! with `#` are comments. What has no column costs nothing ([`Overheads::absent`] tells); columns that other analyses use
//! are skipped; an unknown one is refused, as a misspelt one would cost nothing.

use super::{CacheDelays, Monotone, Overhead, Overheads};
use csv::{ReaderBuilder, Trim};
use laxity_model::{Diagnostic, Result};

const NS_PER_US: u64 = 1_000;
const BYTES_PER_KIB: u64 = 1_024;
const TASK_COUNT: &str = "TASK-COUNT";
const WORKING_SET: &str = "WSS";
const MEMORY: &str = "MEM";
const LEVELS: [&str; 4] = ["L1", "L2", "L3", "L4"];

/// Costs of locks and system calls (SchedCAT) and of a step of push and pull (laxity's simulator): not accounted for here.
const SKIPPED: [&str; 7] =
    ["LOCK", "UNLOCK", "READ-LOCK", "READ-UNLOCK", "SYSCALL-IN", "SYSCALL-OUT", "STEP"];

/// A table whose columns have names.
struct Table {
    columns: Vec<String>,
    /// With the line of each row.
    rows: Vec<(u64, Vec<String>)>,
}

impl Overheads {
    /// From the text of a file of overheads.
    ///
    /// # Errors
    ///
    /// A column is unknown, missing or there twice, a value is not a number, or there are two for one number of tasks.
    pub fn from_csv(text: &str) -> Result<Self> {
        let table = Table::read(text)?;
        let columns = Overhead::ALL.map(Overhead::column);
        let known: Vec<&str> = [TASK_COUNT].into_iter().chain(columns).chain(SKIPPED).collect();
        table.check(&known, columns.len() + 1)?;
        let counts = table.required(TASK_COUNT, 1, whole)?;
        let mut overheads = Overheads::none();
        for overhead in Overhead::ALL {
            if let Some(function) = table.function(overhead.column(), &counts)? {
                overheads = overheads.with(overhead, function);
            }
        }
        Ok(overheads)
    }
}

impl CacheDelays {
    /// From the text of a file of cache-related delays.
    ///
    /// # Errors
    ///
    /// A column is unknown, missing or there twice, a value is not a number, or there are two for one size.
    pub fn from_csv(text: &str) -> Result<Self> {
        let table = Table::read(text)?;
        let known: Vec<&str> = [WORKING_SET, MEMORY].into_iter().chain(LEVELS).collect();
        table.check(&known, known.len())?;
        let sizes = table.required(WORKING_SET, BYTES_PER_KIB, scaled_up)?;
        let Some(memory) = table.function(MEMORY, &sizes)? else { return Err(table.lacks(MEMORY)) };
        let mut levels = Vec::new();
        for (level, name) in (1..).zip(LEVELS) {
            levels.extend(table.function(name, &sizes)?.map(|delay| (level, delay)));
        }
        Ok(CacheDelays::new(levels, memory))
    }
}

impl Table {
    fn read(text: &str) -> Result<Table> {
        let mut reader =
            ReaderBuilder::new().trim(Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
        let columns: Vec<String> = reader.headers().map_err(syntax)?.iter().map(str::to_owned).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(syntax)?;
            let line = record.position().map_or(0, csv::Position::line);
            rows.push((line, record.iter().map(str::to_owned).collect()));
        }
        if rows.is_empty() {
            return Err(Diagnostic::usage("there are no values below the header")
                .hint("give at least one line of values"));
        }
        Ok(Table { columns, rows })
    }

    /// Refuses columns that are not known or there twice; a hint shows the first of those that are known.
    fn check(&self, known: &[&str], shown: usize) -> Result<()> {
        for (place, column) in self.columns.iter().enumerate() {
            if !known.contains(&column.as_str()) {
                return Err(Diagnostic::usage(format!("the column `{column}` is not known"))
                    .hint(format!("the columns are {}", known[..shown].join(", "))));
            }
            if self.columns[..place].contains(column) {
                return Err(Diagnostic::usage(format!("the column `{column}` is there twice"))
                    .hint("remove one of them"));
            }
        }
        Ok(())
    }

    fn lacks(&self, name: &str) -> Diagnostic {
        Diagnostic::usage(format!("there is no column `{name}`"))
            .hint(format!("the header has {}; add {name}", self.columns.join(", ")))
    }

    /// The values of a column, read with a scale; nothing if it is not there.
    fn column(
        &self,
        name: &str,
        scale: u64,
        number: fn(&str, u64) -> std::result::Result<u64, &'static str>,
    ) -> Result<Option<Vec<u64>>> {
        let Some(place) = self.columns.iter().position(|column| column == name) else { return Ok(None) };
        let value = |(line, row): &(u64, Vec<String>)| {
            number(&row[place], scale).map_err(|why| {
                Diagnostic::usage(format!("line {line}, {name}: `{}` {why}", row[place]))
                    .hint("write decimal numbers such as 12.5, without unit, sign or exponent")
            })
        };
        self.rows.iter().map(value).collect::<Result<_>>().map(Some)
    }

    fn required(
        &self,
        name: &str,
        scale: u64,
        number: fn(&str, u64) -> std::result::Result<u64, &'static str>,
    ) -> Result<Vec<u64>> {
        self.column(name, scale, number)?.ok_or_else(|| self.lacks(name))
    }

    /// A column of times in µs as a function of `xs`.
    fn function(&self, name: &str, xs: &[u64]) -> Result<Option<Monotone>> {
        let Some(times) = self.column(name, NS_PER_US, scaled_up)? else { return Ok(None) };
        let samples = xs.iter().copied().zip(times);
        Monotone::through(samples).map(Some).map_err(|error| error.context(format!("column {name}")))
    }
}

fn syntax(error: csv::Error) -> Diagnostic {
    let line = error.position().map_or(0, csv::Position::line);
    let why = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields where the header has {expected_len}")
        }
        _ => error.to_string(),
    };
    Diagnostic::usage(format!("line {line}: {why}")).hint("every line has one value per column")
}

/// A whole number, which may be written with decimals that are all 0.
fn whole(text: &str, scale: u64) -> std::result::Result<u64, &'static str> {
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    let value = scaled_up(text, scale)?;
    if fraction.bytes().any(|digit| digit != b'0') {
        return Err("is not a whole number");
    }
    Ok(value)
}

/// `text` (digits, at most one dot) times `scale`, rounded up: never less than what was measured, whatever the number of
/// decimals.
fn scaled_up(text: &str, scale: u64) -> std::result::Result<u64, &'static str> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !digits(whole) || !digits(fraction) {
        return Err("is not a non-negative decimal number");
    }
    let too_large = "is too large";
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large)? };
    whole.checked_mul(scale).and_then(|value| value.checked_add(part_up(fraction, scale))).ok_or(too_large)
}

/// `0.fraction * scale`, rounded up. Digit by digit from the last: rest <- (digit * scale + rest) / 10, each rounded up;
/// ceilings of quotients nest.
fn part_up(fraction: &str, scale: u64) -> u64 {
    fraction.bytes().rev().fold(0, |rest, digit| (u64::from(digit - b'0') * scale + rest).div_ceil(10))
}

#[cfg(test)]
mod tests;
