//! Deadlines and budgets that the scheduler accounts for itself ([`crate::BudgetRule::Followed`]): what the trace says holds.

use super::Verification;
use super::trace_state::State;

impl Verification<'_> {
    /// The task's job, which is on no CPU, has no budget yet: it was used up by the job before.
    pub(super) fn waits_for_budget(&mut self, (task, job): (u32, u32)) {
        let of = self.trace.task(task);
        if of.first == job && of.state == State::Throttled {
            return;
        }
        if of.first != job || of.state != State::Ready {
            self.impossible((task, job), None, "waits for budget, but it is not there or runs");
            return;
        }
        of.state = State::Throttled;
        let cluster = of.cluster;
        self.order.unready(cluster, task);
    }

    /// The task's job has another deadline by which it is scheduled, and a budget if it waited for one.
    pub(super) fn follows(&mut self, (task, job): (u32, u32), argument: Option<u64>) {
        let of = self.trace.task(task);
        let Some(deadline_abs) = argument.filter(|_| of.first == job && !of.pending.is_empty()) else {
            return;
        };
        of.server_deadline_abs_ns = deadline_abs;
        let waited = of.state == State::Throttled;
        if waited {
            of.state = State::Ready;
        }
        if !matches!(of.state, State::Ready | State::Running) {
            return;
        }
        let (cluster, key) = (of.cluster, self.definition.key(task, deadline_abs));
        self.order.ready(cluster, task, key);
        if waited {
            self.timer(cluster, task);
        }
        let rank = self.order.rank(task);
        let on = self
            .trace
            .cpus
            .iter()
            .position(|cpu| cpu.occupant.is_some_and(|on| on.task == task && !on.stray));
        if let (Some(cpu), Some(measured)) = (on, &mut self.order.measured) {
            measured.runs(cpu, rank, self.now_ns);
        }
    }
}
