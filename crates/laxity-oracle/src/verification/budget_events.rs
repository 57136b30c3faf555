//! What a trace says of budgets: throttled, replenished, postponed.

use super::Verification;
use super::budgets::Grant;
use super::trace_state::State;
use crate::verdict::Sighting;
use crate::{BudgetRule, JobName, Oracle};
use laxity_model::Duration;

impl Verification<'_> {
    pub(super) fn replenished(&mut self, job: (u32, u32), argument: Option<u64>) {
        if self.definition.budgets() == BudgetRule::Followed {
            self.follows(job, argument);
            return;
        }
        self.budgets.replenish_event(&self.trace, job, argument, self.now_ns, &mut self.report);
    }

    pub(super) fn postponed(&mut self, job: (u32, u32), cpu: usize, argument: Option<u64>) {
        let Some((occupant, progress)) = self.trace.progress(cpu, self.now_ns) else {
            self.impossible(job, Some(cpu), "is postponed where it does not run");
            return;
        };
        if (occupant.task, occupant.job) != job || occupant.stray {
            self.impossible(job, Some(cpu), "is postponed where it does not run");
            return;
        }
        let number = self.trace.cpus[cpu].cpu;
        if !self.budgets.enforced() {
            self.not_enforced(job, number, "postponed");
            return;
        }
        self.account(occupant, cpu, progress);
        let (trace, now) = (&self.trace, self.now_ns);
        self.budgets.check_used_up(trace, job, Some(number), now, &mut self.report);
        let server_deadline = self.trace.task(job.0).server_deadline_abs_ns;
        let before = self.order.rank(job.0);
        let grant = self.budgets.exhausted(job.0, server_deadline, now, false, &mut self.report);
        if grant.ready_at > now {
            let name = self.name(job);
            let sighting = Sighting::at(Oracle::Budgets, now).on(Some(number)).of(name);
            self.report.violation(sighting, |names| {
                format!("{name} goes on without a budget", name = names.job(name))
            });
        }
        let ready_at = now;
        self.follow(job.0, Grant { ready_at, ..grant });
        let rank = self.order.rank(job.0);
        if let Some(pushes) = &mut self.pushes {
            pushes.leaves(cpu, before, now);
        }
        if let Some(windows) = &mut self.order.windows {
            windows.postponed(cpu, before, rank, now);
        }
        if let Some(measured) = &mut self.order.measured {
            measured.runs(cpu, rank, now);
        }
        let name =
            JobName { task: job.0, job: job.1, deadline_ns: Some(grant.deadline_abs_ns), priority: None };
        self.check_postponed(name, argument);
    }

    fn check_postponed(&mut self, name: JobName, argument: Option<u64>) {
        if argument != name.deadline_ns {
            let sighting = Sighting::at(Oracle::Budgets, self.now_ns).of(name);
            self.report.violation(sighting, |names| {
                let given = argument.map_or("nothing".to_owned(), |ns| Duration::from_ns(ns).to_string());
                format!("postpones the deadline of {name} to {given} instead", name = names.job(name))
            });
        }
    }

    fn not_enforced(&mut self, job: (u32, u32), cpu: u32, what: &str) {
        let name = self.name(job);
        let sighting = Sighting::at(Oracle::Budgets, self.now_ns).on(Some(cpu)).of(name);
        self.report.violation(sighting, |names| {
            format!("{name} is {what}, but budgets are not enforced", name = names.job(name))
        });
    }

    pub(super) fn throttled(&mut self, job: (u32, u32), cpu: usize) {
        let (number, now) = (self.trace.cpus[cpu].cpu, self.now_ns);
        if self.definition.budgets() == BudgetRule::Followed {
            let of = self.trace.task(job.0);
            of.state = State::Throttled;
            self.order.unready(of.cluster, job.0);
        } else if self.budgets_throttle() {
            let trace = &self.trace;
            self.budgets.check_used_up(trace, job, Some(number), now, &mut self.report);
            let server_deadline = self.trace.task(job.0).server_deadline_abs_ns;
            let grant = self.budgets.exhausted(job.0, server_deadline, now, true, &mut self.report);
            self.follow(job.0, grant);
        } else {
            self.not_enforced(job, number, "throttled");
        }
    }

    /// In a real kernel: the job has woken up without a budget, and that was noticed before it ran.
    pub(super) fn throttled_off_cpu(&mut self, (task, job): (u32, u32)) {
        let of = self.trace.task(task);
        if of.first != job || of.state != State::Ready {
            self.impossible((task, job), None, "is throttled, but it does not wait for a CPU");
            return;
        }
        let server_deadline = of.server_deadline_abs_ns;
        let (trace, now) = (&self.trace, self.now_ns);
        self.budgets.check_used_up(trace, (task, job), None, now, &mut self.report);
        let grant = self.budgets.exhausted(task, server_deadline, now, true, &mut self.report);
        self.follow(task, grant);
    }

    pub(super) fn budgets_throttle(&self) -> bool {
        self.definition.budgets() == BudgetRule::THROTTLE
    }
}
