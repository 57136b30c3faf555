//! Where background tasks wait, and when that changes. `policy/background.h` decides, as it does in the kernel; here the CPUs are gone
//! through, and is said what a task may not do, as its affinity forbids it.

use super::{BackgroundWork, NONE};
use crate::engine::index_u32;
use laxity_policy::Spot;
use std::collections::BTreeSet;

impl BackgroundWork {
    fn spot(&self, core: u32, ready: &impl Fn(usize) -> u32) -> Option<Spot> {
        let runs = self.on_core[core as usize] != NONE;
        let load = self.queues.load(core, runs, ready(core as usize))?;
        Some(Spot { cpu: core, load })
    }

    /// The best place for the task, which is ready. Where it runs now it is not counted.
    fn best_spot(&self, id: u32, ready: &impl Fn(usize) -> u32) -> Spot {
        let may = |core: u32| self.masks.allow(id, core);
        let own = self.members[id as usize].home;
        let mut here = (own != NONE && may(own)).then(|| self.spot(own, ready)).flatten();
        if let Some(spot) = here.as_mut().filter(|_| self.on_core[own as usize] == id) {
            spot.load.tasks -= 1;
        }
        let others = (0..index_u32(self.on_core.len())).filter(|&core| core != own && may(core));
        others
            .filter_map(|core| self.spot(core, ready))
            .fold(here.unwrap_or(Spot::NOWHERE), Spot::or_for_one_more)
    }

    /// The task, which is ready and on no CPU, waits where it is best placed.
    pub(super) fn place_one(&mut self, id: u32, ready: &impl Fn(usize) -> u32) {
        let core = match self.queues.per_core() {
            Some(_) => self.best_spot(id, ready).cpu,
            None => 0,
        };
        assert!(core != NONE, "checked: every task has a CPU");
        self.waits_at(id, core);
    }

    /// Those that have become ready get their places.
    pub(super) fn place_arriving(&mut self, ready: impl Fn(usize) -> u32) {
        for id in std::mem::take(&mut self.arriving) {
            self.place_one(id, &ready);
        }
    }

    /// The slice of what runs on the CPU is over. Whether that left the CPU.
    pub(super) fn slice_ends(&mut self, core: u32, ready: &impl Fn(usize) -> u32, now: u64) -> bool {
        let id = self.on_core[core as usize];
        let stays = || !self.queues.waits_for(core, &self.masks) && self.better_spot(core, ready).is_none();
        if id == NONE || stays() {
            return false;
        }
        self.stop(core, now);
        self.free.insert(core);
        self.place_one(id, ready);
        true
    }

    /// Where what runs on the CPU is better off, if anywhere.
    fn better_spot(&self, core: u32, ready: &impl Fn(usize) -> u32) -> Option<u32> {
        let best = self.best_spot(self.on_core[core as usize], ready);
        self.spot(core, ready)?.is_left_for(best).then_some(best.cpu)
    }

    /// What runs on the CPU has been asked to come to another one, and decides as at the end of its slice; but CPUs with jobs have
    /// decided for this instant, and it has not just come. Returns it if it moved.
    fn moves(&mut self, core: u32, ready: &impl Fn(usize) -> u32, now: u64) -> Option<u32> {
        let id = self.on_core[core as usize];
        if id == NONE || self.members[id as usize].began == now {
            return None;
        }
        let to = self.better_spot(core, ready).filter(|to| self.free.contains(to))?;
        self.stop(core, now);
        self.free.insert(core);
        self.waits_at(id, to);
        Some(id)
    }

    /// CPUs that have nothing to do pull, as long as that changes anything: those that had to stop for that, with their CPUs.
    pub(super) fn pull(&mut self, ready: impl Fn(usize) -> u32, now: u64) -> Vec<(u32, u32)> {
        let mut stopped = Vec::new();
        let mut asked = BTreeSet::new();
        if self.queues.per_core().is_none() {
            return stopped;
        }
        let has_nothing = |background: &BackgroundWork, core: u32| {
            background.queues.waiting(core) == 0 && ready(core as usize) == 0
        };
        while let Some((core, busiest)) = self.free.iter().find_map(|&core| {
            let may_ask = !asked.contains(&core) && has_nothing(self, core);
            Some((core, may_ask.then(|| self.busiest(core, &ready))??))
        }) {
            if let Some(id) = self.take_from(busiest, core, &ready) {
                self.waits_at(id, core);
                continue;
            }
            if let Some(id) = self.moves(busiest, &ready, now) {
                stopped.push((busiest, id));
                asked.clear();
            } else {
                asked.insert(core);
            }
        }
        stopped
    }

    /// The other CPUs that give one to `core`.
    fn givers(&self, core: u32, ready: &impl Fn(usize) -> u32) -> impl Iterator<Item = Spot> {
        let here = self.spot(core, ready);
        // Most CPUs have nothing that could come, which is seen faster than their loads.
        let has_one = |&other: &u32| self.on_core[other as usize] != NONE || self.queues.waiting(other) > 0;
        let others = (0..index_u32(self.on_core.len())).filter(move |other| *other != core && has_one(other));
        others.filter_map(move |other| {
            let runs = self.on_core[other as usize] != NONE;
            let spot = self.spot(other, ready)?;
            spot.load.gives_to(self.queues.waiting(other), runs, here?.load).then_some(spot)
        })
    }

    fn busiest(&self, core: u32, ready: &impl Fn(usize) -> u32) -> Option<u32> {
        let busiest = self.givers(core, ready).fold(Spot::NOWHERE, Spot::or_to_pull_from);
        (busiest.cpu != NONE).then_some(busiest.cpu)
    }

    /// The next that waits on the busiest CPU and may run on `core`, or on any other that gives.
    fn take_from(&mut self, busiest: u32, core: u32, ready: &impl Fn(usize) -> u32) -> Option<u32> {
        let others: Vec<u32> = self.givers(core, ready).map(|spot| spot.cpu).collect();
        let mut all = std::iter::once(busiest).chain(others);
        all.find_map(|from| self.queues.take(from, core, &self.masks))
    }
}
