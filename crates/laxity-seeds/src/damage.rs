//! Damage to files: bytes changed, cut, doubled and spliced, as a seed says.

use crate::{Random, Seeds};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Has `read` look at a text and at a damaged copy of it per seed, and gives how many copies it takes. It is to say whether it takes
/// what it is given, and to assert what holds then, and what holds of its refusals.
///
/// The damage is a function of the name and the seed: a failure repeats, and says the command.
///
/// # Panics
///
/// `read` does not take the text itself, or panics: that says which copy it was, and what is in it.
pub fn read_damaged(name: &str, whole: &str, seeds: Seeds, read: impl Fn(&str) -> bool) -> u64 {
    assert!(read(whole), "{name} itself is read");
    let mut taken = 0;
    for seed in seeds {
        let of_name = name.bytes().fold(seed, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let mut bytes = whole.as_bytes().to_vec();
        Damage::of(of_name).inflict(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        match catch_unwind(AssertUnwindSafe(|| read(&text))) {
            Ok(is_taken) => taken += u64::from(is_taken),
            Err(panic) => {
                eprintln!("{name} as seed {seed} damages it fails:\n{text}");
                resume_unwind(panic);
            }
        }
    }
    taken
}

/// Asserts of a refusal that it says what is wrong and what to do, and not at any length.
///
/// # Panics
///
/// It does not.
pub fn assert_complete(message: &str, hint: Option<&str>) {
    assert!(!message.is_empty() && hint.is_some(), "a bare error: {message}");
    assert!(message.len() < 10_000, "an error of {} bytes", message.len());
}

/// Random positions and bytes.
pub struct Damage(Random);

impl Damage {
    /// The damage of a seed.
    pub fn of(seed: u64) -> Self {
        Damage(Random(seed))
    }

    /// A number below the limit; 0 if that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.0.next() % u64::try_from(limit.max(1)).expect("64 bits")).expect("below a usize")
    }

    /// Flips one bit, and says of which byte.
    ///
    /// # Panics
    ///
    /// There are no bytes.
    pub fn flip(&mut self, bytes: &mut [u8]) -> usize {
        let at = self.below(bytes.len());
        bytes[at] ^= 1 << self.below(8);
        at
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The same ones whatever the environment says.
    fn fifty() -> Seeds {
        Seeds { left: 0..50, package: "laxity-seeds", target: "laxity_seeds", test: None }
    }

    #[test]
    fn copies_differ_and_repeat() {
        let copies = |name: &str| {
            let seen = std::cell::RefCell::new(Vec::new());
            let taken = read_damaged(name, "version = 1", fifty(), |text| {
                seen.borrow_mut().push(text.to_owned());
                text.starts_with("version")
            });
            (seen.into_inner(), taken)
        };
        let (seen, taken) = copies("a");
        assert_eq!((seen.len(), seen[0].as_str()), (51, "version = 1"));
        assert!((1..50).contains(&taken), "{taken}");
        assert_eq!(copies("a").0, seen);
        assert_ne!(copies("b").0, seen);
    }

    #[test]
    #[should_panic(expected = "of the reader")]
    fn a_readers_panic_is_the_tests() {
        read_damaged("a", "x", fifty(), |text| text == "x" || panic!("of the reader"));
    }

    #[test]
    fn one_bit_is_flipped() {
        for seed in 0..100 {
            let mut bytes = [0_u8; 7];
            let at = Damage::of(seed).flip(&mut bytes);
            assert_eq!((bytes[at].count_ones(), bytes.map(|byte| byte.count_ones()).iter().sum()), (1, 1));
        }
    }
}
