//! What is known of a run besides its end: the records of the host's trace, and what the model notes beside, which no record says.

use crate::parts::TaskId;
use crate::raw::Parameters;
use laxity_kernel::rings::Record;

/// A record, and the CPU in whose ring it was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    pub by: usize,
    /// When the host was called there, in ns, which has written it then.
    pub called_at: u64,
    pub record: Record,
}

/// A call that has asked the host for parameters, which it has got.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// When it has asked, in ns, and before which record, by its place in `written`.
    pub since_ns: u64,
    pub before: usize,
    /// When it was known that it has them. They are set at some instant between these two.
    pub granted_at: u64,
}

/// What the host does on a CPU between two records there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Note {
    /// It is about to look for a number for a thread.
    Admits,
    /// A thread has these parameters, as a call has asked for.
    Granted(Parameters, Request),
    /// A thread that must not migrate is sent to its own CPU for a moment, wherever it should run: that one of `moments`.
    Moment(usize),
}

/// While a class above has a CPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Above {
    pub cpu: usize,
    pub from_ns: u64,
    /// `None`: it still has.
    pub to_ns: Option<u64>,
    /// It is that of the stopper, of which the host takes no notice.
    pub is_stop: bool,
}

impl Above {
    pub(crate) fn has(&self, cpu: usize, at_ns: u64) -> bool {
        self.cpu == cpu && self.from_ns <= at_ns && self.to_ns.is_none_or(|to_ns| at_ns < to_ns)
    }
}

/// While a thread is where it is because it must not migrate, as the host has decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub task: TaskId,
    pub cpu: usize,
    pub from_ns: u64,
    pub to_ns: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Noted {
    /// Before which record, by its place in `written`.
    pub before: usize,
    pub by: usize,
    pub pid: u32,
    pub note: Note,
}

/// Records in the order of their writing, but for those that were written at the same time.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub written: Vec<Written>,
    pub notes: Vec<Noted>,
    pub moments: Vec<Moment>,
    /// While classes above have had CPUs.
    pub above: Vec<Above>,
}
