//! The keeper: a process that outlives the program that has promoted threads, and then puts them back as they were.
//!
//! It is a session of its own and ignores what asks programs to end: it ends when its connection does, after it has put back
//! everything that it still keeps. What it keeps is in a file, too; should both be killed, the next promotion reads it.

use crate::channel::{Channel, connected_child};
use crate::journal::warn;
use crate::private::PrivateDirectory;
use crate::remembered_thread::RememberedThread;
use crate::runtime_dir::state_directory;
use laxity_model::{Diagnostic, Result, ShownPath as _};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::process::{Child, ExitCode};

/// The argument by which the program starts itself as a keeper.
pub const KEEPER_COMMAND: &str = "__keeper";

const FILE: &str = "promoted.json";

/// To the keeper.
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    /// Remember how a thread was.
    Keep(RememberedThread),
    /// Put it back, and forget it.
    Restore(i32),
}

/// The keeper's answer to each: why it failed, if it did.
type Answer = Option<String>;

/// The way to the keeper. When this is dropped, everything is put back.
pub struct Keeper {
    child: Child,
    channel: Option<Channel>,
    /// The same that it keeps: for another one, should it be killed.
    kept: Vec<RememberedThread>,
}

impl Keeper {
    /// Starts it, after what an earlier one has left is put back.
    ///
    /// # Errors
    ///
    /// The directory for run-time state or the program itself cannot be used.
    pub fn start() -> Result<Self> {
        let directory = state_directory()?;
        recover(&directory)?;
        let (child, channel) = spawn(directory.path())?;
        Ok(Keeper { child, channel: Some(channel), kept: Vec::new() })
    }

    /// Has a thread remembered as it is.
    ///
    /// # Errors
    ///
    /// The keeper may not put it back: the thread must not be changed.
    pub fn keep(&mut self, remembered: RememberedThread) -> Result<()> {
        self.ask(&Order::Keep(remembered.clone()))?;
        self.kept.push(remembered);
        Ok(())
    }

    /// Has a thread put back as it was.
    ///
    /// # Errors
    ///
    /// An error of the kernel. The thread is forgotten all the same.
    pub fn restore(&mut self, tid: i32) -> Result<()> {
        let order = self.ask(&Order::Restore(tid));
        self.kept.retain(|remembered| remembered.tid() != tid);
        order
    }

    /// The threads that it keeps.
    pub fn kept(&self) -> &[RememberedThread] {
        &self.kept
    }

    fn ask(&mut self, order: &Order) -> Result<()> {
        let answer = match self.exchange(order) {
            Ok(answer) => answer,
            Err(_) => {
                // Killed: another one takes its place, with all that this one had.
                self.replace()?;
                self.exchange(order).map_err(|error| {
                    Diagnostic::environment(format!("the process that keeps promoted threads: {error}"))
                })?
            }
        };
        answer.map_or(Ok(()), |why| Err(Diagnostic::environment(why)))
    }

    fn exchange(&mut self, order: &Order) -> io::Result<Answer> {
        let channel = self.channel.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        channel.send(order)?;
        channel.receive()?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn replace(&mut self) -> Result<()> {
        self.channel = None;
        // It is gone; only its number is left.
        let _ = self.child.wait();
        let (child, channel) = spawn(state_directory()?.path())?;
        (self.child, self.channel) = (child, Some(channel));
        for remembered in self.kept.clone() {
            if let Ok(Some(why)) = self.exchange(&Order::Keep(remembered)) {
                return Err(Diagnostic::environment(why));
            }
        }
        Ok(())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.channel = None;
        // It ends when it has put everything back.
        let _ = self.child.wait();
    }
}

fn spawn(directory: &Path) -> Result<(Child, Channel)> {
    connected_child(&[KEEPER_COMMAND.as_ref(), directory.as_os_str()]).map_err(|error| {
        Diagnostic::environment(format!("cannot start the process that keeps promoted threads: {error}"))
    })
}

/// The whole life of a keeper, behind the program's connection on standard input.
pub fn keeper_main(directory: &Path) -> ExitCode {
    // Fails only for a process that leads a session already.
    let _ = rustix::process::setsid();
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
        // SAFETY: to ignore a signal has no preconditions.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let Ok(mut program) = Channel::from_stdin() else { return ExitCode::FAILURE };
    let directory = match PrivateDirectory::open(directory) {
        Ok(directory) => directory,
        Err(error) => {
            warn(format_args!("error: {}", error.message));
            return ExitCode::FAILURE;
        }
    };
    let mut kept = Kept { directory, remembered: Vec::new() };
    // A message that cannot be read is the end, too.
    while let Ok(Some(order)) = program.receive() {
        let answer: Answer = match order {
            Order::Keep(remembered) => kept.keep(remembered),
            Order::Restore(tid) => kept.restore(tid),
        }
        .err()
        .map(|error| error.to_string());
        if program.send(&answer).is_err() {
            break;
        }
    }
    for failure in kept.restore_all() {
        warn(format_args!("warning: could not put back {failure}"));
    }
    ExitCode::SUCCESS
}

struct Kept {
    directory: PrivateDirectory,
    remembered: Vec<RememberedThread>,
}

impl Kept {
    fn keep(&mut self, remembered: RememberedThread) -> io::Result<()> {
        self.remembered.push(remembered);
        self.save()
    }

    fn restore(&mut self, tid: i32) -> io::Result<()> {
        let at = self.remembered.iter().position(|remembered| remembered.tid() == tid);
        let outcome = at.map_or(Ok(()), |at| self.remembered.remove(at).restore());
        outcome.and(self.save())
    }

    /// Newest first; what could not be put back.
    fn restore_all(&mut self) -> Vec<String> {
        let all = std::mem::take(&mut self.remembered);
        let failures = all.iter().rev().filter_map(|one| Some(one.restore().err()?.to_string())).collect();
        // A file that cannot be removed names threads that are as they were.
        let _ = self.save();
        failures
    }

    fn save(&self) -> io::Result<()> {
        if self.remembered.is_empty() {
            return self.directory.remove(FILE);
        }
        self.directory.replace(FILE, &serde_json::to_vec(&self.remembered)?)
    }
}

/// Puts back what a killed keeper has left.
fn recover(directory: &PrivateDirectory) -> Result<()> {
    let text = match directory.read(FILE) {
        Ok(None) => return Ok(()),
        Ok(Some(text)) => Ok(text),
        Err(error) => Err(error.to_string()),
    };
    let remembered: Vec<RememberedThread> = text
        .and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()))
        .map_err(|error| {
            Diagnostic::environment(format!(
                "threads of an earlier policy are not as they were before it, and {} cannot be read: {error}",
                directory.path().join(FILE).shown()
            ))
            .hint("put them back by hand (chrt, taskset), then remove that file")
        })?;
    for failure in (Kept { directory: directory.clone(), remembered }).restore_all() {
        warn(format_args!(
            "warning: could not put back {failure}, which an earlier policy has left promoted"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::private::for_test;
    use crate::sched::{self, Attributes};

    #[test]
    fn what_is_left_is_put_back_and_the_file_goes() {
        let (_parent, directory) = for_test();
        let (stay, left) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get()).expect("still listening");
            left.recv()
        });
        let tid = told.recv().expect("the thread starts");
        let before = RememberedThread::of(tid).expect("it is there");
        let file = directory.path().join(FILE);
        let mut kept = Kept { directory: directory.clone(), remembered: Vec::new() };
        kept.keep(before.clone()).expect("it can be written");
        drop(kept);
        // SCHED_BATCH: may be taken back without privilege.
        sched::set_attributes(tid, Attributes { policy: 3, ..Attributes::default() }).expect("less");
        assert_ne!(RememberedThread::of(tid).expect("it is there"), before);
        recover(&directory).expect("it can be read");
        assert_eq!(RememberedThread::of(tid).expect("it is there"), before);
        assert!(!file.exists());
        drop(stay);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_kept_and_named() {
        let (_parent, directory) = for_test();
        std::fs::write(directory.path().join(FILE), "[{}]").expect("write");
        let error = recover(&directory).expect_err("of another version");
        assert!(error.message.contains(FILE), "{error}");
        assert!(directory.path().join(FILE).exists());
    }
}
