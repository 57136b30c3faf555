//! What a results directory keeps as evidence, and `SHA256SUMS`, which says what it was when it was finished.
//!
//! 1. The sums are written after all files that they are of, and nothing writes to these files afterwards.
//! 2. A file that has a line is believed if it is what the line says. One without is believed as it is: directories that
//!    earlier versions made and those that are not finished have no sums, and a line can be removed on purpose.
//! 3. The sums tell damage and mistakes. They do not tell a change by a person who changes the line, too.

use super::atomic_file::{diagnostic, write_atomically};
use super::sums::{Sum, line, read_line};
use super::{ACTIVITIES_DIRECTORY, EVENTS_DIRECTORY, JOBS_FILE, MANIFEST_FILE, part_number};
use laxity_model::{Diagnostic, Result, ShownPath as _};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Name of the file of sums.
pub const SUMS_FILE: &str = "SHA256SUMS";

/// Where overheads are kept, and the endings of their files.
const OVERHEADS: (&str, [&str; 3]) = ("overheads", [".csv", ".json", ".parquet"]);

/// Whether a file is kept as evidence: read again, and not made again. `name` is relative to the results directory.
fn is_kept(name: &str) -> bool {
    match name.split_once('/') {
        None => [MANIFEST_FILE, JOBS_FILE].contains(&name),
        Some((ACTIVITIES_DIRECTORY | EVENTS_DIRECTORY, file)) => part_number(file).is_some(),
        Some((directory, file)) => {
            let plain = !file.starts_with('.') && !file.contains(['/', '\\', '\n', '\r']);
            directory == OVERHEADS.0 && plain && OVERHEADS.1.iter().any(|ending| file.ends_with(ending))
        }
    }
}

/// The kept files of a directory, relative to it, sorted.
fn kept_files(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = vec![MANIFEST_FILE.to_owned(), JOBS_FILE.to_owned()];
    for folder in [ACTIVITIES_DIRECTORY, EVENTS_DIRECTORY, OVERHEADS.0] {
        let entries = match fs::read_dir(directory.join(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let name = entry?.file_name();
            names.extend(name.to_str().map(|name| format!("{folder}/{name}")));
        }
    }
    names.retain(|name| is_kept(name) && directory.join(name).is_file());
    names.sort();
    Ok(names)
}

/// Writes the sums of what is kept, whole or not at all.
pub(super) fn write(directory: &Path) -> io::Result<()> {
    let mut text = String::new();
    for name in kept_files(directory)? {
        text += &line(Sum::of(&mut File::open(directory.join(&name))?)?, &name);
    }
    write_atomically(&directory.join(SUMS_FILE), |file| file.write_all(text.as_bytes()))
}

/// The files that a results directory keeps. Each is believed only if it is what its sum says.
#[derive(Debug)]
pub struct Kept {
    directory: PathBuf,
    sums: BTreeMap<String, Sum>,
}

impl Kept {
    /// Of this directory.
    ///
    /// Errors: `SHA256SUMS` is damaged; a file that it names is missing.
    pub fn of(directory: impl Into<PathBuf>) -> Result<Kept> {
        let directory = directory.into();
        let path = directory.join(SUMS_FILE);
        // The sums of a directory that holds no results are none of laxity's.
        if !directory.join(MANIFEST_FILE).exists() {
            return Ok(Kept { directory, sums: BTreeMap::new() });
        }
        let sums = match fs::read(&path) {
            Ok(text) => read_sums(&text).map_err(|why| damaged_sums(&path, &why))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(diagnostic("read", &path, &error, "")),
        };
        let kept = Kept { directory, sums };
        let gone = kept.sums.keys().find(|name| !kept.path(name).exists());
        match gone.map(|name| kept.missing(name)) {
            Some(missing) => Err(missing),
            None => Ok(kept),
        }
    }

    /// Where the directory is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where a file of it is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Opens a file; nothing if there is none. `name` is relative to the directory, such as `events/run-0.parquet`.
    ///
    /// Errors: a file that differs from its sum, or that cannot be read.
    pub fn open(&self, name: &str) -> Result<Option<File>> {
        let path = self.path(name);
        let unreadable = |error: io::Error| diagnostic("read", &path, &error, "");
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return if self.sums.contains_key(name) { Err(self.missing(name)) } else { Ok(None) };
            }
            Err(error) => return Err(unreadable(error)),
        };
        if let Some(sum) = self.sums.get(name)
            && Sum::of(&mut file).map_err(unreadable)? != *sum
        {
            return Err(Diagnostic::usage(format!(
                "{} differs from its sum in {SUMS_FILE}: it was damaged or changed since it was written",
                path.shown()
            ))
            .hint(format!(
                "make it again; if it was changed on purpose, remove its line from {}",
                self.path(SUMS_FILE).shown()
            )));
        }
        Ok(Some(file))
    }

    /// The content of a file; nothing if there is none.
    ///
    /// Errors: those of [`Kept::open`].
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(mut file) = self.open(name)? else { return Ok(None) };
        let mut content = Vec::new();
        match file.read_to_end(&mut content) {
            Ok(_) => Ok(Some(content)),
            Err(error) => Err(diagnostic("read", &self.path(name), &error, "")),
        }
    }

    fn missing(&self, name: &str) -> Diagnostic {
        let sums = self.path(SUMS_FILE);
        Diagnostic::usage(format!("{} is missing: {} names it", self.path(name).shown(), sums.shown()))
            .hint("put it back or make it again; if it was removed on purpose, remove its line, too")
    }
}

/// The sums by name, or what is wrong with them.
fn read_sums(text: &[u8]) -> std::result::Result<BTreeMap<String, Sum>, String> {
    let text = str::from_utf8(text).map_err(|_| "it is not text".to_owned())?;
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    if !text.ends_with('\n') {
        return Err("its last line is cut off".to_owned());
    }
    let mut sums = BTreeMap::new();
    for (number, line) in (1..).zip(text.split_terminator('\n')) {
        let (sum, name) =
            read_line(line).ok_or_else(|| format!("line {number} is not a sum, two spaces and a name"))?;
        if !is_kept(name) {
            return Err(format!(
                "line {number} names `{}`, which is no file that laxity keeps",
                name.escape_debug()
            ));
        }
        if sums.insert(name.to_owned(), sum).is_some() {
            return Err(format!("line {number} names `{name}` again"));
        }
    }
    Ok(sums)
}

/// A file has what it should not have: the `what` of another run.
pub(super) fn of_another_run(name: &str, what: &str, run: u32) -> Diagnostic {
    Diagnostic::usage(format!("{name} has the {what} of run {run}"))
        .hint("put the file back under the name that laxity gave it")
}

fn damaged_sums(path: &Path, why: &str) -> Diagnostic {
    Diagnostic::usage(format!("{} is damaged: {why}", path.shown())).hint(
        "mend the line, or remove the file: what it is about is then read without sums, and nothing tells if that is damaged",
    )
}
