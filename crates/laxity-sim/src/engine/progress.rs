//! What the job on a core has done, and how long it still takes there: work and budgets.

use super::{CellState, CpuState, Engine, NONE, TaskState, index_u32};
use crate::observer::Observer;

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The job on `cpu` progresses from now on: sets the clock of the CPU.
    #[inline(always)]
    pub(super) fn progress(&mut self, cpu: u32) {
        let has_budgets = self.has_budgets();
        let core = &mut self.cpus[cpu as usize];
        if core.running == NONE {
            return;
        }
        core.since_ns = self.now_ns;
        let task = &self.tasks[core.running as usize];
        let mut lasts = core.lasts(task);
        if !IDEAL {
            lasts = lasts.min(self.late.lasts_at_most(task.deadline(), self.now_ns));
        }
        if has_budgets {
            let lasts_budget = self.budget_lasts(cpu);
            self.cpus[cpu as usize].exhausts = lasts_budget < lasts;
            lasts = lasts.min(lasts_budget);
        }
        let mut end = self.now_ns + lasts;
        if !IDEAL && self.tick > 0 {
            // Below the horizon, which is far below what fits.
            end = end.next_multiple_of(self.tick);
        }
        self.clocks.set(cpu as usize, end);
    }

    /// How long the budget of the job on `cpu` lasts there, in ns.
    pub(super) fn budget_lasts(&mut self, cpu: u32) -> u64 {
        let CpuState { cell, rate, running, .. } = self.cpus[cpu as usize];
        let instance = &self.cells[cell as usize].instance;
        let task = &mut self.tasks[running as usize];
        let next_replenishment_ns = instance.next_replenishment(task.local).at_ns;
        if task.next_replenishment_ns != next_replenishment_ns {
            task.next_replenishment_ns = next_replenishment_ns;
            task.budget_used_parts = 0;
        }
        let units = u128::from(instance.budget_left(task.local)) * u128::from(self.scale);
        let left = units.saturating_sub(task.budget_used_parts.into());
        u64::try_from(left.div_ceil(u128::from(rate))).unwrap_or(u64::MAX)
    }

    /// Brings the job on a CPU up to date: how long it has held the CPU, and what work is left.
    #[inline]
    pub(super) fn account(&mut self, cpu: usize) {
        let counts_use = self.counts_use();
        let core = &mut self.cpus[cpu];
        if core.running == NONE {
            return;
        }
        let task = &mut self.tasks[core.running as usize];
        let since = core.since_ns;
        let work = core.account(task, self.now_ns);
        if counts_use && work > 0 {
            self.cells[core.cell as usize].consume(task, work, self.scale);
        }
        self.charge_reserve(index_u32(cpu), since);
    }
}

impl CellState {
    /// The task has done `work`, which counts towards its budget. The policy counts whole ns; the rest is carried over.
    pub(super) fn consume(&mut self, task: &mut TaskState, work: u64, scale: u64) {
        let used = task.budget_used_parts + work;
        task.budget_used_parts = used % scale;
        self.instance.consume(task.local, used / scale);
    }
}

impl CpuState {
    /// How long the task's job would run here, in ns.
    #[inline]
    pub(super) fn lasts(&self, task: &TaskState) -> u64 {
        // A division takes longer than most of what is done for a job.
        if self.rate == 1 { task.work_left_parts } else { task.work_left_parts.div_ceil(self.rate) }
    }

    /// The task that runs here is brought up to date; how much work it has done.
    #[inline]
    pub(super) fn account(&mut self, task: &mut TaskState, now: u64) -> u64 {
        // Nothing while the kernel has the core.
        let elapsed = now.saturating_sub(self.since_ns);
        self.since_ns = self.since_ns.max(now);
        let work = elapsed * self.rate;
        task.held(elapsed, work);
        work
    }
}
