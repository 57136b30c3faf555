//! A CPU of the model: its run queue, and what the kernel is doing on it.

use crate::fibre::Fibre;
use crate::parts::{Level, TaskId, Wait};
use crate::raw::RunQueue;
use std::collections::{BTreeSet, VecDeque};

/// Code of the kernel that is under way.
pub(crate) struct Context {
    pub fibre: Fibre,
    pub wait: Wait,
    pub level: Level,
}

impl Context {
    pub(crate) fn new(level: Level, body: impl FnOnce() + 'static) -> Context {
        Context { fibre: Fibre::new(body), wait: Wait::Nothing, level }
    }
}

/// What a dispatch has in its buffer.
pub(crate) struct Dispatch {
    pub task: TaskId,
    /// Its number in the scheduler's custody then.
    pub number: u64,
    pub queue: u64,
    pub flags: u64,
}

pub(crate) struct Cpu {
    pub current: TaskId,
    pub idle_task: TaskId,
    pub stopper: TaskId,
    pub wants_resched: bool,
    /// Since when it has been in the idle mask.
    pub is_idle: bool,
    /// The class above has it, and the scheduler has been told.
    pub released: bool,
    pub keeps: bool,
    /// Its task has risen to a class above, and the CPU has not called the scheduler since.
    pub has_risen: bool,
    pub local: VecDeque<TaskId>,
    /// As the host has looked at it last.
    pub run_queue: Box<RunQueue>,
    /// Tasks of classes above that can run, without the current one.
    pub above: Vec<TaskId>,
    pub stack: Vec<Context>,
    pub interrupts_off: u32,
    pub preemption_off: u32,
    pub in_soft: bool,
    /// CPUs to be kicked; of them, those to be preempted; those to be kicked if they idle.
    pub kick: BTreeSet<usize>,
    pub preempt: BTreeSet<usize>,
    pub kick_idle: BTreeSet<usize>,
    pub tick_at: u64,
    /// Wake-ups: when, and which task.
    pub wakes: BTreeSet<(u64, TaskId)>,
    /// The task that a callback may dispatch directly.
    pub direct: Option<TaskId>,
    pub buffer: Vec<Dispatch>,
    pub custody_number: u64,
    /// Its task is charged from here on, in ns.
    pub charged_at: u64,
    /// Running tasks that its stopper is to move away.
    pub to_move: BTreeSet<TaskId>,
    /// Since when a bound kernel thread keeps a job from this CPU, if one does; for how long in which window, in ns.
    pub kept_since_at: Option<u64>,
    /// When a bound kernel thread has left this CPU last.
    pub bound_left_at: u64,
    pub kept: (u64, u64),
    /// Since when a bound kernel thread has waited here behind what is neither such a thread nor of a class above, if one does.
    pub bound_waits_since_at: Option<u64>,
    /// When a request to the host that is under way has begun, in ns; before which record.
    pub asked_at: u64,
    pub asked_before: usize,
    /// When the host was called here last, in ns.
    pub called_at: u64,
}

impl Cpu {
    pub(crate) fn new(idle_task: TaskId, stopper: TaskId, tick_at: u64) -> Cpu {
        Cpu {
            current: idle_task,
            idle_task,
            stopper,
            wants_resched: false,
            is_idle: true,
            released: false,
            keeps: false,
            has_risen: false,
            local: VecDeque::new(),
            run_queue: Box::default(),
            above: Vec::new(),
            stack: Vec::new(),
            interrupts_off: 0,
            preemption_off: 0,
            in_soft: false,
            kick: BTreeSet::new(),
            preempt: BTreeSet::new(),
            kick_idle: BTreeSet::new(),
            tick_at,
            wakes: BTreeSet::new(),
            direct: None,
            buffer: Vec::new(),
            custody_number: 0,
            charged_at: 0,
            to_move: BTreeSet::new(),
            kept_since_at: None,
            bound_left_at: 0,
            kept: (0, 0),
            bound_waits_since_at: None,
            asked_at: 0,
            asked_before: 0,
            called_at: 0,
        }
    }

    pub(crate) fn is_in_user_mode(&self) -> bool {
        self.stack.is_empty() && self.current != self.idle_task
    }

    pub(crate) fn has_kicks(&self) -> bool {
        !self.kick.is_empty() || !self.kick_idle.is_empty()
    }
}
