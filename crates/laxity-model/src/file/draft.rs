//! A file of a directory that is written beside its place, and put there whole or not at all.
//!
//! Everything goes through the descriptor of the directory: no part of a path is looked up a second time, and no link
//! in the directory is followed.

use rustix::fd::OwnedFd;
use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// A file that is being written. Dropped before [`Draft::publish`], it leaves no trace.
#[derive(Debug)]
pub struct Draft {
    directory: Arc<OwnedFd>,
    name: String,
    /// [`None`] once it is in its place.
    file: Option<File>,
}

impl Draft {
    /// Begins a file with `mode`, less what the umask takes. What another process has left half-written is removed.
    ///
    /// # Errors
    ///
    /// An error of the file system; a draft that comes there at the same time.
    pub fn create(directory: &Arc<OwnedFd>, name: &str, mode: Mode) -> io::Result<Draft> {
        let draft = draft_name(name);
        remove(directory, &draft)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(fs::openat(&**directory, &draft, flags, mode)?);
        Ok(Draft { directory: Arc::clone(directory), name: name.to_owned(), file: Some(file) })
    }

    /// The file, for writers that want one of their own (both write to the same place).
    ///
    /// # Errors
    ///
    /// There are too many open files.
    pub fn file(&self) -> io::Result<File> {
        self.file.as_ref().ok_or(Errno::BADF)?.try_clone()
    }

    /// Puts the file in its place; a link there is replaced, not followed. `durably`: it is there after a power cut,
    /// too.
    ///
    /// # Errors
    ///
    /// An error of the file system; what was there before still is.
    pub fn publish(mut self, durably: bool) -> io::Result<()> {
        let file = self.file.as_ref().ok_or(Errno::BADF)?;
        if durably {
            file.sync_all()?;
        }
        fs::renameat(&*self.directory, draft_name(&self.name), &*self.directory, &self.name)?;
        self.file = None;
        if durably {
            fs::fsync(&*self.directory)?;
        }
        Ok(())
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().ok_or(Errno::BADF)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.file.is_some() {
            // The error that led here is the one to report; a draft that stays is removed by the next.
            let _ = remove(&self.directory, &draft_name(&self.name));
        }
    }
}

/// What a file is called until it is whole.
fn draft_name(name: &str) -> String {
    format!(".{name}.draft")
}

/// Whether a name is that of a draft.
pub(super) fn is_draft(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".draft")
}

/// Removes a file; one that is not there is removed.
///
/// # Errors
///
/// An error of the file system.
pub fn remove(directory: &OwnedFd, name: &str) -> io::Result<()> {
    match fs::unlinkat(directory, name, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        removed => Ok(removed?),
    }
}
