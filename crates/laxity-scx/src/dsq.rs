//! Dispatch queues, and tasks on their way through them, as `kernel/sched/ext.c` of Linux 6.18 has it.

use crate::lock::{lock, step, unlock};
use crate::parts::{
    Class, Custody, ENQ_CLEAR_OPSS, ENQ_HEAD, ENQ_PREEMPT, ENQ_PRIQ, GLOBAL, Lock, Queue, TaskId,
};
use crate::raw::TaskStruct;
use crate::world::{resched, world};

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
            waiting
                .iter()
                .position(|&other| w.tasks[other].raw.scx.dsq_vtime.wrapping_sub(vtime) as i64 > 0)
                .unwrap_or(waiting.len())
        };
        w.queues.get_mut(&id).expect("it was made").insert(at, task);
        w.tasks[task].queue = Some(queue);
        if flags & ENQ_CLEAR_OPSS != 0 {
            w.tasks[task].custody = Custody::None;
        }
    });
    unlock(Lock::Queue(id));
}

pub(crate) fn unlink(id: u64, task: TaskId) {
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
            w.tasks[task].is_behind_risen = false;
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

/// `struct bpf_iter_scx_dsq`: the queue, and the task that came last with its virtual time. The kernel leaves out what has come into
/// the queue since the iterator was made; here it is found if it comes behind the last one.
#[repr(C)]
struct QueueIterator {
    queue: u64,
    last: u64,
    last_vtime: u64,
    unused: [u64; 3],
}

/// No task yet.
const NOTHING: u64 = u64::MAX;

#[unsafe(no_mangle)]
extern "C" fn bpf_iter_scx_dsq_new(it: *mut QueueIterator, queue: u64, _flags: u64) -> i32 {
    step();
    let made = QueueIterator { queue, last: NOTHING, last_vtime: 0, unused: [0; 3] };
    // SAFETY: the host passes a variable of its own.
    unsafe { it.write(made) };
    0
}

#[unsafe(no_mangle)]
extern "C" fn bpf_iter_scx_dsq_next(it: *mut QueueIterator) -> *mut TaskStruct {
    // SAFETY: bpf_iter_scx_dsq_new has written it.
    let it = unsafe { &mut *it };
    lock(Lock::Queue(it.queue));
    let next = world(|w| {
        let waiting = w.queues.get(&it.queue)?;
        let vtime_of = |task: TaskId| w.tasks[task].raw.scx.dsq_vtime;
        let at = match it.last {
            NOTHING => 0,
            last => waiting
                .iter()
                .position(|&task| task as u64 == last)
                .map(|at| at + 1)
                // It has left the queue: what was behind it comes now.
                .or_else(|| {
                    waiting
                        .iter()
                        .position(|&task| vtime_of(task).wrapping_sub(it.last_vtime).cast_signed() > 0)
                })?,
        };
        let task = *waiting.get(at)?;
        it.last = task as u64;
        it.last_vtime = vtime_of(task);
        Some(w.raw(task))
    });
    unlock(Lock::Queue(it.queue));
    next.unwrap_or(std::ptr::null_mut())
}

#[unsafe(no_mangle)]
extern "C" fn bpf_iter_scx_dsq_destroy(_it: *mut QueueIterator) {}
