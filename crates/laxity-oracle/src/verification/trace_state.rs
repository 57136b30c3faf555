//! What the events so far say: which jobs there are, and what runs where.

use super::batching::TaskGroups;
use super::kernel_work::KernelWork;
use super::work::{Rate, Work};
use crate::definition::task_id;
use crate::{Definition, JobName};
use laxity_model::{CpuList, PriorityRule, Speed};
use std::collections::VecDeque;

/// No CPU, no cluster.
pub(super) const NONE: u32 = u32::MAX;

/// What the first incomplete job of a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// There is none.
    Idle,
    Ready,
    Running,
    Blocked,
    /// It has no budget.
    Throttled,
}

/// A job that has been released, or one of them is not complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub release_ns: u64,
    pub deadline_abs_ns: u64,
    pub demand_ns: Option<u64>,
    pub complete: bool,
    pub missed: bool,
}

/// Jobs of a task in their order. There is one in most: it has a place of its own.
#[derive(Debug, Default)]
pub(super) struct Queue {
    first: Option<Pending>,
    /// None if there is no first.
    rest: VecDeque<Pending>,
}

impl Queue {
    #[inline]
    pub fn front(&self) -> Option<&Pending> {
        self.first.as_ref()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    /// Puts one behind all others, made where it goes. Whether it is the first.
    #[inline]
    pub fn push_back(&mut self, pending: impl Fn() -> Pending) -> bool {
        let is_first = self.first.is_none();
        if is_first {
            self.first = Some(pending());
        } else {
            self.rest.push_back(pending());
        }
        is_first
    }

    /// Takes the first one out.
    #[inline]
    pub fn pop_front(&mut self) {
        self.first = if self.rest.is_empty() { None } else { self.rest.pop_front() };
    }

    pub fn clear(&mut self) {
        *self = Queue::default();
    }

    pub fn get(&self, place: usize) -> Option<&Pending> {
        match place.checked_sub(1) {
            None => self.first.as_ref(),
            Some(place) => self.rest.get(place),
        }
    }

    pub fn get_mut(&mut self, place: usize) -> Option<&mut Pending> {
        match place.checked_sub(1) {
            None => self.first.as_mut(),
            Some(place) => self.rest.get_mut(place),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Pending> {
        self.first.iter().chain(&self.rest)
    }
}

/// The last job of a task that completed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Finished {
    pub job: u32,
    pub deadline_abs_ns: u64,
    pub at_ns: u64,
    pub missed: bool,
}

#[derive(Debug)]
pub(super) struct TaskTrace {
    /// [`NONE`] for a task that is not scheduled.
    pub cluster: u32,
    /// Parts of a ns in which its work is counted: see [`Rate`].
    pub scale: u64,
    /// Jobs released so far.
    pub released: u32,
    /// Jobs `first .. released` are not complete, or follow one that is not.
    pub first: u32,
    pub pending: Queue,
    pub state: State,
    pub started: bool,
    /// Where it ran last, or [`NONE`].
    pub last_cpu: u32,
    /// On how many CPUs the first job runs: one at most, unless the trace is wrong.
    pub running: u32,
    /// The deadline that the first job is scheduled by.
    pub server_deadline_abs_ns: u64,
    pub finished: Option<Finished>,
    /// Of a job that was, or may have been, at work before its task went into the background, or while it was: how far it has got is not
    /// known.
    pub carried: Option<u32>,
    pub affinity: Option<CpuList>,
    pub deadline_rel_ns: u64,
    /// What its first job has done.
    pub work: Work,
    pub groups: TaskGroups,
}

impl TaskTrace {
    /// The absolute deadline of a job of the task.
    #[inline]
    pub fn deadline(&self, release: u64) -> u64 {
        release.saturating_add(self.deadline_rel_ns)
    }
}

/// The job on a CPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occupant {
    pub task: u32,
    pub job: u32,
    pub since_ns: u64,
    /// From here on its progress is not accounted for yet.
    pub accounted_ns: u64,
    /// Kernel work on the CPU before that.
    pub kernel_work_ns: u64,
    /// It should not run at all: its predecessor is not complete, or it is.
    pub stray: bool,
}

#[derive(Debug)]
pub(super) struct CpuTrace {
    pub cpu: u32,
    pub cluster: u32,
    pub dedicated: bool,
    /// Something above the scheduler has it, and how often that has begun.
    pub taken: bool,
    pub withdrawals: u64,
    pub rate: Rate,
    pub occupant: Option<Occupant>,
    pub kernel_work: KernelWork,
}

impl CpuTrace {
    /// A job has the CPU from now on.
    #[inline]
    pub fn takes(&mut self, (task, job): (u32, u32), stray: bool, now: u64) {
        let kernel_work_ns = self.kernel_work.before(now);
        self.occupant = Some(Occupant { task, job, since_ns: now, accounted_ns: now, kernel_work_ns, stray });
    }
}

/// How far a job got in a piece of time on a CPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    /// Work without that of kernel work, and with it.
    pub net: u128,
    pub gross: u128,
    pub rate: Rate,
}

pub(super) struct TraceState<'a> {
    pub definition: &'a Definition,
    pub tasks: Vec<TaskTrace>,
    pub cpus: Vec<CpuTrace>,
    /// By CPU number: the index in `cpus`, or [`NONE`].
    cpu_index: Vec<u32>,
    /// By cluster: the indices of its CPUs that run tasks.
    pub task_cpus: Vec<Vec<u32>>,
    edf: bool,
    /// Jobs go by their deadlines ([`Definition::key`]).
    keys_are_deadlines: bool,
}

impl<'a> TraceState<'a> {
    pub fn new(definition: &'a Definition) -> Self {
        let mut cpus = Vec::new();
        let mut task_cpus = Vec::new();
        for (cluster, parts) in definition.clusters().iter().enumerate() {
            let mut of_tasks = Vec::new();
            let speeds: Vec<Speed> = parts.cpus.iter().map(|cpu| definition.speed(cpu)).collect();
            for (cpu, rate) in parts.cpus.iter().zip(Rate::of(&speeds)) {
                let dedicated = parts.dedicated.contains(cpu);
                if !dedicated {
                    of_tasks.push(task_id(cpus.len()));
                }
                let cluster = task_id(cluster);
                let kernel_work = KernelWork::default();
                cpus.push(CpuTrace {
                    cpu,
                    cluster,
                    dedicated,
                    taken: false,
                    withdrawals: 0,
                    rate,
                    occupant: None,
                    kernel_work,
                });
            }
            task_cpus.push(of_tasks);
        }
        let numbers = cpus.iter().map(|cpu| cpu.cpu as usize + 1).max().unwrap_or(0);
        let mut cpu_index = vec![NONE; numbers];
        for (index, cpu) in cpus.iter().enumerate() {
            cpu_index[cpu.cpu as usize] = task_id(index);
        }
        let tasks = definition.set().tasks().iter().enumerate();
        let scale = |cluster: usize| {
            let first = task_cpus[cluster].first();
            first.map_or(1, |&index: &u32| cpus[index as usize].rate.scale)
        };
        let tasks = tasks.map(|(id, task)| TaskTrace {
            cluster: definition.cluster_of(task_id(id)).map_or(NONE, task_id),
            scale: definition.cluster_of(task_id(id)).map_or(1, scale),
            released: 0,
            first: 0,
            pending: Queue::default(),
            state: State::Idle,
            started: false,
            last_cpu: NONE,
            running: 0,
            server_deadline_abs_ns: 0,
            finished: None,
            carried: None,
            affinity: task.affinity.clone(),
            deadline_rel_ns: task.deadline_rel.as_ns(),
            work: Work::default(),
            groups: TaskGroups::new(task.batching),
        });
        let tasks = tasks.collect();
        let edf = definition.rule() == PriorityRule::EarliestDeadlineFirst;
        let keys_are_deadlines = edf && (!definition.minds_laxity() || definition.has_exact_laxities());
        TraceState { definition, tasks, cpus, cpu_index, task_cpus, edf, keys_are_deadlines }
    }

    /// Until `end`: the CPU time of all CPUs that run tasks, in ns, and how many jobs were released.
    pub fn observed(&self, end: u64) -> (u64, u64) {
        let cpus: usize = self.task_cpus.iter().map(Vec::len).sum();
        let jobs = self.tasks.iter().map(|task| u64::from(task.released)).sum();
        (end.saturating_mul(cpus as u64), jobs)
    }

    /// The index of a CPU of the definition.
    #[inline]
    pub fn cpu_index(&self, cpu: u32) -> Option<usize> {
        self.cpu_index.get(cpu as usize).copied().filter(|&index| index != NONE).map(|index| index as usize)
    }

    /// The key of a job ([`Definition::key`]).
    #[inline]
    pub fn key(&self, task: u32, deadline_abs: u64) -> u64 {
        if self.keys_are_deadlines { deadline_abs } else { self.definition.key(task, deadline_abs) }
    }

    #[inline]
    pub fn task(&mut self, task: u32) -> &mut TaskTrace {
        &mut self.tasks[task as usize]
    }

    /// The release and deadline of a job that is not complete.
    pub fn pending(&mut self, task: u32, job: u32) -> Option<&mut Pending> {
        let task = self.task(task);
        let place = job.checked_sub(task.first)?;
        task.pending.get_mut(place as usize)
    }

    /// The job as violations name it.
    pub fn name(&self, task: u32, job: u32) -> JobName {
        let of = &self.tasks[task as usize];
        match of.first == job && of.state != State::Idle {
            true => self.name_by((task, job), of.server_deadline_abs_ns),
            false => self.other_name(task, job),
        }
    }

    /// The job as violations name it, scheduled by this deadline.
    pub fn name_by(&self, (task, job): (u32, u32), deadline_abs: u64) -> JobName {
        match self.edf {
            true => JobName { task, job, deadline_ns: Some(deadline_abs), priority: None },
            false => JobName { task, job, deadline_ns: None, priority: Some(self.definition.key(task, 0)) },
        }
    }

    fn other_name(&self, task: u32, job: u32) -> JobName {
        if !self.edf {
            return JobName { task, job, deadline_ns: None, priority: Some(self.definition.key(task, 0)) };
        }
        let trace = &self.tasks[task as usize];
        let deadline_ns = match job.checked_sub(trace.first) {
            Some(0) if trace.state != State::Idle => Some(trace.server_deadline_abs_ns),
            Some(place) => trace.pending.get(place as usize).map(|pending| pending.deadline_abs_ns),
            None => {
                trace.finished.filter(|finished| finished.job == job).map(|finished| finished.deadline_abs_ns)
            }
        };
        JobName { task, job, deadline_ns, priority: None }
    }

    /// What the job on a CPU has done since it was last asked.
    pub fn progress(&mut self, cpu: usize, now: u64) -> Option<(Occupant, Progress)> {
        let CpuTrace { occupant, kernel_work, rate, .. } = &mut self.cpus[cpu];
        let occupant = occupant.as_mut()?;
        let before = *occupant;
        let gross = now - before.accounted_ns;
        occupant.kernel_work_ns = kernel_work.before(now);
        occupant.accounted_ns = now;
        let kernel = (occupant.kernel_work_ns - before.kernel_work_ns).min(gross);
        Some((before, Progress { net: rate.work(gross - kernel), gross: rate.work(gross), rate: *rate }))
    }
}
