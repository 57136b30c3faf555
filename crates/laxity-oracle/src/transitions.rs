//! Which deviations from a definition are tolerated, because a real scheduler takes time.
//!
//! A job that becomes ready, or one that may run because another has ended, runs when the news has come through. What
//! can be on the way, by [`Structure`]; `[x]` is a latency that no event shows before it is over, all else is kernel work
//! that is recorded:
//!
//! ```text
//! Linked     release:  [release latency]  release section on the CPU of the timer, then as a decision
//! (one lock) ending:   scheduling section on the CPU where the job ended, then as a decision
//!            decision: [IPI] to the CPU that the job is linked to, unless it was made there
//!                      scheduling section, switch section on that CPU: the job runs
//!
//! Messages   release:  [release latency]  release section on the dedicated CPU, its steps, then as a decision
//! (one CPU   ending:   scheduling section on the CPU where the job ended
//! decides)             [mailbox]  message section on the dedicated CPU, its steps, then as a decision
//!            decision: [IPI]  scheduling section, switch section on the client: the job runs
//!
//! Queues     release:  [release latency]  release section on the CPU of the timer, its steps: enqueue, push
//! (a lock    ending:   scheduling section on the CPU where the job ended, its steps: pull; it decides for itself
//! per CPU)   enqueued, pushed or pulled: [IPI] to the CPU that now has the job, unless it acts itself
//!                      scheduling section, its steps: push what waits; switch section: the job runs
//! ```
//!
//! Every section may wait for its locks and behind other work on its CPU; both are recorded. In every structure a
//! decision may send a job that has not begun yet elsewhere: then the way from the decision on is gone once more. So the
//! number of latencies in a row has no bound in advance, but each shows in the trace when it is over, and is tolerated
//! where it shows (`verification/windows.rs` says which time explains the waiting of which job).

use laxity_model::{Duration, Structure};

/// Declared windows in which a schedule may differ from its definition. The default tolerates nothing.
///
/// A deviation is a job that should run and does not, from the instant at which that becomes so to the one at which it
/// ends: because the job runs, or because it should no longer. Another event that makes another job deviate begins
/// another window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transitions {
    /// This much of a deviation is tolerated without a reason; also how late a replenishment, a throttling or a record of
    /// a missed deadline may be.
    pub bound: Duration,
    /// Whether the kernel's work and what is on its way explain a deviation: that time does not count towards `bound`.
    pub kernel: Option<KernelWindows>,
    /// Whether the jobs that wait when a push is given up (push-pull, after its bounded number of failures) may wait until
    /// they run next: its own job, and those queued behind it. That the push had a reason is checked.
    pub abandoned_pushes: bool,
}

/// How decisions come about and travel, and how long they do at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelWindows {
    /// What a decision is, and which part of the scheduler makes it.
    pub structure: Structure,
    /// From a release or replenishment until its interrupt arrives.
    pub release_latency: Duration,
    /// From a decision until the CPU that it concerns is interrupted.
    pub ipi: Duration,
    /// From an ending until the message of it arrives.
    pub mailbox: Duration,
}

impl KernelWindows {
    /// The longest latency that shows only when it is over.
    pub(crate) fn hindsight(&self) -> u64 {
        self.ipi.max(self.mailbox).as_ns()
    }
}

impl Transitions {
    /// Tolerates nothing.
    pub const NONE: Transitions =
        Transitions { bound: Duration::ZERO, kernel: None, abandoned_pushes: false };
}
