//! The course of a run: which CPU goes on next, interrupts, time, and what threads do.

use crate::called::Callback;
use crate::calls;
use crate::cpu::Context;
use crate::ext::{callback, raw};
use crate::kfuncs::carry_out_kicks;
use crate::lock::{lock, unlock};
use crate::parts::{Class, FOR_EVER, Level, Lock, Op, PF_EXITING, State, TICK_NS, TaskId, Wait};
use crate::recorder::{drain, look_at_moments};
use crate::schedule::{How, schedule, tick, wake_up};
use crate::watch;
use crate::world::{World, say, world};

/// What can happen next.
#[derive(Debug, Clone, Copy)]
enum Choice {
    /// The code on the CPU goes on.
    Resume(usize),
    Interrupt(usize, Irq),
    Schedule(usize, How),
    /// The thread on the CPU does what its program says next.
    Next(usize),
}

#[derive(Debug, Clone, Copy)]
enum Irq {
    Kicks,
    Tick,
    Wake(u64, TaskId),
    Timer(usize),
    Free(u64, TaskId),
}

/// Runs until `end` or a fault.
pub(crate) fn run_until(end: u64) {
    let mut choices = Vec::new();
    while world(|w| w.fault.is_none() && w.now < end) {
        choices.clear();
        world(|w| collect(w, &mut choices));
        if choices.is_empty() {
            if !pass(end) {
                return;
            }
            continue;
        }
        if world(|w| w.is_prompt) {
            leave_prompt(&mut choices);
        }
        let choice = choices[world(|w| w.below(choices.len()))];
        take(choice);
    }
}

/// Where kicks arrive at once and what is asked to give way in the kernel does, nothing else of that CPU goes first.
fn leave_prompt(choices: &mut Vec<Choice>) {
    let place = |choice: &Choice| match *choice {
        Choice::Interrupt(cpu, _) => (cpu, 0),
        Choice::Schedule(cpu, _) => (cpu, 1),
        Choice::Resume(cpu) | Choice::Next(cpu) => (cpu, 2),
    };
    let all: Vec<(usize, u32)> = choices.iter().map(place).collect();
    choices.retain(|choice| {
        let (cpu, own) = place(choice);
        all.iter().all(|&(other, before)| other != cpu || before >= own)
    });
}

/// What CPUs are at goes on until none is at anything, while time stands still but for that.
pub(crate) fn settle() {
    let mut choices = Vec::new();
    while world(|w| w.fault.is_none() && is_busy(w)) {
        choices.clear();
        world(|w| collect(w, &mut choices));
        if choices.is_empty() {
            break;
        }
        take(choices[world(|w| w.below(choices.len()))]);
    }
}

fn is_busy(w: &World) -> bool {
    w.cpus.iter().any(|c| !c.stack.is_empty() || w.tasks[c.current].call.is_some())
}

/// Nothing goes on: what is so now is looked at, and time goes on to what happens next.
fn pass(end: u64) -> bool {
    if world(|w| is_busy(w)) {
        world(|w| {
            let waits: Vec<String> = w
                .cpus
                .iter()
                .map(|c| {
                    let context = c.stack.last().or(w.tasks[c.current].call.as_ref());
                    context.map_or("-".to_owned(), |context| {
                        format!("{:?} waits for {:?}", context.level, context.wait)
                    })
                })
                .collect();
            w.fail(format!("all CPUs wait for each other: {}", waits.join("; ")));
        });
        return false;
    }
    world(|w| {
        drain(w);
        look_at_moments(w);
    });
    watch::when_quiet();
    world(|w| {
        let next = next_event(w).min(end);
        w.pass_to(next.max(w.now + 1));
    });
    true
}

/// The next instant at which anything happens by itself.
fn next_event(w: &World) -> u64 {
    let mut next = u64::MAX;
    for c in &w.cpus {
        if c.current != c.idle_task {
            next = next.min(c.tick_at);
            next = next.min(w.now + w.tasks[c.current].left_ns);
        }
        next = next.min(c.wakes.first().map_or(u64::MAX, |wake| wake.0));
    }
    next = next.min(w.timers.values().filter_map(|timer| timer.due_at).min().unwrap_or(u64::MAX));
    next.min(w.frees.first().map_or(u64::MAX, |free| free.0))
}

fn collect(w: &World, to: &mut Vec<Choice>) {
    for (cpu, c) in w.cpus.iter().enumerate() {
        if c.interrupts_off == 0 {
            collect_interrupts(w, cpu, to);
        }
        let call = w.tasks[c.current].call.as_ref();
        if let Some(context) = c.stack.last().or(call)
            && w.is_over(context.wait)
        {
            to.push(Choice::Resume(cpu));
        }
        if !c.stack.is_empty() || c.interrupts_off > 0 || c.preemption_off > 0 {
            continue;
        }
        if c.wants_resched {
            to.push(Choice::Schedule(cpu, How::Preempted));
        } else if call.is_none() && c.current != c.idle_task && w.tasks[c.current].left_ns == 0 {
            to.push(Choice::Next(cpu));
        }
    }
}

fn collect_interrupts(w: &World, cpu: usize, to: &mut Vec<Choice>) {
    let c = &w.cpus[cpu];
    if c.has_kicks() {
        to.push(Choice::Interrupt(cpu, Irq::Kicks));
    }
    if c.current != c.idle_task && c.tick_at <= w.now {
        to.push(Choice::Interrupt(cpu, Irq::Tick));
    }
    if let Some(&(at, task)) = c.wakes.first()
        && at <= w.now
    {
        to.push(Choice::Interrupt(cpu, Irq::Wake(at, task)));
    }
    if !c.in_soft {
        for (&address, timer) in &w.timers {
            if timer.cpu == cpu && timer.due_at.is_some_and(|at| at <= w.now) {
                to.push(Choice::Interrupt(cpu, Irq::Timer(address)));
            }
        }
    }
    if let Some(&(at, task)) = w.frees.first()
        && at <= w.now
        && cpu == 0
    {
        to.push(Choice::Interrupt(cpu, Irq::Free(at, task)));
    }
}

fn take(choice: Choice) {
    world(|w| {
        let some_ns = match choice {
            Choice::Resume(_) => w.draw(1, 200),
            _ => w.draw(100, 1_500),
        };
        w.pass_to(w.now + some_ns);
    });
    if !matches!(choice, Choice::Resume(_)) {
        say(|_| format!("{choice:?}"));
    }
    match choice {
        Choice::Resume(cpu) => resume(cpu),
        Choice::Interrupt(cpu, irq) => interrupt(cpu, irq),
        Choice::Schedule(cpu, how) => call_scheduler(cpu, how),
        Choice::Next(cpu) => next(cpu),
    }
}

fn call_scheduler(cpu: usize, how: How) {
    world(|w| {
        w.cpus[cpu].interrupts_off += 1;
        w.cpus[cpu].stack.push(Context::new(Level::Schedule, move || schedule(cpu, how)));
    });
    resume(cpu);
}

fn interrupt(cpu: usize, irq: Irq) {
    let context = match irq {
        Irq::Kicks => Context::new(Level::Interrupt, move || carry_out_kicks(cpu)),
        Irq::Tick => {
            world(|w| {
                while w.cpus[cpu].tick_at <= w.now {
                    w.cpus[cpu].tick_at += TICK_NS;
                }
            });
            Context::new(Level::Interrupt, move || tick(cpu))
        }
        Irq::Wake(at, task) => {
            world(|w| w.cpus[cpu].wakes.remove(&(at, task)));
            Context::new(Level::Interrupt, move || wake_up(task))
        }
        Irq::Timer(address) => {
            world(|w| w.timers.get_mut(&address).expect("listed").due_at = None);
            Context::new(Level::Soft, move || timer(address))
        }
        Irq::Free(at, task) => {
            world(|w| w.frees.remove(&(at, task)));
            Context::new(Level::Interrupt, move || free(task))
        }
    };
    world(|w| {
        let c = &mut w.cpus[cpu];
        if context.level == Level::Soft {
            c.in_soft = true;
            c.preemption_off += 1;
        } else {
            c.interrupts_off += 1;
        }
        c.stack.push(context);
    });
    resume(cpu);
}

/// The callback of a timer of BPF.
fn timer(address: usize) {
    let timer = world(|w| w.timers[&address]);
    say(|_| format!("timer {} of {:#x}", timer.key, timer.map));
    // SAFETY: what the host has set as the timer's callback, which is one of its functions of that form.
    let callback: extern "C" fn(usize, *const u32, usize) -> i32 =
        unsafe { std::mem::transmute(timer.callback) };
    callback(timer.map, &raw const timer.key, timer.value);
}

/// The kernel gives up the record of a task (`sched_ext_free`).
fn free(task: TaskId) {
    if world(|w| std::mem::replace(&mut w.tasks[task].is_freed, true)) {
        return;
    }
    let cpu = world(|w| w.tasks[task].cpu);
    lock(Lock::Rq(cpu));
    if world(|w| w.tasks[task].class == Class::Ext) {
        callback(Callback("disable", Some(task), 0), |ops| (ops.disable)(raw(task)));
    }
    callback(Callback("exit_task", Some(task), 0), |ops| (ops.exit_task)(raw(task), std::ptr::null_mut()));
    unlock(Lock::Rq(cpu));
    world(|w| {
        w.tasks[task].storage.clear();
        w.tasks[task].call = None;
    });
}

/// The innermost code on the CPU goes on to the next place where others may go first.
fn resume(cpu: usize) {
    let (mut context, of_task) = world(|w| {
        w.here = cpu;
        match w.cpus[cpu].stack.pop() {
            Some(context) => (context, None),
            None => {
                let current = w.cpus[cpu].current;
                (w.tasks[current].call.take().expect("there is code to go on"), Some(current))
            }
        }
    });
    let result = context.fibre.resume();
    world(|w| match result {
        Some(wait) => {
            context.wait = wait;
            match of_task {
                Some(task) => w.tasks[task].call = Some(context),
                None => w.cpus[cpu].stack.push(context),
            }
        }
        None => ended(w, cpu, context.level),
    });
    if let (Some(Wait::Asleep(_)), Some(_)) = (result, of_task) {
        call_scheduler(cpu, How::Blocked);
    }
}

fn ended(w: &mut World, cpu: usize, level: Level) {
    let c = &mut w.cpus[cpu];
    match level {
        Level::Schedule | Level::Interrupt => c.interrupts_off -= 1,
        Level::Soft => {
            c.in_soft = false;
            c.preemption_off -= 1;
        }
        Level::Call => {}
    }
}

/// The thread on the CPU does what its program says next.
fn next(cpu: usize) {
    let (task, op) = world(|w| {
        w.here = cpu;
        let task = w.cpus[cpu].current;
        let t = &mut w.tasks[task];
        let op = if t.killed && t.raw.flags & PF_EXITING == 0 {
            Op::Exit
        } else {
            t.program.get(t.at).cloned().unwrap_or(Op::Exit)
        };
        t.at += 1;
        (task, op)
    });
    match op {
        Op::Compute(ns) => world(|w| w.tasks[task].left_ns = ns.max(1)),
        Op::Goto(at) => world(|w| w.tasks[task].at = at),
        Op::Repeat(at, times) => world(|w| {
            let t = &mut w.tasks[task];
            t.repeated += 1;
            if t.repeated <= times {
                t.at = at;
            } else {
                t.repeated = 0;
            }
        }),
        Op::Sleep(ns) => sleep(cpu, task, ns),
        Op::SleepUntil(at) => match at.checked_sub(world(|w| w.now)) {
            Some(ns) => sleep(cpu, task, ns),
            None => world(|w| w.fail(format!("{} comes too late to sleep until then", w.tasks[task].name))),
        },
        Op::Answered(is_refused) => world(|w| {
            if (w.tasks[task].answer != 0) != is_refused {
                w.fail(format!("{} has the answer {}", w.tasks[task].name, w.tasks[task].answer));
            }
        }),
        Op::Yield => call_scheduler(cpu, How::Yielded),
        Op::Call(call) => begin_call(cpu, task, move || calls::call(task, call)),
        Op::Exit => begin_call(cpu, task, move || calls::exit(task)),
        Op::Migrate => begin_call(cpu, task, move || calls::migrate(cpu)),
    }
}

fn begin_call(cpu: usize, task: TaskId, body: impl FnOnce() + 'static) {
    world(|w| w.tasks[task].call = Some(Context::new(Level::Call, body)));
    resume(cpu);
}

fn sleep(cpu: usize, task: TaskId, ns: u64) {
    world(|w| {
        if w.cpus[cpu].stopper == task && !w.cpus[cpu].to_move.is_empty() {
            return;
        }
        w.tasks[task].state = State::Blocked;
        if ns < FOR_EVER {
            let at = w.now + ns;
            w.cpus[cpu].wakes.insert((at, task));
        }
    });
    call_scheduler(cpu, How::Blocked);
}
