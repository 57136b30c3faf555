//! Which queue background tasks wait in, and when they change it: `policy/balance.h` says which CPU is better, and here is said what a
//! task may not do, as its affinity forbids it.

use super::super::NONE;
use super::super::queues::{Loads, Queues};
use super::Idle;

impl Idle {
    /// Those that have become ready get their places, and queues that are too long for their CPUs give to others. Those that were
    /// stopped for that, with their CPUs.
    pub(super) fn balance(&mut self, ready: impl Fn(usize) -> u32, now: u64) -> Vec<(u32, u32)> {
        let arriving = std::mem::take(&mut self.arriving);
        let (on_core, masks) = (&self.on_core, &self.masks);
        let queues = match &mut self.queues {
            Queues::Shared(queue) => {
                queue.extend(arriving);
                return Vec::new();
            }
            Queues::PerCore(queues) => queues,
        };
        let mut loads = Loads::of(queues, |core| on_core[core] != NONE, ready);
        for id in arriving {
            let core = loads.best(|core| masks.allow(id, core)).expect("checked: every task has a CPU");
            queues[core as usize].waiting.push_back(id);
            loads.add(core);
        }
        let forbid = masks.forbid();
        let mut stopped = Vec::new();
        while let Some((from, to)) = loads.next_move(forbid, |from, to| self.can_give(from, to)) {
            stopped.extend(self.shift(from, to, now));
            loads.shift(from, to);
        }
        stopped
    }

    /// CPUs that are free and have nothing to do get tasks from others, as long as there are any to give: those that had to be
    /// stopped for that, with their CPUs.
    pub(super) fn pull(&mut self, ready: impl Fn(usize) -> u32, now: u64) -> Vec<(u32, u32)> {
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
            let source = |to: u32| Some((loads.source_for(to, |from| self.can_give(from, to))?, to));
            let Some((from, to)) = idle.find_map(source) else { break };
            loads.shift(from, to);
            stopped.extend(self.shift(from, to, now));
        }
        stopped
    }

    /// Whether something that waits for `from`, or what runs there, may run on `to`.
    fn can_give(&self, from: u32, to: u32) -> bool {
        let Queues::PerCore(queues) = &self.queues else { return false };
        let running = self.on_core[from as usize];
        let waiting = queues[from as usize].waiting.iter().copied();
        waiting.chain((running != NONE).then_some(running)).any(|id| self.masks.allow(id, to))
    }

    /// The last that waits for `from` and may go to `to` does so; if there is none, what runs there. Returns what
    /// had to stop for that.
    fn shift(&mut self, from: u32, to: u32, now: u64) -> Option<(u32, u32)> {
        let Queues::PerCore(queues) = &mut self.queues else { return None };
        let waiting = &mut queues[from as usize].waiting;
        let last = waiting.iter().rposition(|&id| self.masks.allow(id, to));
        if let Some(id) = last.and_then(|last| waiting.remove(last)) {
            queues[to as usize].waiting.push_back(id);
            return None;
        }
        let id = self.stop(from, now)?;
        self.free.insert(from);
        self.queues.push_front(to, id);
        Some((from, id))
    }
}
