//! The kernel's work, where it takes time or interleaves.
//!
//! 1. While the kernel has a CPU, nothing else happens there: interrupts wait in the order in which they came.
//! 2. Kernel work is a sequence of sections. A section takes its locks first (spinning; first come, first served), lasts
//!    as long as its cost, and has its effect at its end.
//! 3. Which CPU pays: for a release interrupt the CPU whose timer it is (the dedicated CPU, where there is one),
//!    for a scheduling decision the CPU that schedules, for a context switch the CPU that switches, for a message
//!    the dedicated scheduling processor. A reschedule interrupt takes the IPI latency to arrive; a CPU's own
//!    decision needs none.
//! 4. After a completion (or the end of a budget) the decision that follows is part of the same call of the scheduler: it
//!    costs nothing further.
//! 5. With an interleaving seed, sections that end at one instant do so in an order drawn from it.

mod agenda;
mod ticks;

use super::cell_kernel::CellKernel;
use super::{CellState, CpuState, Engine, NEVER, NONE, index_u32, run::note_event};
use crate::costs::Prepared;
use crate::observer::Observer;
use crate::setup::Setup;
use agenda::Agenda;
use laxity_policy::{Action, Event as PolicyEvent, Locks};
use laxity_trace::{Event, EventKind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::VecDeque;

/// What the kernel does on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    /// A release interrupt: a group of jobs.
    Release(u32),
    /// The interrupt of the policy's own timer.
    Timer,
    /// The job that ran has ended; the next one of its task arrives then.
    Complete(u64),
    /// The budget of the job that ran is used up.
    Exhaust,
    /// The CPU was asked to reschedule.
    Reschedule,
    /// A message, on the dedicated scheduling processor.
    Message,
    /// The operation in progress goes on, under these locks.
    Step(Locks),
    /// The context switch after a decision.
    Switch,
    /// A timer tick.
    Tick,
    /// Something above the scheduler takes the CPU: what that decides (`interference.rs`).
    Withdraw,
    /// The CPU is there again.
    Restore,
}

/// What is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Coming {
    /// Work arrives at a CPU; from another one's interrupt, if that is given.
    Arrives { cpu: u32, work: Work, from: u32 },
    /// A section that waited for its locks has them, and lasts so long.
    Begins { cpu: u32, kind: EventKind, ns: u64 },
    /// The section on a CPU ends.
    Ends { cpu: u32 },
}

/// A CPU while the kernel has it, or not.
#[derive(Default)]
struct Core {
    section: Option<Work>,
    waiting: VecDeque<Work>,
    /// The operation in progress ends with a decision of this CPU.
    decides: bool,
    /// A decision made here asked this very CPU to reschedule.
    own_kick: bool,
}

/// Everything about kernel work.
pub(super) struct Kernel {
    /// By time, then order: both in one number, which is compared without a branch.
    coming: Agenda<Coming>,
    /// The next tick of every CPU: its time, its order, the CPU. Each is planned for no earlier than the one before, so that no heap has
    /// to sort them; with a drawn order they are among the others.
    ticks: VecDeque<(u64, u64, u32)>,
    sequence: u64,
    /// Draws the order of what happens at one instant.
    interleaving: Option<Pcg64>,
    /// Draws costs.
    rng: Pcg64,
    cores: Vec<Core>,
    cells: Vec<CellKernel>,
    tick_period_ns: Option<u64>,
    /// What every tick costs, if it is the same for all.
    tick_ns: Option<u64>,
    /// CPUs that the kernel has left in this instant.
    left: Vec<u32>,
}

/// A place in the order of what is to come.
fn when(time: u64, order: u64) -> u128 {
    u128::from(time) << 64 | u128::from(order)
}

fn time_of(when: u128) -> u64 {
    (when >> 64) as u64
}

impl Kernel {
    /// Whether decisions take time, or interleave.
    pub fn is_needed(setup: &Setup<'_>) -> bool {
        !setup.costs.kernel_is_zero() || setup.interleaving.is_some()
    }

    /// Nothing where it is not needed.
    pub fn of(setup: &Setup<'_>, cells: &[CellState], cpus: &[CpuState]) -> Option<Box<Kernel>> {
        if !Self::is_needed(setup) {
            return None;
        }
        let costs = setup.costs;
        let tick_period = (!costs.tick.is_zero()).then(|| costs.tick_period.as_ns());
        let in_cells: Vec<CellKernel> = cells.iter().map(|cell| CellKernel::of(costs, cell)).collect();
        let ticks = in_cells.iter().map(|cell| cell.tick.constant_ns());
        let mut kernel = Box::new(Kernel {
            tick_ns: ticks.reduce(|one, other| one.filter(|_| one == other)).flatten(),
            coming: Agenda::new(),
            ticks: VecDeque::new(),
            sequence: 0,
            interleaving: setup.interleaving.map(Pcg64::seed_from_u64),
            rng: Pcg64::seed_from_u64(setup.seed ^ 0x636f_7374_735f_5f5f),
            cores: cpus.iter().map(|_| Core::default()).collect(),
            cells: in_cells,
            tick_period_ns: tick_period,
            left: Vec::new(),
        });
        if let Some(period) = tick_period {
            for (index, _) in cpus.iter().enumerate().filter(|(_, cpu)| cpu.cell != NONE) {
                kernel.plan_tick(period, index_u32(index));
            }
        }
        Some(kernel)
    }

    /// The next instant at which the kernel has something to do.
    pub fn next_instant(&self) -> u64 {
        let other = time_of(self.coming.first());
        self.ticks.front().map_or(NEVER, |&(time, _, _)| time).min(other)
    }

    fn plan(&mut self, time: u64, coming: Coming) {
        self.sequence += 1;
        let order = match &mut self.interleaving {
            Some(rng) => rng.random(),
            None => self.sequence,
        };
        self.coming.push(when(time, order), coming);
    }

    fn plan_tick(&mut self, time: u64, cpu: u32) {
        if self.interleaving.is_some() {
            self.plan(time, Coming::Arrives { cpu, work: Work::Tick, from: NONE });
        } else {
            self.sequence += 1;
            self.ticks.push_back((time, self.sequence, cpu));
        }
    }

    /// Plans what is only shown: it takes no part in the drawing of orders, so watching changes nothing.
    fn plan_to_show(&mut self, time: u64, coming: Coming) {
        self.coming.push(when(time, 0), coming);
    }

    #[inline(always)]
    fn take(&mut self, now: u64) -> Option<Coming> {
        let other = self.coming.first();
        if let Some(&(time, order, cpu)) = self.ticks.front()
            && time <= now
            && when(time, order) < other
        {
            self.ticks.pop_front();
            return Some(Coming::Arrives { cpu, work: Work::Tick, from: NONE });
        }
        if time_of(other) > now { None } else { self.coming.pop() }
    }
}

/// The cost of work on a CPU of a cell, and the event that shows it.
fn cost_of(cell: &CellKernel, work: Work) -> (&Prepared, EventKind) {
    match work {
        Work::Release(_) | Work::Timer => (&cell.release, EventKind::ReleaseOverhead),
        Work::Complete(_) | Work::Exhaust | Work::Reschedule | Work::Withdraw | Work::Restore => {
            (&cell.scheduling, EventKind::SchedulingOverhead)
        }
        Work::Message => (&cell.dsp, EventKind::DspOverhead),
        Work::Step(_) => (&cell.step, EventKind::SchedulingOverhead),
        Work::Switch => (&cell.context_switch, EventKind::SwitchOverhead),
        Work::Tick => (&cell.tick, EventKind::TickOverhead),
    }
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    fn kernel(&mut self) -> &mut Kernel {
        self.kernel.as_mut().expect("only asked where kernel work takes time")
    }

    /// What happens now, if only the kernel has something to do; false, and nothing has been done, if something else may.
    #[inline]
    pub(super) fn only_kernel(&mut self) -> bool {
        let others = self.clocks.next_instant().min(self.timers.next_instant());
        if O::EVENTS || self.has_background() || self.interference.is_some() || others <= self.now_ns {
            return false;
        }
        self.kernel_instant();
        true
    }

    /// Everything that the kernel has to do now.
    pub(super) fn kernel_instant(&mut self) {
        let now = self.now_ns;
        while let Some(coming) = self.kernel().take(now) {
            match coming {
                Coming::Arrives { cpu, work, from } => self.arrives(cpu, work, from),
                Coming::Begins { cpu, kind, ns } => self.emit_on(kind, cpu, Some(ns)),
                Coming::Ends { cpu } => self.section_ends(cpu),
            }
        }
        self.jobs_go_on();
    }

    /// At the end of the instant, jobs begin or go on where the kernel has left a CPU and not taken it again: so no job
    /// runs for no time.
    fn jobs_go_on(&mut self) {
        let mut next = 0;
        while let Some(&cpu) = self.kernel().left.get(next) {
            next += 1;
            if self.kernel().cores[cpu as usize].section.is_none() {
                self.take_core(cpu, self.cpus[cpu as usize].decided);
                self.progress(cpu);
                if self.has_background() && self.cpus[cpu as usize].running == NONE {
                    self.background_may_have(cpu);
                }
            }
        }
        self.kernel().left.clear();
    }

    /// A job has ended on `cpu`.
    pub(super) fn kernel_completed(&mut self, cpu: u32, next_release: u64) {
        self.enter(cpu, Work::Complete(next_release));
    }

    /// A budget has ended on `cpu`.
    pub(super) fn kernel_exhausted(&mut self, cpu: u32) {
        self.enter(cpu, Work::Exhaust);
    }

    /// A CPU is to decide anew, because background tasks begin to go first there or no longer do.
    pub(super) fn kernel_reschedule(&mut self, cpu: u32) {
        let now = self.now_ns;
        self.kernel().plan(now, Coming::Arrives { cpu, work: Work::Reschedule, from: NONE });
    }

    /// A CPU is taken, or comes back.
    pub(super) fn kernel_interferes(&mut self, cpu: u32, work: Work) {
        let now = self.now_ns;
        self.kernel().plan(now, Coming::Arrives { cpu, work, from: NONE });
    }

    /// The release timer of a cell has come: interrupts, each on the CPU whose timer it is.
    pub(super) fn kernel_release_timer(&mut self, cell: usize) {
        while let Some(group) = self.cells[cell].instance.take_due(self.now_ns) {
            let local = self.cells[cell].instance.timer_cpu(group);
            let cpu = self.cells[cell].cpus[local as usize];
            let kernel = self.kernel.as_mut().expect("as above");
            let latency = kernel.cells[cell].release_latency.draw(&mut kernel.rng);
            kernel
                .plan(self.now_ns + latency, Coming::Arrives { cpu, work: Work::Release(group), from: NONE });
        }
        self.kernel_own_timer(cell);
        self.arm(cell);
    }

    /// The same for the policy's own timer, if that has come.
    fn kernel_own_timer(&mut self, cell: usize) {
        let state = &mut self.cells[cell];
        if state.own_timer() > self.now_ns {
            return;
        }
        let cpu = state.cpus[state.instance.own_timer_cpu() as usize];
        state.timer_is_coming = true;
        let kernel = self.kernel.as_mut().expect("as above");
        let latency = kernel.cells[cell].release_latency.draw(&mut kernel.rng);
        kernel.plan(self.now_ns + latency, Coming::Arrives { cpu, work: Work::Timer, from: NONE });
    }

    fn arrives(&mut self, cpu: u32, work: Work, from: u32) {
        if from != NONE {
            let sender = u64::from(self.cpus[from as usize].number);
            let kind = if work == Work::Message { EventKind::DspMessage } else { EventKind::Ipi };
            self.emit_on(kind, cpu, Some(sender));
        }
        if work == Work::Tick {
            let next = self.now_ns + self.kernel().tick_period_ns.expect("there are ticks");
            if next <= self.horizon_ns {
                self.kernel().plan_tick(next, cpu);
            }
        }
        self.enter(cpu, work);
    }

    /// The kernel gets the CPU, or the work waits until it leaves it.
    fn enter(&mut self, cpu: u32, work: Work) {
        let core = &mut self.kernel().cores[cpu as usize];
        if core.section.is_some() {
            core.waiting.push_back(work);
            return;
        }
        self.account(cpu as usize);
        if self.has_background() {
            self.background_is_interrupted(cpu);
        }
        self.cpus[cpu as usize].since_ns = NEVER;
        self.clocks.set(cpu as usize, NEVER);
        self.section_begins(cpu, work);
    }

    fn section_begins(&mut self, cpu: u32, work: Work) {
        let CpuState { cell, local, .. } = self.cpus[cpu as usize];
        let locks = self.locks_of(cell, local, work);
        let now = self.now_ns;
        let kernel = self.kernel.as_mut().expect("as above");
        kernel.cores[cpu as usize].section = Some(work);
        let (prepared, kind) = cost_of(&kernel.cells[cell as usize], work);
        let cost = prepared.draw(&mut kernel.rng);
        let begins = kernel.cells[cell as usize].acquire(locks, now, cost);
        kernel.plan(begins + cost, Coming::Ends { cpu });
        if O::EVENTS && begins > now {
            if cost > 0 {
                kernel.plan_to_show(begins, Coming::Begins { cpu, kind, ns: cost });
            }
            self.emit_on(EventKind::LockWait, cpu, Some(begins - now));
        } else if cost > 0 {
            self.emit_on(kind, cpu, Some(cost));
        }
    }

    fn locks_of(&self, cell: u32, local: u32, work: Work) -> Locks {
        let event = match work {
            Work::Release(_) | Work::Timer => PolicyEvent::Release,
            Work::Complete(_) => PolicyEvent::Complete,
            Work::Exhaust => PolicyEvent::Exhaust,
            Work::Reschedule | Work::Withdraw | Work::Restore => PolicyEvent::Reschedule,
            Work::Message => PolicyEvent::Message,
            Work::Step(locks) => return locks,
            Work::Switch | Work::Tick => return Locks::NONE,
        };
        self.cells[cell as usize].instance.locks_of(event, local)
    }

    /// The section on `cpu` has its effect.
    fn section_ends(&mut self, cpu: u32) {
        let work = self.kernel().cores[cpu as usize].section.expect("a section ends once");
        let CpuState { cell, local, .. } = self.cpus[cpu as usize];
        let now = self.now_ns;
        let instance = &mut self.cells[cell as usize].instance;
        match work {
            Work::Release(group) => instance.release_group(group, now),
            Work::Timer => {
                instance.timer(local, now);
                self.cells[cell as usize].timer_is_coming = false;
            }
            Work::Complete(next_release) => {
                instance.complete(local, next_release, now);
                self.kernel().cores[cpu as usize].decides = true;
            }
            Work::Exhaust => {
                self.exhaust(cpu);
                self.kernel().cores[cpu as usize].decides = true;
            }
            Work::Message => {
                instance.message(local, now);
            }
            Work::Step(_) => instance.step(local, now),
            Work::Withdraw => self.take_away(cpu),
            Work::Restore => {
                self.give_back(cpu);
                self.kernel().cores[cpu as usize].decides = true;
            }
            Work::Reschedule => return self.kernel_decides(cpu),
            Work::Switch | Work::Tick => return self.leave(cpu),
        }
        self.arm(cell as usize);
        if let Some(locks) = self.follow(cell, cpu) {
            self.section_begins(cpu, Work::Step(locks));
        } else if self.kernel().cores[cpu as usize].decides {
            self.kernel_decides(cpu);
        } else {
            self.leave(cpu);
        }
    }

    /// `cpu` decides what it runs, and switches to it.
    fn kernel_decides(&mut self, cpu: u32) {
        let core = &mut self.kernel().cores[cpu as usize];
        core.decides = false;
        core.own_kick = false;
        if self.is_taken(cpu) {
            return self.leave(cpu);
        }
        let task = self.reschedule(cpu);
        self.arm(self.cpus[cpu as usize].cell as usize);
        self.cpus[cpu as usize].decided = task;
        let changed = self.stop_unless(cpu, task) || self.would_change(cpu, task);
        let cell = self.cpus[cpu as usize].cell;
        if let Some(locks) = self.follow(cell, cpu) {
            // The switch follows the rest of the operation, which may ask for another one.
            if changed {
                self.kernel().cores[cpu as usize].waiting.push_front(Work::Switch);
            }
            self.section_begins(cpu, Work::Step(locks));
        } else if changed {
            self.section_begins(cpu, Work::Switch);
        } else {
            self.leave(cpu);
        }
    }

    /// The kernel is done on `cpu`, or turns to what waits there.
    fn leave(&mut self, cpu: u32) {
        let core = &mut self.kernel().cores[cpu as usize];
        if std::mem::take(&mut core.own_kick) {
            core.waiting.push_front(Work::Reschedule);
        }
        if let Some(work) = core.waiting.pop_front() {
            self.section_begins(cpu, work);
        } else {
            core.section = None;
            self.kernel().left.push(cpu);
        }
    }

    /// Carries out the actions of a decision made on `cpu`. The locks of its operation's next step, if it goes on.
    fn follow(&mut self, cell: u32, cpu: u32) -> Option<Locks> {
        let mut step = None;
        let kernel = self.kernel.as_mut().expect("as above");
        let state = &self.cells[cell as usize];
        for act in state.instance.actions() {
            match act {
                Action::Kick { cpu: local } => {
                    let target = state.cpus[local as usize];
                    if target == cpu {
                        kernel.cores[cpu as usize].own_kick = true;
                        continue;
                    }
                    let latency = kernel.cells[cell as usize].ipi.draw(&mut kernel.rng);
                    let arrives = Coming::Arrives { cpu: target, work: Work::Reschedule, from: cpu };
                    kernel.plan(self.now_ns + latency, arrives);
                }
                Action::Notify { cpu: local } => {
                    let target = state.cpus[local as usize];
                    let latency = kernel.cells[cell as usize].mailbox.draw(&mut kernel.rng);
                    let arrives = Coming::Arrives { cpu: target, work: Work::Message, from: cpu };
                    kernel.plan(self.now_ns + latency, arrives);
                }
                Action::Step { locks, .. } => step = Some(locks),
                Action::Arm { .. } => {}
                Action::Note(note) => {
                    if O::EVENTS {
                        self.observer.event(note_event(self.now_ns, note, state, &self.cpus));
                    }
                }
            }
        }
        step
    }

    /// An event on a CPU that is about no job.
    pub(super) fn emit_on(&mut self, kind: EventKind, cpu: u32, argument: Option<u64>) {
        if O::EVENTS {
            let cpu = Some(self.cpus[cpu as usize].number);
            self.observer.event(Event { time_ns: self.now_ns, kind, cpu, task: None, job: None, argument });
        }
    }
}
