//! What the kernel was at in each recorded run, `activities/run-N.parquet`: beside the events, and read only to verify them.

use super::atomic_file::{io_error, sync_directory, write_atomically};
use super::kept::{Kept, of_another_run};
use super::{ACTIVITIES_DIRECTORY, part_name};
use crate::activities_file::{self, KernelActivity};
use laxity_model::{Diagnostic, Result, ShownPath as _, cannot_write};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

fn path_of(directory: &Path, run: u32) -> PathBuf {
    directory.join(ACTIVITIES_DIRECTORY).join(part_name(run))
}

/// Writes the activities of a run of a results directory, in the order of their beginnings.
///
/// Errors: whatever the file system refuses.
pub fn write_activities(results: impl AsRef<Path>, run: u32, activities: &[KernelActivity]) -> Result<()> {
    let path = path_of(results.as_ref(), run);
    let folder = results.as_ref().join(ACTIVITIES_DIRECTORY);
    let write = || -> io::Result<()> {
        fs::create_dir_all(&folder)?;
        sync_directory(results.as_ref())?;
        write_atomically(&path, |file| {
            activities_file::write(BufWriter::new(file), run, activities).map_err(io_error)?.flush()
        })
    };
    write().map_err(|error| {
        cannot_write(&path, &error).of_environment().hint("choose another place with `--out DIR`")
    })
}

impl Kept {
    /// Reads the activities of a run; nothing if it has none.
    ///
    /// Errors: a file that differs from its sum, cannot be read, is damaged or is of another run.
    pub fn read_activities(&self, run: u32) -> Result<Option<Vec<KernelActivity>>> {
        let Some(file) = self.open(&format!("{ACTIVITIES_DIRECTORY}/{}", part_name(run)))? else {
            return Ok(None);
        };
        let name = path_of(self.directory(), run).shown().to_string();
        let (runs, activities) = activities_file::read(file).map_err(|error| {
            Diagnostic::usage(format!("{name} cannot be read: {error}"))
                .hint("the file is damaged or was not written by this version of laxity; make the run again")
        })?;
        match runs.into_iter().find(|of| *of != run) {
            Some(other) => Err(of_another_run(&name, "activities", other)),
            None => Ok(Some(activities)),
        }
    }
}
