//! Threads that the system may refuse.

use crate::{Diagnostic, Result};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts a thread of a scope.
///
/// # Errors
///
/// The system has no memory for its stack, or no room for another thread (exit code 3).
pub fn start_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).map_err(|error| {
        Diagnostic::environment(format!("cannot start a thread: {error}")).hint(
            "raise the limits on memory and on processes (ulimit -v, ulimit -u), or use fewer --threads",
        )
    })
}
