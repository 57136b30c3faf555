//! Well-formedness: the rules at the top of `laxity-trace`'s `event.rs`, and that each event is possible after those
//! before it.
//!
//! 1. Events are in time order, and have the task, job, CPU and length that their kind needs, known to the definition.
//! 2. A job starts once, on a CPU where it begins, and names the CPU where its task ran last if that is another one. It
//!    resumes only where it ran before, and migrates only from where it ran before. It does not run after it completed.
//! 3. A job is stopped, blocked, throttled, completed or aborted only where it runs, after it has run for some time; for no time only
//!    if it aborts. In a real kernel one that has woken up without a budget may be throttled while it waits for a CPU: on none.
//! 4. Only a blocked job wakes, and no blocked job runs.
//!
//! What cannot be is reported and then forgotten as far as possible, so that one mistake does not hide the next.
//! Complexity: O(1) per event.

use super::Verification;
use super::trace_state::{NONE, State};
use super::work::Leaves;
use crate::Oracle;
use crate::verdict::Sighting;
use laxity_model::Duration;
use laxity_trace::{Event, EventKind};

impl Verification<'_> {
    pub(super) fn out_of_order(&mut self, event: &Event) {
        let sighting = Sighting::at(Oracle::WellFormed, event.time_ns).on(event.cpu);
        let now = Duration::from_ns(self.now_ns);
        self.report.violation(sighting, |_| format!("{} comes after events of t={now}", event.kind.name()));
    }

    /// An event without the parts that its kind needs, or with parts that the definition does not have.
    pub(super) fn incomplete(&mut self, event: &Event) {
        let sighting = Sighting::at(Oracle::WellFormed, self.now_ns).on(event.cpu);
        self.report.violation(sighting, |names| {
            let part = |name: &str, value: Option<u64>| match value {
                Some(value) => format!("{name} {value}"),
                None => format!("no {name}"),
            };
            let cpu = part("CPU", event.cpu.map(u64::from));
            let task = event.task.map_or("no task".to_owned(), |task| format!("task {}", names.task(task)));
            let (job, argument) = (part("job", event.job.map(u64::from)), part("argument", event.argument));
            let kind = event.kind.name();
            format!("{kind} with {cpu}, {task}, {job}, {argument} lacks something, or is not of this system")
        });
    }

    /// Something that a job cannot do now.
    pub(super) fn impossible(&mut self, job: (u32, u32), cpu: Option<usize>, what: &str) {
        let name = self.name(job);
        let cpu = cpu.map(|cpu| self.trace.cpus[cpu].cpu);
        let sighting = Sighting::at(Oracle::WellFormed, self.now_ns).on(cpu).of(name);
        self.report.violation(sighting, |names| format!("{name} {what}", name = names.job(name)));
    }

    /// The task and job of an event, if it has both, and they are scheduled.
    #[inline(always)]
    pub(super) fn job_of(&self, event: &Event) -> Option<(u32, u32)> {
        let (task, job) = (event.task?, event.job?);
        (self.trace.tasks.get(task as usize)?.cluster != NONE).then_some((task, job))
    }

    /// The task and job of an event, and its CPU.
    #[inline(always)]
    pub(super) fn job_on_cpu(&self, event: &Event) -> Option<((u32, u32), usize)> {
        Some((self.job_of(event)?, self.trace.cpu_index(event.cpu?)?))
    }

    pub(super) fn with_task(&mut self, event: &Event, act: impl FnOnce(&mut Self, u32)) {
        let known = |task: &u32| self.trace.tasks.get(*task as usize).is_some_and(|of| of.cluster != NONE);
        match event.task.filter(known) {
            Some(task) => act(self, task),
            None => self.incomplete(event),
        }
    }

    pub(super) fn with_job(&mut self, event: &Event, act: impl FnOnce(&mut Self, (u32, u32))) {
        match event.job {
            Some(job) => self.with_task(event, |v, task| act(v, (task, job))),
            None => self.incomplete(event),
        }
    }

    pub(super) fn with_job_on_cpu(&mut self, event: &Event, act: impl FnOnce(&mut Self, (u32, u32), usize)) {
        match event.cpu.and_then(|cpu| self.trace.cpu_index(cpu)) {
            Some(cpu) => self.with_job(event, |v, job| act(v, job, cpu)),
            None => self.incomplete(event),
        }
    }

    /// Whether the job's first run on this CPU is said as it should be, and comes when it may.
    pub(super) fn check_begin(&mut self, (task, job): (u32, u32), cpu: usize, event: &Event) {
        let of = &self.trace.tasks[task as usize];
        let here = self.trace.cpus[cpu].cpu;
        let (last, started, state) = (of.last_cpu, of.started, of.state);
        let from = Some(last).filter(|&last| last != NONE && last != here).map(u64::from);
        let right = match event.kind {
            EventKind::Start => !started && event.argument == from,
            EventKind::Resume => started && from.is_none(),
            _ => started && from.is_some() && event.argument == from,
        };
        if state == State::Running {
            self.check_one_cpu((task, job), cpu);
        } else if !right {
            let last = if last == NONE { "nowhere".to_owned() } else { format!("on cpu{last}") };
            let before = if started { "started" } else { "not started" };
            let what = format!("cannot {}: it had {before}, and its task ran last {last}", event.kind.name());
            self.impossible((task, job), Some(cpu), &what);
        }
        match state {
            State::Blocked => self.impossible((task, job), Some(cpu), "runs while it is blocked"),
            State::Throttled => {
                let name = self.name((task, job));
                let sighting = Sighting::at(Oracle::Budgets, self.now_ns).on(Some(here)).of(name);
                self.report.violation(sighting, |names| {
                    format!("ran {name}, which waits for budget", name = names.job(name))
                });
            }
            _ => {}
        }
    }

    /// A job ends on a CPU where it does not run.
    pub(super) fn ends_elsewhere(&mut self, (task, job): (u32, u32), cpu: usize, event: &Event) {
        let of = &self.trace.tasks[task as usize];
        let first = of.first == job && of.state != State::Idle;
        // A job that was stopped at the very instant at which it used up its budget: assumption 3 of the budgets.
        if event.kind == EventKind::Throttle && first && self.budgets.exhausted_at(task) == Some(self.now_ns)
        {
            return;
        }
        let what = format!("cannot {} here, where it does not run", event.kind.name());
        self.impossible((task, job), Some(cpu), &what);
        if let Some(leaves) = Leaves::of(event.kind).filter(|_| first) {
            self.check_demand((task, job), cpu, leaves);
            self.ends_job((task, job), leaves, event.argument);
        }
    }

    /// Whether the job that is released is its task's next one; makes up for a few that were left out.
    pub(super) fn check_number(&mut self, (task, job): (u32, u32)) -> bool {
        const MADE_UP_MAX: u32 = 64;
        let released = self.trace.tasks[task as usize].released;
        if job == released {
            return true;
        }
        let name = self.name((task, job));
        let sighting = Sighting::at(Oracle::Periods, self.now_ns).of(name);
        if job < released {
            self.report.violation(sighting, |names| {
                format!("released {name} a second time, or after it ran", name = names.job(name))
            });
            return false;
        }
        self.report.violation(sighting, |names| {
            format!(
                "released {name}, but not {missing} before it",
                name = names.job(name),
                missing = names.plain(task, released)
            )
        });
        if job - released > MADE_UP_MAX {
            return false;
        }
        for missing in released..job {
            self.make_up_job((task, missing));
        }
        true
    }
}
