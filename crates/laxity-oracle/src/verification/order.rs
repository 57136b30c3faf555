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
//! Complexity: O(log n) per event by two ordered sets per cluster (`rank.rs`), O(m) when a deviation begins; O(n m) per instant in
//! clusters of assumption 5.
//! Source: ackelman2018, 6.1 (its script checks that whatever runs is among the m earliest deadlines, and not that all m
//! run); cerqueira2014, II-A.

mod deviations;
mod looked_at;

use super::measured::Measured;
use super::pieces::Waiting;
use super::rank::{ByFirst, ByLast, Rank};
use super::trace_state::{NONE, State, TraceState};
use super::windows::Windows;
use crate::definition::task_id;
use crate::verdict::Report;
use crate::{Cause, Definition, JobName, Oracle, Transitions};
use std::collections::VecDeque;

#[derive(Default)]
struct ClusterOrder {
    cpus: usize,
    /// Ready jobs that should run, and the others.
    entitled: ByLast,
    waiting: ByFirst,
    /// So many of those that should run may wait (`reserve.rs`).
    may_wait: usize,
    /// Some do.
    has_excused: bool,
    /// Its tasks whose jobs deviate, where kernel work explains deviations.
    deviating: Vec<u32>,
    restricted: bool,
    free_ties: bool,
    /// Which jobs wait for a reason of their own, or which CPU yields, is asked at the end of an instant that changes anything: its ties
    /// are free, some may wait, or assumption 5 is about it.
    is_looked_at: bool,
    touched: bool,
}

impl ClusterOrder {
    /// A job is ready. Whether it should run, and the one that no longer should for it.
    #[inline(always)]
    fn insert(&mut self, rank: Rank) -> (bool, Option<Rank>) {
        if self.entitled.len() < self.cpus {
            self.entitled.insert(rank);
            return (true, None);
        }
        match self.entitled.end() {
            Some(last) if rank < last => {
                self.entitled.pop();
                self.entitled.insert(rank);
                self.waiting.push(last);
                (true, Some(last))
            }
            _ => {
                self.waiting.insert(rank);
                (false, None)
            }
        }
    }

    /// The first one that waits should run: it goes behind those that should, unless others stand in for their equals.
    #[inline(always)]
    fn promote(&mut self) -> Option<Rank> {
        let next = self.waiting.pop()?;
        self.entitled.push(next);
        Some(next)
    }
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
    /// In which instant it was touched last, as they are counted.
    touched_in: u64,
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
    /// Tasks whose jobs may have begun or ceased to deviate in this instant, and the clusters that are looked at where something has
    /// changed.
    touched: Vec<u32>,
    touched_clusters: Vec<u32>,
    /// There are such clusters.
    looks_at_clusters: bool,
    /// Counts the instants in which something was touched, from 1.
    closes: u64,
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
            let is_looked_at = restricted || free_ties || definition.reserve().is_some();
            ClusterOrder { cpus, restricted, free_ties, is_looked_at, ..ClusterOrder::default() }
        });
        let clusters: Vec<ClusterOrder> = clusters.collect();
        Order {
            free: definition.has_free_order(),
            looks_at_clusters: clusters.iter().any(|of| of.is_looked_at),
            clusters,
            tasks: vec![TaskOrder::default(); trace.tasks.len()],
            touched: Vec::new(),
            touched_clusters: Vec::new(),
            closes: 1,
            others_may_wait: false,
            transitions: definition.transitions(),
            windows: definition.transitions().kernel.map(|kernel| Windows::new(kernel, trace)),
            measured: None,
            ended: VecDeque::new(),
        }
    }

    /// The task's first job as the total order has it.
    #[inline]
    pub fn rank(&self, task: u32) -> Rank {
        (self.tasks[task as usize].key, task)
    }

    #[inline(always)]
    fn touch(&mut self, task: u32) {
        let order = &mut self.tasks[task as usize];
        if order.touched_in != self.closes {
            order.touched_in = self.closes;
            self.touched.push(task);
        }
    }

    #[inline(always)]
    fn touch_cluster(&mut self, cluster: u32) {
        if self.looks_at_clusters {
            self.look_at(cluster);
        }
    }

    fn look_at(&mut self, cluster: u32) {
        let of = &mut self.clusters[cluster as usize];
        if of.is_looked_at && !of.touched {
            of.touched = true;
            self.touched_clusters.push(cluster);
        }
    }

    /// The task's first job is ready, with this key.
    #[inline(always)]
    pub fn ready(&mut self, cluster: u32, task: u32, key: u64) {
        if self.tasks[task as usize].ready {
            self.unready(cluster, task);
        }
        self.touch_cluster(cluster);
        let (entitled, displaced) = self.clusters[cluster as usize].insert((key, task));
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
        self.touch_cluster(cluster);
        let of = &mut self.clusters[cluster as usize];
        of.cpus -= 1;
        if of.entitled.len() > of.cpus
            && let Some(last) = of.entitled.pop()
        {
            of.waiting.push(last);
            self.tasks[last.1 as usize].entitled = false;
            self.touch(last.1);
        }
    }

    /// So many jobs of the cluster that should run may wait from now on.
    pub fn let_wait(&mut self, cluster: usize, count: usize) {
        let of = &mut self.clusters[cluster];
        if of.may_wait != count {
            of.may_wait = count;
            self.others_may_wait = true;
            self.touch_cluster(task_id(cluster));
        }
    }

    /// It is there again.
    pub fn give_back(&mut self, cluster: u32) {
        self.touch_cluster(cluster);
        let of = &mut self.clusters[cluster as usize];
        of.cpus += 1;
        if let Some(next) = of.promote() {
            self.tasks[next.1 as usize].entitled = true;
            self.touch(next.1);
        }
    }

    /// The task's first job is ready no more.
    #[inline(never)]
    pub fn unready(&mut self, cluster: u32, task: u32) {
        self.is_over(cluster, task);
    }

    /// The task's first job is ready no more, as it is over.
    #[inline(always)]
    pub fn is_over(&mut self, cluster: u32, task: u32) {
        let order = &mut self.tasks[task as usize];
        if !order.ready {
            return;
        }
        (order.ready, order.excused) = (false, false);
        let rank = (order.key, task);
        let entitled = std::mem::take(&mut order.entitled);
        self.touch_cluster(cluster);
        let of = &mut self.clusters[cluster as usize];
        if entitled {
            of.entitled.remove(rank);
            if let Some(next) = of.promote() {
                self.tasks[next.1 as usize].entitled = true;
                self.touch(next.1);
            }
        } else {
            of.waiting.remove(rank);
        }
        self.touch(task);
    }

    /// The task's first job begins or ceases to run.
    #[inline(always)]
    pub fn runs(&mut self, cluster: u32, task: u32) {
        self.touch_cluster(cluster);
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
    #[inline(always)]
    pub fn close(&mut self, trace: &TraceState, now: u64, report: &mut Report) {
        if self.windows.is_some() {
            self.judge_ended(now, report);
        }
        if !self.touched.is_empty() || self.others_may_wait {
            self.close_touched(trace, now, report);
        }
    }

    #[inline(always)]
    fn close_touched(&mut self, trace: &TraceState, now: u64, report: &mut Report) {
        self.others_may_wait = false;
        if !self.touched_clusters.is_empty() && !self.free {
            self.choose_who_waits(trace);
        }
        self.closes += 1;
        if self.free {
            return self.touched.clear();
        }
        for at in 0..self.touched.len() {
            let task = self.touched[at];
            let order = &self.tasks[task as usize];
            let of = &trace.tasks[task as usize];
            let deviates = order.ready && order.entitled && of.running == 0 && !order.excused;
            if deviates != order.deviation.is_some() || order.abandoned {
                let cluster = self.clusters.get(of.cluster as usize);
                if cluster.is_some_and(|cluster| !cluster.restricted) {
                    self.set(trace, task, deviates, now, report);
                }
            }
        }
        self.touched.clear();
        if !self.touched_clusters.is_empty() {
            self.close_clusters(trace, now, report);
        }
    }

    /// How many instants were checked.
    pub fn checked(&self) -> u64 {
        if self.free { 0 } else { self.closes - 1 }
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
