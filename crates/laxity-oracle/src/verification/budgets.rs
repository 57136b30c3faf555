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
//! In a real kernel a budget is enforced late: `enforcement.rs` says what excuses that.
//!
//! Complexity: O(1) per event, O(log n) per replenishment.
//! Source: ackelman2018, 5.1; Abeni and Buttazzo, Integrating multimedia applications in hard real-time systems (1998).

use super::enforcement::UnderWay;
use super::trace_state::{Progress, TraceState};
use super::work::Rate;
use crate::verdict::{Report, Sighting};
use crate::{Activity, BudgetRule, Definition, Oracle};
use laxity_model::{Arrival, Duration};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A replenishment that the trace should show.
#[derive(Clone, Copy)]
struct Expected {
    at_ns: u64,
    deadline_abs_ns: u64,
    /// The job was throttled while it ran, so the event must come; otherwise it may.
    must: bool,
}

#[derive(Clone, Default)]
struct Server {
    /// In ns, and in the parts in which work is counted.
    wcet_ns: u64,
    budget_parts: u128,
    period_ns: u64,
    deadline_rel_ns: u64,
    /// Its jobs come when it wakes up.
    wakes_up: bool,
    began_ns: Option<u64>,
    /// Work in this server period: at least, as the oracle counts, at most.
    used_low_parts: u128,
    used_parts: u128,
    used_high_parts: u128,
    overrun: bool,
    /// In a real kernel: how long a job ran beyond the budget while it was about to be ended, in ns.
    excused_ns: u64,
    /// When the budget was last used up.
    exhausted_at: Option<u64>,
    expected: Option<Expected>,
}

/// What happens to a job.
#[derive(Clone, Copy)]
pub(super) struct Grant {
    /// From when on it may run.
    pub ready_at: u64,
    /// The deadline it is scheduled by.
    pub deadline_abs_ns: u64,
}

pub(super) struct Budgets {
    mode: BudgetRule,
    bound: u64,
    servers: Vec<Server>,
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    replenished_late: u64,
    /// In a real kernel: by CPU, what is under way to the end of a budget.
    under_way: Option<Vec<UnderWay>>,
}

/// How far work went beyond a budget, just now.
struct Beyond {
    cpu: usize,
    /// In the parts in which work is counted: before this, and with it.
    before: u128,
    over: u128,
    rate: Rate,
}

impl Server {
    fn refill(&mut self, began: u64, report: &mut Report) {
        self.began_ns = Some(began);
        report.overrun(std::mem::take(&mut self.excused_ns));
        (self.used_low_parts, self.used_parts, self.used_high_parts, self.overrun) = (0, 0, 0, false);
    }
}

impl Budgets {
    pub fn new(definition: &Definition, trace: &TraceState) -> Self {
        let servers = definition.set().tasks().iter().zip(&trace.tasks).map(|(task, of)| Server {
            wcet_ns: task.wcet.as_ns(),
            budget_parts: u128::from(task.wcet.as_ns()) * u128::from(of.scale),
            period_ns: task.period().as_ns(),
            deadline_rel_ns: task.deadline_rel.as_ns(),
            wakes_up: definition.job_source().is_none() && matches!(task.arrival, Arrival::Sporadic { .. }),
            ..Server::default()
        });
        Budgets {
            mode: definition.budgets(),
            bound: definition.transitions().bound.as_ns(),
            servers: servers.collect(),
            timers: BinaryHeap::new(),
            replenished_late: 0,
            under_way: None,
        }
    }

    /// The task begins anew where so many parts of work are in a ns: nothing of before counts.
    pub fn begins_anew(&mut self, task: u32, scale: u64) {
        self.timers.retain(|Reverse((_, other))| *other != task);
        let server = &mut self.servers[task as usize];
        *server = Server {
            budget_parts: u128::from(server.wcet_ns) * u128::from(scale),
            wcet_ns: server.wcet_ns,
            period_ns: server.period_ns,
            deadline_rel_ns: server.deadline_rel_ns,
            wakes_up: server.wakes_up,
            ..Server::default()
        };
    }

    /// As in a real kernel: budgets may be enforced late if activities explain it, and whatever a CPU does is charged to the job that
    /// has it. A job that was off its CPU when its budget was seen to be used up may be replenished up to `late` ns after the
    /// instant at which that should have been.
    pub fn noticed_late_on(&mut self, cpus: usize, late: u64) {
        self.replenished_late = late;
        self.under_way = Some(vec![UnderWay::default(); cpus]);
    }

    /// Whether a budget may be used up without a record of it yet.
    pub fn noticed_late(&self) -> bool {
        self.under_way.is_some()
    }

    /// An activity begins on a CPU.
    pub fn activity(&mut self, cpu: usize, activity: &Activity) {
        if self.enforced()
            && let Some(under_way) = &mut self.under_way
        {
            under_way[cpu].begins(activity);
        }
    }

    /// Work of the task's first job, and of those before it in its server period, where budgets are enforced.
    pub fn used(&self, task: u32) -> u128 {
        self.servers[task as usize].used_parts
    }

    #[inline]
    pub fn enforced(&self) -> bool {
        !matches!(self.mode, BudgetRule::OFF | BudgetRule::Followed)
    }

    /// The next replenishment of a waiting job, if it is not after `now`.
    #[inline]
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
            let at = if self.noticed_late() { ready_at.max(now) } else { ready_at };
            self.servers[task as usize].expected =
                Some(Expected { at_ns: at, deadline_abs_ns: deadline_abs, must });
        }
        Grant { ready_at, deadline_abs_ns: deadline_abs }
    }

    /// A job of the task is released by its waking up in a real kernel (assumption 4): its server period ends.
    pub fn wakes_up(&mut self, trace: &TraceState, (task, job): (u32, u32), now: u64, report: &mut Report) {
        let real = self.noticed_late();
        let server = &mut self.servers[task as usize];
        if !real || !server.wakes_up {
            return;
        }
        let Some(began) = server.began_ns.take() else { return };
        let span = server.deadline_rel_ns.min(server.period_ns);
        let until_deadline = began.saturating_add(server.deadline_rel_ns).saturating_sub(now);
        let left = server.budget_parts.saturating_sub(server.used_low_parts).saturating_mul(span.into());
        if self.mode == BudgetRule::THROTTLE
            && until_deadline > 0
            && left <= server.budget_parts.saturating_mul(until_deadline.into())
        {
            let name = trace.name(task, job);
            report.violation(Sighting::at(Oracle::Budgets, now).of(name), |names| {
                format!(
                    "began a server period with {name}, {} before the end of one whose budget would have done",
                    Duration::from_ns(until_deadline), name = names.job(name))
            });
        }
    }

    /// A job of the task gets the server (assumption 2).
    pub fn arrives(
        &mut self,
        task: u32,
        (release, deadline_abs): (u64, u64),
        now: u64,
        report: &mut Report,
    ) -> Grant {
        if !self.enforced() {
            return Grant { ready_at: release, deadline_abs_ns: deadline_abs };
        }
        let server = &mut self.servers[task as usize];
        let mut ready_at = release;
        match server.began_ns {
            Some(began) if release < began.saturating_add(server.period_ns) => {
                if server.used_parts >= server.budget_parts {
                    server.refill(began.saturating_add(server.period_ns), report);
                    if self.mode == BudgetRule::THROTTLE {
                        ready_at = began.saturating_add(server.period_ns);
                    }
                }
            }
            _ => server.refill(release, report),
        }
        let began = server.began_ns.unwrap_or(release);
        let deadline_abs =
            if began > release { began.saturating_add(server.deadline_rel_ns) } else { deadline_abs };
        self.grant(task, now, ready_at, deadline_abs, false)
    }

    /// The running job of the task got this far; whether the budget is used up. Where budgets are enforced.
    pub fn uses(
        &mut self,
        trace: &TraceState,
        (task, job): (u32, u32),
        cpu: usize,
        progress: Progress,
        now: u64,
        report: &mut Report,
    ) -> bool {
        report.checks(Oracle::Budgets);
        let late = self.noticed_late();
        let server = &mut self.servers[task as usize];
        let before = server.used_low_parts.saturating_sub(server.budget_parts);
        server.used_low_parts = server.used_low_parts.saturating_add(progress.net);
        let used = if late { progress.gross } else { progress.net };
        server.used_parts = server.used_parts.saturating_add(used);
        server.used_high_parts = server.used_high_parts.saturating_add(progress.gross);
        let over = server.used_low_parts.saturating_sub(server.budget_parts);
        let used_up = server.used_parts >= server.budget_parts;
        if over > before {
            let beyond = Beyond { cpu, before, over, rate: progress.rate };
            self.check_overrun(trace, (task, job), &beyond, now, report);
        }
        if let Some(under_way) = &mut self.under_way {
            under_way[cpu].forget(now);
        }
        used_up
    }

    /// The running job of the task is beyond its budget: whether that is excused.
    fn check_overrun(
        &mut self,
        trace: &TraceState,
        (task, job): (u32, u32),
        beyond: &Beyond,
        now: u64,
        report: &mut Report,
    ) {
        let &Beyond { cpu, before, over, rate } = beyond;
        let server = &mut self.servers[task as usize];
        let ns = |parts: u128| u64::try_from(parts / u128::from(rate.per_ns.max(1))).unwrap_or(u64::MAX);
        let (wall, unexplained) = match &mut self.under_way {
            Some(under_way) => {
                let wall = ns(over - before);
                let idle = under_way[cpu].idle((now.saturating_sub(wall), now));
                server.excused_ns = server.excused_ns.saturating_add(wall - idle);
                if wall > idle {
                    report.needs_excuse((task, job));
                }
                (wall, Some(idle))
            }
            None => (ns(over), None),
        };
        let over = match unexplained {
            Some(idle) => rate.work(idle),
            None => over,
        };
        // A budget that does not end at a whole ns is enforced at the next one.
        if over <= rate.work(self.bound).saturating_add(rate.rounding()) || server.overrun {
            return;
        }
        server.overrun = true;
        let sighting = Sighting {
            from_ns: now.saturating_sub(wall),
            unexplained_ns: unexplained,
            ..Sighting::at(Oracle::Budgets, now)
        };
        let name = trace.name(task, job);
        let (budget, period) = (Duration::from_ns(server.wcet_ns), Duration::from_ns(server.period_ns));
        report.violation(sighting.on(Some(trace.cpus[cpu].cpu)).of(name), |names| {
            let text =
                format!("ran {name} beyond its budget of {budget} per {period}", name = names.job(name));
            match unexplained {
                Some(idle) => {
                    let idle = Duration::from_ns(idle);
                    format!("{text}, and for {idle} nothing was under way to end that")
                }
                None => text,
            }
        });
    }

    /// Part of what the job does is cold caches.
    pub fn cache_delay(&mut self, task: u32, work: u128) {
        let server = &mut self.servers[task as usize];
        server.used_low_parts = server.used_low_parts.saturating_sub(work);
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
        if server.used_high_parts >= server.budget_parts {
            return;
        }
        let left = (server.budget_parts - server.used_high_parts) * u128::from(server.wcet_ns)
            / server.budget_parts.max(1);
        let left = Duration::from_ns(u64::try_from(left).unwrap_or(u64::MAX));
        let name = trace.name(task, job);
        report.violation(Sighting::at(Oracle::Budgets, now).on(cpu).of(name), |names| {
            format!("enforced the budget of {name}, which had {left} left", name = names.job(name))
        });
    }

    /// The first job of the task has used its budget up (assumption 3).
    pub fn exhausted(
        &mut self,
        task: u32,
        server_deadline_abs: u64,
        now: u64,
        announced: bool,
        report: &mut Report,
    ) -> Grant {
        let throttles = self.mode == BudgetRule::THROTTLE;
        let server = &mut self.servers[task as usize];
        let began = server.began_ns.unwrap_or(now).saturating_add(server.period_ns);
        server.refill(began, report);
        server.exhausted_at = Some(now);
        let deadline_abs = match throttles {
            true => began.saturating_add(server.deadline_rel_ns),
            false => server_deadline_abs.saturating_add(server.period_ns),
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
            report.violation(sighting, |names| {
                format!("replenished {name}, which did not wait for budget", name = names.job(name))
            });
            return;
        };
        if now < expected.at_ns || now - expected.at_ns > self.bound.max(self.replenished_late) {
            report.violation(sighting, |names| {
                format!(
                    "replenished {name}, whose next server period begins at {}",
                    Duration::from_ns(expected.at_ns),
                    name = names.job(name)
                )
            });
        } else if argument != Some(expected.deadline_abs_ns) {
            let given = argument.map_or("none".to_owned(), |given| Duration::from_ns(given).to_string());
            report.violation(sighting, |names| {
                let right = Duration::from_ns(expected.deadline_abs_ns);
                format!(
                    "gave {name} the deadline {given} instead of {right} at its replenishment",
                    name = names.job(name)
                )
            });
        }
    }

    /// The job of the task begins to run: its replenishment must have been recorded, where budgets are enforced.
    pub fn begins(&mut self, trace: &TraceState, (task, job): (u32, u32), now: u64, report: &mut Report) {
        let Some(expected) = self.servers[task as usize].expected.take() else { return };
        if expected.must {
            let name = trace.name(task, job);
            report.violation(Sighting::at(Oracle::Budgets, now).of(name), |names| {
                format!(
                    "{name} runs after it was throttled, and no replenishment is recorded",
                    name = names.job(name)
                )
            });
        }
    }

    /// The trace is over: replenishments that should have come.
    pub fn finish(&self, trace: &TraceState, end: u64, report: &mut Report) {
        self.servers.iter().for_each(|server| report.overrun(server.excused_ns));
        for (task, server) in (0..).zip(&self.servers) {
            if let Some(expected) = server.expected
                && expected.must
                && expected.at_ns.saturating_add(self.bound.max(self.replenished_late)) < end
            {
                let name = trace.name(task, trace.tasks[task as usize].first);
                report.violation(Sighting::at(Oracle::Budgets, expected.at_ns).of(name), |names| {
                    format!(
                        "{name} was throttled until here, and no replenishment is recorded",
                        name = names.job(name)
                    )
                });
            }
        }
    }
}
