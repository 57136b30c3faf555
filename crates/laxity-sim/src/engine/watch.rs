//! What happens whether or not the scheduler takes notice: arrivals, deadlines that pass, replenishments, tasks
//! that enter and leave. Only for observers that want events.
//!
//! Every job arrives and has a deadline, so each task has a clock for both: that of its next arrival, or of the first deadline of a
//! job that is not over, if that is earlier. It may be too early, as a job that is over by then does not set it again: where deadlines are
//! periods, it is set once for each job. A calendar has the clocks, a heap what comes rarely.

use super::calendar::{Calendar, NEVER};
use super::{Engine, NONE, index_u32};
use crate::observer::Observer;
use crate::setup::Setup;
use laxity_generate::{Jobs, jobs_of};
use laxity_model::{Duration, OnMiss, Task};
use laxity_trace::{Event, EventKind, JobOutcome};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What comes rarely. Within an instant: entering before jobs that arrive, these before leaving, deadlines last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Coming {
    Enter,
    Leave,
    Replenish { job: u32, deadline: u64 },
}

/// Jobs that have arrived, are not over, and not known to be late; several only where deadlines are beyond periods.
struct Pending {
    /// The first one, and its deadline; [`NEVER`]: there is none.
    job: u32,
    deadline_ns: u64,
    behind: VecDeque<(u32, u64)>,
}

impl Pending {
    /// None, with room for so many.
    fn new(room: usize) -> Self {
        Pending { job: NONE, deadline_ns: NEVER, behind: VecDeque::with_capacity(room) }
    }

    #[inline]
    fn push(&mut self, job: u32, deadline: u64) {
        if self.deadline_ns == NEVER {
            (self.job, self.deadline_ns) = (job, deadline);
        } else {
            self.behind.push_back((job, deadline));
        }
    }

    /// Takes the first one out, if there is one.
    #[inline]
    fn pop(&mut self) {
        (self.job, self.deadline_ns) = match self.behind.is_empty() {
            true => (NONE, NEVER),
            false => self.behind.pop_front().unwrap_or((NONE, NEVER)),
        };
    }

    fn clear(&mut self) {
        self.behind.clear();
        self.deadline_ns = NEVER;
    }
}

/// A task seen from outside.
struct Seen {
    jobs: Jobs,
    deadline_rel_ns: u64,
    /// Number of the next job to arrive, and its arrival; [`NEVER`]: there is none.
    next: u32,
    arrival_ns: u64,
    /// So many jobs have arrived, are not over, and are known to have missed their deadline. Under overload they become ever more, so
    /// nothing else is kept of them.
    missed: u64,
    /// The others that have arrived and are not over.
    pending: Pending,
}

impl Seen {
    #[inline]
    fn next_arrival(&mut self) {
        self.arrival_ns = match self.jobs.next() {
            Some(job) => {
                self.next = self.next.wrapping_add(1);
                job.release.as_ns()
            }
            None => NEVER,
        };
    }

    /// When to look at the task next.
    #[inline]
    fn clock(&self) -> u64 {
        self.arrival_ns.min(self.pending.deadline_ns)
    }

    /// A job arrives, or does not because an earlier one is late.
    #[inline]
    fn arrives(&mut self, task: u32, on_miss: OnMiss) -> Event {
        let now = self.arrival_ns;
        let (job, deadline) = (self.next, now + self.deadline_rel_ns);
        // The deadlines of those have passed, and of no others.
        let skipped = self.missed > 0 && on_miss.skips(now, now, None);
        if !skipped {
            self.pending.push(job, deadline);
        }
        self.next_arrival();
        let (kind, argument) =
            if skipped { (EventKind::Skip, None) } else { (EventKind::Release, Some(deadline)) };
        Event { time_ns: now, kind, cpu: None, task: Some(task), job: Some(job), argument }
    }

    /// None of its jobs is pending any more.
    fn forgets_jobs(&mut self) {
        self.pending.clear();
        self.missed = 0;
    }
}

/// How many jobs of a task are pending at a time behind the first and not late, at most; of many, room is made as they come.
fn not_late_behind(task: &Task) -> usize {
    let periods = task.deadline_rel.as_ns().div_ceil(task.period().as_ns());
    usize::try_from(periods.saturating_sub(1)).map_or(ROOM_MOST, |jobs| jobs.min(ROOM_MOST))
}

/// Room for so many at first.
const ROOM_MOST: usize = 64;

/// The watch: arrivals and deadlines to come.
pub(super) struct Watch {
    tasks: Vec<Seen>,
    on_miss: OnMiss,
    /// One for each task.
    clocks: Calendar,
    coming: BinaryHeap<Reverse<(u64, Coming, u32)>>,
    /// The first instant at which anything may come.
    next_ns: u64,
    /// Jobs that miss their deadline in this instant, and their tasks.
    missing: Vec<(u32, u32)>,
}

impl Watch {
    /// Nothing to watch unless `wanted`.
    pub fn new(setup: &Setup<'_>, wanted: bool) -> Self {
        let mut watch = Watch {
            tasks: Vec::new(),
            on_miss: setup.on_miss,
            clocks: Calendar::new(if wanted { setup.set.tasks().len() } else { 0 }),
            coming: BinaryHeap::new(),
            next_ns: NEVER,
            missing: Vec::new(),
        };
        let end = setup.duration.as_ns();
        if !wanted {
            return watch;
        }
        watch.missing.reserve(setup.set.tasks().len());
        // Background tasks are observed where they run.
        let is_ordinary = |id: usize| setup.ordinary.contains(&id) || setup.changes.lets_enter(id);
        for (id, task) in setup.set.tasks().iter().enumerate() {
            watch.tasks.push(Seen {
                jobs: jobs_of(task, id, setup.seed, setup.demand).before(setup.duration),
                deadline_rel_ns: task.deadline_rel.as_ns(),
                next: NONE,
                arrival_ns: NEVER,
                pending: Pending::new(not_late_behind(task)),
                missed: 0,
            });
        }
        for (id, task) in setup.set.real_time().filter(|&(id, _)| !is_ordinary(id)) {
            watch.tasks[id].next_arrival();
            let (number, phase) = (index_u32(id), task.phase.as_ns());
            if phase > 0 && phase < end {
                watch.coming.push(Reverse((phase, Coming::Enter, number)));
            }
            if let Some(leave) = task.leave.filter(|leave| leave.as_ns() < end) {
                watch.coming.push(Reverse((leave.as_ns(), Coming::Leave, number)));
            }
            watch.set_clock(id);
        }
        watch
    }

    /// Something else of the task is to come than its clock says.
    fn set_clock(&mut self, task: usize) {
        self.clocks.set(task, self.tasks[task].clock());
        self.next_ns = self.next_instant();
    }

    /// The task moves to the background: nothing of it is to come.
    pub fn turns_ordinary(&mut self, task: usize) {
        let Some(seen) = self.tasks.get_mut(task) else { return };
        seen.forgets_jobs();
        seen.arrival_ns = NEVER;
        self.coming.retain(|Reverse((_, _, other))| *other as usize != task);
        self.set_clock(task);
    }

    /// The task is a real-time task from now on, whose job of this number arrives at `release`, and `following` are those behind it.
    pub fn turns_real_time(&mut self, task: usize, job: u32, release: u64, following: Jobs) {
        let Some(seen) = self.tasks.get_mut(task) else { return };
        seen.forgets_jobs();
        seen.jobs = following;
        (seen.next, seen.arrival_ns) = (job, release);
        self.set_clock(task);
    }

    /// The task releases no more jobs from `now` on; a real-time task is seen to leave, and one that has not entered yet does not enter
    /// any more. `arrives`: but for one that is released just now.
    pub fn leaves(&mut self, task: usize, (real_time, arrives): (bool, bool), now: u64) {
        let Some(seen) = self.tasks.get_mut(task) else { return };
        seen.jobs = seen.jobs.clone().before(Duration::from_ns(now));
        if !arrives {
            seen.arrival_ns = NEVER;
        }
        self.coming.retain(|Reverse((_, coming, other))| {
            *other as usize != task || matches!(coming, Coming::Replenish { .. })
        });
        if real_time {
            self.coming.push(Reverse((now, Coming::Leave, index_u32(task))));
        }
        self.set_clock(task);
    }

    /// Whether nothing is to come by this instant.
    #[inline]
    pub fn is_quiet(&self, now: u64) -> bool {
        self.next_ns > now
    }

    /// A job of the task is done or aborted; that happens in the order of the jobs.
    #[inline]
    pub fn ended(&mut self, task: u32) {
        let seen = &mut self.tasks[task as usize];
        match seen.missed.checked_sub(1) {
            Some(missed) => seen.missed = missed,
            None => seen.pending.pop(),
        }
    }

    /// The miss of the task's first job that is not over, if this is its deadline and the miss has not been shown yet.
    pub fn misses_now(&mut self, task: u32, job: u32, now: u64) -> Option<Event> {
        let seen = &mut self.tasks[task as usize];
        if seen.missed > 0 {
            return None;
        }
        seen.pending.pop();
        seen.missed = 1;
        Some(miss(now, task, job))
    }

    /// The task's throttled job has a budget again at `time`.
    pub fn replenish(&mut self, task: u32, job: u32, time: u64, deadline: u64) {
        self.coming.push(Reverse((time, Coming::Replenish { job, deadline }, task)));
        self.next_ns = self.next_ns.min(time);
    }

    #[inline]
    fn next_instant(&self) -> u64 {
        self.clocks.next_instant().min(self.coming.peek().map_or(NEVER, |&Reverse((time, ..))| time))
    }

    /// Shows what comes before the instant, or up to and including it.
    fn show(&mut self, until: u64, inclusive: bool, mut show: impl FnMut(Event)) {
        while self.next_ns < until || self.next_ns == until && inclusive {
            let now = self.next_ns;
            if now == NEVER {
                return;
            }
            if !self.coming.is_empty() {
                self.show_rare(now, |coming| coming == Coming::Enter, &mut show);
            }
            while self.clocks.next_instant() == now {
                let (slot, _) = self.clocks.next_slot();
                let (task, seen) = (index_u32(slot), &mut self.tasks[slot]);
                if seen.pending.deadline_ns == now {
                    self.missing.push((seen.pending.job, task));
                    seen.pending.pop();
                    seen.missed += 1;
                }
                let arrives = (seen.arrival_ns == now).then(|| seen.arrives(task, self.on_miss));
                self.clocks.set(slot, seen.clock());
                if let Some(event) = arrives {
                    show(event);
                }
            }
            if !self.coming.is_empty() {
                self.show_rare(now, |_| true, &mut show);
            }
            if !self.missing.is_empty() {
                // By number, then by task.
                self.missing.sort_unstable();
                self.missing.drain(..).for_each(|(job, task)| show(miss(now, task, job)));
            }
            self.next_ns = self.next_instant();
        }
    }

    fn show_rare(&mut self, now: u64, which: impl Fn(Coming) -> bool, show: &mut impl FnMut(Event)) {
        while let Some(&Reverse((time, coming, task))) = self.coming.peek()
            && time == now
            && which(coming)
        {
            self.coming.pop();
            let (kind, job, argument) = match coming {
                Coming::Enter => (EventKind::Enter, None, None),
                Coming::Leave => (EventKind::Leave, None, None),
                Coming::Replenish { job, deadline } => (EventKind::Replenish, Some(job), Some(deadline)),
            };
            show(Event { time_ns: now, kind, cpu: None, task: Some(task), job, argument });
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
        self.watch.ended(task);
    }

    /// The event that a job's beginning is: it has run before (`resumed`), and elsewhere (`from`).
    #[inline]
    pub(super) fn show_begin(&mut self, cpu: u32, task: u32, resumed: bool, from: Option<u32>) {
        let kind = match (resumed, from) {
            (false, _) => EventKind::Start,
            (true, None) => EventKind::Resume,
            (true, Some(_)) => EventKind::Migrate,
        };
        let from = from.map(|from| u64::from(self.cpus[from as usize].number));
        self.emit(kind, Some(cpu), task, from);
    }

    /// Emits what comes before the instant, or up to and including it.
    #[inline(always)]
    pub(super) fn watch_until(&mut self, until: u64, inclusive: bool) {
        if self.watch.next_ns < until || inclusive && self.watch.next_ns == until {
            self.show_until(until, inclusive);
        }
    }

    #[inline(never)]
    fn show_until(&mut self, until: u64, inclusive: bool) {
        self.watch.show(until, inclusive, |event| self.observer.event(event));
    }
}
