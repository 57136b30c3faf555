//! Results that take the place of others: as a whole, at the end, or not at all.
//!
//! ```text
//!   begun          results/  .results.draft/        the earlier ones; the new ones grow
//!   finished       results/ <-> .results.draft/     exchanged in one step (renameat2)
//!   cleaned up     results/                         with the files in it that are not laxity's
//! ```
//!
//! A run that is killed leaves the earlier results as they were, and what it had finished in the draft, which
//! `laxity report` reads. The next replacement removes it.

use super::atomic_file::diagnostic;
use laxity_model::{Diagnostic, DirectoryLock, OutputDirectory, Result};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files that laxity puts into a results directory. All others are the user's and stay.
const FILES: &[&str] =
    &["SHA256SUMS", "jobs.parquet", "manifest.json", "report.html", "summary.json", "summary.md"];
/// Its directories in there, and the endings of its files in them.
const DIRECTORIES: &[(&str, &[&str])] = &[
    ("activities", &[".parquet", ".tmp"]),
    ("events", &[".parquet", ".tmp"]),
    ("jobs.parts", &[".parquet", ".tmp", "SHA256SUMS"]),
    ("overheads", &[".csv", ".json", ".parquet", ".draft"]),
    ("plots", &[".svg", ".draft"]),
];

/// Its directory of trees: what to set, of one task set, or of each in a directory of its own (laxity-deploy).
const DEPLOY: &str = "deploy";
/// The file that every such tree has.
const PLAN_FILE: &str = "plan.json";
/// The directories in such a tree.
pub const DEPLOY_FOLDERS: &[&str] = &["systemd", "c", "rust", "python", "oci", "ros2", "kernel"];
/// The endings of the files in it.
pub const DEPLOY_ENDINGS: &[&str] =
    &[".c", ".h", ".json", ".md", ".py", ".rs", ".service", ".sh", ".slice", ".target", ".txt", ".yaml"];

/// A directory of results on its way into the place of another.
#[derive(Debug)]
pub(super) struct Replacement {
    /// As the user named it.
    named: PathBuf,
    target: PathBuf,
    draft: PathBuf,
    /// No other process replaces the earlier results.
    _earlier: DirectoryLock,
}

impl Replacement {
    /// An empty directory beside the one that is to be replaced, and the way there.
    ///
    /// # Errors
    ///
    /// Another laxity writes there; the directory has no name that could be given to another one, as a file system's root;
    /// whatever the file system refuses.
    pub(super) fn begin(target: &Path) -> Result<(OutputDirectory, Replacement)> {
        let earlier = OutputDirectory::open(target)?.lock()?;
        // Links that the user has put before the directory are followed once, here.
        let real = target.canonicalize().map_err(|error| cannot_replace(target, &error))?;
        let draft = beside(&real).ok_or_else(|| cannot_replace(target, &Errno::BUSY.into()))?;
        remove_draft(&draft).map_err(|error| cannot_replace(target, &error))?;
        fs::create_dir(&draft).map_err(|error| cannot_replace(target, &error))?;
        let directory = OutputDirectory::open(&draft)?;
        Ok((directory, Replacement { named: target.to_owned(), target: real, draft, _earlier: earlier }))
    }

    /// Puts the directory into its place, and keeps what is not laxity's of the earlier one.
    ///
    /// # Errors
    ///
    /// Whatever the file system refuses. Up to the exchange the earlier results are as they were.
    pub(super) fn finish(self) -> Result<PathBuf> {
        renameat_with(CWD, &self.draft, CWD, &self.target, RenameFlags::EXCHANGE)
            .map_err(|error| cannot_replace(&self.target, &error.into()))?;
        keep_foreign(&self.draft, &self.target)
            .and_then(|()| fs::remove_dir_all(&self.draft))
            .map_err(|error| diagnostic("remove the earlier results in", &self.draft, &error, ""))?;
        Ok(self.named)
    }
}

/// `.NAME.draft`, in the same directory.
fn beside(directory: &Path) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(directory.file_name()?);
    name.push(".draft");
    Some(directory.with_file_name(name))
}

/// Removes what a replacement that was killed has left.
fn remove_draft(draft: &Path) -> io::Result<()> {
    match fs::symlink_metadata(draft) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(found) if found.is_dir() => fs::remove_dir_all(draft),
        Ok(_) => fs::remove_file(draft),
        Err(error) => Err(error),
    }
}

fn keep_foreign(earlier: &Path, now: &Path) -> io::Result<()> {
    for entry in fs::read_dir(earlier)? {
        let entry = entry?;
        let name = entry.file_name();
        let of_laxity = DIRECTORIES.iter().find(|(directory, _)| name == *directory);
        match of_laxity.filter(|_| entry.path().is_dir() && !entry.path().is_symlink()) {
            Some((_, endings)) => keep_foreign_files(&entry.path(), &now.join(&name), endings)?,
            None if name == DEPLOY && is_directory(&entry.path()) => {
                keep_foreign_of_tree(&entry.path(), &now.join(&name))?;
            }
            None if FILES.iter().any(|file| name == *file) || is_ours(&name, &[".draft", ".tmp"]) => {}
            None => fs::rename(entry.path(), now.join(&name))?,
        }
    }
    Ok(())
}

/// Of a tree of what to set: directories of its forms and trees below it are laxity's, all others the user's.
fn keep_foreign_of_tree(earlier: &Path, now: &Path) -> io::Result<()> {
    let ours = |name: &OsStr| is_ours(name, DEPLOY_ENDINGS) || is_ours(name, &[".draft"]);
    for entry in fs::read_dir(earlier)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        let is_form = DEPLOY_FOLDERS.iter().any(|folder| name == *folder);
        if is_directory(&path) && (is_form || path.join(PLAN_FILE).is_file()) {
            keep_foreign_of_tree(&path, &now.join(&name))?;
        } else if is_directory(&path) || !ours(&name) {
            fs::create_dir_all(now)?;
            fs::rename(&path, now.join(&name))?;
        }
    }
    Ok(())
}

fn is_directory(path: &Path) -> bool {
    path.is_dir() && !path.is_symlink()
}

fn keep_foreign_files(earlier: &Path, now: &Path, endings: &[&str]) -> io::Result<()> {
    for entry in fs::read_dir(earlier)? {
        let name = entry?.file_name();
        if !is_ours(&name, endings) {
            fs::create_dir_all(now)?;
            fs::rename(earlier.join(&name), now.join(&name))?;
        }
    }
    Ok(())
}

fn is_ours(name: &OsStr, endings: &[&str]) -> bool {
    name.to_str().is_some_and(|name| endings.iter().any(|ending| name.ends_with(ending)))
}

fn cannot_replace(target: &Path, error: &io::Error) -> Diagnostic {
    diagnostic("replace the results in", target, error, "they are as they were").hint(
        "new results are made beside the earlier ones and then put into their place: the directory above must be writable, \
         on the same file system; or choose another directory with `--out DIR`",
    )
}
