//! What there is of a run in its directory: the run, or why there is none.

use laxity_model::{Diagnostic, OutputDirectory, Result};
use laxity_trace::RunStatus;
use std::path::Path;

/// Why a run could not be made.
const REASON_FILE: &str = "not-measured.txt";

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Not made yet, or not to its end.
    Open,
    /// It is there.
    Measured,
    /// It cannot be made, and why.
    NotMeasured(String),
}

impl State {
    /// What a directory says, or why no run could be made there.
    pub fn of(folder: &Path) -> State {
        match std::fs::read_to_string(folder.join(REASON_FILE)) {
            Ok(reason) => State::NotMeasured(reason.trim().to_owned()),
            Err(_) => State::of_run(folder),
        }
    }

    /// The state of the only run of a results directory.
    pub fn of_run(folder: &Path) -> State {
        let Ok(manifest) = laxity_trace::load_manifest(folder) else { return State::Open };
        match manifest.runs.first().map(|run| &run.status) {
            Some(RunStatus::Completed) => State::Measured,
            Some(RunStatus::NotRun { reason }) if !reason.is_empty() && !reason.contains("interrupted") => {
                State::NotMeasured(reason.clone())
            }
            // An interrupted study is continued.
            Some(RunStatus::Interrupted { reason, ran })
                if !reason.contains("interrupted") && !reason.contains("terminate") =>
            {
                State::NotMeasured(format!("ended after {ran}: {reason}"))
            }
            _ => State::Open,
        }
    }
}

/// Says in a run's directory why it could not be made.
///
/// # Errors
///
/// What the file system refuses.
pub fn refuse(folder: &Path, why: &Diagnostic) -> Result<()> {
    let text = format!("{}\n", crate::case::reason(why));
    OutputDirectory::create(folder)?.write(REASON_FILE, text.as_bytes())
}

/// Forgets an earlier refusal: the run is tried again.
pub fn reopen(folder: &Path) {
    // If it cannot be removed, the run stays refused, which is shown.
    let _ = std::fs::remove_file(folder.join(REASON_FILE));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_kept_until_the_run_is_tried_again() {
        let folder = tempfile::tempdir().expect("a directory");
        let run = folder.path().join("deep/run");
        assert_eq!(State::of(&run), State::Open);
        refuse(&run, &Diagnostic::usage("one CPU").hint("use two")).expect("writes");
        let State::NotMeasured(reason) = State::of(&run) else { panic!("it was refused") };
        assert!(reason.contains("one CPU"), "{reason}");
        reopen(&run);
        assert_eq!(State::of(&run), State::Open);
    }
}
