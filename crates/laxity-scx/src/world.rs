//! All that there is in a run, and the one place that holds it: the host calls the kernel by functions without a context.

use crate::called::{Callback, Called};
use crate::cpu::Cpu;
use crate::host::Host;
use crate::maps::Maps;
use crate::parts::{Class, FOR_EVER, GLOBAL, Instance, Lock, Op, PF_KTHREAD, State, TICK_NS, TaskId, Wait};
use crate::raw::{Cred, Ops, TaskStruct, UserNamespace};
use crate::records::Recorder;
use crate::thread::Task;
use laxity_kernel::RunningServer;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A timer of BPF, by its address.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Timer {
    pub map: usize,
    pub key: u32,
    pub value: usize,
    pub callback: usize,
    pub cpu: usize,
    /// In ns; `None`: it is not set.
    pub due_at: Option<u64>,
}

/// Why a run has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// In words.
    pub why: String,
    /// When, in ns.
    pub at_ns: u64,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at {} ns: {}", self.at_ns, self.why)
    }
}

pub(crate) struct World {
    pub host: Host,
    pub now: u64,
    /// The CPU whose code runs.
    pub here: usize,
    pub cpus: Vec<Cpu>,
    pub tasks: Vec<Task>,
    pub queues: BTreeMap<u64, Vec<TaskId>>,
    pub held: BTreeSet<Lock>,
    /// Those that wait for each lock, by numbers that grow.
    pub waiting: BTreeMap<Lock, VecDeque<u64>>,
    pub timers: BTreeMap<usize, Timer>,
    pub maps: Maps,
    pub recorder: Recorder,
    /// The servers of CPUs, as the host has answered.
    pub servers: Vec<RunningServer>,
    /// Tasks whose record the kernel gives up: when, and which.
    pub frees: BTreeSet<(u64, TaskId)>,
    pub next_pid: i32,
    pub instances: Vec<Instance>,
    pub fault: Option<Fault>,
    pub speaks: bool,
    /// Interrupts and preemption come as soon as they can.
    pub is_prompt: bool,
    /// The callbacks so far, if they are noted.
    pub called: Option<Vec<Called>>,
    pub events: u64,
    /// How long a member that can run waits at most, in ns.
    pub patience_ns: u64,
    /// For how long bound kernel threads may keep a job from its CPU in each window; `None`: that is not looked at.
    pub bound_ns: Option<u64>,
    rng: Pcg64,
    /// Of so many places where others may go first, they do at one.
    others_one_in: u32,
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// A look at the world, or a change of it. No code of the host or of other contexts runs in there.
pub(crate) fn world<R>(f: impl FnOnce(&mut World) -> R) -> R {
    WORLD.with_borrow_mut(|w| f(w.as_mut().expect("a run is under way")))
}

/// The world of a run takes its place; the one before is gone.
pub(crate) fn enter(w: Option<World>) {
    let before = WORLD.with_borrow_mut(|place| std::mem::replace(place, w));
    drop(before);
}

/// A line of the log, if there is one.
pub(crate) fn say(line: impl FnOnce(&World) -> String) {
    world(|w| {
        if w.speaks {
            println!("{:>12} cpu {} {}", w.now, w.here, line(w));
        }
    });
}

/// What runs on the CPU is asked to call the scheduler (`resched_curr`).
pub(crate) fn resched(cpu: usize) {
    world(|w| w.cpus[cpu].wants_resched = true);
}

const PRIVILEGES: u64 = 1 << 23;

struct Creds(UserNamespace);

static ROOT_NAMESPACE: Creds = Creds(UserNamespace { level: 0 });

/// What a thread may: set others' scheduling, or not.
pub(crate) fn cred(is_privileged: bool) -> &'static Cred {
    Box::leak(Box::new(Cred {
        user_ns: &raw const ROOT_NAMESPACE.0,
        cap_effective: if is_privileged { PRIVILEGES } else { 0 },
    }))
}

impl World {
    pub(crate) fn new(host: Host, cpus: usize, seed: u64, speaks: bool) -> World {
        let mut w = World {
            host,
            now: 1_000_000_000,
            here: 0,
            cpus: Vec::new(),
            tasks: Vec::new(),
            queues: BTreeMap::from([(GLOBAL, Vec::new())]),
            held: BTreeSet::new(),
            waiting: BTreeMap::new(),
            timers: BTreeMap::new(),
            maps: Maps::new(host.table().trace_rings),
            recorder: Recorder::default(),
            servers: Vec::new(),
            frees: BTreeSet::new(),
            next_pid: 100,
            instances: Vec::new(),
            fault: None,
            speaks,
            is_prompt: false,
            called: None,
            events: 0,
            patience_ns: u64::MAX,
            bound_ns: None,
            rng: Pcg64::seed_from_u64(seed),
            others_one_in: 1,
        };
        w.others_one_in = [1, 2, 4, 16, 64][w.below(5)];
        let cred = cred(true);
        for cpu in 0..cpus {
            let idle = w.add(Task::new(format!("idle/{cpu}"), Class::Idle, 0, cred, cpu, 1 << cpu));
            let pid = w.take_pid();
            let stopper = w.add(Task::new(format!("migration/{cpu}"), Class::Stop, pid, cred, cpu, 1 << cpu));
            w.tasks[idle].raw.on_cpu = 1;
            w.tasks[stopper].raw.flags |= PF_KTHREAD;
            w.tasks[stopper].program = vec![Op::Migrate, Op::Sleep(FOR_EVER), Op::Goto(0)];
            let tick_at = w.now + w.draw(0, TICK_NS);
            w.cpus.push(Cpu::new(idle, stopper, tick_at));
        }
        w
    }

    /// Whether what code waits for is there.
    pub(crate) fn is_over(&self, wait: Wait) -> bool {
        match wait {
            Wait::Nothing => true,
            Wait::Turn(lock, number) => {
                let first = self.waiting.get(&lock).and_then(|waiting| waiting.front());
                !self.held.contains(&lock) && first == Some(&number)
            }
            Wait::Dispatched(task) => !self.tasks[task].is_being_dispatched(),
            Wait::OffCpu(task) => self.tasks[task].raw.on_cpu == 0,
            Wait::Asleep(task) => self.tasks[task].state == State::Running,
            Wait::Ever => false,
        }
    }

    pub(crate) fn add(&mut self, mut task: Task) -> TaskId {
        task.leader = self.tasks.len();
        self.tasks.push(task);
        self.tasks.len() - 1
    }

    pub(crate) fn take_pid(&mut self) -> i32 {
        self.next_pid += 1;
        self.next_pid
    }

    pub(crate) fn note(&mut self, Callback(callback, task, argument): Callback) {
        let cpu = task.map_or(self.here, |task| self.tasks[task].cpu);
        if self.speaks {
            let name = task.map_or("", |task| &self.tasks[task].name);
            println!("{:>12} cpu {} {callback} {name} {argument:#x}", self.now, self.here);
        }
        let called = Called { at_ns: self.now, cpu, task, callback, argument };
        if let Some(all) = &mut self.called {
            all.push(called);
        }
    }

    /// A number of `from..to`.
    pub(crate) fn draw(&mut self, from: u64, to: u64) -> u64 {
        if from >= to { from } else { self.rng.random_range(from..to) }
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.rng.random_range(0..end)
    }

    pub(crate) fn lets_others(&mut self) -> bool {
        self.events += 1;
        let one_in = self.others_one_in;
        one_in == 1 || self.rng.random_range(0..one_in) == 0
    }

    pub(crate) fn random(&mut self) -> u32 {
        self.rng.random()
    }

    pub(crate) fn ops(&self) -> &'static Ops {
        // SAFETY: the host's table points to its constant operations.
        unsafe { &*self.host.table().ops }
    }

    /// Interrupts and preemption come as soon as they can: at each place where others may go first, they do.
    pub(crate) fn becomes_prompt(&mut self) {
        self.is_prompt = true;
        self.others_one_in = 1;
    }

    /// The task whose kernel record that is.
    pub(crate) fn task_of(&self, raw: *const TaskStruct) -> TaskId {
        self.tasks
            .iter()
            .rposition(|task| std::ptr::eq(&raw const *task.raw, raw))
            .expect("a record of this world")
    }

    pub(crate) fn raw(&mut self, task: TaskId) -> *mut TaskStruct {
        &raw mut *self.tasks[task].raw
    }

    pub(crate) fn current(&self) -> TaskId {
        self.cpus[self.here].current
    }

    /// The task has left its last CPU.
    pub(crate) fn bury(&mut self, task: TaskId) {
        let leader = self.tasks[task].leader;
        let others = |w: &World, task: TaskId| {
            (0..w.tasks.len()).any(|t| {
                t != task && w.tasks[t].leader == w.tasks[task].leader && w.tasks[t].state != State::Dead
            })
        };
        // A leader's record stays while it has threads.
        if leader != task || !others(self, task) {
            self.free_later(task);
        }
        if leader != task && self.tasks[leader].state == State::Dead && !others(self, leader) {
            self.free_later(leader);
        }
    }

    /// The last reference to the task's record is given back some time from now.
    pub(crate) fn free_later(&mut self, task: TaskId) {
        let at = self.now + self.draw(0, 20_000_000);
        self.frees.insert((at, task));
    }

    pub(crate) fn fail(&mut self, why: String) {
        let at_ns = self.now;
        self.fault.get_or_insert(Fault { why, at_ns });
    }

    /// Time goes on to that instant, and tasks with it.
    pub(crate) fn pass_to(&mut self, now: u64) {
        let passed_ns = now.saturating_sub(self.now);
        for cpu in &self.cpus {
            let task = &mut self.tasks[cpu.current];
            if cpu.is_in_user_mode() && task.call.is_none() {
                task.left_ns = task.left_ns.saturating_sub(passed_ns);
            }
        }
        self.now = self.now.max(now);
    }
}
