//! The reserve: what jobs leave of every CPU to other work ([`Definition::with_reserve`]).
//!
//! 1. Time is divided into windows, the first of which begins at instant 0. A CPU is used up from the instant on at which jobs have
//!    had it for the window less the share, to the end of the window.
//! 2. Other work has a CPU by right while it is used up; where one queue waits for all CPUs, only as long as none on which it may run
//!    has neither a job nor other work. Of the jobs of a cluster that should run, as many may wait as other work has CPUs by right
//!    (`order.rs`): which ones is up to the policy, as the job of a CPU waits for it. Others that wait are a violation.
//! 3. No job has a CPU that is used up while other work waits for it: else that is a violation of the global invariant, from the
//!    instant on at which both are so. Which work waits, and for which CPU, the trace says (`background-wait`).
//! 4. CPUs outside all clusters run no jobs, and are not looked at.
//!
//! Complexity: O(CPUs + waiting work) per instant, and one instant per window and CPU that is used up.

use super::order::Order;
use super::servers::Servers;
use super::trace_state::TraceState;
use crate::verdict::{Report, Sighting};
use crate::{Definition, JobName, Oracle};
use laxity_trace::{Event, EventKind};
use std::collections::BTreeMap;

/// Other work: a task of the set that is in the background, or a number that is none of the set's.
type Work = (Option<u32>, u64);

/// A CPU that runs tasks.
struct Cpu {
    /// Its place among the trace's.
    index: usize,
    /// Up to here is counted.
    counted_ns: u64,
    /// What jobs have had of the window that this instant is in.
    used_ns: u64,
    /// Since the last instant a job has had it.
    job: bool,
    other: Option<Work>,
    /// Since when a job has had it that should have given way, and which.
    overrun: Option<(u64, JobName)>,
}

/// The reserves of all CPUs.
pub(super) struct Reserves {
    runtime_ns: u64,
    window_ns: u64,
    has_queues: bool,
    bound_ns: u64,
    cpus: Vec<Cpu>,
    /// By CPU number, or for any.
    waiting: BTreeMap<Work, Option<u32>>,
}

fn work_of(event: &Event) -> Work {
    (event.task, if event.task.is_some() { 0 } else { event.argument.unwrap_or(u64::MAX) })
}

impl Reserves {
    pub fn new(definition: &Definition, trace: &TraceState) -> Option<Reserves> {
        let (reserve, has_queues) = definition.reserve()?;
        let cpu =
            |index: usize| Cpu { index, counted_ns: 0, used_ns: 0, job: false, other: None, overrun: None };
        let running_tasks = (0..trace.cpus.len()).filter(|&index| !trace.cpus[index].dedicated);
        Some(Reserves {
            runtime_ns: reserve.runtime().as_ns(),
            window_ns: reserve.window().as_ns(),
            has_queues,
            bound_ns: definition.transitions().bound.as_ns(),
            cpus: running_tasks.map(cpu).collect(),
            waiting: BTreeMap::new(),
        })
    }

    /// Other work gets a CPU, loses it, or begins to wait.
    pub fn other_work(&mut self, trace: &TraceState, event: &Event) {
        if event.kind == EventKind::BackgroundWait {
            self.waiting.insert(work_of(event), event.cpu);
            return;
        }
        let runs = event.kind == EventKind::BackgroundStart;
        if runs {
            self.waiting.remove(&work_of(event));
        }
        let index = event.cpu.and_then(|cpu| trace.cpu_index(cpu));
        if let Some(cpu) = self.cpus.iter_mut().find(|cpu| Some(cpu.index) == index) {
            cpu.other = runs.then(|| work_of(event));
        }
    }

    /// The task is in the background no more.
    pub fn turns_real_time(&mut self, task: u32) {
        self.waiting.remove(&(Some(task), 0));
    }

    /// Counts what jobs have had of each CPU until `now`.
    pub fn count(&mut self, now: u64) {
        for cpu in &mut self.cpus {
            let window = now - now % self.window_ns;
            if cpu.counted_ns < window {
                (cpu.counted_ns, cpu.used_ns) = (window, 0);
            }
            if cpu.job {
                cpu.used_ns += now - cpu.counted_ns;
            }
            cpu.counted_ns = now;
        }
    }

    /// The next instant at which a CPU is used up, or no longer is.
    pub fn next_change(&self) -> Option<u64> {
        let busy = self.cpus.iter().filter(|cpu| cpu.job || cpu.other.is_some());
        busy.map(|cpu| {
            let window_ends = cpu.counted_ns - cpu.counted_ns % self.window_ns + self.window_ns;
            match cpu.job && cpu.used_ns < self.runtime_ns {
                true => window_ends.min(cpu.counted_ns + (self.runtime_ns - cpu.used_ns)),
                false => window_ends,
            }
        })
        .min()
    }

    fn is_used_up(&self, cpu: &Cpu) -> bool {
        cpu.used_ns >= self.runtime_ns
    }

    /// The instant is over: which jobs may wait because of it, and which should have given way.
    pub fn close(
        &mut self,
        (trace, servers): (&TraceState, Option<&Servers>),
        order: &mut Order,
        now: u64,
        report: &mut Report,
    ) {
        self.count(now);
        for cpu in &mut self.cpus {
            cpu.job = trace.cpus[cpu.index].occupant.is_some();
        }
        for cluster in 0..trace.task_cpus.len() {
            let of = |cpu: &&Cpu| trace.cpus[cpu.index].cluster as usize == cluster;
            let by_server =
                |cpu: &Cpu| servers.is_some_and(|servers| servers.has_by_right(trace.cpus[cpu.index].cpu));
            let by_right = |cpu: &&Cpu| self.has_by_right(cpu, trace) && !by_server(cpu);
            order.let_wait(cluster, self.cpus.iter().filter(of).filter(by_right).count());
        }
        self.look_for_overruns(trace, now, report);
    }

    fn has_by_right(&self, cpu: &Cpu, trace: &TraceState) -> bool {
        let Some(work) = cpu.other.filter(|_| self.is_used_up(cpu)) else { return false };
        let is_spare = |other: &Cpu| !other.job && other.other.is_none() && may_run(work, other, trace);
        self.has_queues || !self.cpus.iter().any(is_spare)
    }

    /// Each that waits has one CPU stopped for it at the most.
    fn look_for_overruns(&mut self, trace: &TraceState, now: u64, report: &mut Report) {
        let mut waiting: Vec<(Work, Option<u32>)> =
            self.waiting.iter().map(|(&work, &cpu)| (work, cpu)).collect();
        for at in 0..self.cpus.len() {
            let cpu = &self.cpus[at];
            let on = &trace.cpus[cpu.index];
            let occupant = on.occupant.filter(|_| self.is_used_up(cpu));
            let for_this = |&(work, place): &(Work, Option<u32>)| {
                place.is_none_or(|place| place == on.cpu) && may_run(work, cpu, trace)
            };
            let first = waiting.iter().position(for_this).filter(|_| occupant.is_some());
            first.map(|first| waiting.remove(first));
            let job = occupant.filter(|_| first.is_some()).map(|job| trace.name(job.task, job.job));
            match (job, cpu.overrun) {
                (Some(job), None) => self.cpus[at].overrun = Some((now, job)),
                (None, Some(_)) => self.overrun_ends(at, trace, now, report),
                _ => {}
            }
        }
    }

    fn overrun_ends(&mut self, at: usize, trace: &TraceState, now: u64, report: &mut Report) {
        let Some((since, job)) = self.cpus[at].overrun.take() else { return };
        if now - since <= self.bound_ns {
            report.tolerated.count += u64::from(now > since);
            report.tolerated.total_ns = report.tolerated.total_ns.saturating_add(now - since);
            report.tolerated.longest_ns = report.tolerated.longest_ns.max(now - since);
            return;
        }
        let sighting = Sighting {
            oracle: Oracle::GlobalInvariant,
            from_ns: since,
            to_ns: now,
            cpu: Some(trace.cpus[self.cpus[at].index].cpu),
            ran: Some(job),
            should_have_run: None,
            unexplained_ns: None,
        };
        report.violation(sighting, |names| {
            format!("ran {job} beyond its share while other work waited", job = names.job(job))
        });
    }

    /// The trace is over.
    pub fn finish(&mut self, trace: &TraceState, end: u64, report: &mut Report) {
        (0..self.cpus.len()).for_each(|at| self.overrun_ends(at, trace, end, report));
    }
}

/// Whether other work may run on the CPU.
fn may_run((task, _): Work, cpu: &Cpu, trace: &TraceState) -> bool {
    let of = task.and_then(|task| trace.tasks.get(task as usize));
    let affinity = of.and_then(|of| of.affinity.as_ref());
    affinity.is_none_or(|affinity| affinity.contains(trace.cpus[cpu.index].cpu))
}
