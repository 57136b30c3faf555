//! The way of tasks to a CPU that decides: dispatching, taking from queues, moving between run queues (`kernel/sched/ext.c`).

use crate::called::Callback;
use crate::dsq::{dispatch_enqueue, unlink};
use crate::ext::{callback, dequeue_task, enqueue_task, raw, update_curr};
use crate::lock::{lock, step, unlock, wait};
use crate::parts::{
    Class, Custody, ENQ_CLEAR_OPSS, GLOBAL, Lock, QUEUE_LOCAL, QUEUE_LOCAL_ON, Queue, TaskId, Wait,
};
use crate::world::{resched, world};
/// How often dispatch is called in one balancing at most.
const DISPATCH_MAX_LOOPS: u32 = 32;

/// `balance_scx`, `balance_one`: whether there is a task of the class to run.
pub(crate) fn balance(cpu: usize) -> bool {
    let (prev, on_scx) = world(|w| {
        let c = &mut w.cpus[cpu];
        c.keeps = false;
        // No `cpu_acquire` here: the next dispatch is the scheduler's sign that the CPU is its own again.
        c.released = false;
        (c.current, w.tasks[c.current].class == Class::Ext)
    });
    let queued = world(|w| w.tasks[prev].is_queued());
    if on_scx {
        update_curr(cpu);
        if queued && keeps_with_slice(cpu, prev) {
            return true;
        }
    }
    if has_local(cpu) || consume(cpu, GLOBAL) {
        return true;
    }
    for turn in 0.. {
        let argument = if on_scx { raw(prev) } else { std::ptr::null_mut() };
        let before = world(|w| w.cpus[cpu].buffer.len());
        assert_eq!(before, 0, "what was dispatched has been carried out");
        callback(Callback("dispatch", None, 0), |ops| {
            (ops.dispatch)(i32::try_from(cpu).expect("few"), argument)
        });
        let dispatched = finish_dispatches(cpu);
        if on_scx && queued && keeps_with_slice(cpu, prev) {
            return true;
        }
        if has_local(cpu) || consume(cpu, GLOBAL) {
            return true;
        }
        if !dispatched {
            break;
        }
        if turn >= DISPATCH_MAX_LOOPS {
            world(|w| w.cpus[cpu].kick.insert(cpu));
            break;
        }
    }
    // SCX_OPS_ENQ_LAST is set: the task before is enqueued once more.
    false
}

fn has_local(cpu: usize) -> bool {
    world(|w| !w.cpus[cpu].local.is_empty())
}

fn keeps_with_slice(cpu: usize, prev: TaskId) -> bool {
    world(|w| {
        let keeps = w.tasks[prev].raw.scx.slice > 0;
        w.cpus[cpu].keeps |= keeps;
        keeps
    })
}

/// `flush_dispatch_buf`: whether there was anything in it.
pub(crate) fn finish_dispatches(cpu: usize) -> bool {
    let mut had = false;
    while let Some(next) = world(|w| {
        let buffer = &mut w.cpus[cpu].buffer;
        (!buffer.is_empty()).then(|| buffer.remove(0))
    }) {
        had = true;
        finish_dispatch(cpu, next.task, next.number, next.queue, next.flags);
    }
    had
}

/// `finish_dispatch`.
fn finish_dispatch(cpu: usize, task: TaskId, number: u64, queue: u64, flags: u64) {
    loop {
        step();
        match world(|w| w.tasks[task].custody) {
            Custody::Queued(own) if own == number => {
                world(|w| w.tasks[task].custody = Custody::Dispatching);
                break;
            }
            Custody::Queueing(_) => wait(Wait::Dispatched(task)),
            _ => return,
        }
    }
    step();
    let target = if queue == QUEUE_LOCAL {
        cpu
    } else if queue & QUEUE_LOCAL_ON == QUEUE_LOCAL_ON {
        usize::try_from(queue & 0xffff_ffff).expect("a CPU")
    } else {
        dispatch_enqueue(Queue::User(queue), task, flags | ENQ_CLEAR_OPSS);
        return;
    };
    dispatch_to_local(cpu, target, task, flags);
}

/// `dispatch_to_local_dsq`.
fn dispatch_to_local(cpu: usize, target: usize, task: TaskId, flags: u64) {
    let source = world(|w| w.tasks[task].cpu);
    if cpu == source && cpu == target {
        dispatch_enqueue(Queue::Local(target), task, flags | ENQ_CLEAR_OPSS);
        return;
    }
    if source != target && !world(|w| w.tasks[task].may_go_to(target)) {
        world(|w| {
            let (name, moves) = (w.tasks[task].name.clone(), w.tasks[task].raw.migration_disabled);
            w.fail(format!(
                "{name} is sent to CPU {target}, where it may not go (migration disabled {moves} times)"
            ));
        });
        dispatch_enqueue(Queue::Global, task, flags | ENQ_CLEAR_OPSS);
        return;
    }
    world(|w| {
        w.tasks[task].holding = Some(w.here);
        w.tasks[task].custody = Custody::None;
    });
    if source != cpu {
        unlock(Lock::Rq(cpu));
        lock(Lock::Rq(source));
    }
    let mut locked = source;
    if world(|w| w.tasks[task].holding == Some(w.here)) {
        if source == target {
            world(|w| w.tasks[task].holding = None);
            dispatch_enqueue(Queue::Local(target), task, flags);
        } else {
            move_remote(source, target, task, flags);
            locked = target;
        }
        if world(|w| w.tasks[task].class < w.tasks[w.cpus[target].current].class) {
            resched(target);
        }
    }
    if locked != cpu {
        unlock(Lock::Rq(locked));
        lock(Lock::Rq(cpu));
    }
}

/// `move_remote_task_to_local_dsq`: from the one run queue, which is locked, to the other, which is afterwards.
fn move_remote(source: usize, target: usize, task: TaskId, flags: u64) {
    world(|w| {
        w.tasks[task].migrates = true;
        w.tasks[task].on_rq = false;
    });
    dequeue_task(source, task, 0);
    world(|w| {
        w.tasks[task].cpu = target;
        w.tasks[task].sticky = Some(target);
    });
    unlock(Lock::Rq(source));
    lock(Lock::Rq(target));
    enqueue_task(target, task, flags);
    world(|w| {
        w.tasks[task].on_rq = true;
        w.tasks[task].migrates = false;
    });
}

/// `consume_dispatch_q`: the first task of the queue that may run on the CPU goes into its own queue; whether there was one.
pub(crate) fn consume(cpu: usize, id: u64) -> bool {
    'anew: loop {
        step();
        if world(|w| w.queues[&id].is_empty()) {
            return false;
        }
        lock(Lock::Queue(id));
        let waiting = world(|w| w.queues[&id].clone());
        for task in waiting {
            let (source, may) = world(|w| (w.tasks[task].cpu, w.tasks[task].may_go_to(cpu)));
            if source == cpu {
                unlink(id, task);
                world(|w| w.tasks[task].queue = None);
                dispatch_enqueue(Queue::Local(cpu), task, 0);
                unlock(Lock::Queue(id));
                return true;
            }
            if may {
                if consume_remote(cpu, source, id, task) {
                    return true;
                }
                continue 'anew;
            }
        }
        unlock(Lock::Queue(id));
        return false;
    }
}

/// `consume_remote_task`, with the queue locked, which it unlocks: whether the task is there now.
fn consume_remote(cpu: usize, source: usize, id: u64, task: TaskId) -> bool {
    world(|w| w.tasks[task].holding = Some(w.here));
    unlink(id, task);
    unlock(Lock::Queue(id));
    unlock(Lock::Rq(cpu));
    lock(Lock::Rq(source));
    if world(|w| w.tasks[task].holding == Some(w.here)) {
        move_remote(source, cpu, task, 0);
        return true;
    }
    unlock(Lock::Rq(source));
    lock(Lock::Rq(cpu));
    false
}
