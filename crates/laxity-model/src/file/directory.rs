//! A directory that laxity fills with files of its own: results, reports, plots, settings to deploy.
//!
//! Such a directory is something that people hand on. So nothing in it is trusted: every file is reached through the
//! open directory, links in it are never followed, and each file appears whole or not at all ([`Draft`]). What a user
//! names one by one is written by [`crate::write_file`], which follows the user's own links.

use super::draft::{self, Draft, is_draft};
use crate::{Diagnostic, Result, ShownPath as _, cannot_write};
use rustix::fd::OwnedFd;
use rustix::fs::{self, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a new directory may be used for, before the umask.
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o777);
/// What a new file may be used for, before the umask.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The open directory. Copies are the same directory.
#[derive(Debug, Clone)]
pub struct OutputDirectory {
    descriptor: Arc<OwnedFd>,
    /// As the user named it, for messages.
    path: PathBuf,
}

/// Whether laxity has begun to fill a directory: `marker` is the file that it writes there first, `holds` what it keeps
/// there, such as `results`. A directory that is not there, or is empty, has not been begun and can be.
///
/// # Errors
///
/// A file stands there; the directory has other files, which are not laxity's to replace; it cannot be read.
pub fn is_begun(directory: &Path, marker: &str, holds: &str) -> Result<bool> {
    let named = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let cannot_read = |error: io::Error| {
        Diagnostic::environment(format!("cannot read {}: {error}", directory.shown()))
            .hint("choose a directory that you may read and write, with `--out DIR`")
    };
    let another = |why: String| Diagnostic::usage(why).hint("choose another directory with `--out DIR`");
    let entries = match std::fs::read_dir(named) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory && named.exists() => {
            return Err(another(format!("{} is a file, not a directory", directory.shown())));
        }
        Err(error) => return Err(cannot_read(error)),
    };
    if named.join(marker).is_file() {
        return Ok(true);
    }
    for entry in entries {
        // What a writer that was killed has left half-written is removed by the next one.
        if !entry.map_err(cannot_read)?.file_name().to_str().is_some_and(is_draft) {
            return Err(another(format!(
                "the directory {} is not empty and holds no {holds} of laxity",
                directory.shown()
            )));
        }
    }
    Ok(false)
}

/// As long as it is there, no other process has this lock of the directory.
#[derive(Debug)]
pub struct DirectoryLock {
    held: OwnedFd,
}

impl Drop for DirectoryLock {
    /// The lock belongs to the open file, and a child that another thread has just forked has that, too, until it executes its program:
    /// to close it here alone would not be the end of the lock.
    fn drop(&mut self) {
        let _ = fs::flock(&self.held, FlockOperation::Unlock);
    }
}

impl OutputDirectory {
    /// Opens a directory that the user names; their own links to it are followed.
    ///
    /// # Errors
    ///
    /// There is none, or it may not be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let named = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let descriptor =
            fs::open(named, DIRECTORY, Mode::empty()).map_err(|error| cannot_write(path, &error.into()))?;
        Ok(OutputDirectory { descriptor: Arc::new(descriptor), path: path.to_owned() })
    }

    /// The same, made with all above it if it is not there.
    ///
    /// # Errors
    ///
    /// It cannot be made or opened.
    pub fn create(path: &Path) -> Result<Self> {
        std::fs::create_dir_all(path).map_err(|error| cannot_write(path, &error))?;
        Self::open(path)
    }

    /// Where it is, as the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A directory in it, made if it is not there.
    ///
    /// # Errors
    ///
    /// What is there is a link or a file; it cannot be made.
    pub fn subdirectory(&self, name: &str) -> Result<Self> {
        let path = self.path.join(name);
        match fs::mkdirat(&*self.descriptor, name, DIRECTORY_MODE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(cannot_write(&path, &error.into())),
        }
        let descriptor = fs::openat(&*self.descriptor, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
            .map_err(|error| match error {
                Errno::LOOP | Errno::NOTDIR => no_directory(&path),
                _ => cannot_write(&path, &error.into()),
            })?;
        Ok(OutputDirectory { descriptor: Arc::new(descriptor), path })
    }

    /// Makes a directory in it hold the files `STEM.ENDING` that are given: each appears whole or not at all, and others with
    /// that ending, of an earlier time, go.
    ///
    /// # Errors
    ///
    /// Those of [`OutputDirectory::subdirectory`] and [`OutputDirectory::write`].
    pub fn fill_subdirectory<'a>(
        &self,
        name: &str,
        ending: &str,
        files: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<()> {
        let folder = self.subdirectory(name)?;
        let mut written = BTreeSet::new();
        for (stem, text) in files {
            let name = format!("{stem}.{ending}");
            folder.write(&name, text.as_bytes())?;
            written.insert(name);
        }
        let there = folder.names().map_err(|error| cannot_write(folder.path(), &error))?;
        let stale = there.iter().filter(|name| Path::new(name).extension().is_some_and(|is| is == ending));
        stale.filter(|name| !written.contains(*name)).try_for_each(|name| folder.remove(name))
    }

    /// Writes a file, whole or not at all; one that is there is replaced.
    ///
    /// # Errors
    ///
    /// It cannot be written; what was there before still is.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.written(name, bytes).map_err(|error| cannot_write(&self.path.join(name), &error))
    }

    fn written(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut draft = self.draft(name)?;
        draft.write_all(bytes)?;
        draft.publish(false)
    }

    /// Begins a file that is written bit by bit.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn draft(&self, name: &str) -> io::Result<Draft> {
        Draft::create(&self.descriptor, name, FILE_MODE)
    }

    /// Opens a file to read and to append to, made if it is not there.
    ///
    /// # Errors
    ///
    /// It is a link; an error of the file system.
    pub fn open_file(&self, name: &str) -> Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let path = self.path.join(name);
        match fs::openat(&*self.descriptor, name, flags, FILE_MODE) {
            Err(Errno::LOOP) => {
                Err(Diagnostic::usage(format!("cannot write to {}: it is a link", path.shown())).hint(
                    "laxity follows no links in a directory that it fills; remove it, and it is made anew",
                ))
            }
            opened => opened.map(File::from).map_err(|error| cannot_write(&path, &error.into())),
        }
    }

    /// Removes a file; one that is not there is removed.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn remove(&self, name: &str) -> Result<()> {
        draft::remove(&self.descriptor, name).map_err(|error| cannot_write(&self.path.join(name), &error))
    }

    /// The names in it, sorted, without those of drafts.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&*self.descriptor)? {
            names.extend(entry?.file_name().to_str().map(str::to_owned));
        }
        names.retain(|name| name != "." && name != ".." && !is_draft(name));
        names.sort();
        Ok(names)
    }

    /// Removes a directory in it and the files in that, but no links' targets; one that is not there is removed.
    ///
    /// # Errors
    ///
    /// It is a link or a file, or has directories in it; an error of the file system.
    pub fn remove_subdirectory(&self, name: &str) -> Result<()> {
        let path = self.path.join(name);
        let stat = fs::statat(&*self.descriptor, name, fs::AtFlags::SYMLINK_NOFOLLOW);
        match stat.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(cannot_write(&path, &error.into())),
            Ok(FileType::Directory) => {}
            Ok(_) => return Err(no_directory(&path)),
        }
        let inner = self.subdirectory(name)?;
        let emptied = Dir::read_from(&*inner.descriptor).and_then(|entries| {
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name().to_bytes();
                if name != b"." && name != b".." {
                    fs::unlinkat(&*inner.descriptor, entry.file_name(), fs::AtFlags::empty())?;
                }
            }
            fs::unlinkat(&*self.descriptor, name, fs::AtFlags::REMOVEDIR)
        });
        emptied.map_err(|error| cannot_write(&path, &error.into()))
    }

    /// The only one to write here, until the lock is dropped.
    ///
    /// # Errors
    ///
    /// Another process is.
    pub fn lock(&self) -> Result<DirectoryLock> {
        // A description of its own: a lock belongs to that, and `self` may be in use by others of this process.
        let held = fs::openat(&*self.descriptor, ".", DIRECTORY, Mode::empty())
            .map_err(|error| cannot_write(&self.path, &error.into()))?;
        fs::flock(&held, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
            Errno::WOULDBLOCK => {
                Diagnostic::environment(format!("another laxity is writing to {}", self.path.shown()))
                    .hint("wait until it has ended, or choose another directory")
            }
            _ => cannot_write(&self.path, &error.into()),
        })?;
        Ok(DirectoryLock { held })
    }
}

fn no_directory(path: &Path) -> Diagnostic {
    Diagnostic::usage(format!("cannot write to {}: it is a link or a file, not a directory", path.shown()))
        .hint("laxity follows no links in a directory that it fills; remove it, and it is made anew")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A directory to write to, and one beside it that must stay as it is.
    fn here() -> (tempfile::TempDir, OutputDirectory, PathBuf) {
        let here = tempfile::tempdir().expect("a directory");
        let theirs = here.path().join("theirs");
        std::fs::create_dir(&theirs).expect("made");
        std::fs::write(theirs.join("precious"), "before").expect("written");
        let output = OutputDirectory::create(&here.path().join("a/b")).expect("made");
        (here, output, theirs)
    }

    #[test]
    fn a_directory_of_others_is_refused_and_one_of_laxity_or_of_nothing_is_not() {
        let here = tempfile::tempdir().expect("a directory");
        let directory = here.path().join("new");
        let begun = || is_begun(&directory, "study.json", "study");
        assert_eq!(begun(), Ok(false), "it is not there");
        std::fs::create_dir(&directory).expect("made");
        assert_eq!(begun(), Ok(false), "it is empty");
        std::fs::write(directory.join(".study.json.draft"), "").expect("written");
        assert_eq!(begun(), Ok(false), "half-written");
        std::fs::write(directory.join(".profile"), "mine").expect("written");
        let why = begun().expect_err("a file of the user").to_string();
        assert!(why.contains("/new is not empty and holds no study of laxity"), "{why}");
        std::fs::write(directory.join("study.json"), "{}").expect("written");
        assert_eq!(begun(), Ok(true));
        let file = is_begun(&directory.join("study.json"), "study.json", "study").expect_err("a file");
        assert!(file.to_string().contains("is a file, not a directory"), "{file}");
    }

    fn precious(theirs: &Path) -> String {
        assert_eq!(std::fs::read_dir(theirs).expect("there").count(), 1, "nothing came there");
        std::fs::read_to_string(theirs.join("precious")).expect("there")
    }

    #[test]
    fn a_link_is_replaced_and_its_target_left_alone() {
        let (_keep, output, theirs) = here();
        for name in ["report.html", ".report.html.draft"] {
            symlink(theirs.join("precious"), output.path().join(name)).expect("a link");
        }
        output.write("report.html", b"page").expect("written");
        assert_eq!(std::fs::read(output.path().join("report.html")).expect("there"), b"page");
        assert!(!output.path().join("report.html").is_symlink());
        assert_eq!(precious(&theirs), "before");
        assert_eq!(output.names().expect("readable"), ["report.html"]);
    }

    #[test]
    fn a_directory_that_is_a_link_is_refused() {
        let (_keep, output, theirs) = here();
        symlink(&theirs, output.path().join("plots")).expect("a link");
        std::fs::write(output.path().join("deploy"), "").expect("written");
        for name in ["plots", "deploy"] {
            for refused in [output.subdirectory(name).err(), output.remove_subdirectory(name).err()] {
                let refused = refused.expect("refused");
                assert!(refused.message.contains("it is a link or a file"), "{}", refused.message);
                assert_eq!(refused.failure.exit_code(), 2);
            }
        }
        assert_eq!(precious(&theirs), "before");
    }

    #[test]
    fn what_is_removed_with_a_directory_are_its_own_files() {
        let (_keep, output, theirs) = here();
        output.remove_subdirectory("plots").expect("it is not there");
        let plots = output.subdirectory("plots").expect("made");
        plots.write("a.svg", b"<svg/>").expect("written");
        symlink(&theirs, output.path().join("plots/link")).expect("a link");
        output.remove_subdirectory("plots").expect("removed");
        assert!(!output.path().join("plots").exists());
        assert_eq!(precious(&theirs), "before");
    }

    #[test]
    fn what_is_not_published_is_not_there() {
        let (_keep, output, _theirs) = here();
        output.write("jobs", b"before").expect("written");
        let mut draft = output.draft("jobs").expect("begun");
        draft.write_all(b"half").expect("written");
        drop(draft);
        assert_eq!(std::fs::read(output.path().join("jobs")).expect("there"), b"before");
        assert_eq!(std::fs::read_dir(output.path()).expect("there").count(), 1);
        // A draft of a process that was killed is no obstacle.
        std::mem::forget(output.draft("jobs").expect("begun"));
        let mut draft = output.draft("jobs").expect("begun again");
        draft.write_all(b"after").expect("written");
        draft.publish(true).expect("published");
        assert_eq!(std::fs::read(output.path().join("jobs")).expect("there"), b"after");
        assert_eq!(std::fs::read_dir(output.path()).expect("there").count(), 1);
    }

    #[test]
    fn one_writer_at_a_time() {
        let (_keep, output, _theirs) = here();
        let lock = output.lock().expect("free");
        let again = OutputDirectory::open(output.path()).expect("opened");
        let refused = again.lock().expect_err("held");
        assert!(refused.message.contains("another laxity is writing to"), "{}", refused.message);
        assert_eq!(refused.failure.exit_code(), 3);
        drop(lock);
        again.lock().expect("free again");
    }
}
