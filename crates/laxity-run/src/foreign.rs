//! A foreign scheduler of sched_ext: the program that loads it, from before the tasks are admitted to the end of the run.
//!
//! ```text
//!   guardian                              __foreign, then PROGRAM (the same process)
//!      |  spawn ------------------------->  waits for a byte
//!      |  journal: detach, end program
//!      |  a byte ------------------------>  asks for SIGTERM at the guardian's death, executes PROGRAM
//!      |  sched_ext/state: enabled          loads its scheduler
//!      |  ... the run, as long as it stays so ...
//!      |  SIGTERM to its process group --->  detaches and ends; SIGKILL if it does not
//! ```
//!
//! 1. A scheduler is there when `/sys/kernel/sched_ext/state` says `enabled`; `root/ops` has its name. The program goes on for as
//!    long as its scheduler, as those of the sched_ext project do: one that ends has ended the run.
//! 2. A scheduler whose program is gone is detached by the kernel unless the program has pinned it. Then SysRq S detaches it, if it
//!    is the one that came after the program was started (`enable_seq`).
//! 3. What the program says is kept in memory; its last words are quoted where it fails.

use crate::journal::{Journal, Undo};
use crate::started::{Identity, MARK, SCHED_EXT, detach, enable_seq, wait_until};
use laxity_kernel::attached;
use laxity_model::{Diagnostic, Result, ShownPath as _, shown};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The argument by which the program starts itself to become a foreign one.
pub const FOREIGN_COMMAND: &str = "__foreign";
/// How long a program may take to load its scheduler.
const LOAD: Duration = Duration::from_secs(30);
/// How long it takes at the most to see that a program has ended, too.
const RATTLE: Duration = Duration::from_millis(300);
/// How much of a program's last words is quoted.
const WORDS_BYTES: u64 = 2_000;
const WORDS_LINES: usize = 6;

/// The file of a program: a path, or the first of its name in PATH.
///
/// # Errors
///
/// There is none that can be executed.
pub fn find(program: &str) -> Result<PathBuf> {
    let is_program = |path: &Path| {
        fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        let path = PathBuf::from(program);
        return match is_program(&path) {
            true => Ok(path),
            false => Err(Diagnostic::environment(format!("scx:{} is no program", shown(program)))
                .hint("name an executable file that loads a scheduler by sched_ext")),
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| is_program(path));
    found.ok_or_else(|| {
        Diagnostic::environment(format!("scx:{}: no program of this name is in PATH", shown(program)))
            .hint("install it, or write its path: scx:/usr/bin/scx_simple")
    })
}

/// A program with its scheduler, until it is dropped.
pub struct Foreign {
    program: String,
    child: Child,
    output: File,
    /// `enable_seq` of before.
    before: Option<u64>,
    /// When it must have loaded.
    until: Instant,
    stopped: bool,
}

impl Foreign {
    /// Starts the program; what it takes to end it is in the journal first.
    ///
    /// # Errors
    ///
    /// There is no such program, or another scheduler is attached already.
    pub fn start(program: &str, journal: &mut Journal) -> Result<Self> {
        let path = find(program)?;
        if let Some(other) = attached() {
            return Err(Diagnostic::environment(format!(
                "another scheduler is attached to the kernel by sched_ext: {}",
                shown(&other)
            ))
            .hint("end the program that has attached it"));
        }
        let cannot = |error: io::Error| {
            Diagnostic::environment(format!("scx:{} cannot be started: {error}", shown(program)))
        };
        let output = rustix::fs::memfd_create("laxity-foreign", rustix::fs::MemfdFlags::CLOEXEC)
            .map(File::from)
            .map_err(|error| cannot(error.into()))?;
        let said = || output.try_clone().map(Stdio::from).map_err(cannot);
        let before = enable_seq();
        journal.record(Undo::Detach { before })?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(FOREIGN_COMMAND).arg(std::process::id().to_string()).arg(path).env(MARK, "1");
        command.stdin(Stdio::piped()).stdout(said()?).stderr(said()?).process_group(0);
        let mut child = command.spawn().map_err(cannot)?;
        let begun = Identity::of(child.id()).ok_or_else(|| cannot(io::ErrorKind::NotFound.into()))?;
        journal.record(Undo::EndProgram { program: begun })?;
        let go = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(b"!"));
        go.map_err(cannot)?;
        let until = Instant::now() + LOAD;
        Ok(Foreign { program: program.to_owned(), child, output, before, until, stopped: false })
    }

    /// Whether its scheduler is there: what it is called.
    ///
    /// # Errors
    ///
    /// The program has ended, or takes too long.
    pub fn loaded(&mut self) -> Result<Option<String>> {
        if state().as_deref() == Some("enabled") {
            return Ok(Some(attached().unwrap_or_default()));
        }
        let failed = |why: String| {
            Err(Diagnostic::environment(format!(
                "scx:{} has loaded no scheduler: {why}",
                shown(&self.program)
            ))
            .hint("start it by hand: it is to load a scheduler and to go on until SIGTERM"))
        };
        match self.child.try_wait() {
            Ok(None) if Instant::now() < self.until => Ok(None),
            Ok(None) => failed(format!("not within {} s{}", LOAD.as_secs(), self.words())),
            Ok(Some(status)) => failed(format!("it ended ({status}){}", self.words())),
            Err(error) => failed(error.to_string()),
        }
    }

    /// Why its scheduler does not schedule any more, if so.
    pub fn thrown_out(&mut self) -> Option<String> {
        let ended = self.child.try_wait().ok().flatten();
        let same =
            state().as_deref() == Some("enabled") && enable_seq() == self.before.map(|before| before + 1);
        if ended.is_none() && same {
            return None;
        }
        // One that ends takes its scheduler along, and one that is thrown out may end: either is seen a moment later.
        let mut status = ended;
        wait_until(RATTLE, || {
            status = status.or_else(|| self.child.try_wait().ok().flatten());
            status.is_some()
        });
        let why = match status {
            Some(status) => format!("its program ended ({status})"),
            None => "the kernel threw it out".to_owned(),
        };
        Some(format!("the scheduler of scx:{} is gone: {why}{}", shown(&self.program), self.words()))
    }

    /// What it has said last, to go behind other words.
    fn words(&self) -> String {
        let text = last_words(&self.output).unwrap_or_default();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(WORDS_LINES)..];
        if last.is_empty() { String::new() } else { format!(": {}", shown(&last.join("; "))) }
    }

    /// Ends the program and its scheduler; what a reader should know of how.
    pub fn stop(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        if std::mem::replace(&mut self.stopped, true) {
            return notes;
        }
        if let Some(program) = Identity::of(self.child.id())
            && let Err(error) = program.end()
        {
            notes.push(format!("scx:{} could not be ended: {error}", shown(&self.program)));
        }
        // It is a zombie, if there was anything to end.
        let _ = self.child.try_wait();
        match detach(self.before) {
            Ok(false) => {}
            Ok(true) => notes.push(format!(
                "scx:{} has left its scheduler in the kernel; laxity has detached it (SysRq S)",
                shown(&self.program)
            )),
            Err(error) => {
                notes.push(format!("the scheduler of scx:{} is still there: {error}", shown(&self.program)))
            }
        }
        notes
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The process that becomes the program: as soon as its guardian has written it down.
pub fn foreign_main(guardian: u32, program: &Path) -> ExitCode {
    let mut go = [0];
    if io::stdin().read_exact(&mut go).is_err() {
        return ExitCode::FAILURE;
    }
    // SAFETY: prctl and getppid take and give numbers.
    let parent = unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
        libc::getppid()
    };
    if u32::try_from(parent) != Ok(guardian) {
        return ExitCode::FAILURE;
    }
    let error = Command::new(program).stdin(Stdio::null()).exec();
    let _ = writeln!(io::stderr(), "{} cannot be executed: {error}", program.shown());
    ExitCode::FAILURE
}

fn state() -> Option<String> {
    fs::read_to_string(format!("{SCHED_EXT}/state")).ok().map(|text| text.trim().to_owned())
}

fn last_words(output: &File) -> io::Result<String> {
    // The offset is the program's, too: it is put back.
    let mut output = output;
    let end = output.seek(SeekFrom::End(0))?;
    output.seek(SeekFrom::Start(end.saturating_sub(WORDS_BYTES)))?;
    let mut bytes = Vec::new();
    output.take(WORDS_BYTES).read_to_end(&mut bytes)?;
    output.seek(SeekFrom::End(0))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        assert!(find("sh").is_ok_and(|path| path.ends_with("sh") && path.is_absolute()));
        assert_eq!(find("/bin/sh"), Ok(PathBuf::from("/bin/sh")));
        for missing in ["no-such-program", "/etc/passwd", "/no/such/file", "/bin/"] {
            let refused = find(missing).expect_err(missing);
            assert!(refused.message.contains(missing) && refused.hint.is_some(), "{refused}");
        }
    }
}
