//! G-EDF-MP: global EDF by messages to a dedicated scheduling processor.
//!
//! cerqueira2014, Appendix B. Like dedicated interrupt handling, but a preempted job resumes only after a round trip to the
//! scheduling processor.
//!
//! 1. u = tck/Q; c_pre = (tck + ev u) / (1 - u). Releases are handled on the scheduling processor.
//! 2. C_i' = (C_i + 3 (sch + cxs) + cpd_i)/(1 - u) + 2 c_pre + req + dsp + 2 ipi + rel.
//! 3. T_i' = T_i - ev, and D_i' = D_i - ev as in the accounting that it extends.
//! 4. cpd_i = D(max over j != i of WSS_j). The scheduling processor runs no tasks: the caller tests on one less.
//!
//! O(n) for n tasks.

use super::preemption::{Displaced, InterruptedTime, shortened};
use super::{Accounting, Inflated, Overheads, Rejected, RejectedWhy, inflated};
use crate::SporadicTask;

/// Accounting for G-EDF-MP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessagePassing;

impl Accounting for MessagePassing {
    fn source(&self) -> &'static str {
        "Cerqueira, Vanga, Brandenburg: Scaling global scheduling with message passing, RTAS 2014, Appendix B"
    }

    fn inflate(
        &self,
        overheads: &Overheads,
        tasks: &[SporadicTask],
        working_sets: &[u64],
    ) -> Result<Inflated, Rejected> {
        inflated::check(tasks, working_sets)?;
        let costs = overheads.at(tasks.len());
        let interrupted = InterruptedTime::new(overheads, &costs, &[])?;
        let displaced = Displaced::new(overheads, working_sets);
        let dispatch = 3 * (costs.schedule + costs.context_switch);
        let round_trip = costs.request + costs.dsp + 2 * costs.ipi + costs.release;
        Inflated::of(tasks, |place, task| {
            let work = task.wcet_ns + dispatch + displaced.by_others_than(place);
            let wcet = interrupted.inflated(work.into()).ok_or(RejectedWhy::Overrun)? + round_trip;
            shortened(task, wcet, costs.release_latency)
        })
    }
}
