//! A row group being read, column by column.

use crate::damage::damaged;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::Result;
use parquet::file::reader::{FileReader, RowGroupReader};
use std::collections::BTreeMap;

/// A row group, and the columns of its file by name.
pub(crate) struct RowGroup<'a> {
    reader: Box<dyn RowGroupReader + 'a>,
    columns: &'a BTreeMap<String, usize>,
    rows: usize,
}

impl<'a> RowGroup<'a> {
    /// The group of this number.
    pub(crate) fn open(
        file: &'a dyn FileReader,
        columns: &'a BTreeMap<String, usize>,
        number: usize,
    ) -> Result<Self> {
        let reader = file.get_row_group(number)?;
        let rows = reader.metadata().num_rows();
        let rows = usize::try_from(rows).map_err(|_| damaged("negative row count"))?;
        Ok(RowGroup { reader, columns, rows })
    }

    /// How many rows it has.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The integers of a column; a null is `None`, a number that cannot be an error.
    pub(crate) fn integers<T: TryFrom<i32> + TryFrom<i64>>(&self, name: &str) -> Result<Vec<Option<T>>> {
        let impossible = |value: i64| damaged(format!("column `{name}` has the impossible value {value}"));
        match self.column(name)? {
            ColumnReader::Int32ColumnReader(reader) => {
                let (values, levels) = self.values(reader)?;
                match values.iter().find(|value| T::try_from(**value).is_err()) {
                    Some(value) => Err(impossible((*value).into())),
                    None => {
                        self.spread(name, values.into_iter().map(|value| T::try_from(value).ok()), levels)
                    }
                }
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let (values, levels) = self.values(reader)?;
                match values.iter().find(|value| T::try_from(**value).is_err()) {
                    Some(value) => Err(impossible(*value)),
                    None => {
                        self.spread(name, values.into_iter().map(|value| T::try_from(value).ok()), levels)
                    }
                }
            }
            _ => Err(damaged(format!("column `{name}` does not hold integers"))),
        }
    }

    /// The same of a column that not every file has.
    pub(crate) fn integers_if_there<T: TryFrom<i32> + TryFrom<i64>>(
        &self,
        name: &str,
    ) -> Result<Option<Vec<Option<T>>>> {
        self.columns.contains_key(name).then(|| self.integers(name)).transpose()
    }

    /// What the words of a column mean; each row must have one that is `known`.
    pub(crate) fn words<V: Copy>(&self, name: &str, known: impl Fn(&[u8]) -> Option<V>) -> Result<Vec<V>> {
        let all = self.optional_words(name, known)?;
        all.into_iter().map(|one| one.ok_or_else(|| damaged(format!("no `{name}` in a row")))).collect()
    }

    /// The same of a column that not every file has, and not every row.
    pub(crate) fn words_if_there<V: Copy>(
        &self,
        name: &str,
        known: impl Fn(&[u8]) -> Option<V>,
    ) -> Result<Option<Vec<Option<V>>>> {
        self.columns.contains_key(name).then(|| self.optional_words(name, known)).transpose()
    }

    fn optional_words<V: Copy>(
        &self,
        name: &str,
        known: impl Fn(&[u8]) -> Option<V>,
    ) -> Result<Vec<Option<V>>> {
        let ColumnReader::ByteArrayColumnReader(reader) = self.column(name)? else {
            return Err(damaged(format!("column `{name}` does not hold words")));
        };
        let (values, levels) = self.values(reader)?;
        // Neighbours are often the same.
        let mut meanings: Vec<Option<V>> = Vec::with_capacity(values.len());
        for same in values.chunk_by(|one, next| one == next) {
            let word = same[0].data();
            let unknown = || damaged(format!("unknown {name} `{}`", String::from_utf8_lossy(word)));
            let meaning = known(word).ok_or_else(unknown)?;
            meanings.resize(meanings.len() + same.len(), Some(meaning));
        }
        self.spread(name, meanings.into_iter(), levels)
    }

    fn column(&self, name: &str) -> Result<ColumnReader> {
        let index = self.columns.get(name).ok_or_else(|| damaged(format!("no column `{name}`")))?;
        self.reader.get_column_reader(*index)
    }

    /// The values of a column, and for each row 1 if it has one, if some may have none.
    fn values<T: DataType>(&self, mut reader: ColumnReaderImpl<T>) -> Result<(Vec<T::T>, Vec<i16>)> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let mut records = 0;
        while records < self.rows {
            let (read, _, _) =
                reader.read_records(self.rows - records, Some(&mut levels), None, &mut values)?;
            if read == 0 {
                break;
            }
            records += read;
        }
        Ok((values, levels))
    }

    /// A value, or none, for each row.
    fn spread<V>(
        &self,
        name: &str,
        mut values: impl Iterator<Item = Option<V>>,
        levels: Vec<i16>,
    ) -> Result<Vec<Option<V>>> {
        let all: Vec<Option<V>> = match levels.is_empty() {
            true => values.collect(),
            false => levels
                .into_iter()
                .map(|level| if level > 0 { values.next().flatten() } else { None })
                .collect(),
        };
        if all.len() != self.rows {
            return Err(damaged(format!("column `{name}` has {} values for {} rows", all.len(), self.rows)));
        }
        Ok(all)
    }
}
