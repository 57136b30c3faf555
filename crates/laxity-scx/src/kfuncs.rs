//! What the host calls: helpers of BPF, and the kernel's functions for programs, with their names there.

// The host calls them with what the verifier has let through: tasks and values of this world.
#![allow(clippy::not_unsafe_ptr_arg_deref)]

use crate::cpu::Dispatch;
use crate::dispatch::{consume, finish_dispatches};
use crate::ext::reenqueue_local;
use crate::lock::{lock, step, try_lock, unlock, wait};
use crate::parts::{Class, Custody, ENQ_PRIQ, Lock, Wait};
use crate::raw::{MapDeclaration, RunQueue, TaskStruct};
use crate::recorder;
use crate::world::{Timer, World, resched, say, world};

use std::ffi::{CStr, c_char, c_void};

const KICK_IDLE: u64 = 1;
const KICK_PREEMPT: u64 = 2;
const STORAGE_CREATE: u64 = 1;
const EBUSY: i32 = 16;
/// No CPU reads one time twice: what it does in between takes that long at least, in ns.
const CLOCK_NS: u64 = 20;

fn cpu_of(number: i32) -> usize {
    usize::try_from(number).expect("a CPU")
}

// --- the model's own ---------------------------------------------------------------------------------------------

#[unsafe(no_mangle)]
extern "C" fn lx_scx_shared() {
    step();
}

#[unsafe(no_mangle)]
extern "C" fn lx_scx_assertion_failed(condition: *const c_char, file: *const c_char, line: i32) {
    // SAFETY: constant strings of the host.
    let (condition, file) = unsafe { (CStr::from_ptr(condition), CStr::from_ptr(file)) };
    world(|w| {
        w.fail(format!("{}:{line}: {} does not hold", file.to_string_lossy(), condition.to_string_lossy()))
    });
    wait(Wait::Ever);
}

#[unsafe(no_mangle)]
extern "C" fn lx_scx_map_lookup(map: *const MapDeclaration, key: *const u8) -> *mut u8 {
    // SAFETY: the host's macro makes it.
    let map = unsafe { &*map };
    world(|w| {
        recorder::before_look_up(w, map, key);
        w.maps.look_up(map, key, w.here)
    })
}

#[unsafe(no_mangle)]
extern "C" fn lx_scx_map_update(map: *const MapDeclaration, key: *const u8, value: *const u8) -> i64 {
    step();
    // SAFETY: the host's macro makes it.
    let map = unsafe { &*map };
    recorder::before_update(map, key, value);
    world(|w| w.maps.update(map, key, value, w.here));
    0
}

#[unsafe(no_mangle)]
extern "C" fn lx_scx_map_delete(map: *const MapDeclaration, key: *const u8) -> i64 {
    step();
    // SAFETY: the host's macro makes it.
    let map = unsafe { &*map };
    if world(|w| w.maps.delete(map, key, w.here)) { 0 } else { -2 }
}

#[unsafe(no_mangle)]
extern "C" fn lx_scx_storage_get(map: usize, size: u32, p: *const TaskStruct, flags: u64) -> *mut u8 {
    world(|w| {
        let task = w.task_of(p);
        let storage = &mut w.tasks[task].storage;
        if flags & STORAGE_CREATE != 0 {
            storage.entry(map).or_insert_with(|| vec![0; (size as usize).div_ceil(8)].into_boxed_slice());
        }
        storage.get_mut(&map).map_or(std::ptr::null_mut(), |value| value.as_mut_ptr().cast())
    })
}

#[unsafe(no_mangle)]
extern "C" fn lx_scx_spin_lock(at: usize) {
    world(|w| {
        let here = w.here;
        w.cpus[here].interrupts_off += 1;
    });
    lock(Lock::Host(at));
}

#[unsafe(no_mangle)]
extern "C" fn lx_scx_spin_unlock(at: usize) {
    unlock(Lock::Host(at));
    world(|w| {
        let here = w.here;
        w.cpus[here].interrupts_off -= 1;
    });
}

#[unsafe(no_mangle)]
extern "C" fn lx_scx_timer_init(timer: usize, map: usize) -> i64 {
    world(|w| {
        let (key, value) = w.maps.element_at(map, timer).expect("a timer in a value of that map");
        w.timers.insert(timer, Timer { map, key, value, ..Timer::default() });
    });
    0
}

#[unsafe(no_mangle)]
extern "C" fn lx_scx_timer_set_callback(timer: usize, callback: usize) -> i64 {
    world(|w| w.timers.get_mut(&timer).expect("it was made").callback = callback);
    0
}

#[unsafe(no_mangle)]
extern "C" fn lx_scx_timer_start(timer: usize, at: u64, _flags: u64) -> i64 {
    step();
    world(|w| {
        let here = w.here;
        let timer = w.timers.get_mut(&timer).expect("it was made");
        timer.due_at = Some(at);
        timer.cpu = here;
    });
    say(|w| format!("sets timer {} of {:#x} to {at}", w.timers[&timer].key, w.timers[&timer].map));
    0
}

/// The run queue of a CPU: whether threads of SCHED_FIFO can run there, and what does.
#[unsafe(no_mangle)]
extern "C" fn lx_scx_run_queue(cpu: u32) -> *const RunQueue {
    step();
    world(|w| {
        let c = &w.cpus[cpu as usize];
        let runs = w.tasks[c.current].on_rq.then_some(c.current);
        let queued = c.above.iter().copied().chain(runs).any(|task| w.tasks[task].class == Class::RealTime);
        let current = c.current;
        let curr = w.raw(current);
        let seen = &mut w.cpus[cpu as usize].run_queue;
        **seen = RunQueue { rt_queued: i32::from(queued), curr };
        &raw const **seen
    })
}

// --- helpers -----------------------------------------------------------------------------------------------------

#[unsafe(no_mangle)]
extern "C" fn bpf_ktime_get_ns() -> u64 {
    world(|w| {
        w.pass_to(w.now + CLOCK_NS);
        w.now
    })
}

#[unsafe(no_mangle)]
extern "C" fn bpf_get_smp_processor_id() -> u32 {
    world(|w| u32::try_from(w.here).expect("few"))
}

#[unsafe(no_mangle)]
extern "C" fn bpf_get_prandom_u32() -> u32 {
    world(World::random)
}

#[unsafe(no_mangle)]
extern "C" fn bpf_get_current_pid_tgid() -> u64 {
    world(|w| {
        let task = &w.tasks[w.current()];
        let group = w.tasks[task.leader].raw.pid;
        u64::from(group.unsigned_abs()) << 32 | u64::from(task.raw.pid.unsigned_abs())
    })
}

#[unsafe(no_mangle)]
extern "C" fn bpf_get_current_task_btf() -> *mut TaskStruct {
    world(|w| {
        let current = w.current();
        w.raw(current)
    })
}

#[unsafe(no_mangle)]
extern "C" fn bpf_task_pt_regs(p: *const TaskStruct) -> i64 {
    world(|w| {
        let task = w.task_of(p);
        &raw const *w.tasks[task].registers as i64
    })
}

#[unsafe(no_mangle)]
extern "C" fn bpf_probe_read_user(to: *mut u8, size: u32, from: *const u8) -> i64 {
    step();
    // SAFETY: calls.rs says where the arguments of a call are, and they are that long.
    unsafe { std::ptr::copy_nonoverlapping(from, to, size as usize) };
    0
}

#[unsafe(no_mangle)]
extern "C" fn bpf_preempt_disable() {
    world(|w| {
        let here = w.here;
        w.cpus[here].preemption_off += 1;
        recorder::is_asked(w, here);
    });
}

#[unsafe(no_mangle)]
extern "C" fn bpf_preempt_enable() {
    world(|w| {
        let here = w.here;
        w.cpus[here].preemption_off -= 1;
    });
    step();
}

#[unsafe(no_mangle)]
extern "C" fn bpf_task_from_pid(pid: i32) -> *mut TaskStruct {
    step();
    world(|w| {
        let found = w
            .tasks
            .iter()
            .rposition(|task| task.raw.pid == pid && !task.is_freed && !task.is_released && pid != 0);
        found.map_or(std::ptr::null_mut(), |task| w.raw(task))
    })
}

#[unsafe(no_mangle)]
extern "C" fn bpf_task_release(_p: *mut TaskStruct) {}

/// A reference more: the model keeps records to its end.
#[unsafe(no_mangle)]
extern "C" fn bpf_task_acquire(p: *mut TaskStruct) -> *mut TaskStruct {
    p
}

#[unsafe(no_mangle)]
extern "C" fn bpf_cpumask_first(mask: *const u64) -> u32 {
    // SAFETY: a mask of the model's, of one word.
    unsafe { *mask }.trailing_zeros()
}

#[unsafe(no_mangle)]
extern "C" fn bpf_cpumask_test_cpu(cpu: u32, mask: *const u64) -> bool {
    // SAFETY: a mask of the model's, of one word.
    cpu < 64 && unsafe { *mask } >> cpu & 1 == 1
}

#[unsafe(no_mangle)]
extern "C" fn bpf_res_spin_lock(at: usize) -> i32 {
    lock(Lock::Host(at));
    0
}

#[unsafe(no_mangle)]
extern "C" fn bpf_res_spin_unlock(at: usize) {
    unlock(Lock::Host(at));
}

// --- sched_ext ---------------------------------------------------------------------------------------------------

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_create_dsq(id: u64, _node: i32) -> i32 {
    world(|w| {
        w.queues.entry(id).or_default();
    });
    0
}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_dsq_nr_queued(id: u64) -> i32 {
    step();
    world(|w| w.queues.get(&id).map_or(-2, |waiting| i32::try_from(waiting.len()).expect("few")))
}

/// An idle CPU of the mask is taken out of the mask of idle ones.
fn take_idle(w: &mut World, mask: u64, first: usize) -> Option<usize> {
    let cpus = w.cpus.len();
    let found =
        (0..cpus).map(|i| (first + i) % cpus).find(|&cpu| mask >> cpu & 1 == 1 && w.cpus[cpu].is_idle)?;
    w.cpus[found].is_idle = false;
    Some(found)
}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_select_cpu_dfl(
    p: *const TaskStruct,
    prev: i32,
    _flags: u64,
    is_idle: *mut bool,
) -> i32 {
    step();
    let found = world(|w| {
        let task = w.task_of(p);
        let mask = w.tasks[task].raw.cpus_mask;
        take_idle(w, mask, cpu_of(prev))
    });
    // SAFETY: the host passes a variable of its own.
    unsafe { *is_idle = found.is_some() };
    found.map_or(prev, |cpu| i32::try_from(cpu).expect("few"))
}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_test_and_clear_cpu_idle(cpu: i32) -> bool {
    step();
    let cpu = cpu_of(cpu);
    world(|w| take_idle(w, 1 << cpu, cpu)).is_some()
}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_pick_idle_cpu(mask: *const u64, _flags: u64) -> i32 {
    step();
    // SAFETY: a mask of the model's, of one word.
    let mask = unsafe { *mask };
    let found = world(|w| {
        let first = w.below(w.cpus.len());
        take_idle(w, mask, first)
    });
    found.map_or(-EBUSY, |cpu| i32::try_from(cpu).expect("few"))
}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_task_cpu(p: *const TaskStruct) -> i32 {
    world(|w| {
        let task = w.task_of(p);
        i32::try_from(w.tasks[task].cpu).expect("few")
    })
}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_kick_cpu(cpu: i32, flags: u64) {
    let cpu = cpu_of(cpu);
    step();
    if flags & KICK_IDLE != 0 {
        // A CPU that will not look is not kicked: only while its run queue is not locked can that be seen.
        if try_lock(Lock::Rq(cpu)) {
            let idles = world(|w| w.cpus[cpu].current == w.cpus[cpu].idle_task);
            unlock(Lock::Rq(cpu));
            if !idles {
                return;
            }
        }
    }
    world(|w| {
        let here = w.here;
        let c = &mut w.cpus[here];
        if flags & KICK_IDLE != 0 {
            c.kick_idle.insert(cpu);
            return;
        }
        c.kick.insert(cpu);
        if flags & KICK_PREEMPT != 0 {
            c.preempt.insert(cpu);
        }
    });
    say(|_| format!("kicks cpu {cpu} ({flags})"));
}

/// `kick_cpus_irq_workfn`, on the CPU that has asked for it.
pub(crate) fn carry_out_kicks(here: usize) {
    let (kick, preempt, idle) = world(|w| {
        let c = &mut w.cpus[here];
        (std::mem::take(&mut c.kick), std::mem::take(&mut c.preempt), std::mem::take(&mut c.kick_idle))
    });
    for cpu in kick {
        lock(Lock::Rq(cpu));
        world(|w| {
            let current = w.cpus[cpu].current;
            if preempt.contains(&cpu) && w.tasks[current].class == Class::Ext {
                w.tasks[current].raw.scx.slice = 0;
            }
        });
        resched(cpu);
        unlock(Lock::Rq(cpu));
    }
    for cpu in idle {
        lock(Lock::Rq(cpu));
        if world(|w| w.cpus[cpu].current == w.cpus[cpu].idle_task) {
            resched(cpu);
        }
        unlock(Lock::Rq(cpu));
    }
}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_error_bstr(format: *const c_char, _data: *const c_void, _size: u32) {
    // SAFETY: a constant string of the host.
    let words = unsafe { CStr::from_ptr(format) }.to_string_lossy().into_owned();
    world(|w| w.fail(format!("the host ends itself: {words}")));
    wait(Wait::Ever);
}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_dump_bstr(_format: *const c_char, _data: *const c_void, _size: u32) {}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_reenqueue_local() -> u32 {
    step();
    reenqueue_local(world(|w| w.here))
}

/// `scx_dsq_insert_commit`.
fn insert(p: *const TaskStruct, queue: u64, slice: u64, flags: u64, vtime: Option<u64>) {
    step();
    world(|w| {
        let task = w.task_of(p);
        let here = w.here;
        let t = &mut w.tasks[task];
        t.raw.scx.slice = slice.max(1);
        recorder::is_sent(w, task, queue, slice);
        let t = &mut w.tasks[task];
        if let Some(vtime) = vtime {
            t.raw.scx.dsq_vtime = vtime;
        }
        if let Some(direct) = w.cpus[here].direct {
            if direct == task {
                t.direct = Some((queue, flags));
            } else {
                w.fail("another task is dispatched than the one that is enqueued".to_owned());
            }
            return;
        }
        let number = match t.custody {
            Custody::Queued(number) | Custody::Queueing(number) => number,
            _ => 0,
        };
        w.cpus[here].buffer.push(Dispatch { task, number, queue, flags });
    });
}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_dsq_insert___6_13(p: *const TaskStruct, queue: u64, slice: u64, flags: u64) {
    insert(p, queue, slice, flags, None);
}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_dsq_insert_vtime___6_13(
    p: *const TaskStruct,
    queue: u64,
    slice: u64,
    vtime: u64,
    flags: u64,
) {
    insert(p, queue, slice, flags | ENQ_PRIQ, Some(vtime));
}

#[unsafe(no_mangle)]
extern "C" fn scx_bpf_dsq_move_to_local___6_13(queue: u64) -> bool {
    let here = world(|w| w.here);
    finish_dispatches(here);
    consume(here, queue)
}
