//! A directory that only its user can write to or look into, for what is executed when it is read again: how to undo
//! changes to the host.
//!
//! A file in it has this user's laxity do things. So the directory is made with mode 0700, its
//! owner and mode are checked through the descriptor by which all of its files are then reached, links are never
//! followed, and of files only those are read that the user owns alone.

use laxity_model::{Diagnostic, Draft, Result, ShownPath as _, remove_at};
use rustix::fd::OwnedFd;
use rustix::fs::{self, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rights of the group and of others.
const OF_OTHERS: u32 = 0o077;
/// Of them, those to change something.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Larger files are none of laxity's.
const BYTES_MAX: u64 = 64 << 20;

/// The open directory.
#[derive(Debug, Clone)]
pub struct PrivateDirectory {
    descriptor: Arc<OwnedFd>,
    path: PathBuf,
}

impl PrivateDirectory {
    /// Opens a directory, which is made if it is not there. Its parent must be.
    ///
    /// # Errors
    ///
    /// It is a link, another user's, or others may write to it; or an error of the file system.
    pub fn open(path: &Path) -> Result<Self> {
        match fs::mkdir(path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(cannot(path, error)),
        }
        Self::existing(path)?.ok_or_else(|| cannot(path, Errno::NOENT))
    }

    /// Opens a directory if it is there.
    ///
    /// # Errors
    ///
    /// As of [`PrivateDirectory::open`].
    pub fn existing(path: &Path) -> Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = match fs::open(path, flags, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(refused(path, "it is no directory, or a link to one"));
            }
            Err(error) => return Err(cannot(path, error)),
        };
        let stat = fs::fstat(&descriptor).map_err(|error| cannot(path, error))?;
        if let Some(why) = foreign(&stat) {
            return Err(refused(path, &why));
        }
        if stat.st_mode & OF_OTHERS != 0 {
            fs::fchmod(&descriptor, Mode::RWXU).map_err(|error| cannot(path, error))?;
        }
        Ok(Some(PrivateDirectory { descriptor: Arc::new(descriptor), path: path.to_owned() }))
    }

    /// Where it is, for messages and for processes that open it themselves.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names in it, sorted.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&*self.descriptor)? {
            names.extend(entry?.file_name().to_str().map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// What a file holds, if there is one.
    ///
    /// # Errors
    ///
    /// It is no regular file, not this user's alone, or cannot be read.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        // Without waiting, should it be a FIFO.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match fs::openat(&*self.descriptor, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(io::Error::other("it is a link")),
            opened => File::from(opened?),
        };
        own(&file)?;
        let mut bytes = Vec::new();
        file.take(BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Puts a file there, whole or not at all.
    ///
    /// # Errors
    ///
    /// It cannot be written; what was there before still is.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut draft = Draft::create(&self.descriptor, name, Mode::RUSR | Mode::WUSR)?;
        draft.write_all(bytes)?;
        draft.publish(false)
    }

    /// Removes a file; one that is not there is removed.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        remove_at(&self.descriptor, name)
    }

    /// A file to lock, which is made if it is not there. Others cannot open it, and so cannot hold its lock.
    ///
    /// # Errors
    ///
    /// It is no regular file, not this user's alone, or cannot be opened.
    pub fn lock_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(fs::openat(&*self.descriptor, name, flags, Mode::RUSR | Mode::WUSR)?);
        own(&file)?;
        fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
        Ok(file)
    }
}

/// Refuses what is no regular file, or not this user's alone.
fn own(file: &File) -> io::Result<()> {
    let stat = fs::fstat(file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is no regular file"));
    }
    if stat.st_nlink > 1 {
        return Err(io::Error::other("it has another name, too (a hard link)"));
    }
    foreign(&stat).map_or(Ok(()), |why| Err(io::Error::other(why)))
}

/// Why something is not under this user's control alone, if it is not.
fn foreign(stat: &Stat) -> Option<String> {
    let user = rustix::process::geteuid().as_raw();
    if stat.st_uid != user {
        return Some(format!("its owner is user {}, not user {user}", stat.st_uid));
    }
    let mode = stat.st_mode & 0o7777;
    (mode & WRITABLE_BY_OTHERS != 0).then(|| format!("others may write to it (its mode is {mode:04o})"))
}

fn cannot(path: &Path, error: Errno) -> Diagnostic {
    Diagnostic::environment(format!("cannot use {} for run-time state: {error}", path.shown()))
        .hint("make it writable, or run as root")
}

fn refused(path: &Path, why: &str) -> Diagnostic {
    Diagnostic::environment(format!("cannot trust {} with run-time state: {why}", path.shown())).hint(
        "laxity restores the host by what it finds there; remove it if nothing in it is yours, and it is made anew with mode 0700",
    )
}

/// One for a test, which is removed with the other value.
#[cfg(test)]
pub(crate) fn for_test() -> (tempfile::TempDir, PrivateDirectory) {
    let parent = tempfile::tempdir().expect("directory");
    let directory = PrivateDirectory::open(&parent.path().join("state")).expect("made");
    (parent, directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("it is there").mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("our own");
    }

    #[test]
    fn it_is_private_whatever_it_was() {
        let parent = tempfile::tempdir().expect("directory");
        let path = parent.path().join("state");
        assert!(PrivateDirectory::existing(&path).expect("nothing is no error").is_none() && !path.exists());
        PrivateDirectory::open(&path).expect("made");
        assert_eq!(mode(&path), 0o700);
        set_mode(&path, 0o755);
        PrivateDirectory::open(&path).expect("what others could read only is made private");
        assert_eq!(mode(&path), 0o700);
        for writable in [0o777, 0o1777, 0o720, 0o702] {
            set_mode(&path, writable);
            let error = PrivateDirectory::open(&path).expect_err("others may have written");
            assert!(error.message.contains("others may write"), "{error}");
            assert_eq!(mode(&path), writable, "left as it is");
        }
    }

    #[test]
    fn links_and_what_is_no_directory_are_refused() {
        let parent = tempfile::tempdir().expect("directory");
        let (real, link, file) =
            (parent.path().join("real"), parent.path().join("link"), parent.path().join("file"));
        std::fs::create_dir(&real).expect("made");
        symlink(&real, &link).expect("made");
        std::fs::write(&file, "").expect("made");
        for path in [link, file] {
            let error = PrivateDirectory::open(&path).expect_err("not a directory of its own");
            assert!(error.message.contains("cannot trust"), "{error}");
        }
    }

    #[test]
    fn files_are_read_only_if_they_are_the_users_alone() {
        let parent = tempfile::tempdir().expect("directory");
        let path = parent.path().join("state");
        let directory = PrivateDirectory::open(&path).expect("made");
        assert_eq!(directory.read("none").expect("nothing is no error"), None);
        directory.replace("own", b"text").expect("written");
        assert_eq!(directory.read("own").expect("read"), Some(b"text".to_vec()));
        assert_eq!(mode(&path.join("own")), 0o600);
        symlink("own", path.join("link")).expect("made");
        std::fs::write(path.join("loose"), "").expect("made");
        set_mode(&path.join("loose"), 0o666);
        std::fs::write(path.join("hard"), "").expect("made");
        std::fs::hard_link(path.join("hard"), parent.path().join("other name")).expect("made");
        std::fs::create_dir(path.join("directory")).expect("made");
        let status = std::process::Command::new("mkfifo").arg(path.join("fifo")).status();
        assert!(status.expect("coreutils").success());
        for name in ["link", "loose", "hard", "directory", "fifo"] {
            directory.read(name).expect_err(name);
            directory.lock_file(name).expect_err(name);
        }
    }

    /// As root: another user's directory and file, as a planted journal would be.
    #[test]
    fn what_another_user_has_made_is_refused() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: only root can give files away");
            return;
        }
        let parent = tempfile::tempdir().expect("directory");
        let path = parent.path().join("state");
        let directory = PrivateDirectory::open(&path).expect("made");
        std::fs::write(path.join("undo-1.json"), "[]").expect("made");
        std::os::unix::fs::chown(path.join("undo-1.json"), Some(65534), None).expect("root may");
        assert!(directory.read("undo-1.json").expect_err("foreign").to_string().contains("user 65534"));
        std::os::unix::fs::chown(&path, Some(65534), None).expect("root may");
        let error = PrivateDirectory::open(&path).expect_err("foreign");
        assert!(error.message.contains("user 65534"), "{error}");
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_the_old_one_and_no_draft() {
        let parent = tempfile::tempdir().expect("directory");
        let directory = PrivateDirectory::open(&parent.path().join("state")).expect("made");
        std::fs::create_dir(directory.path().join("name")).expect("made");
        directory.replace("name", b"text").expect_err("a directory is in the way");
        assert_eq!(directory.names().expect("read").iter().filter(|name| name.contains("draft")).count(), 0);
    }
}
