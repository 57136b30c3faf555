//! A CSV table whose columns have names and whose fields are numbers.
//!
//! Columns come in any order. Lines that begin with `#` are comments; they and empty lines count as lines in messages.

use crate::line_number::line_from;
use crate::{Diagnostic, Result, plural};
use csv::{ReaderBuilder, Trim};
use std::io::Read;

/// What a comment begins with.
const COMMENT: Option<u8> = Some(b'#');

/// How a number is read: what is wrong with it follows its quotation.
pub(super) type Number = fn(&str) -> std::result::Result<u64, &'static str>;

/// Columns by name, and what is below them.
pub(super) struct Table<'a> {
    text: &'a str,
    columns: Vec<String>,
    rows: Vec<Row>,
}

struct Row {
    /// Where it begins, or comments and empty lines before it.
    byte: u64,
    fields: Vec<String>,
}

impl<'a> Table<'a> {
    /// # Errors
    ///
    /// There is no line of values, or one that has not as many as there are columns.
    pub(super) fn read(text: &'a str) -> Result<Self> {
        let syntax = |error: csv::Error| {
            let at = error.position().map_or(0, csv::Position::byte);
            let why = match error.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("{} where the header has {expected_len}", plural(*len, "field"))
                }
                _ => error.to_string(),
            };
            Diagnostic::usage(format!("line {}: {why}", line_from(text, at, COMMENT)))
                .hint("every line has one value per column")
        };
        // The reader takes a comment for a record if the text ends in it.
        let ended = text.as_bytes().chain(&b"\n"[..]);
        let mut reader = ReaderBuilder::new().trim(Trim::All).comment(COMMENT).from_reader(ended);
        let columns: Vec<String> = reader.headers().map_err(syntax)?.iter().map(str::to_owned).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(syntax)?;
            let byte = record.position().map_or(0, csv::Position::byte);
            rows.push(Row { byte, fields: record.iter().map(str::to_owned).collect() });
        }
        if rows.is_empty() {
            return Err(Diagnostic::usage("there are no values below the header")
                .hint("give at least one line of values"));
        }
        Ok(Table { text, columns, rows })
    }

    /// The names of the columns.
    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Refuses columns that are neither `known` nor `skipped`, or there twice.
    pub(super) fn check(&self, known: &[&str], skipped: &[&str]) -> Result<()> {
        let line = line_from(self.text, 0, COMMENT);
        for (place, column) in self.columns.iter().enumerate() {
            if !known.contains(&column.as_str()) && !skipped.contains(&column.as_str()) {
                return Err(Diagnostic::usage(format!("line {line}: the column `{column}` is not known"))
                    .hint(format!("the columns are {}", known.join(", "))));
            }
            if self.columns[..place].contains(column) {
                return Err(Diagnostic::usage(format!("line {line}: the column `{column}` is there twice"))
                    .hint("remove one of them"));
            }
        }
        Ok(())
    }

    /// There is no column of this name: what it has is the hint.
    pub(super) fn lacks(&self, name: &str, has: &str) -> Diagnostic {
        let (line, columns) = (line_from(self.text, 0, COMMENT), self.columns.join(", "));
        Diagnostic::usage(format!("line {line}: there is no column `{name}`"))
            .hint(format!("the header has {columns}; add {name}, {has}"))
    }

    /// The numbers of a column in the order of the rows; nothing if it is not there.
    pub(super) fn column(&self, name: &str, number: Number) -> Result<Option<Vec<u64>>> {
        let Some(place) = self.place(name) else { return Ok(None) };
        let read = |row: &Row| {
            let text = &row.fields[place];
            number(text).map_err(|why| {
                self.wrong(row, name, &format!("`{text}` {why}"))
                    .hint("write decimal numbers such as 12.5, without unit, sign or exponent")
            })
        };
        self.rows.iter().map(read).collect::<Result<_>>().map(Some)
    }

    /// The fields of a column as they are; nothing if it is not there.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<&str>> {
        let place = self.place(name)?;
        Some(self.rows.iter().map(|row| row.fields[place].as_str()).collect())
    }

    /// As [`Table::column`], of numbers that must not exceed `most`, which is `limit` in words.
    pub(super) fn limited(
        &self,
        name: &str,
        number: Number,
        most: u64,
        limit: &str,
    ) -> Result<Option<Vec<u64>>> {
        let Some(values) = self.column(name, number)? else { return Ok(None) };
        if let Some(row) = values.iter().position(|&value| value > most) {
            return Err(self
                .wrong_at(row, name, &format!("is more than {limit}, the limit"))
                .hint("times are in microseconds: overheads are fractions of one to thousands"));
        }
        Ok(Some(values))
    }

    /// As [`Table::column`], of numbers that are what the others depend on: no two are the same.
    pub(super) fn points(&self, name: &str, number: Number) -> Result<Option<Vec<u64>>> {
        let Some(points) = self.column(name, number)? else { return Ok(None) };
        let mut sorted: Vec<(u64, usize)> = points.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let twice = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        // The first line that says again what an earlier one has said.
        if let Some(pair) = twice.min_by_key(|pair| pair[1].1) {
            let first = line_from(self.text, self.rows[pair[0].1].byte, COMMENT);
            return Err(self
                .wrong_at(pair[1].1, name, &format!("is there twice, first in line {first}"))
                .hint("give one line for each, with the largest values that were measured"));
        }
        Ok(Some(points))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// What is wrong with the field of this row and column.
    pub(super) fn wrong_at(&self, row: usize, name: &str, why: &str) -> Diagnostic {
        let row = &self.rows[row];
        let text = self.place(name).map_or("", |place| &row.fields[place]);
        self.wrong(row, name, &format!("`{text}` {why}"))
    }

    fn wrong(&self, row: &Row, name: &str, what: &str) -> Diagnostic {
        Diagnostic::usage(format!("line {}, {name}: {what}", line_from(self.text, row.byte, COMMENT)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_an_editor_counts_them() {
        for text in [
            "# c\nA,B\n# d\n\n1,2\n3\n",
            "# c\r\nA,B\r\n# d\r\n\r\n1,2\r\n3\r\n",
            "\rA,B\r\r1,2\r\r3\r",
            "\n\nA,B\n\n\"1\",2\n3",
        ] {
            let error = Table::read(text).err().expect(text);
            assert!(error.message.starts_with("line 6: 1 field where"), "{text:?}: {error}");
        }
        let text = "# c\nA,B\n# d\r\n\n1,x\n\n";
        let table = Table::read(text).expect("a table");
        let error = table.column("B", |_| Err("is wrong")).expect_err("wrong");
        assert_eq!(error.message, "line 5, B: `x` is wrong");
        assert_eq!(table.check(&["A"], &[]).expect_err("B").message, "line 2: the column `B` is not known");
    }
}
