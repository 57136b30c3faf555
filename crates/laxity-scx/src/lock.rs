//! Locks of the kernel and of the host, and what else code waits for.

use crate::fibre::{is_in_fibre, suspend};
use crate::parts::{Lock, TaskId, Wait};
use crate::world::{World, world};

/// A place where others may go first; sometimes they do. Where the model looks at the host there are no others.
pub(crate) fn step() {
    if is_in_fibre() && world(World::lets_others) {
        suspend(Wait::Nothing);
    }
}

pub(crate) fn wait(what: Wait) {
    while !world(|w| w.is_over(what)) {
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
