//! Numbers for tests: the same on every machine, from a seed alone.

/// SplitMix64 (Steele, Lea and Flood 2014), from this state on.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// Any number.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// In `[0, bound)`, `bound` positive; almost evenly.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// In `[low, high]`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }
}
