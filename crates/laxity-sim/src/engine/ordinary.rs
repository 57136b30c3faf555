//! Tasks of the set that run in the background: those that were refused, have been demoted, or are not promoted
//! yet.
//!
//! Their jobs arrive when those of a real-time task would, run one after the other among the background tasks, and end when their work
//! is done. At a tick their slice ends, as that of background tasks does.

use super::{Engine, EventKind, NEVER, index_u32};
use crate::observer::Observer;
use laxity_trace::JobOutcome;

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The timer of the next arrival.
    pub(super) fn slot_of_ordinary_jobs(&self) -> usize {
        self.cells.len() + 1 + self.background.as_ref().map_or(0, |background| background.clocks())
    }

    /// The timer of what changes next.
    pub(super) fn slot_of_changes(&self) -> usize {
        self.slot_of_ordinary_jobs() + 1
    }

    /// Whether a task of the set runs in the background.
    pub(super) fn is_ordinary(&self, task: usize) -> bool {
        self.background.as_ref().is_some_and(|background| background.has_member(task))
    }

    /// The first job of every task of the set in the background is to arrive.
    pub(super) fn await_ordinary_jobs(&mut self) {
        let Some(background) = &mut self.background else { return };
        for task in background.awaiting() {
            if self.tasks[task].advance() == NEVER {
                background.withdraw(task, 0);
            }
        }
        self.set_clocks_of_ordinary_jobs();
    }

    /// The task runs in the background from now on; the present job arrives, or has arrived, at `release`, unless
    /// there is none.
    pub(super) fn join_ordinary(&mut self, task: usize, release: u64) {
        let now = self.now_ns;
        let Some(background) = &mut self.background else { return };
        if release == NEVER {
            return;
        }
        background.join(task, release <= now, now);
        self.place_arriving();
    }

    /// The task leaves the background, if it was there.
    pub(super) fn withdraw_ordinary(&mut self, task: usize) {
        let Some(background) = &mut self.background else { return };
        if let Some((core, id)) = background.withdraw(task, self.now_ns) {
            self.emit_stopped(vec![(core, id)]);
        }
    }

    /// Jobs have arrived.
    pub(super) fn ordinary_jobs_arrive(&mut self) {
        let slot = self.slot_of_ordinary_jobs();
        self.timers.set(slot, NEVER);
        let Some(background) = &mut self.background else { return };
        for task in background.awaiting() {
            if self.tasks[task].release() <= self.now_ns {
                background.arrives(task, self.now_ns);
            }
        }
        self.place_arriving();
    }

    /// Brings the jobs on CPUs up to date, and ends those that are done.
    pub(super) fn ordinary_jobs_progress(&mut self) {
        let now = self.now_ns;
        let at_tick = self.tick == 0 || now.is_multiple_of(self.tick);
        for core in 0..self.cpus.len() {
            let Some(background) = &mut self.background else { return };
            let Some(task) = background.job_on(core) else { continue };
            let elapsed = background.progresses(core, now);
            let state = &mut self.tasks[task];
            state.held(elapsed, elapsed * self.cpus[core].rate);
            if state.work_left_parts == 0 && at_tick {
                self.ordinary_job_ends(core, task);
            }
        }
    }

    fn ordinary_job_ends(&mut self, core: usize, task: usize) {
        let (now, number) = (self.now_ns, index_u32(core));
        let Some(background) = &mut self.background else { return };
        let id = background.leaves_core(number, now);
        self.emit_background(EventKind::BackgroundStop, number, id);
        let cpus = &self.cpus;
        let mut job = self.tasks[task].record(index_u32(task), Some(now), |cpu| cpus[cpu as usize].number);
        job.outcome = JobOutcome::Ordinary;
        self.observer.job(&job);
        let release = self.next_job(index_u32(task), now);
        if let Some(background) = &mut self.background {
            background.awaits(id, release, now);
        }
        self.place_arriving();
    }

    /// At the end of an instant: the CPUs' clocks say when background jobs of the set's tasks end, the timer when
    /// the next one arrives.
    pub(super) fn set_clocks_of_ordinary_jobs(&mut self) {
        let slot = self.slot_of_ordinary_jobs();
        let Some(background) = &mut self.background else { return };
        if !background.has_jobs() {
            return;
        }
        for (core, state) in self.cpus.iter().enumerate() {
            if let Some(task) = background.job_on(core) {
                let end = self.now_ns + self.tasks[task].work_left_parts.div_ceil(state.rate);
                let end = if self.tick > 0 { end.next_multiple_of(self.tick) } else { end };
                self.clocks.set(core, end);
            } else if state.running == super::NONE {
                self.clocks.set(core, NEVER);
            }
        }
        let next = background.awaiting().into_iter().map(|task| self.tasks[task].release()).min();
        self.timers.set(slot, next.filter(|&at| at <= self.horizon_ns).unwrap_or(NEVER));
    }
}
