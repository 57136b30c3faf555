//! What jobs do: they are released, begin to run, and leave their CPUs.
//!
//! Most events are plain: they are what the trace so far makes expect, and the definition has nothing that is asked or told whenever
//! a job begins or ends ([`Verification::is_plain`]). What the oracles would ask of these one by one is seen at a glance, and the
//! rest is left out at compile time (`PLAIN`). All others take the long way.

use super::batching::{Batching, Begun};
use super::budgets::Grant;
use super::deadlines::Deadlines;
use super::trace_state::{CpuTrace, NONE, Occupant, Pending, Progress, State};
use super::work::Leaves;
use super::{JobName, Verification};
use crate::Oracle;
use laxity_trace::{Event, EventKind};

/// A job that leaves its CPU.
struct Leaving {
    on: Occupant,
    progress: Progress,
    how: Option<Leaves>,
}

impl Verification<'_> {
    #[inline(always)]
    pub(super) fn released(&mut self, event: &Event) {
        let Some((task, job)) = self.job_of(event) else { return self.incomplete(event) };
        if self.is_plain && self.trace.tasks[task as usize].released == job {
            self.is_released::<true>((task, job), event.argument);
        } else {
            self.is_released_specially((task, job), event.argument);
        }
    }

    #[inline(never)]
    fn is_released_specially(&mut self, (task, job): (u32, u32), argument: Option<u64>) {
        if self.check_number((task, job)) {
            self.check_release((task, job), false);
            self.is_released::<false>((task, job), argument);
        }
    }

    #[inline(always)]
    fn is_released<const PLAIN: bool>(&mut self, (task, job): (u32, u32), argument: Option<u64>) {
        let now = self.now_ns;
        let of = &self.trace.tasks[task as usize];
        let grouped = of.pending.is_empty() && of.finished.is_none_or(|finished| finished.at_ns < now);
        let cluster = of.cluster;
        let deadline_abs = of.deadline(now);
        self.released += 1;
        let name = || JobName { task, job, deadline_ns: Some(deadline_abs), priority: None };
        let demand = self.periods.released(task, name, now, &mut self.report);
        self.push_job::<PLAIN>((task, job), deadline_abs, demand);
        if argument != Some(deadline_abs) {
            Deadlines::is_not(self.name((task, job)), deadline_abs, argument, now, &mut self.report);
        }
        let groups = &mut self.trace.tasks[task as usize].groups;
        self.batching.due(cluster, groups, now);
        if grouped && let Some(other) = self.batching.released(cluster, groups, now, &mut self.report) {
            let name = self.name((task, job));
            let other = self.trace.name_by(other.job, other.deadline_abs_ns);
            Batching::torn(other, name, now, &mut self.report);
        }
    }

    /// Takes the task's next job up, as released now, because it was left out in the trace.
    #[inline(never)]
    pub(super) fn make_up_job(&mut self, job: (u32, u32)) {
        let deadline_abs = self.trace.tasks[job.0 as usize].deadline(self.now_ns);
        let demand = self.periods.advance(job.0, self.now_ns);
        self.push_job::<false>(job, deadline_abs, demand);
    }

    #[inline(always)]
    fn push_job<const PLAIN: bool>(
        &mut self,
        (task, job): (u32, u32),
        deadline_abs: u64,
        demand: Option<u64>,
    ) {
        let release = self.now_ns;
        let of = &mut self.trace.tasks[task as usize];
        let demand = demand.filter(|_| of.carried != Some(job));
        let is_first = of.pending.push_back(|| Pending {
            release_ns: release,
            deadline_abs_ns: deadline_abs,
            demand_ns: demand,
            complete: false,
            missed: false,
        });
        of.released += 1;
        if PLAIN && is_first {
            // All that getting the server comes to where it always has a budget.
            of.started = false;
            of.server_deadline_abs_ns = deadline_abs;
            of.state = if of.running > 0 { State::Running } else { State::Ready };
            let cluster = of.cluster;
            self.order.ready(cluster, task, self.trace.key(task, deadline_abs));
        } else if is_first {
            self.serve_next(task);
            let of = &self.trace.tasks[task as usize];
            if of.state == State::Ready {
                self.timer(of.cluster, task);
            }
        }
    }

    /// The task's first job that is not complete gets the server.
    #[inline(never)]
    pub(super) fn serve_next(&mut self, task: u32) {
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
    pub(super) fn follow(&mut self, task: u32, Grant { ready_at, deadline_abs_ns: deadline_abs }: Grant) {
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

    pub(super) fn wakes(&mut self, (task, job): (u32, u32)) {
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

    /// Whether it is plain that a job may begin, and is said to as it does.
    #[inline(always)]
    fn begins_as_expected(&self, (task, job): (u32, u32), cpu: usize, event: &Event) -> bool {
        let (of, on) = (&self.trace.tasks[task as usize], &self.trace.cpus[cpu]);
        let moves = of.last_cpu != NONE && of.last_cpu != on.cpu;
        let from = moves.then_some(u64::from(of.last_cpu));
        let is_said = match event.kind {
            EventKind::Start => !of.started && event.argument == from,
            EventKind::Resume => of.started && !moves,
            _ => of.started && moves && event.argument == from,
        };
        let may_run_there = on.cluster == of.cluster && !on.dedicated && !on.taken && of.affinity.is_none();
        is_said && may_run_there && on.occupant.is_none() && of.first == job && of.state == State::Ready
    }

    #[inline(always)]
    pub(super) fn begins(&mut self, event: &Event) {
        let Some((job, cpu)) = self.job_on_cpu(event) else { return self.incomplete(event) };
        self.begun += 1;
        if self.is_plain && self.begins_as_expected(job, cpu, event) {
            self.takes_cpu(job, cpu);
        } else {
            self.begins_specially(job, cpu, event);
        }
    }

    /// The job has the CPU from now on.
    #[inline(always)]
    fn takes_cpu(&mut self, (task, job): (u32, u32), cpu: usize) {
        let now = self.now_ns;
        let on = &mut self.trace.cpus[cpu];
        on.takes((task, job), false, now);
        let of = &mut self.trace.tasks[task as usize];
        of.running += 1;
        of.started = true;
        of.state = State::Running;
        of.last_cpu = on.cpu;
        self.order.runs(of.cluster, task);
        if self.batching.is_grouped(&of.groups, now) {
            let deadline_abs_ns = of.server_deadline_abs_ns;
            self.batching.begins(of.cluster, Begun { job: (task, job), deadline_abs_ns });
        }
    }

    /// Asks the oracles one by one whether a job may begin on a CPU, and tells all that it does.
    #[inline(never)]
    fn begins_specially(&mut self, (task, job): (u32, u32), cpu: usize, event: &Event) {
        let now = self.now_ns;
        self.check_affinity(task, job, cpu);
        self.vacate(cpu, (task, job));
        if self.check_sequence((task, job), cpu) {
            self.check_begin((task, job), cpu, event);
            if self.budgets.enforced() {
                self.budgets.begins(&self.trace, (task, job), now, &mut self.report);
            }
            self.takes_cpu((task, job), cpu);
            self.laxity_stays(task);
            if self.aborts_at(task).is_some_and(|at| at <= now) {
                self.order.begins_to_abort(&self.trace, task, now, &mut self.report);
            }
        } else {
            self.trace.cpus[cpu].takes((task, job), true, now);
        }
        let rank = self.order.rank(task);
        if let Some(pushes) = &mut self.pushes {
            pushes.begins(cpu, rank, now, &mut self.report);
        }
        if let Some(windows) = &mut self.order.windows {
            windows.begins(cpu, task, rank, now);
        }
        if let Some(measured) = &mut self.order.measured {
            measured.runs(cpu, rank, now);
        }
    }

    #[inline(always)]
    pub(super) fn ends(&mut self, event: &Event) {
        let Some(((task, job), cpu)) = self.job_on_cpu(event) else { return self.incomplete(event) };
        let now = self.now_ns;
        let CpuTrace { occupant, kernel_work, rate, .. } = &mut self.trace.cpus[cpu];
        let Some(on) = occupant.take_if(|on| (on.task, on.job) == (task, job)) else {
            return self.ends_elsewhere((task, job), cpu, event);
        };
        let how = Leaves::of(event.kind);
        let gross = now - on.accounted_ns;
        let kernel = (kernel_work.before(now) - on.kernel_work_ns).min(gross);
        let (net, rate) = (rate.work(gross - kernel), *rate);
        let ran = on.since_ns < now;
        if self.is_plain && !on.stray && ran && matches!(event.kind, EventKind::Complete | EventKind::Preempt)
        {
            self.trace.tasks[task as usize].work.progresses(net, rate);
            self.leaves_cpu::<true>((task, job), cpu, event, (how, false));
        } else {
            let progress = Progress { net, gross: rate.work(gross), rate };
            self.ends_specially((task, job), cpu, event, Leaving { on, progress, how });
        }
    }

    /// A job that runs ends or stops, and that is worth a closer look.
    #[inline(never)]
    fn ends_specially(&mut self, (task, job): (u32, u32), cpu: usize, event: &Event, leaving: Leaving) {
        let Leaving { on, progress, how } = leaving;
        if on.since_ns == self.now_ns && how != Some(Leaves::Aborted) {
            self.impossible((task, job), Some(cpu), "runs for no time at all");
        }
        if on.stray {
            if how.is_some()
                && let Some(pending) = self.trace.pending(task, job)
            {
                pending.complete = true;
            }
            return;
        }
        // A real kernel notices when it decides about the job next.
        let used_up = self.account(on, cpu, progress) && !self.budgets.noticed_late();
        self.leaves((task, cpu), event.kind == EventKind::Preempt && !used_up);
        self.leaves_cpu::<false>((task, job), cpu, event, (how, used_up));
    }

    /// A task's first job has the CPU no more.
    #[inline(always)]
    fn leaves_cpu<const PLAIN: bool>(
        &mut self,
        (task, job): (u32, u32),
        cpu: usize,
        event: &Event,
        (how, used_up): (Option<Leaves>, bool),
    ) {
        let of = &mut self.trace.tasks[task as usize];
        of.running = of.running.saturating_sub(1);
        if of.running > 0 && how.is_none() {
            return;
        }
        if of.running == 0 {
            of.state = State::Ready;
        }
        self.order.runs(of.cluster, task);
        self.check_demand((task, job), cpu, how.unwrap_or(Leaves::Stopped));
        if let Some(how) = how {
            if PLAIN {
                self.report.checks(Oracle::Demand);
            } else {
                self.check_end((task, job), cpu, how == Leaves::Aborted);
            }
            self.ends_job((task, job), how, event.argument);
        } else if !PLAIN {
            self.waits((task, job), cpu, event.kind, used_up);
        }
    }

    /// What the job on a CPU has done goes to its demand and its budget; whether that is used up.
    pub(super) fn account(&mut self, occupant: Occupant, cpu: usize, progress: Progress) -> bool {
        if occupant.stray {
            return false;
        }
        let job = (occupant.task, occupant.job);
        self.check_piece(occupant, cpu, progress);
        self.trace.task(occupant.task).work.progresses(progress.net, progress.rate);
        self.budgets.enforced()
            && self.budgets.uses(&self.trace, job, cpu, progress, self.now_ns, &mut self.report)
    }

    /// Checks the work of a task's first job, which leaves a CPU.
    #[inline(always)]
    pub(super) fn check_demand(&mut self, job: (u32, u32), cpu: usize, leaves: Leaves) {
        let cpu = self.trace.cpus[cpu].cpu;
        self.trace.check_demand(job, cpu, leaves, self.now_ns, &mut self.report);
    }

    /// A job that is not over has left its CPU: for what it waits.
    fn waits(&mut self, (task, job): (u32, u32), cpu: usize, kind: EventKind, used_up: bool) {
        if kind == EventKind::Throttle {
            return self.throttled((task, job), cpu);
        }
        let server_deadline = self.trace.task(task).server_deadline_abs_ns;
        if used_up {
            let now = self.now_ns;
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
