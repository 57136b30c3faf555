//! Whether a real kernel was about to end a budget while a job ran beyond it.
//!
//! 1. A budget that is used up is noticed late: the timer of its CPU goes off late, that CPU is asked to decide, it decides. Each of
//!    these is an activity of the CPU with its beginning and its end, as the run has recorded it (`activity.rs`).
//! 2. A job may be beyond its budget only while one of them goes on there. That a timer was set to too late an instant, that
//!    the CPU was not asked, or that it decided otherwise is no excuse, however short the time.
//!
//! Complexity: O(k log k) per overrun, with k activities of the CPU that are not over or overlap it.

use crate::{Activity, Cause};

/// The activities of one CPU on the way to the end of a budget.
#[derive(Clone, Default)]
pub(super) struct UnderWay {
    pieces: Vec<(u64, u64)>,
}

impl UnderWay {
    /// An activity of the CPU begins.
    pub fn begins(&mut self, activity: &Activity) {
        if matches!(activity.cause, Cause::BudgetTimer | Cause::Interrupt | Cause::Decision) {
            self.pieces.push((activity.from_ns, activity.to_ns));
        }
    }

    /// What was over before `now` is not asked for any more.
    pub fn forget(&mut self, now: u64) {
        self.pieces.retain(|&(_, to)| to > now);
    }

    /// For how long in `[from, to)` nothing was under way.
    pub fn idle(&mut self, (from, to): (u64, u64)) -> u64 {
        self.pieces.sort_unstable();
        let mut covered = from;
        let mut idle = 0;
        for &(begin, end) in &self.pieces {
            if begin >= to {
                break;
            }
            idle += begin.saturating_sub(covered);
            covered = covered.max(end);
        }
        idle + to.saturating_sub(covered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::About;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    fn activity(from_ns: u64, to_ns: u64, cause: Cause) -> Activity {
        Activity { from_ns, to_ns, cpu: 0, cause, about: About::Cpu }
    }

    #[test]
    fn only_what_ends_a_budget_is_under_way() {
        let mut way = UnderWay::default();
        assert_eq!(way.idle((10, 30)), 20);
        for cause in Cause::ALL {
            let mut one = UnderWay::default();
            one.begins(&activity(5, 40, cause));
            let ends = [Cause::BudgetTimer, Cause::Interrupt, Cause::Decision].contains(&cause);
            assert_eq!(one.idle((10, 30)), if ends { 0 } else { 20 }, "{cause:?}");
        }
        way.begins(&activity(12, 15, Cause::BudgetTimer));
        way.begins(&activity(14, 20, Cause::Interrupt));
        way.begins(&activity(25, 60, Cause::Decision));
        assert_eq!(way.idle((10, 30)), 2 + 5);
        assert_eq!([(12, 20), (0, 12), (20, 25), (60, 70)].map(|piece| way.idle(piece)), [0, 12, 5, 10]);
        way.forget(20);
        assert_eq!(way.idle((10, 30)), 15);
    }

    /// Against counting instants one by one.
    #[test]
    fn time_is_counted_once() {
        for seed in laxity_seeds::seeds!(0..20_000) {
            let mut random = Pcg64::seed_from_u64(seed);
            let mut draw = |below: u64| random.random_range(0..below);
            let mut way = UnderWay::default();
            let mut pieces = Vec::new();
            for _ in 0..draw(6) {
                let from = draw(20);
                let to = from + draw(8);
                pieces.push((from, to));
                way.begins(&activity(from, to, Cause::Interrupt));
            }
            let from = draw(20);
            let to = from + draw(15);
            let idle = (from..to).filter(|at| !pieces.iter().any(|(from, to)| from <= at && at < to)).count();
            assert_eq!(way.idle((from, to)), idle as u64, "seed {seed}: {pieces:?}, [{from}, {to})");
        }
    }
}
