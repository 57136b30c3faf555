//! Reads an events file, a row group at a time.

use super::columns::{EVENTS_VERSION, RUN_KEY, VERSION_KEY};
use crate::damage::{damaged, without_panic};
use crate::row_group::RowGroup;
use crate::whole_file::WholeFile;
use crate::{Event, EventKind};
use laxity_model::Diagnostic;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use std::collections::BTreeMap;
use std::vec;

/// An events file, open for reading. Columns that it does not know are left alone.
pub struct EventsReader {
    file: Box<dyn FileReader>,
    columns: BTreeMap<String, usize>,
    run: u32,
    rows: u64,
    name: String,
}

impl EventsReader {
    /// Opens a file and checks its version. `name` is what messages call it.
    ///
    /// Errors: a damaged file, one that laxity did not write, one of another version.
    pub fn new(source: impl ChunkReader + 'static, name: impl Into<String>) -> laxity_model::Result<Self> {
        let name = name.into();
        Self::open(source, &name).map_err(|error| {
            Diagnostic::usage(format!("{name} cannot be read: {error}"))
                .hint("the file is damaged or was not written by this version of laxity; make the run again")
        })
    }

    fn open(source: impl ChunkReader + 'static, name: &str) -> Result<Self> {
        let file = without_panic(|| SerializedFileReader::new(WholeFile(source)))?;
        let about = file.metadata().file_metadata();
        let pairs = about.key_value_metadata().into_iter().flatten();
        let number = |key: &str| {
            let mut values =
                pairs.clone().filter(|pair| pair.key == key).filter_map(|pair| pair.value.as_ref());
            values.next().and_then(|value| value.parse::<u32>().ok())
        };
        match number(VERSION_KEY) {
            Some(EVENTS_VERSION) => {}
            Some(other) => {
                return Err(damaged(format!(
                    "version {other} of the layout; this laxity reads version {EVENTS_VERSION}"
                )));
            }
            None => {
                return Err(damaged(format!("no `{VERSION_KEY}` in its metadata; laxity did not write it")));
            }
        }
        let run = number(RUN_KEY).ok_or_else(|| damaged(format!("no `{RUN_KEY}` in its metadata")))?;
        let rows = u64::try_from(about.num_rows()).map_err(|_| damaged("negative row count"))?;
        let columns = about.schema_descr().columns().iter().enumerate();
        let columns = columns.map(|(index, column)| (column.name().to_owned(), index)).collect();
        Ok(EventsReader { file: Box::new(file), columns, run, rows, name: name.to_owned() })
    }

    /// Number of the run.
    pub fn run(&self) -> u32 {
        self.run
    }

    /// Number of events.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// All events in order, with memory for one row group. A damaged file ends them with an error.
    pub fn events(&self) -> Events<'_> {
        self.between(0, u64::MAX)
    }

    /// The events in `[from_ns, to_ns)`, without decoding row groups that have none of them.
    ///
    /// What runs at `from_ns` is known only from events before it; for that, read from the start.
    pub fn between(&self, from_ns: u64, to_ns: u64) -> Events<'_> {
        Events {
            reader: self,
            window: (from_ns, to_ns),
            next_group: 0,
            rows: Vec::new().into_iter(),
            last_ns: 0,
        }
    }

    /// Whether a row group can have events of a window, by its statistics. Without statistics it can.
    fn may_hold(&self, group: usize, (from_ns, to_ns): (u64, u64)) -> bool {
        let statistics = || {
            let index = *self.columns.get("time_ns")?;
            let columns = self.file.metadata().row_groups().get(group)?.columns();
            let Statistics::Int64(times) = columns.get(index)?.statistics()? else { return None };
            Some((u64::try_from(*times.min_opt()?).ok()?, u64::try_from(*times.max_opt()?).ok()?))
        };
        statistics().is_none_or(|(first, last)| first < to_ns && last >= from_ns)
    }

    fn read_group(&self, group: usize) -> Result<Vec<Event>> {
        let group = RowGroup::open(self.file.as_ref(), &self.columns, group)?;
        let time_ns = group.integers::<u64>("time_ns")?;
        let named = |word: &[u8]| EventKind::ALL.into_iter().find(|kind| kind.name().as_bytes() == word);
        let kind = group.words("kind", named)?;
        let (cpu, task, job) = (group.integers("cpu")?, group.integers("task")?, group.integers("job")?);
        let argument = group.integers("argument")?;
        let event = |row: usize| {
            Ok(Event {
                time_ns: time_ns[row].ok_or_else(|| damaged(format!("row {row} has no time")))?,
                kind: kind[row],
                cpu: cpu[row],
                task: task[row],
                job: job[row],
                argument: argument[row],
            })
        };
        (0..group.rows()).map(event).collect()
    }
}

/// The events of a file, in order. After an error there are none.
pub struct Events<'a> {
    reader: &'a EventsReader,
    window: (u64, u64),
    next_group: usize,
    rows: vec::IntoIter<Event>,
    last_ns: u64,
}

impl Events<'_> {
    fn end(&mut self) {
        self.next_group = usize::MAX;
        self.rows = Vec::new().into_iter();
    }

    /// The next row group of the window, or nothing after the last.
    fn next_rows(&mut self) -> Result<Option<Vec<Event>>> {
        let groups = self.reader.file.num_row_groups();
        while self.next_group < groups {
            let group = self.next_group;
            self.next_group += 1;
            if self.reader.may_hold(group, self.window) {
                return without_panic(|| self.reader.read_group(group)).map(Some);
            }
        }
        Ok(None)
    }

    fn next_event(&mut self) -> Result<Option<Event>> {
        loop {
            for event in self.rows.by_ref() {
                if event.time_ns < self.last_ns {
                    return Err(damaged(format!("the event at {} ns is out of order", event.time_ns)));
                }
                self.last_ns = event.time_ns;
                if (self.window.0..self.window.1).contains(&event.time_ns) {
                    return Ok(Some(event));
                }
            }
            match self.next_rows()? {
                Some(rows) => self.rows = rows.into_iter(),
                None => return Ok(None),
            }
        }
    }
}

impl Iterator for Events<'_> {
    type Item = laxity_model::Result<Event>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_event();
        if next.is_err() {
            self.end();
        }
        let name = &self.reader.name;
        next.map_err(|error| {
            Diagnostic::usage(format!("{name} cannot be read: {error}"))
                .hint("the file is damaged; make the run again")
        })
        .transpose()
    }
}
