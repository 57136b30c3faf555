//! One task's records into events: `[RESUME, PREEMPT)` and what ends a job or stops it.
//!
//! ```text
//!              RESUME                       PREEMPT
//!    off a CPU ------> on a CPU (job, cpu) --------> off a CPU        start, resume or migrate; preempt
//!                          |  COMPLETE, THROTTLE
//!                          +--------------------> off a CPU           a PREEMPT that follows is no news
//!    a PREEMPT that is followed by a BLOCK of the task is that block
//!    a job without COMPLETE whose task has a next one has ended where it blocked last
//!    a task that leaves ends its job where it was stopped last, or there
//! ```

use laxity_trace::{Event, EventKind};
use std::collections::{BTreeMap, BTreeSet};

/// A thread and its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// The thread's id as the kernel has it.
    pub tid: u32,
    /// The task's id in its set.
    pub task: u32,
    /// Its relative deadline, in ns. (Where a budget was used up, hosts know the deadline of the next one only.)
    pub deadline_rel_ns: u64,
    /// The relative deadline that the kernel was asked for, in ns: a later one where priorities are fixed otherwise.
    pub asked_deadline_ns: u64,
}

/// An event and its place among those of its instant: releases and replenishments, then ends, then the rest.
pub(super) struct Placed {
    pub event: Event,
    pub class: u8,
}

/// Of what kind comes first in an instant.
pub(super) fn class_of(kind: EventKind) -> u8 {
    match kind {
        EventKind::Release | EventKind::Wake => 0,
        kind if kind.ends_running() => 1,
        // A budget that ran out too late may be there again in the same instant.
        EventKind::DeadlineMiss | EventKind::Replenish => 2,
        kind if kind.begins_running() => 4,
        _ => 3,
    }
}

pub(super) fn placed(event: Event) -> Placed {
    Placed { event, class: class_of(event.kind) }
}

/// What is known of a job.
#[derive(Default)]
pub(super) struct JobRecords {
    pub deadline_ns: Option<u64>,
    pub complete_ns: Option<u64>,
    /// Index of its last block among the events.
    blocked: Option<usize>,
}

/// What a task is at.
#[derive(Default)]
pub(super) struct TaskRecords {
    pub id: u32,
    deadline_rel_ns: u64,
    /// By how much the deadline that the kernel was asked for is later than the task's own.
    asked_later_ns: u64,
    running: Option<(u32, u32)>,
    last_cpu: Option<u32>,
    started: Option<u32>,
    /// Index of the preemption that was its last event.
    preempted: Option<usize>,
    /// Index of the block with which it left its CPU last, whether or not it has woken up since.
    slept: Option<usize>,
    /// Index of the throttle after which it has neither run nor got a budget.
    throttled: Option<usize>,
    /// When its deadline was postponed last.
    postponed_ns: Option<u64>,
    blocked: bool,
    /// When it has left, if it has not entered again since: what was to come does not.
    left_ns: Option<u64>,
    pub jobs: BTreeMap<u32, JobRecords>,
    /// What contradicts, in words.
    pub strange: BTreeSet<&'static str>,
}

impl TaskRecords {
    /// A task of which nothing else is known yet.
    pub fn of(member: &Member) -> Self {
        let Member { task, deadline_rel_ns, asked_deadline_ns, .. } = *member;
        let asked_later_ns = asked_deadline_ns.saturating_sub(deadline_rel_ns);
        TaskRecords { id: task, deadline_rel_ns, asked_later_ns, ..TaskRecords::default() }
    }

    fn event(
        &self,
        time_ns: u64,
        kind: EventKind,
        cpu: Option<u32>,
        job: u32,
        argument: Option<u64>,
    ) -> Placed {
        placed(Event { time_ns, kind, cpu, task: Some(self.id), job: Some(job), argument })
    }

    /// A job whose predecessor has used budget of a later period is scheduled by a later deadline than its own.
    pub fn released(&mut self, now: u64, job: u32, scheduled_by_ns: u64, events: &mut Vec<Placed>) {
        // Jobs of a task that has entered again are numbered anew.
        let was_to_come = self.jobs.last_key_value().is_some_and(|(&last, _)| job > last);
        if self.left_ns.is_some() && was_to_come {
            return;
        }
        self.left_ns = None;
        let deadline_ns = scheduled_by_ns.min(now.saturating_add(self.deadline_rel_ns));
        self.jobs.entry(job).or_default().deadline_ns = Some(deadline_ns);
        events.push(self.event(now, EventKind::Release, None, job, Some(deadline_ns)));
    }

    pub fn runs(&mut self, now: u64, cpu: u32, job: u32, events: &mut Vec<Placed>) {
        if self.running == Some((cpu, job)) {
            return;
        }
        if self.running.is_some() {
            self.strange.insert("runs anew where nothing had stopped it");
        }
        let from = self.last_cpu.filter(|&last| last != cpu).map(u64::from);
        let kind = match (self.started == Some(job), from) {
            (false, _) => EventKind::Start,
            (true, None) => EventKind::Resume,
            (true, Some(_)) => EventKind::Migrate,
        };
        events.push(self.event(now, kind, Some(cpu), job, from));
        (self.running, self.last_cpu, self.started) = (Some((cpu, job)), Some(cpu), Some(job));
        (self.preempted, self.slept, self.throttled, self.blocked) = (None, None, None, false);
    }

    /// Whether the job has ended: its thread may be put aside and back before its CPU has decided.
    pub fn has_ended(&self, job: u32) -> bool {
        self.jobs.get(&job).is_some_and(|of| of.complete_ns.is_some())
    }

    /// It is off its CPU; whether that was news. Where the decision that has postponed its deadline has also had it leave, its host
    /// charges it up to there.
    pub fn stopped(&mut self, now: u64, cpu: u32, leaving_ns: Option<u64>, events: &mut Vec<Placed>) -> bool {
        let Some((on, job)) = self.running else { return false };
        if on != cpu {
            self.strange.insert("is taken off a CPU that it was not on");
        }
        self.running = None;
        self.preempted = Some(events.len());
        let postponed_ns = self.postponed_ns.filter(|&at| leaving_ns == Some(at));
        let mut preempt = self.event(postponed_ns.unwrap_or(now), EventKind::Preempt, Some(on), job, None);
        if postponed_ns.is_some() {
            preempt.class = class_of(EventKind::Postpone);
        }
        events.push(preempt);
        true
    }

    /// Its job is over or out of budget; whether that was news.
    pub fn ends(&mut self, now: u64, kind: EventKind, job: u32, events: &mut Vec<Placed>) -> bool {
        let Some((cpu, running)) = self.running else {
            let is_known = kind == EventKind::Throttle
                && (self.was_throttled(job, events) || self.has_woken_without_budget(now, job, events));
            if !is_known {
                self.strange.insert("ends a job that did not run");
            }
            return false;
        };
        if running != job {
            self.strange.insert("ends another job than the one that ran");
        }
        self.running = None;
        self.preempted = None;
        self.throttled = (kind == EventKind::Throttle).then_some(events.len());
        let of = self.jobs.entry(running).or_default();
        let argument = match kind {
            EventKind::Complete => {
                of.complete_ns = Some(now);
                of.deadline_ns
            }
            _ => None,
        };
        events.push(self.event(now, kind, Some(cpu), running, argument));
        true
    }

    /// It had used up its budget when it was taken off its CPU last, and the host has noticed now.
    fn was_throttled(&mut self, job: u32, events: &mut [Placed]) -> bool {
        let Some(index) = self.preempted.take_if(|&mut index| events[index].event.job == Some(job)) else {
            return false;
        };
        events[index].event.kind = EventKind::Throttle;
        self.throttled = Some(index);
        true
    }

    /// It had used up its budget when it went to sleep, has woken up since and not run, and the host has noticed now: until then it
    /// waited for a CPU, from here on for its budget.
    fn has_woken_without_budget(&mut self, now: u64, job: u32, events: &mut Vec<Placed>) -> bool {
        let has_woken = !self.blocked && self.slept.is_some_and(|index| events[index].event.job == Some(job));
        if has_woken {
            self.waits_for_budget(now, job, events);
        }
        has_woken
    }

    /// It sleeps: since when, if it was at a job.
    pub fn blocks(&mut self, events: &mut [Placed]) -> Option<u64> {
        let index = self.preempted.take()?;
        events[index].event.kind = EventKind::Block;
        (self.blocked, self.slept) = (true, Some(index));
        if let Some(job) = events[index].event.job {
            self.jobs.entry(job).or_default().blocked = Some(index);
        }
        Some(events[index].event.time_ns)
    }

    pub fn wakes(&mut self, now: u64, job: u32, events: &mut Vec<Placed>) {
        // Its end is still to come, and may be behind the schedule's although the next one's release is not.
        if let Some(of) = self.jobs.get_mut(&job) {
            of.blocked = None;
        }
        if std::mem::take(&mut self.blocked) {
            events.push(self.event(now, EventKind::Wake, None, job, None));
        }
    }

    /// It is awake, and still waits for budget.
    pub fn waits_for_budget(&mut self, now: u64, job: u32, events: &mut Vec<Placed>) {
        events.push(self.event(now, EventKind::Throttle, None, job, None));
    }

    /// The record was written when it was throttled: it may have left since.
    pub fn replenished(&mut self, now: u64, job: u32, scheduled_by_ns: u64, events: &mut Vec<Placed>) {
        self.throttled = None;
        if self.left_ns.is_some() {
            return;
        }
        let deadline_ns = scheduled_by_ns.saturating_sub(self.asked_later_ns);
        events.push(self.event(now, EventKind::Replenish, None, job, Some(deadline_ns)));
    }

    pub fn postponed(&mut self, now: u64, job: u32, scheduled_by_ns: u64, events: &mut Vec<Placed>) {
        let deadline_ns = Some(scheduled_by_ns.saturating_sub(self.asked_later_ns));
        if let Some((cpu, _)) = self.running.filter(|&(_, running)| running == job) {
            self.postponed_ns = Some(now);
            events.push(self.event(now, EventKind::Postpone, Some(cpu), job, deadline_ns));
            return;
        }
        // It had used up its budget when it was taken off its CPU last, or went to sleep there, and the host has noticed now.
        let off = self.preempted.or(self.slept);
        let Some(index) = off.filter(|&index| events[index].event.job == Some(job)) else {
            self.strange.insert("has its deadline postponed while it does not run");
            return;
        };
        let Event { time_ns, cpu, .. } = events[index].event;
        let before_that = class_of(EventKind::Release);
        let Placed { event, .. } = self.event(time_ns, EventKind::Postpone, cpu, job, deadline_ns);
        events.push(Placed { event, class: before_that });
    }

    /// The CPU that it is on.
    pub fn cpu(&self) -> Option<u32> {
        self.running.map(|(cpu, _)| cpu)
    }

    /// It leaves: what it was at ended when it was taken off its CPU last, or ends now.
    pub fn leaves(&mut self, now: u64, events: &mut Vec<Placed>) {
        if let Some((_, job)) = self.running {
            self.ends(now, EventKind::Complete, job, events);
        } else if let Some(job) = self.jobs.last_key_value().map(|(&job, _)| job) {
            let blocked = self.jobs[&job].blocked.filter(|_| self.blocked);
            if let Some(index) = self.preempted.take().or(self.throttled.take()).or(blocked) {
                self.completes_at(index, events);
            }
        }
        (self.blocked, self.left_ns) = (false, Some(now));
        let leave = Event {
            time_ns: now,
            kind: EventKind::Leave,
            cpu: None,
            task: Some(self.id),
            job: None,
            argument: None,
        };
        events.push(placed(leave));
    }

    /// What took its job off a CPU was its end.
    fn completes_at(&mut self, index: usize, events: &mut [Placed]) {
        let event = &mut events[index].event;
        let Some(of) = event.job.and_then(|job| self.jobs.get_mut(&job)) else { return };
        (event.kind, event.argument) = (EventKind::Complete, of.deadline_ns);
        of.complete_ns = Some(event.time_ns);
    }

    /// All records are there: jobs that ended by blocking, and misses until `end`.
    pub fn finish(&mut self, end: u64, events: &mut Vec<Placed>) {
        let Some((&last, _)) = self.jobs.last_key_value() else { return };
        let behind = self.jobs.range(..last).filter(|(_, of)| of.complete_ns.is_none());
        let ended: Vec<usize> = behind.filter_map(|(_, of)| of.blocked).collect();
        ended.into_iter().for_each(|index| self.completes_at(index, events));
        let end = self.left_ns.unwrap_or(end).min(end);
        for (&job, of) in &self.jobs {
            let Some(deadline_ns) = of.deadline_ns.filter(|&deadline| deadline < end) else { continue };
            if of.complete_ns.is_none_or(|complete| complete > deadline_ns) {
                events.push(self.event(deadline_ns, EventKind::DeadlineMiss, None, job, None));
            }
        }
    }
}
