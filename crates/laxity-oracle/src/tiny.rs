//! Task sets that are small enough to try them all.
//!
//! 1. Every combination of tasks is made, in every order: ids decide ties, so order matters.
//! 2. All numbers are multiples of one unit; C <= min(D, T), as every task set has it.
//! 3. The load may exceed the CPUs: overload is part of what a scheduler defines.

use laxity_model::{Duration, Task, TaskSet, gcd};

/// How small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Sets have 1 to this many tasks.
    pub tasks_max: usize,
    /// Largest period T, in units; C and D are bounded by it.
    pub period_max_units: u64,
    /// D goes from C to T plus this, in units.
    pub deadline_beyond_period_units: u64,
    /// Phases go from 0 to this, in units.
    pub phase_max_units: u64,
    /// The unit.
    pub unit: Duration,
}

/// All tasks within the limits: C, T, D and phase.
fn tasks(limits: Limits) -> Vec<Task> {
    let mut all = Vec::new();
    for period in 1..=limits.period_max_units {
        for wcet in 1..=period {
            for deadline_rel in wcet..=period + limits.deadline_beyond_period_units {
                for phase in 0..=limits.phase_max_units {
                    let unit = limits.unit;
                    let task = Task::periodic("", unit * wcet, unit * period);
                    all.push(Task { deadline_rel: unit * deadline_rel, phase: unit * phase, ..task });
                }
            }
        }
    }
    all
}

/// How many sets [`sets`] makes.
pub fn count(limits: Limits) -> u64 {
    let tasks = tasks(limits).len() as u64;
    (1..=limits.tasks_max).map(|n| tasks.pow(u32::try_from(n).expect("a few tasks"))).sum()
}

/// All sets within the limits, the smallest first.
pub fn sets(limits: Limits) -> impl Iterator<Item = TaskSet> {
    let tasks = tasks(limits);
    (1..=limits.tasks_max).flat_map(move |n| {
        let tasks = tasks.clone();
        let combinations = tasks.len().pow(u32::try_from(n).expect("a few tasks"));
        (0..combinations).map(move |number| set(&tasks, n, number))
    })
}

/// The `number`-th set of `n` tasks: its digits in base `tasks.len()` say which.
fn set(tasks: &[Task], n: usize, number: usize) -> TaskSet {
    let mut rest = number;
    let chosen = (0..n).map(|id| {
        let task = tasks[rest % tasks.len()].clone();
        rest /= tasks.len();
        Task { name: format!("t{id}"), ..task }
    });
    TaskSet::new(format!("tiny {n}.{number}"), chosen.collect()).expect("within the rules of every set")
}

/// When everything that a set can do has been seen for a while: its phases and two hyperperiods.
pub fn span(set: &TaskSet) -> Duration {
    let hyperperiod = set.tasks().iter().map(|task| task.period().as_ns()).fold(1, |l, t| l / gcd(l, t) * t);
    let phase = set.tasks().iter().map(|task| task.phase).max().unwrap_or_default();
    phase + Duration::from_ns(hyperperiod) * 2
}
