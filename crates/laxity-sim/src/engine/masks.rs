//! Where tasks of the set may run in the background: within their affinity, as threads of a kernel do.

use super::CpuState;
use crate::setup::Setup;

/// By member of [`BackgroundWork`](super::background::BackgroundWork): background tasks run anywhere.
pub(super) struct Masks {
    background: usize,
    /// By task of the set, then by CPU; nothing: anywhere.
    of: Vec<Option<Vec<bool>>>,
    /// All may run anywhere.
    are_open: bool,
}

impl Masks {
    /// Those of a setup.
    pub fn of(setup: &Setup<'_>, cpus: &[CpuState]) -> Masks {
        let tasks = if setup.has_ordinary_tasks() { setup.set.tasks() } else { &[] };
        let mask = |own: &laxity_model::CpuList| cpus.iter().map(|cpu| own.contains(cpu.number)).collect();
        let of: Vec<_> = tasks.iter().map(|task| task.affinity.as_ref().map(mask)).collect();
        Masks { background: setup.background.tasks.len(), are_open: of.iter().all(Option::is_none), of }
    }

    /// Whether all may run anywhere.
    pub fn are_open(&self) -> bool {
        self.are_open
    }

    /// Whether the member may run anywhere.
    pub fn is_open(&self, id: u32) -> bool {
        let task = (id as usize).checked_sub(self.background);
        task.and_then(|task| self.of.get(task)).is_none_or(Option::is_none)
    }

    /// Whether the member may run on the CPU.
    #[inline]
    pub fn allow(&self, id: u32, core: u32) -> bool {
        let Some(task) = (id as usize).checked_sub(self.background) else { return true };
        let mask = self.of.get(task).and_then(Option::as_ref);
        mask.is_none_or(|mask| mask[core as usize])
    }
}
