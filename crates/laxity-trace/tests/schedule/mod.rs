//! Schedules for tests: a small global EDF simulator that follows the rules of `laxity_trace::Event`. It is as simple
//! as possible (it looks at every job at every instant), so that one can see that its events are right.
#![allow(dead_code, reason = "every test program uses its own part of these")]

#[path = "../noise/mod.rs"]
mod noise;

use laxity_model::{Duration, Task, TaskSet};
use laxity_trace::{Event, EventKind};
pub use noise::Noise;

pub const MS: u64 = 1_000_000;

/// A set of tasks T1, T2, ... with these WCETs and periods in ns.
pub fn set_of(rows: &[(u64, u64)]) -> TaskSet {
    let task = |(id, (wcet, period)): (usize, &(u64, u64))| {
        Task::periodic(format!("T{}", id + 1), Duration::from_ns(*wcet), Duration::from_ns(*period))
    };
    TaskSet::new("set", rows.iter().enumerate().map(task).collect()).expect("a valid set")
}

struct Pending {
    task: u32,
    job: u32,
    deadline_ns: u64,
    left_ns: u64,
    missed: bool,
    last_cpu: Option<u32>,
    on: Option<u32>,
}

/// How the schedule differs from an ideal one.
#[derive(Clone, Copy, Default)]
pub struct Imperfections {
    /// Jobs run for less than their WCET, by this seed.
    pub seed: Option<u64>,
    /// Every start, resumption and migration costs this much.
    pub switch_ns: u64,
}

/// Global EDF on `cpus` CPUs, all tasks periodic with implicit deadlines, releases in `[0, until_ns)`; ties go to the
/// lower task. The events up to `until_ns`.
pub fn global_edf(set: &TaskSet, cpus: u32, until_ns: u64, imperfections: Imperfections) -> Vec<Event> {
    let mut events = Vec::new();
    let mut noise = imperfections.seed.map(Noise);
    let mut next: Vec<(u64, u32)> = vec![(0, 0); set.tasks().len()];
    let mut jobs: Vec<Pending> = Vec::new();
    let mut now = 0;
    while now < until_ns {
        let event = |kind, job: &Pending, cpu, argument| Event {
            time_ns: now,
            kind,
            cpu,
            task: Some(job.task),
            job: Some(job.job),
            argument,
        };
        for job in jobs.iter().filter(|job| job.left_ns == 0) {
            events.push(event(EventKind::Complete, job, job.on, Some(job.deadline_ns)));
        }
        jobs.retain(|job| job.left_ns > 0);
        for job in jobs.iter_mut().filter(|job| job.deadline_ns <= now && !job.missed) {
            job.missed = true;
            events.push(event(EventKind::DeadlineMiss, job, None, None));
        }
        for (id, task) in set.tasks().iter().enumerate() {
            if next[id].0 == now {
                let wcet = task.wcet.as_ns();
                let job = Pending {
                    task: u32::try_from(id).expect("few tasks"),
                    job: next[id].1,
                    deadline_ns: now + task.period().as_ns(),
                    left_ns: noise.as_mut().map_or(wcet, |noise| noise.within(wcet / 2 + 1, wcet + 1)),
                    missed: false,
                    last_cpu: None,
                    on: None,
                };
                events.push(event(EventKind::Release, &job, None, Some(job.deadline_ns)));
                next[id] = (now + task.period().as_ns(), next[id].1 + 1);
                jobs.push(job);
            }
        }
        // Jobs of one task run one after the other: only the first of each is eligible.
        let mut eligible: Vec<usize> =
            (0..jobs.len()).filter(|&k| jobs[..k].iter().all(|other| other.task != jobs[k].task)).collect();
        eligible.sort_by_key(|&k| (jobs[k].deadline_ns, jobs[k].task));
        eligible.truncate(usize::try_from(cpus).expect("few CPUs"));
        for (_, job) in jobs.iter_mut().enumerate().filter(|(k, _)| !eligible.contains(k)) {
            if let Some(cpu) = job.on.take() {
                events.push(event(EventKind::Preempt, job, Some(cpu), None));
            }
        }
        for k in eligible {
            if jobs[k].on.is_some() {
                continue;
            }
            let free = |cpu: &u32| jobs.iter().all(|job| job.on != Some(*cpu));
            let cpu = jobs[k].last_cpu.filter(free).or_else(|| (0..cpus).find(free)).expect("a free CPU");
            let (kind, argument) = match jobs[k].last_cpu {
                None => (EventKind::Start, None),
                Some(last) if last == cpu => (EventKind::Resume, None),
                Some(last) => (EventKind::Migrate, Some(u64::from(last))),
            };
            events.push(event(kind, &jobs[k], Some(cpu), argument));
            if imperfections.switch_ns > 0 {
                let cost = imperfections.switch_ns;
                let kind = EventKind::SwitchOverhead;
                events.push(Event { kind, argument: Some(cost), ..event(kind, &jobs[k], Some(cpu), None) });
                jobs[k].left_ns += cost;
            }
            (jobs[k].on, jobs[k].last_cpu) = (Some(cpu), Some(cpu));
        }
        let ends = jobs.iter().filter(|job| job.on.is_some()).map(|job| now + job.left_ns);
        let deadlines = jobs.iter().filter(|job| !job.missed).map(|job| job.deadline_ns);
        let then = next.iter().map(|next| next.0).chain(ends).chain(deadlines).min().unwrap_or(until_ns);
        for job in jobs.iter_mut().filter(|job| job.on.is_some()) {
            job.left_ns -= then - now;
        }
        now = then;
    }
    events
}
