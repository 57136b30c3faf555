//! What happens whether or not the scheduler takes notice: arrivals, deadlines that pass, replenishments, tasks that
//! enter and leave. Only for observers who want events.

use super::{Engine, NONE, index_u32};
use crate::observer::Observer;
use crate::setup::Setup;
use laxity_generate::{Jobs, jobs_of};
use laxity_trace::{Event, EventKind};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    deadline_rel: u64,
    /// Number of the next job to arrive, and its arrival.
    next: u32,
    arrival: u64,
    /// Jobs that have completed.
    completed: u32,
}

/// The watch: arrivals and deadlines to come.
pub(super) struct Watch {
    tasks: Vec<Seen>,
    coming: BinaryHeap<Reverse<(u64, Coming, u32)>>,
}

impl Watch {
    /// Nothing to watch unless `wanted`.
    pub fn new(setup: &Setup<'_>, wanted: bool) -> Self {
        let mut watch = Watch { tasks: Vec::new(), coming: BinaryHeap::new() };
        let end = setup.duration.as_ns();
        if !wanted {
            return watch;
        }
        for (id, task) in setup.set.tasks().iter().enumerate() {
            watch.tasks.push(Seen {
                jobs: jobs_of(task, id, setup.seed, setup.demand).before(setup.duration),
                deadline_rel: task.deadline_rel.as_ns(),
                next: NONE,
                arrival: 0,
                completed: 0,
            });
        }
        for (id, task) in setup.set.real_time() {
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

    /// A job of the task has completed; jobs of a task complete in order.
    pub fn completed(&mut self, task: u32) {
        self.tasks[task as usize].completed += 1;
    }

    /// The task's throttled job has a budget again at `time`.
    pub fn replenish(&mut self, task: u32, job: u32, time: u64, deadline: u64) {
        self.coming.push(Reverse((time, Coming::Replenish { job, deadline }, task)));
    }

    fn next_arrival(&mut self, task: u32) {
        let seen = &mut self.tasks[task as usize];
        if let Some(job) = seen.jobs.next() {
            seen.next = seen.next.wrapping_add(1);
            seen.arrival = job.release.as_ns();
            self.coming.push(Reverse((seen.arrival, Coming::Arrival, task)));
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
                    let seen = &self.tasks[task as usize];
                    let (job, deadline) = (seen.next, time + seen.deadline_rel);
                    self.coming.push(Reverse((deadline, Coming::Deadline { job }, task)));
                    self.next_arrival(task);
                    return event(EventKind::Release, Some(job), Some(deadline));
                }
                Coming::Deadline { job } => {
                    if self.tasks[task as usize].completed <= job {
                        return event(EventKind::DeadlineMiss, Some(job), None);
                    }
                }
            }
        }
    }
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// Emits what comes before the instant, or up to and including it.
    pub(super) fn watch_until(&mut self, until: u64, inclusive: bool) {
        while let Some(event) = self.watch.take(until, inclusive) {
            self.observer.event(event);
        }
    }
}
