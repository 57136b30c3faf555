//! The sums of parts, `jobs.parts/SHA256SUMS`: a line for each part, appended before the part gets its name.
//!
//! A part that was written twice has two lines, and is what one of them says. A line that was cut off, as by a kill, counts
//! for nothing: its part has not got its name.

use super::PARTS;
use super::kept::SUMS_FILE;
use super::sums::{Sum, line, read_line};
use crate::damage::damaged;
use parquet::errors::Result;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The sums; nothing if an earlier version wrote the parts.
pub(super) struct PartSums(Option<BTreeSet<(String, Sum)>>);

fn path_in(directory: &Path) -> PathBuf {
    directory.join(PARTS).join(SUMS_FILE)
}

impl PartSums {
    /// Of the parts of a results directory.
    pub(super) fn of(directory: &Path) -> io::Result<PartSums> {
        let text = match fs::read(path_in(directory)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PartSums(None)),
            text => text?,
        };
        let text = String::from_utf8_lossy(&text);
        let lines = text.split('\n').filter_map(read_line);
        Ok(PartSums(Some(lines.map(|(sum, name)| (name.to_owned(), sum)).collect())))
    }

    /// Whether an earlier version wrote the parts.
    pub(super) fn are_missing(&self) -> bool {
        self.0.is_none()
    }

    /// Opens a part of this name that is what its sum says.
    pub(super) fn open(&self, path: &Path, name: &str) -> Result<File> {
        let mut file = File::open(path)?;
        if let Some(sums) = &self.0
            && !sums.contains(&(name.to_owned(), Sum::of(&mut file)?))
        {
            return Err(damaged(format!("it differs from its sum in {PARTS}/{SUMS_FILE}")));
        }
        Ok(file)
    }
}

/// Appends the sum of a part, durably.
pub(super) fn append(directory: &Path, name: &str, sum: Sum) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path_in(directory))?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let begin = if last == *b"\n" { "" } else { "\n" };
    file.write_all(format!("{begin}{}", line(sum, name)).as_bytes())?;
    file.sync_data()
}

/// Removes the sums, when no part is left.
pub(super) fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_file(path_in(directory)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
