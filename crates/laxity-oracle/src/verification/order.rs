//! Global invariant and work conservation: in every cluster, at every instant, the min(m, r) ready jobs of highest
//! priority run, on its m task CPUs. On one CPU that is the order of EDF or of fixed priorities.
//!
//! 1. A job is ready from its release, or the completion of the job before it if that is later, to its completion, but
//!    not while it is blocked or waits for budget.
//! 2. The state of an instant is the one after all of its events.
//! 3. A deviation is a job that should run and does not. While any, as many CPUs run something else or nothing: one of
//!    them is named. If one is idle, work conservation is violated, otherwise the invariant.
//! 4. A deviation is tolerated if [`crate::Transitions`] say so: if an abandoned push explains it, or all of it but their
//!    `bound` is explained, at each instant, by something that the kernel does or that is on its way (`windows.rs`). What
//!    was on its way shows only when it arrives, so deviations are judged that much later; at the end of a trace, what may
//!    still be on its way explains as much.
//!    In a trace with measured activities, they alone explain, and all is known at once (`measured.rs`).
//! 5. Where a task may not run on all task CPUs of its cluster, the top m are not defined. There the oracle checks that
//!    no job waits while a CPU on which it may run is idle or runs a job of lower priority (weak invariant).
//!
//! 6. Where ties are free ([`Definition::has_free_ties`]), a job that runs stands for one of equal key that should. The sets of
//!    those that should run and of those that wait are then ordered by key only.
//!
//! 7. In a trace with measured activities, what is not explained of the waiting of a job that never begins is one violation. It is
//!    one of the periods if nothing released the job: no activity tells of its release, or only that its timer had not gone off
//!    a period later, when the trace ended. However late that is, it excuses nothing.
//!
//! Complexity: O(log n) per event by two ordered sets per cluster, O(m) when a deviation begins; O(n m) per instant in
//! clusters of assumption 5.
//! Source: ackelman2018, 6.1 (its script checks that whatever runs is among the m earliest deadlines, and not that all m
//! run); cerqueira2014, II-A.

mod deviations;

use super::measured::Measured;
use super::pieces::Waiting;
use super::rank::Rank;
use super::trace_state::{NONE, State, TraceState};
use super::windows::Windows;
use crate::definition::task_id;
use crate::verdict::Report;
use crate::{Cause, Definition, JobName, Oracle, Transitions};
use std::collections::{BTreeSet, VecDeque};

#[derive(Default)]
struct ClusterOrder {
    cpus: usize,
    /// Ready jobs that should run, and the others.
    entitled: BTreeSet<Rank>,
    waiting: BTreeSet<Rank>,
    /// So many of those that should run may wait (`reserve.rs`).
    may_wait: usize,
    /// Some do.
    has_excused: bool,
    /// Its tasks whose jobs deviate, where kernel work explains deviations.
    deviating: Vec<u32>,
    restricted: bool,
    free_ties: bool,
    touched: bool,
}

#[derive(Clone, Copy)]
struct Deviation {
    since_ns: u64,
    /// Up to here is known what is unexplained, and how much that is.
    judged_ns: u64,
    unexplained_ns: u64,
    oracle: Oracle,
    cpu: Option<u32>,
    ran: Option<JobName>,
    waited: JobName,
}

#[derive(Clone, Default)]
struct TaskOrder {
    key: u64,
    ready: bool,
    entitled: bool,
    touched: bool,
    /// It is one of those that may wait.
    excused: bool,
    /// A push of the job was given up, and it has not run since.
    abandoned: bool,
    deviation: Option<Box<Deviation>>,
    /// In a real kernel: deviations of the first job that ended while it had not begun.
    unbegun: Vec<Waited>,
}

/// A deviation of a real kernel that is over: when, and what explains of it.
#[derive(Clone, Copy)]
struct Waited {
    deviation: Deviation,
    to_ns: u64,
    explained: [u64; Cause::ALL.len()],
}

/// A deviation that is over, before it is judged.
struct Ended {
    deviation: Deviation,
    cluster: u32,
    to_ns: u64,
    abandoned: bool,
    waiting: Waiting,
}

pub(super) struct Order {
    /// Nothing is checked.
    free: bool,
    clusters: Vec<ClusterOrder>,
    tasks: Vec<TaskOrder>,
    touched: Vec<u32>,
    /// How many may wait has changed.
    others_may_wait: bool,
    transitions: Transitions,
    /// Present where kernel work explains deviations.
    pub windows: Option<Windows>,
    /// Present where activities that were measured do.
    pub measured: Option<Measured>,
    /// By when they ended.
    ended: VecDeque<Ended>,
}

impl Order {
    pub fn new(definition: &Definition, trace: &TraceState) -> Self {
        let clusters = definition.clusters().iter().enumerate().map(|(index, cluster)| {
            let cpus = cluster.task_cpus();
            let restricted = cluster.tasks.iter().any(|&task| {
                trace.tasks[task as usize].affinity.as_ref().is_some_and(|affinity| !cpus.is_subset(affinity))
            });
            let (cpus, free_ties) = (trace.task_cpus[index].len(), definition.has_free_ties(index));
            ClusterOrder { cpus, restricted, free_ties, ..ClusterOrder::default() }
        });
        Order {
            free: definition.has_free_order(),
            clusters: clusters.collect(),
            tasks: vec![TaskOrder::default(); trace.tasks.len()],
            touched: Vec::new(),
            others_may_wait: false,
            transitions: definition.transitions(),
            windows: definition.transitions().kernel.map(|kernel| Windows::new(kernel, trace)),
            measured: None,
            ended: VecDeque::new(),
        }
    }

    /// The task's first job as the total order has it.
    pub fn rank(&self, task: u32) -> Rank {
        (self.tasks[task as usize].key, task)
    }

    #[inline]
    fn touch(&mut self, task: u32) {
        let order = &mut self.tasks[task as usize];
        if !order.touched {
            order.touched = true;
            self.touched.push(task);
        }
    }

    /// The task's first job is ready, with this key.
    pub fn ready(&mut self, cluster: u32, task: u32, key: u64) {
        self.unready(cluster, task);
        let of = &mut self.clusters[cluster as usize];
        of.touched = true;
        let rank = (key, task);
        let entitled = of.entitled.len() < of.cpus || of.entitled.last().is_some_and(|&last| rank < last);
        let mut displaced = None;
        if entitled {
            if of.entitled.len() == of.cpus {
                displaced = of.entitled.pop_last();
                of.waiting.extend(displaced);
            }
            of.entitled.insert(rank);
        } else {
            of.waiting.insert(rank);
        }
        let order = &mut self.tasks[task as usize];
        (order.key, order.ready, order.entitled) = (key, true, entitled);
        self.touch(task);
        if let Some((_, other)) = displaced {
            self.tasks[other as usize].entitled = false;
            self.touch(other);
        }
    }

    /// A CPU of the cluster is not there for its jobs.
    pub fn withdraw(&mut self, cluster: u32) {
        let of = &mut self.clusters[cluster as usize];
        of.touched = true;
        of.cpus -= 1;
        if of.entitled.len() > of.cpus
            && let Some(last) = of.entitled.pop_last()
        {
            of.waiting.insert(last);
            self.tasks[last.1 as usize].entitled = false;
            self.touch(last.1);
        }
    }

    /// So many jobs of the cluster that should run may wait from now on.
    pub fn let_wait(&mut self, cluster: usize, count: usize) {
        let of = &mut self.clusters[cluster];
        let changes = of.may_wait != count;
        of.touched |= changes;
        of.may_wait = count;
        self.others_may_wait |= changes;
    }

    /// It is there again.
    pub fn give_back(&mut self, cluster: u32) {
        let of = &mut self.clusters[cluster as usize];
        of.touched = true;
        of.cpus += 1;
        if let Some(next) = of.waiting.pop_first() {
            of.entitled.insert(next);
            self.tasks[next.1 as usize].entitled = true;
            self.touch(next.1);
        }
    }

    /// The task's first job is ready no more.
    pub fn unready(&mut self, cluster: u32, task: u32) {
        let order = &mut self.tasks[task as usize];
        if !order.ready {
            return;
        }
        (order.ready, order.excused) = (false, false);
        let rank = (order.key, task);
        let of = &mut self.clusters[cluster as usize];
        of.touched = true;
        if std::mem::take(&mut order.entitled) {
            of.entitled.remove(&rank);
            if let Some(next) = of.waiting.pop_first() {
                of.entitled.insert(next);
                self.tasks[next.1 as usize].entitled = true;
                self.touch(next.1);
            }
        } else {
            of.waiting.remove(&rank);
        }
        self.touch(task);
    }

    /// The task's first job begins or ceases to run.
    #[inline]
    pub fn runs(&mut self, cluster: u32, task: u32) {
        self.clusters[cluster as usize].touched = true;
        self.touch(task);
    }

    /// The task's first job begins to run, and is going to abort in this instant: it waits no longer, whatever the next one does.
    pub fn begins_to_abort(&mut self, trace: &TraceState, task: u32, now: u64, report: &mut Report) {
        self.set(trace, task, false, now, report);
    }

    /// The task is in no cluster from now on: its job waits no longer.
    pub fn withdrawn(&mut self, trace: &TraceState, task: u32, now: u64, report: &mut Report) {
        self.unready(trace.tasks[task as usize].cluster, task);
        self.set(trace, task, false, now, report);
    }

    /// A push of the task was given up; if it runs by now, that does not matter.
    pub fn abandoned(&mut self, trace: &TraceState, task: u32) {
        let order = &mut self.tasks[task as usize];
        order.abandoned = order.ready && trace.tasks[task as usize].running == 0;
    }

    /// The instant is over: deviations begin and end.
    pub fn close(&mut self, trace: &TraceState, now: u64, report: &mut Report) {
        if self.windows.is_some() {
            self.judge_ended(now, report);
        }
        let others_may_wait = std::mem::take(&mut self.others_may_wait);
        if self.free {
            for task in self.touched.drain(..) {
                self.tasks[task as usize].touched = false;
            }
        }
        if self.free || self.touched.is_empty() && !others_may_wait {
            return;
        }
        report.checks(Oracle::GlobalInvariant);
        report.checks(Oracle::WorkConservation);
        for cluster in 0..self.clusters.len() {
            if self.clusters[cluster].touched && self.clusters[cluster].free_ties {
                self.let_equals_stand_in(trace, cluster);
            }
        }
        for cluster in 0..self.clusters.len() {
            let of = &self.clusters[cluster];
            if of.touched && (of.may_wait > 0 || of.has_excused) {
                self.excuse(trace, cluster);
            }
        }
        let mut touched = std::mem::take(&mut self.touched);
        for &task in &touched {
            let cluster = trace.tasks[task as usize].cluster;
            self.tasks[task as usize].touched = false;
            if cluster == NONE {
                continue;
            }
            if !self.clusters[cluster as usize].restricted {
                let order = &self.tasks[task as usize];
                let waits = order.ready && order.entitled && trace.tasks[task as usize].running == 0;
                let deviates = waits && !order.excused;
                self.set(trace, task, deviates, now, report);
            }
        }
        touched.clear();
        self.touched = touched;
        for cluster in 0..self.clusters.len() {
            if std::mem::take(&mut self.clusters[cluster].touched) && self.clusters[cluster].restricted {
                self.close_restricted(trace, task_id(cluster), now, report);
            }
        }
    }

    /// Of jobs with equal keys those that run are the ones that should, as far as there are any (assumption 6).
    fn let_equals_stand_in(&mut self, trace: &TraceState, cluster: usize) {
        let of = &self.clusters[cluster];
        let (Some(&(key, _)), Some(&(next, _))) = (of.entitled.last(), of.waiting.first()) else { return };
        if key != next {
            return;
        }
        let (equals, runs) =
            ((key, 0)..=(key, u32::MAX), |rank: &&Rank| trace.tasks[rank.1 as usize].running > 0);
        let idle: Vec<Rank> = of.entitled.range(equals.clone()).filter(|rank| !runs(rank)).copied().collect();
        let running: Vec<Rank> = of.waiting.range(equals).filter(runs).copied().collect();
        for (waits, stands_in) in idle.into_iter().zip(running) {
            let of = &mut self.clusters[cluster];
            of.entitled.remove(&waits);
            of.waiting.remove(&stands_in);
            of.entitled.insert(stands_in);
            of.waiting.insert(waits);
            for ((_, task), entitled) in [(waits, false), (stands_in, true)] {
                self.tasks[task as usize].entitled = entitled;
                self.touch(task);
            }
        }
    }

    /// As many of the jobs that should run, and do not, as may wait: those of highest priority.
    fn excuse(&mut self, trace: &TraceState, cluster: usize) {
        let of = &self.clusters[cluster];
        let mut left = of.may_wait;
        let mut changed = Vec::new();
        for &(_, task) in of.entitled.iter().chain(&of.waiting) {
            let order = &self.tasks[task as usize];
            let excused = left > 0 && order.entitled && trace.tasks[task as usize].running == 0;
            left -= usize::from(excused);
            if excused != order.excused {
                changed.push((task, excused));
            }
        }
        self.clusters[cluster].has_excused = left < self.clusters[cluster].may_wait;
        for (task, excused) in changed {
            self.tasks[task as usize].excused = excused;
            self.touch(task);
        }
    }

    fn close_restricted(&mut self, trace: &TraceState, cluster: u32, now: u64, report: &mut Report) {
        let mut left = self.clusters[cluster as usize].may_wait;
        for &task in &trace.definition.clusters()[cluster as usize].tasks {
            let order = &self.tasks[task as usize];
            let waits = order.ready && trace.tasks[task as usize].running == 0;
            let deviates = waits && self.yielding_cpu(trace, cluster, task).is_some();
            let excused = deviates && left > 0;
            left -= usize::from(excused);
            let deviates = deviates && !excused;
            self.set(trace, task, deviates, now, report);
        }
    }

    /// A CPU that should run the task instead of what it runs, as an index: an idle one if there is one, else the one
    /// that runs the job of lowest priority.
    fn yielding_cpu(&self, trace: &TraceState, cluster: u32, task: u32) -> Option<usize> {
        let affinity = trace.tasks[task as usize].affinity.as_ref();
        // An equal that runs yields to none where ties are free.
        let own = if self.clusters[cluster as usize].free_ties { NONE } else { task };
        let rank = (false, self.tasks[task as usize].key, own);
        let there = |&&index: &&u32| !trace.cpus[index as usize].taken;
        let candidates = trace.task_cpus[cluster as usize].iter().filter(there).filter_map(|&index| {
            let cpu = &trace.cpus[index as usize];
            let rank = match cpu.occupant {
                None => (true, u64::MAX, NONE),
                Some(occupant) if occupant.stray => (true, u64::MAX, 0),
                Some(occupant) => {
                    let of = &trace.tasks[occupant.task as usize];
                    let ready = of.cluster == cluster && of.state == State::Running;
                    (!ready, self.tasks[occupant.task as usize].key, occupant.task)
                }
            };
            affinity.is_none_or(|affinity| affinity.contains(cpu.cpu)).then_some((rank, index as usize))
        });
        candidates.filter(|&(other, _)| other > rank).max().map(|(_, index)| index)
    }

    fn set(&mut self, trace: &TraceState, task: u32, deviates: bool, now: u64, report: &mut Report) {
        match (&self.tasks[task as usize].deviation, deviates) {
            (None, true) => self.begin(trace, task, now),
            (Some(_), false) => self.end(trace, task, now, report),
            _ => {}
        }
        if trace.tasks[task as usize].running > 0 {
            self.tasks[task as usize].abandoned = false;
        }
    }

    fn begin(&mut self, trace: &TraceState, task: u32, now: u64) {
        let of = &trace.tasks[task as usize];
        let yielding = self.yielding_cpu(trace, of.cluster, task).map(|index| &trace.cpus[index]);
        let occupant = yielding.and_then(|cpu| cpu.occupant);
        let idle = yielding.is_some() && occupant.is_none();
        let deviation = Deviation {
            since_ns: now,
            judged_ns: now,
            unexplained_ns: 0,
            oracle: if idle { Oracle::WorkConservation } else { Oracle::GlobalInvariant },
            cpu: yielding.map(|cpu| cpu.cpu),
            ran: occupant.map(|occupant| trace.name(occupant.task, occupant.job)),
            waited: trace.name(task, of.first),
        };
        self.tasks[task as usize].deviation = Some(Box::new(deviation));
        if self.windows.is_some() || self.measured.is_some() {
            self.clusters[of.cluster as usize].deviating.push(task);
        }
    }
}
