//! How files of other tools are read.

use clap::Args;
use laxity_model::Incomplete;

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
    /// For readers.
    pub fn incomplete(self) -> Incomplete {
        if self.leave_out_threads { Incomplete::LeaveOut } else { Incomplete::Refuse }
    }
}
