//! The scheduler's core, as `kernel/sched/core.c` of Linux 6.18 has it: switching, waking, ticks, changes of a task's scheduling.

use crate::called::Callback;
use crate::ext::{callback, raw, update_curr};
use crate::lock::{lock, lock_task, step, unlock, wait};
use crate::parts::{
    Class, DEQ_SAVE, DEQ_SLEEP, ENQ_RESTORE, ENQ_WAKEUP, Lock, SLICE_DFL, State, TaskId, WAKE_FORK,
    WAKE_TTWU, Wait,
};
use crate::recorder::{is_called, is_handled, is_put_back, moment_ends, switches};
use crate::world::{resched, say, world};
use crate::{dispatch, ext};

/// Why a CPU calls the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It was asked to, or its task has called the kernel and goes on.
    Preempted,
    /// Its task sleeps, unless it has been woken up already.
    Blocked,
    /// Its task yields.
    Yielded,
}

/// A task can run again or has moved: it enters the run queue of the CPU, which is locked.
pub(crate) fn enqueue(cpu: usize, task: TaskId, flags: u64) {
    world(|w| w.tasks[task].on_rq = true);
    if world(|w| w.tasks[task].class) == Class::Ext {
        ext::enqueue_task(cpu, task, flags);
    } else {
        world(|w| {
            if w.cpus[cpu].current != task {
                w.cpus[cpu].above.push(task);
            }
        });
    }
}

/// It leaves the run queue.
pub(crate) fn dequeue(cpu: usize, task: TaskId, flags: u64) {
    world(|w| w.tasks[task].on_rq = false);
    if world(|w| w.tasks[task].class) == Class::Ext {
        ext::dequeue_task(cpu, task, flags);
    } else {
        world(|w| w.cpus[cpu].above.retain(|&other| other != task));
    }
}

/// `__schedule`.
pub(crate) fn schedule(cpu: usize, how: How) {
    lock(Lock::Rq(cpu));
    let prev = world(|w| w.cpus[cpu].current);
    if how == How::Yielded && world(|w| w.tasks[prev].class) == Class::Ext {
        callback(Callback("yield", Some(prev), 0), |ops| (ops.yields)(raw(prev), std::ptr::null_mut()));
        unlock(Lock::Rq(cpu));
        lock(Lock::Rq(cpu));
    }
    if how == How::Blocked && world(|w| matches!(w.tasks[prev].state, State::Blocked | State::Dead)) {
        dequeue(cpu, prev, DEQ_SLEEP);
    }
    let next = pick_next(cpu, prev);
    world(|w| {
        w.cpus[cpu].wants_resched = false;
        if next != prev {
            w.cpus[cpu].current = next;
            w.tasks[next].raw.on_cpu = 1;
            if w.tasks[prev].is_bound() {
                w.cpus[cpu].bound_left_at = w.now;
            }
        }
    });
    if next != prev {
        keep_unmigrated(cpu, prev);
        switched(prev, next);
        say(|w| format!("switches from {} to {}", w.tasks[prev].name, w.tasks[next].name));
        step();
        world(|w| {
            w.tasks[prev].raw.on_cpu = 0;
            if w.tasks[prev].state == State::Dead {
                w.bury(prev);
            }
        });
    }
    unlock(Lock::Rq(cpu));
}

/// `migrate_disable_switch`: what may not migrate now is kept where it is, and goes through the queue for it.
fn keep_unmigrated(cpu: usize, prev: TaskId) {
    if world(|w| w.tasks[prev].raw.migration_disabled == 0 || w.tasks[prev].is_kept()) {
        return;
    }
    change(cpu, prev, || {
        world(|w| w.tasks[prev].keep());
        if world(|w| w.tasks[prev].class == Class::Ext) {
            set_cpumask(prev);
        }
    });
}

pub(crate) fn set_cpumask(task: TaskId) {
    let allowed = world(|w| w.tasks[task].raw.cpus_ptr);
    callback(Callback("set_cpumask", Some(task), 0), |ops| (ops.set_cpumask)(raw(task), allowed));
}

/// `trace_sched_switch`, with the run queue locked.
fn switched(prev: TaskId, next: TaskId) {
    let switched = world(|w| {
        w.tasks[next].set_prio();
        moment_ends(w, prev);
        switches(w, w.here, w.tasks[next].class);
        is_called(w);
        w.host.table().switched
    });
    switched(false, raw(prev), raw(next));
}

/// `prev_balance` and `pick_next_task`: the next task, with the one before put back.
fn pick_next(cpu: usize, prev: TaskId) -> TaskId {
    // The class of the one before, but not below this one, is the first that is balanced; one above with a task ends that.
    let starts_above = world(|w| w.tasks[prev].class < Class::Ext);
    let has_above = |prev: TaskId| {
        world(|w| {
            let runs_on = w.tasks[prev].class < Class::Ext && w.tasks[prev].on_rq;
            runs_on || !w.cpus[cpu].above.is_empty()
        })
    };
    if !(starts_above && has_above(prev)) {
        dispatch::balance(cpu);
    }
    let next = pick_above(cpu, prev).or_else(|| ext::pick(cpu)).unwrap_or_else(|| pick_idle(cpu));
    let has_risen = world(|w| std::mem::take(&mut w.cpus[cpu].has_risen));
    if next == prev {
        // `cpu_release` is called where a task of this class is put back for one above. One that has risen while it had the CPU, as when a
        // dispatch has the run queue unlocked, goes on without that: what a dispatch has fetched stays behind it, and Linux 6.18 has no
        // other call that gives it back.
        if has_risen {
            world(|w| {
                for task in w.cpus[cpu].local.clone() {
                    w.tasks[task].is_behind_risen = true;
                }
            });
        }
        return next;
    }
    match world(|w| w.tasks[prev].class) {
        Class::Ext => ext::put_prev(cpu, prev, next),
        Class::Idle => world(|w| w.cpus[cpu].is_idle = false),
        Class::Stop | Class::RealTime => world(|w| {
            if w.tasks[prev].on_rq {
                w.cpus[cpu].above.push(prev);
            }
        }),
    }
    match world(|w| w.tasks[next].class) {
        Class::Ext => ext::set_next(cpu, next),
        Class::Idle => world(|w| w.cpus[cpu].is_idle = true),
        Class::Stop | Class::RealTime => world(|w| w.cpus[cpu].above.retain(|&other| other != next)),
    }
    next
}

/// `pick_task_idle`: the CPU is in the mask of idle ones again, also if it has idled all along and been picked out of that meanwhile.
fn pick_idle(cpu: usize) -> TaskId {
    world(|w| {
        w.cpus[cpu].is_idle = true;
        w.cpus[cpu].idle_task
    })
}

/// The task of a class above that goes first: of equals, the one that runs.
fn pick_above(cpu: usize, prev: TaskId) -> Option<TaskId> {
    world(|w| {
        let runs_on = w.tasks[prev].class < Class::Ext && w.tasks[prev].on_rq;
        let waiting = w.cpus[cpu].above.iter().copied();
        let mut all: Vec<TaskId> = runs_on.then_some(prev).into_iter().chain(waiting).collect();
        all.sort_by_key(|&task| w.tasks[task].class);
        all.first().copied()
    })
}

/// `try_to_wake_up`.
pub(crate) fn wake_up(task: TaskId) {
    let before = world(|w| std::mem::replace(&mut w.tasks[task].state, State::Waking));
    if before != State::Blocked {
        world(|w| w.tasks[task].state = before);
        return;
    }
    let cpu = lock_task(task);
    if world(|w| w.tasks[task].on_rq) {
        // `ttwu_runnable`: it was on its way to sleep.
        world(|w| w.tasks[task].state = State::Running);
        unlock(Lock::Rq(cpu));
        return;
    }
    unlock(Lock::Rq(cpu));
    wait(Wait::OffCpu(task));
    let cpu = select_cpu(task, WAKE_TTWU);
    world(|w| w.tasks[task].cpu = cpu);
    lock(Lock::Rq(cpu));
    world(|w| w.tasks[task].state = State::Running);
    enqueue(cpu, task, ENQ_WAKEUP);
    preempt_for(cpu, task);
    unlock(Lock::Rq(cpu));
}

/// A task of a class above preempts what runs.
fn preempt_for(cpu: usize, task: TaskId) {
    if world(|w| w.tasks[task].class < Class::Ext && w.tasks[task].class < w.tasks[w.cpus[cpu].current].class)
    {
        resched(cpu);
    }
}

/// `select_task_rq`.
fn select_cpu(task: TaskId, flags: u64) -> usize {
    let (own, asks) = world(|w| {
        let t = &w.tasks[task];
        (t.cpu, t.class == Class::Ext && t.raw.nr_cpus_allowed > 1 && t.raw.migration_disabled == 0)
    });
    let mut cpu = own;
    if asks {
        world(|w| {
            let here = w.here;
            w.cpus[here].direct = Some(task);
        });
        let prev = i32::try_from(own).expect("few");
        let what = Callback("select_cpu", Some(task), flags);
        let chosen = callback(what, |ops| (ops.select_cpu)(raw(task), prev, flags));
        world(|w| {
            let here = w.here;
            w.cpus[here].direct = None;
        });
        cpu = usize::try_from(chosen).expect("a CPU");
    }
    world(|w| {
        if w.tasks[task].may_be_on(cpu) { cpu } else { w.tasks[task].raw.cpus_mask.trailing_zeros() as usize }
    })
}

/// `wake_up_new_task`.
pub(crate) fn wake_up_new(task: TaskId) {
    let cpu = select_cpu(task, WAKE_FORK);
    world(|w| w.tasks[task].cpu = cpu);
    lock(Lock::Rq(cpu));
    world(|w| w.tasks[task].state = State::Running);
    enqueue(cpu, task, 0);
    preempt_for(cpu, task);
    unlock(Lock::Rq(cpu));
}

/// `sched_tick`.
pub(crate) fn tick(cpu: usize) {
    lock(Lock::Rq(cpu));
    let current = world(|w| w.cpus[cpu].current);
    if world(|w| w.tasks[current].class) == Class::Ext {
        update_curr(cpu);
        callback(Callback("tick", Some(current), 0), |ops| (ops.tick)(raw(current)));
        if world(|w| w.tasks[current].raw.scx.slice == 0) {
            resched(cpu);
        }
    }
    unlock(Lock::Rq(cpu));
}

/// A change of a task's scheduling, with its run queue locked: it is taken out of it, changed, and put back (`sched_change_begin`).
pub(crate) fn change(cpu: usize, task: TaskId, change: impl FnOnce()) {
    let (on_rq, is_current) = world(|w| (w.tasks[task].on_rq, w.cpus[cpu].current == task));
    if on_rq && !is_current {
        world(|w| {
            is_handled(w, task);
        });
    }
    if on_rq {
        dequeue(cpu, task, DEQ_SAVE);
    }
    let before = world(|w| w.tasks[task].class);
    change();
    let after = world(|w| {
        w.tasks[task].set_prio();
        w.tasks[task].class
    });
    if before != Class::Ext && after == Class::Ext {
        world(|w| w.tasks[task].raw.scx.slice = SLICE_DFL);
        callback(Callback("enable", Some(task), 0), |ops| (ops.enable)(raw(task)));
        set_cpumask(task);
    }
    // What it was sent for before is void; what it is sent for from here on is not.
    let handled = (on_rq && !is_current).then(|| {
        world(|w| {
            moment_ends(w, task);
            is_handled(w, task)
        })
    });
    if on_rq {
        enqueue(cpu, task, ENQ_RESTORE);
    }
    if let Some(moment) = handled {
        world(|w| is_put_back(w, moment));
    }
    if is_current {
        world(|w| {
            w.cpus[cpu].has_risen = before == Class::Ext && after < Class::Ext;
            switches(w, cpu, after);
        });
    }
    if is_current && after == Class::Ext {
        ext::set_next(cpu, task);
    }
    if before == Class::Ext && after != Class::Ext {
        callback(Callback("disable", Some(task), 0), |ops| (ops.disable)(raw(task)));
    }
    if before != after && on_rq {
        resched(cpu);
    }
}
