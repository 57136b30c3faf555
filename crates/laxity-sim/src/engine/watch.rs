//! What happens whether or not the scheduler takes notice: arrivals, deadlines that pass, replenishments, tasks
//! that enter and leave. Only for observers that want events.

use super::{Engine, NONE, index_u32};
use crate::observer::Observer;
use crate::setup::Setup;
use laxity_generate::{Jobs, jobs_of};
use laxity_model::{Duration, OnMiss};
use laxity_trace::{Event, EventKind, JobOutcome};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What comes at an instant. Within an instant: entering before arriving, arriving before leaving, deadlines last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Coming {
    Enter,
    Arrival,
    Leave,
    Replenish { job: u32, deadline: u64 },
    Deadline { job: u32 },
}

/// A task seen from outside.
struct Seen {
    jobs: Jobs,
    deadline_rel_ns: u64,
    /// Number of the next job to arrive, and its arrival.
    next: u32,
    arrival_ns: u64,
    /// Jobs before this one are over: done, aborted, or skipped.
    over: u32,
    /// Jobs before this one, among those that missed their deadline, are known to have.
    missed: u32,
    /// Where releases may be skipped: number and deadline of the jobs that have arrived and are not over.
    pending: VecDeque<(u32, u64)>,
}

/// The watch: arrivals and deadlines to come.
pub(super) struct Watch {
    tasks: Vec<Seen>,
    on_miss: OnMiss,
    coming: BinaryHeap<Reverse<(u64, Coming, u32)>>,
}

impl Watch {
    /// Nothing to watch unless `wanted`.
    pub fn new(setup: &Setup<'_>, wanted: bool) -> Self {
        let mut watch = Watch { tasks: Vec::new(), on_miss: setup.on_miss, coming: BinaryHeap::new() };
        let end = setup.duration.as_ns();
        if !wanted {
            return watch;
        }
        for (id, task) in setup.set.tasks().iter().enumerate() {
            watch.tasks.push(Seen {
                jobs: jobs_of(task, id, setup.seed, setup.demand).before(setup.duration),
                deadline_rel_ns: task.deadline_rel.as_ns(),
                next: NONE,
                arrival_ns: 0,
                over: 0,
                missed: 0,
                pending: VecDeque::new(),
            });
        }
        // Background tasks are observed where they run.
        let is_ordinary = |id: usize| setup.ordinary.contains(&id) || setup.changes.lets_enter(id);
        for (id, task) in setup.set.real_time().filter(|&(id, _)| !is_ordinary(id)) {
            let number = index_u32(id);
            watch.next_arrival(number);
            let phase = task.phase.as_ns();
            if phase > 0 && phase < end {
                watch.coming.push(Reverse((phase, Coming::Enter, number)));
            }
            if let Some(leave) = task.leave.filter(|leave| leave.as_ns() < end) {
                watch.coming.push(Reverse((leave.as_ns(), Coming::Leave, number)));
            }
        }
        watch
    }

    /// The task moves to the background: nothing of it is to come.
    pub fn turns_ordinary(&mut self, task: usize) {
        self.coming.retain(|Reverse((_, _, other))| *other as usize != task);
    }

    /// The task is a real-time task from now on, whose job of this number arrives at `release`, and `following` are those behind it.
    pub fn turns_real_time(&mut self, task: usize, job: u32, release: u64, following: Jobs) {
        let Some(seen) = self.tasks.get_mut(task) else { return };
        seen.jobs = following;
        (seen.next, seen.arrival_ns) = (job, release);
        (seen.over, seen.missed) = (job, job);
        seen.pending.clear();
        self.coming.push(Reverse((release, Coming::Arrival, index_u32(task))));
    }

    /// The task releases no more jobs from `now` on; a real-time task is seen to leave, and one that has not entered yet does not enter
    /// any more. `arrives`: but for one that is released just now.
    pub fn leaves(&mut self, task: usize, (real_time, arrives): (bool, bool), now: u64) {
        let Some(seen) = self.tasks.get_mut(task) else { return };
        seen.jobs = seen.jobs.clone().before(Duration::from_ns(now));
        self.coming.retain(|Reverse((_, coming, other))| {
            let gone = match coming {
                Coming::Enter | Coming::Leave => true,
                Coming::Arrival => !arrives,
                Coming::Replenish { .. } | Coming::Deadline { .. } => false,
            };
            *other as usize != task || !gone
        });
        if real_time {
            self.coming.push(Reverse((now, Coming::Leave, index_u32(task))));
        }
    }

    /// A job of the task is done or aborted; that happens in the order of the jobs.
    pub fn ended(&mut self, task: u32, job: u32) {
        let seen = &mut self.tasks[task as usize];
        seen.over = job + 1;
        seen.pending.pop_front();
    }

    /// The miss of the task's first job that is not over, if this is its deadline and the miss has not been shown yet.
    pub fn misses_now(&mut self, task: u32, job: u32, now: u64) -> Option<Event> {
        let seen = &mut self.tasks[task as usize];
        if seen.missed > job {
            return None;
        }
        seen.missed = job + 1;
        Some(miss(now, task, job))
    }

    /// Whether a release of the task at `now` does not happen, because an earlier job is late.
    fn skips(&self, task: u32, now: u64) -> bool {
        let first = self.tasks[task as usize].pending.front();
        // The first one has the earliest deadline.
        first.is_some_and(|&(_, deadline)| self.on_miss.skips(now, deadline, None))
    }

    /// The task's throttled job has a budget again at `time`.
    pub fn replenish(&mut self, task: u32, job: u32, time: u64, deadline: u64) {
        self.coming.push(Reverse((time, Coming::Replenish { job, deadline }, task)));
    }

    fn next_arrival(&mut self, task: u32) {
        let seen = &mut self.tasks[task as usize];
        if let Some(job) = seen.jobs.next() {
            seen.next = seen.next.wrapping_add(1);
            seen.arrival_ns = job.release.as_ns();
            self.coming.push(Reverse((seen.arrival_ns, Coming::Arrival, task)));
        }
    }

    /// The next event at or before (`inclusive`) or before the instant.
    fn take(&mut self, until: u64, inclusive: bool) -> Option<Event> {
        loop {
            let &Reverse((time, coming, task)) = self.coming.peek()?;
            if time > until || (time == until && !inclusive) {
                return None;
            }
            self.coming.pop();
            let event = |kind, job, argument| {
                Some(Event { time_ns: time, kind, cpu: None, task: Some(task), job, argument })
            };
            match coming {
                Coming::Enter => return event(EventKind::Enter, None, None),
                Coming::Leave => return event(EventKind::Leave, None, None),
                Coming::Replenish { job, deadline } => {
                    return event(EventKind::Replenish, Some(job), Some(deadline));
                }
                Coming::Arrival => {
                    let skipped = self.skips(task, time);
                    let seen = &mut self.tasks[task as usize];
                    let (job, deadline) = (seen.next, time + seen.deadline_rel_ns);
                    if skipped {
                        self.next_arrival(task);
                        return event(EventKind::Skip, Some(job), None);
                    }
                    if self.on_miss == OnMiss::Skip {
                        seen.pending.push_back((job, deadline));
                    }
                    self.coming.push(Reverse((deadline, Coming::Deadline { job }, task)));
                    self.next_arrival(task);
                    return event(EventKind::Release, Some(job), Some(deadline));
                }
                Coming::Deadline { job } => {
                    let seen = &mut self.tasks[task as usize];
                    if seen.over <= job {
                        seen.missed = job + 1;
                        return Some(miss(time, task, job));
                    }
                }
            }
        }
    }
}

/// A job's deadline passes.
fn miss(time_ns: u64, task: u32, job: u32) -> Event {
    Event {
        time_ns,
        kind: EventKind::DeadlineMiss,
        cpu: None,
        task: Some(task),
        job: Some(job),
        argument: None,
    }
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The event that a job's end is, and the miss where it ends because of that.
    pub(super) fn show_end(&mut self, cpu: u32, task: u32, outcome: JobOutcome) {
        let kind = match outcome {
            JobOutcome::Aborted => EventKind::Abort,
            JobOutcome::Completed | JobOutcome::Unfinished | JobOutcome::Skipped | JobOutcome::Ordinary => {
                EventKind::Complete
            }
        };
        let (deadline, job) = (self.tasks[task as usize].deadline(), self.tasks[task as usize].index());
        if kind == EventKind::Abort
            && let Some(miss) = self.watch.misses_now(task, job, self.now_ns)
        {
            self.observer.event(miss);
        }
        self.emit(kind, Some(cpu), task, Some(deadline));
        self.watch.ended(task, job);
    }

    /// Emits what comes before the instant, or up to and including it.
    pub(super) fn watch_until(&mut self, until: u64, inclusive: bool) {
        while let Some(event) = self.watch.take(until, inclusive) {
            self.observer.event(event);
        }
    }
}
