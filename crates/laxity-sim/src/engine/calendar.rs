//! The next of a fixed number of clocks: a winner tree.
//!
//! Every CPU has one clock (when its job completes or runs out of budget) and every cluster one (its release timer).
//! Setting a clock is O(log slots) without branches that depend on data; the next one is O(1). Ties go to the lower slot:
//! completions before timers, lower CPUs first.

/// A slot without an instant.
pub const NEVER: u64 = u64::MAX;

/// The clocks.
pub struct Calendar {
    /// Instants, padded to a power of two.
    times: Vec<u64>,
    /// Winner of every inner node, root at 1; leaves are the slots themselves.
    winners: Vec<u32>,
}

impl Calendar {
    /// All clocks off.
    pub fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two().max(2);
        let mut winners = vec![0; leaves];
        let leaves_u32 = u32::try_from(leaves).expect("a few thousand slots");
        for node in (1..leaves).rev() {
            let left = u32::try_from(2 * node).expect("as above");
            winners[node] = if left >= leaves_u32 { left - leaves_u32 } else { winners[2 * node] };
        }
        Calendar { times: vec![NEVER; leaves], winners }
    }

    /// The first slot and its instant.
    #[inline]
    pub fn next(&self) -> (usize, u64) {
        let slot = self.winners[1] as usize;
        (slot, self.times[slot])
    }

    /// Sets one clock.
    #[inline]
    pub fn set(&mut self, slot: usize, time: u64) {
        let times = self.times.as_mut_slice();
        if times[slot] == time {
            return;
        }
        times[slot] = time;
        let leaves = times.len();
        let mut node = (slot + leaves) / 2;
        // The lowest level compares two neighbouring slots.
        let (left, right) = (slot & !1, slot | 1);
        let mut winner = if times[right] < times[left] { right } else { left };
        loop {
            #[expect(clippy::cast_possible_truncation, reason = "a few thousand slots")]
            let index = winner as u32;
            self.winners[node] = index;
            if node == 1 {
                return;
            }
            let sibling = self.winners[node ^ 1] as usize;
            // The lower subtree wins ties: it holds the lower slots.
            let (low, high) = if node & 1 == 0 { (winner, sibling) } else { (sibling, winner) };
            winner = if times[high] < times[low] { high } else { low };
            node /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    #[test]
    fn gives_the_first_instant_and_the_lowest_slot() {
        for seed in 0..200 {
            let mut rng = Pcg64::seed_from_u64(seed);
            let slots = rng.random_range(1..40);
            let mut calendar = Calendar::new(slots);
            let mut times = vec![NEVER; slots];
            for _ in 0..300 {
                let slot = rng.random_range(0..slots);
                let time = if rng.random_range(0..4) == 0 { NEVER } else { rng.random_range(0..20) };
                times[slot] = time;
                calendar.set(slot, time);
                let (expected, &least) =
                    times.iter().enumerate().min_by_key(|&(slot, time)| (time, slot)).expect("slots");
                let (slot, time) = calendar.next();
                assert_eq!(time, least, "seed {seed}");
                assert!(time == NEVER || slot == expected, "seed {seed}: slot {slot}, not {expected}");
            }
        }
    }
}
