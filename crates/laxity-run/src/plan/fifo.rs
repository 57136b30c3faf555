//! Priorities of SCHED_FIFO for a cell.

use crate::limits::KernelLimits;
use crate::sched::Policy;
use laxity_model::{Cell, Duration, FIFO_LEVELS, LoadSum, PriorityRule, TaskSet};
use std::cmp::Ordering;

/// Highest SCHED_FIFO priority a task gets; the guardian runs above it.
pub const TASK_PRIORITY_MAX: u32 = 98;
/// Lowest SCHED_FIFO priority a task gets.
pub(super) const TASK_PRIORITY_MIN: u32 = 2;
const _: () = assert!((TASK_PRIORITY_MAX - TASK_PRIORITY_MIN + 1) as usize == FIFO_LEVELS);
/// SCHED_FIFO priority of the guardian.
pub const GUARDIAN_PRIORITY: u32 = 99;

/// Says so where the kernel stops tasks of this class (SCHED_FIFO, SCHED_RR), whose misses would look like those of its priorities.
pub(super) fn note_throttling(
    set: &TaskSet,
    class: &str,
    cell: &Cell,
    limits: KernelLimits,
    notes: &mut Vec<String>,
) {
    let Some((stopped, period)) = limits.throttled_ns() else { return };
    let mut load = LoadSum::new();
    cell.tasks.iter().for_each(|&id| load.add(set.tasks()[id].wcet, set.tasks()[id].period()));
    if load.cmp_ratio((period - stopped) * cell.cpus.len() as u64, period) == Ordering::Greater {
        let [stopped, period] = [stopped, period].map(Duration::from_ns);
        notes.push(format!(
            "CPUs {}: their load exceeds sched_rt_runtime_us; this kernel stops {class} for {stopped} of {period}",
            cell.cpus
        ));
    }
}

/// The levels of a cell's tasks as priorities of SCHED_FIFO. Every task has a number by the rule.
pub(super) fn priorities(
    set: &TaskSet,
    rule: PriorityRule,
    cell: &Cell,
    notes: &mut Vec<String>,
) -> Vec<Policy> {
    let numbered = |&id: &usize| (rule.fixed_priority(&set.tasks()[id]).unwrap_or(u64::MAX), id);
    let numbers: Vec<(u64, usize)> = cell.tasks.iter().map(numbered).collect();
    let levels = rule.fifo_levels(&numbers);
    note_shared_levels(set, rule, cell, &levels, notes);
    let inverted = crate::fault::wanted("inverted", "priorities");
    let priority_of = |level: usize| {
        let level = u32::try_from(level).expect("below the number of levels");
        if inverted { TASK_PRIORITY_MIN + level } else { TASK_PRIORITY_MAX - level }
    };
    levels.into_iter().map(|level| Policy::Fifo { priority: priority_of(level) }).collect()
}

/// Says so where tasks of a cell share a level: which of them runs first is then not decided by the rule.
fn note_shared_levels(
    set: &TaskSet,
    rule: PriorityRule,
    cell: &Cell,
    levels: &[usize],
    notes: &mut Vec<String>,
) {
    let mut first_at = [None; FIFO_LEVELS];
    let mut shared = None;
    for (at, &level) in levels.iter().enumerate() {
        match first_at[level] {
            None => first_at[level] = Some(at),
            Some(first) => shared = shared.or(Some((first, at))),
        }
    }
    let Some((one, other)) = shared else { return };
    let used = first_at.iter().flatten().count();
    let name = |at: usize| &set.tasks()[cell.tasks[at]].name;
    let (cpus, count) = (&cell.cpus, cell.tasks.len());
    notes.push(match rule {
        PriorityRule::Given => format!(
            "CPUs {cpus}: {count} tasks share {used} SCHED_FIFO priorities (`{}` and `{}` one of them); those of one run in the \
             order in which they become ready, in simulations in that of the set",
            name(one),
            name(other)
        ),
        PriorityRule::RateMonotonic | PriorityRule::DeadlineMonotonic | PriorityRule::EarliestDeadlineFirst => format!(
            "CPUs {cpus}: {count} tasks share {used} SCHED_FIFO priorities; tasks with neighbouring {} run in arrival order",
            if rule == PriorityRule::DeadlineMonotonic { "deadlines" } else { "periods" }
        ),
    });
}
