//! The words of the model: tasks, classes, queues, locks, what a thread does.

pub(crate) type TaskId = usize;

/// The time between two ticks of a CPU, in ns.
pub(crate) const TICK_NS: u64 = 4_000_000;
/// A sleep that nothing ends but a wake-up.
pub(crate) const FOR_EVER: u64 = u64::MAX / 4;

/// An instance, by what the model needs to know of it.
#[derive(Debug, Clone)]
pub(crate) struct Instance {
    pub cpus: Vec<usize>,
    pub tasks: u32,
    pub dedicated: Option<usize>,
}

pub(crate) const QUEUED: u32 = 1;
pub(crate) const PF_EXITING: u32 = 0x4;
pub(crate) const PF_KTHREAD: u32 = 0x0020_0000;

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
pub(crate) const WAKE_FORK: u64 = 4;
pub(crate) const WAKE_TTWU: u64 = 8;
pub(crate) const SLICE_DFL: u64 = 20_000_000;
pub(crate) const SLICE_INF: u64 = u64::MAX;
pub(crate) const QUEUE_LOCAL: u64 = 1 << 63 | 2;
pub(crate) const QUEUE_LOCAL_ON: u64 = 3 << 62;

/// The queue of tasks that may not go where they were sent.
pub(crate) const GLOBAL: u64 = u64::MAX;

/// A lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lock {
    /// Of a CPU's run queue.
    Rq(usize),
    /// Of a dispatch queue.
    Queue(u64),
    /// One of the host's, by its address.
    Host(usize),
}

/// For what code waits that others have gone before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Nothing,
    /// The lock is free, and those that came for it before this number have had it.
    Turn(Lock, u64),
    /// The dispatch of the task that is under way is over (`wait_ops_state`).
    Dispatched(TaskId),
    /// No CPU is at the task any more (`p->on_cpu`).
    OffCpu(TaskId),
    /// The task, whose call sleeps, is awake.
    Asleep(TaskId),
    /// Never: the run has ended.
    Ever,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// The scheduler: interrupts are off.
    Schedule,
    /// An interrupt: interrupts are off.
    Interrupt,
    /// The timers of BPF, in a soft interrupt: interrupts are on, and nothing preempts it.
    Soft,
    /// A system call of the current task.
    Call,
}

/// Scheduling policies, as user space numbers them.
pub const SCHED_NORMAL: u32 = 0;
/// The policy of the class above.
pub const SCHED_FIFO: u32 = 1;
/// What the scheduler's members have.
pub const SCHED_EXT: u32 = 7;

/// Scheduling classes, the one that goes first before others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Stop,
    RealTime,
    Ext,
    Idle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    Blocked,
    /// It is being woken up.
    Waking,
    Dead,
}

/// Where a task is between the kernel and the scheduler (`p->scx.ops_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Custody {
    None,
    Queueing(u64),
    Queued(u64),
    Dispatching,
}

/// A dispatch queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queue {
    Local(usize),
    Global,
    User(u64),
}

/// A system call of a thread.
#[derive(Debug, Clone)]
pub enum Call {
    /// `sched_setattr` on a thread.
    SetAttributes(usize, SetTo),
    /// `sched_setscheduler` on a thread, without parameters.
    SetScheduler(usize, u32),
    /// `sched_setaffinity`: a mask of CPUs.
    SetAffinity(usize, u64),
    /// A child with that program, and whether its scheduling is reset.
    Fork(Vec<Op>, bool),
    /// `execve`: the thread takes its leader's number if it is none.
    Exec,
    /// `setpriority` on a thread, to another nice value.
    SetNice(usize),
    /// SIGKILL for a thread that is its process.
    Kill(usize),
}

/// Parameters of `sched_setattr`, in ns.
#[derive(Debug, Clone, Copy)]
pub struct SetTo {
    /// `SCHED_*`.
    pub policy: u32,
    /// The budget.
    pub runtime_ns: u64,
    /// The period, and the relative deadline.
    pub period_ns: u64,
}

/// What a thread does.
#[derive(Debug, Clone)]
pub enum Op {
    /// It needs the CPU for so many ns.
    Compute(u64),
    /// It sleeps for so many ns.
    Sleep(u64),
    /// It sleeps until that instant, in ns, which is to come.
    SleepUntil(u64),
    /// Whether the call before was refused.
    Answered(bool),
    /// `sched_yield`: a job ends.
    Yield,
    /// It calls the kernel.
    Call(Call),
    /// It goes on from there.
    Goto(usize),
    /// It goes on from there so many times, then with what follows.
    Repeat(usize, u32),
    /// It ends.
    Exit,
    /// Of a stopper: it moves the running tasks away that may not be where they are.
    Migrate,
}
