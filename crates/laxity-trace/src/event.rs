//! What happened when: the one event schema of the simulator and the kernel.
//!
//! 1. Events are in time order; those of one instant are in the order in which they took effect.
//! 2. A job runs on a CPU from its `start`, `resume` or `migrate` there to its next `preempt`, `block`, `throttle` or
//!    `complete`: half-open intervals `[from, to)`, none of them empty.
//! 3. Kernel work on a CPU (the kinds whose argument is a length) takes the time from the job that runs there: the job
//!    keeps the CPU but does not progress.

/// What kind of event. The names in results are in kebab case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EventKind {
    /// A job arrived. Time is its nominal release, argument its absolute deadline in ns.
    Release,
    /// A job runs for the first time. Argument: the CPU on which its task ran last, if another.
    Start,
    /// A running job is stopped for another one.
    Preempt,
    /// A stopped job goes on where it ran before.
    Resume,
    /// A stopped job goes on elsewhere. Argument: the CPU it comes from.
    Migrate,
    /// A running job blocks.
    Block,
    /// A blocked job is ready again.
    Wake,
    /// A job has done its work. Argument: its absolute deadline in ns.
    Complete,
    /// A running job has used up its budget and waits for the next replenishment.
    Throttle,
    /// A throttled job has a new budget. Argument: the absolute deadline it now has, in ns.
    Replenish,
    /// A running job has used up its budget and goes on with a later deadline. Argument: that deadline in ns.
    Postpone,
    /// The deadline of a job passed before it was complete.
    DeadlineMiss,
    /// A task enters the system: the first of its jobs may arrive from now on.
    Enter,
    /// A task leaves the system: no more of its jobs arrive.
    Leave,
    /// A CPU is asked to reschedule; time and CPU are where the interrupt arrives. Argument: the CPU that sent it.
    Ipi,
    /// Kernel work: a release interrupt is handled. Argument: how long, in ns.
    ReleaseOverhead,
    /// Kernel work: a scheduling decision. Argument: how long, in ns.
    SchedulingOverhead,
    /// Kernel work: a context switch. Argument: how long, in ns.
    SwitchOverhead,
    /// Kernel work: a timer tick. Argument: how long, in ns.
    TickOverhead,
    /// Kernel work: the dedicated scheduling processor handles a message. Argument: how long, in ns.
    DspOverhead,
    /// A CPU spins for a lock. Argument: how long, in ns.
    LockWait,
    /// A job's caches are cold after a preemption or migration. Argument: how much longer it runs, in ns.
    CacheDelay,
    /// The dedicated scheduling processor takes a message. Argument: the CPU that sent it.
    DspMessage,
    /// A message had been overtaken by events.
    StaleMessage,
    /// Two CPUs exchanged the tasks they were to run. Argument: the other CPU.
    LinkSwap,
    /// A waiting job moved to another CPU's queue. Argument: that CPU.
    Push,
    /// A push found that its target had changed and is tried again. Argument: the target CPU.
    PushFailed,
    /// A push was given up.
    PushAbandoned,
    /// A waiting job was fetched from another CPU's queue. Argument: that CPU.
    Pull,
    /// A pull found nothing any more. Argument: the CPU it was from.
    PullFailed,
    /// A background task runs. Argument: its id.
    BackgroundStart,
    /// A background task stops running. Argument: its id.
    BackgroundStop,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When, in ns since the synchronous release.
    pub time_ns: u64,
    /// What.
    pub kind: EventKind,
    /// On which CPU, where that has meaning.
    pub cpu: Option<u32>,
    /// Id of the task: its index in the set.
    pub task: Option<u32>,
    /// Number of the job in its task, from 0.
    pub job: Option<u32>,
    /// What the kind says.
    pub argument: Option<u64>,
}

impl EventKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [EventKind; 32] = {
        use EventKind::*;
        [
            Release,
            Start,
            Preempt,
            Resume,
            Migrate,
            Block,
            Wake,
            Complete,
            Throttle,
            Replenish,
            Postpone,
            DeadlineMiss,
            Enter,
            Leave,
            Ipi,
            ReleaseOverhead,
            SchedulingOverhead,
            SwitchOverhead,
            TickOverhead,
            DspOverhead,
            LockWait,
            CacheDelay,
            DspMessage,
            StaleMessage,
            LinkSwap,
            Push,
            PushFailed,
            PushAbandoned,
            Pull,
            PullFailed,
            BackgroundStart,
            BackgroundStop,
        ]
    };

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Release => "release",
            EventKind::Start => "start",
            EventKind::Preempt => "preempt",
            EventKind::Resume => "resume",
            EventKind::Migrate => "migrate",
            EventKind::Block => "block",
            EventKind::Wake => "wake",
            EventKind::Complete => "complete",
            EventKind::Throttle => "throttle",
            EventKind::Replenish => "replenish",
            EventKind::Postpone => "postpone",
            EventKind::DeadlineMiss => "deadline-miss",
            EventKind::Enter => "enter",
            EventKind::Leave => "leave",
            EventKind::Ipi => "ipi",
            EventKind::ReleaseOverhead => "release-overhead",
            EventKind::SchedulingOverhead => "scheduling-overhead",
            EventKind::SwitchOverhead => "switch-overhead",
            EventKind::TickOverhead => "tick-overhead",
            EventKind::DspOverhead => "dsp-overhead",
            EventKind::LockWait => "lock-wait",
            EventKind::CacheDelay => "cache-delay",
            EventKind::DspMessage => "dsp-message",
            EventKind::StaleMessage => "stale-message",
            EventKind::LinkSwap => "link-swap",
            EventKind::Push => "push",
            EventKind::PushFailed => "push-failed",
            EventKind::PushAbandoned => "push-abandoned",
            EventKind::Pull => "pull",
            EventKind::PullFailed => "pull-failed",
            EventKind::BackgroundStart => "background-start",
            EventKind::BackgroundStop => "background-stop",
        }
    }

    /// The code in binary traces: its place in [`EventKind::ALL`].
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Whether a job begins to occupy the event's CPU.
    pub fn begins_running(self) -> bool {
        matches!(self, EventKind::Start | EventKind::Resume | EventKind::Migrate)
    }

    /// Whether a job ceases to occupy the event's CPU.
    pub fn ends_running(self) -> bool {
        matches!(self, EventKind::Preempt | EventKind::Block | EventKind::Throttle | EventKind::Complete)
    }

    /// Whether the argument is a length of kernel work on the event's CPU.
    pub fn is_overhead(self) -> bool {
        use EventKind::*;
        matches!(
            self,
            ReleaseOverhead | SchedulingOverhead | SwitchOverhead | TickOverhead | DspOverhead | LockWait
        )
    }
}
