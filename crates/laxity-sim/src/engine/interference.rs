//! CPUs that something above the scheduler takes for a time ([`crate::Setup::interference`]).
//!
//! 1. In an instant, what ends and what is released goes before, so the policy knows by then what has ended on the CPU. CPUs that come
//!    back go before those that are taken; then CPUs follow their links.
//! 2. From then on nothing runs there, jobs or background tasks. Interrupts are handled there all the same, and take no time.
//! 3. A CPU that is asked to reschedule meanwhile does not; it does when it is there again (`policy/native.h`).

use super::kernel::Work;
use super::{CpuState, Engine, NEVER, NONE, index_u32};
use crate::observer::Observer;
use crate::setup::Setup;
use laxity_model::Interference;
use laxity_trace::EventKind;

/// What takes CPUs, and which ones are taken.
pub(super) struct Interferences {
    /// With the index of its CPU.
    all: Vec<(Interference, u32)>,
    /// By CPU.
    taken: Vec<bool>,
    next_ns: u64,
}

impl Interferences {
    /// Nothing where no CPU is ever taken.
    pub fn of(setup: &Setup<'_>) -> Option<Box<Interferences>> {
        let cores = setup.platform.cores();
        let index_of = |cpu: u32| cores.iter().position(|core| core.cpu == cpu).map(index_u32);
        let all: Vec<_> =
            setup.interference.iter().filter_map(|one| Some((*one, index_of(one.cpu())?))).collect();
        let next_ns = all.iter().map(|(one, _)| one.from().as_ns()).min()?;
        Some(Box::new(Interferences { all, taken: vec![false; cores.len()], next_ns }))
    }

    /// When a CPU is taken, or given back, next.
    pub fn next_instant(&self) -> u64 {
        self.next_ns
    }

    /// The CPUs that are given back now, and those that are taken.
    fn due(&mut self, now: u64) -> (Vec<u32>, Vec<u32>) {
        let those = |at: fn(&Interference, u64) -> bool| -> Vec<u32> {
            self.all.iter().filter(|(one, _)| at(one, now)).map(|&(_, core)| core).collect()
        };
        let due = (those(Interference::ends_at), those(Interference::begins_at));
        self.next_ns = self.all.iter().filter_map(|(one, _)| one.next_change(now)).min().unwrap_or(NEVER);
        due
    }
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// Whether something above the scheduler has the CPU.
    #[inline]
    pub(super) fn is_taken(&self, cpu: u32) -> bool {
        !IDEAL && self.interference.as_ref().is_some_and(|those| those.taken[cpu as usize])
    }

    /// CPUs that are taken now, and those that come back.
    #[inline(always)]
    pub(super) fn interference_due(&mut self) {
        if !IDEAL {
            self.interference_takes_effect();
        }
    }

    fn interference_takes_effect(&mut self) {
        let now = self.now_ns;
        let Some(those) = self.interference.as_mut().filter(|those| those.next_ns == now) else { return };
        let (back, away) = those.due(now);
        for cpu in back {
            if self.has_kernel() && self.cpus[cpu as usize].cell != NONE {
                self.kernel_interferes(cpu, Work::Restore);
            } else {
                self.give_back(cpu);
                self.interfered(cpu);
            }
        }
        for cpu in away {
            if self.has_kernel() && self.cpus[cpu as usize].cell != NONE {
                self.kernel_interferes(cpu, Work::Withdraw);
            } else {
                self.take_away(cpu);
                self.interfered(cpu);
            }
        }
    }

    /// What the policy has decided is carried out, and the CPU decides at the end of the instant.
    fn interfered(&mut self, cpu: u32) {
        let cell = self.cpus[cpu as usize].cell;
        if cell != NONE {
            self.carry_out(cell);
            self.arm(cell as usize);
            self.pending.push(cpu);
        }
    }

    /// The CPU is not there any more: what runs there stops, and the policy is told.
    pub(super) fn take_away(&mut self, cpu: u32) {
        self.set_taken(cpu, true);
        self.stop_unless(cpu, NONE);
        self.cpus[cpu as usize].decided = NONE;
        if self.has_background() {
            self.background_gives_up(cpu);
        }
        self.emit_on(EventKind::Withdraw, cpu, None);
        let CpuState { cell, local, .. } = self.cpus[cpu as usize];
        if cell != NONE {
            self.cells[cell as usize].instance.withdraw(local, self.now_ns);
        }
    }

    /// The CPU is there again, and is to reschedule.
    pub(super) fn give_back(&mut self, cpu: u32) {
        self.set_taken(cpu, false);
        if self.has_background() {
            self.background_may_have(cpu);
        }
        self.emit_on(EventKind::Restore, cpu, None);
        let CpuState { cell, local, .. } = self.cpus[cpu as usize];
        if cell != NONE {
            self.cells[cell as usize].instance.restore(local, self.now_ns);
        }
    }

    fn set_taken(&mut self, cpu: u32, taken: bool) {
        if let Some(those) = &mut self.interference {
            those.taken[cpu as usize] = taken;
        }
    }
}
