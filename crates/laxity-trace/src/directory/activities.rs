//! What the kernel was at in each recorded run, `activities/run-N.parquet`: beside the events, and read only to verify them.

use super::atomic_file::{diagnostic, io_error, sync_directory, write_atomically};
use crate::activities_file::{self, KernelActivity};
use laxity_model::{Diagnostic, Result, ShownPath as _};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Name of the directory of activities.
pub const ACTIVITIES_DIRECTORY: &str = "activities";

fn path_of(directory: &Path, run: u32) -> PathBuf {
    directory.join(ACTIVITIES_DIRECTORY).join(format!("run-{run}.parquet"))
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
    write()
        .map_err(|error| diagnostic("write", &path, &error, "").hint("choose another place with `--out DIR`"))
}

/// Reads the activities of a run of a results directory; nothing if it has none.
///
/// Errors: a file that cannot be read or is damaged.
pub fn read_activities(results: impl AsRef<Path>, run: u32) -> Result<Option<Vec<KernelActivity>>> {
    let path = path_of(results.as_ref(), run);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(diagnostic("read", &path, &error, "")),
    };
    activities_file::read(file).map(Some).map_err(|error| {
        Diagnostic::usage(format!("{} cannot be read: {error}", path.shown()))
            .hint("the file is damaged or was not written by this version of laxity; make the run again")
    })
}
