//! The task that one thread of an rt-app file amounts to.

use super::rtapp_jobs::{Jobs, Pace};
use super::rtapp_thread::{Event, NoTask, Reservation, Thread, context};
use crate::{Arrival, Demand, Diagnostic, Duration, Group, Task, TaskKind, WorkingSet};

impl Thread {
    /// The task that the thread amounts to.
    pub fn task(&self, warnings: &mut Vec<String>) -> Result<Task, NoTask> {
        if let Some(task) = self.of_first_dialect(warnings)? {
            return Ok(task);
        }
        let jobs = self.jobs()?;
        let Some(longest) = jobs.kinds.iter().map(|job| job.work).max().filter(|&work| work > 0) else {
            return Err(self.idle());
        };
        let mut task = match jobs.pace {
            Pace::None => self.background(longest, warnings)?,
            Pace::Timers | Pace::Sleeps => self.recurring(&jobs, longest, warnings)?,
        };
        let first = self.delay.checked_add(jobs.first).ok_or_else(|| self.too_long())?;
        task.phase = time(&self.name, "delay", first)?;
        if let Some(end) = jobs.end {
            let end = self.delay.checked_add(end).ok_or_else(|| self.too_long())?;
            task.leave = Some(time(&self.name, "end", end)?);
        }
        let (working_set, group) = self.memory(warnings);
        Ok(Task { working_set, group, affinity: self.affinity.clone(), priority: self.priority, ..task })
    }

    /// `exec`, `period` and `deadline`, as the first rt-app had them instead of events.
    fn of_first_dialect(&self, warnings: &mut Vec<String>) -> crate::Result<Option<Task>> {
        let known = |event: &Event| matches!(event, Event::Work(_) | Event::Sleep(_) | Event::Timer { .. });
        let Some(wcet) = self.exec.filter(|_| !self.events().any(known)) else { return Ok(None) };
        let of = |what: &str, us: Option<u64>| us.map(|us| time(&self.name, what, us)).transpose();
        let Some(period) = of("period", self.period)? else { return Ok(None) };
        warnings.push(format!("thread `{}`: `exec`, `period` and `deadline` are read as us", self.name));
        let task = Task::periodic(&self.name, time(&self.name, "exec", wcet)?, period);
        Ok(Some(Task {
            deadline_rel: of("deadline", self.deadline)?.unwrap_or(period),
            phase: time(&self.name, "delay", self.delay)?,
            affinity: self.affinity.clone(),
            priority: self.priority,
            ..task
        }))
    }

    fn recurring(&self, jobs: &Jobs, work: u64, warnings: &mut Vec<String>) -> Result<Task, NoTask> {
        let Some(period) = jobs.kinds.iter().map(|job| job.period).min().filter(|&period| period > 0) else {
            return Err(NoTask::Wrong(
                context(&self.name, "a timer has no period")
                    .hint("give the timer a `period` in microseconds"),
            ));
        };
        let (works_differ, periods_differ) = (
            jobs.kinds.iter().any(|job| job.work != work),
            jobs.kinds.iter().any(|job| job.period != period),
        );
        if works_differ && periods_differ && work > period {
            return Err(NoTask::Cannot(format!(
                "has jobs that differ too much for one task: the longest takes {work} us, and they come as close as {period} us"
            )));
        }
        if works_differ {
            warnings.push(format!(
                "thread `{}`: its jobs differ; every job is given the longest, {work} us",
                self.name
            ));
        }
        if jobs.pace == Pace::Timers {
            self.warn_blocking(warnings);
        }
        let task =
            Task::periodic(&self.name, time(&self.name, "run", work)?, time(&self.name, "period", period)?);
        let task = match &self.reservation {
            Some(reservation) => self.with_reservation(task, work, reservation, warnings)?,
            None => task,
        };
        let why = match jobs.pace {
            Pace::Sleeps => "it sleeps after its work",
            _ if periods_differ => "its timers differ",
            _ => return Ok(task),
        };
        warnings.push(format!("thread `{}`: {why}; imported as sporadic, {period} us apart", self.name));
        Ok(Task { arrival: Arrival::Sporadic { min_interarrival: task.period() }, ..task })
    }

    /// Takes budget and deadline from the reservation if it has the task's period.
    fn with_reservation(
        &self,
        task: Task,
        work: u64,
        reservation: &Reservation,
        warnings: &mut Vec<String>,
    ) -> crate::Result<Task> {
        if time(&self.name, "dl-period", reservation.period)? != task.period() {
            warnings.push(format!(
                "thread `{}`: dl-period {} us is not the distance of its jobs; the reservation is left out",
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
    fn demand(&self, work: u64, budget: u64, warnings: &mut Vec<String>) -> crate::Result<Demand> {
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

    /// A thread that works without a pause.
    fn background(&self, work: u64, warnings: &mut Vec<String>) -> crate::Result<Task> {
        warnings.push(format!(
            "thread `{}` has neither a timer nor a sleep, so no period: imported as background work without a pause",
            self.name
        ));
        if self.reservation.is_some() {
            warnings.push(format!("thread `{}`: its reservation (SCHED_DEADLINE) is left out", self.name));
        }
        let cycle = time(&self.name, "run", work)?;
        Ok(Task { kind: TaskKind::BestEffort, ..Task::periodic(&self.name, cycle, cycle) })
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
        if self.events().any(|event| matches!(event, Event::Wait(_) | Event::Sleep(1..))) {
            warnings
                .push(format!("thread `{}`: waits and sleeps within its jobs are not modelled", self.name));
        }
    }

    /// Without known work.
    fn idle(&self) -> NoTask {
        let unknown = self.events().find_map(|event| match event {
            Event::Memory(..) => Some("memrun"),
            Event::Unknown(name) => Some(*name),
            _ => None,
        });
        match unknown {
            Some(name) => NoTask::Cannot(format!(
                "has no `run` or `runtime` event, and how long its `{name}` takes the file does not say"
            )),
            None => NoTask::Idle("has no `run` or `runtime` event, so its wcet would be 0".into()),
        }
    }

    pub(super) fn endless(&self) -> NoTask {
        NoTask::Cannot("works for ever in a phase without a pause (it loops for ever), before or after one that has some".into())
    }

    pub(super) fn too_long(&self) -> NoTask {
        NoTask::Wrong(
            context(&self.name, "its events last longer than 2^64 us")
                .hint("lower the times or the `loop` numbers"),
        )
    }
}

fn time(thread: &str, what: &str, us: u64) -> crate::Result<Duration> {
    us.checked_mul(1_000).map(Duration::from_ns).ok_or_else(|| {
        context(thread, format!("{what} of {us} us is longer than 2^64 ns (584 years)"))
            .hint("rt-app's times are microseconds")
    })
}
