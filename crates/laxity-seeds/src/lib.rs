//! The seeds of randomised tests, the numbers that follow from one ([`Random`]), and damaged copies of files.
//!
//! [`seeds!`] gives a test its usual ones, or those of `LAXITY_SEEDS=FROM..TO`. A test that panics in the middle of them says the
//! command that tries the same seed alone. [`properties!`] does so for properties that proptest draws the values of: a seed is a case
//! there. `scripts/soak FROM..TO` runs all such tests with other seeds.
//!
//! [`read_damaged`] holds a reader against copies of a file that are damaged as a seed says, one of [`seeds!`] each. `fuzz/` searches
//! deeper.
//!
//! [`assert_all_listed`] holds a crate's list against what its sources describe.

mod damage;
mod random;
mod sources;

pub use damage::{Damage, assert_complete, read_damaged};
pub use random::Random;
pub use sources::assert_all_listed;

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

/// Properties as `proptest!` takes them, with its strategies and assertions; the calling crate depends on proptest.
///
/// Each case is drawn from a seed of its own, of [`seeds!`]: 0 up to the number of `#![cases(N)]`, or of [`CASES`] without it. What
/// fails is shrunk as ever, and says the command that tries its case alone.
#[macro_export]
macro_rules! properties {
    (#![cases($cases:expr)] $($(#[$meta:meta])* fn $name:ident($($values:tt)+) $body:block)+) => {
        $(
            $(#[$meta])*
            fn $name() {
                for seed in $crate::seeds!(0..$cases) {
                    let config = proptest::test_runner::Config {
                        cases: 1,
                        rng_seed: proptest::test_runner::RngSeed::Fixed(seed),
                        failure_persistence: None,
                        ..Default::default()
                    };
                    proptest::proptest!(config, |($($values)+)| $body);
                }
            }
        )+
    };
    ($($properties:tt)+) => {
        $crate::properties! { #![cases($crate::CASES)] $($properties)+ }
    };
}

/// How many cases a property has that does not say it.
pub const CASES: u64 = 256;

/// Whether a test runs with its usual seeds: what they show all together need not show in others.
pub fn are_usual() -> bool {
    std::env::var_os(VARIABLE).is_none()
}

/// As `assert!`, of what the usual seeds show all together, such as that something happens in enough of them.
#[macro_export]
macro_rules! assert_together {
    ($($what:tt)+) => {
        if $crate::are_usual() {
            assert!($($what)+);
        }
    };
}

/// These seeds, or those that the environment says, for a test that hands them on as a range: what fails then is to say its seed.
///
/// # Panics
///
/// `LAXITY_SEEDS` is not FROM..TO.
pub fn range(usual: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var(VARIABLE) else { return usual };
    read(&text).unwrap_or_else(|| panic!("{VARIABLE}={text} is not FROM..TO, such as 7..8"))
}

/// Seeds, ascending.
#[derive(Debug)]
pub struct Seeds {
    left: Range<u64>,
    package: &'static str,
    target: &'static str,
    /// The test's own name, if it has a thread of its own.
    test: Option<String>,
}

impl Seeds {
    /// For a test of a package: `target` is its test target, or the library itself. [`seeds!`] knows both.
    ///
    /// # Panics
    ///
    /// `LAXITY_SEEDS` is not FROM..TO.
    pub fn of(usual: Range<u64>, package: &'static str, target: &'static str) -> Seeds {
        let left = range(usual);
        let test = std::thread::current().name().filter(|name| *name != "main").map(str::to_owned);
        Seeds { left, package, target, test }
    }

    /// The command that tries the seed alone which was given last.
    pub fn again(&self) -> String {
        let last = self.left.start.saturating_sub(1);
        let target = match self.package.replace('-', "_") == self.target {
            true => "--lib".to_owned(),
            false => format!("--test {}", self.target),
        };
        let test = self.test.as_ref().map(|test| format!(" {test}")).unwrap_or_default();
        format!("{VARIABLE}={last}..{} cargo test --release -p {} {target}{test}", last + 1, self.package)
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
        let mut seeds = Seeds { left: 5..9, package: "laxity-sim", target: "lives", test: None };
        assert_eq!((seeds.next(), seeds.next()), (Some(5), Some(6)));
        assert_eq!(seeds.again(), "LAXITY_SEEDS=6..7 cargo test --release -p laxity-sim --test lives");
        let test = Some("tests::overlaps".to_owned());
        let own = Seeds { left: 1..2, package: "laxity-oracle", target: "laxity_oracle", test };
        assert!(own.again().ends_with("-p laxity-oracle --lib tests::overlaps"));
    }

    #[test]
    fn only_a_range_is_one() {
        assert_eq!(read("7..19"), Some(7..19));
        for wrong in ["", "7", "7..", "..9", "a..b", "7...9", "-1..2"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    /// The values that the cases of a property draw.
    fn drawn() -> Vec<u64> {
        use proptest::prelude::*;
        crate::properties! {
            #![cases(20)]
            fn draw(value in any::<u64>()) {
                LAST.with_borrow_mut(|values| values.push(value));
            }
        }
        draw();
        LAST.take()
    }

    thread_local! {
        static LAST: std::cell::RefCell<Vec<u64>> = const { std::cell::RefCell::new(Vec::new()) };
    }

    #[test]
    fn a_case_is_the_same_at_every_run_and_no_two_are() {
        let values = drawn();
        assert_eq!(values, drawn());
        let different: std::collections::BTreeSet<u64> = values.iter().copied().collect();
        assert_eq!(different.len(), values.len());
    }

    crate::properties! {
        #![cases(3)]
        #[test]
        #[should_panic(expected = "no value is above")]
        fn what_fails_is_a_failure(value in 0_u64..3) {
            proptest::prop_assert!(value > 3, "no value is above");
        }
    }
}
