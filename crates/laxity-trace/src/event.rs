//! What happened when: the one event schema of the simulator and the kernel.
//!
//! 1. Events are in time order; those of one instant are in the order in which they took effect.
//! 2. A job runs on a CPU from its `start`, `resume` or `migrate` there to its next `preempt`, `block`, `throttle`,
//!    `complete` or `abort`: half-open intervals `[from, to)`, none of them empty but that of a job that gets a CPU when it is
//!    late, and aborts at once.
//! 3. Kernel work on a CPU (the kinds whose argument is a length) takes the time from the job that runs there: the job
//!    keeps the CPU but does not progress.

/// Declares the kinds once, each with its name in results.
macro_rules! event_kinds {
    ($($(#[$documentation:meta])* $kind:ident = $name:literal,)*) => {
        /// What kind of event. The names in results are in kebab case.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum EventKind {
            $($(#[$documentation])* $kind,)*
        }

        impl EventKind {
            /// All kinds, in the order of their codes.
            pub const ALL: [EventKind; [$($name),*].len()] = [$(EventKind::$kind),*];

            /// The name in results.
            pub fn name(self) -> &'static str {
                match self {
                    $(EventKind::$kind => $name,)*
                }
            }
        }
    };
}

event_kinds! {
    /// A job arrived. Time is its nominal release, argument its absolute deadline in ns.
    Release = "release",
    /// A job runs for the first time. Argument: the CPU on which its task ran last, if another.
    Start = "start",
    /// A running job is stopped for another one.
    Preempt = "preempt",
    /// A stopped job goes on where it ran before.
    Resume = "resume",
    /// A stopped job goes on elsewhere. Argument: the CPU it comes from.
    Migrate = "migrate",
    /// A running job blocks.
    Block = "block",
    /// A blocked job is ready again.
    Wake = "wake",
    /// A job has done its work. Argument: its absolute deadline in ns.
    Complete = "complete",
    /// A running job has used up its budget and waits for the next replenishment.
    Throttle = "throttle",
    /// A throttled job has a new budget. Argument: the absolute deadline it now has, in ns.
    Replenish = "replenish",
    /// A running job has used up its budget and goes on with a later deadline. Argument: that deadline in ns.
    Postpone = "postpone",
    /// The deadline of a job passed before it was complete.
    DeadlineMiss = "deadline-miss",
    /// A task enters the system: the first of its jobs may arrive from now on.
    Enter = "enter",
    /// A task leaves the system: no more of its jobs arrive.
    Leave = "leave",
    /// A CPU is asked to reschedule; time and CPU are where the interrupt arrives. Argument: the CPU that sent it.
    Ipi = "ipi",
    /// Kernel work: a release interrupt is handled. Argument: how long, in ns.
    ReleaseOverhead = "release-overhead",
    /// Kernel work: a scheduling decision. Argument: how long, in ns.
    SchedulingOverhead = "scheduling-overhead",
    /// Kernel work: a context switch. Argument: how long, in ns.
    SwitchOverhead = "switch-overhead",
    /// Kernel work: a timer tick. Argument: how long, in ns.
    TickOverhead = "tick-overhead",
    /// Kernel work: the dedicated scheduling processor handles a message. Argument: how long, in ns.
    DspOverhead = "dsp-overhead",
    /// A CPU spins for a lock. Argument: how long, in ns.
    LockWait = "lock-wait",
    /// A job's caches are cold after a preemption or migration. Argument: how much longer it runs, in ns.
    CacheDelay = "cache-delay",
    /// The dedicated scheduling processor takes a message. Argument: the CPU that sent it.
    DspMessage = "dsp-message",
    /// A message had been overtaken by events.
    StaleMessage = "stale-message",
    /// Two CPUs exchanged the tasks they were to run. Argument: the other CPU.
    LinkSwap = "link-swap",
    /// A waiting job moved to another CPU's queue. Argument: that CPU.
    Push = "push",
    /// A push found that its target had changed and is tried again. Argument: the target CPU.
    PushFailed = "push-failed",
    /// A push was given up. Argument: the CPU that it was to go to in the end.
    PushAbandoned = "push-abandoned",
    /// A waiting job was fetched from another CPU's queue. Argument: that CPU.
    Pull = "pull",
    /// A pull found nothing any more. Argument: the CPU it was from.
    PullFailed = "pull-failed",
    /// A background task runs. Argument: its id; or task and job, where it is one of the set that is in the background at the time.
    BackgroundStart = "background-start",
    /// A background task stops running. As above.
    BackgroundStop = "background-stop",
    /// A running job that is late stops without having done its work. Argument: its absolute deadline in ns.
    Abort = "abort",
    /// A release passes without a job, because an earlier one of the task is late. Time is the nominal release; the job that
    /// there is not has a number all the same.
    Skip = "skip",
    /// A task is a real-time task of the CPU from now on. Job: the first one of which that is so.
    Promote = "promote",
    /// A task is in the background from now on, which was a real-time task of the CPU. Job: the one that it is at.
    Demote = "demote",
    /// The deferrable server of the CPU begins a period of another length, or the first one of another budget. Argument: its length,
    /// in ns. Its budget follows.
    ServerPeriod = "server-period",
    /// See above. Argument: the budget in ns.
    ServerBudget = "server-budget",
    /// A background task waits from now on: for the CPU, or without one for any. It does until it runs, or is promoted. Argument: its
    /// id; or task and job, as above. Only where background work has a reserve, under which that matters.
    BackgroundWait = "background-wait",
    /// Something above the scheduler takes the CPU: no task runs there until it is there again. Only simulations have these two.
    Withdraw = "withdraw",
    /// The CPU is there again.
    Restore = "restore",
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
        matches!(self, EventKind::Preempt | EventKind::Block | EventKind::Throttle) || self.ends_job()
    }

    /// Whether a job is over with it: it has done its work, or does not go on.
    pub fn ends_job(self) -> bool {
        matches!(self, EventKind::Complete | EventKind::Abort)
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
