//! The class of sched_ext, as `kernel/sched/ext.c` of Linux 6.18 has it: custody, enqueueing, picking, putting back.
//!
//! Functions have the names that they have there, or say them. The run queue of `cpu` is locked where one is an argument.

use crate::dsq::{GLOBAL, consume, dispatch_dequeue, dispatch_enqueue, finish_dispatches};
use crate::lock::{Wait, step, wait};
use crate::raw::{Ops, TaskStruct};
use crate::thread::{Class, Custody, QUEUED, Queue};
use crate::world::{TaskId, say, world};

pub(crate) const ENQ_WAKEUP: u64 = 1;
pub(crate) const ENQ_RESTORE: u64 = 2;
pub(crate) const ENQ_HEAD: u64 = 1 << 4;
pub(crate) const ENQ_PREEMPT: u64 = 1 << 32;
pub(crate) const ENQ_REENQ: u64 = 1 << 40;
pub(crate) const ENQ_LAST: u64 = 1 << 41;
pub(crate) const ENQ_CLEAR_OPSS: u64 = 1 << 56;
pub(crate) const ENQ_PRIQ: u64 = 1 << 57;
pub(crate) const DEQ_SLEEP: u64 = 1;
pub(crate) const DEQ_SAVE: u64 = 2;
pub(crate) const SLICE_DFL: u64 = 20_000_000;
pub(crate) const SLICE_INF: u64 = u64::MAX;
pub(crate) const QUEUE_LOCAL: u64 = 1 << 63 | 2;
pub(crate) const QUEUE_LOCAL_ON: u64 = 3 << 62;

/// How often dispatch is called in one balancing at most.
const DISPATCH_MAX_LOOPS: u32 = 32;

pub(crate) fn ops() -> &'static Ops {
    world(|w| w.ops())
}

pub(crate) fn raw(task: TaskId) -> *mut TaskStruct {
    world(|w| w.raw(task))
}

/// What runs on the CPU is asked to call the scheduler (`resched_curr`).
pub(crate) fn resched(cpu: usize) {
    world(|w| w.cpus[cpu].wants_resched = true);
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
        (ops().enqueue)(raw(task), flags);
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
        (ops().dequeue)(raw(task), flags);
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
        (ops().stopping)(raw(task), false);
    }
    if !world(|w| w.tasks[task].migrates) {
        (ops().quiescent)(raw(task), flags);
    }
    world(|w| w.tasks[task].raw.scx.flags &= !QUEUED);
    dispatch_dequeue(task);
}

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
        (ops().dispatch)(i32::try_from(cpu).expect("few"), argument);
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
        (ops().stopping)(raw(task), true);
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
        release(i32::try_from(cpu).expect("few"), std::ptr::null_mut());
    }
}

/// `set_next_task_scx`.
pub(crate) fn set_next(cpu: usize, task: TaskId) {
    if world(|w| w.tasks[task].is_queued()) {
        ops_dequeue(task, 0);
        dispatch_dequeue(task);
    }
    world(|w| w.cpus[cpu].charged_at = w.now);
    if world(|w| w.tasks[task].is_queued()) {
        (ops().running)(raw(task));
    }
    world(|w| w.tasks[task].runnable_at = None);
}

/// `scx_bpf_reenqueue_local`: what waits in the CPU's own queue is enqueued anew.
pub(crate) fn reenqueue_local(cpu: usize) -> u32 {
    let waiting: Vec<TaskId> =
        world(|w| w.cpus[cpu].local.iter().copied().filter(|&t| w.tasks[t].raw.migration_disabled == 0).collect());
    for &task in &waiting {
        dispatch_dequeue(task);
    }
    for &task in &waiting {
        do_enqueue_task(cpu, task, ENQ_REENQ, None);
    }
    u32::try_from(waiting.len()).expect("few")
}
