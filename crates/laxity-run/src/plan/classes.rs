//! The parameters of a cell's threads in each of Linux's scheduling classes.

use super::fifo::{TASK_PRIORITY_MAX, note_throttling, priorities};
use super::reservations;
use crate::budget::BudgetMargin;
use crate::limits::{KernelLimits, SHARE_WITHOUT_LIMIT};
use crate::sched::Policy;
use laxity_model::{Cell, Diagnostic, LinuxScheduler, LoadSum, PriorityRule, Result, Scheduler, TaskSet};
use std::cmp::Ordering;

/// What each task of the cell asks of the kernel.
///
/// # Errors
///
/// The kernel would refuse it.
pub(super) fn policies(
    set: &TaskSet,
    scheduler: &LinuxScheduler,
    cell: &Cell,
    limits: KernelLimits,
    margin: BudgetMargin,
    notes: &mut Vec<String>,
) -> Result<Vec<Policy>> {
    let all = |policy| vec![policy; cell.tasks.len()];
    Ok(match scheduler {
        LinuxScheduler::Ruled(Scheduler { rule: PriorityRule::EarliestDeadlineFirst, .. }) => {
            reservations(set, cell, limits, margin)?
        }
        LinuxScheduler::Ruled(Scheduler { rule, .. }) => {
            note_throttling(set, "SCHED_FIFO", cell, limits, notes);
            priorities(set, *rule, cell, notes)
        }
        LinuxScheduler::Reclaiming(_) => {
            let reserved = reservations(set, cell, limits, margin)?;
            check_reclaimable(set, cell, &reserved, limits)?;
            reserved.into_iter().map(reclaiming).collect()
        }
        LinuxScheduler::RoundRobin(_) => {
            note_throttling(set, "SCHED_RR", cell, limits, notes);
            all(Policy::RoundRobin { priority: TASK_PRIORITY_MAX })
        }
        LinuxScheduler::Fair(fair) => {
            let slice = |&id: &usize| fair.slice.of(set.tasks()[id].wcet);
            cell.tasks.iter().map(|id| Policy::Fair { nice: fair.nice, slice: slice(id) }).collect()
        }
        LinuxScheduler::Foreign(_) => all(Policy::Foreign),
    })
}

fn reclaiming(policy: Policy) -> Policy {
    match policy {
        Policy::Deadline { runtime, deadline, period } => Policy::Reclaiming { runtime, deadline, period },
        other => other,
    }
}

/// A task may need no more of a CPU than the kernel grants real-time tasks: with SCHED_FLAG_RECLAIM it counts time as the larger of
/// the task's share and of what is not idle, divided by what it grants, so that more than all would be used up faster than time
/// passes.
fn check_reclaimable(set: &TaskSet, cell: &Cell, reserved: &[Policy], limits: KernelLimits) -> Result<()> {
    let (runtime, period) = limits.share().unwrap_or(SHARE_WITHOUT_LIMIT);
    for (&id, reservation) in
        cell.tasks.iter().zip(reserved).filter_map(|(id, one)| Some((id, one.reservation()?)))
    {
        let mut load = LoadSum::new();
        load.add(reservation.runtime, reservation.period);
        if load.cmp_ratio(runtime, period) == Ordering::Greater {
            return Err(Diagnostic::usage(format!(
                "task `{}`: its budget of {} in {} is more of a CPU than the kernel grants real-time tasks ({:.1} %), and \
                 reclaiming would use it up too early",
                set.tasks()[id].name,
                reservation.runtime,
                reservation.period,
                runtime as f64 * 100.0 / period as f64
            ))
            .hint("use the scheduler without `:grub`, or a smaller --budget-margin"));
        }
    }
    Ok(())
}
