//! Overheads from damaged files: the examples with bytes changed, cut, doubled and spliced. No reader may panic, every
//! refusal says what to do, and what is accepted never falls and stays in its range.

use laxity_analysis::TIME_MAX;
use laxity_analysis::overheads::{CacheDelays, Overheads};
use laxity_model::Result;
use laxity_seeds::{assert_complete, assert_together, read_damaged, seeds};
use std::fs;
use std::path::Path;

/// Damaged copies of each file.
const ROUNDS: u64 = 4_000;

fn inflict(file: &str, read: impl Fn(&str) -> Result<Overheads>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/costs").join(file);
    let whole = fs::read_to_string(path).expect("an example");
    let accepted = read_damaged(file, &whole, seeds!(0..ROUNDS), |text| check(read(text)));
    assert_together!(accepted > 100, "only {accepted} of {ROUNDS} damaged copies of {file} are read");
}

/// Asserts what must hold for any overheads; whether they have been read.
fn check(overheads: Result<Overheads>) -> bool {
    let overheads = match overheads {
        Ok(overheads) => overheads,
        Err(error) => {
            assert_complete(&error.message, error.hint.as_deref());
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
