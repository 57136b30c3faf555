//! A task as tests see it.

use laxity_model::{Speed, Task, TaskSet};

/// The longest time that a parameter may be, in ns (13 days): products of two parameters and sums of thousands fit into 128 bits,
/// and sums of thousands into 64.
pub const TIME_MAX: u64 = 1 << 50;

/// A sporadic task. Times are ns, at most [`TIME_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SporadicTask {
    /// Worst-case execution time C > 0.
    pub wcet_ns: u64,
    /// Relative deadline D > 0.
    pub deadline_rel_ns: u64,
    /// Least time between arrivals T > 0.
    pub period_ns: u64,
    /// Release jitter J: for how long a job that has arrived may be kept from the scheduler.
    pub jitter_ns: u64,
}

impl SporadicTask {
    /// A task with an implicit deadline and no jitter.
    pub fn implicit(wcet: u64, period: u64) -> Self {
        Self::constrained(wcet, period, period)
    }

    /// A task without jitter.
    pub fn constrained(wcet: u64, deadline: u64, period: u64) -> Self {
        SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, period_ns: period, jitter_ns: 0 }
    }

    /// The real-time tasks of a set, in their order.
    pub fn of_set(set: &TaskSet) -> Vec<Self> {
        set.real_time().map(|(_, task)| Self::from(task)).collect()
    }

    /// The task on a processor of this speed: its jobs take longer there, rounded up to whole ns.
    #[must_use]
    pub fn at_speed(self, speed: Speed) -> Self {
        SporadicTask { wcet_ns: speed.time_for(self.wcet_ns), ..self }
    }

    /// min(D, T), the window in which density counts C.
    pub fn density_window(&self) -> u64 {
        self.deadline_rel_ns.min(self.period_ns)
    }
}

impl From<&Task> for SporadicTask {
    fn from(task: &Task) -> Self {
        Self::constrained(task.wcet.as_ns(), task.deadline_rel.as_ns(), task.period().as_ns())
    }
}
