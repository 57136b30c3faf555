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
