//! A command carried out within another program, such as Python: what it would print is handed back instead.
//!
//! The thread that carries out a command has what it was given and what it says ([`given`]); [`crate::output`],
//! [`crate::interrupt`] and [`crate::terminal`] look there first. Threads that the command starts tell its observer, as they do of
//! the program. What starts the program again by itself (`run`, `compare`, `load` and the like) has to be called as a program.

use crate::arguments::ImportArguments;
use crate::command_line::{self, Cli, Command};
use crate::commands::analyze;
use crate::shipped;
use laxity_analysis::Test;
use laxity_lab::Observer;
use laxity_lab::analysis::answer::Answer;
use laxity_model::{Diagnostic, Result, TaskSet};
use std::cell::RefCell;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, PoisonError};

/// The name of a file that stands for all task sets that a command is given in memory.
pub const SETS: &str = "<sets>";

/// What a command is given beside its words.
pub struct Given {
    /// The task sets for which the word [`SETS`] stands, where files of sets are read.
    pub sets: Vec<TaskSet>,
    /// Tests beside those of the catalogue, which curves of studies can name.
    pub tests: Vec<&'static dyn Test>,
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
    /// One that no other command has. [`call`] gives it back.
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

    fn give_back(self) {
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
    tests: Vec<&'static dyn Test>,
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

/// Carries out a command on this thread. Its words are those behind `laxity` on a command line.
///
/// # Errors
///
/// Words that are no command line, and all that ends a command: what the program would say on standard error.
pub fn call(words: &[String], given: Given) -> Result<Called> {
    given.carry_out(words, |cli| {
        let code = command_line::dispatch(cli.command)?;
        let called = current(|current| std::mem::take(&mut current.called)).expect("it has begun");
        Ok(Called { code: code_of(code), ..called })
    })
}

/// What `analyze` says, with these words behind it, as a value instead of JSON.
///
/// # Errors
///
/// As [`call`].
pub fn analysis(words: &[String], given: Given) -> Result<Answer> {
    let words: Vec<String> = std::iter::once("analyze".to_owned()).chain(words.iter().cloned()).collect();
    given.carry_out(&words, |cli| match cli.command {
        Command::Analyze(arguments) => Ok(analyze::proven(&arguments)?.0),
        _ => unreachable!("it begins with analyze"),
    })
}

/// Reads files of task sets as commands do.
///
/// # Errors
///
/// As commands.
pub fn read_sets(paths: &[PathBuf], leave_out_threads: bool, given: Given) -> Result<Vec<TaskSet>> {
    given.within(Vec::new(), (false, false), || ImportArguments { leave_out_threads }.read_sets(paths))
}

impl Given {
    /// Carries out a command line.
    fn carry_out<T>(self, words: &[String], work: impl FnOnce(Cli) -> Result<T>) -> Result<T> {
        match parse(words) {
            Ok(cli) => {
                let command = std::iter::once("laxity".to_owned()).chain(words.iter().cloned()).collect();
                let verbosity = (cli.said.quiet, cli.said.verbose);
                self.within(command, verbosity, || work(cli))
            }
            Err(error) => {
                self.stop.give_back();
                Err(error)
            }
        }
    }

    /// Does something on this thread with what is given.
    fn within<T>(
        self,
        command: Vec<String>,
        verbosity: (bool, bool),
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let Given { sets, tests, observer, stop } = self;
        let called = Called::default();
        CURRENT.set(Some(Current {
            sets: Some(sets),
            tests,
            observer,
            stop: stop.0,
            verbosity,
            command,
            called,
        }));
        // Also where the work panics.
        let _ending = Ending(stop);
        work().map_err(|mut error| {
            error.hint = error.hint.map(|hint| shipped::in_words(&hint));
            error
        })
    }
}

/// Takes back what the thread was given.
struct Ending(Stop);

impl Drop for Ending {
    fn drop(&mut self) {
        CURRENT.set(None);
        self.0.give_back();
    }
}

/// An exit code as a number: it can only be compared.
fn code_of(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(u8::MAX)
}

/// Reads words as a command line.
fn parse(words: &[String]) -> Result<Cli> {
    let all = std::iter::once("laxity").chain(words.iter().map(String::as_str)).map(OsString::from);
    Cli::of_words(all).map_err(|error| {
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        // How a program is called is no help here.
        let text = text.split("\n\nUsage:").next().unwrap_or(text);
        let text = text.split("\n\nFor more information").next().unwrap_or(text).trim_end();
        match text.split_once("\nhint: ") {
            Some((message, hint)) => Diagnostic::usage(message).hint(hint),
            None => Diagnostic::usage(text),
        }
    })
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

/// Tests beside those of the catalogue.
pub(crate) fn tests() -> Vec<&'static dyn Test> {
    current(|current| current.tests.clone()).unwrap_or_default()
}

/// The task sets for which this path stands.
pub(crate) fn sets_given(path: &Path) -> Option<Vec<TaskSet>> {
    if path != Path::new(SETS) {
        return None;
    }
    current(|current| current.sets.take()).flatten()
}
