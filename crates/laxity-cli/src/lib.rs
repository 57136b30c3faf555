//! The program `laxity` as a library: its command line, and [`call`], by which other programs carry out a command within themselves.
//!
//! Words go to standard error, data to standard output. Exit codes: 0 clean, 1 misses or a violation where asked
//! to judge, 2 usage or input, 3 the environment cannot do it, 130 interrupted.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod arguments;
pub mod call;
mod command_line;
mod commands;
mod interrupt;
mod machine_terminal;
mod memory;
mod output;
mod overheads_text;
mod shipped;
mod tables;
mod terminal;
mod views;
mod within;

pub use shipped::{VERSION, installed_below, located};

pub use memory::OrEnd;
use std::process::ExitCode;

/// Where this variable is set, the program ends when the process that has started it does: it belongs to that one alone, and no terminal
/// tells it of its end.
pub const ENDS_WITH_PARENT: &str = "LAXITY_ENDS_WITH_PARENT";

/// All that the command line takes, with its help.
pub fn command_line() -> clap::Command {
    command_line::Cli::whole_command()
}

/// The program.
pub fn main() -> ExitCode {
    output::show_panics();
    let arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(code) = laxity_lab::internal_role(&arguments) {
        return code;
    }
    if std::env::var_os(ENDS_WITH_PARENT).is_some() {
        // A kernel without it leaves things as they are: the command comes to its own end.
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
    }
    let cli = command_line::Cli::of_the_command_line();
    output::set_verbosity(cli.said.quiet, cli.said.verbose);
    match command_line::dispatch(cli.command) {
        Ok(code) => code,
        Err(mut error) => {
            error.hint = error.hint.map(|hint| shipped::in_words(&hint));
            output::say_error(&error);
            ExitCode::from(error.failure.exit_code())
        }
    }
}
