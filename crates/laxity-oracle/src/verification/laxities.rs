//! Laxities, where jobs without any go first ([`Definition::with_laxities`]): what EDZL makes of the order of jobs.
//!
//! 1. The laxity of a job at t is the deadline by which it is scheduled less t less the budget that it has left (its WCET less
//!    what it has done, in whole ns, or what is left of its server's budget).
//! 2. A job that is ready and does not run, and has no laxity left, is urgent from then on, to its end. One that has none when it becomes
//!    ready is at once.
//! 3. The key of an urgent job is the instant at which its laxity ran out, of others the deadline: so urgent ones go first.
//! 4. This is exact where scheduling takes no time. Where it does, it cannot be seen from outside when a job that was chosen has
//!    begun to wait no longer; then no order is checked, but that no CPU idles while a job is ready
//!    ([`Definition::has_exact_laxities`]).
//!
//! Complexity: O(log n) per event.
//! Source: Baker, Cirinei, Bertogna: EDZL scheduling analysis, Real-Time Systems 40(3), 2008, section 1 (the definition).

use super::Verification;
use super::trace_state::State;
use crate::Definition;
use std::collections::BTreeSet;

/// Those that run out.
pub(super) struct Laxities {
    /// Waiting jobs with laxity left: when it runs out, and the task.
    ends: BTreeSet<(u64, u32)>,
    tasks: Vec<Laxity>,
}

#[derive(Clone, Copy, Default)]
struct Laxity {
    /// In `ends`.
    ends_at: Option<u64>,
    /// Its key, if it is urgent.
    urgent: Option<u64>,
}

impl Laxities {
    /// Nothing where laxities do not matter.
    pub fn new(definition: &Definition, tasks: usize) -> Option<Self> {
        let laxities = || Laxities { ends: BTreeSet::new(), tasks: vec![Laxity::default(); tasks] };
        definition.has_exact_laxities().then(laxities)
    }

    /// The task's job does not wait any more.
    fn forget(&mut self, task: u32) {
        if let Some(at) = self.tasks[task as usize].ends_at.take() {
            self.ends.remove(&(at, task));
        }
    }

    /// The task has another job, or the same with a new budget.
    fn begins_anew(&mut self, task: u32) {
        self.forget(task);
        self.tasks[task as usize].urgent = None;
    }

    /// The first whose laxity has run out by `to`.
    fn due(&self, to: u64) -> Option<(u64, u32)> {
        self.ends.first().copied().filter(|&(at, _)| at <= to)
    }
}

impl Verification<'_> {
    /// The task's first job is ready: with a new budget and deadline (`anew`), or as it was. Its place in the order follows.
    #[inline(always)]
    pub(super) fn becomes_ready(&mut self, task: u32, anew: bool) {
        let of = &self.trace.tasks[task as usize];
        let (cluster, deadline_abs) = (of.cluster, of.server_deadline_abs_ns);
        let key = self.trace.key(task, deadline_abs);
        let key = if self.laxities.is_some() { self.urgency(task, anew, key) } else { key };
        self.order.ready(cluster, task, key);
    }

    /// The key of a job that becomes ready, where laxities matter: it may be urgent.
    #[inline(never)]
    fn urgency(&mut self, task: u32, anew: bool, mut key: u64) -> u64 {
        let of = &self.trace.tasks[task as usize];
        let (deadline_abs, runs) = (of.server_deadline_abs_ns, of.state == State::Running);
        let left = self.budget_left(task);
        let now = self.now_ns;
        if let Some(laxities) = &mut self.laxities {
            if anew {
                laxities.begins_anew(task);
            }
            laxities.forget(task);
            let of = &mut laxities.tasks[task as usize];
            let ends_at = deadline_abs.saturating_sub(left);
            if of.urgent.is_none() && ends_at <= now {
                of.urgent = Some(ends_at);
            }
            if of.urgent.is_none() && !runs {
                of.ends_at = Some(ends_at);
                laxities.ends.insert((ends_at, task));
            }
            key = laxities.tasks[task as usize].urgent.unwrap_or(key);
        }
        key
    }

    /// The task's job runs: its laxity does not change, or ends with it.
    #[inline]
    pub(super) fn laxity_stays(&mut self, task: u32) {
        if let Some(laxities) = &mut self.laxities {
            laxities.forget(task);
        }
    }

    /// The task's job has left its CPU, and is ready.
    #[inline]
    pub(super) fn waits_again(&mut self, task: u32) {
        if self.laxities.is_some() {
            self.becomes_ready(task, false);
        }
    }

    /// Jobs whose laxity runs out by `to` are urgent from then on.
    pub(super) fn laxities_run_out(&mut self, to: u64) {
        while let Some((at, task)) = self.laxities.as_ref().and_then(|laxities| laxities.due(to)) {
            self.go_to(at);
            self.becomes_ready(task, false);
        }
    }

    /// What is left of the budget of the task's first job, in whole ns.
    fn budget_left(&self, task: u32) -> u64 {
        let of = &self.trace.tasks[task as usize];
        let used = match self.budgets.enforced() {
            true => self.budgets.used(task),
            false => of.work.done_parts,
        };
        let used = u64::try_from(used / u128::from(of.scale.max(1))).unwrap_or(u64::MAX);
        self.definition.set().tasks()[task as usize].wcet.as_ns().saturating_sub(used)
    }
}
