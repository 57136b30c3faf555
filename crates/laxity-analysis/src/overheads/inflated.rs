//! What accounting makes of tasks.

use crate::{SporadicTask, TIME_MAX, Verdict};
use std::fmt;

/// Tasks whose parameters contain the overheads: if a test accepts them on processors on which scheduling costs nothing,
/// the tasks as given meet the same guarantee where it does cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inflated {
    /// First interrupts in the guise of tasks (only under fixed priorities), then the tasks in the order given.
    pub tasks: Vec<SporadicTask>,
    /// How many of them are interrupts.
    pub interrupts: usize,
    /// How much overhead ate of each task given.
    pub eaten: Vec<Eaten>,
}

/// How much overhead ate of a task, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Eaten {
    /// C' - C.
    pub wcet_ns: u64,
    /// D - D'.
    pub deadline_rel_ns: u64,
    /// T - T'.
    pub period_ns: u64,
    /// J' - J.
    pub jitter_ns: u64,
}

/// Overheads leave no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejected {
    /// The first task for which that is so; nothing if it is so for all.
    pub task: Option<usize>,
    /// Why.
    pub reason: RejectedWhy,
}

/// Why overheads leave no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RejectedWhy {
    /// It is no task to begin with: a time is 0 or exceeds [`TIME_MAX`].
    NoTask,
    /// Interrupts take all of the processor's time.
    InterruptOverload,
    /// No time of a quantum is left for work.
    QuantumOverload,
    /// Nothing is left of T or D.
    NoWindow,
    /// C' exceeds min(T', D'), or J' + C' exceeds D'.
    Overrun,
    /// The same of quanta: nothing is left of T or D where a job waits for the next one.
    QuantumWindow,
    /// The same of quanta: C' in whole ones exceeds min(T', D').
    QuantumOverrun,
}

impl RejectedWhy {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            RejectedWhy::NoTask => "0 < C, D, T and C, D, T, J <= 2^50 ns do not hold",
            RejectedWhy::InterruptOverload => "interrupts take all of the CPU's time",
            RejectedWhy::QuantumOverload => "overheads take all of the quantum",
            RejectedWhy::NoWindow => "overheads take all of the period or of the time to the deadline",
            RejectedWhy::Overrun => {
                "with overheads it needs more than its period, or than the time to its deadline"
            }
            RejectedWhy::QuantumWindow => {
                "a job that waits for the next quantum has none left in its period, or until its deadline"
            }
            RejectedWhy::QuantumOverrun => {
                "in whole quanta it needs more than is left of its period, or of the time to its deadline"
            }
        }
    }
}

impl Rejected {
    pub(super) fn at(task: usize, reason: RejectedWhy) -> Self {
        Rejected { task: Some(task), reason }
    }

    pub(super) fn all(reason: RejectedWhy) -> Self {
        Rejected { task: None, reason }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            Some(task) => write!(f, "task {task} (counted from 0): {}", self.reason.text()),
            None => f.write_str(self.reason.text()),
        }
    }
}

impl From<Rejected> for Verdict {
    fn from(rejected: Rejected) -> Self {
        match (rejected.reason, rejected.task) {
            (RejectedWhy::NoTask, task) => Verdict::needs("0 < C, D, T and C, D, T, J <= 2^50 ns", task),
            (_, Some(task)) => Verdict::fails_at(task),
            (_, None) => Verdict::FAILS,
        }
    }
}

/// Refuses what is no task, so that nothing overflows. Panics unless there is a working set for each task.
pub(super) fn check(tasks: &[SporadicTask], working_sets: &[u64]) -> Result<(), Rejected> {
    assert_eq!(tasks.len(), working_sets.len(), "a working set for each task");
    let no_task = |task: &SporadicTask| {
        [task.wcet_ns, task.deadline_rel_ns, task.period_ns]
            .iter()
            .any(|&value| value == 0 || value > TIME_MAX)
            || task.jitter_ns > TIME_MAX
    };
    let at = tasks.iter().position(no_task);
    at.map_or(Ok(()), |task| Err(Rejected::at(task, RejectedWhy::NoTask)))
}

impl Inflated {
    /// Inflates each task; refuses the first that becomes impossible.
    pub(super) fn of(
        given: &[SporadicTask],
        mut inflated: impl FnMut(usize, &SporadicTask) -> Result<SporadicTask, RejectedWhy>,
    ) -> Result<Self, Rejected> {
        let mut tasks = Vec::with_capacity(given.len());
        let mut eaten = Vec::with_capacity(given.len());
        for (place, before) in given.iter().enumerate() {
            let after = inflated(place, before).map_err(|reason| Rejected::at(place, reason))?;
            let fits = after.wcet_ns <= after.density_window()
                && after.jitter_ns + after.wcet_ns <= after.deadline_rel_ns;
            if !fits {
                return Err(Rejected::at(place, RejectedWhy::Overrun));
            }
            eaten.push(Eaten {
                wcet_ns: after.wcet_ns - before.wcet_ns,
                deadline_rel_ns: before.deadline_rel_ns - after.deadline_rel_ns,
                period_ns: before.period_ns - after.period_ns,
                jitter_ns: after.jitter_ns - before.jitter_ns,
            });
            tasks.push(after);
        }
        Ok(Inflated { tasks, interrupts: 0, eaten })
    }
}
