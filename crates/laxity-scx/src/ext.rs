//! The class of sched_ext, as `kernel/sched/ext.c` of Linux 6.18 has it: custody, enqueueing, picking, putting back.
//!
//! Functions have the names that they have there, or say them. The run queue of `cpu` is locked where one is an argument.

use crate::called::Callback;
use crate::dsq::{dispatch_dequeue, dispatch_enqueue};
use crate::lock::{step, wait};
use crate::parts::{
    Class, Custody, ENQ_CLEAR_OPSS, ENQ_HEAD, ENQ_LAST, ENQ_REENQ, ENQ_RESTORE, QUEUE_LOCAL, QUEUED, Queue,
    SLICE_DFL, SLICE_INF, TaskId, Wait,
};
use crate::raw::{Ops, TaskStruct};
use crate::recorder::{is_called, runs_unasked};
use crate::world::{say, world};

pub(crate) fn ops() -> &'static Ops {
    world(|w| w.ops())
}

/// The scheduler is called in the name of the task that runs, which must not migrate meanwhile (`__bpf_prog_enter`).
///
/// `what`: its name there, its task, and its flags.
pub(crate) fn callback<R>(what: Callback, call: impl FnOnce(&'static Ops) -> R) -> R {
    world(|w| {
        w.note(what);
        is_called(w);
    });
    let current = world(|w| {
        let current = w.current();
        w.tasks[current].raw.migration_disabled += 1;
        current
    });
    let result = call(ops());
    world(|w| w.tasks[current].raw.migration_disabled -= 1);
    result
}

pub(crate) fn raw(task: TaskId) -> *mut TaskStruct {
    world(|w| w.raw(task))
}

/// `update_curr_scx`.
pub(crate) fn update_curr(cpu: usize) {
    world(|w| {
        let now = w.now;
        let c = &mut w.cpus[cpu];
        let had_ns = now - c.charged_at;
        c.charged_at = now;
        let task = &mut w.tasks[c.current];
        if task.class == Class::Ext && task.raw.scx.slice != SLICE_INF {
            task.raw.scx.slice = task.raw.scx.slice.saturating_sub(had_ns);
        }
    });
}

/// `enqueue_task_scx`.
pub(crate) fn enqueue_task(cpu: usize, task: TaskId, flags: u64) {
    let sticky = world(|w| {
        let now = w.now;
        let is_current = w.cpus[cpu].current == task;
        let t = &mut w.tasks[task];
        let sticky = if flags & ENQ_RESTORE != 0 && is_current { Some(cpu) } else { t.sticky };
        t.sticky = None;
        if t.is_queued() {
            return None;
        }
        t.runnable_at = Some(now);
        t.raw.scx.flags |= QUEUED;
        Some(sticky)
    });
    if let Some(sticky) = sticky {
        do_enqueue_task(cpu, task, flags, sticky);
    }
}

/// `do_enqueue_task`.
fn do_enqueue_task(cpu: usize, task: TaskId, flags: u64, sticky: Option<usize>) {
    if sticky == Some(cpu) {
        dispatch_enqueue(Queue::Local(cpu), task, flags);
        return;
    }
    if world(|w| w.tasks[task].direct.is_none()) {
        let number = world(|w| {
            let here = w.here;
            w.cpus[cpu].custody_number += 1;
            let number = w.cpus[cpu].custody_number;
            w.tasks[task].custody = Custody::Queueing(number);
            w.cpus[here].direct = Some(task);
            number
        });
        step();
        callback(Callback("enqueue", Some(task), flags), |ops| (ops.enqueue)(raw(task), flags));
        let is_direct = world(|w| {
            let here = w.here;
            w.cpus[here].direct = None;
            w.tasks[task].direct.is_some()
        });
        if !is_direct {
            world(|w| w.tasks[task].custody = Custody::Queued(number));
            step();
            return;
        }
    }
    direct_dispatch(cpu, task, flags);
}

/// `direct_dispatch`.
fn direct_dispatch(cpu: usize, task: TaskId, flags: u64) {
    let (queue, own) = world(|w| w.tasks[task].direct.take()).expect("it is dispatched directly");
    let queue = if queue == QUEUE_LOCAL { Queue::Local(cpu) } else { Queue::User(queue) };
    dispatch_enqueue(queue, task, flags | own | ENQ_CLEAR_OPSS);
}

/// `ops_dequeue`.
pub(crate) fn ops_dequeue(task: TaskId, flags: u64) {
    world(|w| w.tasks[task].runnable_at = None);
    let before = world(|w| w.tasks[task].custody);
    if let Custody::Queued(_) = before {
        callback(Callback("dequeue", Some(task), flags), |ops| (ops.dequeue)(raw(task), flags));
        step();
        let is_out = world(|w| {
            let t = &mut w.tasks[task];
            let is_out = t.custody == before;
            if is_out {
                t.custody = Custody::None;
            }
            is_out
        });
        if is_out {
            return;
        }
    }
    wait(Wait::Dispatched(task));
}

/// `dequeue_task_scx`.
pub(crate) fn dequeue_task(cpu: usize, task: TaskId, flags: u64) {
    if !world(|w| w.tasks[task].is_queued()) {
        return;
    }
    ops_dequeue(task, flags);
    if world(|w| w.cpus[cpu].current == task) {
        update_curr(cpu);
        callback(Callback("stopping", Some(task), 0), |ops| (ops.stopping)(raw(task), false));
    }
    if !world(|w| w.tasks[task].migrates) {
        callback(Callback("quiescent", Some(task), flags), |ops| (ops.quiescent)(raw(task), flags));
    }
    world(|w| w.tasks[task].raw.scx.flags &= !QUEUED);
    dispatch_dequeue(task);
}

/// `pick_task_scx`.
pub(crate) fn pick(cpu: usize) -> Option<TaskId> {
    world(|w| {
        let c = &w.cpus[cpu];
        let keeps = c.keeps && w.tasks[c.current].class == Class::Ext;
        let task = if keeps { Some(c.current) } else { c.local.front().copied() };
        if let Some(task) = task {
            let slice = &mut w.tasks[task].raw.scx.slice;
            if *slice == 0 {
                *slice = SLICE_DFL;
            }
        }
        task
    })
}

/// `put_prev_task_scx`: `next` takes the CPU from the task.
pub(crate) fn put_prev(cpu: usize, task: TaskId, next: TaskId) {
    update_curr(cpu);
    if world(|w| w.tasks[task].is_queued()) {
        callback(Callback("stopping", Some(task), 1), |ops| (ops.stopping)(raw(task), true));
        let (has_slice, goes_lower) = world(|w| {
            let now = w.now;
            let goes_lower = w.tasks[next].class > Class::Ext;
            let t = &mut w.tasks[task];
            t.runnable_at = Some(now);
            (t.raw.scx.slice > 0, goes_lower)
        });
        if has_slice {
            dispatch_enqueue(Queue::Local(cpu), task, ENQ_HEAD);
        } else {
            do_enqueue_task(cpu, task, if goes_lower { ENQ_LAST } else { 0 }, None);
        }
    }
    switch_class(cpu, next);
}

/// `switch_class`: a class above takes the CPU, which the scheduler is told.
fn switch_class(cpu: usize, next: TaskId) {
    let is_taken = world(|w| {
        let is_above = w.tasks[next].class < Class::Ext;
        let is_news = is_above && !w.cpus[cpu].released;
        w.cpus[cpu].released |= is_above;
        is_news
    });
    if let (true, Some(release)) = (is_taken, ops().cpu_release) {
        say(|w| format!("is released to {}", w.tasks[next].name));
        callback(Callback("cpu_release", None, 0), |_| {
            release(i32::try_from(cpu).expect("few"), std::ptr::null_mut());
        });
    }
}

/// `set_next_task_scx`.
pub(crate) fn set_next(cpu: usize, task: TaskId) {
    if world(|w| w.tasks[task].is_queued()) {
        ops_dequeue(task, 0);
        if world(|w| w.tasks[task].is_behind_risen) {
            world(|w| runs_unasked(w, task));
        }
        dispatch_dequeue(task);
    }
    world(|w| w.cpus[cpu].charged_at = w.now);
    if world(|w| w.tasks[task].is_queued()) {
        callback(Callback("running", Some(task), 0), |ops| (ops.running)(raw(task)));
    }
    world(|w| w.tasks[task].runnable_at = None);
}

/// `scx_bpf_reenqueue_local`, as 6.18.1 has it: what waits in the CPU's own queue is enqueued anew, but for what is being migrated.
pub(crate) fn reenqueue_local(cpu: usize) -> u32 {
    let waiting: Vec<TaskId> = world(|w| {
        let c = &w.cpus[cpu];
        c.local.iter().copied().filter(|task| !c.to_move.contains(task)).collect()
    });
    for &task in &waiting {
        dispatch_dequeue(task);
    }
    for &task in &waiting {
        do_enqueue_task(cpu, task, ENQ_REENQ, None);
    }
    u32::try_from(waiting.len()).expect("few")
}
