//! The seeds of randomised tests, and damaged copies of files.
//!
//! [`seeds!`] gives a test its usual ones, or those of `LAXITY_SEEDS=FROM..TO`. A test that panics in the middle of them says the
//! command that tries the same seed alone. `scripts/soak FROM..TO` runs all such tests with other seeds.
//!
//! [`read_damaged`] holds a reader against copies of a file that are damaged as a seed says: always the same ones. `fuzz/` searches
//! deeper.

mod damage;

pub use damage::{Damage, assert_complete, read_damaged};

use std::ops::Range;

/// What names other seeds.
pub const VARIABLE: &str = "LAXITY_SEEDS";

/// The seeds of the test that calls it: these, or those that the environment says.
#[macro_export]
macro_rules! seeds {
    ($usual:expr) => {
        $crate::Seeds::of($usual, env!("CARGO_PKG_NAME"), env!("CARGO_CRATE_NAME"))
    };
}

/// Whether a test runs with its usual seeds: what they show all together need not show in others.
pub fn are_usual() -> bool {
    std::env::var_os(VARIABLE).is_none()
}

/// Seeds, ascending.
#[derive(Debug)]
pub struct Seeds {
    left: Range<u64>,
    package: &'static str,
    target: &'static str,
}

impl Seeds {
    /// For a test of a package: `target` is its test target, or the library itself. [`seeds!`] knows both.
    ///
    /// # Panics
    ///
    /// `LAXITY_SEEDS` is not FROM..TO.
    pub fn of(usual: Range<u64>, package: &'static str, target: &'static str) -> Seeds {
        let left = match std::env::var(VARIABLE) {
            Ok(text) => {
                read(&text).unwrap_or_else(|| panic!("{VARIABLE}={text} is not FROM..TO, such as 7..8"))
            }
            Err(_) => usual,
        };
        Seeds { left, package, target }
    }

    /// The command that tries the seed alone which was given last.
    pub fn again(&self) -> String {
        let last = self.left.start.saturating_sub(1);
        let target = match self.package.replace('-', "_") == self.target {
            true => "--lib".to_owned(),
            false => format!("--test {}", self.target),
        };
        format!("{VARIABLE}={last}..{} cargo test --release -p {} {target}", last + 1, self.package)
    }
}

fn read(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once("..")?;
    Some(from.parse().ok()?..to.parse().ok()?)
}

impl Iterator for Seeds {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left.next()
    }
}

impl Drop for Seeds {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("try it again: {}", self.again());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_tried_again_by_its_number() {
        let mut seeds = Seeds { left: 5..9, package: "laxity-sim", target: "lives" };
        assert_eq!((seeds.next(), seeds.next()), (Some(5), Some(6)));
        assert_eq!(seeds.again(), "LAXITY_SEEDS=6..7 cargo test --release -p laxity-sim --test lives");
        let own = Seeds { left: 1..2, package: "laxity-oracle", target: "laxity_oracle" };
        assert!(own.again().ends_with("-p laxity-oracle --lib"));
    }

    #[test]
    fn only_a_range_is_one() {
        assert_eq!(read("7..19"), Some(7..19));
        for wrong in ["", "7", "7..", "..9", "a..b", "7...9", "-1..2"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
