//! Tasks that become real-time tasks and background ones again, and servers that get other sizes, while time goes on.
//!
//! 1. A task is in one cluster or in none. Nothing is demanded of background tasks but that the time they run is other work's, on CPUs of
//!    their affinity (`affinity.rs`).
//! 2. Where a task becomes a real-time task, the trace says from which job on. If that should have been released before, it is
//!    released now, and those behind it are as much later: they stay at least a period apart. How far it had got is not known.
//! 3. A job that has not ended when its task becomes ordinary has missed its deadline if that has passed.
//! 4. A server begins a period of another size where one of the same length ends, or, with another length, at the end of an instant at
//!    which no job of its CPU is pending (`policy/deferrable.h`): budgets of two periods in one window would be more than any analysis
//!    has.
//!    Whether a change was asked for is not in the trace.
//!
//! Complexity: O(pending jobs) per change, O(jobs) where a task begins anew at a job that had been released.

use super::Verification;
use super::servers::Begins;
use super::trace_state::{NONE, Pending, State};
use super::work::Work;
use crate::Oracle;
use crate::definition::task_id;
use crate::verdict::Sighting;
use laxity_model::Duration;
use laxity_trace::{Event, EventKind};

impl Verification<'_> {
    /// A task is there from now on, in the background: its first job is not released before. Whether the event says that.
    fn appears(&mut self, event: &Event) -> bool {
        let tasks = &self.trace.tasks;
        let ordinary =
            |task: &u32| tasks.get(*task as usize).is_some_and(|of| of.cluster == NONE && of.released == 0);
        let Some(task) = event.task.filter(ordinary).filter(|_| self.definition.has_changes()) else {
            return false;
        };
        self.periods.begins_anew(task, 0, self.now_ns);
        true
    }

    /// A task enters: as a real-time task, or in the background.
    pub(super) fn enters(&mut self, event: &Event) {
        if !self.appears(event) {
            self.with_task(event, |v, task| v.periods.enters(&v.trace, task, v.now_ns, &mut v.report));
        }
    }

    /// A task is a real-time task of a CPU from now on.
    pub(super) fn turns_real_time(&mut self, event: &Event) {
        let cpu = event.cpu.and_then(|cpu| self.trace.cpu_index(cpu));
        let known = |task: &u32| (*task as usize) < self.trace.tasks.len();
        let (Some(task), Some(job), Some(cpu)) = (event.task.filter(known), event.job, cpu) else {
            return self.incomplete(event);
        };
        if !self.definition.has_changes() || self.trace.tasks[task as usize].cluster != NONE {
            self.impossible((task, job), Some(cpu), "becomes a real-time task, which it is");
            return;
        }
        if let Some(reserves) = &mut self.reserves {
            reserves.turns_real_time(task);
        }
        let cluster = self.trace.cpus[cpu].cluster;
        let scale = self.trace.cpus[cpu].rate.scale;
        let of = self.trace.task(task);
        (of.cluster, of.scale) = (cluster, scale);
        (of.released, of.first) = (job, job);
        of.pending.clear();
        (of.state, of.started, of.running) = (State::Idle, false, 0);
        of.finished = None;
        self.periods.begins_anew(task, job, self.now_ns);
        self.budgets.begins_anew(task, scale);
        self.trace.task(task).work = Work::default();
    }

    /// A task is in the background from now on.
    pub(super) fn turns_ordinary(&mut self, (task, job): (u32, u32), cpu: usize) {
        let of = &self.trace.tasks[task as usize];
        if of.cluster != self.trace.cpus[cpu].cluster || of.running > 0 {
            self.impossible(
                (task, job),
                Some(cpu),
                "goes to the background where it is no real-time task, or while it runs as one",
            );
            return;
        }
        self.jobs_go(task);
        self.budgets.begins_anew(task, 1);
        let of = self.trace.task(task);
        of.cluster = NONE;
        of.carried = Some(job);
        of.pending.clear();
        of.state = State::Idle;
    }

    /// The task leaves. Under a real kernel its jobs go with it: it may be made to leave while they wait.
    pub(super) fn leaves_for_good(&mut self, task: u32) {
        self.periods.leaves(task, self.now_ns, &mut self.report);
        if self.order.measured.is_none() || self.trace.tasks[task as usize].running > 0 {
            return;
        }
        self.jobs_go(task);
        self.budgets.begins_anew(task, self.trace.tasks[task as usize].scale);
        let of = self.trace.task(task);
        of.pending.clear();
        of.state = State::Idle;
    }

    /// What has not ended of the task's jobs is not going to.
    fn jobs_go(&mut self, task: u32) {
        for place in 0..self.trace.tasks[task as usize].pending.len() {
            let of = &self.trace.tasks[task as usize];
            let Some(&Pending { deadline_abs_ns: deadline_abs, missed, complete, .. }) =
                of.pending.get(place)
            else {
                break;
            };
            if !complete {
                let name = self.trace.name(task, of.first.saturating_add(task_id(place)));
                self.deadlines.over(name, deadline_abs, missed, self.now_ns, &mut self.report);
            }
        }
        self.order.withdrawn(&self.trace, task, self.now_ns, &mut self.report);
    }

    /// A job of a background task has a CPU, which its task then ran on last.
    pub(super) fn ordinary_job(&mut self, event: &Event) {
        let (Some(task), Some(job)) = (event.task, event.job) else { return };
        let Some(of) = self.trace.tasks.get_mut(task as usize) else { return self.incomplete(event) };
        if of.cluster != NONE && event.kind == EventKind::BackgroundStart {
            self.impossible((task, job), None, "runs in the background, but its task is a real-time task");
        } else if let Some(cpu) = event.cpu {
            (of.last_cpu, of.carried) = (cpu, Some(job));
            if event.kind == EventKind::BackgroundStart {
                self.check_affinity_of_ordinary((task, job), cpu);
            }
        }
    }

    /// A period of a server begins whose size is another one.
    pub(super) fn server_period(&mut self, event: &Event) {
        self.report.checks(Oracle::WellFormed);
        let now = self.now_ns;
        let (Some(cpu), Some(period), Some(servers)) = (event.cpu, event.argument, &mut self.servers) else {
            return self.incomplete(event);
        };
        let Some(Begins { cluster, another, follows }) = servers.period_begins(cpu, period, now) else {
            return self.incomplete(event);
        };
        // A job that waits for its next budget is no longer of this busy period: with that it is as one that arrives.
        let pending = |task: &u32| {
            let of = &self.trace.tasks[*task as usize];
            !of.pending.is_empty() && of.state != State::Throttled
        };
        let members = (0..).take(self.trace.tasks.len());
        let quiet = !members
            .filter(|task: &u32| self.trace.tasks[*task as usize].cluster == cluster)
            .any(|task| pending(&task));
        let right = if another { quiet } else { follows || period == 0 };
        if !right {
            let sighting = Sighting::at(Oracle::WellFormed, now).on(Some(cpu));
            self.report.violation(sighting, |_| match another {
                true => format!(
                    "the server's period becomes {} while jobs are pending",
                    Duration::from_ns(period)
                ),
                false => "the server's size changes in the midst of a period".to_owned(),
            });
        }
    }

    /// And this is its budget.
    pub(super) fn server_budget(&mut self, event: &Event) {
        let now = self.now_ns;
        let (Some(cpu), Some(budget), Some(servers)) = (event.cpu, event.argument, &mut self.servers) else {
            return self.incomplete(event);
        };
        match servers.budget_is(cpu, budget, now) {
            Some(Some(change)) => self.right_of_other_work(change),
            Some(None) => {}
            None => self.incomplete(event),
        }
    }
}
