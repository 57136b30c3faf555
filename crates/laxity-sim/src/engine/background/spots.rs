//! The best places for one more task, where many look for theirs in one instant: a tree in which a node has the better of the two below
//! it. `policy/background.h` says which that is; of equals it is the one with the lower number, as if CPUs were gone through.

use super::index_u32;
use laxity_policy::{NONE, Spot};

/// The places of all CPUs.
pub(super) struct Spots {
    /// Node k has the best of nodes 2k and 2k + 1. The leaves, from `leaves` on, are the CPUs.
    nodes: Vec<Spot>,
    leaves: usize,
}

/// The better of two, of which either may be nowhere; all CPUs of the first go before those of the other.
fn better(one: Spot, other: Spot) -> Spot {
    if other.cpu == NONE { one } else { one.or_for_one_more(other) }
}

impl Spots {
    /// Of so many CPUs; [`Spot::NOWHERE`] where none may be.
    pub fn of(cores: usize, spot: impl Fn(u32) -> Spot) -> Spots {
        let leaves = cores.next_power_of_two();
        let mut nodes = vec![Spot::NOWHERE; 2 * leaves];
        for core in 0..cores {
            nodes[leaves + core] = spot(index_u32(core));
        }
        for node in (1..leaves).rev() {
            nodes[node] = better(nodes[2 * node], nodes[2 * node + 1]);
        }
        Spots { nodes, leaves }
    }

    /// A CPU's load has changed.
    pub fn set(&mut self, core: u32, spot: Spot) {
        let mut node = self.leaves + core as usize;
        self.nodes[node] = spot;
        while node > 1 {
            node /= 2;
            self.nodes[node] = better(self.nodes[2 * node], self.nodes[2 * node + 1]);
        }
    }

    /// The best of all, or of all but one, where `here` goes before the others.
    pub fn best(&self, here: Spot, but: u32) -> Spot {
        if but == NONE {
            return better(here, self.nodes[1]);
        }
        let mut node = self.leaves + but as usize;
        let (mut before, mut behind) = (Spot::NOWHERE, Spot::NOWHERE);
        while node > 1 {
            let beside = self.nodes[node ^ 1];
            if node % 2 == 1 {
                before = better(beside, before);
            } else {
                behind = better(behind, beside);
            }
            node /= 2;
        }
        better(better(here, before), behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_policy::Load;
    use laxity_seeds::Random;

    #[test]
    fn the_best_is_that_of_going_through_all() {
        for seed in laxity_seeds::seeds!(0..2_000) {
            let mut random = Random(seed);
            let mut below = |bound: u64| u32::try_from(random.between(0, bound - 1)).expect("small");
            let cores = 1 + below(20);
            let (speeds, most) = (1 + below(4), 1 + below(6));
            let mut draw = |core: u32| match below(8) {
                0 => Spot::NOWHERE,
                _ => Spot {
                    cpu: core,
                    load: Load { speed: 1 + below(u64::from(speeds)), tasks: below(u64::from(most)) },
                },
            };
            let mut all: Vec<Spot> = (0..cores).map(&mut draw).collect();
            let mut spots = Spots::of(all.len(), |core| all[core as usize]);
            for round in 0..10 {
                for but in (0..cores).chain([NONE]) {
                    let here = if but == NONE { Spot::NOWHERE } else { draw(but) };
                    let others = all
                        .iter()
                        .enumerate()
                        .filter(|&(core, spot)| index_u32(core) != but && spot.cpu != NONE);
                    let best = others.fold(here, |best, (_, spot)| best.or_for_one_more(*spot));
                    assert_eq!(
                        spots.best(here, but),
                        best,
                        "seed {seed}, round {round}: all but {but} of {all:?}"
                    );
                }
                let core = round % cores;
                all[core as usize] = draw(core);
                spots.set(core, all[core as usize]);
            }
        }
    }
}
