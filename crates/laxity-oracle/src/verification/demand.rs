//! Demand: a job completes exactly when it has done the work it was asked to do, and aborts (`late.rs`) only before.
//!
//! 1. What a job was asked to do is known from the definition's [`crate::JobSource`]; without one nothing is checked.
//! 2. A job progresses while it is on a CPU, at the CPU's speed, except during kernel work on that CPU. Recorded cache
//!    delays come on top of its work, in ns of the CPU on which they are recorded.
//! 3. A job completes at the first whole ns at which it has done its work. Where CPUs
//!    have different speeds that may be less than a ns late, and every piece of its execution may add to that.
//!
//! Complexity: O(1) per event. Exact where all CPUs have speed 1.

use super::trace_state::TraceState;
use super::work::{Leaves, Work};
use crate::Oracle;
use crate::verdict::{Report, Sighting};
use laxity_model::Duration;

impl TraceState<'_> {
    /// Checks a job that stops running, or is over.
    #[inline(always)]
    pub fn check_demand(
        &mut self,
        (task, job): (u32, u32),
        cpu: u32,
        leaves: Leaves,
        now: u64,
        report: &mut Report,
    ) {
        let of = &mut self.tasks[task as usize];
        let work = of.work;
        let mut wrong = None;
        if let Some(demand) = of.pending.front().and_then(|first| first.demand_ns) {
            let asked = u128::from(demand) * u128::from(of.scale);
            let is_wrong = match leaves {
                _ if work.has_parts => work.is_beyond(asked, leaves),
                Leaves::Stopped => work.done_parts > asked,
                Leaves::Complete => work.done_parts != asked,
                Leaves::Aborted => work.done_parts >= asked,
            };
            if leaves != Leaves::Stopped {
                report.checks(Oracle::Demand);
            }
            wrong = (is_wrong && !work.reported).then_some(demand);
        }
        if leaves != Leaves::Stopped {
            of.work = Work::default();
        } else {
            of.work.reported |= wrong.is_some();
        }
        if let Some(demand) = wrong {
            self.demand_is_wrong(&work, ((task, job), demand), cpu, leaves, now, report);
        }
    }

    #[cold]
    fn demand_is_wrong(
        &self,
        work: &Work,
        ((task, job), demand): ((u32, u32), u64),
        cpu: u32,
        leaves: Leaves,
        now: u64,
        report: &mut Report,
    ) {
        let scale = self.tasks[task as usize].scale;
        let done = work.done_parts.saturating_sub(work.delay_parts) / u128::from(scale);
        let done = Duration::from_ns(u64::try_from(done).unwrap_or(u64::MAX));
        let name = self.name(task, job);
        report.violation(Sighting::at(Oracle::Demand, now).on(Some(cpu)).of(name), |names| {
            let verb = match leaves {
                Leaves::Stopped => "stopped",
                Leaves::Complete => "completed",
                Leaves::Aborted => "aborted",
            };
            format!(
                "{verb} {name} after {done} of work; it was asked for {}",
                Duration::from_ns(demand),
                name = names.job(name)
            )
        });
    }
}
