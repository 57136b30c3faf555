//! Budgets: with enforcement, a job does at most its WCET of work per server period, is stopped or postponed exactly
//! then, and goes on exactly when its server is replenished.
//!
//! 1. Every task has a server: a budget of one WCET, a period T, and the instant at which its present period began.
//! 2. A job that gets the server (it is released, its predecessor is complete) at or after the end of the server period
//!    begins a new one at its release. Before that end it lives on what is left; with nothing left, the next period
//!    begins one T after the present one, and under throttling the job waits for it. A job whose server period begins
//!    after its release has that period's deadline: its begin plus D.
//! 3. A running job that uses the budget up begins the next server period, one T after the present one. Throttled, it
//!    waits for that instant if it is still to come, and has the deadline that is D after it; postponed, it goes on with
//!    its deadline moved by T. A job that completes at the same instant completes; a job that is stopped at the same
//!    instant has used its budget up all the same.
//! 4. Work is counted at the CPU's speed. Kernel work uses no budget; whether cold caches do is the host's affair: where
//!    they are recorded, both are accepted.
//!    A real kernel does not know where a job of a task that sleeps until it has something to do ends: when it wakes up, it has a
//!    new job and a new server period, provided that what is left of the old one is more than the task's bandwidth allows
//!    until its deadline, or that this is past (policy/wake_up.h, cases 3 and 4).
//! 5. Where cache delays are recorded, what is left of a budget at a completion is known to their length only; the oracle
//!    then counts them as used.
//!
//! Complexity: O(1) per event, O(log n) per replenishment.
//! Source: ackelman2018, 5.1; Abeni and Buttazzo, Integrating multimedia applications in hard real-time systems (1998).

use super::trace_state::{Progress, TraceState};
use crate::verdict::{Report, Sighting};
use crate::{BudgetMode, Definition, Oracle};
use laxity_model::{Arrival, Duration};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A replenishment that the trace should show.
#[derive(Clone, Copy)]
struct Expected {
    at: u64,
    deadline_abs: u64,
    /// The job was throttled while it ran, so the event must come; otherwise it may.
    must: bool,
}

#[derive(Clone, Default)]
struct Server {
    /// In ns, and in the parts in which work is counted.
    wcet: u64,
    budget: u128,
    period: u64,
    deadline_rel: u64,
    /// Its jobs come when it wakes up.
    wakes_up: bool,
    began: Option<u64>,
    /// Work in this server period: at least, as the oracle counts, at most.
    used_low: u128,
    used: u128,
    used_high: u128,
    overrun: bool,
    /// When the budget was last used up.
    exhausted_at: Option<u64>,
    expected: Option<Expected>,
}

/// What becomes of a job.
#[derive(Clone, Copy)]
pub(super) struct Grant {
    /// From when on it may run.
    pub ready_at: u64,
    /// The deadline it is scheduled by.
    pub deadline_abs: u64,
}

pub(super) struct Budgets {
    mode: BudgetMode,
    bound: u64,
    servers: Vec<Server>,
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    charges_kernel_work: bool,
}

impl Server {
    fn refill(&mut self, began: u64) {
        self.began = Some(began);
        (self.used_low, self.used, self.used_high, self.overrun) = (0, 0, 0, false);
    }
}

impl Budgets {
    pub fn new(definition: &Definition, trace: &TraceState) -> Self {
        let servers = definition.set().tasks().iter().zip(&trace.tasks).map(|(task, of)| Server {
            wcet: task.wcet.as_ns(),
            budget: u128::from(task.wcet.as_ns()) * of.scale,
            period: task.period().as_ns(),
            deadline_rel: task.deadline_rel.as_ns(),
            wakes_up: definition.job_source().is_none() && matches!(task.arrival, Arrival::Sporadic { .. }),
            ..Server::default()
        });
        Budgets {
            mode: definition.budget_mode(),
            bound: definition.transitions().bound.as_ns(),
            servers: servers.collect(),
            timers: BinaryHeap::new(),
            charges_kernel_work: false,
        }
    }

    /// As in a real kernel: budgets may be enforced this late, in ns, and whatever a CPU does meanwhile is charged to the job
    /// that has it.
    pub fn may_be_late(&mut self, late: u64) {
        self.bound = self.bound.max(late);
        self.charges_kernel_work = true;
    }

    /// Whether a budget may be used up and nobody has noticed yet.
    pub fn noticed_late(&self) -> bool {
        self.charges_kernel_work
    }

    pub fn enforced(&self) -> bool {
        !matches!(self.mode, BudgetMode::Off | BudgetMode::Followed)
    }

    /// The next replenishment of a waiting job, if it is not after `now`.
    pub fn due(&mut self, now: u64) -> Option<(u64, u32)> {
        match self.timers.peek() {
            Some(&Reverse((at, _))) if at <= now => self.timers.pop().map(|Reverse(timer)| timer),
            _ => None,
        }
    }

    fn grant(&mut self, task: u32, now: u64, ready_at: u64, deadline_abs: u64, must: bool) -> Grant {
        if ready_at > now {
            self.timers.push(Reverse((ready_at, task)));
        }
        if ready_at > now || must {
            // A budget that is used up late may be due again before that shows.
            let at = if self.charges_kernel_work { ready_at.max(now) } else { ready_at };
            self.servers[task as usize].expected = Some(Expected { at, deadline_abs, must });
        }
        Grant { ready_at, deadline_abs }
    }

    /// A job of the task is released by its waking up in a real kernel (assumption 4): its server period ends.
    pub fn wakes_up(&mut self, trace: &TraceState, (task, job): (u32, u32), now: u64, report: &mut Report) {
        let server = &mut self.servers[task as usize];
        if !self.charges_kernel_work || !server.wakes_up {
            return;
        }
        let Some(began) = server.began.take() else { return };
        let span = server.deadline_rel.min(server.period);
        let until_deadline = began.saturating_add(server.deadline_rel).saturating_sub(now);
        let left = server.budget.saturating_sub(server.used_low).saturating_mul(span.into());
        if self.mode == BudgetMode::Throttle
            && until_deadline > 0
            && left <= server.budget.saturating_mul(until_deadline.into())
        {
            let name = trace.name(task, job);
            report.violation(Sighting::at(Oracle::Budgets, now).of(name), || {
                format!(
                    "began a server period with {name}, {} before the end of one whose budget would have done",
                    Duration::from_ns(until_deadline)
                )
            });
        }
    }

    /// A job of the task gets the server (assumption 2).
    pub fn arrives(&mut self, task: u32, release: u64, deadline_abs: u64, now: u64) -> Grant {
        if !self.enforced() {
            return Grant { ready_at: release, deadline_abs };
        }
        let server = &mut self.servers[task as usize];
        let mut ready_at = release;
        match server.began {
            Some(began) if release < began.saturating_add(server.period) => {
                if server.used >= server.budget {
                    server.refill(began.saturating_add(server.period));
                    if self.mode == BudgetMode::Throttle {
                        ready_at = began.saturating_add(server.period);
                    }
                }
            }
            _ => server.refill(release),
        }
        let began = server.began.unwrap_or(release);
        let deadline_abs =
            if began > release { began.saturating_add(server.deadline_rel) } else { deadline_abs };
        self.grant(task, now, ready_at, deadline_abs, false)
    }

    /// The running job of the task got this far; whether the budget is used up.
    pub fn uses(
        &mut self,
        trace: &TraceState,
        (task, job): (u32, u32),
        cpu: u32,
        progress: Progress,
        now: u64,
        report: &mut Report,
    ) -> bool {
        if !self.enforced() {
            return false;
        }
        report.checks(Oracle::Budgets);
        let server = &mut self.servers[task as usize];
        server.used_low = server.used_low.saturating_add(progress.net);
        let used = if self.charges_kernel_work { progress.gross } else { progress.net };
        server.used = server.used.saturating_add(used);
        server.used_high = server.used_high.saturating_add(progress.gross);
        let over = server.used_low.saturating_sub(server.budget);
        // A budget that does not end at a whole ns is enforced at the next one.
        if over > progress.rate.work(self.bound).saturating_add(progress.rate.rounding()) && !server.overrun {
            server.overrun = true;
            let wall = u64::try_from(over / progress.rate.per_ns.max(1)).unwrap_or(u64::MAX);
            let sighting = Sighting { from: now.saturating_sub(wall), ..Sighting::at(Oracle::Budgets, now) };
            let name = trace.name(task, job);
            let (budget, period) = (Duration::from_ns(server.wcet), Duration::from_ns(server.period));
            report.violation(sighting.on(Some(cpu)).of(name), || {
                format!("ran {name} beyond its budget of {budget} per {period}")
            });
        }
        server.used >= server.budget
    }

    /// Part of what the job does is cold caches.
    pub fn cache_delay(&mut self, task: u32, work: u128) {
        let server = &mut self.servers[task as usize];
        server.used_low = server.used_low.saturating_sub(work);
    }

    /// Checks that the budget of a job that is throttled or postponed is used up.
    pub fn check_used_up(
        &mut self,
        trace: &TraceState,
        (task, job): (u32, u32),
        cpu: Option<u32>,
        now: u64,
        report: &mut Report,
    ) {
        let server = &self.servers[task as usize];
        if server.used_high >= server.budget {
            return;
        }
        let left = (server.budget - server.used_high) * u128::from(server.wcet) / server.budget.max(1);
        let left = Duration::from_ns(u64::try_from(left).unwrap_or(u64::MAX));
        let name = trace.name(task, job);
        report.violation(Sighting::at(Oracle::Budgets, now).on(cpu).of(name), || {
            format!("enforced the budget of {name}, which had {left} left")
        });
    }

    /// The first job of the task has used its budget up (assumption 3).
    pub fn exhausted(&mut self, task: u32, server_deadline_abs: u64, now: u64, announced: bool) -> Grant {
        let throttles = self.mode == BudgetMode::Throttle;
        let server = &mut self.servers[task as usize];
        let began = server.began.unwrap_or(now).saturating_add(server.period);
        server.refill(began);
        server.exhausted_at = Some(now);
        let deadline_abs = match throttles {
            true => began.saturating_add(server.deadline_rel),
            false => server_deadline_abs.saturating_add(server.period),
        };
        let ready_at = if throttles { began } else { now };
        self.grant(task, now, ready_at, deadline_abs, throttles && announced)
    }

    /// When the budget of the task was last used up.
    pub fn exhausted_at(&self, task: u32) -> Option<u64> {
        self.servers[task as usize].exhausted_at
    }

    /// The trace says that the job of the task is replenished.
    pub fn replenish_event(
        &mut self,
        trace: &TraceState,
        (task, job): (u32, u32),
        argument: Option<u64>,
        now: u64,
        report: &mut Report,
    ) {
        report.checks(Oracle::Budgets);
        let name = trace.name(task, job);
        let sighting = Sighting::at(Oracle::Budgets, now).of(name);
        let Some(expected) = self.servers[task as usize].expected.take() else {
            report.violation(sighting, || format!("replenished {name}, which did not wait for budget"));
            return;
        };
        if now < expected.at || now - expected.at > self.bound {
            report.violation(sighting, || {
                format!(
                    "replenished {name}, whose next server period begins at {}",
                    Duration::from_ns(expected.at)
                )
            });
        } else if argument != Some(expected.deadline_abs) {
            let given = argument.map_or("none".to_owned(), |given| Duration::from_ns(given).to_string());
            report.violation(sighting, || {
                let right = Duration::from_ns(expected.deadline_abs);
                format!("gave {name} the deadline {given} instead of {right} at its replenishment")
            });
        }
    }

    /// The job of the task begins to run: its replenishment must have been recorded.
    pub fn begins(&mut self, trace: &TraceState, (task, job): (u32, u32), now: u64, report: &mut Report) {
        let Some(expected) = self.servers[task as usize].expected.take() else { return };
        if expected.must {
            let name = trace.name(task, job);
            report.violation(Sighting::at(Oracle::Budgets, now).of(name), || {
                format!("{name} runs after it was throttled, and no replenishment is recorded")
            });
        }
    }

    /// The trace is over: replenishments that should have come.
    pub fn finish(&self, trace: &TraceState, end: u64, report: &mut Report) {
        for (task, server) in (0..).zip(&self.servers) {
            if let Some(expected) = server.expected
                && expected.must
                && expected.at.saturating_add(self.bound) < end
            {
                let name = trace.name(task, trace.tasks[task as usize].first);
                report.violation(Sighting::at(Oracle::Budgets, expected.at).of(name), || {
                    format!("{name} was throttled until here, and no replenishment is recorded")
                });
            }
        }
    }
}
