//! Files that a user names to be written: whole or not at all, and nothing that was there is lost unasked.

use crate::{Diagnostic, Result, ShownPath as _};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What to do with what is there already under the name of something to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave it alone and refuse.
    Refuse,
    /// Replace it.
    Replace,
}

impl Existing {
    /// By `--force` of the command line.
    pub fn forced(force: bool) -> Self {
        if force { Existing::Replace } else { Existing::Refuse }
    }
}

/// As many links are followed as the kernel follows.
const LINKS_MAX: usize = 40;
/// What a new file may be used for, before the umask.
const MODE_NEW: u32 = 0o666;

/// A file that is being written. Without [`OutputFile::finish`], no regular file is changed.
#[derive(Debug)]
pub struct OutputFile {
    /// As the user named it.
    name: PathBuf,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    /// Standard output, `-`.
    Standard(io::Stdout),
    /// A device, a FIFO, or a file that is open already: written as it is, never replaced.
    Through(File),
    /// A regular file, new or not: a draft beside it, renamed at the end.
    Draft { draft: tempfile::NamedTempFile, target: PathBuf, existing: Existing },
}

impl OutputFile {
    /// Begins a file. `-` is standard output; what is no regular file is written through; a symlink is followed, and its
    /// target written.
    ///
    /// # Errors
    ///
    /// A regular file is there and is not to be replaced; nothing can be written there.
    pub fn create(path: &Path, existing: Existing) -> Result<Self> {
        let cannot = |error: io::Error| cannot_write(path, &error);
        let sink = match destination(path).map_err(cannot)? {
            Destination::Standard => Sink::Standard(io::stdout()),
            Destination::Through => Sink::Through(OpenOptions::new().write(true).open(path).map_err(cannot)?),
            Destination::Regular { is_there: true, .. } if existing == Existing::Refuse => {
                return Err(exists(path));
            }
            Destination::Regular { target, .. } => {
                let draft = draft_beside(&target).map_err(cannot)?;
                Sink::Draft { draft, target, existing }
            }
        };
        Ok(OutputFile { name: path.to_owned(), sink })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    ///
    /// What was written did not get there; a file came there in the meantime and is not to be replaced.
    pub fn finish(mut self) -> Result<()> {
        self.flush().map_err(|error| cannot_write(&self.name, &error))?;
        let Sink::Draft { draft, target, existing } = self.sink else { return Ok(()) };
        let persisted = match existing {
            Existing::Refuse => draft.persist_noclobber(&target),
            Existing::Replace => draft.persist(&target),
        };
        persisted.map(drop).map_err(|error| match error.error.kind() {
            ErrorKind::AlreadyExists => exists(&self.name),
            _ => cannot_write(&self.name, &error.error),
        })
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Standard(out) => out.write(bytes),
            Sink::Through(file) => file.write(bytes),
            Sink::Draft { draft, .. } => draft.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Standard(out) => out.flush(),
            Sink::Through(file) => file.flush(),
            Sink::Draft { draft, .. } => draft.flush(),
        }
    }
}

/// Writes a file that the user names, as [`OutputFile`] does.
///
/// # Errors
///
/// Those of [`OutputFile::create`] and [`OutputFile::finish`].
pub fn write_file(path: &Path, bytes: &[u8], existing: Existing) -> Result<()> {
    let mut file = OutputFile::create(path, existing)?;
    match file.write_all(bytes) {
        // A reader that has left (`| head`) is no error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
        written => written.map_err(|error| cannot_write(path, &error))?,
    }
    file.finish()
}

/// Refuses a file that is there already, before anything is worked out for it; as [`OutputFile::create`] would later.
///
/// # Errors
///
/// A regular file is there and is not to be replaced.
pub fn check_writable(path: &Path, existing: Existing) -> Result<()> {
    match destination(path).map_err(|error| cannot_write(path, &error))? {
        Destination::Regular { is_there: true, .. } if existing == Existing::Refuse => Err(exists(path)),
        _ => Ok(()),
    }
}

/// Whether the directory that a file is to be in exists.
fn has_directory(path: &Path) -> bool {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    directory.unwrap_or(Path::new(".")).is_dir()
}

/// Why a path cannot be written: a wrong path is the user's to mend, a full disk the machine's.
pub fn cannot_write(path: &Path, error: &io::Error) -> Diagnostic {
    let (place, path) = (path, path.shown());
    let wrong = |why: &str, fix: &str| Diagnostic::usage(format!("cannot write {path}: {why}")).hint(fix);
    match error.kind() {
        ErrorKind::IsADirectory => wrong("it is a directory", "name a file in it"),
        ErrorKind::NotFound if has_directory(place) => {
            wrong("the file system there takes no new files", "choose another path")
        }
        ErrorKind::NotFound => {
            wrong("its directory does not exist", "create the directory, or check the path")
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            wrong("a file stands where a directory is needed", "choose another path, or remove that file")
        }
        ErrorKind::PermissionDenied => Diagnostic::environment(format!(
            "cannot write {path}: no permission to write there"
        ))
        .hint("choose a path that you may write to, or check the owner and mode of it and of its directory"),
        ErrorKind::StorageFull => Diagnostic::environment(format!("cannot write {path}: the disk is full"))
            .hint("make room, or choose a path on another disk"),
        ErrorKind::QuotaExceeded => {
            Diagnostic::environment(format!("cannot write {path}: the disk quota is used up"))
                .hint("make room, or choose a path on another disk")
        }
        ErrorKind::ReadOnlyFilesystem => {
            Diagnostic::environment(format!("cannot write {path}: the file system is read-only"))
                .hint("choose a path on another disk")
        }
        _ => Diagnostic::environment(format!("cannot write {path}: {error}"))
            .hint("choose a path that you may write to"),
    }
}

fn exists(path: &Path) -> Diagnostic {
    Diagnostic::usage(format!("{} is there already", path.shown()))
        .hint("choose another name, or replace it with --force")
}

/// Where bytes for a path go.
#[derive(Debug, PartialEq, Eq)]
enum Destination {
    Standard,
    Through,
    Regular { target: PathBuf, is_there: bool },
}

fn destination(path: &Path) -> io::Result<Destination> {
    if path == Path::new("-") {
        return Ok(Destination::Standard);
    }
    // A file behind an open descriptor is the shell's: it has made or emptied it.
    let opened = ["/dev/fd", "/proc/self/fd", "/dev/stdout", "/dev/stderr"];
    if opened.iter().any(|opened| path.starts_with(opened)) {
        return Ok(Destination::Through);
    }
    let target = followed(path)?;
    match fs::metadata(&target) {
        Ok(found) if found.is_file() => Ok(Destination::Regular { target, is_there: true }),
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(_) => Ok(Destination::Through),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(Destination::Regular { target, is_there: false })
        }
        Err(error) => Err(error),
    }
}

/// The path behind symlinks in its last part, whether it is there or not.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_symlink() => {
                let link = fs::read_link(&at)?;
                at = at.parent().unwrap_or(Path::new("")).join(link);
            }
            _ => return Ok(at),
        }
    }
    Err(io::Error::other("it is a symlink that leads to itself"))
}

/// An empty draft in the directory of a file, as accessible as the file is or as a new one would be.
fn draft_beside(target: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let draft = tempfile::Builder::new()
        .prefix(&format!(".{name}."))
        .suffix(".draft")
        .permissions(Permissions::from_mode(MODE_NEW))
        .tempfile_in(folder)?;
    if let Ok(found) = fs::metadata(target) {
        draft.as_file().set_permissions(found.permissions())?;
    }
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt as _, symlink};

    fn here() -> tempfile::TempDir {
        tempfile::tempdir().expect("a directory")
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).expect("readable")
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn an_existing_file_is_replaced_only_if_asked_and_keeps_its_mode() {
        let here = here();
        let file = here.path().join("set.toml");
        write_file(&file, b"one", Existing::Refuse).expect("new");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("chmod");
        let refused = write_file(&file, b"two", Existing::Refuse).expect_err("is there");
        assert!(refused.message.contains("set.toml is there already"), "{}", refused.message);
        assert!(refused.hint.expect("a hint").contains("--force"));
        assert_eq!(check_writable(&file, Existing::Refuse).expect_err("is there").message, refused.message);
        assert_eq!(text(&file), "one");
        write_file(&file, b"two", Existing::Replace).expect("forced");
        assert_eq!(text(&file), "two");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
        assert_eq!(names(here.path()), ["set.toml"], "no draft is left");
    }

    #[test]
    fn a_symlink_stays_and_its_target_is_written() {
        let here = here();
        let (target, link, far) =
            (here.path().join("target"), here.path().join("link"), here.path().join("far"));
        symlink("target", &link).expect("a link");
        symlink("link", &far).expect("a link to a link");
        write_file(&far, b"one", Existing::Refuse).expect("the target is new");
        assert_eq!(text(&target), "one");
        write_file(&far, b"two", Existing::Refuse).expect_err("the target is there");
        write_file(&link, b"two", Existing::Replace).expect("forced");
        assert_eq!(text(&target), "two");
        for link in [&link, &far] {
            assert!(fs::symlink_metadata(link).expect("there").is_symlink());
        }
        symlink("loop", here.path().join("loop")).expect("a loop");
        let error = write_file(&here.path().join("loop"), b"x", Existing::Replace).expect_err("a loop");
        assert!(error.message.contains("leads to itself"), "{}", error.message);
    }

    #[test]
    fn a_fifo_is_written_through() {
        let here = here();
        let fifo = here.path().join("fifo");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, mode).expect("a FIFO");
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::read_to_string(fifo).expect("the words")
        });
        write_file(&fifo, b"words", Existing::Refuse).expect("through");
        assert_eq!(reader.join().expect("a reader"), "words");
        assert!(fs::metadata(&fifo).expect("there").file_type().is_fifo());
    }

    #[test]
    fn devices_stay_devices() {
        let device = |path: &str| fs::metadata(path).expect("there").file_type().is_char_device();
        write_file(Path::new("/dev/null"), b"x", Existing::Refuse).expect("taken");
        let error = write_file(Path::new("/dev/full"), b"x", Existing::Refuse).expect_err("full");
        assert!(error.message.contains("cannot write /dev/full"), "{}", error.message);
        assert_eq!(error.failure.exit_code(), 3);
        assert!(device("/dev/null") && device("/dev/full"));
    }

    #[test]
    fn what_is_not_finished_is_not_there() {
        let here = here();
        let file = here.path().join("set.toml");
        let mut begun = OutputFile::create(&file, Existing::Refuse).expect("begun");
        begun.write_all(b"half").expect("written");
        drop(begun);
        assert!(names(here.path()).is_empty());
        let begun = OutputFile::create(&file, Existing::Refuse).expect("begun");
        fs::write(&file, "of another").expect("written");
        assert!(begun.finish().expect_err("came in between").message.contains("is there already"));
        assert_eq!(text(&file), "of another");
    }

    #[test]
    fn impossible_places_say_why() {
        let here = here();
        for (path, why) in
            [(here.path().to_owned(), "it is a directory"), (here.path().join("no/x"), "does not exist")]
        {
            let error = write_file(&path, b"x", Existing::Refuse).expect_err("impossible");
            assert!(error.message.contains(why), "{}", error.message);
            assert_eq!(error.failure.exit_code(), 2);
        }
    }
}
