//! Background tasks on cores that no real-time task holds.
//!
//! They wait in one queue. An idle core takes the first; a real-time task takes the core away, and what ran there goes back
//! to the front. At a tick those that ran go to the back, so that all get their turn, and decide whether to go on.

use super::{Engine, NEVER, NONE, index_u32};
use crate::background::{Background, BackgroundSummary};
use crate::observer::Observer;
use crate::setup::Setup;
use laxity_trace::{Event, EventKind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeSet, VecDeque};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Has not entered.
    Absent,
    Blocked,
    Ready,
    Running(u32),
    Exited,
}

struct Member {
    state: State,
    /// Since when it has been in this state.
    since: u64,
    ran: u64,
    waited: u64,
}

/// The background tasks while they are simulated.
pub(super) struct Idle {
    background: Background,
    members: Vec<Member>,
    ready: VecDeque<u32>,
    /// What runs on each core.
    on_core: Vec<u32>,
    /// Cores that neither a real-time nor a background task holds.
    free: BTreeSet<u32>,
    rng: Pcg64,
    summary: BackgroundSummary,
}

impl Idle {
    /// Whether there are background tasks.
    pub fn is_needed(setup: &Setup<'_>) -> bool {
        !setup.background.tasks.is_empty()
    }

    /// Nothing where it is not needed. `cores` are those that background tasks may run on.
    pub fn of(setup: &Setup<'_>, cores: impl Iterator<Item = u32>) -> Option<Box<Idle>> {
        if !Self::is_needed(setup) {
            return None;
        }
        let member = || Member { state: State::Absent, since: 0, ran: 0, waited: 0 };
        Some(Box::new(Idle {
            background: setup.background.clone(),
            members: setup.background.tasks.iter().map(|_| member()).collect(),
            ready: VecDeque::new(),
            on_core: vec![NONE; setup.platform.core_count()],
            free: cores.collect(),
            rng: Pcg64::seed_from_u64(setup.seed ^ 0x6261_636b_6772_6e64),
            summary: BackgroundSummary::default(),
        }))
    }

    /// Length of a tick in ns.
    pub fn tick_ns(&self) -> u64 {
        self.background.tick.as_ns()
    }

    /// The member enters another state: the time in the one before is counted.
    fn turn(&mut self, id: u32, state: State, now: u64) {
        let member = &mut self.members[id as usize];
        let spent = now - member.since;
        match member.state {
            State::Running(_) => member.ran += spent,
            State::Ready => member.waited += spent,
            State::Absent | State::Blocked | State::Exited => {}
        }
        (member.state, member.since) = (state, now);
    }

    /// A real-time task takes the core. What ran there, if anything.
    fn taken(&mut self, core: u32, now: u64) -> Option<u32> {
        self.free.remove(&core);
        let id = std::mem::replace(&mut self.on_core[core as usize], NONE);
        if id == NONE {
            return None;
        }
        self.turn(id, State::Ready, now);
        self.ready.push_front(id);
        Some(id)
    }

    /// The next waiting task takes a free core, if there are both.
    fn place(&mut self, now: u64) -> Option<(u32, u32)> {
        let core = *self.free.first()?;
        let id = self.ready.pop_front()?;
        self.free.remove(&core);
        self.on_core[core as usize] = id;
        self.turn(id, State::Running(core), now);
        Some((core, id))
    }

    /// The end of a tick. Those that ran leave their cores, in id order; who they were.
    fn tick(&mut self, now: u64) -> Vec<(u32, u32)> {
        let mut stopped = Vec::new();
        for id in 0..index_u32(self.members.len()) {
            let task = self.background.tasks[id as usize];
            match self.members[id as usize].state {
                State::Absent if task.arrival.as_ns() <= now => {
                    self.summary.entered += 1;
                    self.choose(id, task.run_ratio_ppm, now);
                }
                State::Blocked => self.choose(id, task.run_ratio_ppm, now),
                State::Running(core) => {
                    stopped.push((core, id));
                    self.on_core[core as usize] = NONE;
                    self.free.insert(core);
                    self.turn(id, State::Blocked, now);
                    if self.members[id as usize].ran >= task.lifetime.as_ns() {
                        self.turn(id, State::Exited, now);
                        self.summary.exited += 1;
                    } else {
                        self.choose(id, task.run_ratio_ppm, now);
                    }
                }
                State::Absent | State::Ready | State::Exited => {}
            }
        }
        stopped
    }

    fn choose(&mut self, id: u32, run_ratio_ppm: u32, now: u64) {
        if self.rng.random_range(0..1_000_000) < run_ratio_ppm {
            self.turn(id, State::Ready, now);
            self.ready.push_back(id);
        } else {
            self.turn(id, State::Blocked, now);
        }
    }

    /// The totals, up to `now`.
    pub fn summary(&mut self, now: u64) -> BackgroundSummary {
        for id in 0..index_u32(self.members.len()) {
            let state = self.members[id as usize].state;
            self.turn(id, state, now);
        }
        self.summary.run_ns = self.members.iter().map(|member| member.ran).sum();
        self.summary.ready_ns = self.members.iter().map(|member| member.waited).sum();
        self.summary
    }
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The tick at which background tasks decide.
    pub(super) fn background_tick(&mut self) {
        let Some(idle) = &mut self.idle else { return };
        let next = self.now + idle.tick_ns();
        for (core, id) in idle.tick(self.now) {
            self.emit_background(EventKind::BackgroundStop, core, id);
        }
        self.timers.set(self.cells.len(), if next <= self.horizon { next } else { NEVER });
    }

    /// A core has been taken by a real-time task, or given up by one.
    pub(super) fn background_yields(&mut self, core: u32, taken: bool) {
        let now = self.now;
        let Some(idle) = &mut self.idle else { return };
        if !taken {
            idle.free.insert(core);
        } else if let Some(id) = idle.taken(core, now) {
            self.emit_background(EventKind::BackgroundStop, core, id);
        }
    }

    /// At the end of an instant background tasks fill the cores that are free.
    pub(super) fn fill_free_cores(&mut self) {
        while let Some((core, id)) = self.idle.as_mut().and_then(|idle| idle.place(self.now)) {
            self.emit_background(EventKind::BackgroundStart, core, id);
        }
    }

    fn emit_background(&mut self, kind: EventKind, core: u32, id: u32) {
        if O::EVENTS {
            let cpu = Some(self.cpus[core as usize].number);
            let argument = Some(u64::from(id));
            self.observer.event(Event { time_ns: self.now, kind, cpu, task: None, job: None, argument });
        }
    }
}
