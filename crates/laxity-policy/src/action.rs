//! What a decision asks of the host: `struct lx_action` of policy/state.h.

use crate::locks::Locks;
use crate::{NONE, ffi};

/// What the host must carry out after a decision. CPUs are numbered as the instance does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// This CPU is to reschedule.
    Kick {
        /// Which.
        cpu: u32,
    },
    /// The earliest pending release, or the policy's own timer, has become this instant.
    Arm {
        /// The CPU that takes the timer's interrupt.
        cpu: u32,
        /// In ns, absolute.
        due_at_ns: u64,
    },
    /// The DSP has a message.
    Notify {
        /// The DSP.
        cpu: u32,
    },
    /// The operation in progress goes on.
    Step {
        /// Where.
        cpu: u32,
        /// Under these locks.
        locks: Locks,
    },
    /// Something for the trace.
    Note(Note),
}

/// Something that a policy says of itself, for the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    /// What happened.
    pub kind: NoteKind,
    /// Where.
    pub cpu: u32,
    /// The other CPU of it.
    pub other: Option<u32>,
    /// The task of it, as the instance numbers them.
    pub task: Option<u32>,
}

macro_rules! note_kinds {
    ($($(#[$doc:meta])+ $kind:ident = $code:ident,)+) => {
        /// What the notes in a trace say (`enum lx_note_kind`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u32)]
        pub enum NoteKind {
            $($(#[$doc])+ $kind = ffi::$code,)+
        }

        impl NoteKind {
            fn of(code: u32) -> NoteKind {
                match code {
                    $(ffi::$code => NoteKind::$kind,)+
                    _ => unknown("note", code),
                }
            }
        }
    };
}

note_kinds! {
    /// Two CPUs exchanged links.
    LinkSwap = lx_note_kind_LX_NOTE_LINK_SWAP,
    /// A message had been overtaken.
    StaleMessage = lx_note_kind_LX_NOTE_STALE_MESSAGE,
    /// A push is tried again.
    PushFailed = lx_note_kind_LX_NOTE_PUSH_FAILED,
    /// A push was given up.
    PushAbandoned = lx_note_kind_LX_NOTE_PUSH_ABANDONED,
    /// A push.
    Push = lx_note_kind_LX_NOTE_PUSH,
    /// A pull.
    Pull = lx_note_kind_LX_NOTE_PULL,
    /// A pull found nothing any more.
    PullFailed = lx_note_kind_LX_NOTE_PULL_FAILED,
    /// A job that was chosen had ended meanwhile.
    StaleJob = lx_note_kind_LX_NOTE_STALE_JOB,
    /// A push found that its job had gone elsewhere, or that another goes before it.
    PushOvertaken = lx_note_kind_LX_NOTE_PUSH_OVERTAKEN,
}

impl Action {
    /// Bytes of an action in C.
    pub const BYTES: usize = size_of::<ffi::lx_action>();

    /// An action that another process or the kernel has written as C has it.
    ///
    /// # Panics
    ///
    /// A kind that policy/state.h does not have.
    pub fn from_bytes(bytes: &[u8; Action::BYTES]) -> Action {
        // SAFETY: as long as the structure, in which every pattern of bytes is a number.
        Action::from(&unsafe { bytes.as_ptr().cast::<ffi::lx_action>().read_unaligned() })
    }
}

impl From<&ffi::lx_action> for Action {
    #[inline]
    fn from(action: &ffi::lx_action) -> Self {
        let cpu = action.cpu;
        // SAFETY: `kind` says which field of the union the policy has written.
        unsafe {
            let of_kind = &action.__bindgen_anon_1;
            match action.kind {
                ffi::lx_action_kind_LX_KICK => Action::Kick { cpu },
                ffi::lx_action_kind_LX_ARM => Action::Arm { cpu, due_at_ns: of_kind.due_at },
                ffi::lx_action_kind_LX_NOTIFY => Action::Notify { cpu },
                ffi::lx_action_kind_LX_STEP => Action::Step { cpu, locks: of_kind.locks.into() },
                ffi::lx_action_kind_LX_NOTE => {
                    let note = of_kind.note;
                    let some = |index: u32| (index != NONE).then_some(index);
                    let (other, task) = (some(note.other), some(note.task));
                    Action::Note(Note { kind: NoteKind::of(note.kind), cpu, other, task })
                }
                kind => unknown("action", kind),
            }
        }
    }
}

/// A policy has written something that its header does not know.
#[cold]
fn unknown(what: &str, code: u32) -> ! {
    unreachable!("policy/ made an {what} of kind {code}, which policy/state.h does not know")
}
