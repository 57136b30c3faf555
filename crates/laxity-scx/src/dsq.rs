//! Dispatch queues, and tasks on their way through them, as `kernel/sched/ext.c` of Linux 6.18 has it.

use crate::ext::{
    ENQ_CLEAR_OPSS, ENQ_HEAD, ENQ_PREEMPT, ENQ_PRIQ, QUEUE_LOCAL, QUEUE_LOCAL_ON, dequeue_task, enqueue_task, resched,
};
use crate::lock::{Lock, Wait, lock, step, unlock, wait};
use crate::thread::{Class, Custody, Queue};
use crate::world::{TaskId, world};

/// The queue of tasks that may not go where they were sent.
pub(crate) const GLOBAL: u64 = u64::MAX;

/// `dispatch_enqueue`. For a CPU's own queue its run queue is locked.
pub(crate) fn dispatch_enqueue(queue: Queue, task: TaskId, flags: u64) {
    match queue {
        Queue::Local(cpu) => dispatch_local(cpu, task, flags),
        Queue::Global => dispatch_shared(GLOBAL, queue, task, flags),
        Queue::User(id) => dispatch_shared(id, queue, task, flags),
    }
}

fn dispatch_local(cpu: usize, task: TaskId, flags: u64) {
    let asks = world(|w| {
        let c = &mut w.cpus[cpu];
        if flags & (ENQ_HEAD | ENQ_PREEMPT) != 0 {
            c.local.push_front(task);
        } else {
            c.local.push_back(task);
        }
        w.tasks[task].queue = Some(Queue::Local(cpu));
        if flags & ENQ_CLEAR_OPSS != 0 {
            w.tasks[task].custody = Custody::None;
        }
        // `local_dsq_post_enq`
        let current = w.cpus[cpu].current;
        let running = &mut w.tasks[current];
        let preempts = flags & ENQ_PREEMPT != 0 && current != task && running.class == Class::Ext;
        if preempts {
            running.raw.scx.slice = 0;
        }
        preempts || running.class > Class::Ext
    });
    if asks {
        resched(cpu);
    }
    step();
}

fn dispatch_shared(id: u64, queue: Queue, task: TaskId, flags: u64) {
    lock(Lock::Queue(id));
    world(|w| {
        let vtime = w.tasks[task].raw.scx.dsq_vtime;
        let waiting = &w.queues[&id];
        let at = if flags & ENQ_PRIQ == 0 {
            waiting.len()
        } else {
            // Behind those that are not after it, as both wrap.
            waiting.iter().position(|&other| w.tasks[other].raw.scx.dsq_vtime.wrapping_sub(vtime) as i64 > 0).unwrap_or(waiting.len())
        };
        w.queues.get_mut(&id).expect("it was made").insert(at, task);
        w.tasks[task].queue = Some(queue);
        if flags & ENQ_CLEAR_OPSS != 0 {
            w.tasks[task].custody = Custody::None;
        }
    });
    unlock(Lock::Queue(id));
}

fn unlink(id: u64, task: TaskId) {
    world(|w| w.queues.get_mut(&id).expect("it was made").retain(|&other| other != task));
}

/// `dispatch_dequeue`: the task leaves the queue that it is in. Its run queue is locked.
pub(crate) fn dispatch_dequeue(task: TaskId) {
    let queue = world(|w| w.tasks[task].queue);
    match queue {
        None => world(|w| w.tasks[task].holding = None),
        Some(Queue::Local(cpu)) => world(|w| {
            w.cpus[cpu].local.retain(|&other| other != task);
            w.tasks[task].queue = None;
        }),
        Some(Queue::Global) => leave_shared(GLOBAL, task),
        Some(Queue::User(id)) => leave_shared(id, task),
    }
}

fn leave_shared(id: u64, task: TaskId) {
    lock(Lock::Queue(id));
    if world(|w| w.tasks[task].holding.take().is_none()) {
        unlink(id, task);
    }
    world(|w| w.tasks[task].queue = None);
    unlock(Lock::Queue(id));
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
            w.fail(format!("{name} is sent to CPU {target}, where it may not go (migration disabled {moves} times)"));
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
