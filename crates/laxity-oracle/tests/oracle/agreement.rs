//! The oracles over schedules that are sometimes wrong: clean exactly if the schedule is the reference's.

use crate::random::{ANY, Case, case, rng};
use laxity_model::OnMiss;
use laxity_oracle::{ActiveJob, Decisions, first_difference, reference, scheduled_by, verify};
use rand::RngExt;
use rand_pcg::Pcg64;
use std::cell::RefCell;

/// Now and then lets another job run than it should, or one too few.
struct Distracted(RefCell<Pcg64>);

impl Decisions for Distracted {
    fn selected<'a>(&self, mut ready: Vec<&'a ActiveJob>, cpus: usize) -> Vec<&'a ActiveJob> {
        let mut rng = self.0.borrow_mut();
        if !ready.is_empty() && rng.random_bool(0.02) {
            let place = rng.random_range(0..ready.len());
            let job = ready.remove(place);
            if rng.random_bool(0.7) {
                ready.push(job);
            }
        }
        ready.truncate(cpus);
        ready
    }
}

#[test]
fn clean_exactly_if_the_schedule_is_the_right_one() {
    agree(OnMiss::Continue, 0..3_000);
}

#[test]
fn also_where_releases_are_skipped() {
    agree(OnMiss::Skip, 3_000..5_000);
}

fn agree(on_miss: OnMiss, seeds: std::ops::Range<u64>) {
    let (mut right, mut wrong) = (0, 0);
    for seed in laxity_seeds::seeds!(seeds) {
        let Case { definition, end, .. } = case(seed, ANY);
        let definition = definition.with_on_miss(on_miss);
        let jobs = definition.jobs();
        let textbook = reference(&definition, &jobs, end).expect("possible");
        let distracted = Distracted(RefCell::new(rng(seed + 1)));
        let schedule = scheduled_by(&distracted, &definition, &jobs, end).expect("possible");
        let difference = first_difference(&textbook.timeline, &schedule.timeline);
        let verdict = verify(&definition, &schedule.events, end);
        assert_eq!(verdict.clean, difference.is_none(), "seed {seed}: {difference:?}, {verdict}");
        if let Some(difference) = difference {
            // It goes wrong where the oracle says so first.
            let first = verdict.violations.iter().map(|violation| violation.from_ns).min();
            assert_eq!(first, Some(difference.at_ns), "seed {seed}: {difference}\n{verdict}");
            wrong += 1;
        } else {
            right += 1;
        }
    }
    laxity_seeds::assert_together!(right > 300 && wrong > 300, "{right} right, {wrong} wrong");
}
