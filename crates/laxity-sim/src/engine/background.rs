//! Background tasks: on CPUs that no real-time task holds, and before real-time tasks where a server says so.
//!
//! They wait by virtual time in one queue, or under amp-rm in one per CPU (`background/balance.rs`). A CPU that is free for them takes the
//! next; a real-time task takes the CPU away, and what ran there is placed anew. A slice is a tick: at its end tasks decide whether they
//! go on, and those that do leave the CPU to what waits for it.

mod balance;
mod claims;
mod jobs;
mod spots;

use super::masks::Masks;
use super::queues::{CoreQueue, Queue, Queues};
use super::servers::Servers;
use super::{CellState, CpuState, Engine, NEVER, NONE, index_u32};
use crate::background::{Background, BackgroundSummary, BackgroundTask};
use crate::observer::Observer;
use crate::setup::Setup;
pub(super) use claims::Phase;
use laxity_policy::VirtualTime;
use laxity_trace::{Event, EventKind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeMap, BTreeSet};

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
    since_ns: u64,
    ran_ns: u64,
    waited_ns: u64,
    /// In which proportion to others it gets time.
    weight: u32,
    vtime: VirtualTime,
    /// The CPU for which it waited or on which it ran last: its virtual time is relative to that. [`NONE`]: it has yet to begin.
    home: u32,
    /// Since when it has had its CPU.
    began: u64,
}

/// The background tasks while they are simulated.
pub(super) struct BackgroundWork {
    background: Background,
    /// The background tasks, and behind them the tasks of the set, some of which may run in the background.
    members: Vec<Member>,
    masks: Masks,
    queues: Queues,
    /// Have become ready at this tick, and have yet to be placed.
    arriving: Vec<u32>,
    /// Where they go before real-time tasks.
    servers: Option<Servers>,
    /// Where a job has to wait because they do, as CPUs last decided.
    gave_way: Vec<bool>,
    /// Which of them are known to wait, and for which CPU ([`NONE`]: any); where that is shown (`background/claims.rs`).
    shown: BTreeMap<u32, u32>,
    /// What runs on each CPU.
    on_core: Vec<u32>,
    /// CPUs that a background task has or waits for, where CPUs have queues of their own.
    busy: BTreeSet<u32>,
    /// The speeds of CPUs that have queues of their own.
    speeds: BTreeSet<u32>,
    /// Up to when the job of a task of the set on each CPU is accounted for.
    progressed: Vec<u64>,
    /// CPUs that neither a real-time nor a background task holds.
    free: BTreeSet<u32>,
    rng: Pcg64,
    summary: BackgroundSummary,
}

impl BackgroundWork {
    /// Whether there are background tasks.
    pub fn is_needed(setup: &Setup<'_>) -> bool {
        !setup.background.tasks.is_empty() || setup.has_ordinary_tasks()
    }

    /// Nothing where it is not needed. `open` says whether background tasks may run on a CPU.
    pub fn of(
        setup: &Setup<'_>,
        cpus: &[CpuState],
        open: impl Fn(&CpuState) -> bool,
    ) -> Option<Box<BackgroundWork>> {
        if !Self::is_needed(setup) {
            return None;
        }
        let queues = match setup.scheduler.policy.has_servers() {
            true => Queues::PerCore(CoreQueue::of(cpus, &open)),
            false => Queues::Shared(Queue::default()),
        };
        let speeds = queues.per_core().unwrap_or_default().iter().map(|queue| queue.speed).collect();
        let cores = cpus.iter().enumerate().filter(|(_, cpu)| open(cpu)).map(|(core, _)| index_u32(core));
        let member = |(state, weight): (State, u32)| Member {
            state,
            since_ns: 0,
            ran_ns: 0,
            waited_ns: 0,
            weight,
            vtime: VirtualTime::default(),
            home: NONE,
            began: 0,
        };
        let of_the_set = if setup.has_ordinary_tasks() { setup.set.tasks().len() } else { 0 };
        let of_task = |id: usize| if setup.ordinary.contains(&id) { State::Blocked } else { State::Absent };
        let of_the_set = (0..of_the_set).map(|id| (of_task(id), BackgroundTask::WEIGHT_USUAL));
        let members =
            setup.background.tasks.iter().map(|task| (State::Absent, task.weight)).chain(of_the_set);
        Some(Box::new(BackgroundWork {
            background: setup.background.clone(),
            members: members.map(member).collect(),
            masks: Masks::of(setup, cpus),
            queues,
            arriving: Vec::new(),
            servers: Servers::of(setup),
            gave_way: vec![false; setup.platform.core_count()],
            shown: BTreeMap::new(),
            on_core: vec![NONE; setup.platform.core_count()],
            busy: BTreeSet::new(),
            speeds,
            progressed: vec![0; setup.platform.core_count()],
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
        let spent = now - member.since_ns;
        match member.state {
            State::Running(_) => member.ran_ns += spent,
            State::Ready => member.waited_ns += spent,
            State::Absent | State::Blocked | State::Exited => {}
        }
        (member.state, member.since_ns) = (state, now);
    }

    /// A real-time task takes the CPU. Returns what ran there, if anything.
    fn taken(&mut self, core: u32, ready: impl Fn(usize) -> u32, now: u64) -> Option<u32> {
        self.free.remove(&core);
        let id = self.stop(core, now)?;
        self.place_one(id, &ready, &mut None);
        Some(id)
    }

    /// The kernel takes the CPU for its own work. Returns what ran there, if anything; it waits for this CPU.
    fn interrupted(&mut self, core: u32, now: u64) -> Option<u32> {
        self.free.remove(&core);
        let id = self.stop(core, now)?;
        self.waits_at(id, core);
        Some(id)
    }

    /// What runs on the CPU, if anything, stops; it is ready, and in no queue.
    fn stop(&mut self, core: u32, now: u64) -> Option<u32> {
        let id = std::mem::replace(&mut self.on_core[core as usize], NONE);
        if id == NONE {
            return None;
        }
        self.look_at(core);
        if let Some(servers) = &mut self.servers {
            servers.charge(core, now);
        }
        let member = &mut self.members[id as usize];
        member.vtime = member.vtime.after(now - member.began, member.weight);
        self.turn(id, State::Ready, now);
        Some(id)
    }

    /// The task comes to the CPU: its virtual time is relative to that from now on.
    fn comes_to(&mut self, id: u32, core: u32) {
        let member = &mut self.members[id as usize];
        let (to, from) = (self.queues.clock(core), std::mem::replace(&mut member.home, core));
        member.vtime = if from == NONE { to } else { member.vtime.moved(self.queues.clock(from), to) };
    }

    /// The task, which is ready and on no CPU, waits for this one.
    fn waits_at(&mut self, id: u32, core: u32) {
        self.comes_to(id, core);
        let vtime = self.members[id as usize].vtime.waits(self.queues.clock(core), self.tick_ns());
        self.members[id as usize].vtime = vtime;
        self.queues.insert(core, id, vtime);
        self.look_at(core);
    }

    /// What runs on the CPU, or waits for it, has changed.
    fn look_at(&mut self, core: u32) {
        if self.queues.per_core().is_none() {
            return;
        }
        if self.on_core[core as usize] != NONE || self.queues.waiting(core) > 0 {
            self.busy.insert(core);
        } else {
            self.busy.remove(&core);
        }
    }

    /// The first free CPU for which a task waits that may run there.
    fn first_awaited(&self) -> Option<u32> {
        let awaited = |core: &&u32| self.queues.waits_for(**core, &self.masks);
        if self.queues.per_core().is_some() && self.busy.len() < self.free.len() {
            return self.busy.iter().filter(|&core| self.free.contains(core)).find(awaited).copied();
        }
        self.free.iter().find(awaited).copied()
    }

    /// The next waiting task takes a free CPU, if there are both.
    fn place(&mut self, now: u64) -> Option<(u32, u32)> {
        let core = self.first_awaited()?;
        let id = self.queues.take(core, core, &self.masks)?;
        self.comes_to(id, core);
        let member = &mut self.members[id as usize];
        member.began = now;
        let queue = self.queues.of_mut(core);
        queue.clock = member.vtime.begins(queue.clock);
        self.free.remove(&core);
        self.on_core[core as usize] = id;
        self.look_at(core);
        if let Some(servers) = &mut self.servers {
            servers.begin(core, now);
        }
        self.turn(id, State::Running(core), now);
        Some((core, id))
    }

    /// Whether background tasks go before real-time tasks on the CPU.
    pub fn goes_first(&self, core: u32) -> bool {
        self.servers.as_ref().is_some_and(|servers| servers.goes_first(core))
    }

    /// How many clocks the servers have.
    pub fn clocks(&self) -> usize {
        if self.servers.is_some() { self.on_core.len() } else { 0 }
    }

    /// The end of a tick: those that are there decide, in id order. Those that leave their CPUs, with them.
    fn decide(&mut self, now: u64) -> Vec<(u32, u32)> {
        let mut stopped = Vec::new();
        for id in 0..index_u32(self.background.tasks.len()) {
            let task = self.background.tasks[id as usize];
            match self.members[id as usize].state {
                State::Absent if task.arrival.as_ns() <= now => {
                    self.summary.entered += 1;
                    self.choose(id, task.run_ratio_ppm, now);
                }
                State::Blocked => self.choose(id, task.run_ratio_ppm, now),
                State::Running(core) => {
                    self.turn(id, State::Running(core), now);
                    let exits = self.members[id as usize].ran_ns >= task.lifetime.as_ns();
                    if !exits && self.goes_on(task.run_ratio_ppm) {
                        continue;
                    }
                    stopped.push((core, id));
                    self.stop(core, now);
                    self.free.insert(core);
                    self.turn(id, if exits { State::Exited } else { State::Blocked }, now);
                    self.summary.exited += u64::from(exits);
                }
                State::Absent | State::Ready | State::Exited => {}
            }
        }
        stopped
    }

    /// The end of a tick: tasks decide, those that have become ready are placed, and slices end. Those that leave their CPUs, with
    /// them.
    fn tick(&mut self, ready: impl Fn(usize) -> u32, now: u64) -> Vec<(u32, u32)> {
        let mut stopped = self.decide(now);
        let mut spots = self.spots(self.arriving.len() + self.busy.len(), &ready);
        self.place_those_arriving(&ready, &mut spots);
        for core in 0..index_u32(self.on_core.len()) {
            let id = self.on_core[core as usize];
            if self.slice_ends(core, &ready, &mut spots, now) {
                stopped.push((core, id));
            }
        }
        stopped
    }

    /// Whether a task contends in the next tick.
    fn goes_on(&mut self, run_ratio_ppm: u32) -> bool {
        self.rng.random_range(0..1_000_000) < run_ratio_ppm
    }

    fn choose(&mut self, id: u32, run_ratio_ppm: u32, now: u64) {
        if self.goes_on(run_ratio_ppm) {
            self.turn(id, State::Ready, now);
            self.arriving.push(id);
        } else {
            self.turn(id, State::Blocked, now);
        }
    }

    /// The servers and reserves, where there are any or may be.
    pub fn servers(&self) -> Option<&Servers> {
        self.servers.as_ref()
    }

    /// The servers, where there are any or may be.
    pub fn servers_mut(&mut self) -> Option<&mut Servers> {
        self.servers.as_mut()
    }

    /// The totals, up to `now`.
    pub fn summary(&mut self, now: u64) -> BackgroundSummary {
        for id in 0..index_u32(self.members.len()) {
            let state = self.members[id as usize].state;
            self.turn(id, state, now);
        }
        let background = &self.members[..self.background.tasks.len()];
        self.summary.run_ns = background.iter().map(|member| member.ran_ns).sum();
        self.summary.ready_ns = background.iter().map(|member| member.waited_ns).sum();
        self.summary
    }
}

/// How many real-time jobs are ready or run on a CPU, which is a cell of its own.
pub(super) fn ready_jobs(cells: &[CellState], cpus: &[CpuState], core: usize) -> u32 {
    cells.get(cpus[core].cell as usize).map_or(0, |cell| cell.instance.ready_jobs())
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The tick at which background tasks decide.
    pub(super) fn background_tick(&mut self) {
        let Some(background) = &mut self.background else { return };
        let next = self.now_ns + background.tick_ns();
        let (cells, cpus) = (&self.cells, &self.cpus);
        let stopped = background.tick(|core| ready_jobs(cells, cpus, core), self.now_ns);
        self.timers.set(self.cells.len(), if next <= self.horizon_ns { next } else { NEVER });
        self.emit_stopped(stopped);
    }

    /// Those that have become ready between ticks get their places.
    pub(super) fn place_arriving(&mut self) {
        let Some(background) = &mut self.background else { return };
        let (cells, cpus) = (&self.cells, &self.cpus);
        background.place_arriving(|core| ready_jobs(cells, cpus, core));
    }

    /// No real-time task has the CPU, or is about to.
    pub(super) fn background_may_have(&mut self, core: u32) {
        if self.is_taken(core) {
            return;
        }
        if let Some(background) = &mut self.background
            && background.on_core[core as usize] == NONE
        {
            background.free.insert(core);
        }
    }

    /// A real-time task takes the CPU. Whether a background task had to leave it.
    pub(super) fn background_gives_up(&mut self, core: u32) -> bool {
        let now = self.now_ns;
        let Some(background) = &mut self.background else { return false };
        let (cells, cpus) = (&self.cells, &self.cpus);
        let Some(id) = background.taken(core, |core| ready_jobs(cells, cpus, core), now) else {
            return false;
        };
        self.emit_background(EventKind::BackgroundStop, core, id);
        true
    }

    /// The kernel has taken the CPU.
    pub(super) fn background_is_interrupted(&mut self, core: u32) {
        let now = self.now_ns;
        if let Some(id) = self.background.as_mut().and_then(|background| background.interrupted(core, now)) {
            self.emit_background(EventKind::BackgroundStop, core, id);
        }
    }

    /// At the end of an instant background tasks fill the CPUs that are free.
    pub(super) fn fill_free_cores(&mut self) {
        let Some(background) = &mut self.background else { return };
        let (cells, cpus) = (&self.cells, &self.cpus);
        let stopped = background.pull(|core| ready_jobs(cells, cpus, core), self.now_ns);
        self.emit_stopped(stopped);
        while let Some((core, id)) =
            self.background.as_mut().and_then(|background| background.place(self.now_ns))
        {
            self.emit_background(EventKind::BackgroundStart, core, id);
        }
        self.set_server_clocks();
    }

    pub(super) fn emit_stopped(&mut self, stopped: Vec<(u32, u32)>) {
        for (core, id) in stopped {
            self.emit_background(EventKind::BackgroundStop, core, id);
        }
    }

    /// A background task, or a background job of a task of the set, begins or ceases to have a CPU, or to wait for it.
    pub(super) fn emit_background(&mut self, kind: EventKind, core: u32, id: u32) {
        let now = self.now_ns;
        let task = self.background.as_ref().and_then(|background| background.task_of(id));
        if let (EventKind::BackgroundStart, Some(background)) = (kind, &mut self.background) {
            background.shown.remove(&id);
        }
        if let (Some(task), Some(background)) = (task, &mut self.background) {
            let state = &mut self.tasks[task];
            match kind {
                EventKind::BackgroundStart => {
                    background.progresses(core as usize, now);
                    state.begin(core, now);
                }
                EventKind::BackgroundStop if state.work_left_parts > 0 => state.switched_out(),
                _ => {}
            }
        }
        if O::EVENTS {
            let cpu = self.cpus.get(core as usize).map(|core| core.number);
            let job = task.map(|task| self.tasks[task].index());
            let argument = if task.is_some() { None } else { Some(u64::from(id)) };
            let task = task.map(index_u32);
            self.observer.event(Event { time_ns: now, kind, cpu, task, job, argument });
        }
    }
}
