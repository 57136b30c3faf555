//! The machine lock and the directory for run-time state: one real-time run at a time.

use crate::journal;
use crate::private::PrivateDirectory;
use laxity_model::{Diagnostic, Result, ShownPath as _};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::FlockOperation;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Proof that no other run is changing this machine. Held by the program and, through an inherited descriptor,
/// by its guardian: it is free only once both are gone.
pub struct MachineLock {
    file: File,
    directory: PrivateDirectory,
    restored: Vec<PathBuf>,
}

impl MachineLock {
    /// Takes the lock and puts back what killed runs left behind.
    pub fn acquire() -> Result<Self> {
        Self::acquire_in(state_directory()?)
    }

    fn acquire_in(directory: PrivateDirectory) -> Result<Self> {
        let mut file = directory.lock_file("lock").map_err(|error| {
            let path = directory.path().join("lock");
            Diagnostic::environment(format!("cannot use {}: {error}", path.shown()))
                .hint("remove it if no laxity is running")
        })?;
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
        let restored = journal::recover(&directory)?;
        // Only for the message to the next process that asks for the lock.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()));
        Ok(MachineLock { file, directory, restored })
    }

    /// The directory for run-time state.
    pub fn directory(&self) -> &PrivateDirectory {
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

/// The directory for run-time state, open: /run/laxity for root, else one of the user's own, never in a directory that
/// users share.
///
/// # Errors
///
/// There is none that is private, or it cannot be used.
pub fn state_directory() -> Result<PrivateDirectory> {
    let path = state_path()?;
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|error| laxity_model::cannot_write(parent, &error))?;
    }
    PrivateDirectory::open(&path)
}

/// The same if it is there, for processes that only ask what others have left in it.
///
/// # Errors
///
/// As of [`state_directory`].
pub fn existing_state_directory() -> Result<Option<PrivateDirectory>> {
    PrivateDirectory::existing(&state_path()?)
}

fn state_path() -> Result<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Ok("/run/laxity".into());
    }
    users_directory(|name| std::env::var_os(name), Path::is_dir).ok_or_else(|| {
        Diagnostic::environment("there is no private directory for run-time state")
            .hint("set XDG_RUNTIME_DIR to a directory of yours with mode 0700 (`loginctl enable-linger` makes one), or HOME")
    })
}

/// Where a user's run-time state goes: what the session has for that, else in the user's home.
fn users_directory(
    variable: impl Fn(&str) -> Option<OsString>,
    is_directory: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let session = absolute("XDG_RUNTIME_DIR")
        .or_else(|| Some(format!("/run/user/{}", rustix::process::geteuid().as_raw()).into()))
        .filter(|path| is_directory(path))
        .map(|base| base.join("laxity"));
    let state = || Some(absolute("XDG_STATE_HOME")?.join("laxity"));
    let home = || Some(absolute("HOME")?.join(".local/state/laxity"));
    session.or_else(state).or_else(home)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::private::for_test;

    #[test]
    fn a_second_run_is_told_which_process_holds_the_machine() {
        let (_parent, directory) = for_test();
        let first = MachineLock::acquire_in(directory.clone()).expect("free");
        let second = MachineLock::acquire_in(directory.clone()).err().expect("held");
        assert!(second.message.contains(&format!("process {}", std::process::id())), "{second}");
        drop(first);
        assert!(MachineLock::acquire_in(directory).is_ok());
    }

    #[test]
    fn no_users_state_is_in_a_directory_that_users_share() {
        let with = |variables: &'static [(&str, &str)], there: &'static [&str]| {
            let get = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into());
            users_directory(get, |path| there.iter().any(|dir| Path::new(dir) == path))
        };
        let own = format!("/run/user/{}", rustix::process::geteuid().as_raw());
        let own: &'static [&str] = vec![&*own.leak()].leak();
        let home = &[("HOME", "/home/a"), ("TMPDIR", "/tmp")];
        assert_eq!(with(&[("XDG_RUNTIME_DIR", "/x")], &["/x"]), Some("/x/laxity".into()));
        assert_eq!(with(home, own), Some(Path::new(own[0]).join("laxity")));
        assert_eq!(with(home, &[]), Some("/home/a/.local/state/laxity".into()));
        assert_eq!(with(&[("HOME", "relative"), ("TMPDIR", "/tmp")], &[]), None);
    }
}
