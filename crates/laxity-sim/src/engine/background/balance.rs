//! Where background tasks wait, and when that changes. `policy/background.h` decides, as it does in the kernel; here the CPUs are gone
//! through, and is said what a task may not do, as its affinity forbids it.
//!
//! There may be thousands of CPUs, and as many that look for work in an instant. So what is the same for all of them is found once: which
//! CPU gives to one of a speed that has nothing to do, among those that have a task; and where many tasks are placed, the best place
//! (`background/spots.rs`).

use super::spots::Spots;
use super::{BackgroundWork, NONE, index_u32};
use laxity_policy::{Load, Spot};
use std::collections::BTreeSet;

/// For fewer tasks it takes longer to prepare than to go through the CPUs.
const SPOTS_FROM: usize = 4;

impl BackgroundWork {
    fn spot(&self, core: u32, ready: &impl Fn(usize) -> u32) -> Option<Spot> {
        let runs = self.on_core[core as usize] != NONE;
        let load = self.queues.load(core, runs, ready(core as usize))?;
        Some(Spot { cpu: core, load })
    }

    /// The places of all CPUs, if so many tasks look for theirs that it is worth it.
    pub(super) fn spots(&self, tasks: usize, ready: &impl Fn(usize) -> u32) -> Option<Spots> {
        let of = |core| self.spot(core, ready).unwrap_or(Spot::NOWHERE);
        let many = tasks >= SPOTS_FROM && self.queues.per_core().is_some();
        many.then(|| Spots::of(self.on_core.len(), of))
    }

    /// The load of a CPU has changed.
    fn spot_changed(&self, core: u32, ready: &impl Fn(usize) -> u32, spots: &mut Option<Spots>) {
        if let Some(spots) = spots {
            spots.set(core, self.spot(core, ready).unwrap_or(Spot::NOWHERE));
        }
    }

    /// The best place for the task, which is ready. Where it runs now it is not counted.
    fn best_spot(&self, id: u32, ready: &impl Fn(usize) -> u32, spots: &Option<Spots>) -> Spot {
        let may = |core: u32| self.masks.allow(id, core);
        let own = self.members[id as usize].home;
        let mut here = (own != NONE && may(own)).then(|| self.spot(own, ready)).flatten();
        if let Some(spot) = here.as_mut().filter(|_| self.on_core[own as usize] == id) {
            spot.load.tasks -= 1;
        }
        let here = here.unwrap_or(Spot::NOWHERE);
        if let Some(spots) = spots.as_ref().filter(|_| self.masks.is_open(id)) {
            return spots.best(here, own);
        }
        let others = (0..index_u32(self.on_core.len())).filter(|&core| core != own && may(core));
        others.filter_map(|core| self.spot(core, ready)).fold(here, Spot::or_for_one_more)
    }

    /// The task, which is ready and on no CPU, waits where it is best placed.
    pub(super) fn place_one(&mut self, id: u32, ready: &impl Fn(usize) -> u32, spots: &mut Option<Spots>) {
        let core = match self.queues.per_core() {
            Some(_) => self.best_spot(id, ready, spots).cpu,
            None => 0,
        };
        assert!(core != NONE, "checked: every task has a CPU");
        self.waits_at(id, core);
        self.spot_changed(core, ready, spots);
    }

    /// Those that have become ready get their places.
    pub(super) fn place_arriving(&mut self, ready: impl Fn(usize) -> u32) {
        let mut spots = self.spots(self.arriving.len(), &ready);
        self.place_those_arriving(&ready, &mut spots);
    }

    /// The same, where the places of all CPUs are known.
    pub(super) fn place_those_arriving(&mut self, ready: &impl Fn(usize) -> u32, spots: &mut Option<Spots>) {
        for id in std::mem::take(&mut self.arriving) {
            self.place_one(id, ready, spots);
        }
    }

    /// The slice of what runs on the CPU is over. Whether that left the CPU.
    pub(super) fn slice_ends(
        &mut self,
        core: u32,
        ready: &impl Fn(usize) -> u32,
        spots: &mut Option<Spots>,
        now: u64,
    ) -> bool {
        let id = self.on_core[core as usize];
        let stays =
            || !self.queues.waits_for(core, &self.masks) && self.better_spot(core, ready, spots).is_none();
        if id == NONE || stays() {
            return false;
        }
        self.stop(core, now);
        self.free.insert(core);
        self.spot_changed(core, ready, spots);
        self.place_one(id, ready, spots);
        true
    }

    /// Where what runs on the CPU is better off, if anywhere.
    fn better_spot(&self, core: u32, ready: &impl Fn(usize) -> u32, spots: &Option<Spots>) -> Option<u32> {
        let best = self.best_spot(self.on_core[core as usize], ready, spots);
        self.spot(core, ready)?.is_left_for(best).then_some(best.cpu)
    }

    /// What runs on the CPU has been asked to come to another one, and decides as at the end of its slice; but CPUs with jobs have
    /// decided for this instant, and it has not just come. Returns it if it moved.
    fn moves(&mut self, core: u32, ready: &impl Fn(usize) -> u32, now: u64) -> Option<u32> {
        let id = self.on_core[core as usize];
        if id == NONE || self.members[id as usize].began == now {
            return None;
        }
        let to = self.better_spot(core, ready, &None).filter(|to| self.free.contains(to))?;
        self.stop(core, now);
        self.free.insert(core);
        self.waits_at(id, to);
        Some(id)
    }

    /// CPUs that have nothing to do pull, as long as that changes anything: those that had to stop for that, with their CPUs.
    pub(super) fn pull(&mut self, ready: impl Fn(usize) -> u32, now: u64) -> Vec<(u32, u32)> {
        let mut stopped = Vec::new();
        let mut asked = BTreeSet::new();
        let mut pulls = self.pulls(&ready);
        while let Some((core, speed, busiest)) = self.next_to_pull(&pulls, &asked, &ready) {
            if pulls.in_vain.contains(&speed) {
                // As for another CPU of this speed before.
            } else if let Some(id) = self.take_from(busiest, (core, speed), &ready) {
                self.waits_at(id, core);
                pulls = self.pulls(&ready);
                continue;
            } else if let Some(id) = self.moves(busiest, &ready, now) {
                stopped.push((busiest, id));
                asked.clear();
                pulls = self.pulls(&ready);
                continue;
            } else if self.masks.are_open() {
                pulls.in_vain.push(speed);
            }
            asked.insert(core);
            pulls.from = core + 1;
        }
        stopped
    }

    /// What CPUs that have nothing to do find.
    fn pulls(&self, ready: &impl Fn(usize) -> u32) -> Pulls {
        let busiest = |speed: u32| {
            let busiest = self.givers(speed, ready).fold(Spot::NOWHERE, Spot::or_to_pull_from).cpu;
            (busiest != NONE).then_some((speed, busiest))
        };
        Pulls {
            busiest: self.speeds.iter().filter_map(|&speed| busiest(speed)).collect(),
            in_vain: Vec::new(),
            from: 0,
        }
    }

    /// The first free CPU that has nothing to do, has not asked, and to which one gives; its speed, and the CPU that has most to give.
    fn next_to_pull(
        &self,
        pulls: &Pulls,
        asked: &BTreeSet<u32>,
        ready: &impl Fn(usize) -> u32,
    ) -> Option<(u32, u32, u32)> {
        if pulls.busiest.is_empty() {
            return None;
        }
        self.free.range(pulls.from..).find_map(|&core| {
            let load = self.queues.load(core, false, 0).filter(|load| load.tasks == 0)?;
            let &(speed, busiest) = pulls.busiest.iter().find(|(speed, _)| *speed == load.speed)?;
            (!asked.contains(&core) && ready(core as usize) == 0).then_some((core, speed, busiest))
        })
    }

    /// The CPUs that give one to a CPU of this speed which has nothing to do, and so is none of them.
    fn givers(&self, speed: u32, ready: &impl Fn(usize) -> u32) -> impl Iterator<Item = Spot> {
        self.busy.iter().filter_map(move |&other| {
            let runs = self.on_core[other as usize] != NONE;
            let spot = self.spot(other, ready)?;
            spot.load.gives_to(self.queues.waiting(other), runs, Load { speed, tasks: 0 }).then_some(spot)
        })
    }

    /// The next that waits on the busiest CPU and may run on this one, which has nothing to do, or on any other that gives.
    fn take_from(
        &mut self,
        busiest: u32,
        (core, speed): (u32, u32),
        ready: &impl Fn(usize) -> u32,
    ) -> Option<u32> {
        let taken = |background: &mut Self, from: u32| {
            let id = background.queues.take(from, core, &background.masks)?;
            background.look_at(from);
            Some(id)
        };
        taken(self, busiest).or_else(|| {
            let others: Vec<u32> = self.givers(speed, ready).map(|spot| spot.cpu).collect();
            others.into_iter().find_map(|from| taken(self, from))
        })
    }
}

/// What CPUs that have nothing to do find, until something moves.
struct Pulls {
    /// By speed, the CPU that has most to give to one of that speed; not where none gives.
    busiest: Vec<(u32, u32)>,
    /// The speeds of CPUs that have asked, and nothing came: it would not for others, where tasks may run anywhere.
    in_vain: Vec<u32>,
    /// CPUs with lower numbers have asked, or do not pull.
    from: u32,
}
