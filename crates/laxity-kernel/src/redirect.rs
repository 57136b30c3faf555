//! Programs written for SCHED_DEADLINE, unmodified, under the attached policy: what they ask for with `sched_setattr` is
//! asked for again on their behalf, with SCHED_EXT in the place of SCHED_DEADLINE.
//!
//! A seccomp filter makes the kernel ask a process in the background (the redirector) about every `sched_setattr` of the
//! program and its descendants; all other system calls, `sched_yield` above all, go their own way. So it works for every
//! program whatever it is linked with, and costs nothing once a task has been admitted.
//!
//! Assumptions: the program uses this machine's native system calls (those of 32-bit programs are let through), and it names
//! other threads by the numbers of this process's namespace.

mod filter;
mod passing;
mod redirector;
#[cfg(test)]
mod tests;

use laxity_model::{Diagnostic, Result};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode};

/// The first argument of a redirector, which is this program started anew.
const ROLE: &str = "__redirector";

/// From now on, whatever this process, the programs it becomes, and their descendants ask for as SCHED_DEADLINE is asked for
/// as SCHED_EXT. Ends with the last of them. To be called while this process has one thread.
///
/// # Errors
///
/// No policy of laxity's is attached, or the kernel lets no system call be watched.
pub fn redirect() -> Result<()> {
    if crate::attached().as_deref() != Some("laxity") {
        return Err(Diagnostic::environment("no policy of laxity's schedules this machine")
            .hint("attach one first, in another shell: sudo laxity load edf-bh"));
    }
    begin().map_err(|error| {
        Diagnostic::environment(format!("the program's sched_setattr calls cannot be redirected: {error}"))
            .hint(
                "it takes seccomp's user notification (CONFIG_SECCOMP_FILTER), and no other seccomp listener on this process",
            )
    })
}

fn begin() -> io::Result<()> {
    let (mut ours, theirs) = UnixStream::pair()?;
    // Not a child of the program's, which may wait for any child of its own: this one goes on without its parent.
    let started = Command::new("/proc/self/exe").arg(ROLE).stdin(OwnedFd::from(theirs)).status()?;
    if !started.success() {
        return Err(io::Error::other(format!("the redirector does not start: {started}")));
    }
    let listener = filter::install()?;
    passing::send(&ours, &listener)?;
    let mut ready = [0];
    ours.read_exact(&mut ready)
}

/// Becomes a redirector if the command line says so. To be called before anything else.
pub fn internal_role(arguments: &[String]) -> Option<ExitCode> {
    (arguments.get(1)? == ROLE).then(redirector::main)
}
