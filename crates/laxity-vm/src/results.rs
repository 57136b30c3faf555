//! Files from the machine: kept aside until all have come, then put in their places by renaming.

use crate::files::Travel;
use crate::protocol::Frame;
use laxity_model::{Diagnostic, Result, ShownPath as _, cannot_write};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Files that have come so far.
pub struct Results<'a> {
    travel: &'a Travel,
    /// Scratch directories by the directory they are in, so that renaming works.
    scratch: BTreeMap<PathBuf, tempfile::TempDir>,
    directories: Vec<(PathBuf, u32)>,
    /// Where each file is now, and where it belongs.
    files: Vec<(PathBuf, PathBuf)>,
    links: Vec<(PathBuf, PathBuf)>,
    open: Option<File>,
}

impl<'a> Results<'a> {
    /// Nothing yet.
    pub fn of(travel: &'a Travel) -> Self {
        Results {
            travel,
            scratch: BTreeMap::new(),
            directories: Vec::new(),
            files: Vec::new(),
            links: Vec::new(),
            open: None,
        }
    }

    /// Takes a frame that is about files.
    ///
    /// # Errors
    /// It cannot be written here, or the machine names a path that it has no business with.
    pub fn take(&mut self, frame: Frame) -> Result<()> {
        match frame {
            Frame::Directory(path, permissions) => {
                self.check(&path)?;
                self.open = None;
                self.directories.push((path, permissions));
            }
            Frame::File(path, permissions) => {
                self.check(&path)?;
                self.open = Some(self.begin(path, permissions)?);
            }
            Frame::Part(bytes) => {
                if let Some(file) = &mut self.open {
                    file.write_all(&bytes).map_err(|error| cannot_keep(&error))?;
                }
            }
            Frame::Link(path, target) => {
                self.check(&path)?;
                self.open = None;
                self.links.push((path, target));
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&self, path: &Path) -> Result<()> {
        match self.travel.may_return(path) {
            true => Ok(()),
            false => Err(Diagnostic::environment(format!(
                "the machine sends {}, where no results were to be expected",
                path.shown()
            ))),
        }
    }

    fn begin(&mut self, path: PathBuf, permissions: u32) -> Result<File> {
        let home =
            path.ancestors().skip(1).find(|parent| parent.is_dir()).unwrap_or(Path::new("/")).to_owned();
        let number = self.files.len();
        if !self.scratch.contains_key(&home) {
            let made = tempfile::Builder::new().prefix(".laxity-vm-").tempdir_in(&home);
            let made = made.map_err(|error| refused(&path, &error))?;
            self.scratch.insert(home.clone(), made);
        }
        let kept = self.scratch[&home].path().join(number.to_string());
        let file = File::create(&kept).map_err(|error| refused(&path, &error))?;
        // What the user's mask takes away stays away; only a program's being one is added.
        if permissions & 0o100 != 0 {
            let mode = file.metadata().map_or(0o644, |found| found.permissions().mode());
            let executable = mode | ((mode & 0o444) >> 2);
            file.set_permissions(fs::Permissions::from_mode(executable))
                .map_err(|error| refused(&path, &error))?;
        }
        self.files.push((kept, path));
        Ok(file)
    }

    /// Puts everything in its place. How many files that were.
    ///
    /// # Errors
    /// Something cannot be put there; what comes after it is not.
    pub fn settle(mut self) -> Result<usize> {
        self.open = None;
        for (path, _) in &self.directories {
            make_directory(path)?;
        }
        for (kept, path) in &self.files {
            if let Some(parent) = path.parent() {
                make_directory(parent)?;
            }
            settle_file(kept, path)?;
        }
        for (path, target) in &self.links {
            // A link may replace a link, nothing else.
            if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
                fs::remove_file(path).map_err(|error| refused(path, &error))?;
            }
            std::os::unix::fs::symlink(target, path).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => refused(path, &Error::other("what is there is no link")),
                _ => refused(path, &error),
            })?;
        }
        Ok(self.files.len() + self.links.len())
    }
}

fn make_directory(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| refused(path, &error))
}

fn settle_file(kept: &Path, path: &Path) -> Result<()> {
    match fs::rename(kept, path) {
        // Something is mounted in between.
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let draft = path.with_file_name(format!(".{name}.{}.draft", std::process::id()));
            fs::copy(kept, &draft).and_then(|_| fs::rename(&draft, path)).map_err(|error| {
                // Useless now; the error is what matters.
                let _ = fs::remove_file(&draft);
                refused(path, &error)
            })
        }
        other => other.map_err(|error| refused(path, &error)),
    }
}

/// Why something that the machine has made cannot be written here.
fn refused(path: &Path, error: &Error) -> Diagnostic {
    cannot_write(path, error).context("results of the machine").of_environment()
}

fn cannot_keep(error: &std::io::Error) -> Diagnostic {
    Diagnostic::environment(format!("cannot keep what the machine has made: {error}"))
        .hint("is the disk full?")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn travel(cwd: &Path) -> Travel {
        Travel { inward: Vec::new(), watched: vec![cwd.to_owned()] }
    }

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .expect("readable")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_come_to_their_places_all_at_once() {
        let here = tempfile::tempdir().expect("directory");
        let at = |name: &str| here.path().join(name);
        fs::write(at("old"), "before").expect("write");
        fs::write(at("untouched"), "mine").expect("write");
        let travel = travel(here.path());
        let mut results = Results::of(&travel);
        let frames = [
            Frame::Directory(at("empty"), 0o755),
            Frame::File(at("out/deep/program"), 0o755),
            Frame::Part(b"#!".to_vec()),
            Frame::Part(b"x\r\n\xff".to_vec()),
            Frame::File(at("old"), 0o644),
            Frame::Part(b"after".to_vec()),
            Frame::Link(at("out/link"), "deep/program".into()),
        ];
        for frame in frames {
            results.take(frame).expect("kept");
        }
        assert_eq!(fs::read(at("old")).expect("a file"), b"before", "nothing is in its place yet");
        assert_eq!(results.settle(), Ok(3));
        assert_eq!(fs::read(at("old")).expect("a file"), b"after");
        assert_eq!(fs::read(at("out/link")).expect("a link"), b"#!x\r\n\xff");
        assert_eq!(fs::metadata(at("out/deep/program")).expect("a file").permissions().mode() & 0o100, 0o100);
        assert_eq!(names(here.path()), ["empty", "old", "out", "untouched"]);
    }

    #[test]
    fn what_is_abandoned_leaves_nothing() {
        let here = tempfile::tempdir().expect("directory");
        let travel = travel(here.path());
        let mut results = Results::of(&travel);
        results.take(Frame::File(here.path().join("half"), 0o644)).expect("kept");
        results.take(Frame::Part(b"half".to_vec())).expect("kept");
        drop(results);
        assert!(names(here.path()).is_empty());
    }

    #[test]
    fn the_machine_writes_where_results_belong_and_nowhere_else() {
        let here = tempfile::tempdir().expect("directory");
        let travel = travel(&here.path().join("work"));
        let mut results = Results::of(&travel);
        for path in [here.path().join("other"), here.path().join("work/../other"), "/etc/passwd".into()] {
            let refused = results.take(Frame::File(path.clone(), 0o644)).expect_err("outside");
            assert!(refused.message.contains("no results were to be expected"), "{path:?}");
            assert!(results.take(Frame::Link(path, "/".into())).is_err());
        }
        assert!(names(here.path()).is_empty());
    }
}
