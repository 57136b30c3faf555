//! The discrete-event engine.
//!
//! 1. Time is integer ns. Work is counted in units of 1/L ns at speed 1, where L makes every CPU's speed a whole number
//!    of units per ns: progress is exact on any mixture of speeds, and a job ends at the first whole ns at which no work is left.
//! 2. Events of one instant are in a total order: completions and exhausted budgets by CPU, then release timers by cell,
//!    then CPUs that are taken or come back, then what the kernel does by the order in which it was asked for (or as the
//!    interleaving seed draws), then the switches of the CPUs that were asked to reschedule.
//! 3. With all costs zero, decisions take no time and every CPU follows its link at the end of the instant: the schedule
//!    is the textbook's. With costs, the kernel's work takes CPUs and locks for a time (`kernel.rs`).
//! 4. A job that is late stops or goes on as its program decides, not the scheduler (`late.rs`): it does so while it has a CPU.
//! 5. Memory is bounded by tasks and CPUs; observers see jobs and events as they happen.

mod background;
mod caches;
mod calendar;
mod cell_kernel;
mod changes;
mod interference;
mod kernel;
mod late;
mod masks;
mod ordinary;
mod prepare;
mod progress;
mod prototypes;
mod queues;
mod run;
mod servers;
mod task;
mod watch;

use crate::background::BackgroundSummary;
use crate::changes::Changed;
use crate::observer::Observer;
use crate::setup::Setup;
use background::{BackgroundWork, Phase};
use caches::Caches;
use calendar::{Calendar, NEVER};
use changes::{Lives, members_of_every_core};
use interference::Interferences;
use kernel::Kernel;
use late::Late;
use laxity_generate::jobs_of;
use laxity_model::{BudgetMode, CpuList, OnMiss, Result};
use laxity_policy::{Action, Instance, NONE, Standing};
use laxity_trace::{Event, EventKind, JobOutcome};
use prepare::{check_work, instance_of, table_of, work_scale};
use std::sync::atomic::{AtomicBool, Ordering};
use task::TaskState;
use watch::Watch;

/// A cell while it is simulated.
struct CellState {
    instance: Instance,
    /// Its CPUs, as indices into the platform's.
    cpus: Vec<u32>,
    /// Its tasks' ids.
    tasks: Vec<u32>,
    /// Where each stands; empty where none ever leaves.
    standing: Vec<Standing>,
    /// The interrupt of the policy's own timer is on its way.
    timer_is_coming: bool,
}

/// A CPU while it is simulated.
struct CpuState {
    /// Id of the task that holds it, or [`NONE`].
    running: u32,
    /// What it runs from the end of this instant on.
    decided: u32,
    /// Since when its task has progressed; meaningless while the kernel has the CPU.
    since_ns: u64,
    /// Units of work per ns.
    rate: u64,
    cell: u32,
    /// Its number within the cell.
    local: u32,
    /// Its CPU number.
    number: u32,
    /// Its clock says when the budget runs out, not when the job ends.
    exhausts: bool,
}

/// How a simulation went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The instant up to which everything is simulated: the horizon, or earlier if interrupted.
    pub at_ns: u64,
    /// Whether the caller's flag ended it.
    pub interrupted: bool,
    /// Counts and times of the background tasks.
    pub background: BackgroundSummary,
    /// The outcomes of the changes, in their order.
    pub changes: Vec<Changed>,
}

/// One simulation. `IDEAL` ones, which most are, have no kernel, no background tasks, no caches and no budgets, and
/// late jobs just run on: code for those is not compiled into them.
pub struct Engine<'a, O: Observer, const IDEAL: bool> {
    observer: &'a mut O,
    now_ns: u64,
    horizon_ns: u64,
    cells: Vec<CellState>,
    cpus: Vec<CpuState>,
    tasks: Vec<TaskState>,
    /// When the job of each CPU ends, or its budget.
    clocks: Calendar,
    /// Release timers of the cells, and behind them the tick of the background tasks and the clocks of the CPUs' servers.
    timers: Calendar,
    /// CPUs that reschedule at the end of this instant.
    pending: Vec<u32>,
    /// So many of them, the first ones, have decided already.
    decided: usize,
    budget_mode: BudgetMode,
    /// The last CPU of each cell runs no task.
    dedicated: bool,
    /// The policy's operations take several steps.
    has_steps: bool,
    /// The policy looks at budgets, whether or not they are enforced.
    counts_use: bool,
    /// The policy is a prototype: it is asked for all CPUs of a cell at once.
    has_prototypes: bool,
    /// Units of work in a ns at speed 1.
    scale: u64,
    /// Jobs and budgets end at multiples of this ([`Setup::at_ticks`]); 0: when they end.
    tick: u64,
    watch: Watch,
    /// Present when the kernel's work takes time or interleaves.
    kernel: Option<Box<Kernel>>,
    /// Present when there are background tasks.
    background: Option<Box<BackgroundWork>>,
    /// Present when cold caches cost something.
    caches: Option<Box<Caches>>,
    /// The rule for late jobs.
    late: Late,
    /// Present when tasks enter and leave.
    lives: Option<Box<Lives>>,
    /// Present when something above the scheduler takes CPUs.
    interference: Option<Box<Interferences>>,
}

/// Simulates; what happens goes to the observer. `interrupt` ends it early.
///
/// # Errors
///
/// Usage errors for what cannot be simulated ([`Setup::check`]).
pub fn simulate<O: Observer>(setup: &Setup<'_>, observer: &mut O, interrupt: &AtomicBool) -> Result<Ended> {
    setup.check()?;
    if is_ideal(setup) {
        Engine::<O, true>::new(setup, observer)?.run(interrupt)
    } else {
        Engine::<O, false>::new(setup, observer)?.run(interrupt)
    }
}

/// Whether nothing but jobs takes time, and all the time they ask for.
fn is_ideal(setup: &Setup<'_>) -> bool {
    !table_of(setup).counts_use()
        && !Kernel::is_needed(setup)
        && !BackgroundWork::is_needed(setup)
        && !setup.costs.has_cold_caches()
        && setup.budget_mode == BudgetMode::Off
        && setup.on_miss == OnMiss::Continue
        && !setup.at_ticks
        && setup.interference.is_empty()
}

impl<'a, O: Observer, const IDEAL: bool> Engine<'a, O, IDEAL> {
    fn new(setup: &Setup<'_>, observer: &'a mut O) -> Result<Self> {
        let scale = work_scale(setup)?;
        check_work(setup, scale)?;
        let table = table_of(setup);
        let index_of = |number: u32| {
            let cores = setup.platform.cores();
            cores
                .binary_search_by_key(&number, |core| core.cpu)
                .expect("checked: cells have CPUs of the platform")
        };
        let mut cpus: Vec<CpuState> = setup
            .platform
            .cores()
            .iter()
            .map(|core| CpuState {
                running: NONE,
                decided: NONE,
                since_ns: 0,
                rate: u64::from(core.speed.numerator()) * (scale / u64::from(core.speed.denominator())),
                cell: NONE,
                local: NONE,
                number: core.cpu,
                exhausts: false,
            })
            .collect();
        let mut homes: Vec<(u32, u32)> = vec![(NONE, NONE); setup.set.tasks().len()];
        let mut cells: Vec<CellState> = Vec::new();
        let changes = !setup.changes.list.is_empty();
        for (own, members) in cells_of(setup) {
            let number = index_u32(cells.len());
            let cores: Vec<u32> = own.iter().map(|cpu| index_u32(index_of(cpu))).collect();
            for (local, &cpu) in cores.iter().enumerate() {
                cpus[cpu as usize].cell = number;
                cpus[cpu as usize].local = index_u32(local);
            }
            cells.push(CellState {
                instance: instance_of(setup, (&own, &members))?,
                cpus: cores,
                standing: vec![Standing::Free; if changes { members.len() } else { 0 }],
                timer_is_coming: false,
                tasks: members.into_iter().map(index_u32).collect(),
            });
        }
        for cell in &setup.cells {
            let Some(cpu) = cell.cpus.iter().next() else { continue };
            for (place, &task) in cell.tasks.iter().enumerate() {
                homes[task] = (cpus[index_of(cpu)].cell, index_u32(if changes { task } else { place }));
            }
        }
        let tasks = setup
            .set
            .tasks()
            .iter()
            .enumerate()
            .map(|(id, task)| {
                let (cell, local) = homes[id];
                let jobs = jobs_of(task, id, setup.seed, setup.demand).before(setup.duration);
                TaskState::new(cell, local, task.deadline_rel.as_ns(), scale, jobs)
            })
            .collect();
        let kernel = Kernel::of(setup, &cells, &cpus);
        let dedicated = setup.scheduler.policy.dedicates_a_core();
        let is_dedicated = |cpu: &CpuState| {
            dedicated && cpu.cell != NONE && cpu.local as usize + 1 == cells[cpu.cell as usize].cpus.len()
        };
        let background = BackgroundWork::of(setup, &cpus, |cpu| !is_dedicated(cpu));
        Ok(Engine {
            observer,
            now_ns: 0,
            horizon_ns: setup.duration.as_ns() + setup.grace.as_ns(),
            clocks: Calendar::new(cpus.len()),
            timers: Calendar::new(
                cells.len() + background.as_ref().map_or(0, |background| 3 + background.clocks()),
            ),
            cells,
            cpus,
            tasks,
            pending: Vec::new(),
            decided: 0,
            budget_mode: setup.budget_mode,
            dedicated,
            has_steps: table.has_steps(),
            counts_use: table.counts_use(),
            has_prototypes: setup.scheduler.policy.prototype().is_some(),
            scale,
            tick: if setup.at_ticks { setup.background.tick.as_ns() } else { 0 },
            watch: Watch::new(setup, O::EVENTS),
            kernel,
            background,
            caches: Caches::of(setup, scale)?.map(Box::new),
            late: Late::new(setup.on_miss, setup.set.tasks().len()),
            lives: Lives::of(setup)?,
            interference: Interferences::of(setup),
        })
    }

    /// The first job of every task is to arrive.
    fn await_first_jobs(&mut self) {
        for cell in 0..self.cells.len() {
            for local in 0..self.cells[cell].tasks.len() {
                let task = self.cells[cell].tasks[local] as usize;
                if (self.tasks[task].cell as usize, self.tasks[task].local as usize) != (cell, local) {
                    continue;
                }
                let release = self.tasks[task].advance();
                if release != NEVER {
                    // Their timers are spread over the cores, as those of threads started everywhere would be.
                    let cpus = self.cells[cell].cpus.len();
                    let home = index_u32(if self.dedicated { cpus - 1 } else { local % cpus });
                    self.cells[cell].instance.arrive(index_u32(local), release, home, NEVER);
                    self.cells[cell].is_taken(index_u32(local));
                }
            }
            self.arm(cell);
        }
        if self.background.is_some() {
            self.timers.set(self.cells.len(), 0);
            self.await_ordinary_jobs();
            self.set_clock_of_changes();
        }
    }

    /// Sets a cell's timer, for releases and for the policy itself.
    #[inline]
    fn arm(&mut self, cell: usize) {
        let state = &self.cells[cell];
        let due = state.instance.next_due();
        // The policy's own may be due already.
        self.timers.set(cell, if IDEAL { due } else { due.min(state.own_timer().max(self.now_ns)) });
    }

    /// Whether the kernel's work takes time or interleaves.
    #[inline]
    fn has_kernel(&self) -> bool {
        !IDEAL && self.kernel.is_some()
    }

    /// Whether there are background tasks.
    #[inline]
    fn has_background(&self) -> bool {
        !IDEAL && self.background.is_some()
    }

    /// Whether budgets are enforced.
    #[inline]
    fn has_budgets(&self) -> bool {
        !IDEAL && self.budget_mode != BudgetMode::Off
    }

    /// Whether the policy has to know what jobs have used (`policy/native.h`: consume).
    #[inline]
    fn counts_use(&self) -> bool {
        !IDEAL && (self.counts_use || self.budget_mode != BudgetMode::Off)
    }

    fn run(mut self, interrupt: &AtomicBool) -> Result<Ended> {
        self.await_first_jobs();
        let mut instants = 0u32;
        loop {
            let time = self.next_instant();
            if time > self.horizon_ns {
                break;
            }
            // Looking at the flag costs more than an event.
            instants = instants.wrapping_add(1);
            if instants.is_multiple_of(4096) && interrupt.load(Ordering::Relaxed) {
                let at_ns = self.now_ns;
                return Ok(self.end(at_ns, true));
            }
            self.now_ns = time;
            self.instant();
            if !IDEAL && self.has_prototypes {
                self.check_prototypes()?;
            }
        }
        let at_ns = self.horizon_ns;
        Ok(self.end(at_ns, false))
    }

    fn end(mut self, at_ns: u64, interrupted: bool) -> Ended {
        Ended { at_ns, interrupted, background: self.finish(at_ns), changes: self.changed() }
    }

    fn changed(&mut self) -> Vec<Changed> {
        self.lives.take().map(|lives| lives.changed()).unwrap_or_default()
    }

    #[inline]
    fn next_instant(&self) -> u64 {
        let time = self.clocks.next_instant().min(self.timers.next_instant());
        if IDEAL {
            return time;
        }
        let kernel = self.kernel.as_ref().map_or(NEVER, |kernel| kernel.next_instant());
        time.min(kernel).min(self.interference.as_ref().map_or(NEVER, |those| those.next_instant()))
    }

    /// Everything that happens now.
    #[inline]
    fn instant(&mut self) {
        if O::EVENTS {
            self.watch_until(self.now_ns, false);
        }
        if self.has_kernel() && (self.only_ticks() || self.only_kernel()) {
            return;
        }
        if self.has_background() {
            self.ordinary_jobs_progress();
        }
        self.clocks_of_cores();
        if self.has_background() {
            self.changes_due();
        }
        while self.timers.next_instant() == self.now_ns {
            let (timer, _) = self.timers.next_slot();
            if IDEAL || timer < self.cells.len() {
                self.release_timer(timer);
            } else if timer == self.cells.len() {
                self.background_tick();
            } else if timer == self.slot_of_ordinary_jobs() {
                self.ordinary_jobs_arrive();
            } else {
                self.server_clock(timer);
            }
        }
        if self.has_background() {
            self.ask_servers(Phase::Before);
        }
        if O::EVENTS {
            self.watch_until(self.now_ns, true);
        }
        self.interference_due();
        if self.has_kernel() {
            self.kernel_instant();
        } else {
            self.follow_links();
        }
        if self.has_background() {
            while self.settle() {
                if O::EVENTS {
                    self.watch_until(self.now_ns, true);
                }
                // A server may have another size.
                self.ask_servers(Phase::Before);
                self.follow_links();
            }
            self.fill_free_cores();
            // Where a background task went to a faster core, a job may go on that had to wait for it.
            while self.ask_servers(Phase::After) && !self.has_kernel() {
                self.follow_links();
                self.fill_free_cores();
            }
            self.set_clocks_of_ordinary_jobs();
            self.set_clock_of_changes();
            self.show_waiting();
        }
    }

    /// What has not ended at `at_ns` goes to the observer as it is.
    fn finish(&mut self, at_ns: u64) -> BackgroundSummary {
        self.now_ns = at_ns;
        if O::EVENTS {
            self.watch_until(at_ns, true);
        }
        for cpu in 0..self.cpus.len() {
            self.account(cpu);
            if self.cpus[cpu].running != NONE {
                self.rests(index_u32(cpu));
            }
        }
        if self.has_background() {
            self.ordinary_jobs_progress();
        }
        for task in 0..self.tasks.len() {
            let is_ordinary = self.is_ordinary(task);
            while self.has_released(task, at_ns) {
                let cpus = &self.cpus;
                let state = &mut self.tasks[task];
                let mut job = state.record(index_u32(task), None, |cpu| cpus[cpu as usize].number);
                if is_ordinary {
                    job.outcome = JobOutcome::Ordinary;
                }
                if let Some(caches) = &mut self.caches {
                    caches.job_ended(task, &mut job);
                }
                self.observer.job(&job);
                self.late.never_done(task, job.deadline_ns);
                self.go_on_to_next(index_u32(task), at_ns);
            }
        }
        self.background.as_mut().map(|background| background.summary(at_ns)).unwrap_or_default()
    }

    /// Whether the task's present job was released before this instant.
    fn has_released(&self, task: usize, at_ns: u64) -> bool {
        let state = &self.tasks[task];
        let takes_part = state.cell != NONE || self.is_ordinary(task);
        state.alive && takes_part && state.release() < at_ns
    }

    /// Emits an event if the observer wants events.
    #[inline(always)]
    fn emit(&mut self, kind: EventKind, cpu: Option<u32>, task: u32, argument: Option<u64>) {
        if O::EVENTS {
            let job = self.tasks[task as usize].index();
            let cpu = cpu.map(|cpu| self.cpus[cpu as usize].number);
            self.observer.event(Event {
                time_ns: self.now_ns,
                kind,
                cpu,
                task: Some(task),
                job: Some(job),
                argument,
            });
        }
    }
}

/// The CPUs of every cell, and the tasks that its instance has numbers for.
fn cells_of(setup: &Setup<'_>) -> Vec<(CpuList, Vec<usize>)> {
    if setup.changes.list.is_empty() {
        let cells = setup.cells.iter().filter(|cell| !cell.tasks.is_empty());
        return cells.map(|cell| (cell.cpus.clone(), cell.tasks.clone())).collect();
    }
    let (cores, members) = members_of_every_core(setup);
    cores.into_iter().map(|core| (core, members.clone())).collect()
}

/// Numbers of tasks, CPUs and cells are far below 2^32.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "numbers of tasks, CPUs and cells are far below 2^32")]
fn index_u32(index: usize) -> u32 {
    debug_assert!(index < u32::MAX as usize);
    index as u32
}
