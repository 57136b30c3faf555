//! Where background tasks wait: in one queue, or one per CPU, balanced by the CPUs' speeds.

use super::index_u32;
use super::masks::Masks;
use laxity_policy::Load;
use std::collections::VecDeque;

/// The queues.
pub(super) enum Queues {
    /// One for all CPUs.
    Shared(VecDeque<u32>),
    /// One per CPU (amp-rm).
    PerCore(Vec<CoreQueue>),
}

/// The queue of a CPU, where the policy decides how long it is (`policy/balance.h`).
pub(super) struct CoreQueue {
    pub waiting: VecDeque<u32>,
    /// Whether background tasks run there at all.
    pub open: bool,
    /// The CPU's speed relative to the others'.
    pub speed: u32,
}

impl Queues {
    /// Whether something waits for the CPU. What is in a CPU's own queue may run there.
    pub fn waits_for(&self, core: u32, masks: &Masks) -> bool {
        match self {
            Queues::Shared(queue) => queue.iter().any(|&id| masks.allow(id, core)),
            Queues::PerCore(queues) => !queues[core as usize].waiting.is_empty(),
        }
    }

    /// A task that was taken off the CPU goes first again.
    pub fn push_front(&mut self, core: u32, id: u32) {
        match self {
            Queues::Shared(queue) => queue.push_front(id),
            Queues::PerCore(queues) => queues[core as usize].waiting.push_front(id),
        }
    }

    /// A task does not wait any more.
    pub fn remove(&mut self, id: u32) {
        match self {
            Queues::Shared(queue) => queue.retain(|&other| other != id),
            Queues::PerCore(queues) => {
                queues.iter_mut().for_each(|queue| queue.waiting.retain(|&other| other != id))
            }
        }
    }

    /// The first that waits for the CPU.
    pub fn pop(&mut self, core: u32, masks: &Masks) -> Option<u32> {
        match self {
            Queues::Shared(queue) => {
                let first = queue.iter().position(|&id| masks.allow(id, core))?;
                queue.remove(first)
            }
            Queues::PerCore(queues) => queues[core as usize].waiting.pop_front(),
        }
    }
}

/// The CPUs' loads while tasks are placed: background tasks that wait or run there, and real-time jobs that are ready.
pub(super) struct Loads {
    /// By CPU; nothing where background tasks do not run.
    loads: Vec<Option<Load>>,
    /// Background tasks of each CPU.
    own: Vec<u32>,
}

impl Loads {
    /// `on_core` says whether a background task runs there, `ready` how many real-time jobs are.
    pub fn of(queues: &[CoreQueue], on_core: impl Fn(usize) -> bool, ready: impl Fn(usize) -> u32) -> Loads {
        let own: Vec<u32> = queues
            .iter()
            .enumerate()
            .map(|(core, queue)| index_u32(queue.waiting.len()) + u32::from(on_core(core)))
            .collect();
        let loads = queues.iter().zip(&own).enumerate().map(|(core, (queue, &own))| {
            queue.open.then(|| Load { speed: queue.speed, tasks: own + ready(core) })
        });
        Loads { loads: loads.collect(), own }
    }

    /// Where one more task is placed best, of the CPUs where it may be.
    pub fn best(&self, may: impl Fn(u32) -> bool) -> Option<u32> {
        let mut best: Option<(usize, Load)> = None;
        for (core, load) in self.open().filter(|&(core, _)| may(index_u32(core))) {
            if best.is_none_or(|(_, best)| load.is_better_than(best)) {
                best = Some((core, load));
            }
        }
        best.map(|(core, _)| index_u32(core))
    }

    /// A move that makes loads more even: to where a task is placed best, from the busiest of those that give one there. `can_give`
    /// says of two CPUs whether the first has a task that may run on the second; only where that `forbids` anything, others than the
    /// best get one.
    pub fn next_move(&self, forbids: bool, can_give: impl Fn(u32, u32) -> bool) -> Option<(u32, u32)> {
        let mut passed = Vec::new();
        loop {
            let to = self.best(|core| !passed.contains(&core))?;
            match self.source_for(to, |from| can_give(from, to)) {
                Some(from) => return Some((from, to)),
                None if forbids => passed.push(to),
                None => return None,
            }
        }
    }

    /// The CPU from which `to` gets a background task: the busiest of those that give it one, and can.
    pub fn source_for(&self, to: u32, can_give: impl Fn(u32) -> bool) -> Option<u32> {
        let target = self.loads[to as usize]?;
        let mut busiest: Option<(usize, Load)> = None;
        let sources = self.open().filter(|&(core, load)| self.own[core] > 0 && load.gives_to(target));
        let others = sources.filter(|&(core, _)| index_u32(core) != to && can_give(index_u32(core)));
        for (core, load) in others {
            if busiest.is_none_or(|(_, busiest)| load.is_busier_than(busiest)) {
                busiest = Some((core, load));
            }
        }
        busiest.map(|(core, _)| index_u32(core))
    }

    /// A task was placed there.
    pub fn add(&mut self, core: u32) {
        self.own[core as usize] += 1;
        if let Some(load) = &mut self.loads[core as usize] {
            load.tasks += 1;
        }
    }

    /// A task has moved.
    pub fn shift(&mut self, from: u32, to: u32) {
        self.add(to);
        self.own[from as usize] -= 1;
        if let Some(load) = &mut self.loads[from as usize] {
            load.tasks -= 1;
        }
    }

    fn open(&self) -> impl Iterator<Item = (usize, Load)> {
        self.loads.iter().enumerate().filter_map(|(core, load)| Some((core, (*load)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_that_nothing_may_go_to_leaves_its_turn_to_the_next() {
        let queue =
            |tasks: u32| CoreQueue { waiting: (0..tasks).collect::<VecDeque<u32>>(), open: true, speed: 1 };
        let queues: Vec<CoreQueue> = [4, 0, 1].into_iter().map(queue).collect();
        let loads = Loads::of(&queues, |_| false, |_| 0);
        assert_eq!(loads.next_move(true, |_, _| true), Some((0, 1)));
        assert_eq!(loads.next_move(true, |from, to| (from, to) == (0, 2)), Some((0, 2)));
        assert_eq!(loads.next_move(true, |from, to| (from, to) == (2, 0)), None);
        assert_eq!(loads.best(|core| core != 1), Some(2));
    }
}
