//! The machine lock and the directory for run-time state: one real-time run at a time.

use crate::journal;
use laxity_model::{Diagnostic, Result};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::FlockOperation;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Proof that no other run is changing this machine. Held by the program and, through an inherited descriptor,
/// by its guardian: it is free only once both are gone.
pub struct MachineLock {
    file: File,
    directory: PathBuf,
    restored: Vec<PathBuf>,
}

impl MachineLock {
    /// Takes the lock and puts back what killed runs left behind.
    pub fn acquire() -> Result<Self> {
        Self::acquire_in(&state_directory())
    }

    fn acquire_in(directory: &Path) -> Result<Self> {
        let cannot = |error: std::io::Error| {
            Diagnostic::environment(format!("cannot use {} for run-time state: {error}", directory.display()))
                .hint("make it writable, or run as root")
        };
        std::fs::create_dir_all(directory).map_err(cannot)?;
        let path = directory.join("lock");
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(cannot)?;
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut holder = String::new();
            // Only for the message.
            let _ = file.read_to_string(&mut holder);
            return Err(Diagnostic::environment(format!(
                "another laxity run (process {}) holds this machine",
                holder.trim()
            ))
            .hint("wait for it to end: two runs at once would disturb each other's measurements"));
        }
        let restored = journal::recover(directory)?;
        // Only for the message to the next process that asks for the lock.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()));
        Ok(MachineLock { file, directory: directory.to_owned(), restored })
    }

    /// The directory for run-time state.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What an earlier, killed run had left changed and this one put back.
    pub fn restored(&self) -> &[PathBuf] {
        &self.restored
    }

    /// The descriptor a guardian inherits.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The directory for run-time state: /run/laxity for root, else one of the user's own.
pub fn state_directory() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return "/run/laxity".into();
    }
    let base = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    base.join(format!("laxity-{}", rustix::process::geteuid().as_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_is_told_which_process_holds_the_machine() {
        let directory = tempfile::tempdir().expect("directory");
        let first = MachineLock::acquire_in(directory.path()).expect("free");
        let second = MachineLock::acquire_in(directory.path()).err().expect("held");
        assert!(second.message.contains(&format!("process {}", std::process::id())), "{second}");
        drop(first);
        assert!(MachineLock::acquire_in(directory.path()).is_ok());
    }
}
