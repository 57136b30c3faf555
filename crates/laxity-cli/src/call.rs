//! A command carried out within another program, such as Python: what it would print is handed back instead.
//!
//! The thread that carries out a command has what it was given, and keeps what the command says (`within.rs`). Threads that the
//! command starts tell its observer, as they do of the program. What starts the program again by itself (`run`, `compare`, `load` and
//! the like) has to be called as a program.

use crate::arguments::ImportArguments;
use crate::command_line::{self, Cli, Command};
use crate::commands::analyze;
use crate::shipped;
use crate::within;
pub use crate::within::{Called, Given, SETS, Stop};
use clap::{CommandFactory as _, FromArgMatches as _};
use laxity_lab::analysis::answer::SchedulerAnswer;
use laxity_model::{Diagnostic, Result, TaskSet};
pub use laxity_study::Own;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Carries out a command on this thread. Its words are those behind `laxity` on a command line.
///
/// # Errors
///
/// Words that are no command line, and all that ends a command: what the program would say on standard error.
pub fn call(words: &[String], given: Given) -> Result<Called> {
    carry_out(words, given, |cli| {
        let code = command_line::dispatch(cli.command)?;
        Ok(Called { code: code_of(code), ..within::called() })
    })
}

/// What `analyze` says, with these words behind it, of each set under each scheduler by itself. False if it was interrupted.
///
/// # Errors
///
/// As [`call`].
pub fn verdicts(words: &[String], given: Given, keep: impl FnMut(SchedulerAnswer)) -> Result<bool> {
    let words: Vec<String> = std::iter::once("analyze".to_owned()).chain(words.iter().cloned()).collect();
    carry_out(&words, given, |cli| match cli.command {
        Command::Analyze(arguments) => Ok(!analyze::proven_each(&arguments, keep)?.0.interrupted),
        _ => unreachable!("it begins with analyze"),
    })
}

/// Reads files of task sets as commands do.
///
/// # Errors
///
/// As commands.
pub fn read_sets(paths: &[PathBuf], leave_out_threads: bool, given: Given) -> Result<Vec<TaskSet>> {
    let read = || ImportArguments { leave_out_threads }.read_sets(paths);
    given.within(Vec::new(), (false, false), read).map_err(as_found_here)
}

/// Carries out a command line.
fn carry_out<T>(words: &[String], given: Given, work: impl FnOnce(Cli) -> Result<T>) -> Result<T> {
    let cli = parse(words)?;
    let command = std::iter::once("laxity".to_owned()).chain(words.iter().cloned()).collect();
    let verbosity = (cli.said.quiet, cli.said.verbose);
    given.within(command, verbosity, || work(cli)).map_err(as_found_here)
}

/// An error that names shipped files as they are found from here.
fn as_found_here(error: Diagnostic) -> Diagnostic {
    Diagnostic { hint: error.hint.as_deref().map(shipped::in_words), ..error }
}

/// An exit code as a number: it can only be compared.
fn code_of(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(u8::MAX)
}

/// The command line, which is put together once: that takes longer than many a command.
fn parser() -> MutexGuard<'static, clap::Command> {
    static PARSER: LazyLock<Mutex<clap::Command>> = LazyLock::new(|| Mutex::new(Cli::command()));
    PARSER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads words as a command line.
fn parse(words: &[String]) -> Result<Cli> {
    let all = || std::iter::once("laxity").chain(words.iter().map(String::as_str)).map(OsString::from);
    let known = parser().try_get_matches_from_mut(all()).and_then(|matches| Cli::from_arg_matches(&matches));
    // What is wrong is said as the program says it.
    known.or_else(|_| Cli::of_words(all())).map_err(|error| {
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        // How a program is called is no help here.
        let text = text.split("\n\nUsage:").next().unwrap_or(text);
        let text = text.split("\n\nFor more information").next().unwrap_or(text).trim_end();
        let lacking = text.strip_prefix("the following required arguments were not provided:");
        let lacking = lacking.map(|names| {
            let names: Vec<&str> = names.lines().map(str::trim).filter(|name| !name.is_empty()).collect();
            format!("needed beside what is given: {}", names.join(", "))
        });
        let text = lacking.as_deref().unwrap_or(text);
        match text.split_once("\nhint: ") {
            Some((message, hint)) => Diagnostic::usage(message).hint(hint),
            None => {
                let command: Vec<&str> =
                    words.iter().map(String::as_str).take_while(|word| !word.starts_with('-')).collect();
                Diagnostic::usage(text)
                    .hint(format!("`laxity {} --help` says what it takes", command.join(" ")))
            }
        }
    })
}
