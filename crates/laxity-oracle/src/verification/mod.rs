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
mod sequence;
mod servers;
mod trace_state;
mod well_formed;
mod windows;

use crate::names::Names;
use crate::verdict::Report;
use crate::{Activity, BudgetRule, Definition, JobName, Oracle, Verdict};
use batching::Batching;
use budgets::{Budgets, Grant};
use deadlines::Deadlines;
use demand::{Demand, Leaves};
use laxities::Laxities;
use laxity_model::Duration;
use laxity_trace::{Event, EventKind};
use limitations::limitation;
use order::Order;
use periods::Periods;
use pushes::Pushes;
use reserve::Reserves;
use servers::Servers;
use trace_state::{NONE, Occupant, Pending, Progress, State, TraceState};

/// Verifies a trace while it is read.
pub struct Verification<'a> {
    definition: &'a Definition,
    trace: TraceState<'a>,
    order: Order,
    budgets: Budgets,
    demand: Demand,
    periods: Periods,
    deadlines: Deadlines,
    batching: Batching,
    pushes: Option<Pushes>,
    servers: Option<Servers>,
    reserves: Option<Reserves>,
    laxities: Option<Laxities>,
    report: Report,
    now_ns: u64,
    events: u64,
    jobs_completed: u64,
}

/// Verifies a trace that is in memory and ends at `end`, in ns.
pub fn verify(definition: &Definition, events: &[Event], end: u64) -> Verdict {
    let mut verification = Verification::new(definition);
    events.iter().for_each(|event| verification.event(event));
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
        Verification {
            definition,
            order,
            budgets: Budgets::new(definition, &trace),
            demand: Demand::new(trace.tasks.len()),
            periods: Periods::new(definition),
            deadlines: Deadlines::new(definition),
            batching: Batching::new(definition),
            pushes: Pushes::new(definition.transitions(), trace.cpus.len()),
            servers: Servers::new(definition),
            reserves: Reserves::new(definition, &trace),
            laxities: Laxities::new(definition, trace.tasks.len()),
            trace,
            report: Report::new(Names::new(definition)),
            now_ns: 0,
            events: 0,
            jobs_completed: 0,
        }
    }

    /// Takes the next event. Nothing that a trace may hold makes this panic.
    pub fn event(&mut self, event: &Event) {
        use EventKind::*;
        self.events += 1;
        self.report.checks(Oracle::WellFormed);
        if event.time_ns < self.now_ns {
            self.out_of_order(event);
        }
        self.advance(event.time_ns);
        match event.kind {
            Release => self.with_job(event, |v, job| v.released(job, event.argument)),
            Start | Resume | Migrate => self.with_job_on_cpu(event, |v, job, cpu| v.begins(job, cpu, event)),
            Throttle if event.cpu.is_none() && self.definition.budgets() == BudgetRule::Followed => {
                self.with_job(event, Self::waits_for_budget);
            }
            Throttle if event.cpu.is_none() && self.budgets_throttle() && self.budgets.noticed_late() => {
                self.with_job(event, Self::throttled_off_cpu);
            }
            Skip => self.with_job(event, Self::skipped),
            Preempt | Block | Throttle | Complete | Abort => {
                self.with_job_on_cpu(event, |v, job, cpu| v.ends(job, cpu, event));
            }
            Wake => self.with_job(event, Self::wakes),
            Replenish => self.with_job(event, |v, job| v.replenished(job, event.argument)),
            Postpone => self.with_job_on_cpu(event, |v, job, cpu| v.postponed(job, cpu, event.argument)),
            DeadlineMiss => self.with_job(event, |v, job| {
                v.deadlines.miss_event(&mut v.trace, job, v.now_ns, &mut v.report);
            }),
            Enter if self.appears(event) => {}
            Enter => {
                self.with_task(event, |v, task| v.periods.enters(&v.trace, task, v.now_ns, &mut v.report))
            }
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
                let Pending { deadline_abs_ns: deadline_abs, missed, complete, .. } = of.pending[place];
                if !complete {
                    let number = of.first.saturating_add(u32::try_from(place).unwrap_or(u32::MAX));
                    let name = self.trace.name(task, number);
                    self.deadlines.over(name, deadline_abs, missed, end, &mut self.report);
                }
            }
        }
        let findings = self.report.findings(|oracle| limitation(self.definition, oracle));
        let measured = self.order.measured.is_some().then(|| self.trace.observed(end));
        self.report.verdict((self.events, self.jobs_completed, end), findings, measured)
    }

    /// Time goes on to `to`: the instants before are over, and waiting jobs get their budgets.
    fn advance(&mut self, to: u64) {
        if to <= self.now_ns {
            return;
        }
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
    fn go_to(&mut self, to: u64) {
        if to > self.now_ns {
            self.close_instant();
            self.now_ns = to;
        }
    }

    /// Waiting jobs whose budgets come by `to` get them.
    fn replenish(&mut self, to: u64) {
        while let Some((at, task)) = self.budgets.due(to) {
            if at > self.now_ns {
                self.close_instant();
                self.now_ns = at;
            }
            let of = self.trace.task(task);
            if of.state == State::Throttled {
                of.state = State::Ready;
                let cluster = of.cluster;
                self.becomes_ready(task, true);
                self.timer(cluster, task);
                self.batching.due(cluster, task, self.now_ns);
            }
        }
    }

    fn close_instant(&mut self) {
        if let Some(reserves) = &mut self.reserves {
            let about = (&self.trace, self.servers.as_ref());
            reserves.close(about, &mut self.order, self.now_ns, &mut self.report);
        }
        self.order.close(&self.trace, self.now_ns, &mut self.report);
    }

    fn name(&self, (task, job): (u32, u32)) -> JobName {
        self.trace.name(task, job)
    }

    fn released(&mut self, (task, job): (u32, u32), argument: Option<u64>) {
        if !self.check_number((task, job)) {
            return;
        }
        self.check_release((task, job), false);
        let now = self.now_ns;
        let of = self.trace.task(task);
        let grouped = of.pending.is_empty() && of.finished.is_none_or(|finished| finished.at_ns < now);
        let cluster = of.cluster;
        let deadline_abs = self.deadlines.of(task, now);
        self.push_job((task, job), deadline_abs, true);
        let name = self.name((task, job));
        self.deadlines.check(name, deadline_abs, argument, now, &mut self.report);
        self.batching.due(cluster, task, now);
        if grouped {
            self.batching.released(cluster, name, now, &mut self.report);
        }
    }

    /// Takes the task's next job up, as released now: because the trace says so, or because it was left out there.
    fn push_job(&mut self, (task, job): (u32, u32), deadline_abs: u64, said: bool) {
        let name = JobName { task, job, deadline_ns: Some(deadline_abs), priority: None };
        if said {
            self.periods.check(name, self.now_ns, &mut self.report);
        }
        let demand = self.periods.advance(task, self.now_ns);
        let release = self.now_ns;
        let of = self.trace.task(task);
        let demand = demand.filter(|_| of.carried != Some(job));
        of.pending.push_back(Pending {
            release_ns: release,
            deadline_abs_ns: deadline_abs,
            demand_ns: demand,
            complete: false,
            missed: false,
        });
        of.released += 1;
        if of.pending.len() == 1 {
            self.serve_first(task);
            let of = &self.trace.tasks[task as usize];
            if of.state == State::Ready {
                self.timer(of.cluster, task);
            }
        }
    }

    /// The task's first job that is not complete gets the server.
    fn serve_first(&mut self, task: u32) {
        let now = self.now_ns;
        let of = &mut self.trace.tasks[task as usize];
        of.started = false;
        let Some(&Pending { release_ns: release, deadline_abs_ns: deadline_abs, .. }) = of.pending.front()
        else {
            of.state = State::Idle;
            return;
        };
        if release == now {
            let job = (task, of.first);
            self.budgets.wakes_up(&self.trace, job, now, &mut self.report);
        }
        let grant = self.budgets.arrives(task, (release, deadline_abs), now, &mut self.report);
        self.follow(task, grant);
    }

    /// The task's first job, which does not run, may run from some instant on, with some deadline.
    fn follow(&mut self, task: u32, Grant { ready_at, deadline_abs_ns: deadline_abs }: Grant) {
        let of = &mut self.trace.tasks[task as usize];
        of.server_deadline_abs_ns = deadline_abs;
        if ready_at > self.now_ns {
            of.state = State::Throttled;
            self.order.unready(of.cluster, task);
        } else {
            of.state = if of.running > 0 { State::Running } else { State::Ready };
            self.becomes_ready(task, true);
        }
    }

    /// What the job on a CPU has done goes to its demand and its budget; whether that is used up.
    fn account(&mut self, occupant: Occupant, cpu: usize, progress: Progress) -> bool {
        if occupant.stray {
            return false;
        }
        let job = (occupant.task, occupant.job);
        self.check_piece(occupant, cpu, progress);
        self.demand.progresses(occupant.task, progress);
        self.budgets.uses(&self.trace, job, cpu, progress, self.now_ns, &mut self.report)
    }

    /// Checks the work of a task's first job, which leaves a CPU.
    fn check_demand(&mut self, job: (u32, u32), cpu: usize, leaves: Leaves) {
        let cpu = Some(self.trace.cpus[cpu].cpu);
        self.demand.check(&self.trace, job, cpu, leaves, self.now_ns, &mut self.report);
    }

    fn wakes(&mut self, (task, job): (u32, u32)) {
        let of = self.trace.task(task);
        if of.state != State::Blocked || of.first != job {
            self.impossible((task, job), None, "wakes, but it was not blocked");
            return;
        }
        of.state = State::Ready;
        let cluster = of.cluster;
        self.becomes_ready(task, false);
        if let Some(windows) = &mut self.order.windows {
            windows.wakes(cluster, task, self.now_ns);
        }
        if let Some(measured) = &mut self.order.measured {
            measured.becomes_ready(task, self.now_ns);
        }
    }

    fn begins(&mut self, (task, job): (u32, u32), cpu: usize, event: &Event) {
        self.check_affinity(task, job, cpu);
        self.vacate(cpu, (task, job));
        let stray = !self.check_sequence((task, job), cpu);
        if !stray {
            self.check_begin((task, job), cpu, event);
            let (trace, now) = (&self.trace, self.now_ns);
            self.budgets.begins(trace, (task, job), now, &mut self.report);
            let name = self.name((task, job));
            let of = self.trace.task(task);
            of.running += 1;
            of.started = true;
            of.state = State::Running;
            of.last_cpu = event.cpu.unwrap_or(NONE);
            let cluster = of.cluster;
            self.order.runs(cluster, task);
            self.laxity_stays(task);
            self.batching.begins(cluster, name, now);
            if self.aborts_at(task).is_some_and(|at| at <= now) {
                self.order.begins_to_abort(&self.trace, task, now, &mut self.report);
            }
        }
        let rank = self.order.rank(task);
        if let Some(pushes) = &mut self.pushes {
            pushes.begins(cpu, rank, self.now_ns, &mut self.report);
        }
        if let Some(windows) = &mut self.order.windows {
            windows.begins(cpu, task, rank, self.now_ns);
        }
        if let Some(measured) = &mut self.order.measured {
            measured.runs(cpu, rank, self.now_ns);
        }
        let now = self.now_ns;
        let of = &mut self.trace.cpus[cpu];
        let kernel_work = of.kernel_work.before(now);
        of.occupant = Some(Occupant {
            task,
            job,
            since_ns: now,
            accounted_ns: now,
            kernel_work_ns: kernel_work,
            stray,
        });
    }

    fn ends(&mut self, (task, job): (u32, u32), cpu: usize, event: &Event) {
        let (kind, now) = (event.kind, self.now_ns);
        let runs = self.trace.cpus[cpu].occupant.is_some_and(|o| (o.task, o.job) == (task, job));
        if !runs {
            self.ends_elsewhere((task, job), cpu, event);
            return;
        }
        let Some((occupant, progress)) = self.trace.progress(cpu, now) else { return };
        self.trace.cpus[cpu].occupant = None;
        let leaves = Leaves::of(kind);
        if occupant.since_ns == now && leaves != Some(Leaves::Aborted) {
            self.impossible((task, job), Some(cpu), "runs for no time at all");
        }
        if occupant.stray {
            if leaves.is_some()
                && let Some(pending) = self.trace.pending(task, job)
            {
                pending.complete = true;
            }
            return;
        }
        // A real kernel notices when it decides about the job next.
        let used_up = self.account(occupant, cpu, progress) && !self.budgets.noticed_late();
        self.leaves((task, cpu), kind == EventKind::Preempt && !used_up);
        let of = self.trace.task(task);
        of.running = of.running.saturating_sub(1);
        if of.running > 0 && leaves.is_none() {
            return;
        }
        if of.running == 0 {
            of.state = State::Ready;
        }
        self.order.runs(of.cluster, task);
        self.check_demand((task, job), cpu, leaves.unwrap_or(Leaves::Stopped));
        match (leaves, kind) {
            (Some(leaves), _) => {
                self.check_end((task, job), cpu, leaves == Leaves::Aborted);
                self.ends_job((task, job), leaves, event.argument);
            }
            (None, EventKind::Throttle) => self.throttled((task, job), cpu),
            _ => {
                let server_deadline = self.trace.task(task).server_deadline_abs_ns;
                if used_up {
                    let grant = self.budgets.exhausted(task, server_deadline, now, false, &mut self.report);
                    self.follow(task, grant);
                }
                if kind == EventKind::Block {
                    let of = self.trace.task(task);
                    of.state = State::Blocked;
                    self.order.unready(of.cluster, task);
                } else if !used_up {
                    self.waits_again(task);
                }
            }
        }
    }
}
