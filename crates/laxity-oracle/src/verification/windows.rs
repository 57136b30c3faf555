//! Which time explains that a job waits: the declared windows of [`KernelWindows`], from what a trace shows.
//!
//! At any instant at which a job J should run and does not, one of these is true under a scheduler that is right, or the
//! deviation is none that costs explain:
//!
//! 1. *Its timer.* J has just become ready, and the interrupt is within its latency; or a CPU whose timer it may be has
//!    been at work without a pause since an instant by which the interrupt may have come. That timer is the dedicated
//!    CPU's, if there is one; else that of the CPU where the job before it ended, or, where releases are batched, where a
//!    job before one of the same instant did. Where a task's first job is released, and a wake-up, is not known: any.
//! 2. *An ending.* Less than m jobs that go before J are ready, but the scheduler has yet to hear that another one has
//!    ended (or was throttled, blocked or postponed): the CPU where it did has been at work since. With messages, one of
//!    an ending that goes before J or with it is on its way to the dedicated CPU, or has come and that is at work since.
//!    As messages may overtake each other, all counts as long as one of those known to be on their way would.
//! 3. *Its CPU.* J has a CPU that it is to run on, which has not followed: an interrupt is on the way there, or it has come
//!    and the CPU is at work since; or it has made a decision itself and is at work since. No CPU that runs a job that
//!    goes before J is J's, except where it waits in that CPU's queue (`Queues`): known from its preemption, its pushes and
//!    pulls, but not after its release.
//! 4. *A swap.* The dedicated CPU takes a link from one client and has yet to give it to another (`Messages`): it is at
//!    work since.
//!
//! An interrupt or message that arrives is taken to have been on the way for the whole of its latency before. Zero
//! latencies only make pieces shorter. A section that takes no time is not recorded; where it is a decision that a CPU makes
//! itself, after a release, and the CPU goes on with other work (the next release, a tick), rule 3 takes it from something else:
//! that a job is preempted there; or, on a CPU that runs nothing, from the work alone, as a decision changes nothing that shows.
//!
//! Complexity: O(1) per event, amortized, in the number of tasks; O(k log k) per deviation with k pieces near it.

use super::pieces::{CpuSet, Piece, Pieces, Waiting, Why};
use super::rank::Rank;
use super::trace_state::{NONE, TraceState};
use crate::KernelWindows;
use laxity_model::Structure;
use laxity_trace::EventKind;
use std::collections::{BTreeSet, VecDeque};

/// Time in which a CPU is at work without a pause.
#[derive(Debug, Clone, Copy)]
struct Busy {
    since_ns: u64,
    until_ns: u64,
    /// What it ran before.
    ran: Option<Rank>,
    /// It reschedules.
    reschedules: bool,
    /// A job has ended here, or a swap is going on.
    any: bool,
    /// Of what it has heard.
    news: Option<Rank>,
}

struct CpuWindows {
    cluster: u32,
    dedicated: bool,
    busy: Option<Busy>,
    /// What it runs, since when; with what it ran within the latency of an interrupt.
    runs: VecDeque<(u64, Option<Rank>)>,
}

#[derive(Default)]
struct ClusterWindows {
    pieces: Pieces,
    dedicated: Option<u32>,
    cpus: Vec<u32>,
    /// Its CPUs decide themselves after releases, and not all of their work explains all waiting, as it does where ties are free.
    decides_unseen: bool,
    /// Jobs that became ready at one instant, and whose timers released them.
    group_at: Option<u64>,
    group: Vec<u32>,
    group_cpus: CpuSet,
    /// Endings of which the dedicated CPU has not heard; at least as many as there are, and with the first in priority.
    untold: BTreeSet<(Rank, u64)>,
}

#[derive(Clone)]
struct TaskWindows {
    /// Where its last job ended, or was throttled.
    timer_cpu: u32,
    waiting: Waiting,
}

pub(super) struct Windows {
    kernel: KernelWindows,
    /// By task: whether its timer is that of all jobs of an instant.
    batches: Vec<bool>,
    cpus: Vec<CpuWindows>,
    clusters: Vec<ClusterWindows>,
    tasks: Vec<TaskWindows>,
    /// The clusters in which jobs became ready in this instant.
    grouped: Vec<u32>,
    crowded: Vec<u32>,
    endings: u64,
}

/// More endings than this are never on their way: a message was lost.
const UNTOLD_MAX: usize = 4096;

impl Windows {
    pub fn new(kernel: KernelWindows, trace: &TraceState) -> Self {
        let definition = trace.definition;
        let cluster = |cluster| ClusterWindows {
            decides_unseen: kernel.structure != Structure::Messages && !definition.has_free_ties(cluster),
            ..ClusterWindows::default()
        };
        let mut clusters: Vec<ClusterWindows> = (0..definition.clusters().len()).map(cluster).collect();
        for (index, cpu) in (0..).zip(&trace.cpus) {
            let cluster = &mut clusters[cpu.cluster as usize];
            cluster.cpus.push(index);
            if cpu.dedicated {
                cluster.dedicated = Some(index);
            }
        }
        let cpus = trace.cpus.iter().map(|cpu| CpuWindows {
            cluster: cpu.cluster,
            dedicated: cpu.dedicated,
            busy: None,
            runs: VecDeque::new(),
        });
        let batching = definition.batching();
        let batches = definition.set().tasks().iter().map(|task| batching && task.batching);
        let queues = (kernel.structure != Structure::Queues).then(CpuSet::default);
        let waiting = Waiting { queues, ..Waiting::default() };
        Windows {
            kernel,
            batches: batches.collect(),
            cpus: cpus.collect(),
            clusters,
            tasks: vec![TaskWindows { timer_cpu: NONE, waiting }; trace.tasks.len()],
            grouped: Vec::new(),
            crowded: Vec::new(),
            endings: 0,
        }
    }

    /// For how long after an instant pieces of time before it may come to light.
    pub fn hindsight(&self) -> u64 {
        self.kernel.hindsight()
    }

    /// A cluster that may have pieces to forget.
    pub fn crowded(&mut self) -> Option<u32> {
        self.crowded.pop()
    }

    fn add(&mut self, piece: Piece) {
        let cluster = self.cpus[piece.cpu as usize].cluster;
        let pieces = &mut self.clusters[cluster as usize].pieces;
        pieces.push(piece);
        if pieces.are_many() && self.crowded.last() != Some(&cluster) {
            self.crowded.push(cluster);
        }
    }

    /// The pieces of a cluster.
    pub fn pieces(&mut self, cluster: u32) -> &mut Pieces {
        &mut self.clusters[cluster as usize].pieces
    }

    /// The job of a task as one that waits.
    pub fn waiting(&self, task: u32, rank: Rank, has_free_ties: bool) -> Waiting {
        Waiting { rank, has_free_ties, ..self.tasks[task as usize].waiting.clone() }
    }

    // Jobs.

    /// The timer of the task's job goes off, at its release or replenishment.
    pub fn timer(&mut self, cluster: u32, task: u32, now: u64) {
        let of = &mut self.clusters[cluster as usize];
        let batches = self.batches[task as usize];
        if batches && of.group_at != Some(now) {
            of.group_at = Some(now);
            of.group_cpus.clear();
        }
        let job = &mut self.tasks[task as usize];
        let cpu = of.dedicated.unwrap_or(job.timer_cpu);
        let job = &mut job.waiting;
        if !batches {
            job.timer_cpus.clear();
        }
        let timer_cpus = if batches { &mut of.group_cpus } else { &mut job.timer_cpus };
        match cpu {
            NONE => of.cpus.iter().for_each(|&cpu| timer_cpus.insert(cpu)),
            cpu => timer_cpus.insert(cpu),
        }
        if batches {
            job.timer_cpus.clone_from(&of.group_cpus);
        }
        job.timer = Some((now, now.saturating_add(self.kernel.release_latency.as_ns())));
        if self.kernel.structure == Structure::Queues {
            job.queues = None;
        }
        if batches {
            of.group.push(task);
            self.grouped.push(cluster);
        }
    }

    /// The task's blocked job is ready again, whatever woke it up.
    pub fn wakes(&mut self, cluster: u32, task: u32, now: u64) {
        self.tasks[task as usize].timer_cpu = NONE;
        self.timer(cluster, task, now);
    }

    /// The instant is over: all jobs that became ready in it may have been released by the timer of any of them.
    pub fn instant_is_over(&mut self) {
        for cluster in self.grouped.drain(..) {
            let of = &mut self.clusters[cluster as usize];
            for task in of.group.drain(..) {
                self.tasks[task as usize].waiting.timer_cpus.clone_from(&of.group_cpus);
            }
        }
    }

    /// The task's job runs on a CPU: so it was in its queue, if not in others before.
    pub fn begins(&mut self, cpu: usize, task: u32, rank: Rank, now: u64) {
        self.runs(cpu, Some(rank), now);
        self.moves(task, cpu);
    }

    /// The task's job waits in the queue of a CPU.
    pub fn moves(&mut self, task: u32, cpu: usize) {
        if self.kernel.structure == Structure::Queues {
            self.tasks[task as usize].waiting.queues.get_or_insert_default().insert(index(cpu));
        }
    }

    /// The task's job is stopped on a CPU, which has decided for something else, and stays in its queue.
    pub fn stops(&mut self, cpu: usize, task: u32, now: u64) {
        if self.decides_unseen(cpu) {
            self.busy(cpu, now).reschedules = true;
        }
        self.leaves(cpu, task, now);
    }

    fn leaves(&mut self, cpu: usize, task: u32, now: u64) {
        self.runs(cpu, None, now);
        let waiting = &mut self.tasks[task as usize].waiting;
        waiting.timer = None;
        if let Some(queues) = &mut waiting.queues {
            queues.clear();
        }
        self.moves(task, cpu);
    }

    /// The task's job, of this rank until now, has ended on a CPU, or waits for budget, or for something.
    pub fn ends(&mut self, cpu: usize, task: u32, rank: Rank, now: u64) {
        self.leaves(cpu, task, now);
        self.tasks[task as usize].timer_cpu = index(cpu);
        self.ending(cpu, rank, now);
    }

    /// The job on a CPU goes on with another rank.
    pub fn postponed(&mut self, cpu: usize, before: Rank, rank: Rank, now: u64) {
        self.runs(cpu, Some(rank), now);
        self.ending(cpu, before, now);
    }

    fn ending(&mut self, cpu: usize, rank: Rank, now: u64) {
        self.busy(cpu, now).any = true;
        if self.kernel.structure == Structure::Messages {
            self.endings += 1;
            let untold = &mut self.clusters[self.cpus[cpu].cluster as usize].untold;
            untold.insert((rank, self.endings));
            if untold.len() > UNTOLD_MAX {
                untold.pop_last();
            }
        }
    }

    fn runs(&mut self, cpu: usize, rank: Option<Rank>, now: u64) {
        let earliest = now.saturating_sub(self.kernel.ipi.as_ns());
        let runs = &mut self.cpus[cpu].runs;
        while runs.get(1).is_some_and(|&(since, _)| since <= earliest) {
            runs.pop_front();
        }
        runs.push_back((now, rank));
    }

    // The kernel.

    /// The CPU is at work now, or between two pieces of work.
    fn busy(&mut self, cpu: usize, now: u64) -> &mut Busy {
        let of = &mut self.cpus[cpu];
        let ran = of.runs.back().and_then(|&(_, rank)| rank);
        let fresh = Busy { since_ns: now, until_ns: now, ran, reschedules: false, any: false, news: None };
        let busy = of.busy.get_or_insert(fresh);
        if busy.until_ns < now {
            *busy = fresh;
        }
        busy
    }

    /// Whether the CPU may decide in a section that takes no time.
    fn decides_unseen(&self, cpu: usize) -> bool {
        self.clusters[self.cpus[cpu].cluster as usize].decides_unseen
    }

    /// Records `[from, to)` of what a CPU is at.
    fn record(&mut self, cpu: usize, from: u64, to: u64, now: u64) {
        let Some(busy) = self.cpus[cpu].busy else { return };
        let why = match busy {
            Busy { any: true, .. } => Why::Any,
            Busy { news: Some(rank), .. } => Why::News(rank),
            Busy { reschedules: true, ran, .. } => Why::Reschedules(ran),
            Busy { ran: None, .. } if self.decides_unseen(cpu) => Why::Reschedules(None),
            _ => Why::Timer,
        };
        self.add(Piece {
            from_ns: from,
            to_ns: to,
            recorded_ns: now,
            busy_since_ns: busy.since_ns,
            cpu: index(cpu),
            why,
        });
    }

    /// What the CPU is at now may explain more than before.
    fn record_rest(&mut self, cpu: usize, now: u64) {
        let until = self.cpus[cpu].busy.map_or(now, |busy| busy.until_ns);
        self.record(cpu, now, until, now);
    }

    /// A section of kernel work on a CPU takes `[from, to)`.
    pub fn section(&mut self, cpu: usize, kind: EventKind, (from, to): (u64, u64), now: u64) {
        use EventKind::{LockWait, SchedulingOverhead, SwitchOverhead};
        let decides = matches!(kind, LockWait | SchedulingOverhead | SwitchOverhead);
        let reschedules = decides && !self.cpus[cpu].dedicated;
        let busy = self.busy(cpu, now);
        busy.until_ns = busy.until_ns.max(to);
        busy.reschedules |= reschedules;
        self.record(cpu, from, to, now);
    }

    /// A reschedule interrupt arrives at a CPU.
    pub fn interrupt(&mut self, cpu: usize, now: u64) {
        let sent = now.saturating_sub(self.kernel.ipi.as_ns());
        let mut to = now;
        for run in (0..self.cpus[cpu].runs.len()).rev() {
            let (since, rank) = self.cpus[cpu].runs[run];
            let from = since.max(sent);
            self.add(on_the_way(cpu, (from, to), now, Why::Reschedules(rank)));
            to = to.min(from);
        }
        self.add(on_the_way(cpu, (sent, to), now, Why::Reschedules(None)));
        self.busy(cpu, now).reschedules = true;
        self.record_rest(cpu, now);
    }

    /// A message arrives at a dedicated CPU.
    pub fn message(&mut self, cpu: usize, now: u64) {
        let sent = now.saturating_sub(self.kernel.mailbox.as_ns());
        let of = &mut self.clusters[self.cpus[cpu].cluster as usize];
        let first = of.untold.first().map(|&(rank, _)| rank);
        of.untold.pop_last();
        self.add(on_the_way(cpu, (sent, now), now, first.map_or(Why::Any, Why::News)));
        let busy = self.busy(cpu, now);
        match (first, busy.news) {
            (Some(first), before) => busy.news = Some(before.map_or(first, |before| before.min(first))),
            (None, _) => busy.any = true,
        }
        self.record_rest(cpu, now);
    }

    /// The dedicated CPU of a cluster has taken a link away that it is about to give to another client.
    pub fn swap(&mut self, cluster: u32, now: u64) {
        if let Some(dedicated) = self.clusters[cluster as usize].dedicated {
            let dedicated = dedicated as usize;
            self.busy(dedicated, now).any = true;
            self.record_rest(dedicated, now);
        }
    }
}

fn on_the_way(cpu: usize, (from, to): (u64, u64), recorded: u64, why: Why) -> Piece {
    Piece { from_ns: from, to_ns: to, recorded_ns: recorded, busy_since_ns: u64::MAX, cpu: index(cpu), why }
}

/// CPUs are far fewer than 2^32.
fn index(cpu: usize) -> u32 {
    u32::try_from(cpu).unwrap_or(NONE)
}
