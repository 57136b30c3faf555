//! Files that are there whole or not at all.

use laxity_model::{Diagnostic, ShownPath as _, cannot_write};
use rustix::io::Errno;
use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Writes `path` through `fill` so that a crash, a kill or a full disk at any time leaves either the file of
/// before or the new one: a temporary file, fsync, rename, fsync of the directory. What is left of a failure is
/// removed, so that it does not take the space that other files need.
pub(super) fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = temporary_name(path)?;
    let written = fill_and_rename(path, &temporary, fill);
    if written.is_err() {
        // The error of the writing is the one to report; the temporary file may not even exist.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn fill_and_rename(
    path: &Path,
    temporary: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = File::create(temporary)?;
    fill(&mut file)?;
    publish(&file, temporary, path)
}

/// Gives a file that is whole its name, durably.
pub(super) fn publish(file: &File, temporary: &Path, path: &Path) -> io::Result<()> {
    file.sync_all()?;
    fs::rename(temporary, path)?;
    sync_directory(path.parent().unwrap_or(Path::new(".")))
}

pub(super) fn temporary_name(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(".tmp");
    Ok(path.with_file_name(hidden))
}

/// Removes what a writer that was killed left half-written in `directory`.
pub(super) fn remove_half_written(directory: &Path, is_ours: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp")).is_some_and(&is_ours) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Makes names created in a directory durable.
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path)?.sync_all()
}

/// The I/O error inside an error of the Parquet writer, so that a full disk is known as one.
pub(super) fn io_error(error: parquet::errors::ParquetError) -> io::Error {
    let mut source: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<io::Error>()
            && let Some(code) = io.raw_os_error()
        {
            return io::Error::from_raw_os_error(code);
        }
        source = inner.source();
    }
    io::Error::other(error)
}

/// An error of writing `what` while a run is made.
pub(super) fn cannot_keep(path: &Path, error: &io::Error, what: &str) -> Diagnostic {
    let refused = cannot_write(path, error).of_environment();
    match error.raw_os_error() {
        Some(_) => refused.hint("make room or give the permission, or choose another place with `--out DIR`"),
        None => refused
            .hint(format!("this is a defect of what made the {what}; please report it with the command")),
    }
}

/// An error of reading or writing `path`: what happened, what is `kept`, and the way out.
pub(super) fn diagnostic(doing: &str, path: &Path, error: &io::Error, kept: &str) -> Diagnostic {
    let why = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOSPC) => "the disk is full".to_owned(),
        Some(Errno::DQUOT) => "the disk quota is used up".to_owned(),
        Some(Errno::ACCESS | Errno::PERM) => "permission denied".to_owned(),
        Some(Errno::ROFS) => "the filesystem is read-only".to_owned(),
        _ => error.to_string(),
    };
    let kept = if kept.is_empty() { String::new() } else { format!("; {kept}") };
    Diagnostic::environment(format!("cannot {doing} {}: {why}{kept}", path.shown()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_failed_write_leaves_the_file_of_before() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let path = directory.path().join("a");
        write_atomically(&path, |file| file.write_all(b"before")).expect("writes");
        let failed = write_atomically(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error()))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).expect("still there"), b"before");
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1, "temporary file left");
    }
}
