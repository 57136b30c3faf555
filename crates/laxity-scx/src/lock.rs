//! Locks of the kernel and of the host, and what else code waits for.

use crate::fibre::{is_in_fibre, suspend};
use crate::parts::{Lock, TaskId, Wait};
use crate::world::{World, world};
use std::collections::VecDeque;

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

/// Locks go to those that wait in the order in which they have come, as the kernel's queued ones do.
pub(crate) fn lock(lock: Lock) {
    step();
    if try_lock_now(lock) {
        return;
    }
    let number = world(|w| {
        let waiting = w.waiting.entry(lock).or_default();
        let number = waiting.back().map_or(0, |last| last + 1);
        waiting.push_back(number);
        number
    });
    wait(Wait::Turn(lock, number));
    world(|w| {
        w.waiting.get_mut(&lock).expect("it waits there").pop_front();
        w.held.insert(lock)
    });
}

fn try_lock_now(lock: Lock) -> bool {
    world(|w| w.waiting.get(&lock).is_none_or(VecDeque::is_empty) && w.held.insert(lock))
}

pub(crate) fn unlock(lock: Lock) {
    let held = world(|w| w.held.remove(&lock));
    assert!(held, "{lock:?} is held");
    step();
}

/// Takes the lock if it is free.
pub(crate) fn try_lock(lock: Lock) -> bool {
    step();
    try_lock_now(lock)
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
