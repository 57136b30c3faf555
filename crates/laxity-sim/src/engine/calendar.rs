//! The first of a fixed number of clocks: a tree of minima, four by four.
//!
//! Setting a clock and finding the slot of the first instant are O(log slots), without branches that depend on the instants:
//! a mispredicted one costs more than a few levels. The first instant is O(1). Ties go to the lower slot.

/// A slot without an instant.
pub const NEVER: u64 = u64::MAX;

/// The clocks.
pub struct Calendar {
    /// Element k holds nodes 4k to 4k + 3 of a tree in which node k is the minimum of those. The root is node 1, the leaves, from
    /// `leaves` on, are the slots.
    fours: Box<[[u64; 4]]>,
    leaves: usize,
    /// Node 1, the root.
    first: u64,
}

impl Calendar {
    /// All clocks off.
    pub fn new(slots: usize) -> Self {
        let mut leaves = 1;
        while leaves < slots {
            leaves *= 4;
        }
        // The nodes above the leaves have smaller numbers than twice the first of them.
        Calendar { fours: vec![[NEVER; 4]; leaves.div_ceil(2)].into_boxed_slice(), leaves, first: NEVER }
    }

    /// The first instant.
    #[inline]
    pub fn next_instant(&self) -> u64 {
        self.first
    }

    /// The lowest slot of the first instant, and whether no other slot has that instant.
    #[inline]
    pub fn next_slot(&self) -> (usize, bool) {
        let (mut node, mut alone) = (1, true);
        while node < self.leaves {
            let [one, two, three, four] = self.fours[node];
            let is_first = |time: u64| u32::from(time == self.first);
            let firsts = is_first(one) | is_first(two) << 1 | is_first(three) << 2 | is_first(four) << 3;
            alone &= firsts.is_power_of_two();
            node = node << 2 | (firsts.trailing_zeros() & 3) as usize;
        }
        (node - self.leaves, alone)
    }

    /// When a clock comes.
    #[inline]
    pub fn instant(&self, slot: usize) -> u64 {
        let node = self.leaves | slot;
        if node == 1 { self.first } else { self.fours[node >> 2][node & 3] }
    }

    /// Whether a clock is off.
    #[inline]
    pub fn is_off(&self, slot: usize) -> bool {
        self.instant(slot) == NEVER
    }

    /// Sets one clock.
    #[inline]
    pub fn set(&mut self, slot: usize, time: u64) {
        let mut node = self.leaves | slot;
        let mut least = time;
        while node > 1 {
            let four = &mut self.fours[node >> 2];
            four[node & 3] = least;
            least = four[0].min(four[1]).min(four[2].min(four[3]));
            node >>= 2;
        }
        self.first = least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    #[test]
    fn gives_the_first_instant_and_the_lowest_slot() {
        for seed in laxity_seeds::seeds!(0..200) {
            let mut rng = Pcg64::seed_from_u64(seed);
            let slots = rng.random_range(1..100);
            let mut calendar = Calendar::new(slots);
            let mut times = vec![NEVER; slots];
            for _ in 0..300 {
                let slot = rng.random_range(0..slots);
                let time = if rng.random_range(0..4) == 0 { NEVER } else { rng.random_range(0..20) };
                times[slot] = time;
                calendar.set(slot, time);
                let (expected, &least) =
                    times.iter().enumerate().min_by_key(|&(slot, time)| (time, slot)).expect("slots");
                assert_eq!(calendar.next_instant(), least, "seed {seed}");
                assert_eq!(calendar.instant(slot), times[slot], "seed {seed}");
                let alone = times.iter().filter(|&&time| time == least).count() == 1;
                assert!(calendar.next_slot().0 == expected || least == NEVER, "seed {seed}");
                assert!(calendar.next_slot().1 == alone || least == NEVER, "seed {seed}");
            }
        }
    }
}
