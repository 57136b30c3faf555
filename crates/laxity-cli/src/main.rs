//! laxity: the real-time scheduling laboratory for Linux.
//!
//! Words go to standard error, data to standard output. Exit codes: 0 clean, 1 misses or a violation where asked
//! to judge, 2 usage or input, 3 the environment cannot do it, 130 interrupted.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod arguments;
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

use std::process::ExitCode;

fn main() -> ExitCode {
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
