//! Events and decisions, as `bpf/rig.h` has them: change both.

use laxity_policy::{Action, TaskParameters};

/// Which entry point an event calls (`enum lx_rig_kind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A task's job arrives.
    Arrive = 1,
    /// The host takes a release group whose time has come.
    TakeDue = 2,
    /// The jobs of a group are released.
    ReleaseGroup = 3,
    /// The job on a CPU has ended.
    Complete = 4,
    /// A CPU follows its link.
    Reschedule = 5,
    /// A task has used some of its budget.
    Consume = 6,
    /// The job on a CPU has no budget left.
    Exhaust = 7,
    /// An operation goes on.
    Step = 8,
    /// The dedicated scheduling processor handles a message.
    Message = 9,
    /// The job on a CPU waits for something.
    Suspend = 10,
    /// What a suspended job waited for has happened.
    Resume = 11,
    /// The job on a CPU has ended, and the CPU follows its link.
    Finish = 12,
    /// A task becomes one of the instance.
    Enter = 13,
    /// What it means that a task wakes up.
    WakeUp = 14,
    /// The policy's own timer is due.
    Timer = 15,
    /// Something above the policy has taken a CPU.
    Withdraw = 16,
    /// A CPU that was taken is there again.
    Restore = 17,
}

/// The arguments of an entry point (`struct lx_rig_event`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The entry point.
    pub kind: Kind,
    /// The CPU where it happens.
    pub cpu: u32,
    /// The task, or the group; [`laxity_policy::NONE`] where there is none.
    pub task: u32,
    /// The release, the next release or the time used, in ns.
    pub time_ns: u64,
    /// The present instant, in ns.
    pub now: u64,
    /// Of the task that enters.
    pub parameters: Option<TaskParameters>,
}

/// Bytes of an event in C.
pub(crate) const EVENT_BYTES: usize = 64;
/// Bytes of a task's parameters in C.
pub(crate) const TASK_BYTES: usize = 32;
/// Bytes of a result in C.
pub(crate) const RESULT_BYTES: usize = 48;
/// `LX_RIG_EVENTS`, `LX_RIG_ACTIONS`.
pub(crate) const EVENTS_MAX: usize = 4096;
pub(crate) const ACTIONS_MAX: usize = 16384;

impl Event {
    /// Appends the event as C has it.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        for word in [self.kind as u32, self.cpu, self.task, 0] {
            bytes.extend_from_slice(&word.to_ne_bytes());
        }
        bytes.extend_from_slice(&self.time_ns.to_ne_bytes());
        bytes.extend_from_slice(&self.now.to_ne_bytes());
        match &self.parameters {
            Some(parameters) => encode_parameters(parameters, bytes),
            None => bytes.extend_from_slice(&[0; TASK_BYTES]),
        }
    }
}

/// Appends a task's parameters as C has them (`struct lx_rig_task`).
pub(crate) fn encode_parameters(task: &TaskParameters, bytes: &mut Vec<u8>) {
    for number in [task.deadline_rel_ns, task.period_ns, task.budget_ns] {
        bytes.extend_from_slice(&number.to_ne_bytes());
    }
    bytes.extend_from_slice(&task.priority.to_ne_bytes());
    bytes.extend_from_slice(&u32::from(!task.batching).to_ne_bytes());
}

/// Everything that can be seen of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The actions.
    pub actions: Vec<Action>,
    /// What take_due (a group), reschedule or finish (a task), or message (0 or 1) returned; 0 for other events.
    pub value: u32,
    /// The earliest pending release.
    pub next_due_at: u64,
    /// When the policy's own timer is due.
    pub next_timer_at: u64,
    /// Deadline and budget of the event's task afterwards; 0 if it has none.
    pub deadline_abs_ns: u64,
    /// See `deadline_abs_ns`.
    pub budget_left_ns: u64,
    /// What wake_up returned; 0 for other events.
    pub release_at: u64,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Reads `struct lx_rig_output` after a run over `events` events; an error if not all of them were handled.
pub(crate) fn decode_output(bytes: &[u8], events: usize) -> Result<Vec<Decision>, String> {
    let (done, total) = (u32_at(bytes, 0) as usize, u32_at(bytes, 4) as usize);
    if done != events {
        return Err(format!("the program stopped after {done} of {events} events"));
    }
    let results = 8;
    let actions = results + EVENTS_MAX * RESULT_BYTES;
    let mut next = 0;
    let mut decisions = Vec::with_capacity(events);
    for event in 0..events {
        let at = results + event * RESULT_BYTES;
        let count = u32_at(bytes, at) as usize;
        if next + count > total {
            return Err(format!("the actions of event {event} do not fit in the output"));
        }
        let range = actions + next * Action::BYTES..actions + (next + count) * Action::BYTES;
        decisions.push(Decision {
            actions: bytes[range].as_chunks().0.iter().map(Action::from_bytes).collect(),
            value: u32_at(bytes, at + 4),
            next_due_at: u64_at(bytes, at + 8),
            next_timer_at: u64_at(bytes, at + 16),
            deadline_abs_ns: u64_at(bytes, at + 24),
            budget_left_ns: u64_at(bytes, at + 32),
            release_at: u64_at(bytes, at + 40),
        });
        next += count;
    }
    Ok(decisions)
}

/// The first number in `hold`'s output: which jobs were popped in which order.
pub(crate) fn decode_order(bytes: &[u8]) -> u64 {
    u64_at(bytes, 8 + 8)
}
