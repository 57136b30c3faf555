//! The events of each run, `events/run-N.parquet`: beside the jobs, never merged, and read only when asked for.
//!
//! The files of several runs can be written at the same time. An events file without its run in the manifest is of
//! a run that did not end; the same run made again replaces it.

use super::atomic_file::{cannot_keep, diagnostic, io_error, publish, sync_directory, temporary_name};
use super::kept::{Kept, of_another_run};
use super::{EVENTS_DIRECTORY, ResultsDirectory, part_name, part_number};
use crate::{Event, EventsReader, EventsWriter};
use laxity_model::{Result, ShownPath as _, cannot_write};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// What is kept here.
const WHAT: &str = "events";

/// Where the events of a run are.
pub fn events_path(directory: impl AsRef<Path>, run: u32) -> PathBuf {
    directory.as_ref().join(EVENTS_DIRECTORY).join(part_name(run))
}

impl ResultsDirectory {
    /// Starts the events of a run, which may be one of several at the same time. Finish it before
    /// [`ResultsDirectory::append_run`], so that a run that is there has its events.
    ///
    /// Errors: whatever the file system refuses.
    pub fn create_events(&self, run: u32) -> Result<EventsFile> {
        create_events(self.path(), run)
    }
}

/// [`ResultsDirectory::create_events`] for threads that do not have the directory, only its path.
///
/// Errors: whatever the file system refuses.
pub fn create_events(results: impl AsRef<Path>, run: u32) -> Result<EventsFile> {
    let results = results.as_ref();
    let directory = results.join(EVENTS_DIRECTORY);
    let cannot = |error: io::Error| {
        cannot_write(&directory, &error).of_environment().hint("choose another place with `--out DIR`")
    };
    fs::create_dir_all(&directory).and_then(|()| sync_directory(results)).map_err(cannot)?;
    EventsFile::create(events_path(results, run), run)
}

/// The events file of one run being written. It appears under its name when it is whole; a file that is dropped
/// without [`EventsFile::finish`] leaves nothing.
pub struct EventsFile {
    path: PathBuf,
    temporary: PathBuf,
    writer: Option<EventsWriter<BufWriter<File>>>,
}

impl EventsFile {
    /// Starts a file at any place, for the run of this number.
    ///
    /// Errors: whatever the file system refuses.
    pub fn create(path: impl Into<PathBuf>, run: u32) -> Result<EventsFile> {
        let path = path.into();
        let create = || -> io::Result<_> {
            let temporary = temporary_name(&path)?;
            let sink = BufWriter::new(File::create(&temporary)?);
            Ok((temporary, EventsWriter::new(sink, run).map_err(io_error)?))
        };
        match create() {
            Ok((temporary, writer)) => Ok(EventsFile { path, temporary, writer: Some(writer) }),
            Err(error) => Err(cannot_keep(&path, &error, WHAT)),
        }
    }

    /// Appends an event.
    ///
    /// Errors: an event earlier than the one before; a number that does not fit its column (2^63 ns, 2^31 for CPUs,
    /// tasks and jobs); whatever the file system refuses, which may come later than the event that caused it.
    #[inline]
    pub fn write(&mut self, event: &Event) -> Result<()> {
        match self.writer.as_mut().map(|writer| writer.write(event)) {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(cannot_keep(&self.path, &io_error(error), WHAT)),
            None => unreachable!("only `finish` and dropping take the writer"),
        }
    }

    /// Writes what is left and gives the file its name, durably.
    ///
    /// Errors: whatever the file system refuses.
    pub fn finish(mut self) -> Result<()> {
        let writer = self.writer.take().expect("only `finish` and dropping take the writer");
        let written = || -> io::Result<()> {
            let mut sink = writer.finish().map_err(io_error)?;
            sink.flush()?;
            let file = sink.into_inner().map_err(|error| error.into_error())?;
            publish(&file, &self.temporary, &self.path)
        };
        written().map_err(|error| cannot_keep(&self.path, &error, WHAT))
    }
}

impl Drop for EventsFile {
    fn drop(&mut self) {
        // The encoding thread ends by itself when the writer is gone. After `finish` there is no such file any more.
        self.writer = None;
        let _ = fs::remove_file(&self.temporary);
    }
}

impl Kept {
    /// Opens the events of a run; nothing if it has none.
    ///
    /// Errors: a file that differs from its sum, cannot be read or is damaged.
    pub fn open_events(&self, run: u32) -> Result<Option<EventsReader>> {
        let Some(file) = self.open(&format!("{EVENTS_DIRECTORY}/{}", part_name(run)))? else {
            return Ok(None);
        };
        let name = events_path(self.directory(), run).shown().to_string();
        let reader = EventsReader::new(file, name.clone())?;
        match reader.run() {
            of if of == run => Ok(Some(reader)),
            other => Err(of_another_run(&name, "events", other)),
        }
    }
}

/// The events of one run of a results directory; [`Kept::open_events`] is for several.
///
/// Errors: those of [`Kept::of`] and [`Kept::open_events`].
pub fn open_events(directory: impl AsRef<Path>, run: u32) -> Result<Option<EventsReader>> {
    Kept::of(directory.as_ref())?.open_events(run)
}

/// The runs of a results directory that have events, in order.
///
/// Errors: a directory that cannot be read.
pub fn runs_with_events(directory: impl AsRef<Path>) -> Result<Vec<u32>> {
    let path = directory.as_ref().join(EVENTS_DIRECTORY);
    let unreadable = |error: io::Error| diagnostic("read", &path, &error, "");
    let entries = match fs::read_dir(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut runs = Vec::new();
    for entry in entries {
        runs.extend(entry.map_err(unreadable)?.file_name().to_str().and_then(part_number));
    }
    runs.sort_unstable();
    Ok(runs)
}
