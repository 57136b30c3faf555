//! Tasks that enter and leave, and servers that get other sizes (`crate::changes`).
//!
//! A task gets a new number within a CPU's instance each time it enters it: the policy may still keep its earlier
//! number, until that one's turn comes.

mod sizes;

use super::prepare::parameters;
use super::{CellState, Engine, EventKind, NEVER, NONE, index_u32};
use crate::changes::{Change, ChangeOutcome, Changed, PATIENCE, What};
use crate::observer::Observer;
use crate::setup::Setup;
use laxity_analysis::SporadicTask;
use laxity_analysis::admission::{Admission, Entrant};
use laxity_model::{CpuList, Diagnostic, Duration, Result};
use laxity_policy::{StandingEvent, TaskParameters, Then};
use std::collections::{BTreeMap, BTreeSet};

/// The stage of the life of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Absent,
    Ordinary,
    RealTime,
    Left,
}

/// The stage of each task, and the changes that are still to come.
pub(super) struct Lives {
    list: Vec<Change>,
    /// Of them, these have been asked for.
    next: usize,
    admission: Option<Admission>,
    stage: Vec<Stage>,
    /// By task: the instant from which on it releases no jobs, because of its own `leave` or because the simulation releases none.
    ends_ns: Vec<u64>,
    /// The tasks that leave by themselves, and when: those whose time has not come.
    leaves: BTreeSet<(u64, usize)>,
    /// By task: as admission sees it, but for its number.
    entrants: Vec<Entrant>,
    /// By task: as the policy sees it.
    parameters: Vec<TaskParameters>,
    names: Vec<String>,
    /// By task: its number in the admission, while it is a real-time task.
    admitted: Vec<u64>,
    /// Refused because of what has left: asked again when a CPU is quiet.
    waiting: Vec<usize>,
    /// By core: from when on being quiet ends what no longer is.
    unsettled: BTreeMap<u32, u64>,
    /// By core: the instant from which on its server has another size, as the policy has said, and by which change.
    size_comes: BTreeMap<u32, (u64, usize)>,
    /// By core: the change whose size comes when the CPU is quiet.
    size_waits: BTreeMap<u32, usize>,
    /// By number.
    changed: BTreeMap<usize, (u64, ChangeOutcome)>,
}

/// So many lives a task has at most, for numbers in which lives of one task are neighbours: among equal periods the lower id goes
/// first, here and in the policy.
const LIVES: u64 = 1 << 20;

impl Lives {
    /// Nothing where nothing changes.
    pub fn of(setup: &Setup<'_>) -> Result<Option<Box<Lives>>> {
        let changes = setup.changes;
        if changes.list.is_empty() {
            return Ok(None);
        }
        let all: Vec<usize> = (0..setup.set.tasks().len()).collect();
        let tardiness_max = changes.admission.and_then(|promise| promise.tardiness_max);
        let entrants = setup.set.tasks().iter().zip(0..).map(|(task, id): (_, u64)| Entrant {
            id: id * LIVES,
            task: SporadicTask::from(task),
            tardiness_max,
            affinity: task.affinity.clone(),
        });
        let duration = setup.duration.as_ns();
        let own = setup.set.tasks().iter().map(|task| task.leave.map_or(duration, |leave| leave.as_ns()));
        let ends: Vec<u64> = own.map(|leave| leave.min(duration)).collect();
        let leaves = ends.iter().zip(0..).filter(|&(&at, _)| at < duration);
        let mut lives = Lives {
            list: changes.list.clone(),
            next: 0,
            admission: None,
            stage: vec![Stage::Absent; all.len()],
            leaves: leaves.map(|(&at, task)| (at, task)).collect(),
            ends_ns: ends,
            entrants: entrants.collect(),
            parameters: parameters(setup, &all, true),
            names: setup.set.tasks().iter().map(|task| task.name.clone()).collect(),
            admitted: all.iter().map(|&id| id as u64 * LIVES).collect(),
            waiting: Vec::new(),
            unsettled: BTreeMap::new(),
            size_comes: BTreeMap::new(),
            size_waits: BTreeMap::new(),
            changed: BTreeMap::new(),
        };
        setup.ordinary.iter().for_each(|&task| lives.stage[task] = Stage::Ordinary);
        setup.cells.iter().flat_map(|cell| &cell.tasks).for_each(|&task| lives.stage[task] = Stage::RealTime);
        lives.admit_first(setup)?;
        Ok(Some(Box::new(lives)))
    }

    /// Admits the tasks that are there from the beginning, too.
    fn admit_first(&mut self, setup: &Setup<'_>) -> Result<()> {
        let Some(promise) = setup.changes.admission else { return Ok(()) };
        let server = |core: &laxity_model::Core| setup.servers.on(core.cpu);
        let mut admission = Admission::new(setup.platform, server, promise.double_hit);
        let name = |id: u64| self.name(id);
        for cell in &setup.cells {
            let Some(cpu) = cell.cpus.iter().next() else { continue };
            for &task in &cell.tasks {
                let entered = admission.enter_core(cpu, self.entrants[task].clone());
                entered.map_err(|refused| refused.diagnostic(name))?;
            }
        }
        self.admission = Some(admission);
        Ok(())
    }

    fn name(&self, id: u64) -> String {
        let task = usize::try_from(id / LIVES).ok().and_then(|task| self.names.get(task));
        task.cloned().unwrap_or_else(|| id.to_string())
    }

    /// The next instant at which something changes.
    pub fn next_instant(&self) -> u64 {
        let asked = self.list.get(self.next).map_or(NEVER, |change| change.at.as_ns());
        let leaves = self.leaves.first().map_or(NEVER, |&(at, _)| at);
        self.size_comes.values().map(|&(at, _)| at).fold(asked.min(leaves), u64::min)
    }

    /// The outcome of every change.
    pub fn changed(self) -> Vec<Changed> {
        let changed = |(number, (at_ns, outcome))| Changed { number, at_ns, outcome };
        self.changed.into_iter().map(changed).collect()
    }

    fn settles_from(&mut self, core: u32, from: u64) {
        let since = self.unsettled.entry(core).or_insert(from);
        *since = from.max(*since);
    }
}

impl CellState {
    /// A task has the number from now on, and its first job is to arrive.
    pub(super) fn is_taken(&mut self, local: u32) {
        self.stands(local, StandingEvent::Take);
        self.stands(local, StandingEvent::Come);
    }

    /// Something happens to a task of the instance. Returns what is to be done then.
    #[inline]
    pub(super) fn stands(&mut self, local: u32, event: StandingEvent) -> Then {
        let Some(standing) = self.standing.get_mut(local as usize) else { return Then::Nothing };
        let (after, then) = standing.after(event);
        *standing = after;
        then
    }
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// What changes now, before anything arrives.
    pub(super) fn changes_due(&mut self) {
        let Some(lives) = &mut self.lives else { return };
        if lives.next_instant() > self.now_ns {
            return;
        }
        let now = self.now_ns;
        self.sizes_come();
        while let Some(task) = self.lives.as_mut().and_then(|lives| lives.next_leaving(now)) {
            self.let_leave(task);
        }
        while let Some(number) = self.lives.as_mut().and_then(|lives| lives.next_due(now)) {
            let outcome = self.change(number);
            self.note(number, outcome);
        }
    }

    fn note(&mut self, number: usize, outcome: ChangeOutcome) {
        let now = self.now_ns;
        if let Some(lives) = &mut self.lives {
            lives.changed.insert(number, (now, outcome));
        }
    }

    fn change(&mut self, number: usize) -> ChangeOutcome {
        let lives = self.lives.as_mut().expect("something changes");
        let Change { what, .. } = lives.list[number];
        // A change that waits has been overtaken.
        let list = &lives.list;
        lives.waiting.retain(|&other| !overtakes(what, list[other].what));
        let Some(task) = what.task() else {
            let What::Resize { cpu, server } = what else { unreachable!("everything else is about a task") };
            return self.resize(number, cpu, server);
        };
        let stage = lives.stage[task];
        let wrong = |words: &str, hint: &str| {
            let name = &lives.names[task];
            ChangeOutcome::Refused(Diagnostic::usage(format!("task `{name}` {words}")).hint(hint))
        };
        match (what, stage) {
            (What::Enter { cpu, .. }, Stage::Absent) => {
                if self.appear(task) {
                    self.ask_to_enter(number, task, cpu)
                } else {
                    self.no_more_jobs(task)
                }
            }
            (What::Promote { cpu, .. }, Stage::Ordinary) => self.ask_to_enter(number, task, cpu),
            (What::Demote { .. }, Stage::RealTime) => self.demote(task),
            (What::Leave { .. }, Stage::RealTime | Stage::Ordinary) => self.let_leave(task),
            (_, Stage::Left) => wrong("has left", "change it before it leaves"),
            (_, Stage::Absent) => wrong("is not there yet", "let it enter first"),
            (What::Enter { .. } | What::Promote { .. }, _) => {
                wrong("is a real-time task already", "demote it first")
            }
            _ => wrong("is no real-time task", "promote it first"),
        }
    }

    /// A task enters, in the background; unless it has no job left to release.
    fn appear(&mut self, task: usize) -> bool {
        let end = self.lives.as_ref().map_or(NEVER, |lives| lives.ends_ns[task]);
        if self.now_ns >= end || self.tasks[task].advance() == NEVER {
            return false;
        }
        self.tasks[task].enters(self.now_ns);
        self.emit(EventKind::Enter, None, index_u32(task), None);
        self.turn_ordinary(task);
        true
    }

    fn no_more_jobs(&self, task: usize) -> ChangeOutcome {
        let name = self.lives.as_ref().map_or("", |lives| &lives.names[task]);
        let why = Diagnostic::usage(format!("task `{name}` has no more jobs"));
        ChangeOutcome::Refused(why.hint("change it earlier, let it `leave` later, or simulate for longer"))
    }

    /// A task that is there asks to be a real-time task.
    fn ask_to_enter(&mut self, number: usize, task: usize, cpu: Option<u32>) -> ChangeOutcome {
        if !self.tasks[task].alive {
            return self.no_more_jobs(task);
        }
        let lives = self.lives.as_mut().expect("something changes");
        let core = match &mut lives.admission {
            None => cpu.expect("checked: without admission the CPU is named"),
            Some(admission) => {
                // Of this task, never two at a time have the same.
                let id = lives.entrants[task].id + 1 + number as u64;
                let entrant = Entrant { id, ..lives.entrants[task].clone() };
                let entered = match cpu {
                    Some(cpu) => admission.enter_core(cpu, entrant),
                    None => admission.enter(entrant),
                };
                match entered {
                    Ok(cpu) => {
                        lives.admitted[task] = id;
                        cpu
                    }
                    Err(refused) => {
                        if refused.unsettled {
                            lives.waiting.push(number);
                        }
                        return ChangeOutcome::Refused(refused.diagnostic(|id| lives.name(id)));
                    }
                }
            }
        };
        self.turn_real_time(number, task, core);
        ChangeOutcome::RealTime { cpu: core }
    }

    fn turn_real_time(&mut self, number: usize, task: usize, cpu: u32) {
        let now = self.now_ns;
        self.withdraw_ordinary(task);
        let lives = self.lives.as_mut().expect("something changes");
        lives.stage[task] = Stage::RealTime;
        let parameters = lives.parameters[task];
        let core =
            self.cpus.iter().position(|core| core.number == cpu).expect("checked: a CPU of the platform");
        let cell = self.cpus[core].cell;
        let local = index_u32(self.tasks.len() + number);
        let state = &mut self.tasks[task];
        state.enters(now);
        (state.cell, state.local) = (cell, local);
        let release = state.release();
        self.watch.turns_real_time(task, state.index(), release, state.following());
        self.emit(EventKind::Promote, Some(index_u32(core)), index_u32(task), None);
        let instance = &mut self.cells[cell as usize].instance;
        instance.enter(local, &parameters);
        instance.arrive(local, release, 0, now);
        self.cells[cell as usize].is_taken(local);
        self.carry_out(cell);
        self.arm(cell as usize);
    }

    fn demote(&mut self, task: usize) -> ChangeOutcome {
        let core = self.withdraw_real_time(task);
        self.emit(EventKind::Demote, Some(core), index_u32(task), None);
        self.watch.turns_ordinary(task);
        self.turn_ordinary(task);
        ChangeOutcome::Ordinary
    }

    /// The task is no real-time task any more. Returns the CPU where it was.
    fn withdraw_real_time(&mut self, task: usize) -> u32 {
        let now = self.now_ns;
        let (cell, local) = (self.tasks[task].cell, self.tasks[task].local);
        let core = self.cells[cell as usize].cpus[0];
        if self.cpus[core as usize].running == index_u32(task) {
            self.stop_unless(core, NONE);
        }
        self.cells[cell as usize].stands(local, StandingEvent::Leave);
        self.tasks[task].cell = NONE;
        self.pending.push(core);
        let lives = self.lives.as_mut().expect("something changes");
        if let Some(admission) = &mut lives.admission {
            admission.leave(lives.admitted[task]);
        }
        lives.settles_from(core, now);
        core
    }

    fn turn_ordinary(&mut self, task: usize) {
        let lives = self.lives.as_mut().expect("something changes");
        lives.stage[task] = Stage::Ordinary;
        let release = if self.tasks[task].alive { self.tasks[task].release() } else { NEVER };
        self.join_ordinary(task, release);
    }

    fn let_leave(&mut self, task: usize) -> ChangeOutcome {
        let now = self.now_ns;
        self.tasks[task].leaves(now);
        let (alive, cell) = (self.tasks[task].alive, self.tasks[task].cell);
        let arrives = alive && self.tasks[task].release() >= now;
        self.watch.leaves(task, (cell != NONE, arrives), now);
        if cell != NONE {
            if alive {
                // It ends its job as what it is.
                let core = self.cells[cell as usize].cpus[0];
                let lives = self.lives.as_mut().expect("something changes");
                if let Some(admission) = &mut lives.admission {
                    admission.leave(lives.admitted[task]);
                }
                lives.settles_from(core, now);
            } else {
                self.withdraw_real_time(task);
            }
        } else if !alive {
            self.withdraw_ordinary(task);
        }
        self.lives.as_mut().expect("something changes").stage[task] = Stage::Left;
        ChangeOutcome::Left
    }

    /// At the end of an instant: on CPUs that are quiet, what has left no longer counts, and what was refused
    /// because of it is asked again. True if a task entered.
    pub(super) fn settle(&mut self) -> bool {
        let now = self.now_ns;
        let Some(lives) = &mut self.lives else { return false };
        let (cells, cpus) = (&self.cells, &self.cpus);
        let quiet = |core: u32| cells[cpus[core as usize].cell as usize].instance.ready_jobs() == 0;
        let mut servers = self.background.as_mut().and_then(|background| background.servers_mut());
        let mut settled: Vec<(u32, bool)> = Vec::new();
        for (&core, &since) in lives.unsettled.iter().filter(|&(&core, _)| quiet(core)) {
            let resized = servers.as_mut().is_some_and(|servers| servers.quiet(core, now));
            // A size that has waited for that has overtaken one that was to come with a period.
            if resized || since <= now {
                settled.push((core, resized));
            }
        }
        if settled.is_empty() {
            return false;
        }
        for (core, resized) in settled {
            let lives = self.lives.as_mut().expect("just looked at");
            lives.unsettled.remove(&core);
            if let Some(admission) = &mut lives.admission {
                admission.settle(self.cpus[core as usize].number);
            }
            if resized {
                lives.size_comes.remove(&core);
                if let Some(number) = lives.size_waits.remove(&core) {
                    self.size_is(core, number);
                }
            }
        }
        self.ask_again()
    }

    fn ask_again(&mut self) -> bool {
        let now = self.now_ns;
        let lives = self.lives.as_mut().expect("something changes");
        let mut entered = false;
        for number in std::mem::take(&mut lives.waiting) {
            let lives = self.lives.as_mut().expect("something changes");
            let Change { at, what } = lives.list[number];
            let over = what.task().is_some_and(|task| now >= lives.ends_ns[task]);
            if over || now.saturating_sub(at.as_ns()) > PATIENCE.as_ns() {
                continue;
            }
            let outcome = match what {
                What::Enter { task, cpu } | What::Promote { task, cpu } => {
                    self.ask_to_enter(number, task, cpu)
                }
                What::Resize { cpu, server } => self.resize(number, cpu, server),
                What::Demote { .. } | What::Leave { .. } => continue,
            };
            entered |= matches!(outcome, ChangeOutcome::RealTime { .. });
            self.note(number, outcome);
        }
        entered
    }

    /// Sets the clock of what is to change next.
    pub(super) fn set_clock_of_changes(&mut self) {
        let Some(lives) = &self.lives else { return };
        let at = lives.next_instant();
        let slot = self.slot_of_changes();
        self.timers.set(slot, if at <= self.horizon_ns { at } else { NEVER });
    }
}

impl Lives {
    /// The next task that is there and leaves by itself, if its time has come.
    fn next_leaving(&mut self, now: u64) -> Option<usize> {
        while let Some(&(_, task)) = self.leaves.first().filter(|&&(at, _)| at <= now) {
            self.leaves.pop_first();
            if matches!(self.stage[task], Stage::RealTime | Stage::Ordinary) {
                let list = &self.list;
                self.waiting.retain(|&number| list[number].what.task() != Some(task));
                return Some(task);
            }
        }
        None
    }

    /// The next change, if its time has come.
    fn next_due(&mut self, now: u64) -> Option<usize> {
        let change = self.list.get(self.next)?;
        (change.at <= Duration::from_ns(now)).then(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

/// Whether the later change makes it pointless to ask for the earlier one again.
fn overtakes(later: What, earlier: What) -> bool {
    match (later, earlier) {
        (What::Resize { cpu, .. }, What::Resize { cpu: other, .. }) => cpu == other,
        _ => later.task().is_some() && later.task() == earlier.task(),
    }
}

/// The cells of a simulation in which tasks enter: one for every CPU, whose instance has a number for every task that may be there,
/// and another one for every time that one enters.
pub(super) fn members_of_every_core(setup: &Setup<'_>) -> (Vec<CpuList>, Vec<usize>) {
    let cores = setup.platform.cores().iter().map(|core| CpuList::from_iter([core.cpu]));
    let of_change = |change: &Change| change.what.task().unwrap_or(0);
    let members = (0..setup.set.tasks().len()).chain(setup.changes.list.iter().map(of_change));
    (cores.collect(), members.collect())
}
