//! How a worker ended that should not have.

use laxity_model::Diagnostic;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// What happened to the worker, for the record of its run.
pub(super) fn why(status: io::Result<ExitStatus>) -> String {
    let Ok(status) = status else { return "a worker process was killed".into() };
    match (status.signal(), status.code()) {
        (Some(libc::SIGKILL), _) => {
            "a worker process was killed by signal 9, as the kernel does when memory has run out".into()
        }
        (Some(signal), _) => format!("a worker process was killed by signal {signal}"),
        (None, code) => format!("a worker process ended with exit code {}", code.unwrap_or_default()),
    }
}

/// A worker that ended before its tasks could begin.
pub(super) fn while_preparing(status: io::Result<ExitStatus>) -> Diagnostic {
    Diagnostic::environment(format!("{} while it prepared its tasks", why(status))).hint(
        "use smaller working sets, or raise the limit on memory (ulimit -v, memory.max of the cgroup); the kernel log says \
         what it has killed",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_without_memory_is_told_from_others() {
        let of = |status| why(Ok(ExitStatus::from_raw(status)));
        assert!(of(libc::SIGKILL).contains("signal 9, as the kernel does when memory has run out"));
        assert_eq!(of(libc::SIGSEGV), "a worker process was killed by signal 11");
        assert_eq!(of(3 << 8), "a worker process ended with exit code 3");
        let refused = while_preparing(Ok(ExitStatus::from_raw(libc::SIGKILL)));
        assert!(refused.hint.is_some_and(|hint| hint.contains("memory.max")), "{}", refused.message);
        assert_eq!(refused.failure.exit_code(), 3);
    }
}
