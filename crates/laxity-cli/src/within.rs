//! What this thread's command was given by another program, and where its answer goes.
//!
//! [`crate::output`], [`crate::interrupt`] and [`crate::terminal`] look here first; where a command is the program's own, there is nothing.

use laxity_lab::Observer;
use laxity_model::{Result, TaskSet};
use laxity_study::Own;
use std::cell::RefCell;
use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, PoisonError};

/// The name of a file that stands for all task sets that a command is given in memory.
pub const SETS: &str = "<sets>";

/// What a command is given beside its words.
pub struct Given {
    /// The task sets for which the word [`SETS`] stands, where files of sets are read.
    pub sets: Vec<TaskSet>,
    /// Tests and prototypes beside what laxity has, which curves of studies and simulations can name.
    pub own: Own,
    /// Is told how far it is, and what it says beside its answer.
    pub observer: Arc<dyn Observer>,
    /// Asks for its end.
    pub stop: Stop,
}

/// What a command has come to.
#[derive(Debug, Default)]
pub struct Called {
    /// Its exit code: 0 and 1 are answers, 4 is the verdict that there is none, 130 says that it was interrupted.
    pub code: u8,
    /// What the program prints with `--json`, byte for byte.
    pub data: String,
    /// What it prints without, as wide as it is.
    pub text: String,
    /// The task sets that it has made: by `generate`, and what `--write` with the word [`SETS`] writes.
    pub sets: Vec<TaskSet>,
}

/// A flag by which a command is asked for its end. There are as many as commands have ever run at the same time.
#[derive(Debug, Clone, Copy)]
pub struct Stop(&'static AtomicBool);

/// The flags that no command has.
static FREE: Mutex<Vec<&'static AtomicBool>> = Mutex::new(Vec::new());

impl Stop {
    /// One that no other command has, until it is given back.
    pub fn new() -> Stop {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Stop(free.unwrap_or_else(|| Box::leak(Box::default())))
    }

    /// The flag itself: true once the end is asked for.
    pub fn flag(self) -> &'static AtomicBool {
        self.0
    }

    /// Asks for the end.
    pub fn ask(self) {
        self.0.store(true, SeqCst);
    }

    /// For another command: once this one has ended, and nothing asks for its end any more.
    pub fn give_back(self) {
        self.0.store(false, SeqCst);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop::new()
    }
}

/// What this thread's command was given, and what it has said so far.
struct Current {
    sets: Option<Vec<TaskSet>>,
    own: Own,
    observer: Arc<dyn Observer>,
    stop: &'static AtomicBool,
    /// `--quiet`, `--verbose`.
    verbosity: (bool, bool),
    command: Vec<String>,
    called: Called,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// Asks this thread's call; nothing where the program runs by itself.
fn current<T>(ask: impl FnOnce(&mut Current) -> T) -> Option<T> {
    CURRENT.with_borrow_mut(|current| current.as_mut().map(ask))
}

impl Given {
    /// Does something on this thread with what is given.
    pub(crate) fn within<T>(
        self,
        command: Vec<String>,
        verbosity: (bool, bool),
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let Given { sets, own, observer, stop } = self;
        let called = Called::default();
        CURRENT.set(Some(Current {
            sets: Some(sets),
            own,
            observer,
            stop: stop.0,
            verbosity,
            command,
            called,
        }));
        // Also where the work panics.
        let _ending = Ending;
        work()
    }
}

/// Takes back what the thread was given.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

/// What the command has come to so far, which is taken.
pub(crate) fn called() -> Called {
    current(|current| std::mem::take(&mut current.called)).unwrap_or_default()
}

/// Whether the command is one of another program's.
pub(crate) fn is_within() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// Takes what is data; false where the program runs by itself.
pub(crate) fn takes_data(data: &str) -> bool {
    current(|current| current.called.data += data).is_some()
}

/// Takes words that are an answer.
pub(crate) fn takes_text(text: &str) -> bool {
    current(|current| current.called.text += text).is_some()
}

/// Takes a task set that a command has made; gives it back where the program runs by itself.
pub(crate) fn takes_set(set: TaskSet) -> Option<TaskSet> {
    let mut set = Some(set);
    current(|current| current.called.sets.extend(set.take()));
    set
}

/// Whether this path stands for task sets in memory.
pub(crate) fn is_in_memory(path: &Path) -> bool {
    path == Path::new(SETS) && is_within()
}

/// Tells what a reader can do without.
pub(crate) fn takes_note(words: &impl Display) -> bool {
    current(|current| current.observer.note(&words.to_string())).is_some()
}

/// Tells what a reader has to know.
pub(crate) fn takes_warning(words: &impl Display) -> bool {
    current(|current| current.observer.warn(&words.to_string())).is_some()
}

/// How much is said.
pub(crate) fn verbosity() -> Option<(bool, bool)> {
    current(|current| current.verbosity)
}

/// By what the end is asked for.
pub(crate) fn stop() -> Option<&'static AtomicBool> {
    current(|current| current.stop)
}

/// What is told, and the command line.
pub(crate) fn caller() -> Option<(Arc<dyn Observer>, Vec<String>)> {
    current(|current| (Arc::clone(&current.observer), current.command.clone()))
}

/// Tests and prototypes beside what laxity has.
pub(crate) fn own() -> Own {
    current(|current| current.own.clone()).unwrap_or_default()
}

/// The task sets for which this path stands.
pub(crate) fn sets_given(path: &Path) -> Option<Vec<TaskSet>> {
    if path != Path::new(SETS) {
        return None;
    }
    current(|current| current.sets.take()).flatten()
}
