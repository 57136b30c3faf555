//! Damage to files: bytes changed, cut, doubled and spliced, as a seed says. Other crates' tests use it, too.

/// SplitMix64: enough to pick positions and bytes.
pub struct Damage(u64);

impl Damage {
    /// The damage of a seed.
    pub fn of(seed: u64) -> Self {
        Damage(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit.max(1)).expect("64 bits")).expect("below a usize")
    }

    /// One to four wounds.
    pub fn inflict(&mut self, bytes: &mut Vec<u8>) {
        const TOKENS: [&str; 16] = [
            "\"",
            "'",
            "[[",
            "}",
            "-",
            "0",
            "18446744073709551615",
            "99999999999999999999999",
            "1e400",
            "nan",
            ",",
            "\u{0}",
            "\u{feff}",
            "/*",
            "&#0;",
            "\n",
        ];
        for _ in 0..=self.below(4) {
            let (from, to) = (self.below(bytes.len() + 1), self.below(bytes.len() + 1));
            let (low, high) = (from.min(to), from.max(to).min(from.min(to) + 40));
            match self.below(5) {
                0 if low < bytes.len() => bytes[low] = u8::try_from(self.below(256)).expect("a byte"),
                1 => drop(bytes.drain(low..high)),
                2 => bytes.splice(low..low, bytes[low..high].to_vec()).for_each(drop),
                3 => bytes.splice(low..high, TOKENS[self.below(16)].bytes()).for_each(drop),
                _ => bytes.truncate(high),
            }
        }
    }
}
