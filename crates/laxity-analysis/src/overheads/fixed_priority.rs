//! Fixed priorities on one processor: interrupts are tasks above all others, delays are release jitter.
//!
//! Brandenburg: Scheduling and Locking in Multiprocessor Real-Time Operating Systems, PhD thesis, 2011, chapter 3. (Global
//! fixed priorities are job-level fixed priorities as well: [`super::JobLevel`].)
//!
//! 1. Each overhead is a function of n, the tasks on the processor, without the interrupts that are added.
//! 2. The tick is a task (tck, Q) with jitter ev above all others. With shared interrupts, so is each task's release:
//!    (rel, T_i) with jitter ev. What costs nothing is left out.
//!    Kernel threads that go first ([`Overheads::with_kernel_threads`]) are another task there.
//! 3. J_i' = J_i + ev + rel, and + ipi with dedicated interrupts.
//! 4. C_i' = C_i + 2 (sch + cxs) + cpd_i; cpd_i = D(max over j != i of WSS_j). T and D stay.
//!
//! O(n) for n tasks.

use super::preemption::Displaced;
use super::{Accounting, Costs, Inflated, Interrupts, Overheads, Rejected, RejectedWhy, inflated};
use crate::SporadicTask;

/// Accounting for a processor under fixed priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedPriority {
    /// Which CPUs handle release interrupts.
    pub interrupts: Interrupts,
}

impl Accounting for FixedPriority {
    fn source(&self) -> &'static str {
        "Brandenburg: Scheduling and Locking in Multiprocessor Real-Time Operating Systems, PhD thesis, University of North \
            Carolina at Chapel Hill, 2011, chapter 3 (fixed priorities)"
    }

    fn inflate(
        &self,
        overheads: &Overheads,
        tasks: &[SporadicTask],
        working_sets: &[u64],
    ) -> Result<Inflated, Rejected> {
        inflated::check(tasks, working_sets)?;
        let costs = overheads.at(tasks.len());
        let interrupts = self.interrupts(overheads, &costs, tasks)?;
        let displaced = Displaced::new(overheads, working_sets);
        let dispatch = 2 * (costs.schedule + costs.context_switch);
        let ipi = if self.interrupts == Interrupts::Dedicated { costs.ipi } else { 0 };
        let mut result = Inflated::of(tasks, |place, task| {
            Ok(SporadicTask {
                wcet_ns: task.wcet_ns + dispatch + displaced.by_others_than(place),
                jitter_ns: task.jitter_ns + costs.release_latency + costs.release + ipi,
                ..*task
            })
        })?;
        result.interrupts = interrupts.len();
        result.tasks.splice(0..0, interrupts);
        Ok(result)
    }
}

impl FixedPriority {
    /// Interrupts as tasks; the handler of each must end before the next comes.
    fn interrupts(
        self,
        overheads: &Overheads,
        costs: &Costs,
        tasks: &[SporadicTask],
    ) -> Result<Vec<SporadicTask>, Rejected> {
        let handler = |wcet, period| SporadicTask {
            jitter_ns: costs.release_latency,
            ..SporadicTask::implicit(wcet, period)
        };
        let releases = match self.interrupts {
            Interrupts::Shared => tasks,
            Interrupts::Dedicated => &[],
        };
        let tick = handler(costs.tick, overheads.tick_period());
        let all =
            [tick].into_iter().chain(releases.iter().map(|task| handler(costs.release, task.period_ns)));
        let threads = overheads.kernel_threads().and_then(|threads| threads.as_task(0, true));
        let costly: Vec<SporadicTask> =
            threads.into_iter().chain(all.filter(|interrupt| interrupt.wcet_ns > 0)).collect();
        if costly.iter().any(|interrupt| interrupt.wcet_ns > interrupt.period_ns) {
            return Err(Rejected::all(RejectedWhy::InterruptOverload));
        }
        Ok(costly)
    }
}
