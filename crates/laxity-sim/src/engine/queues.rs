//! Where background tasks wait, by virtual time (`policy/virtual_time.h`): in one queue, or in one per CPU.

use super::masks::Masks;
use super::{CpuState, NONE, index_u32};
use laxity_policy::{Load, VirtualTime};
use std::collections::VecDeque;

/// The queues.
pub(super) enum Queues {
    /// One for all CPUs.
    Shared(Queue),
    /// One per CPU (amp-rm).
    PerCore(Vec<CoreQueue>),
}

/// The queue of a CPU, where the policy decides what waits there (`policy/background.h`).
pub(super) struct CoreQueue {
    pub own: Queue,
    /// Whether background tasks run there at all.
    pub open: bool,
    /// The CPU's speed relative to the others'.
    pub speed: u32,
}

impl CoreQueue {
    /// A queue per CPU. Speeds are the CPUs' rates, in what 32 bits hold.
    pub fn of(cpus: &[CpuState], open: impl Fn(&CpuState) -> bool) -> Vec<CoreQueue> {
        let highest = cpus.iter().map(|cpu| cpu.rate).max().unwrap_or(1);
        let shift = (u64::BITS - highest.leading_zeros()).saturating_sub(u32::BITS);
        let speed = |cpu: &CpuState| u32::try_from(cpu.rate >> shift).expect("shifted into 32 bits").max(1);
        cpus.iter()
            .map(|cpu| CoreQueue { own: Queue::default(), open: open(cpu), speed: speed(cpu) })
            .collect()
    }
}

/// Tasks that wait, in the order in which they are to run.
#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<(VirtualTime, u32)>,
    pub clock: VirtualTime,
}

impl Queue {
    fn insert(&mut self, id: u32, vtime: VirtualTime) {
        let place = self.waiting.partition_point(|&(other, _)| !vtime.is_before(other));
        self.waiting.insert(place, (vtime, id));
    }

    /// The first that `may` be taken leaves the queue.
    fn take(&mut self, may: impl Fn(u32) -> bool) -> Option<u32> {
        let first = self.waiting.iter().position(|&(_, id)| may(id))?;
        self.waiting.remove(first).map(|(_, id)| id)
    }

    /// How many wait.
    pub fn len(&self) -> u32 {
        index_u32(self.waiting.len())
    }
}

impl Queues {
    /// The queue in which what runs on the CPU waits.
    fn of(&self, core: u32) -> &Queue {
        match self {
            Queues::Shared(queue) => queue,
            Queues::PerCore(queues) => &queues[core as usize].own,
        }
    }

    /// The same, to change it.
    pub fn of_mut(&mut self, core: u32) -> &mut Queue {
        match self {
            Queues::Shared(queue) => queue,
            Queues::PerCore(queues) => &mut queues[core as usize].own,
        }
    }

    /// What the clock of the CPU's queue shows.
    pub fn clock(&self, core: u32) -> VirtualTime {
        self.of(core).clock
    }

    /// How many wait for the CPU, or for others as well.
    pub fn waiting(&self, core: u32) -> u32 {
        self.of(core).len()
    }

    /// The queues of the CPUs, where they have their own.
    pub fn per_core(&self) -> Option<&[CoreQueue]> {
        match self {
            Queues::Shared(_) => None,
            Queues::PerCore(queues) => Some(queues),
        }
    }

    /// The CPU's speed, unless background tasks do not run there.
    pub fn load(&self, core: u32, runs: bool, ready: u32) -> Option<Load> {
        let queue = self.per_core()?.get(core as usize).filter(|queue| queue.open)?;
        Some(Load { speed: queue.speed, tasks: queue.own.len() + u32::from(runs) + ready })
    }

    /// Whether something waits for the CPU that may run there.
    pub fn waits_for(&self, core: u32, masks: &Masks) -> bool {
        self.of(core).waiting.iter().any(|&(_, id)| masks.allow(id, core))
    }

    /// Those that wait, in the order in which they are to run, and the CPU that each waits for; [`NONE`]: any.
    pub fn all(&self) -> Vec<(u32, u32)> {
        let of = |queue: &Queue, core: u32| -> Vec<(u32, u32)> {
            queue.waiting.iter().map(|&(_, id)| (id, core)).collect()
        };
        match self {
            Queues::Shared(queue) => of(queue, NONE),
            Queues::PerCore(queues) => {
                (0..).zip(queues).flat_map(|(core, queue)| of(&queue.own, core)).collect()
            }
        }
    }

    /// The task waits for the CPU from now on.
    pub fn insert(&mut self, core: u32, id: u32, vtime: VirtualTime) {
        self.of_mut(core).insert(id, vtime);
    }

    /// A task does not wait any more.
    pub fn remove(&mut self, id: u32) {
        let remove = |queue: &mut Queue| queue.waiting.retain(|&(_, other)| other != id);
        match self {
            Queues::Shared(queue) => remove(queue),
            Queues::PerCore(queues) => queues.iter_mut().for_each(|queue| remove(&mut queue.own)),
        }
    }

    /// The next of the queue of `from` that may run on `core` leaves it.
    pub fn take(&mut self, from: u32, core: u32, masks: &Masks) -> Option<u32> {
        self.of_mut(from).take(|id| masks.allow(id, core))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_virtual_time_goes_first_and_of_equals_the_one_that_came_first() {
        let mut queue = Queue::default();
        for (id, vtime) in [(0, 5), (1, 3), (2, 5), (3, u64::MAX), (4, 3)] {
            queue.insert(id, VirtualTime(vtime));
        }
        assert_eq!(queue.take(|id| id == 2), Some(2));
        let order: Vec<u32> = std::iter::from_fn(|| queue.take(|_| true)).collect();
        assert_eq!(order, [3, 1, 4, 0]);
    }
}
