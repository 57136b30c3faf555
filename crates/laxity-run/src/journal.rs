//! What must be put back: every change to the host is written down before it is made.
//!
//! The guardian undoes its changes on every orderly exit. Should it be killed, the next holder of the machine lock
//! finds the journal and undoes them: holding the lock proves that their maker is gone.

mod permitted;
mod pinned;

use crate::private::PrivateDirectory;
use crate::started::{self, Identity};
use laxity_model::{Diagnostic, Result, ShownPath as _};
pub use pinned::{PinnedThread, Stat};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How to undo one change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undo {
    /// Write the old value back.
    Write {
        /// File.
        path: PathBuf,
        /// Old value.
        value: String,
    },
    /// Remove a cgroup that was created, ending what still runs in it.
    RemoveCgroup {
        /// Directory.
        path: PathBuf,
    },
    /// Wait until the kernel has given back the bandwidth of SCHED_DEADLINE tasks that ended. It does so up to a
    /// period after their end, and takes it from the root domain of that time: one that is rebuilt in between
    /// ends with too little on its account, or less than nothing, and then admits too much or no task at all.
    Settle {
        /// The longest period, in ns.
        span_ns: u64,
    },
    /// Confine threads again that the kernel let onto more CPUs.
    Affinities {
        /// As they were.
        threads: Vec<PinnedThread>,
    },
    /// End a program that loads a scheduler.
    EndProgram {
        /// The program.
        program: Identity,
    },
    /// Write back what files of the kernel had, which may be as they were or gone.
    Restore {
        /// The directory that they are below.
        directory: PathBuf,
        /// As they were.
        files: Vec<FileAsItWas>,
    },
    /// Detach the scheduler that such a program has left behind.
    Detach {
        /// How many had been attached since boot before it, if the kernel counts them.
        before: Option<u64>,
    },
}

/// What a file had before it was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAsItWas {
    /// Below the directory of its step.
    pub file: PathBuf,
    /// The value that it had.
    pub value: String,
}

/// The changes made so far.
pub struct Journal {
    directory: PrivateDirectory,
    name: String,
    steps: Vec<Undo>,
}

impl Journal {
    /// An empty journal in `directory`.
    pub fn create(directory: PrivateDirectory) -> Self {
        Journal { directory, name: format!("undo-{}.json", std::process::id()), steps: Vec::new() }
    }

    /// Writes down how to undo a change that is about to be made.
    pub fn record(&mut self, step: Undo) -> Result<()> {
        self.steps.push(step);
        self.save().map_err(|error| {
            Diagnostic::environment(format!("cannot write down how to undo changes to the host: {error}"))
                .hint("the directory for run-time state must be writable; nothing was changed")
        })
    }

    fn save(&self) -> io::Result<()> {
        self.directory.replace(&self.name, &serde_json::to_vec(&self.steps)?)
    }

    /// Undoes everything, newest first. What could not be undone is returned, and stays in the journal.
    pub fn undo(&mut self) -> Vec<String> {
        let mut failures = Vec::new();
        let mut left = Vec::new();
        while let Some(step) = self.steps.pop() {
            if let Err(error) = step.apply() {
                failures.push(format!("{}: {error}", step.path().shown()));
                left.insert(0, step);
            }
        }
        self.steps = left;
        if self.steps.is_empty() {
            // A journal that cannot be removed is harmless: its steps can be repeated.
            let _ = self.directory.remove(&self.name);
        }
        failures
    }
}

/// Writes a line to standard error, whatever names are in the words. A closed standard error must not keep the host from being put back.
pub fn warn(words: impl std::fmt::Display) {
    use io::Write;
    let _ = writeln!(io::stderr(), "{}", laxity_model::shown_message(&words.to_string()));
}

impl Drop for Journal {
    fn drop(&mut self) {
        for failure in self.undo() {
            warn(format_args!("warning: could not restore {failure}"));
        }
    }
}

impl Undo {
    fn path(&self) -> &Path {
        match self {
            Undo::Write { path, .. } | Undo::RemoveCgroup { path } => path,
            Undo::Restore { directory, .. } => directory,
            Undo::Settle { .. } | Undo::Affinities { .. } | Undo::EndProgram { .. } => Path::new("/proc"),
            Undo::Detach { .. } => Path::new("/sys/kernel/sched_ext"),
        }
    }

    fn apply(&self) -> io::Result<()> {
        match self {
            Undo::Write { path, value } => fs::write(path, value),
            Undo::RemoveCgroup { path } => remove_cgroup(path),
            Undo::Settle { span_ns } => {
                std::thread::sleep(Duration::from_nanos(*span_ns));
                Ok(())
            }
            Undo::EndProgram { program } => program.end(),
            Undo::Detach { before } => started::detach(*before).map(|_| ()),
            Undo::Affinities { threads } => each(threads.iter().map(PinnedThread::restore)),
            Undo::Restore { directory, files } => each(files.iter().map(|file| file.restore(directory))),
        }
    }
}

/// Does all, even if one fails; the first failure.
fn each(steps: impl Iterator<Item = io::Result<()>>) -> io::Result<()> {
    let mut outcome = Ok(());
    for step in steps {
        outcome = outcome.and(step);
    }
    outcome
}

impl FileAsItWas {
    /// Nothing is to be done for a file that was never changed, as the kernel refused it or the maker was killed before, and for
    /// one whose CPU or device is gone.
    fn restore(&self, directory: &Path) -> io::Result<()> {
        let path = directory.join(&self.file);
        match fs::read_to_string(&path) {
            Ok(now) if now.trim() == self.value => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            _ => overwrite(&path, &self.value)
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.file.shown()))),
        }
    }
}

/// Writes a file that is there.
pub(crate) fn overwrite(path: &Path, value: &str) -> io::Result<()> {
    use io::Write;
    fs::OpenOptions::new().write(true).truncate(true).open(path)?.write_all(value.as_bytes())
}

/// Ends what runs in a cgroup and removes it; processes take a moment to leave.
fn remove_cgroup(path: &Path) -> io::Result<()> {
    // The kernel would give a partition's CPUs back only some time after the removal.
    let partition = path.join("cpuset.cpus.partition");
    if partition.exists() {
        // Should this fail, the removal has the same effect, later.
        let _ = fs::write(&partition, "member");
    }
    let give_up = Instant::now() + Duration::from_secs(5);
    loop {
        for pid in members(path).lines() {
            if let Some(pid) = pid.parse().ok().and_then(rustix::process::Pid::from_raw) {
                // It may be gone already.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        match fs::remove_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < give_up => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

/// What runs in a cgroup. Of a threaded one (cgroup v2) the kernel says the threads only; a signal to one ends its process.
fn members(path: &Path) -> String {
    let read = |file: &str| fs::read_to_string(path.join(file));
    read("cgroup.procs").or_else(|_| read("cgroup.threads")).unwrap_or_default()
}

fn unreadable(file: &Path, error: &str) -> Diagnostic {
    Diagnostic::environment(format!(
        "an earlier run was killed, and what it changed cannot be read from {}: {error}",
        file.shown()
    ))
    .hint(
        "restore by hand: remove the cgroups named laxity-*, write 1 into cpuset.sched_load_balance (cgroup v1); \
         then remove that file",
    )
}

fn not_believed(file: &Path, why: &str) -> Diagnostic {
    Diagnostic::environment(format!("{} is no journal of laxity's: {why}", file.shown()))
        .hint("nothing of it was carried out; find out what has written it, then remove it")
}

/// Undoes what killed guardians left behind. The caller holds the machine lock. Returns the paths restored.
pub fn recover(directory: &PrivateDirectory) -> Result<Vec<PathBuf>> {
    recover_if(directory, permitted::check)
}

/// The same, whatever their journals name.
#[cfg(test)]
pub(crate) fn recover_anything(directory: &PrivateDirectory) -> Result<Vec<PathBuf>> {
    recover_if(directory, |_| Ok(()))
}

/// Undoes the steps of killed guardians, of each journal all or, should one not be permitted, none.
fn recover_if(
    directory: &PrivateDirectory,
    permitted: impl Fn(&Undo) -> std::result::Result<(), String>,
) -> Result<Vec<PathBuf>> {
    let mut restored = Vec::new();
    for name in directory.names().unwrap_or_default() {
        if !name.starts_with("undo-") {
            continue;
        }
        if name.ends_with(".draft") {
            // Of a guardian that was killed before it changed anything. One that stays is no harm.
            let _ = directory.remove(&name);
        } else if name.ends_with(".json") {
            restored.extend(recover_one(directory, name, &permitted)?);
        }
    }
    Ok(restored)
}

fn recover_one(
    directory: &PrivateDirectory,
    name: String,
    permitted: &impl Fn(&Undo) -> std::result::Result<(), String>,
) -> Result<Vec<PathBuf>> {
    let file = directory.path().join(&name);
    let text = directory.read(&name).map_err(|error| unreadable(&file, &error.to_string()))?;
    let steps: Vec<Undo> = serde_json::from_slice(&text.unwrap_or_else(|| b"[]".to_vec()))
        .map_err(|error| unreadable(&file, &error.to_string()))?;
    for step in &steps {
        permitted(step).map_err(|why| not_believed(&file, &why))?;
    }
    let changes = steps.iter().filter(|step| !matches!(step, Undo::Settle { .. }));
    let restored = changes.map(|step| step.path().to_owned()).collect();
    let mut journal = Journal { directory: directory.clone(), name, steps };
    let failures = journal.undo();
    if failures.is_empty() {
        return Ok(restored);
    }
    // Do not try again while unwinding.
    journal.steps.clear();
    Err(Diagnostic::environment(format!(
        "an earlier run was killed and its changes cannot be undone: {}",
        failures.join("; ")
    ))
    .hint(format!("undo them by hand (they are listed in {}), then remove that file", file.shown())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::private::for_test;

    /// As a kernel's file would be: recovering with it tries the mechanism, not what is permitted.
    fn anything(_: &Undo) -> std::result::Result<(), String> {
        Ok(())
    }

    #[test]
    fn undoes_in_reverse_order_and_leaves_no_journal() {
        let (parent, directory) = for_test();
        let file = parent.path().join("value");
        fs::write(&file, "new").expect("write");
        let mut journal = Journal::create(directory.clone());
        for value in ["oldest", "older"] {
            journal.record(Undo::Write { path: file.clone(), value: value.into() }).expect("record");
        }
        assert_eq!(journal.undo(), Vec::<String>::new());
        assert_eq!(fs::read_to_string(&file).expect("read"), "oldest");
        assert!(recover(&directory).expect("nothing left").is_empty());
    }

    #[test]
    fn a_killed_makers_changes_are_undone_by_the_next() {
        let (parent, directory) = for_test();
        let file = parent.path().join("value");
        let mut journal = Journal::create(directory.clone());
        journal.record(Undo::Write { path: file.clone(), value: "old".into() }).expect("record");
        fs::write(&file, "new").expect("write");
        std::mem::forget(journal);
        fs::write(directory.path().join("undo-77.json.draft"), "[{").expect("write");
        assert_eq!(recover_if(&directory, anything), Ok(vec![file.clone()]));
        assert_eq!(fs::read_to_string(&file).expect("read"), "old");
        assert_eq!(recover_if(&directory, anything), Ok(vec![]));
        assert!(!directory.path().join("undo-77.json.draft").exists());
    }

    #[test]
    fn a_journal_that_cannot_be_read_is_kept_and_named() {
        let (_parent, directory) = for_test();
        let file = directory.path().join("undo-1.json");
        fs::write(&file, "[{\"of-another-version\": 1}]").expect("write");
        assert!(recover(&directory).expect_err("unknown step").message.contains("undo-1.json"));
        assert!(file.exists());
    }

    #[test]
    fn what_cannot_be_undone_stays_in_the_journal() {
        let (parent, directory) = for_test();
        let mut journal = Journal::create(directory.clone());
        let path = parent.path().join("no/such/file");
        journal.record(Undo::Write { path, value: "old".into() }).expect("record");
        assert_eq!(journal.undo().len(), 1);
        std::mem::forget(journal);
        assert!(recover_if(&directory, anything).expect_err("still broken").message.contains("no/such/file"));
    }

    /// A journal that names what laxity does not change is not carried out, not even in part.
    #[test]
    fn a_planted_journal_changes_nothing() {
        let (parent, directory) = for_test();
        let (first, second) = (parent.path().join("first"), parent.path().join(".bashrc"));
        for path in [&first, &second] {
            fs::write(path, "mine").expect("write");
        }
        let mut journal = Journal::create(directory.clone());
        for path in [&first, &second] {
            journal.record(Undo::Write { path: path.clone(), value: "planted".into() }).expect("record");
        }
        std::mem::forget(journal);
        let error = recover(&directory).expect_err("not what laxity changes");
        assert!(error.message.contains("names") && error.message.contains("first"), "{error}");
        for path in [&first, &second] {
            assert_eq!(fs::read_to_string(path).expect("read"), "mine");
        }
    }
}
