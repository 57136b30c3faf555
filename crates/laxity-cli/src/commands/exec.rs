//! `laxity exec`: a program that was written for SCHED_DEADLINE, under the attached policy.

use clap::Args;
use laxity_model::{Diagnostic, Result, ShownPath as _};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Run a program unmodified, with its SCHED_DEADLINE tasks under the policy that `laxity load` has attached.
///
/// Whatever the program and its children ask for with `sched_setattr` and policy SCHED_DEADLINE is asked for as SCHED_EXT;
/// all else is as without laxity. The program takes this process's place: signals and exit code are its own.
#[derive(Args)]
#[command(after_long_help = "\
`sched_getattr` says SCHED_EXT (7), without deadline and period, which the kernel does not keep. Programs of 32 bits are not \
redirected. Without CAP_SYS_ADMIN the program cannot gain privileges by what it executes (no_new_privs).

Exit codes: the program's; 2 no such program; 3 no policy is attached.

Examples:
  sudo laxity load edf-bh &
  sudo laxity exec -- cyclicdeadline -t 2 -D 10 -i 10000")]
pub struct ExecArguments {
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

pub fn exec(arguments: &ExecArguments) -> Result<ExitCode> {
    let (program, rest) = arguments.command.split_first().expect("clap asks for one");
    check_program(program)?;
    laxity_kernel::redirect()?;
    let error = Command::new(program).args(rest).exec();
    Err(cannot_be_started(program, &error))
}

/// Refuses a program that is not there, before anything is changed for it.
pub fn check_program(program: &OsStr) -> Result<()> {
    match is_there(program) {
        true => Ok(()),
        false => Err(cannot_be_started(program, &io::Error::from_raw_os_error(libc::ENOENT))),
    }
}

pub fn cannot_be_started(program: &OsStr, error: &io::Error) -> Diagnostic {
    let what = format!("{} cannot be started: {error}", program.shown());
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::PermissionDenied => {
            Diagnostic::usage(what).hint("name a program in PATH, or give its path")
        }
        _ => Diagnostic::environment(what),
    }
}

/// Whether there is a file of this name where one would be looked for.
fn is_there(program: &OsStr) -> bool {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.exists();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(path).is_file())
}
