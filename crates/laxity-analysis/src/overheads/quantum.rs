//! Quantum-based scheduling: Pfair.
//!
//! Brandenburg: Scheduling and Locking in Multiprocessor Real-Time Operating Systems, PhD thesis, 2011, chapter 3.
//!
//! 1. Decisions are made at multiples of Q, the period of the tick. Each overhead is a function of n, the number of tasks.
//! 2. Of a quantum, Q_eff = Q - ev - tck - sch - cxs - cpd - (n - 1) rel does work; without the last with dedicated interrupts.
//!    cpd = D(max WSS): any job may have been displaced at the beginning of any quantum.
//! 3. C_i' = ceil(C_i / Q_eff) Q.
//! 4. A release is noticed at the next multiple of Q: T and D lose Q + ev + rel; nothing if all arrivals are periodic and
//!    aligned to quanta. If processors' quanta are staggered, they lose Q (m - 1)/m besides.
//! 5. T_i' and D_i' are rounded down to multiples of Q. A density of 1 fits.
//!
//! All of it holds where scheduling costs nothing, too: then Q_eff = Q.
//!
//! O(n) for n tasks.

use super::{Accounting, Inflated, Interrupts, Overheads, Rejected, RejectedWhy, inflated};
use crate::SporadicTask;

/// Accounting for quantum-based scheduling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantumBased {
    /// Which CPUs handle release interrupts.
    pub interrupts: Interrupts,
    /// All jobs arrive at multiples of Q, and periods are such.
    pub aligned: bool,
    /// If quanta begin at different times on different processors: how many processors there are in all, m > 0.
    pub staggered: Option<u32>,
}

impl Accounting for QuantumBased {
    fn source(&self) -> &'static str {
        "Brandenburg: Scheduling and Locking in Multiprocessor Real-Time Operating Systems, PhD thesis, University of North \
            Carolina at Chapel Hill, 2011, chapter 3 (quantum-based scheduling)"
    }

    fn inflate(
        &self,
        overheads: &Overheads,
        tasks: &[SporadicTask],
        working_sets: &[u64],
    ) -> Result<Inflated, Rejected> {
        inflated::check(tasks, working_sets)?;
        let quantum = overheads.tick_period();
        let effective = self.effective_quantum(overheads, working_sets);
        let effective = effective.ok_or(Rejected::all(RejectedWhy::QuantumOverload))?;
        let delay = self.delay(overheads, tasks.len());
        let left = |time: u64| {
            let left = time.checked_sub(delay)? / quantum * quantum;
            (left > 0).then_some(left)
        };
        let inflated = Inflated::of(tasks, |_, task| {
            let wcet = task.wcet_ns.div_ceil(effective).checked_mul(quantum).ok_or(RejectedWhy::Overrun)?;
            let deadline = left(task.deadline_rel_ns).ok_or(RejectedWhy::QuantumWindow)?;
            let period = left(task.period_ns).ok_or(RejectedWhy::QuantumWindow)?;
            Ok(SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, period_ns: period, ..*task })
        });
        inflated.map_err(|why| match why.reason {
            RejectedWhy::Overrun => Rejected { reason: RejectedWhy::QuantumOverrun, ..why },
            _ => why,
        })
    }
}

impl QuantumBased {
    /// Q_eff, if it is positive.
    fn effective_quantum(self, overheads: &Overheads, working_sets: &[u64]) -> Option<u64> {
        let tasks = working_sets.len();
        let costs = overheads.at(tasks);
        let displaced = working_sets.iter().max().map_or(0, |&bytes| overheads.cache_delay(bytes));
        let releases = match self.interrupts {
            Interrupts::Shared => costs.release.checked_mul(tasks.saturating_sub(1) as u64)?,
            Interrupts::Dedicated => 0,
        };
        let parts =
            [costs.release_latency, costs.tick, costs.schedule, costs.context_switch, displaced, releases];
        let left = parts.iter().try_fold(overheads.tick_period(), |left, &part| left.checked_sub(part));
        left.filter(|&left| left > 0)
    }

    /// By how much T and D are shortened before they are rounded, rounded up itself.
    fn delay(self, overheads: &Overheads, tasks: usize) -> u64 {
        let (quantum, costs) = (overheads.tick_period(), overheads.at(tasks));
        let noticed =
            if self.aligned { 0 } else { quantum.saturating_add(costs.release_latency + costs.release) };
        let staggered = self.staggered.map_or(0, |processors| {
            let product = u128::from(quantum) * u128::from(processors.saturating_sub(1));
            // At most Q.
            u64::try_from(product.div_ceil(processors.max(1).into())).unwrap_or(quantum)
        });
        noticed.saturating_add(staggered)
    }
}
