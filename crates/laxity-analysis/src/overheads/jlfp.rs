//! Job-level fixed priorities: partitioned, clustered and global EDF, and global fixed priorities.
//!
//! Brandenburg: Scheduling and Locking in Multiprocessor Real-Time Operating Systems, PhD thesis, 2011, chapter 3; used by
//! cerqueira2014 (Appendix B) and ackelman2018 (6.3).
//!
//! 1. Each overhead is a function of n, the tasks in the cluster. A tick comes every Q on every processor.
//! 2. With shared interrupts, releases are handled on the tasks' processors: N = n, u = tck/Q + sum of rel/T_i. With
//!    dedicated ones they are not: N = 0, u = tck/Q.
//! 3. s = 1 - u, c_pre = (tck + N rel + ev u) / s; nothing fits if s <= 0.
//! 4. C_i' = (C_i + 2 (sch + cxs) + cpd_i)/s + 2 c_pre + X. X is what a release needs to reach another processor: ipi + rel
//!    with dedicated interrupts; else ipi if there are several processors, 0 if there is one.
//! 5. cpd_i = D(max over j != i of WSS_j); T_i' = T_i - ev, D_i' = D_i - ev.
//!
//! O(n) for n tasks.

use super::preemption::{Displaced, InterruptedTime, shortened};
use super::{Accounting, Inflated, Interrupts, Overheads, Rejected, RejectedWhy, inflated};
use crate::SporadicTask;

/// Accounting for a cluster under job-level fixed priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobLevel {
    /// Processors in the cluster that run tasks: 1 under partitioning.
    pub processors: u32,
    /// Which CPUs handle release interrupts.
    pub interrupts: Interrupts,
}

impl Accounting for JobLevel {
    fn source(&self) -> &'static str {
        "Brandenburg: Scheduling and Locking in Multiprocessor Real-Time Operating Systems, PhD thesis, University of North \
            Carolina at Chapel Hill, 2011, chapter 3 (preemption-centric interrupt accounting: 3.4.5)"
    }

    fn inflate(
        &self,
        overheads: &Overheads,
        tasks: &[SporadicTask],
        working_sets: &[u64],
    ) -> Result<Inflated, Rejected> {
        let preempted = self.preempted(overheads, tasks, working_sets)?;
        Inflated::of(tasks, |place, task| {
            let wcet_ns = preempted.takes(place, task.wcet_ns).ok_or(RejectedWhy::Overrun)?;
            shortened(task, wcet_ns, preempted.release_latency_ns)
        })
    }
}

impl JobLevel {
    /// What work takes in such a cluster.
    pub(super) fn preempted(
        self,
        overheads: &Overheads,
        tasks: &[SporadicTask],
        working_sets: &[u64],
    ) -> Result<Preempted, Rejected> {
        inflated::check(tasks, working_sets)?;
        let costs = overheads.at(tasks.len());
        let released = if self.interrupts == Interrupts::Shared { tasks } else { &[] };
        Ok(Preempted {
            interrupted: InterruptedTime::new(overheads, &costs, released)?,
            displaced: Displaced::new(overheads, working_sets),
            dispatch_ns: 2 * (costs.schedule + costs.context_switch),
            distance_ns: match self.interrupts {
                Interrupts::Dedicated => costs.ipi + costs.release,
                Interrupts::Shared if self.processors > 1 => costs.ipi,
                Interrupts::Shared => 0,
            },
            release_latency_ns: costs.release_latency,
        })
    }
}

/// What a job pays for one preemption (4).
pub(super) struct Preempted {
    interrupted: InterruptedTime,
    displaced: Displaced,
    /// 2 (sch + cxs).
    dispatch_ns: u64,
    /// X.
    distance_ns: u64,
    /// ev.
    pub(super) release_latency_ns: u64,
}

impl Preempted {
    /// So much work of a task with one preemption: C' of C; of none, what the preemption takes by itself. Nothing if it exceeds every
    /// period.
    pub(super) fn takes(&self, task: usize, work_ns: u64) -> Option<u64> {
        let work = work_ns + self.dispatch_ns + self.displaced.by_others_than(task);
        Some(self.interrupted.inflated(work.into())? + self.distance_ns)
    }
}
