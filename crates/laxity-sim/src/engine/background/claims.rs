//! Which CPUs have background tasks before real-time tasks, by their servers or by the reserve (`policy/claims.h`), and which CPU
//! it is that gives way by the reserve.
//!
//! 1. Jobs are charged for as long as they have a CPU; with that the clocks of `engine/servers.rs` are exact, and nothing is looked at in
//!    ticks (but with [`crate::Setup::at_ticks`]).
//! 2. Where every CPU has a queue (amp-rm), what waits there waits for that CPU, and it is that which gives way.
//! 3. One queue waits for all CPUs: as many give way as there are tasks that no CPU without jobs takes, those with the lowest numbers
//!    first. A CPU that has given way goes on with its job as soon as there is a CPU without jobs for the task.
//! 4. The job of a CPU that gives way waits for it, as it does in the kernel: the policy is not told.

use super::{BackgroundWork, Engine, EventKind, NEVER, NONE, index_u32};
use crate::observer::Observer;
use laxity_policy::Claim;

/// When in an instant it is asked which work goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Phase {
    /// Before CPUs decide: which of them are left without jobs is not known.
    Before,
    /// They have decided, and no job has begun.
    Decided,
    /// Jobs have begun, and background tasks have the CPUs that are left: what begins to go first now would stop a job at once.
    After,
}

/// How the tasks of one queue are spread over the CPUs.
struct Spread {
    /// Those that no CPU without jobs takes, in the order of the queue.
    waiting: Vec<u32>,
    /// CPUs without jobs that take none.
    spare: Vec<u32>,
}

impl BackgroundWork {
    /// Where background tasks have begun to go first, or no longer do. `without_job` says whether a CPU has decided for no job.
    pub(in crate::engine) fn ask_servers(
        &mut self,
        without_job: impl Fn(u32) -> bool,
        phase: Phase,
        now: u64,
    ) -> Vec<u32> {
        let Some(mut servers) = self.servers.take() else { return Vec::new() };
        let spreads = servers.has_reserve() && self.queues.per_core().is_none();
        let idle = |core: u32| without_job(core) && !servers.is_reserved(core);
        let mut spread = spreads.then(|| self.spread(idle));
        let (queues, masks, on_core) = (&self.queues, &self.masks, &self.on_core);
        let changed = servers.ask(
            |core| on_core[core as usize] != NONE,
            |core| queues.waits_for(core, masks),
            |core, claim, before| match &mut spread {
                None => true,
                Some(spread) => self.gives_way(spread, core, (claim, before), phase),
            },
            now,
        );
        self.servers = Some(servers);
        changed
    }

    /// What CPUs without jobs take of the queue.
    fn spread(&self, idle: impl Fn(u32) -> bool) -> Spread {
        let mut waiting: Vec<u32> = self.queues.all().into_iter().map(|(id, _)| id).collect();
        let mut spare = Vec::new();
        for &core in self.free.iter().filter(|&&core| idle(core)) {
            if self.take_first(&mut waiting, core).is_none() {
                spare.push(core);
            }
        }
        Spread { waiting, spare }
    }

    /// The first that may run on the CPU.
    fn take_first(&self, waiting: &mut Vec<u32>, core: u32) -> Option<u32> {
        let first = waiting.iter().position(|&id| self.masks.allow(id, core))?;
        Some(waiting.remove(first))
    }

    /// Whether it is this CPU that gives way to a task of the one queue.
    fn gives_way(
        &self,
        spread: &mut Spread,
        core: u32,
        (claim, before): (Claim, Claim),
        phase: Phase,
    ) -> bool {
        let id = self.on_core[core as usize];
        if claim == Claim::Server {
            // Whatever the reserve says, that takes one.
            if id == NONE {
                self.take_first(&mut spread.waiting, core);
            }
            return true;
        }
        if id != NONE {
            let spare = match phase {
                Phase::Decided if self.gave_way[core as usize] => {
                    spread.spare.iter().position(|&other| self.masks.allow(id, other))
                }
                _ => None,
            };
            return spare.map(|at| spread.spare.remove(at)).is_none();
        }
        match phase {
            Phase::Decided => self.take_first(&mut spread.waiting, core).is_some(),
            Phase::Before | Phase::After => before == Claim::Reserve,
        }
    }

    /// Which tasks have come to wait since this was last asked, and for which CPU; [`NONE`]: for any.
    fn begin_to_wait(&mut self) -> Vec<(u32, u32)> {
        let all = self.queues.all();
        self.shown.retain(|id, core| all.contains(&(*id, *core)));
        all.into_iter().filter(|&(id, core)| self.shown.insert(id, core).is_none()).collect()
    }
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// Whether real-time tasks leave background tasks anything.
    #[inline]
    pub(in crate::engine) fn has_reserve(&self) -> bool {
        let servers = self.background.as_ref().and_then(|background| background.servers());
        !IDEAL && servers.is_some_and(|servers| servers.has_reserve())
    }

    /// The clock of a server has come: it is asked in this instant.
    pub(in crate::engine) fn server_clock(&mut self, timer: usize) {
        self.timers.set(timer, NEVER);
    }

    /// CPUs on which background tasks begin to go first, or no longer do, decide anew. Whether there are any.
    pub(in crate::engine) fn ask_servers(&mut self, phase: Phase) -> bool {
        if self.has_reserve() {
            (0..self.cpus.len()).for_each(|cpu| self.account(cpu));
        }
        let (now, cpus) = (self.now_ns, &self.cpus);
        let Some(background) = &mut self.background else { return false };
        let changed = background.ask_servers(|core| cpus[core as usize].decided == NONE, phase, now);
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

    /// What a CPU runs that has decided for `task`: nothing of real time, where background tasks go first.
    #[inline]
    pub(in crate::engine) fn unless_others_go_first(&mut self, cpu: u32, task: u32) -> u32 {
        match &mut self.background {
            Some(background) if !IDEAL => {
                let first = background.goes_first(cpu);
                background.gave_way[cpu as usize] = first && task != NONE;
                if first { NONE } else { task }
            }
            _ => task,
        }
    }

    /// When CPUs are to be asked again, if nothing happens before.
    pub(super) fn set_server_clocks(&mut self) {
        let Some(background) = &mut self.background else { return };
        let BackgroundWork { servers: Some(servers), queues, masks, on_core, .. } = &mut **background else {
            return;
        };
        for (core, &id) in on_core.iter().enumerate() {
            let (number, job) = (index_u32(core), self.cpus[core].running != NONE);
            let waits = queues.waits_for(number, masks);
            let at = servers.asks_at(number, id != NONE, waits, job, self.now_ns);
            let at = if at <= self.horizon_ns { at } else { NEVER };
            self.timers.set(self.cells.len() + 1 + core, at);
        }
    }

    /// What runs on the CPU has had it since then.
    #[inline]
    pub(in crate::engine) fn charge_reserve(&mut self, cpu: u32, since: u64) {
        let now = self.now_ns;
        if IDEAL || since >= now {
            return;
        }
        if let Some(servers) = self.background.as_mut().and_then(|background| background.servers_mut()) {
            servers.charge_job(cpu, now - since, now);
        }
    }

    /// At the end of an instant: which background tasks wait from now on, where that can be a reason to stop jobs.
    pub(in crate::engine) fn show_waiting(&mut self) {
        if !O::EVENTS || !self.has_reserve() {
            return;
        }
        let Some(background) = &mut self.background else { return };
        for (id, core) in background.begin_to_wait() {
            self.emit_background(EventKind::BackgroundWait, core, id);
        }
    }
}
