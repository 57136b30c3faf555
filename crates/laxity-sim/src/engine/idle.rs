//! Background tasks: on cores that no real-time task holds, and before real-time tasks where a server says so.
//!
//! They wait in one queue, or under amp-rm in one per core. A core that is free for them takes the first; a real-time task takes the
//! core away, and what ran there goes back to the front. At a tick those that ran go to the back, so that all get their turn,
//! and decide whether to go on; under amp-rm queues are then balanced, and a core without work gets some whenever it has none.

use super::queues::{CoreQueue, Loads, Queues};
use super::servers::Servers;
use super::{CellState, CpuState, Engine, NEVER, NONE, index_u32};
use crate::background::{Background, BackgroundSummary};
use crate::observer::Observer;
use crate::setup::Setup;
use laxity_model::Policy;
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
    queues: Queues,
    /// Have become ready at this tick, and have yet to be placed.
    arriving: Vec<u32>,
    /// Where they go before real-time tasks.
    servers: Option<Servers>,
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

    /// Nothing where it is not needed. `open` says whether background tasks may run on a core.
    pub fn of(setup: &Setup<'_>, cpus: &[CpuState], open: impl Fn(&CpuState) -> bool) -> Option<Box<Idle>> {
        if !Self::is_needed(setup) {
            return None;
        }
        let queues = match setup.scheduler.policy {
            Policy::AmpRm => Queues::PerCore(core_queues(cpus, &open)),
            _ => Queues::Shared(VecDeque::new()),
        };
        let cores = cpus.iter().enumerate().filter(|(_, cpu)| open(cpu)).map(|(core, _)| index_u32(core));
        let member = || Member { state: State::Absent, since: 0, ran: 0, waited: 0 };
        Some(Box::new(Idle {
            background: setup.background.clone(),
            members: setup.background.tasks.iter().map(|_| member()).collect(),
            queues,
            arriving: Vec::new(),
            servers: Servers::of(setup),
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
        let id = self.stop(core, now)?;
        self.queues.push_front(core, id);
        Some(id)
    }

    /// What runs on the core, if anything, stops; it is ready, and in no queue.
    fn stop(&mut self, core: u32, now: u64) -> Option<u32> {
        let id = std::mem::replace(&mut self.on_core[core as usize], NONE);
        if id == NONE {
            return None;
        }
        if let Some(servers) = &mut self.servers {
            servers.charge(core, now);
        }
        self.turn(id, State::Ready, now);
        Some(id)
    }

    /// The next waiting task takes a free core, if there are both.
    fn place(&mut self, now: u64) -> Option<(u32, u32)> {
        let queues = &self.queues;
        let core = *self.free.iter().find(|&&core| queues.waits_for(core))?;
        let id = self.queues.pop(core)?;
        self.free.remove(&core);
        self.on_core[core as usize] = id;
        if let Some(servers) = &mut self.servers {
            servers.begin(core, now);
        }
        self.turn(id, State::Running(core), now);
        Some((core, id))
    }

    /// Those that have become ready get their places, and queues that are too long for their cores give to others. Those that were
    /// stopped for that, with their cores.
    fn balance(&mut self, ready: impl Fn(usize) -> u32, now: u64) -> Vec<(u32, u32)> {
        let arriving = std::mem::take(&mut self.arriving);
        let queues = match &mut self.queues {
            Queues::Shared(queue) => {
                queue.extend(arriving);
                return Vec::new();
            }
            Queues::PerCore(queues) => queues,
        };
        let on_core = &self.on_core;
        let mut loads = Loads::of(queues, |core| on_core[core] != NONE, ready);
        for id in arriving {
            let core = loads.best().expect("background tasks have a core");
            queues[core as usize].waiting.push_back(id);
            loads.add(core);
        }
        let mut stopped = Vec::new();
        while let Some((from, to)) = loads.next_move() {
            stopped.extend(self.shift(from, to, now));
            loads.shift(from, to);
        }
        stopped
    }

    /// Cores that are free and have nothing to do get tasks from others, as long as there are any to give: those that had to be
    /// stopped for that, with their cores.
    fn pull(&mut self, ready: impl Fn(usize) -> u32, now: u64) -> Vec<(u32, u32)> {
        let mut stopped = Vec::new();
        let mut loads: Option<Loads> = None;
        while let Queues::PerCore(queues) = &self.queues {
            let on_core = &self.on_core;
            let idle = |core: &u32| queues[*core as usize].waiting.is_empty();
            let mut idle = self.free.iter().copied().filter(idle).peekable();
            if idle.peek().is_none() {
                break;
            }
            let loads = loads.get_or_insert_with(|| Loads::of(queues, |core| on_core[core] != NONE, &ready));
            let Some((from, to)) = idle.find_map(|to| Some((loads.source_for(to)?, to))) else { break };
            loads.shift(from, to);
            stopped.extend(self.shift(from, to, now));
        }
        stopped
    }

    /// The last that waits for `from`, or what runs there, goes to `to`. Who had to stop for that.
    fn shift(&mut self, from: u32, to: u32, now: u64) -> Option<(u32, u32)> {
        let Queues::PerCore(queues) = &mut self.queues else { return None };
        if let Some(id) = queues[from as usize].waiting.pop_back() {
            queues[to as usize].waiting.push_back(id);
            return None;
        }
        let id = self.stop(from, now)?;
        self.free.insert(from);
        self.queues.push_front(to, id);
        Some((from, id))
    }

    /// Where background tasks have begun to go first, or no longer do.
    fn ask_servers(&mut self, now: u64) -> Vec<u32> {
        let (queues, on_core) = (&self.queues, &self.on_core);
        let Some(servers) = &mut self.servers else { return Vec::new() };
        servers.ask(|core| on_core[core as usize] != NONE, |core| queues.waits_for(core), now)
    }

    /// Whether background tasks go before real-time tasks on the core.
    pub fn goes_first(&self, core: u32) -> bool {
        self.servers.as_ref().is_some_and(|servers| servers.goes_first(core))
    }

    /// How many clocks the servers have.
    pub fn clocks(&self) -> usize {
        if self.servers.is_some() { self.on_core.len() } else { 0 }
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
                    self.stop(core, now);
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
            self.arriving.push(id);
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

/// A queue per core. Speeds are the cores' rates, in what 32 bits hold.
fn core_queues(cpus: &[CpuState], open: impl Fn(&CpuState) -> bool) -> Vec<CoreQueue> {
    let highest = cpus.iter().map(|cpu| cpu.rate).max().unwrap_or(1);
    let shift = (u64::BITS - highest.leading_zeros()).saturating_sub(u32::BITS);
    let speed = |cpu: &CpuState| u32::try_from(cpu.rate >> shift).expect("shifted into 32 bits").max(1);
    cpus.iter()
        .map(|cpu| CoreQueue { waiting: VecDeque::new(), open: open(cpu), speed: speed(cpu) })
        .collect()
}

/// How many real-time jobs are ready or run on a core, which is a cell of its own.
fn ready_jobs(cells: &[CellState], cpus: &[CpuState], core: usize) -> u32 {
    cells.get(cpus[core].cell as usize).map_or(0, |cell| cell.instance.ready_jobs())
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The tick at which background tasks decide.
    pub(super) fn background_tick(&mut self) {
        let Some(idle) = &mut self.idle else { return };
        let next = self.now + idle.tick_ns();
        let mut stopped = idle.tick(self.now);
        let (cells, cpus) = (&self.cells, &self.cpus);
        stopped.extend(idle.balance(|core| ready_jobs(cells, cpus, core), self.now));
        self.timers.set(self.cells.len(), if next <= self.horizon { next } else { NEVER });
        self.emit_stopped(stopped);
    }

    /// The clock of a server has come: it is asked in this instant.
    pub(super) fn server_clock(&mut self, timer: usize) {
        self.timers.set(timer, NEVER);
    }

    /// Cores on which background tasks begin to go first, or no longer do, decide anew. Whether there are any.
    pub(super) fn ask_servers(&mut self) -> bool {
        let now = self.now;
        let Some(idle) = &mut self.idle else { return false };
        let changed = idle.ask_servers(now);
        for &core in &changed {
            if self.cpus[core as usize].cell == NONE {
                continue;
            }
            if self.has_kernel() {
                self.kernel_reschedule(core);
            } else {
                self.pending.push(core);
            }
        }
        !changed.is_empty()
    }

    /// What a core runs that has decided for `task`: nothing of real time, where background tasks go first.
    #[inline]
    pub(super) fn unless_others_go_first(&self, cpu: u32, task: u32) -> u32 {
        match &self.idle {
            Some(idle) if !IDEAL && idle.goes_first(cpu) => NONE,
            _ => task,
        }
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
        let Some(idle) = &mut self.idle else { return };
        let (cells, cpus) = (&self.cells, &self.cpus);
        let stopped = idle.pull(|core| ready_jobs(cells, cpus, core), self.now);
        self.emit_stopped(stopped);
        while let Some((core, id)) = self.idle.as_mut().and_then(|idle| idle.place(self.now)) {
            self.emit_background(EventKind::BackgroundStart, core, id);
        }
        self.set_server_clocks();
    }

    fn set_server_clocks(&mut self) {
        let Some(idle) = &mut self.idle else { return };
        let Idle { servers: Some(servers), queues, on_core, .. } = &mut **idle else { return };
        for (core, &id) in on_core.iter().enumerate() {
            let number = index_u32(core);
            let at = servers.asks_at(number, id != NONE, queues.waits_for(number), self.now);
            let at = if at <= self.horizon { at } else { NEVER };
            self.timers.set(self.cells.len() + 1 + core, at);
        }
    }

    fn emit_stopped(&mut self, stopped: Vec<(u32, u32)>) {
        for (core, id) in stopped {
            self.emit_background(EventKind::BackgroundStop, core, id);
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
