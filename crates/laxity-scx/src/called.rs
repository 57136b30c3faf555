//! Which callbacks of the host are called, in their order.

use crate::parts::TaskId;

/// A callback that is about to be called: its name, its task, and its flags, or whether the task can still run.
pub(crate) struct Callback(pub &'static str, pub Option<TaskId>, pub u64);

/// One that has been called.
pub(crate) struct Called {
    pub at_ns: u64,
    /// The task's; where there is no task, the one that calls.
    pub cpu: usize,
    pub task: Option<TaskId>,
    pub callback: &'static str,
    pub argument: u64,
}

/// A callback of the kernel's, in a story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalledBack {
    /// Since the story's begin, in ns.
    pub at_ns: u64,
    /// The task's CPU; where there is no task, the one that calls.
    pub cpu: u32,
    /// The name of a thread of the story, or of a child of one; empty: none.
    pub task: String,
    /// What it is called.
    pub callback: &'static str,
    /// Its flags, or whether the task can still run.
    pub argument: u64,
}
