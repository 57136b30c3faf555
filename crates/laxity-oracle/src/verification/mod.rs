//! One pass over the events of a trace: keeps what they say, and asks every oracle.
//!
//! Memory: tasks, CPUs, and jobs that are released and not complete. Time: O(log n) per event.

mod affinity;
mod batching;
mod budget_events;
mod budgets;
mod changes;
mod deadlines;
mod demand;
mod enforcement;
mod followed;
mod interference;
mod kernel_events;
mod kernel_work;
mod late;
mod laxities;
mod limitations;
mod measured;
mod one_cpu;
mod order;
mod other_work;
mod periods;
mod pieces;
mod pushes;
mod rank;
mod reserve;
mod running;
mod sequence;
mod servers;
mod trace_state;
mod well_formed;
mod windows;
mod work;

use crate::names::Names;
use crate::verdict::Report;
use crate::{Activity, BudgetRule, Definition, JobName, Oracle, Verdict};
use batching::Batching;
use budgets::Budgets;
use deadlines::Deadlines;
use laxities::Laxities;
use laxity_model::{Duration, OnMiss};
use laxity_trace::{Event, EventKind};
use limitations::limitation;
use order::Order;
use periods::Periods;
use pushes::Pushes;
use reserve::Reserves;
use servers::Servers;
use trace_state::{Occupant, Pending, State, TraceState};
use work::Leaves;

/// Verifies a trace while it is read.
pub struct Verification<'a> {
    definition: &'a Definition,
    trace: TraceState<'a>,
    order: Order,
    budgets: Budgets,
    periods: Periods,
    deadlines: Deadlines,
    batching: Batching,
    pushes: Option<Pushes>,
    servers: Option<Servers>,
    reserves: Option<Reserves>,
    laxities: Option<Laxities>,
    /// Nothing but events and budgets changes what should run: no servers, no reserves, no laxities.
    only_jobs: bool,
    /// Nothing is asked or told whenever a job is released, begins or leaves its CPU but what is true of all definitions: budgets are not
    /// enforced, laxities do not matter, late jobs run on, and no pushes, windows or measured activities are followed.
    is_plain: bool,
    report: Report,
    now_ns: u64,
    events: u64,
    /// How often a job began to run somewhere, was released, and was over.
    begun: u64,
    released: u64,
    ended: u64,
    /// So many of those that were over were aborted.
    aborted: u64,
}

/// Verifies a trace that is in memory and ends at `end`, in ns.
pub fn verify(definition: &Definition, events: &[Event], end: u64) -> Verdict {
    let mut verification = Verification::new(definition);
    verification.events(events);
    verification.finish(end)
}

/// Verifies a trace of a real kernel that is in memory: `activities`, in the order of their beginnings, are all that excuses
/// a deviation. Wake-ups that nothing else tells of may be `late`.
pub fn verify_measured(
    definition: &Definition,
    events: &[Event],
    activities: &[Activity],
    late: Duration,
    end: u64,
) -> Verdict {
    let mut verification = Verification::new(definition).measured(late);
    let mut activities = activities.iter().peekable();
    for event in events {
        while let Some(activity) = activities.next_if(|activity| activity.from_ns <= event.time_ns) {
            verification.activity(activity);
        }
        verification.event(event);
    }
    activities.filter(|activity| activity.from_ns < end).for_each(|activity| verification.activity(activity));
    verification.finish(end)
}

impl<'a> Verification<'a> {
    /// Has seen nothing yet.
    pub fn new(definition: &'a Definition) -> Self {
        let trace = TraceState::new(definition);
        let order = Order::new(definition, &trace);
        let servers = Servers::new(definition);
        let reserves = Reserves::new(definition, &trace);
        let laxities = Laxities::new(definition, trace.tasks.len());
        let budgets = Budgets::new(definition, &trace);
        let pushes = Pushes::new(definition.transitions(), trace.cpus.len());
        Verification {
            definition,
            is_plain: !budgets.enforced()
                && laxities.is_none()
                && definition.on_miss() == OnMiss::Continue
                && pushes.is_none()
                && order.windows.is_none(),
            order,
            budgets,
            periods: Periods::new(definition),
            deadlines: Deadlines::new(definition),
            batching: Batching::new(definition),
            pushes,
            only_jobs: servers.is_none() && reserves.is_none() && laxities.is_none(),
            servers,
            reserves,
            laxities,
            trace,
            report: Report::new(Names::new(definition)),
            now_ns: 0,
            events: 0,
            begun: 0,
            released: 0,
            ended: 0,
            aborted: 0,
        }
    }

    /// Takes the next event. Nothing that a trace may hold makes this panic.
    pub fn event(&mut self, event: &Event) {
        self.events(std::slice::from_ref(event));
    }

    /// Takes the next events: many at a time cost less.
    pub fn events(&mut self, events: &[Event]) {
        self.events += events.len() as u64;
        for event in events {
            self.take(event);
        }
    }

    #[inline(always)]
    fn take(&mut self, event: &Event) {
        use EventKind::*;
        if event.time_ns != self.now_ns {
            if event.time_ns < self.now_ns {
                self.out_of_order(event);
            }
            self.advance(event.time_ns);
        }
        match event.kind {
            Release => self.released(event),
            Start | Resume | Migrate => self.begins(event),
            Throttle if event.cpu.is_none() && self.definition.budgets() == BudgetRule::Followed => {
                self.with_job(event, Self::waits_for_budget);
            }
            Throttle if event.cpu.is_none() && self.budgets_throttle() && self.budgets.noticed_late() => {
                self.with_job(event, Self::throttled_off_cpu);
            }
            Skip => self.with_job(event, Self::skipped),
            Preempt | Block | Throttle | Complete | Abort => self.ends(event),
            Wake => self.with_job(event, Self::wakes),
            Replenish => self.with_job(event, |v, job| v.replenished(job, event.argument)),
            Postpone => self.with_job_on_cpu(event, |v, job, cpu| v.postponed(job, cpu, event.argument)),
            DeadlineMiss => self.with_job(event, |v, job| {
                v.deadlines.miss_event(&mut v.trace, job, v.now_ns, &mut v.report);
            }),
            Enter => self.enters(event),
            Leave => self.with_task(event, Self::leaves_for_good),
            BackgroundStart | BackgroundStop => self.other_work(event),
            BackgroundWait => self.other_work_waits(event),
            Withdraw | Restore => self.interferes(event),
            Promote => self.turns_real_time(event),
            Demote => self.with_job_on_cpu(event, |v, job, cpu| v.turns_ordinary(job, cpu)),
            ServerPeriod => self.server_period(event),
            ServerBudget => self.server_budget(event),
            CacheDelay => self.cache_delay(event),
            PushAbandoned => self.push_abandoned(event),
            Push | Pull => self.moved(event),
            Ipi | DspMessage | LinkSwap => self.decision_travels(event),
            kind if kind.is_overhead() => self.kernel_work(event),
            // What else a policy does does not show in the schedule, and explains nothing.
            _ => {}
        }
    }

    /// The trace ends at `end`: what is open is judged, and the verdict made.
    pub fn finish(mut self, end: u64) -> Verdict {
        let end = end.max(self.now_ns);
        self.advance(end);
        self.close_instant();
        for cpu in 0..self.trace.cpus.len() {
            if let Some((occupant, progress)) = self.trace.progress(cpu, self.now_ns) {
                self.account(occupant, cpu, progress);
                if !occupant.stray {
                    self.check_demand((occupant.task, occupant.job), cpu, Leaves::Stopped);
                }
            }
        }
        self.order.finish(&self.trace, end, &mut self.report);
        if let Some(reserves) = &mut self.reserves {
            reserves.finish(&self.trace, end, &mut self.report);
        }
        if let Some(pushes) = &mut self.pushes {
            pushes.finish(end, &mut self.report);
        }
        self.budgets.finish(&self.trace, end, &mut self.report);
        self.periods.finish(&self.trace, end, &mut self.report);
        self.finish_interference(end);
        for task in (0..).take(self.trace.tasks.len()) {
            for place in 0..self.trace.tasks[task as usize].pending.len() {
                let of = &self.trace.tasks[task as usize];
                let Some(&Pending { deadline_abs_ns: deadline_abs, missed, complete, .. }) =
                    of.pending.get(place)
                else {
                    break;
                };
                if !complete {
                    let number = of.first.saturating_add(u32::try_from(place).unwrap_or(u32::MAX));
                    let name = self.trace.name(task, number);
                    self.deadlines.over(name, deadline_abs, missed, end, &mut self.report);
                }
            }
        }
        self.count_checks();
        let findings = self.report.findings(|oracle| limitation(self.definition, oracle));
        let measured = self.order.measured.is_some().then(|| self.trace.observed(end));
        self.report.verdict((self.events, self.ended - self.aborted, end), findings, measured)
    }

    /// Counts what is checked whenever something else is counted.
    fn count_checks(&mut self) {
        let instants = self.order.checked();
        self.report.checks_often(Oracle::WellFormed, self.events);
        for oracle in [Oracle::Affinity, Oracle::OneCpu, Oracle::Sequence] {
            self.report.checks_often(oracle, self.begun);
        }
        for oracle in [Oracle::GlobalInvariant, Oracle::WorkConservation] {
            self.report.checks_often(oracle, instants);
        }
        // That a job is released, and when. Its deadline then and when it is over, and whether it was missed.
        self.report.checks_often(Oracle::Periods, self.released.saturating_mul(2));
        self.report
            .checks_often(Oracle::Deadlines, self.released.saturating_add(self.ended.saturating_mul(2)));
    }

    /// Time goes on to `to`: the instants before are over, and waiting jobs get their budgets.
    #[inline(always)]
    fn advance(&mut self, to: u64) {
        if to <= self.now_ns {
            return;
        }
        if self.only_jobs {
            self.replenish(to);
            self.go_to(to);
        } else {
            self.advance_with_others(to);
        }
    }

    /// Where more than events and budgets changes what should run.
    #[inline(never)]
    fn advance_with_others(&mut self, to: u64) {
        if self.reserves.is_some() {
            // What runs from here on says when that is used up.
            self.close_instant();
        }
        while let Some(at) = self.next_change_of_other_work().filter(|&at| at <= to) {
            self.replenish(at);
            self.laxities_run_out(at);
            self.go_to(at);
            if let Some(reserves) = &mut self.reserves {
                reserves.count(at);
            }
            while let Some(change) = self.servers.as_mut().and_then(|servers| servers.change(at)) {
                self.right_of_other_work(change);
            }
            if self.reserves.is_some() && at < to {
                self.close_instant();
            }
        }
        self.replenish(to);
        self.laxities_run_out(to);
        self.go_to(to);
    }

    /// The instants before `to` are over.
    #[inline(always)]
    fn go_to(&mut self, to: u64) {
        if to > self.now_ns {
            self.close_instant();
            self.now_ns = to;
        }
    }

    /// Waiting jobs whose budgets come by `to` get them.
    #[inline(always)]
    fn replenish(&mut self, to: u64) {
        while let Some((at, task)) = self.budgets.due(to) {
            self.replenish_one(task, at);
        }
    }

    #[inline(never)]
    fn replenish_one(&mut self, task: u32, at: u64) {
        self.go_to(at);
        let of = self.trace.task(task);
        if of.state == State::Throttled {
            of.state = State::Ready;
            let cluster = of.cluster;
            self.becomes_ready(task, true);
            self.timer(cluster, task);
            let of = &self.trace.tasks[task as usize];
            self.batching.due(cluster, &of.groups, self.now_ns);
        }
    }

    #[inline(always)]
    fn close_instant(&mut self) {
        if let Some(reserves) = &mut self.reserves {
            let about = (&self.trace, self.servers.as_ref());
            reserves.close(about, &mut self.order, self.now_ns, &mut self.report);
        }
        self.order.close(&self.trace, self.now_ns, &mut self.report);
    }

    #[inline]
    fn name(&self, (task, job): (u32, u32)) -> JobName {
        self.trace.name(task, job)
    }
}
