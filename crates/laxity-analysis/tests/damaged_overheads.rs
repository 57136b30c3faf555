//! Overheads from damaged files: the examples with bytes changed, cut, doubled and spliced. No reader may panic, every
//! refusal says what to do, and what is accepted never falls and stays in its range.
//!
//! The damage is a function of the file's name and the round, so a failure repeats.

#[path = "../../laxity-model/tests/damage/mod.rs"]
mod damage;

use damage::Damage;
use laxity_analysis::TIME_MAX;
use laxity_analysis::overheads::{CacheDelays, Overheads};
use laxity_model::Result;
use std::fs;
use std::path::Path;

/// Damaged copies of each file.
const ROUNDS: u64 = 4_000;

fn inflict(file: &str, read: impl Fn(&str) -> Result<Overheads>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/costs").join(file);
    let whole = fs::read(path).expect("an example");
    assert!(read(std::str::from_utf8(&whole).expect("UTF-8")).is_ok(), "{file} itself is read");
    let mut accepted = 0;
    for round in 0..ROUNDS {
        let seed = file.bytes().fold(round, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let mut bytes = whole.clone();
        Damage::of(seed).inflict(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let checked = || check(read(&text));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(checked));
        accepted +=
            u32::from(outcome.unwrap_or_else(|_| panic!("round {round} of {file} fails on:\n{text}")));
    }
    assert!(accepted > 100, "only {accepted} of {ROUNDS} damaged copies of {file} are read");
}

/// Asserts what must hold for any overheads; whether they have been read.
fn check(overheads: Result<Overheads>) -> bool {
    let overheads = match overheads {
        Ok(overheads) => overheads,
        Err(error) => {
            assert!(!error.message.is_empty() && error.hint.is_some(), "a bare error: {error}");
            return false;
        }
    };
    let mut before = [0; 7];
    for x in [0, 1, 7, 100, 1 << 20, usize::MAX] {
        let costs = overheads.at(x);
        let now = [
            costs.ipi,
            costs.schedule,
            costs.release,
            costs.context_switch,
            costs.tick,
            costs.release_latency,
            overheads.cache_delay(x as u64),
        ];
        assert!(now.iter().zip(&before).all(|(now, before)| before <= now && *now <= TIME_MAX), "{now:?}");
        before = now;
    }
    true
}

#[test]
fn damaged_overheads_are_read_or_refused() {
    inflict("overheads.csv", Overheads::from_csv);
}

#[test]
fn damaged_cache_delays_are_read_or_refused() {
    inflict("cpmd.csv", |text| Ok(Overheads::none().with_cache(CacheDelays::from_csv(text)?.within(None))));
}
