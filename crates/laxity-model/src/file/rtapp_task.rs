//! The task that one thread of an rt-app file amounts to: its events, cut into jobs.

use super::rtapp_thread::{Event, Reservation, Thread, context};
use crate::{Arrival, Demand, Diagnostic, Duration, Group, Result, Task, TaskKind, WorkingSet};

/// The work between two timers, and the second timer's period, in us.
struct Job {
    work: u64,
    period: u64,
}

impl Thread {
    /// The task that the thread amounts to; nothing for a thread that the file never starts.
    pub fn task(&self, warnings: &mut Vec<String>) -> Result<Option<Task>> {
        if self.instances == 0 {
            warnings.push(format!(
                "thread `{}` has `instance` 0: it is only started by a fork, and left out",
                self.name
            ));
            return Ok(None);
        }
        let timed = self.events().any(|event| matches!(event, Event::Timer(_)))
            || (self.reservation.is_some() && self.events().any(|event| matches!(event, Event::Yield)));
        let task = if timed { self.recurring(warnings)? } else { self.best_effort(warnings)? };
        let phase = time(&self.name, "delay", self.delay)?;
        let (working_set, group) = self.memory(warnings);
        Ok(Some(Task { phase, working_set, group, affinity: self.affinity.clone(), ..task }))
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.phases.iter().flat_map(|phase| &phase.events)
    }

    fn recurring(&self, warnings: &mut Vec<String>) -> Result<Task> {
        let jobs = self.jobs()?;
        let shortest = jobs.iter().map(|job| job.period).min();
        let work = jobs.iter().map(|job| job.work).max().unwrap_or(0);
        let Some(period) = shortest.filter(|&period| period > 0) else {
            return Err(context(&self.name, "a timer has no period")
                .hint("give the timer a `period` in microseconds"));
        };
        if work == 0 {
            return Err(self.idle());
        }
        if jobs.iter().any(|job| job.work != work) {
            warnings.push(format!(
                "thread `{}`: its jobs differ; every job is given the longest, {work} us",
                self.name
            ));
        }
        self.warn_blocking(warnings);
        let task =
            Task::periodic(&self.name, time(&self.name, "run", work)?, time(&self.name, "period", period)?);
        let task = match &self.reservation {
            Some(reservation) => self.with_reservation(task, work, reservation, warnings)?,
            None => task,
        };
        if jobs.iter().all(|job| job.period == period) {
            return Ok(task);
        }
        warnings.push(format!(
            "thread `{}`: its timers differ; imported as sporadic, {period} us apart",
            self.name
        ));
        Ok(Task { arrival: Arrival::Sporadic { min_interarrival: task.period() }, ..task })
    }

    /// Takes budget and deadline from the reservation if it has the task's period.
    fn with_reservation(
        &self,
        task: Task,
        work: u64,
        reservation: &Reservation,
        warnings: &mut Vec<String>,
    ) -> Result<Task> {
        if time(&self.name, "dl-period", reservation.period)? != task.period() {
            warnings.push(format!(
                "thread `{}`: dl-period {} us is not the timer's period; the reservation is left out",
                self.name, reservation.period
            ));
            return Ok(task);
        }
        let deadline_rel = time(&self.name, "dl-deadline", reservation.deadline)?;
        if reservation.runtime == 0 || reservation.runtime == work {
            return Ok(Task { deadline_rel, ..task });
        }
        let wcet = time(&self.name, "dl-runtime", reservation.runtime)?;
        Ok(Task {
            deadline_rel,
            wcet,
            demand: Some(self.demand(work, reservation.runtime, warnings)?),
            ..task
        })
    }

    /// The work as a share of the budget, rounded up to one ppm.
    fn demand(&self, work: u64, budget: u64, warnings: &mut Vec<String>) -> Result<Demand> {
        let ppm = (u128::from(work) * 1_000_000).div_ceil(u128::from(budget));
        if work > budget {
            warnings.push(format!(
                "thread `{}`: jobs run {work} us, more than their budget {budget} us",
                self.name
            ));
        }
        let shares = ppm / 1_000_000;
        let text = format!("{shares}.{:06}", ppm % 1_000_000);
        text.parse().map_err(|e: Diagnostic| e.context(format!("thread `{}`: work {work} us", self.name)))
    }

    /// A thread that runs and sleeps at its own pace.
    fn best_effort(&self, warnings: &mut Vec<String>) -> Result<Task> {
        if self.events().any(|event| matches!(event, Event::Wait)) {
            return Err(context(&self.name, "waits for other threads and has no timer, so it has no period")
                .hint("give it a timer with the period of the thread that wakes it, or remove it"));
        }
        let (mut work, mut sleep) = (0u64, 0u64);
        for phase in &self.phases {
            for event in &phase.events {
                let (total, us) = match event {
                    Event::Work(us) => (&mut work, us),
                    Event::Sleep(us) => (&mut sleep, us),
                    _ => continue,
                };
                let repeated = us.checked_mul(phase.repeats.unwrap_or(1));
                *total = repeated.and_then(|us| total.checked_add(us)).ok_or_else(|| self.too_long())?;
            }
            if phase.repeats.is_none() {
                break;
            }
        }
        if work == 0 {
            return Err(self.idle());
        }
        let cycle = work.checked_add(sleep).ok_or_else(|| self.too_long())?;
        warnings.push(format!(
            "thread `{}` has no timer, so no period: imported as background work, {work} us in every {cycle} us",
            self.name
        ));
        let task =
            Task::periodic(&self.name, time(&self.name, "run", work)?, time(&self.name, "sleep", cycle)?);
        Ok(Task { kind: TaskKind::BestEffort, ..task })
    }

    /// Walks the events as the thread would, until every kind of job has occurred once.
    fn jobs(&self) -> Result<Vec<Job>> {
        let mut jobs = Vec::new();
        let mut work = 0u64;
        let passes = if self.repeats == Some(1) { 1 } else { 2 };
        for phase in (0..passes).flat_map(|_| &self.phases) {
            let ends_jobs = phase.events.iter().any(|event| self.job_end(event).is_some());
            // What the second round of a phase with a timer does, all later ones do.
            let rounds = if ends_jobs { phase.repeats.unwrap_or(2).min(2) } else { 1 };
            let times = if ends_jobs { 1 } else { phase.repeats.ok_or_else(|| self.endless())? };
            for event in (0..rounds).flat_map(|_| &phase.events) {
                if let Some(period) = self.job_end(event) {
                    jobs.push(Job { work: std::mem::take(&mut work), period });
                } else if let Event::Work(us) = event {
                    let more = us.checked_mul(times);
                    work = more.and_then(|more| work.checked_add(more)).ok_or_else(|| self.too_long())?;
                }
            }
            if phase.repeats.is_none() {
                break;
            }
        }
        Ok(jobs)
    }

    /// The period of the timer that the event is, if it ends a job.
    fn job_end(&self, event: &Event) -> Option<u64> {
        match (event, &self.reservation) {
            (Event::Timer(period), _) => Some(*period),
            (Event::Yield, Some(reservation)) => Some(reservation.period),
            _ => None,
        }
    }

    fn memory(&self, warnings: &mut Vec<String>) -> (WorkingSet, Option<Group>) {
        let uses = || {
            self.events().filter_map(|event| match event {
                Event::Memory(working_set, reference) => Some((working_set, reference)),
                _ => None,
            })
        };
        let Some((working_set, reference)) = uses().max_by_key(|(set, _)| set.size_bytes) else {
            return (WorkingSet::default(), None);
        };
        let several = uses().any(|other| other != (working_set, reference));
        let largest = if several { "; of several buffers, the largest is the working set" } else { "" };
        warnings
            .push(format!("thread `{}`: the time of memrun events is not in the wcet{largest}", self.name));
        let named = reference.as_ref().filter(|name| !name.is_empty());
        let group = named.map(|name| Group { name: name.clone(), shared_bytes: working_set.size_bytes });
        (*working_set, group)
    }

    fn warn_blocking(&self, warnings: &mut Vec<String>) {
        if self.events().any(|event| matches!(event, Event::Wait | Event::Sleep(_))) {
            warnings
                .push(format!("thread `{}`: waits and sleeps within its jobs are not modelled", self.name));
        }
    }

    fn idle(&self) -> Diagnostic {
        context(&self.name, "has no `run` or `runtime` event, so its wcet would be 0")
            .hint("give it a `run` event in microseconds, or remove it")
    }

    fn endless(&self) -> Diagnostic {
        context(&self.name, "a phase without a timer loops for ever before a phase that has one")
            .hint("give that phase a timer or a finite `loop`")
    }

    fn too_long(&self) -> Diagnostic {
        context(&self.name, "its events last longer than 2^64 us")
            .hint("lower the times or the `loop` numbers")
    }
}

fn time(thread: &str, what: &str, us: u64) -> Result<Duration> {
    us.checked_mul(1_000).map(Duration::from_ns).ok_or_else(|| {
        context(thread, format!("{what} of {us} us is longer than 2^64 ns (584 years)"))
            .hint("rt-app's times are microseconds")
    })
}
