//! The search against trying every placement.

use super::*;
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const SIZE: Size = Size { entries: 1 << 10, window: 1 << 12 };

fn weight(weights: &[u64], set: Set) -> u64 {
    (0..weights.len()).filter(|task| set >> task & 1 == 1).map(|task| weights[task]).sum()
}

/// True if the tasks from `next` on go into the rooms left.
fn fits(weights: &[u64], eligible: &[Set], room: &mut [u64], next: usize) -> bool {
    let Some(&weight) = weights.get(next) else { return true };
    (0..room.len()).any(|bin| {
        if eligible[bin] >> next & 1 == 0 || room[bin] < weight {
            return false;
        }
        room[bin] -= weight;
        let found = fits(weights, eligible, room, next + 1);
        room[bin] += weight;
        found
    })
}

laxity_seeds::properties! {
    #![cases(4096)]

    /// Few weights and limits, so that there are twins, equal bins and ties; the total is near the room, so that half of
    /// the cases fit.
    #[test]
    fn finds_a_placement_if_there_is_one(
        mut weights in prop::collection::vec(1u64..=9, 0..=9),
        bins in prop::collection::vec((0u64..=4, 0usize..6), 1..=4),
        masks in prop::collection::vec(0u128..512, 4),
        spare in 0u64..=3,
    ) {
        weights.sort_unstable_by(|a, b| b.cmp(a));
        let all: Set = (1 << weights.len()) - 1;
        let each = (weights.iter().sum::<u64>() + spare) / bins.len() as u64;
        let limits: Vec<u64> = bins.iter().map(|bin| (each + bin.0).saturating_sub(2)).collect();
        let eligible: Vec<Set> =
            bins.iter().map(|bin| masks.get(bin.1).map_or(all, |mask| (mask | mask >> 4) & all)).collect();
        let completion = Completion::new(weights.clone(), eligible.clone(), &limits, SIZE).expect("few tasks");
        let never = AtomicBool::new(false);
        let mut work = Work::new(&never, Duration::from_secs(60));
        work.allow(u64::MAX);
        let expected = fits(&weights, &eligible, &mut limits.clone(), 0);
        match completion.search(&limits, SIZE, &mut work) {
            Verdict::Unknown => prop_assert!(false, "gave up"),
            Verdict::Impossible => prop_assert!(!expected, "there is a placement"),
            Verdict::Fits(sets) => {
                prop_assert_eq!(sets.iter().sum::<Set>(), all, "every task once: {:?}", sets);
                prop_assert_eq!(sets.iter().fold(0, |union, set| union | set), all);
                for ((set, limit), eligible) in sets.iter().zip(&limits).zip(&eligible) {
                    prop_assert!(weight(&weights, *set) <= *limit && set & !eligible == 0, "{:?}", sets);
                }
            }
        }
    }
}
