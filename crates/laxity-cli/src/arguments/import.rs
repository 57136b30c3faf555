//! How files of other tools are read.

use crate::{shipped, terminal, within};
use clap::Args;
use laxity_lab::files::{Answer, Reading};
use laxity_model::{Diagnostic, Incomplete, Result, TaskSet};
use std::path::{Path, PathBuf};

/// What happens to what a file says and a task set cannot.
#[derive(Args, Clone, Copy)]
pub struct ImportArguments {
    /// Leave out threads of an rt-app file that make no task, and say which
    ///
    /// They wait for other threads and have no timer, or are forked: no period is known. Without this, such a file is
    /// refused, as nothing is known of a set that lacks their work.
    #[arg(help_heading = "Workload", long)]
    pub leave_out_threads: bool,
}

impl ImportArguments {
    /// Reads task sets, saying on standard error what their formats could not carry. Those of one name are numbered.
    pub fn read_sets(self, paths: &[PathBuf]) -> Result<Vec<TaskSet>> {
        if let [path] = paths
            && let Some(sets) = within::sets_given(path)
        {
            return Ok(sets);
        }
        self.with(|reading| reading.sets(paths))
    }

    /// Reads one.
    pub fn read_set(self, path: &Path) -> Result<TaskSet> {
        match within::sets_given(path) {
            None => self.with(|reading| reading.set(path)),
            Some(sets) => <[TaskSet; 1]>::try_from(sets).map(|[set]| set).map_err(|sets| {
                Diagnostic::usage(format!("{} task sets are given", sets.len()))
                    .hint("this command takes one")
            }),
        }
    }

    /// Says what files are.
    pub fn check(self, files: &[PathBuf]) -> Answer {
        self.with(|reading| reading.check(files))
    }

    fn with<T>(self, read: impl FnOnce(&Reading<'_>) -> T) -> T {
        let incomplete = if self.leave_out_threads { Incomplete::LeaveOut } else { Incomplete::Refuse };
        read(&Reading { locate: shipped::located, incomplete, observer: &*terminal::caller().observer })
    }
}
