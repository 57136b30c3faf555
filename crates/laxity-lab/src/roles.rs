//! The other processes of a run. Each is the calling program, started anew: the guardian, workers, keepers of schedulers, the agent of
//! a virtual machine.

use laxity_model::{Diagnostic, Result};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Plays the part for which this process was started, if it was started for one: then the program ends with what this returns.
///
/// A program that measures asks this before anything else, with its command line, the program's name first.
pub fn internal_role(arguments: &[String]) -> Option<ExitCode> {
    ASKED.store(true, SeqCst);
    laxity_run::internal_role(arguments)
        .or_else(|| laxity_vm::internal_role(arguments))
        .or_else(|| laxity_kernel::internal_role(arguments))
}

/// Refuses a program that would not know what it is started for, and would begin from the beginning again and again.
///
/// # Errors
///
/// [`internal_role`] was not asked.
pub(crate) fn check() -> Result<()> {
    if ASKED.load(SeqCst) {
        return Ok(());
    }
    Err(Diagnostic::environment("this program does not play the other processes of a run")
        .hint("call laxity_lab::internal_role at the beginning of `main`, and end with what it returns"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_has_not_asked_is_refused() {
        assert!(check().expect_err("not asked").hint.expect("a hint").contains("internal_role"));
        assert!(internal_role(&["program".into()]).is_none());
        assert_eq!(check(), Ok(()));
    }
}
