//! Locks of the kernel and of the host, and what else code waits for.

use crate::fibre::suspend;
use crate::thread::State;
use crate::world::{TaskId, World, world};

/// A lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lock {
    /// Of a CPU's run queue.
    Rq(usize),
    /// Of a dispatch queue.
    Queue(u64),
    /// One of the host's, by its address.
    Host(usize),
}

/// For what code waits that others have gone before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Nothing,
    Free(Lock),
    /// The dispatch of the task that is under way is over (`wait_ops_state`).
    Dispatched(TaskId),
    /// No CPU is at the task any more (`p->on_cpu`).
    OffCpu(TaskId),
    /// The task, whose call sleeps, is awake.
    Asleep(TaskId),
    /// Never: the run has ended.
    Ever,
}

impl Wait {
    pub(crate) fn is_over(self, w: &World) -> bool {
        match self {
            Wait::Nothing => true,
            Wait::Free(lock) => !w.held.contains(&lock),
            Wait::Dispatched(task) => !w.tasks[task].is_being_dispatched(),
            Wait::OffCpu(task) => w.tasks[task].raw.on_cpu == 0,
            Wait::Asleep(task) => w.tasks[task].state == State::Running,
            Wait::Ever => false,
        }
    }
}

/// A place where others may go first; sometimes they do.
pub(crate) fn step() {
    if world(World::lets_others) {
        suspend(Wait::Nothing);
    }
}

pub(crate) fn wait(what: Wait) {
    while !world(|w| what.is_over(w)) {
        suspend(what);
    }
}

pub(crate) fn lock(lock: Lock) {
    step();
    wait(Wait::Free(lock));
    world(|w| w.held.insert(lock));
}

pub(crate) fn unlock(lock: Lock) {
    let held = world(|w| w.held.remove(&lock));
    assert!(held, "{lock:?} is held");
    step();
}

/// Takes the lock if it is free.
pub(crate) fn try_lock(lock: Lock) -> bool {
    step();
    world(|w| w.held.insert(lock))
}

/// Locks the run queue that the task is on (`task_rq_lock`); its CPU.
pub(crate) fn lock_task(task: TaskId) -> usize {
    loop {
        let cpu = world(|w| w.tasks[task].cpu);
        lock(Lock::Rq(cpu));
        if world(|w| w.tasks[task].cpu == cpu && !w.tasks[task].migrates) {
            return cpu;
        }
        unlock(Lock::Rq(cpu));
    }
}
