//! System calls of threads: each is code in the name of the thread, which interrupts may stop and other threads preempt.

use crate::called::Callback;
use crate::ext::{callback, raw};
use crate::fibre::suspend;
use crate::lock::{lock, lock_task, step, unlock, wait};
use crate::parts::{Call, Class, Lock, Op, PF_EXITING, SCHED_FIFO, SCHED_NORMAL, SetTo, State, TaskId, Wait};
use crate::raw::{InitArgs, SchedAttr};
use crate::schedule::{change, dequeue, enqueue, set_cpumask, wake_up, wake_up_new};
use crate::thread::Task;
use crate::world::{resched, say, world};

const NR_SETATTR: u64 = 314;
const NR_SETSCHEDULER: u64 = 144;
const NR_SETAFFINITY: u64 = 203;
const NR_FORK: u64 = 57;
/// What fair tasks may ask for as a slice, in ns.
const FAIR_SLICE_NS: std::ops::RangeInclusive<u64> = 100_000..=100_000_000;

/// The call of the thread.
pub(crate) fn call(caller: TaskId, what: Call) {
    say(|w| format!("{} calls {what:?}", w.tasks[caller].name));
    match what {
        Call::SetAttributes(target, to) => set_attributes(caller, target, to),
        Call::SetScheduler(target, policy) => set_scheduler(caller, target, policy),
        Call::SetAffinity(target, mask) => set_affinity(caller, target, mask),
        Call::Fork(program, is_reset) => fork(caller, program, is_reset),
        Call::Exec => exec(caller),
        Call::SetNice(target) => set_nice(target),
        Call::Kill(target) => kill(target),
    }
    world(|w| w.tasks[caller].registers.orig_ax = NR_FORK);
}

fn is_gone(task: TaskId) -> bool {
    world(|w| w.tasks[task].state == State::Dead || w.tasks[task].is_freed)
}

/// The host's program is called in the name of the thread, which cannot migrate meanwhile.
fn as_program(caller: TaskId, body: impl FnOnce() -> i32) -> i32 {
    world(|w| w.tasks[caller].raw.migration_disabled += 1);
    step();
    let answer = body();
    migrate_enable(caller);
    step();
    answer
}

fn may_set(caller: TaskId, target: TaskId) -> i32 {
    let program = world(|w| w.host.table().may_set_scheduling);
    as_program(caller, || program(raw(target), 0))
}

fn answered(caller: TaskId, target: TaskId, ret: i32) {
    let program = world(|w| w.host.table().answered);
    let attributes = world(|w| &raw const *w.tasks[caller].attributes);
    as_program(caller, || program(raw(target), attributes, true, true, ret));
    world(|w| w.tasks[caller].answer = ret);
    say(|w| format!("{} has the answer {ret}", w.tasks[caller].name));
}

fn set_attributes(caller: TaskId, target: TaskId, to: SetTo) {
    if is_gone(target) {
        return;
    }
    world(|w| {
        let t = &mut w.tasks[caller];
        *t.attributes = SchedAttr {
            size: 56,
            policy: to.policy,
            runtime_ns: to.runtime_ns,
            deadline_ns: to.period_ns,
            period_ns: to.period_ns,
            ..SchedAttr::default()
        };
        t.registers.orig_ax = NR_SETATTR;
        t.registers.si = &raw const *t.attributes as u64;
    });
    let mut ret = may_set(caller, target);
    if ret == 0 {
        ret = set(target, to.policy, Some(to.runtime_ns));
    }
    answered(caller, target, ret);
}

fn set_scheduler(caller: TaskId, target: TaskId, policy: u32) {
    if is_gone(target) {
        return;
    }
    world(|w| {
        let t = &mut w.tasks[caller];
        *t.attributes = SchedAttr { size: 56, policy, ..SchedAttr::default() };
        t.registers.orig_ax = NR_SETSCHEDULER;
        t.registers.si = u64::from(policy);
    });
    let mut ret = may_set(caller, target);
    if ret == 0 {
        ret = set(target, policy, None);
    }
    answered(caller, target, ret);
}

/// `__sched_setscheduler`, behind its hook: nothing is done if nothing is to change. Slices of fair tasks are compared as they are
/// asked for, before they are cut to what a slice may be; 0 asks for the kernel's own, which is a change even if the task has that.
/// `None`: the slice is asked for that an earlier call has asked for, if one has.
fn set(target: TaskId, policy: u32, slice_ns: Option<u64>) -> i32 {
    let cpu = lock_task_off(target);
    let is_same = world(|w| {
        let t = &w.tasks[target];
        let asked_ns = slice_ns.unwrap_or(t.fair_slice_ns);
        t.raw.policy == policy && policy != SCHED_FIFO && asked_ns != 0 && asked_ns == t.fair_slice_ns
    });
    let cut_ns = |ns: u64| if ns == 0 { 0 } else { ns.clamp(*FAIR_SLICE_NS.start(), *FAIR_SLICE_NS.end()) };
    if !is_same {
        change(cpu, target, || {
            world(|w| {
                let t = &mut w.tasks[target];
                t.raw.policy = policy;
                t.fair_slice_ns = slice_ns.map_or(t.fair_slice_ns, cut_ns);
                t.class = if policy == SCHED_FIFO { Class::RealTime } else { Class::Ext };
            });
        });
    }
    unlock_on(cpu);
    0
}

/// Locks the task's run queue, with interrupts off on this CPU.
fn lock_task_off(target: TaskId) -> usize {
    interrupts(1);
    lock_task(target)
}

/// What has come meanwhile interrupts here, before anything else of the call.
fn unlock_on(cpu: usize) {
    unlock(Lock::Rq(cpu));
    interrupts(-1);
    step();
}

fn interrupts(change: i32) {
    world(|w| {
        let here = w.here;
        let off = &mut w.cpus[here].interrupts_off;
        *off = off.checked_add_signed(change).expect("as often on as off");
    });
}

fn preemption(change: i32) {
    world(|w| {
        let here = w.here;
        let off = &mut w.cpus[here].preemption_off;
        *off = off.checked_add_signed(change).expect("as often on as off");
    });
}

fn set_affinity(caller: TaskId, target: TaskId, mask: u64) {
    if is_gone(target) {
        return;
    }
    world(|w| {
        let t = &mut w.tasks[caller];
        *t.mask = mask;
        t.registers.orig_ax = NR_SETAFFINITY;
        t.registers.si = 8;
        t.registers.dx = &raw const *t.mask as u64;
    });
    let answer = may_set(caller, target);
    world(|w| w.tasks[caller].answer = answer);
    if answer != 0 {
        return;
    }
    let cpu = lock_task_off(target);
    if world(|w| w.tasks[target].raw.cpus_mask == mask) {
        unlock_on(cpu);
        return;
    }
    change(cpu, target, || {
        world(|w| {
            let t = &mut w.tasks[target];
            t.raw.cpus_mask = mask;
            t.raw.nr_cpus_allowed = i32::try_from(mask.count_ones()).expect("few");
        });
        if world(|w| w.tasks[target].class == Class::Ext) {
            set_cpumask(target);
        }
    });
    let (is_here, runs, can_run) = world(|w| {
        let t = &w.tasks[target];
        (t.may_be_on(cpu), w.cpus[cpu].current == target, t.on_rq)
    });
    if is_here || !can_run {
        unlock_on(cpu);
    } else if runs {
        world(|w| w.cpus[cpu].to_move.insert(target));
        unlock_on(cpu);
        interrupts(1);
        wake_up(world(|w| w.cpus[cpu].stopper));
        interrupts(-1);
    } else {
        let cpu = move_task(cpu, target);
        unlock_on(cpu);
    }
}

/// `move_queued_task`, with its run queue locked: the one that it is on then, which is.
fn move_task(cpu: usize, task: TaskId) -> usize {
    let to = world(|w| {
        w.tasks[task].migrates = true;
        w.tasks[task].raw.cpus_mask.trailing_zeros() as usize
    });
    dequeue(cpu, task, 0);
    world(|w| w.tasks[task].cpu = to);
    unlock(Lock::Rq(cpu));
    lock(Lock::Rq(to));
    world(|w| w.tasks[task].migrates = false);
    enqueue(to, task, 0);
    if world(|w| w.tasks[w.cpus[to].current].class == Class::Idle) {
        resched(to);
    }
    to
}

/// `migrate_enable` of the task that runs: what a switch has done while it might not migrate is undone.
fn migrate_enable(task: TaskId) {
    let (is_last, is_kept) = world(|w| (w.tasks[task].raw.migration_disabled == 1, w.tasks[task].is_kept()));
    let mut moves = false;
    if is_last && is_kept {
        preemption(1);
        let cpu = lock_task_off(task);
        change(cpu, task, || {
            world(|w| w.tasks[task].let_go());
            if world(|w| w.tasks[task].class == Class::Ext) {
                set_cpumask(task);
            }
        });
        moves = world(|w| !w.tasks[task].may_be_on(cpu));
        unlock_on(cpu);
    }
    world(|w| w.tasks[task].raw.migration_disabled -= 1);
    if is_last && is_kept {
        preemption(-1);
    }
    if moves {
        let stopper = world(|w| {
            let c = &mut w.cpus[w.here];
            c.to_move.insert(task);
            c.stopper
        });
        interrupts(1);
        wake_up(stopper);
        interrupts(-1);
    }
}

/// The stopper of the CPU moves away what may not be there.
pub(crate) fn migrate(cpu: usize) {
    interrupts(1);
    while let Some(task) = world(|w| w.cpus[cpu].to_move.pop_first()) {
        lock(Lock::Rq(cpu));
        let moves = world(|w| {
            let t = &w.tasks[task];
            t.cpu == cpu && !t.may_be_on(cpu) && t.on_rq && !t.migrates && t.raw.migration_disabled == 0
        });
        let at = if moves { move_task(cpu, task) } else { cpu };
        unlock(Lock::Rq(at));
    }
    interrupts(-1);
}

fn fork(parent: TaskId, program: Vec<Op>, is_reset: bool) {
    let child = world(|w| {
        let pid = w.take_pid();
        let p = &w.tasks[parent];
        // SAFETY: credentials live to the end of the program.
        let cred = unsafe { &*p.raw.cred };
        let name = if w.called.is_some() { format!("{}'s child", p.name) } else { format!("child/{pid}") };
        let mut task = Task::new(name, Class::Ext, pid, cred, p.cpu, p.raw.cpus_mask);
        task.raw.policy = if is_reset || p.class != Class::Ext { SCHED_NORMAL } else { p.raw.policy };
        task.raw.scx.weight = p.raw.scx.weight;
        task.program = program;
        w.tasks[parent].raw.reset_on_fork = is_reset.into();
        w.add(task)
    });
    step();
    let what = Callback("init_task", Some(child), 1);
    // Unlike other callbacks, this one may be preempted.
    let refused = as_program(parent, || {
        callback(what, |ops| (ops.init_task)(raw(child), &mut InitArgs { fork: true }))
    });
    world(|w| w.tasks[parent].answer = refused);
    world(|w| w.tasks[parent].raw.reset_on_fork = 0);
    if refused != 0 {
        world(|w| {
            w.tasks[child].state = State::Dead;
            w.tasks[child].is_freed = true;
        });
        return;
    }
    step();
    let cpu = lock_task_off(child);
    callback(Callback("enable", Some(child), 0), |ops| (ops.enable)(raw(child)));
    unlock_on(cpu);
    world(|w| w.tasks[child].state = State::Waking);
    interrupts(1);
    wake_up_new(child);
    interrupts(-1);
}

/// `set_user_nice`. The weight stays what it is: nothing here depends on that.
fn set_nice(target: TaskId) {
    let cpu = lock_task_off(target);
    change(cpu, target, || {});
    unlock_on(cpu);
}

/// SIGKILL.
fn kill(target: TaskId) {
    world(|w| {
        w.tasks[target].killed = true;
        w.tasks[target].left_ns = 0;
    });
    interrupts(1);
    wake_up(target);
    interrupts(-1);
}

/// `de_thread`: the others of the process end, and the thread has its leader's number.
fn exec(caller: TaskId) {
    let leader = world(|w| w.tasks[caller].leader);
    let others: Vec<TaskId> = world(|w| {
        (0..w.tasks.len())
            .filter(|&t| t != caller && w.tasks[t].leader == leader && !w.tasks[t].is_freed)
            .collect()
    });
    others.iter().copied().for_each(kill);
    if caller == leader {
        return;
    }
    while !world(|w| w.tasks[leader].has_exited) {
        world(|w| {
            w.tasks[leader].notifies = Some(caller);
            w.tasks[caller].state = State::Blocked;
        });
        suspend(Wait::Asleep(caller));
    }
    // `exchange_tids`, and `release_task`: the leader may still be on its way to its last call of the scheduler.
    world(|w| {
        let (old, new) = (w.tasks[caller].raw.pid, w.tasks[leader].raw.pid);
        w.tasks[caller].raw.pid = new;
        w.tasks[leader].raw.pid = old;
        w.tasks[caller].leader = caller;
        w.tasks[leader].is_released = true;
        if w.tasks[leader].is_dead() {
            w.free_later(leader);
        }
    });
    say(|w| format!("{} has its leader's number", w.tasks[caller].name));
    wait(Wait::Nothing);
}

/// `do_exit`, up to its last call of the scheduler.
pub(crate) fn exit(task: TaskId) {
    world(|w| w.tasks[task].raw.flags |= PF_EXITING);
    for _ in 0..8 {
        step();
    }
    // `sched_autogroup_exit_task`
    let cpu = lock_task_off(task);
    change(cpu, task, || {});
    unlock_on(cpu);
    step();
    // `exit_notify`
    let waiting = world(|w| {
        w.tasks[task].has_exited = true;
        w.tasks[task].notifies
    });
    if let Some(waiting) = waiting {
        interrupts(1);
        wake_up(waiting);
        interrupts(-1);
    }
    step();
    world(|w| w.tasks[task].state = State::Dead);
    suspend(Wait::Asleep(task));
}
