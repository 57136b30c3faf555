//! Where tasks of the set may run in the background: within their affinity, as threads of a kernel do.

use super::CpuState;
use crate::setup::Setup;

/// By member of [`BackgroundWork`](super::background::BackgroundWork): background tasks run anywhere.
pub(super) struct Masks {
    background: usize,
    /// By task of the set, then by CPU; nothing: anywhere.
    of: Vec<Option<Vec<bool>>>,
}

impl Masks {
    /// Those of a setup.
    pub fn of(setup: &Setup<'_>, cpus: &[CpuState]) -> Masks {
        let tasks = if setup.has_ordinary_tasks() { setup.set.tasks() } else { &[] };
        let mask = |own: &laxity_model::CpuList| cpus.iter().map(|cpu| own.contains(cpu.number)).collect();
        let of = tasks.iter().map(|task| task.affinity.as_ref().map(mask));
        Masks { background: setup.background.tasks.len(), of: of.collect() }
    }

    /// Whether the member may run on the CPU.
    #[inline]
    pub fn allow(&self, id: u32, core: u32) -> bool {
        let Some(task) = (id as usize).checked_sub(self.background) else { return true };
        let mask = self.of.get(task).and_then(Option::as_ref);
        mask.is_none_or(|mask| mask[core as usize])
    }
}
