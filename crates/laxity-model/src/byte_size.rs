//! Sizes of memory with a unit: `16KiB`.

use crate::{Diagnostic, Result};
use std::fmt;
use std::str::FromStr;

/// A number of bytes, read and written with a unit: `"16KiB"`, `"2MiB"`, `"64KB"`, `"100B"`.
///
/// `KiB`, `MiB`, `GiB` and `TiB` are powers of 1024; `kB` (or `KB`), `MB`, `GB` and `TB` are powers of 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteSize(pub u64);

const UNITS: [(&str, u64); 10] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

impl FromStr for ByteSize {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |why: &str| {
            Diagnostic::usage(format!("size `{text}` {why}"))
                .hint("write a whole number and a unit: B, KiB, MiB, GiB (powers of 1024), kB, MB, GB (powers of 1000)")
        };
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..split], trimmed[split..].trim_start());
        if number.is_empty() {
            return Err(bad("is not a whole number with a unit"));
        }
        if unit.is_empty() {
            return Err(bad("has no unit"));
        }
        let Some(&(_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(bad(&format!("has the unknown unit `{unit}`")));
        };
        let bytes = number.parse::<u64>().ok().and_then(|count| count.checked_mul(scale));
        bytes.map(ByteSize).ok_or_else(|| bad("is more than 2^64 bytes"))
    }
}

impl fmt::Display for ByteSize {
    /// The largest binary unit that needs no fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = &UNITS[..5];
        let (unit, scale) = binary
            .iter()
            .find(|(_, scale)| self.0 != 0 && self.0.is_multiple_of(*scale))
            .unwrap_or(&UNITS[4]);
        f.pad(&format!("{}{unit}", self.0 / scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_binary_and_decimal_units() {
        for (text, bytes) in [
            ("16KiB", 16_384),
            ("2 MiB", 2 << 20),
            ("64KB", 64_000),
            ("64kB", 64_000),
            ("0B", 0),
            ("1GiB", 1 << 30),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["", "16", "KiB", "1.5MiB", "-1B", "1kib", "99999999999GiB"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }

    laxity_seeds::properties! {
        #[test]
        fn what_is_written_reads_back(bytes in any::<u64>(), shift in 0u32..40) {
            let size = ByteSize(bytes >> shift << shift);
            prop_assert_eq!(size.to_string().parse(), Ok(size));
        }
    }
}
